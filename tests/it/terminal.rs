//! The live view on a terminal: a pseudo-terminal whose screen an emulator reads.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use crate::harness::{heeding_signals, sprt_args, until};

const ROWS: u16 = 40;
const COLUMNS: u16 = 160;

/// Written when the program is gone: what stands before it is all that the program wrote.
const END: &str = "<the end>";

/// A terminal, and all that was written to it so far.
struct Terminal {
    keyboard: File,
    screen: OwnedFd,
    written: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    fn open() -> Self {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keyboard).unwrap();
        unlockpt(&keyboard).unwrap();
        let size = Winsize { ws_row: ROWS, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&keyboard, size).unwrap();
        let name = ptsname(&keyboard, Vec::new()).unwrap();
        let screen = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        let keyboard = File::from(keyboard);
        let written = Arc::new(Mutex::new(Vec::new()));
        let (mut reader, all) = (keyboard.try_clone().unwrap(), Arc::clone(&written));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                all.lock().unwrap().extend_from_slice(&bytes[..count]);
            }
        });
        Self { keyboard, screen, written }
    }

    fn has(&self, words: &str) -> bool {
        String::from_utf8_lossy(&self.written.lock().unwrap()).contains(words)
    }

    fn modes(&self) -> LocalModes {
        tcgetattr(&self.screen).unwrap().local_modes
    }

    /// Presses Ctrl-C. The program has another controlling terminal or none, so the signal is sent
    /// to it, once the terminal has done its own part.
    fn press_ctrl_c(&mut self, child: &Child) {
        self.keyboard.write_all(b"\x03").unwrap();
        until("the echo", || self.has("\x03") || self.has("^C"));
        kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), Signal::INT).unwrap();
    }

    /// Text on the screen once the program has ended.
    fn shown(&self) -> String {
        let _ = File::from(self.screen.try_clone().unwrap()).write_all(END.as_bytes());
        until("the last word", || self.has(END));
        let mut emulator = vt100::Parser::new(ROWS.try_into().unwrap(), COLUMNS.try_into().unwrap(), 1_000);
        emulator.process(&self.written.lock().unwrap());
        emulator.screen().contents()
    }
}

#[test]
fn a_heading_stands_once_after_ctrl_c() {
    let mut terminal = Terminal::open();
    let before = terminal.modes();
    assert!(before.contains(LocalModes::ECHO | LocalModes::ECHOCTL), "a new terminal echoes `^C`");
    let folder = tempfile::tempdir().unwrap();
    let rules = "--nodes 1 --max-plies 40 --max-pairs 100000 -j 1";
    let args = sprt_args("--sleep-us 2000", "--seed 2 --sleep-us 2000", &folder.path().join("run"), rules);
    let mut child = heeding_signals(&args)
        .stdout(Stdio::null())
        .stderr(terminal.screen.try_clone().unwrap())
        .env_remove("NO_COLOR")
        .env("TERM", "xterm")
        .spawn()
        .unwrap();
    let journal = folder.path().join("run/games.jsonl");
    let games = || std::fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
    until("a game and the view", || games() > 1 && terminal.has("pairs/min"));
    terminal.press_ctrl_c(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let shown = terminal.shown();
    assert!(shown.contains("finishing the running games"), "{shown}");
    assert_eq!(shown.matches("fake_engine-new against fake_engine-base").count(), 1, "{shown}");
    assert_eq!(terminal.modes(), before, "the terminal is left as it was");
}
