//! UCI programs that the benchmarks talk to.

use std::error::Error;
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Running UCI program.
pub struct Player {
    pub name: String,
    child: Child,
    commands: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Player {
    /// Starts `PROGRAM[,OPTION=VALUE]...`, with the `common` options set before its own.
    pub fn start(spec: &str, common: &[&str]) -> Result<Player> {
        let mut parts = spec.split(',');
        let program = parts.next().unwrap_or_default();
        let mut command = Command::new(program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let advice = "name a program with its path, or one that PATH has";
        let mut child = command.spawn().map_err(|e| format!("{program} cannot be started ({e}): {advice}"))?;
        let commands = child.stdin.take().ok_or("no input")?;
        let answers = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
        let file = program.rsplit('/').next().unwrap_or(program);
        let name = [file].into_iter().chain(parts.clone()).collect::<Vec<_>>().join(" ");
        let mut player = Player { name, child, commands, answers };
        player.say("uci")?;
        player.listen("uciok", |_| ())?;
        for option in common.iter().copied().chain(parts) {
            let (name, value) = option.split_once('=').ok_or_else(|| format!("{option} is no OPTION=VALUE"))?;
            player.say(&format!("setoption name {name} value {value}"))?;
        }
        Ok(player)
    }

    pub fn say(&mut self, line: &str) -> Result<()> {
        writeln!(self.commands, "{line}").map_err(|e| format!("{} is gone: {e}", self.name).into())
    }

    /// Passes every line to `hear` until one starts with `last`.
    pub fn listen(&mut self, last: &str, mut hear: impl FnMut(&str)) -> Result<()> {
        for line in &mut self.answers {
            let line = line?;
            if line.split_whitespace().next() == Some(last) {
                return Ok(());
            }
            hear(&line);
        }
        Err(format!("{} ended before it said {last}", self.name).into())
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        // The program may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
