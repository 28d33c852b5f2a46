//! Types of a parsed fastchess or cutechess-cli command line. `grammar` and `cutechess` parse it,
//! and `plan` turns it into a plan.

use std::path::PathBuf;
use std::time::Duration;

use crate::plan::time_control::Limit;
use crate::stats::sprt::Model;

/// File for settings and counts of a cutechess-cli tournament without `-tournamentfile`. Other
/// programs keep files of their own in `cutechess.json`.
const CUTECHESS_FILE: &str = "cutechess-cli.quintain.json";

/// Runner whose command line is read. Defaults and output depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Command line of fastchess.
    Fastchess,
    /// Command line of cutechess-cli.
    Cutechess,
}

/// Action that a command line requests.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RunnerAction {
    /// Play a tournament.
    Play(Box<Invocation>),
    /// Print the version.
    Version,
    /// Print the options.
    Help,
    /// Print the names of Cute Chess's engines.
    Engines,
    /// Check an engine's UCI conformance, by its command and arguments.
    Compliance(Vec<String>),
}

/// Tournament as typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Invocation {
    /// Runner whose command line it is.
    pub dialect: Dialect,
    /// At least two engines with unique names.
    pub engines: Vec<EngineArgs>,
    /// Settings of the tournament.
    pub settings: RunnerSettings,
    /// Configuration file of the run to resume.
    pub resume: Option<PathBuf>,
    /// Notes to print before the first game.
    pub notes: Vec<String>,
}

/// One `-engine` with the keys of `-each`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EngineArgs {
    /// Program: a path, relative to `dir` if that is set, or a name to look up in `PATH` as well.
    pub cmd: String,
    /// Display name; unique once checked.
    pub name: String,
    /// Arguments, split as a shell would split them.
    pub args: String,
    /// Working directory; empty for the current one.
    pub dir: String,
    /// Time, nodes or depth per move or game.
    pub limit: Limit,
    /// Time margin on every move.
    pub margin: Duration,
    /// True to restart the engine for each game.
    pub restart: bool,
    /// True to let the engine ponder.
    pub ponder: bool,
    /// True if the engine gives its scores from White's point of view.
    pub white_pov: bool,
    /// UCI options in the order given.
    pub options: Vec<(String, String)>,
}

/// Tournament format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tournament {
    /// Each engine plays each other.
    RoundRobin,
    /// The first `seeds` engines play each other engine.
    Gauntlet,
    /// Losers drop out.
    Knockout,
    /// Each engine plays those before it.
    Pyramid,
}

/// Format of the console's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// Lines of fastchess.
    Fastchess,
    /// Lines of cutechess-cli.
    Cutechess,
}

/// Format of a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BookFormat {
    /// Positions.
    Epd,
    /// Games.
    Pgn,
}

/// Values of `-openings`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OpeningArgs {
    /// Book; `None` for the starting position.
    pub file: Option<String>,
    /// Format as given or by the file name; `None` to detect it from the content.
    pub format: Option<BookFormat>,
    /// True to shuffle the openings by the seed.
    pub random: bool,
    /// Plies taken from each game; `None` for all.
    pub plies: Option<u32>,
    /// First opening, counted from 1; 0 stands for 1.
    pub start: u64,
}

/// Notation of moves in the PGN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CompatNotation {
    /// `Nf3`
    #[default]
    San,
    /// `Ng1f3`
    Lan,
    /// `g1f3`
    Uci,
}

/// Values of `-pgnout`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PgnArgs {
    /// Target file; empty for a name with the date.
    pub file: String,
    /// True to append to an existing file.
    pub append: bool,
    /// Notation of moves.
    pub notation: CompatNotation,
    /// True for the tag roster only, without comments.
    pub min: bool,
    /// True to write the field in comments, here and in the flags below.
    pub nodes: bool,
    pub seldepth: bool,
    pub nps: bool,
    pub hashfull: bool,
    pub tbhits: bool,
    pub pv: bool,
    pub timeleft: bool,
    pub latency: bool,
    /// Patterns; the last matching line of each search is written for each.
    pub match_lines: Vec<String>,
}

impl Default for PgnArgs {
    fn default() -> Self {
        Self {
            file: String::new(),
            append: true,
            notation: CompatNotation::San,
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

/// Values of `-epdout`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EpdArgs {
    /// Target file; empty for a name with the date.
    pub file: String,
    /// True to append to an existing file.
    pub append: bool,
}

/// Values of `-sprt`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SprtValues {
    pub elo0: f64,
    pub elo1: f64,
    pub alpha: f64,
    pub beta: f64,
    pub model: Model,
}

/// Values of `-draw`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DrawArgs {
    /// Full moves played before the rule applies.
    pub number: u32,
    /// Consecutive full moves.
    pub count: u32,
    /// Largest score for a draw, in centipawns.
    pub score: u32,
}

/// Values of `-resign`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResignArgs {
    /// Consecutive moves of the loser.
    pub count: u32,
    /// Smallest losing score, in centipawns.
    pub score: u32,
    /// True if the winner must agree.
    pub two_sided: bool,
}

/// Results that tablebases may adjudicate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TbResult {
    /// Any result.
    #[default]
    Both,
    /// Wins only.
    WinLoss,
    /// Draws only.
    Draw,
}

/// Values of `-tb` and its companions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TbArgs {
    /// Folders, separated as on the command line; `None` without tablebases.
    pub paths: Option<String>,
    /// Maximum number of men on the board; 0 for as many as the tables have.
    pub pieces: u32,
    /// True to count a cursed win as a win.
    pub ignore_50: bool,
    /// Results that may be adjudicated.
    pub result: TbResult,
}

/// Values of `-log`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogArgs {
    /// Target file, `-` for the standard output; empty for no log.
    pub file: String,
    /// Lowest level that is written.
    pub level: LogLevel,
    /// True to append to an existing file.
    pub append: bool,
    /// True to flush after each line; false leaves it to the system's buffers.
    pub realtime: bool,
    /// True to include the UCI traffic of failed engines.
    pub engine: bool,
    /// True to compress the log, which has no effect.
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

/// Log level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LogLevel {
    Trace,
    Info,
    Warn,
    Err,
    Fatal,
}

/// Settings that belong to no single engine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunnerSettings {
    pub openings: OpeningArgs,
    pub pgn: Option<PgnArgs>,
    pub epd: Option<EpdArgs>,
    /// True to print the PGN's checksum after each game.
    pub crc32: bool,
    pub event: String,
    pub site: String,
    pub sprt: Option<SprtValues>,
    pub draw: Option<DrawArgs>,
    pub resign: Option<ResignArgs>,
    /// Full moves after which a game is drawn.
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
    /// Successive games of an encounter with one opening; `None` for all of them, as in fastchess,
    /// and in cutechess-cli with `policy=encounter` or `policy=round`.
    pub repeat: Option<u64>,
    /// Concurrent games. Zero or less counts down from the number of CPUs.
    pub concurrency: i64,
    pub force_concurrency: bool,
    /// Pause of a slot between games.
    pub wait: Duration,
    pub no_swap: bool,
    pub reverse: bool,
    /// True to continue after a crash or stall.
    pub recover: bool,
    /// Games or pairs between two blocks of results; `None` for only the last block.
    pub rating_interval: Option<u64>,
    /// Games between two score lines; `None` for only the last line.
    pub score_interval: Option<u64>,
    /// True to count pairs rather than games.
    pub penta: bool,
    pub output: OutputFormat,
    /// Seed of the opening order; `None` for a random one.
    pub seed: Option<u64>,
    /// File for settings and counts.
    pub config_name: String,
    /// Games between two saves; `None` for only the last save.
    pub autosave: Option<u64>,
    /// True to pin games to CPUs.
    pub affinity: bool,
    /// CPUs to pin to; empty for the machine's own order.
    pub affinity_cpus: Vec<usize>,
    pub startup: Duration,
    pub ucinewgame: Duration,
    pub ping: Duration,
    /// True if `isready` is sent before each search, because its limit was given.
    pub pings: bool,
    pub log: LogArgs,
    pub check_mate_pvs: bool,
    pub show_latency: bool,
    /// fastchess's test mode; saved in the configuration file only.
    pub test_env: bool,
    /// True to stop at the first warning.
    pub strict: bool,
}

impl RunnerSettings {
    /// Defaults of the dialect.
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
            config_name: if fastchess { "config.json" } else { CUTECHESS_FILE }.to_owned(),
            autosave: fastchess.then_some(20),
            affinity: false,
            affinity_cpus: Vec::new(),
            startup: Duration::from_secs(10),
            ucinewgame: Duration::from_secs(60),
            ping: Duration::from_secs(60),
            pings: false,
            log: LogArgs::default(),
            check_mate_pvs: false,
            show_latency: false,
            test_env: false,
            strict: false,
        }
    }
}
