//! Tests of the data commands, as a user calls them.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod crates;
mod draws;
mod files;
mod formats;
mod imports;
mod leaves;
mod loss;
mod order;
mod python;
mod rescore;
mod serve;
mod show;
#[path = "../../../../tests/skip.rs"]
mod skip;

use clap::Parser;
use destrier::board::Board;
use destrier::datagen::viriformat::{GameResult, ScoredGame, ScoredMove};
use destrier::types::MoveList;
use destrier::types::SplitMix64;
use destrier_trainer::data::{self, DataCommand};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command as Program, Output, Stdio};
use std::thread;
use tempfile::TempDir;

#[derive(Parser)]
#[command(no_binary_name = true)]
struct Words {
    #[command(subcommand)]
    command: DataCommand,
}

/// Temporary folder in which commands run. Arguments that begin with `@` are files of the folder.
struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns the program with these arguments.
    fn program(&self, words: &str) -> Program {
        let mut program = Program::new(env!("CARGO_BIN_EXE_destrier-trainer"));
        program.arg("data").args(self.words(words)).stdin(Stdio::null());
        program
    }

    fn words(&self, words: &str) -> Vec<String> {
        let word = |word: &str| match word.strip_prefix('@') {
            Some(name) => self.path(name).to_str().unwrap().to_owned(),
            None => word.to_owned(),
        };
        words.split(' ').map(word).collect()
    }

    fn try_run(&self, words: &str) -> anyhow::Result<()> {
        data::run(Words::try_parse_from(self.words(words))?.command)
    }

    fn run(&self, words: &str) {
        self.try_run(words).unwrap_or_else(|error| panic!("{words}: {error:#}"));
    }

    /// Returns the message of a command that must fail, without the folder's path.
    fn error(&self, words: &str) -> String {
        let error = self.try_run(words).unwrap_err();
        format!("{error:#}").replace(&format!("{}/", self.0.path().display()), "")
    }

    /// Runs commands that must fail, each with a part of its message.
    fn refuses(&self, cases: &[(&str, &str)]) {
        for (words, says) in cases {
            let error = self.error(words);
            assert!(error.contains(says), "{words}: {error}");
        }
    }

    /// Returns the program's stdout.
    fn told(&self, words: &str) -> String {
        let ended = self.program(words).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
        assert!(ended.status.success(), "{words}: {ended:?}");
        String::from_utf8(ended.stdout).unwrap()
    }

    /// Runs the program with bytes in a pipe, which it reads as `/dev/stdin`.
    fn piped(&self, words: &str, bytes: Vec<u8>) -> Output {
        let mut program = self.program(words);
        program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = program.spawn().unwrap();
        let mut pipe = running.stdin.take().unwrap();
        // A program that ends early does not read all input.
        let feeding = thread::spawn(move || drop(pipe.write_all(&bytes)));
        let ended = running.wait_with_output().unwrap();
        feeding.join().unwrap();
        ended
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    /// Writes games of random moves.
    fn write_games(&self, name: &str, seed: u64, games: u64) {
        let mut bytes = Vec::new();
        (0..games).for_each(|number| random_game(seed * 1000 + number).write(&mut bytes));
        self.write(name, bytes);
    }

    /// Writes 30 games from the start position as `whole.plain`, and as `torn.plain` without some
    /// of their plies. Returns the number of positions of the whole games.
    fn write_torn_games(&self) -> usize {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let moves = "g1f3:1 g8f6:2 f3e5:3 f6e4:4 e5d7:5 e4d2:6\n\
                     e2e4:1 e7e5:1 g1f3:1 b8c6:1\n\
                     d2d4:1 d7d5:1 c2c4:1 d5c4:1";
        let games: String = moves.lines().cycle().take(30).map(|moves| format!("{start};{moves};0.5\n")).collect();
        self.write("whole.selfplay", games);
        self.run("convert @whole.selfplay --out @whole.plain");
        let text = self.text("whole.plain");
        // Six lines per position.
        let records: Vec<&str> = text.split_inclusive("e\n").filter(|record| record.starts_with("fen")).collect();
        let torn = records.iter().enumerate().filter(|(place, _)| place % 6 != 2);
        self.write("torn.plain", torn.map(|(_, record)| *record).collect::<String>());
        records.len()
    }
}

const STARTS: [&str; 4] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 20",
    "8/PPPk4/8/8/8/8/4Kppp/8 b - - 12 70",
    "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
];

fn random_game(seed: u64) -> ScoredGame {
    let mut random = SplitMix64::from_seeds(&[seed]);
    let start = Board::from_fen(STARTS[random.below(STARTS.len())]).unwrap();
    let result = GameResult::ALL[random.below(3)];
    let mut game = ScoredGame { start, start_score: 0, result, plies: Vec::new() };
    let mut board = start;
    for _ in 0..10 + random.below(60) {
        let mut moves = MoveList::new();
        board.legal_moves(&mut moves);
        if moves.is_empty() {
            break;
        }
        let mv = moves[random.below(moves.len())];
        game.plies.push(ScoredMove { mv, score: random.below(6001) as i16 - 3000 });
        board.play(mv);
    }
    game
}

fn lines(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}
