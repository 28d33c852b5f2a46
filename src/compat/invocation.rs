//! What a command line of fastchess or cutechess-cli asks for, as types. Reading it is `grammar` and `cutechess`; making a plan of
//! it is `plan`.

use std::path::PathBuf;
use std::time::Duration;

use crate::plan::time_control::Limit;
use crate::stats::sprt::Model;

/// Whose command line it is: the defaults differ, and what is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// fastchess.
    Fastchess,
    /// cutechess-cli.
    Cutechess,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Request {
    /// Play.
    Play(Box<Invocation>),
    /// Say which version this is.
    Version,
    /// Say which options there are.
    Help,
    /// Check that an engine keeps to the protocol: its command and arguments.
    Compliance(Vec<String>),
}

/// A tournament as typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Invocation {
    /// Whose command line it is.
    pub dialect: Dialect,
    /// At least two, each with a name of its own.
    pub engines: Vec<EngineArgs>,
    /// Everything else.
    pub settings: Settings,
    /// The configuration file that was read, where the run goes on from it.
    pub resume: Option<PathBuf>,
    /// What a user should hear before the first game.
    pub notes: Vec<String>,
}

/// One `-engine`, with what `-each` adds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EngineArgs {
    /// The program: a path, relative to `dir` where that is set, or a name to look up.
    pub cmd: String,
    /// Unique once checked.
    pub name: String,
    /// Its arguments, as a shell would split them.
    pub args: String,
    /// Where it runs; empty for here.
    pub dir: String,
    /// What it may spend.
    pub limit: Limit,
    /// Grace on every move.
    pub margin: Duration,
    /// True to start it anew for each game.
    pub restart: bool,
    /// True to let it think on the opponent's time.
    pub ponder: bool,
    /// UCI options in the order given.
    pub options: Vec<(String, String)>,
}

/// Who meets whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tournament {
    /// Everybody everybody.
    RoundRobin,
    /// The first `seeds` engines everybody else.
    Gauntlet,
    /// Losers leave.
    Knockout,
}

/// The form of the console's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// fastchess.
    Fastchess,
    /// cutechess-cli.
    Cutechess,
}

/// The form of a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BookFormat {
    /// Positions.
    Epd,
    /// Games.
    Pgn,
}

/// `-openings`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OpeningArgs {
    /// The book; `None` for the starting position.
    pub file: Option<String>,
    /// As said, or by the file's name; `None` to look at its content.
    pub format: Option<BookFormat>,
    /// Shuffled by the seed.
    pub random: bool,
    /// Plies taken from each game; `None` for all.
    pub plies: Option<u32>,
    /// The first opening, from 1; 0 stands for 1.
    pub start: u64,
}

/// Notation of moves in the PGN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Notation {
    /// `Nf3`
    #[default]
    San,
    /// `Ng1f3`
    Lan,
    /// `g1f3`
    Uci,
}

/// `-pgnout`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PgnArgs {
    /// Where to; empty for a name with the date.
    pub file: String,
    /// Go on after what is there.
    pub append: bool,
    /// Moves.
    pub notation: Notation,
    /// Only the roster, no comments.
    pub min: bool,
    /// Comment fields.
    pub nodes: bool,
    pub seldepth: bool,
    pub nps: bool,
    pub hashfull: bool,
    pub tbhits: bool,
    pub pv: bool,
    pub timeleft: bool,
    pub latency: bool,
    /// The last line of each search that matches, for each of these.
    pub match_lines: Vec<String>,
}

impl Default for PgnArgs {
    fn default() -> Self {
        Self {
            file: String::new(),
            append: true,
            notation: Notation::San,
            min: false,
            nodes: false,
            seldepth: false,
            nps: false,
            hashfull: false,
            tbhits: false,
            pv: false,
            timeleft: false,
            latency: false,
            match_lines: Vec::new(),
        }
    }
}

/// `-epdout`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EpdArgs {
    /// Where to; empty for a name with the date.
    pub file: String,
    /// Go on after what is there.
    pub append: bool,
}

/// `-sprt`
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SprtArgs {
    pub elo0: f64,
    pub elo1: f64,
    pub alpha: f64,
    pub beta: f64,
    pub model: Model,
}

/// `-draw`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DrawArgs {
    /// Full moves before it applies.
    pub number: u32,
    /// Consecutive full moves.
    pub count: u32,
    /// Centipawns.
    pub score: u32,
}

/// `-resign`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResignArgs {
    /// Consecutive moves of the loser.
    pub count: u32,
    /// Centipawns.
    pub score: u32,
    /// The winner must agree.
    pub two_sided: bool,
}

/// Which results tables may give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TbResult {
    /// Any.
    #[default]
    Both,
    /// Wins only.
    WinLoss,
    /// Draws only.
    Draw,
}

/// `-tb` and what belongs to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TbArgs {
    /// Folders, separated as on the command line; `None` where tables are not used.
    pub paths: Option<String>,
    /// The most men; 0 for as many as the tables have.
    pub pieces: u32,
    /// Take a cursed win for a win.
    pub ignore_50: bool,
    /// Which results.
    pub result: TbResult,
}

/// `-log`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogArgs {
    /// The file; empty where none is written.
    pub file: String,
    /// The lowest level that is written.
    pub level: LogLevel,
    /// Go on after what is there.
    pub append: bool,
    /// As it happens; false leaves it to the system's buffers.
    pub realtime: bool,
    /// Everything engines are told and say, too.
    pub engine: bool,
    /// Packed; not done, and said so.
    pub compress: bool,
}

impl Default for LogArgs {
    fn default() -> Self {
        Self {
            file: String::new(),
            level: LogLevel::Warn,
            append: true,
            realtime: true,
            engine: false,
            compress: false,
        }
    }
}

/// How much a log tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LogLevel {
    Trace,
    Info,
    Warn,
    Err,
    Fatal,
}

/// Everything that is not an engine's own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    pub openings: OpeningArgs,
    pub pgn: Option<PgnArgs>,
    pub epd: Option<EpdArgs>,
    /// Print the PGN's checksum after each game.
    pub crc32: bool,
    pub event: String,
    pub site: String,
    pub sprt: Option<SprtArgs>,
    pub draw: Option<DrawArgs>,
    pub resign: Option<ResignArgs>,
    /// Full moves of the engines after which a game is drawn.
    pub max_moves: Option<u32>,
    pub tb: TbArgs,
    pub chess960: bool,
    pub tournament: Tournament,
    /// Heroes of a gauntlet.
    pub seeds: u32,
    /// Encounters of each two engines.
    pub rounds: u64,
    /// Games of an encounter.
    pub games: u64,
    /// Successive games of an encounter with one opening; `None` for all of a round, as fastchess has it.
    pub repeat: Option<u64>,
    /// Games at once; at most 0 for the CPUs but so many.
    pub concurrency: i64,
    pub force_concurrency: bool,
    /// Pause of a slot between games.
    pub wait: Duration,
    pub no_swap: bool,
    pub reverse: bool,
    /// Go on after a crash or stall.
    pub recover: bool,
    /// Games or pairs between two blocks of results; `None` for only the last.
    pub rating_interval: Option<u64>,
    /// Games between two lines of the score; `None` for only the last.
    pub score_interval: Option<u64>,
    /// Count pairs rather than games.
    pub penta: bool,
    pub output: OutputFormat,
    /// The order of openings; `None` for any.
    pub seed: Option<u64>,
    /// Where settings and counts are saved.
    pub config_name: String,
    /// Games between two saves; `None` for only the last.
    pub autosave: Option<u64>,
    /// Pin games to CPUs.
    pub affinity: bool,
    /// To these; empty for the machine's own order.
    pub affinity_cpus: Vec<usize>,
    pub startup: Duration,
    pub ucinewgame: Duration,
    pub ping: Duration,
    pub log: LogArgs,
    pub check_mate_pvs: bool,
    pub show_latency: bool,
    /// Warnings on one line.
    pub test_env: bool,
    /// Stop at the first warning.
    pub strict: bool,
}

impl Settings {
    /// What holds where nothing is said.
    pub(super) fn new(dialect: Dialect) -> Self {
        let fastchess = dialect == Dialect::Fastchess;
        Self {
            openings: OpeningArgs::default(),
            pgn: None,
            epd: None,
            crc32: false,
            event: if fastchess { "Fastchess Tournament" } else { "?" }.to_owned(),
            site: "?".to_owned(),
            sprt: None,
            draw: None,
            resign: None,
            max_moves: None,
            tb: TbArgs::default(),
            chess960: false,
            tournament: Tournament::RoundRobin,
            seeds: 1,
            rounds: if fastchess { 2 } else { 1 },
            games: if fastchess { 2 } else { 1 },
            repeat: if fastchess { None } else { Some(1) },
            concurrency: 1,
            force_concurrency: !fastchess,
            wait: Duration::ZERO,
            no_swap: false,
            reverse: false,
            recover: false,
            rating_interval: fastchess.then_some(10),
            score_interval: Some(1),
            penta: fastchess,
            output: if fastchess { OutputFormat::Fastchess } else { OutputFormat::Cutechess },
            seed: None,
            config_name: if fastchess { "config.json" } else { "cutechess.json" }.to_owned(),
            autosave: fastchess.then_some(20),
            affinity: false,
            affinity_cpus: Vec::new(),
            startup: Duration::from_secs(10),
            ucinewgame: Duration::from_secs(60),
            ping: Duration::from_secs(60),
            log: LogArgs::default(),
            check_mate_pvs: false,
            show_latency: false,
            test_env: false,
            strict: false,
        }
    }
}
