//! Watchdog over a process group, for systems that do not end a process with its parent.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

/// Shell script that waits for a line or for the end of its input. The latter comes with the end of
/// this process, however it ends, and then the group is killed.
const SCRIPT: &str = "trap '' INT TERM HUP; read -r line || kill -s KILL -- \"-$0\"";

/// Shell that kills a process group when this process ends. Dropping it lets the group be.
///
/// A kill of this process between the start of the group and that of its watchdog, which follows at
/// once, leaves the group alive.
#[derive(Debug)]
pub(crate) struct Watchdog(Option<Child>);

impl Watchdog {
    /// Starts one over the group that `leader` leads. A system that starts no shell has none.
    pub(crate) fn over(leader: u32) -> Self {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", SCRIPT, &leader.to_string()]);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        Self(shell.spawn().ok())
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        if let Some(mut shell) = self.0.take() {
            let is_told = shell.stdin.take().is_some_and(|mut input| input.write_all(b"\n").is_ok());
            // Without the line it would kill the group, whose id may be another's by now.
            if !is_told {
                let _ = shell.kill();
            }
            let _ = shell.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep").arg("10000").process_group(0).spawn().unwrap()
    }

    #[test]
    fn a_group_ends_with_the_input_of_its_watchdog_and_not_with_a_line() {
        let mut kept = sleeper();
        drop(Watchdog::over(kept.id()));
        assert!(kept.try_wait().unwrap().is_none());
        kept.kill().unwrap();
        kept.wait().unwrap();

        let mut ended = sleeper();
        let mut watchdog = Watchdog::over(ended.id());
        // As the end of this process does.
        drop(watchdog.0.as_mut().unwrap().stdin.take());
        let status = ended.wait().unwrap();
        assert!(super::super::is_killed(status), "{status}");
    }
}
