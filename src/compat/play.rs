//! Tournament from start to end: probes the engines, makes the plan and its directory, drives the
//! run and prints the outcome.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tokio::sync::mpsc;

use super::config::ConfigFile;
use super::invocation::{Dialect, EngineArgs, Invocation, OutputFormat, RunnerSettings, Tournament};
use super::log::Log;
use super::place;
use super::plan::{self, PairSplit};
use super::save::Saver;
use super::watch::Watch;
use crate::chess::Variant;
use crate::compat::console::{ConsoleSettings, EngineHeading, FileRepair, Output, RunnerConsole, Scores, Style};
use crate::compat::say::{reworded, say};
use crate::files::{MOST_DOCUMENT_BYTES, read_input};
use crate::game::tablebase::Probe;
use crate::journal::{self, Journal};
use crate::openings::Book;
use crate::plan::time_control::{Limit, Seconds};
use crate::plan::{Plan, Timeouts, override_options};
use crate::report::crashes::{self, Crashes};
use crate::report::summary::Summary;
use crate::run::dir::{Place, RunDir};
use crate::run::drive;
use crate::run::error::{Result, ResultContext as _, RunError, fail};
use crate::run::{prepare, signals, trust};
use crate::schedule::affinity::Topology;
use crate::schedule::dispatcher::{self, Inbox, Run};
use crate::schedule::trial::{self, TrialError};
use crate::tablebase::Tables;
use crate::text::count;
use crate::tournament::events::{Observer, Stop, StopReason};
use crate::tournament::pairing::Pairing;
use crate::tournament::scoreboard::Scoreboard;
use crate::uci::process::{Engine, EngineConfig, StartError};
use crate::uci::{EngineOption, OptionKind};

/// Plays a tournament. Returns true if it came to its end.
///
/// # Errors
/// Any fault that keeps the run from beginning.
pub(super) fn play(mut invocation: Invocation, program: &str) -> Result<bool> {
    let began = Instant::now();
    // The leading runners do, and scripts end them so: `fastchess ... & kill -INT $!`.
    signals::heed_ignored_interrupts();
    let warned = Arc::new(AtomicBool::new(false));
    for note in &invocation.notes {
        warn(note, &warned);
    }
    let topology = Topology::detect();
    let (asked_for, games) =
        (invocation.settings.concurrency, plan::concurrency(&invocation.settings, topology.cpus())?);
    if asked_for <= 0 {
        say(&format!("Info: Adjusted concurrency to {games} based on number of available hardware threads."));
    } else if asked_for > i64::from(games) {
        let more = if invocation.dialect == Dialect::Fastchess { "; -force-concurrency plays more" } else { "" };
        let why = format!("this machine lends {}{more}", count(games.into(), "CPU"));
        warn(&format!("Warning; Adjusted concurrency from {asked_for} to {games}: {why}"), &warned);
    }
    let runtime = prepare::runtime()?;
    let asked = runtime.block_on(ask(&invocation, &warned))?;
    if invocation.settings.strict && warned.load(Ordering::Relaxed) {
        say("Tournament was interrupted.");
        return Ok(false);
    }
    let earlier = earlier(&mut invocation)?;
    let config_path = PathBuf::from(&invocation.settings.config_name);
    let outputs = output_names(&invocation);
    let begun = match earlier {
        Some(dir) => resume(&invocation, &dir, &topology)?,
        None => begin(&invocation, &asked, &config_path, &topology, &outputs, &|plan, book| {
            runtime.block_on(try_players(plan, book, &warned))
        })?,
    };
    invocation.settings.seed = Some(begun.seed);
    let files = (config_path.as_path(), &outputs);
    let finished = runtime.block_on(drive(&invocation, &asked, begun, warned, files, program))?;
    say("Finished match");
    if invocation.dialect == Dialect::Fastchess {
        let seconds = began.elapsed().as_secs();
        say(&format!(
            "Total Time: {:02}:{:02}:{:02} (hours:minutes:seconds)\n",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        ));
    }
    Ok(finished)
}

fn warn(text: &str, warned: &AtomicBool) {
    warned.store(true, Ordering::Relaxed);
    say(text);
}

/// Options and block line of a probed engine.
struct ProbedEngine {
    /// UCI options that the engine is sent.
    options: Vec<(String, String)>,
    given: EngineHeading,
}

/// Starts each engine once, so that one that does not start is known before a run exists. Options
/// that an engine does not have cause a warning and are left out, as in the leading runners.
async fn ask(invocation: &Invocation, warned: &AtomicBool) -> Result<Vec<ProbedEngine>> {
    let mut asked = Vec::new();
    for engine in &invocation.engines {
        let config = EngineConfig {
            name: engine.name.clone(),
            program: plan::program(engine, invocation.dialect)?,
            args: crate::source::split_words(&engine.args)?,
            dir: Some(&engine.dir).filter(|dir| !dir.is_empty()).map(PathBuf::from),
            timeouts: Timeouts {
                start: invocation.settings.startup,
                ready: invocation.settings.ping,
                ..Timeouts::default()
            },
            ..EngineConfig::default()
        };
        let started = Engine::start(&config, &[]).await;
        let process = match started {
            Ok(process) => process,
            Err(error) => fail!(Setting, "{}: {}", startup_failure(&engine.name), start_fault(&error)),
        };
        let known = process.options().to_vec();
        process.quit().await;
        let options = accepted(engine, &known, warned);
        let given = given(engine, &known, &options);
        asked.push(ProbedEngine { options, given });
    }
    Ok(asked)
}

/// Start of the line on an engine that does not start, as scripts expect it.
fn startup_failure(name: &str) -> String {
    format!("Fatal; {name} engine startup failure")
}

/// Reason that an engine did not start. A missing `uciok` has the words that scripts expect before
/// our own.
fn start_fault(error: &StartError) -> String {
    match error {
        StartError::Exited { awaited: "uciok", .. } | StartError::Silent { awaited: "uciok", .. } => {
            format!("\"Engine didn't respond to uciok after startup\" ({error})")
        }
        _ => error.to_string(),
    }
}

/// Options that the engine accepts; the others cause a warning.
fn accepted(engine: &EngineArgs, known: &[EngineOption], warned: &AtomicBool) -> Vec<(String, String)> {
    let mut accepted: Vec<(String, String)> = Vec::new();
    for (name, value) in &engine.options {
        let Some(option) = known.iter().find(|option| option.name.eq_ignore_ascii_case(name)) else {
            warn(&format!("Warning; {} doesn't have option {name}", engine.name), warned);
            continue;
        };
        if option.kind == OptionKind::Button && value != "true" {
            continue;
        }
        // `<empty>` unsets a path or text.
        let value = if value == "<empty>" { "" } else { value };
        match option.accept(value) {
            Ok(_) => override_options(&mut accepted, [(option.name.clone(), value.to_owned())]),
            Err(_) => warn(&format!("Warning; Invalid value for option {name}; {value}"), warned),
        }
    }
    accepted
}

/// Entries of an engine for the first line of a block.
fn given(engine: &EngineArgs, known: &[EngineOption], options: &[(String, String)]) -> EngineHeading {
    let value = |name: &str| {
        let option = known.iter().find(|option| option.name == name)?;
        let set = options.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone());
        set.or_else(|| match &option.kind {
            OptionKind::Spin { default, .. } => Some(default.unwrap_or(0).to_string()),
            OptionKind::Str { default } | OptionKind::Combo { default, .. } => default.clone(),
            OptionKind::Check { .. } | OptionKind::Button => None,
        })
    };
    let with_unit = |name: &str, unit: &str| value(name).map_or_else(|| "NULL".to_owned(), |value| value + unit);
    EngineHeading {
        name: engine.name.clone(),
        time: time(&engine.limit),
        threads: with_unit("Threads", "t"),
        hash: with_unit("Hash", "MB"),
    }
}

/// Limit as `8+0.08`, `0.1/move`, `7 plies` or `5000 nodes`.
fn time(limit: &Limit) -> String {
    match *limit {
        Limit { clock: Some(clock), .. } => clock.to_string(),
        Limit { movetime: Some(time), .. } => format!("{}/move", Seconds(time)),
        Limit { depth: Some(depth), .. } => format!("{depth} plies"),
        Limit { nodes: Some(nodes), .. } => format!("{nodes} nodes"),
        _ => String::new(),
    }
}

/// Run that is ready to be driven.
struct ReadyRun {
    plan: Arc<Plan>,
    book: Book,
    dir: RunDir,
    journal: Journal,
    scoreboard: Scoreboard,
    tables: Option<Arc<dyn Probe>>,
    /// Seed for the configuration file: as given, or drawn at random.
    seed: u64,
    /// Counted pairs of earlier processes, and all their finished games.
    counted: Scores,
    finished: Scores,
}

/// Lets each engine search once under its own limit, so that an engine that never ends a search is
/// detected before the run exists. Complaints of the engines are printed and kept in the plan.
async fn try_players(plan: &mut Plan, book: &Book, warned: &AtomicBool) -> Result<()> {
    let opening = prepare::first_opening(plan, book)?;
    for place in 0..plan.players.len() {
        let player = &plan.players[place];
        let complaints = match trial::run(plan, player, &opening).await {
            // It crashes in its first game too, where `-recover` decides what follows.
            Err(TrialError::Gone { .. }) => Vec::new(),
            tried => tried.within(|| startup_failure(&player.name))?,
        };
        complaints.iter().for_each(|text| warn(&format!("Warning; {}", drive::complaint(&player.name, text)), warned));
        plan.players[place].complaints = complaints;
    }
    Ok(())
}

fn begin(
    invocation: &Invocation,
    asked: &[ProbedEngine],
    config: &Path,
    topology: &Topology,
    outputs: &OutputNames,
    try_players: &dyn Fn(&mut Plan, &Book) -> Result<()>,
) -> Result<ReadyRun> {
    let settings = &invocation.settings;
    let seed = settings.seed.unwrap_or_else(crate::run::resolve::random_seed);
    // A plan's integers are signed, so the seed loses its top bit.
    let plan_seed = seed & i64::MAX.unsigned_abs();
    let claim = place::claim(config)?;
    let (reference, book) = plan::book(settings, plan_seed, &claim.root.join(plan::START_BOOK))?;
    if settings.openings.file.is_some() && settings.openings.random {
        say("Indexing opening suite...");
    }
    let options = asked.iter().map(|asked| asked.options.clone()).collect();
    let mut plan = plan::plan(invocation, options, reference, plan_seed, topology)?;
    try_players(&mut plan, &book)?;
    let plan = Arc::new(plan);
    let scoreboard = Scoreboard::new(&plan)?;
    // All that may be refused is tried before the games of an earlier tournament are removed.
    prepare::check_capacity(&plan)?;
    let tables = Tables::of(plan.rules.syzygy.as_ref())?;
    Log::probe(&settings.log).within(|| format!("-log file={}", settings.log.file))?;
    for name in outputs.iter().flatten() {
        Output::probe(Path::new(name)).within(|| format!("{name}: cannot be written"))?;
    }
    claim.clear()?;
    let (dir, journal) = RunDir::create(&Place::Given(claim.root.clone()), &plan)?;
    if settings.openings.file.is_none() {
        std::fs::write(dir.path(plan::START_BOOK), plan::start_text(settings))
            .within(|| "cannot write the run's book")?;
    }
    // The journal is locked now, so other processes may look for a directory.
    drop(claim);
    let (counted, finished) = (Scores::default(), Scores::default());
    Ok(ReadyRun { plan, book, dir, journal, scoreboard, tables, seed, counted, finished })
}

/// Directory of the run that `-config file=` resumes; `None` for a new run.
///
/// The configuration stays where it is, unless the command line names another file.
fn earlier(invocation: &mut Invocation) -> Result<Option<PathBuf>> {
    let Some(path) = &invocation.resume else { return Ok(None) };
    let text = read_input(path, MOST_DOCUMENT_BYTES).within(|| format!("{}: cannot be read", path.display()))?;
    let file = ConfigFile::parse(&text).map_err(|why| RunError::Setting(format!("{}: {why}", path.display())))?;
    let run = file.quintain.as_ref().map(|own| own.run.clone()).filter(|run| !run.is_empty());
    let Some(run) = run else {
        if file.has_games() {
            fail!(
                Setting,
                "{}: its games were not played by this program, and there is no journal of them; -config file={} stats=false starts the tournament again",
                path.display(),
                path.display()
            );
        }
        return Ok(None);
    };
    // The run must be a folder beside the file, because this program writes no other.
    if Path::new(&run).components().count() != 1 || Path::new(&run).file_name().is_none() {
        fail!(
            Setting,
            "{}: the run `{run:?}` is not beside it; write the name of a folder in its directory",
            path.display()
        );
    }
    let saved = file.saved().map_err(|why| RunError::Setting(format!("{}: {why}", path.display())))?;
    let same = |engines: &[EngineArgs], settings: &RunnerSettings| what_games_are(engines, settings, invocation);
    if same(&saved.engines, &saved.settings) != same(&invocation.engines, &invocation.settings) {
        fail!(
            Setting,
            "{}: engines, openings or rules were changed on the command line, so its games would not belong to one tournament; leave them out, or start again with -config file={} stats=false",
            path.display(),
            path.display()
        );
    }
    let folder = place::folder_of(path)?;
    if invocation.settings.config_name == saved.settings.config_name {
        invocation.settings.config_name = path.display().to_string();
    } else if place::folder_of(Path::new(&invocation.settings.config_name))? != folder {
        fail!(
            Setting,
            "outname={}: it must be in the folder of {}, beside the games",
            invocation.settings.config_name,
            path.display()
        );
    }
    Ok(Some(folder.join(run)))
}

/// Settings that must not change during a tournament. Its length, its outputs and its display are
/// reset to fixed values.
fn what_games_are(engines: &[EngineArgs], settings: &RunnerSettings, invocation: &Invocation) -> ConfigFile {
    let plain = RunnerSettings::new(invocation.dialect);
    let settings = RunnerSettings {
        pgn: None,
        epd: None,
        crc32: false,
        rounds: 1,
        concurrency: 1,
        force_concurrency: false,
        rating_interval: None,
        score_interval: None,
        output: plain.output,
        penta: plain.penta,
        config_name: String::new(),
        autosave: None,
        log: plain.log.clone(),
        recover: false,
        strict: false,
        test_env: false,
        show_latency: false,
        check_mate_pvs: false,
        event: String::new(),
        site: String::new(),
        wait: plain.wait,
        ..settings.clone()
    };
    let seed = settings.seed.unwrap_or(0);
    ConfigFile::new(engines, &settings, invocation.dialect, seed, "")
}

fn resume(invocation: &Invocation, root: &Path, topology: &Topology) -> Result<ReadyRun> {
    let settings = &invocation.settings;
    let (dir, mut plan) = RunDir::open(root)?;
    trust::check(&dir, &plan, false)?;
    plan.concurrency = plan::concurrency(settings, topology.cpus())?;
    let pairs = PairSplit::new(settings);
    (plan.max_pairs, plan.half_last) = (Some(pairs.count), pairs.half_last);
    drive::check_programs(&plan)?;
    let plan = Arc::new(plan);
    prepare::check_capacity(&plan)?;
    let tables = Tables::of(plan.rules.syzygy.as_ref())?;
    let mut scoreboard = Scoreboard::new(&plan)?;
    let (mut counted, mut finished) = (Scores::default(), Scores::default());
    let (journal, replayed) = Journal::resume(&dir.path(journal::FILE_NAME), Some(&dir.expected(&plan)), |game| {
        if !game.is_void {
            finished.record(std::slice::from_ref(&game));
        }
        scoreboard.record(game, |_, games| counted.record(games));
    })?;
    dir.check_plan(&replayed.header)?;
    let book = prepare::load_book(&plan)?;
    let seed = settings.seed.unwrap_or(plan.seed);
    Ok(ReadyRun { plan, book, dir, journal, scoreboard, tables, seed, counted, finished })
}

/// Drives the run. Returns true if everything was played.
async fn drive(
    invocation: &Invocation,
    asked: &[ProbedEngine],
    begun: ReadyRun,
    warned: Arc<AtomicBool>,
    (config, names): (&Path, &OutputNames),
    program: &str,
) -> Result<bool> {
    let settings = &invocation.settings;
    let ReadyRun { plan, book, dir, journal, scoreboard, tables, seed, counted, finished } = begun;
    let is_resumed = finished.games() > 0;
    if is_resumed {
        say(&format!("Resuming from {} games.", finished.games()));
    }
    let (event, site) = (settings.event.clone(), settings.site.clone());
    let setup = setup(invocation, asked, &plan, event, site)?;
    let halves_from = setup.halves_from;
    let mut console = RunnerConsole::new(setup, Box::new(std::io::stdout()), Arc::clone(&warned));
    if is_resumed {
        complete(settings, &console, &dir, &plan)?;
    }
    let [pgn, epd] = outputs(invocation, names, is_resumed)?;
    console = console.with_files(pgn, epd);
    let relative = dir.root().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let file = ConfigFile::new(&invocation.engines, settings, invocation.dialect, seed, &relative);
    let names = plan.players.iter().map(|player| player.name.clone()).collect();
    let mut saver = Saver::new(config.to_owned(), file, names, settings.autosave);
    saver.resume(counted.clone());
    console.resume(finished, counted, scoreboard.pairs());
    saver.save();
    let (interrupts, seen) = mpsc::channel(8);
    let failed = Arc::new(AtomicBool::new(false));
    let watch = Watch {
        stop: interrupts.clone(),
        strict: settings.strict.then(|| Arc::clone(&warned)),
        recover: settings.recover,
        halves_from,
        failed: Arc::clone(&failed),
    };
    let mut observers: Vec<Box<dyn Observer>> = vec![
        Box::new(console),
        Box::new(watch),
        Box::new(saver),
        Box::new(Crashes::new(dir.path(crashes::FOLDER), Arc::clone(&plan))),
    ];
    let names = plan.players.iter().map(|player| player.name.clone()).collect();
    let log = Log::open(&settings.log, settings.show_latency, names, halves_from)
        .within(|| format!("-log file={}", settings.log.file))?;
    if let Some(log) = log {
        observers.push(Box::new(log));
    }
    let earlier = dir.time(scoreboard.pairs());
    let stderr_dir = dir.path(crate::run::dir::STDERR);
    let run = Run { plan: Arc::clone(&plan), book, journal, scoreboard, earlier, tables, stderr_dir };
    // The leading runners drop games in progress when they are told to end. The journal keeps the
    // finished ones.
    let (asked_to_end, mut asks) = mpsc::channel(4);
    let signals = tokio::spawn(signals::watch_signals(asked_to_end));
    let forward = tokio::spawn(async move {
        while asks.recv().await.is_some() {
            if interrupts.send(Stop::Now).await.is_err() {
                return;
            }
        }
    });
    let (_no_commands, commands) = mpsc::channel(1);
    let finish = dispatcher::run(run, &mut observers, Inbox { interrupts: seen, commands, remote: None }).await;
    signals.abort();
    forward.abort();
    drop(observers);
    let summary = Summary::new(&plan, &finish, dir.root());
    if let Err(text) = drive::write_summary(&dir, &finish, &summary) {
        say(&format!("Warning; {text}"));
    }
    Ok(conclude(invocation, &finish.reason, failed.load(Ordering::Relaxed), program))
}

/// Returns true if everything was played; says otherwise how to resume.
fn conclude(invocation: &Invocation, reason: &StopReason, is_failed: bool, program: &str) -> bool {
    match reason {
        StopReason::Verdict | StopReason::OutOfPairs | StopReason::OutOfOpenings | StopReason::Narrow if !is_failed => {
            return true;
        }
        StopReason::Broken { why } => say(&format!("Fatal; {}", reworded(why))),
        _ => {}
    }
    let again = match invocation.dialect {
        Dialect::Fastchess => "-config file=",
        Dialect::Cutechess => "-resume -tournamentfile ",
    };
    say(&format!(
        "Tournament was interrupted. To resume the tournament, run: {program} {again}{}",
        invocation.settings.config_name
    ));
    false
}

/// Names of the files of `-pgnout` and `-epdout`.
type OutputNames = [Option<String>; 2];

fn output_names(invocation: &Invocation) -> OutputNames {
    let name = |file: &String, extension: &str| {
        if file.is_empty() { plan::dated(invocation.dialect, extension) } else { file.clone() }
    };
    let settings = &invocation.settings;
    [settings.pgn.as_ref().map(|pgn| name(&pgn.file, "pgn")), settings.epd.as_ref().map(|epd| name(&epd.file, "epd"))]
}

/// Opens the output files. What an earlier process wrote is kept.
fn outputs(invocation: &Invocation, [pgn, epd]: &OutputNames, is_resumed: bool) -> Result<[Option<Output>; 2]> {
    let settings = &invocation.settings;
    let open = |name: &str, append: bool, crc: bool| {
        Output::open(Path::new(name), append || is_resumed, crc).within(|| format!("{name}: cannot be written"))
    };
    let pgn = settings.pgn.as_ref().zip(pgn.as_ref()).map(|(args, name)| open(name, args.append, settings.crc32));
    let epd = settings.epd.as_ref().zip(epd.as_ref()).map(|(args, name)| open(name, args.append, false));
    Ok([pgn.transpose()?, epd.transpose()?])
}

/// Gives the output files the games of the journal whose end was lost with an earlier process. A
/// file that cannot be completed gets a message. One without a given name is new.
fn complete(settings: &RunnerSettings, console: &RunnerConsole, dir: &RunDir, plan: &Plan) -> Result<()> {
    let open = |name: &String| FileRepair::open(Path::new(name)).within(|| format!("{name}: cannot be written"));
    let given = [settings.pgn.as_ref().map(|pgn| &pgn.file), settings.epd.as_ref().map(|epd| &epd.file)];
    let [pgn, epd] = given.map(|name| name.filter(|name| !name.is_empty()).map(open).transpose());
    let mut repairs = [pgn?.flatten(), epd?.flatten()];
    dir.read(plan, |game| {
        if game.is_void {
            return;
        }
        for (repair, text) in repairs.iter_mut().zip(console.texts(&game)) {
            if let (Some(repair), Some(text)) = (repair, text) {
                repair.put(&text);
            }
        }
    })?;
    repairs.iter().flatten().filter_map(FileRepair::fault).for_each(|fault| say(&fault));
    Ok(())
}

fn setup(
    invocation: &Invocation,
    asked: &[ProbedEngine],
    plan: &Plan,
    event: String,
    site: String,
) -> Result<ConsoleSettings> {
    let settings = &invocation.settings;
    let file = settings.openings.file.as_deref().unwrap_or_default();
    let players = u16::try_from(plan.players.len()).unwrap_or(u16::MAX);
    let scoreboard = Scoreboard::new(plan)?;
    Ok(ConsoleSettings {
        style: match (invocation.dialect, settings.output) {
            (Dialect::Cutechess, _) => Style::Cutechess,
            (Dialect::Fastchess, OutputFormat::Fastchess) => Style::Fastchess,
            (Dialect::Fastchess, OutputFormat::Cutechess) => Style::FastchessCutechess,
        },
        players: asked.iter().map(|asked| asked.given.clone()).collect(),
        limits: plan.players.iter().map(|player| player.limit).collect(),
        book: Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned(),
        games: plan.format.encounters(players).saturating_mul(PairSplit::new(settings).games()),
        halves_from: Pairing::new(plan).halves_from(),
        heroes: match settings.tournament {
            Tournament::Gauntlet => usize::try_from(settings.seeds).unwrap_or(usize::MAX),
            _ => 0,
        },
        is_open: plan.format.definition().is_open,
        sprt: scoreboard.sprt().cloned(),
        penta: settings.penta,
        rating_interval: settings.rating_interval,
        score_interval: settings.score_interval,
        recover: settings.recover,
        strict: settings.strict,
        check_mate_pvs: settings.check_mate_pvs,
        test_env: settings.test_env,
        pgn: plan::pgn_options(settings, invocation.dialect),
        event,
        site,
        variant: if settings.chess960 { Variant::Chess960 } else { Variant::Standard },
    })
}
