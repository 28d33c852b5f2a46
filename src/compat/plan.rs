//! Conversion of an invocation into a plan.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::invocation::{
    BookFormat, CompatNotation, Dialect, EngineArgs, Invocation, RunnerSettings, TbArgs, TbResult, Tournament,
};
use crate::chess::{Position, START_FEN, Variant};
use crate::openings::order::Order;
use crate::openings::{Book, BookFileFormat, BookOptions};
use crate::os::{self, LIST_SEPARATORS};
use crate::plan::affinity::Affinity;
use crate::plan::recording::{self, Fields, Layout, PgnOptions, Recording, Round, Zone};
use crate::plan::rules::{DrawRule, ResignRule, Rules, SyzygyRule, SyzygyScope};
use crate::plan::{BookRef, BookSource, Colors, Format, Machine, Origin, Plan, Player, Test, Timeouts};
use crate::run::error::{Result, ResultContext as _, RunError, fail};
use crate::schedule::affinity::Topology;
use crate::source::split_words;
use crate::stats::sprt::Bounds;
use crate::text::{file_sha256, printable};
use crate::tournament::formats::gauntlet::Gauntlet;
use crate::tournament::formats::knockout::Knockout;
use crate::tournament::formats::pyramid::Pyramid;
use crate::tournament::formats::round_robin::RoundRobin;

/// Time limit of a search without a clock. The leading runners wait forever, which would hang a
/// run.
const STALL: Duration = Duration::from_secs(600);

/// File with the single opening of a tournament without a book, in the run's directory.
pub(super) const START_BOOK: &str = "startpos.epd";

/// Division of an encounter's games into pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PairSplit {
    /// Number of pairs; the last may be half a pair.
    pub count: u64,
    /// True if the last pair is a single game.
    pub half_last: bool,
    /// True if each game has its own opening.
    pub opening_per_game: bool,
}

impl PairSplit {
    pub(super) const fn new(settings: &RunnerSettings) -> Self {
        let games = settings.games.saturating_mul(settings.rounds);
        let opening_per_game = match settings.repeat {
            None => settings.games == 1,
            Some(repeat) => repeat < 2,
        };
        Self { count: games.div_ceil(2), half_last: games % 2 == 1, opening_per_game }
    }

    /// Games of an encounter.
    pub(super) const fn games(&self) -> u64 {
        self.count * 2 - self.half_last as u64
    }
}

/// Number of games at once on a machine with `cpus` CPUs: at most as many, unless
/// `-force-concurrency` is given.
///
/// # Errors
/// Error for more games than any run plays.
pub(super) fn concurrency(settings: &RunnerSettings, cpus: usize) -> Result<u16> {
    let cpus = i64::try_from(cpus).unwrap_or(i64::MAX);
    let games =
        if settings.concurrency <= 0 { cpus.saturating_add(settings.concurrency).max(1) } else { settings.concurrency };
    let games = if settings.force_concurrency { games } else { games.min(cpus.max(1)) };
    u16::try_from(games).map_err(|error| RunError::Setting(format!("-concurrency {games}: 65535 is the most: {error}")))
}

/// Plan of the run. `options` are, for each engine, the UCI options that it accepts.
pub(super) fn plan(
    invocation: &Invocation,
    options: Vec<Vec<(String, String)>>,
    book: BookRef,
    seed: u64,
    topology: &Topology,
) -> Result<Plan> {
    let Invocation { dialect, engines, settings, .. } = invocation;
    let pairs = PairSplit::new(settings);
    let players = engines.iter().zip(options).map(|(engine, options)| player(engine, *dialect, options));
    let mut players = players.collect::<Result<Vec<_>>>()?;
    let rules = rules(invocation)?;
    // The rules say what holds for all players.
    if rules.ponder {
        players.iter_mut().for_each(|player| player.ponder = false);
    }
    let test = settings.sprt.map(|sprt| Test {
        bounds: Bounds { elo0: sprt.elo0, elo1: sprt.elo1 },
        model: sprt.model,
        alpha: sprt.alpha,
        beta: sprt.beta,
    });
    if test.is_some() && players.len() != 2 {
        fail!(
            Setting,
            "-sprt tests one engine against another, and there are {}: leave out -sprt, or the other engines",
            players.len()
        );
    }
    if test.is_some() && pairs.half_last {
        fail!(Setting, "-sprt counts pairs of games: -games 2, or an even number of rounds");
    }
    let format = format(settings, players.len());
    Ok(Plan {
        format,
        colors: Colors { swap: !settings.no_swap, reverse: settings.reverse },
        test,
        max_pairs: Some(pairs.count),
        half_last: pairs.half_last,
        opening_per_game: pairs.opening_per_game,
        // A tournament should have the requested number of games, but a test must be sound.
        count_repeats: test.is_none(),
        concurrency: concurrency(settings, topology.cpus())?,
        affinity: match (settings.affinity, settings.affinity_cpus.as_slice()) {
            (false, _) => Affinity::Off,
            (true, []) => Affinity::Auto,
            (true, cpus) => Affinity::Cpus(cpus.to_vec()),
        },
        pause: settings.wait,
        recording: recording(settings)?,
        timeouts: Timeouts {
            start: settings.startup,
            ready: settings.ping,
            new_game: settings.ucinewgame,
            ping: settings.pings.then_some(settings.ping),
            ..Timeouts::default()
        },
        // A crash without `-recover` stops the run at once, so failures are not counted.
        ..Plan::new(settings.event.clone(), players, book, seed, rules, machine(topology))
    })
}

fn format(settings: &RunnerSettings, players: usize) -> Format {
    match settings.tournament {
        // All formats are the same for two players.
        _ if players == 2 => Format::new(RoundRobin),
        Tournament::RoundRobin => Format::new(RoundRobin),
        Tournament::Gauntlet => {
            let most = u16::try_from(players - 1).unwrap_or(u16::MAX);
            let heroes = u16::try_from(settings.seeds).unwrap_or(u16::MAX).clamp(1, most);
            Format::new(Gauntlet { heroes })
        }
        Tournament::Knockout => Format::new(Knockout),
        Tournament::Pyramid => Format::new(Pyramid),
    }
}

fn rules(invocation: &Invocation) -> Result<Rules> {
    let settings = &invocation.settings;
    Ok(Rules {
        ponder: invocation.engines.iter().all(|engine| engine.ponder),
        syzygy: settings.tb.paths.as_deref().map(|paths| syzygy(&settings.tb, paths)).transpose()?,
        variant: variant(settings),
        draw: settings.draw.map(|draw| DrawRule {
            move_number: draw.number,
            from_start: invocation.dialect == Dialect::Cutechess,
            count: draw.count.max(1),
            score_cp: draw.score,
        }),
        resign: settings.resign.map(|resign| ResignRule {
            count: resign.count.max(1),
            score_cp: resign.score.max(1),
            two_sided: resign.two_sided,
        }),
        max_plies: settings.max_moves.map(|moves| moves.saturating_mul(2)),
        stall_timeout: STALL,
        // Each player has its own margin.
        ..Rules::default()
    })
}

fn syzygy(tb: &TbArgs, paths: &str) -> Result<SyzygyRule> {
    // Command lines may also separate folders by semicolons.
    let paths = paths.replace(LIST_SEPARATORS, &LIST_SEPARATORS[0].to_string());
    let mut rule = SyzygyRule::new(&paths).within(|| "-tb")?;
    if tb.pieces > 0 {
        rule = rule.with_pieces(tb.pieces).within(|| "-tbpieces")?;
    }
    rule.ignore_fifty = tb.ignore_50;
    rule.scope = match tb.result {
        TbResult::Both => SyzygyScope::Both,
        TbResult::WinLoss => SyzygyScope::WinLoss,
        TbResult::Draw => SyzygyScope::Draw,
    };
    Ok(rule)
}

pub(super) const fn variant(settings: &RunnerSettings) -> Variant {
    if settings.chess960 { Variant::Chess960 } else { Variant::Standard }
}

fn player(engine: &EngineArgs, dialect: Dialect, options: Vec<(String, String)>) -> Result<Player> {
    let program = program(engine, dialect)?;
    let sha256 =
        file_sha256(&program).within(|| format!("engine {}: `{}` cannot be read", engine.name, program.display()))?;
    let dir = if engine.dir.is_empty() { std::env::current_dir()? } else { std::path::absolute(&engine.dir)? };
    Ok(Player {
        name: printable(&engine.name),
        program,
        args: split_words(&engine.args).within(|| format!("engine {}", engine.name))?,
        dir: Some(dir),
        options,
        limit: engine.limit,
        margin: Some(engine.margin),
        restart: engine.restart,
        white_pov: engine.white_pov,
        ponder: engine.ponder,
        complaints: Vec::new(),
        origin: Origin { spec: engine.cmd.clone(), sha256, ..Origin::default() },
    })
}

/// Program file of an engine: in `dir`, at its path, or by its name in `PATH`. fastchess takes a
/// name from `PATH` before the current folder, and never if `dir` is given. cutechess-cli takes it
/// from `dir` or the current folder before `PATH`.
pub(super) fn program(engine: &EngineArgs, dialect: Dialect) -> Result<PathBuf> {
    let cmd = Path::new(&engine.cmd);
    let own = Path::new(&engine.dir).join(cmd);
    let is_cutechess = dialect == Dialect::Cutechess;
    let is_plain_name = cmd.components().count() == 1 && !engine.cmd.contains('/');
    let mut files = vec![own.clone()];
    if is_plain_name && (is_cutechess || engine.dir.is_empty()) {
        let path = std::env::var_os("PATH").unwrap_or_default();
        files.extend(std::env::split_paths(&path).map(|folder| folder.join(cmd)));
        if !is_cutechess {
            files.rotate_left(1);
        }
    }
    let mut names = files.iter().flat_map(|file| [os::program_names(file), vec![file.clone()]].concat());
    match names.find(|file| file.is_file()) {
        Some(file) => Ok(std::path::absolute(file)?),
        None => fail!(Setting, "engine {}: there is no program `{}`", engine.name, own.display()),
    }
}

/// Book and its use in the plan. `start_book` is the path for the book of a tournament without one.
pub(super) fn book(settings: &RunnerSettings, seed: u64, start_book: &Path) -> Result<(BookRef, Book)> {
    let openings = &settings.openings;
    let options = BookOptions {
        variant: variant(settings),
        plies: openings.plies,
        format: openings.format.map(|format| match format {
            BookFormat::Epd => BookFileFormat::Epd,
            BookFormat::Pgn => BookFileFormat::Pgn,
        }),
    };
    let (path, book) = match &openings.file {
        Some(file) => {
            let path = std::path::absolute(file).within(|| format!("-openings file={file}"))?;
            let book = Book::load(&path, &options)?;
            (path, book)
        }
        None => {
            let options = BookOptions { variant: variant(settings), ..BookOptions::default() };
            (start_book.to_owned(), Book::from_bytes(START_BOOK, start_text(settings).into_bytes(), &options)?)
        }
    };
    let reference = BookRef {
        source: BookSource::File(path),
        sha256: book.sha256().to_owned(),
        openings: book.len() as u64,
        // The starts of Chess960 have no order of their own.
        order: if openings.random || settings.chess960 && openings.file.is_none() {
            Order::Random { seed }
        } else {
            Order::Sequential
        },
        start: openings.start.max(1) - 1,
        plies: openings.plies,
    };
    Ok((reference, book))
}

/// Text of the book of a tournament without one: the starting position, or those of Chess960.
pub(super) fn start_text(settings: &RunnerSettings) -> String {
    if !settings.chess960 {
        return format!("{START_FEN}\n");
    }
    (0..960).filter_map(|number| Position::chess960(number, number)).map(|start| start.fen() + "\n").collect()
}

fn machine(topology: &Topology) -> Machine {
    Machine {
        cpu: std::env::consts::ARCH.to_owned(),
        cores: topology.physical_cores(),
        os: std::env::consts::OS.to_owned(),
    }
}

/// Engine output to record for the PGN. The console writes the PGN as games finish, not the run.
fn recording(settings: &RunnerSettings) -> Result<Recording> {
    let pgn = settings.pgn.clone().unwrap_or_default();
    Ok(Recording {
        live: None,
        record_pv: pgn.pv,
        match_lines: pgn
            .match_lines
            .iter()
            .map(|text| text.parse())
            .collect::<Result<_, _>>()
            .map_err(RunError::value("match_line"))?,
        event: Some(settings.event.clone()),
        site: Some(settings.site.clone()),
        ..Recording::default()
    })
}

/// Options of the PGN.
pub(super) fn pgn_options(settings: &RunnerSettings, dialect: Dialect) -> PgnOptions {
    let pgn = settings.pgn.clone().unwrap_or_default();
    PgnOptions {
        notation: match pgn.notation {
            CompatNotation::San => recording::Notation::San,
            CompatNotation::Lan => recording::Notation::Lan,
            CompatNotation::Uci => recording::Notation::Uci,
        },
        min: pgn.min,
        fields: Fields {
            timeleft: pgn.timeleft,
            latency: pgn.latency,
            nodes: pgn.nodes,
            seldepth: pgn.seldepth,
            nps: pgn.nps,
            hashfull: pgn.hashfull,
            tbhits: pgn.tbhits,
            pv: pgn.pv,
        },
        engine_tags: !pgn.min,
        opening_tags: !pgn.min,
        round: if PairSplit::new(settings).opening_per_game { Round::Game } else { Round::Pair },
        zone: Zone::here(),
        layout: match dialect {
            Dialect::Fastchess => Layout::Runner,
            Dialect::Cutechess => Layout::Cutechess,
        },
    }
}

/// File name for a `-pgnout` or `-epdout` without one.
pub(super) fn dated(dialect: Dialect, extension: &str) -> String {
    let runner = match dialect {
        Dialect::Fastchess => "fastchess",
        Dialect::Cutechess => "cutechess",
    };
    format!("{runner}_{}.{extension}", chrono::Local::now().format("%Y%m%d_%H%M%S"))
}
