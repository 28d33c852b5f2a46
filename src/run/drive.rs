//! Playing of a resolved plan, new or resumed: opens the run directory, runs the dispatcher, writes
//! the summary.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::mpsc;

use crate::cluster::Cluster;
use crate::control::server::ControlServer;
use crate::files::write_atomically;
use crate::game::tablebase::Probe;
use crate::journal::{self, Journal};
use crate::openings::Book;
use crate::plan::{Plan, Player};
use crate::report::block;
use crate::report::console::{Console, Screen};
use crate::report::crashes::{self, Crashes};
use crate::report::event_log::EventLog;
use crate::report::live_pgn::LivePgn;
use crate::report::pgn_file::{self, PgnFile};
use crate::report::stored::SUMMARY;
use crate::report::summary::Summary;
use crate::report::terminal::QuietKeys;
use crate::run::dir::{self, Place, RunDir};
use crate::run::error::{Result, ResultContext as _, RunError, fail};
use crate::run::page::PageFold;
use crate::run::{Exit, forecast, lasting, prepare, progress, signals};
use crate::schedule::affinity::{self, Topology};
use crate::schedule::dispatcher::{self, Inbox, Run};
use crate::schedule::remote::RemotePort;
use crate::stats::sprt::Verdict;
use crate::tablebase::Tables;
use crate::text::{file_sha256, with_causes};
use crate::tournament::events::{Finish, Observer, StopReason};
use crate::tournament::scoreboard::Scoreboard;

/// Form of the printed results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputStyle {
    json: bool,
    quiet: bool,
}

impl OutputStyle {
    pub(crate) const fn new(json: bool) -> Self {
        Self { json, quiet: false }
    }

    /// True if the results are one JSON document.
    pub(crate) const fn is_json(self) -> bool {
        self.json
    }

    /// Output of runs within a larger command, which prints its own results.
    pub(crate) const fn quiet() -> Self {
        Self { json: false, quiet: true }
    }
}

/// Starts a new run at `place`. Nothing is left behind if an engine does not start.
pub(crate) fn start(plan: Arc<Plan>, book: Book, place: &Place, output: OutputStyle) -> Result<Exit> {
    start_at(plan, book, place, output, |_| {}).map(|(exit, _)| exit)
}

/// Starts a new run as [`start`] does, and returns its directory too. `keep` is told the directory
/// before the first game.
pub(crate) fn start_at(
    plan: Arc<Plan>,
    book: Book,
    place: &Place,
    output: OutputStyle,
    keep: impl FnOnce(&Path),
) -> Result<(Exit, PathBuf)> {
    prepare::check_capacity(&plan)?;
    if let Some(text) = lasting::warning(&plan).filter(|_| !output.quiet) {
        progress::warn(&text);
    }
    let runtime = prepare::runtime()?;
    let tables = Tables::of(plan.rules.syzygy.as_ref())?;
    let complaints = runtime.block_on(prepare::preflight(&plan, &book))?;
    let plan = with_complaints(plan, complaints);
    let scoreboard = Scoreboard::new(&plan)?;
    let cluster = runtime.block_on(prepare::cluster(&plan))?;
    let (dir, journal) = RunDir::create(place, &plan)?;
    keep(dir.root());
    let mut pgn = PgnFile::begin(&dir.path(pgn_file::FILE_NAME), Arc::clone(&plan))?;
    pgn.publish()?;
    let page = PageFold::new(Arc::clone(&plan))?;
    // Printed only now, so that a refused run prints only its error.
    if let Some(line) = forecast::line(&plan).filter(|_| !output.quiet) {
        progress::note(&line);
    }
    let resources = RunResources { book, tables, cluster };
    let exit = runtime.block_on(drive(plan, resources, &dir, journal, (scoreboard, pgn, page), output))?;
    Ok((exit, dir.root().to_owned()))
}

/// Refuses a tuning whose games have other values than this version proposes.
pub(crate) fn check_values(scoreboard: &Scoreboard, root: &Path) -> Result<()> {
    if let Some(game) = scoreboard.tuning().and_then(|tuning| tuning.foreign()) {
        fail!(
            OtherRun,
            "{}: game {} does not have the values that this version proposes, so its pairs would move the tuning the wrong way. The run was started by another version: continue with that one, or start another run",
            root.display(),
            game.number()
        );
    }
    Ok(())
}

/// Resumes the run in `dir`.
pub(crate) fn resume(plan: Arc<Plan>, dir: &RunDir, output: OutputStyle) -> Result<Exit> {
    resume_with(plan, dir, output, || Ok(()))
}

/// Resumes a run as [`resume`] does. `keep` is called before the first game, unless the run is
/// refused.
pub(crate) fn resume_with(
    plan: Arc<Plan>,
    dir: &RunDir,
    output: OutputStyle,
    keep: impl FnOnce() -> Result<()>,
) -> Result<Exit> {
    affinity::check_cpus(plan.concurrency, plan.threads(), &plan.affinity, &Topology::detect())?;
    prepare::check_capacity(&plan)?;
    let runtime = prepare::runtime()?;
    let book = prepare::load_book(&plan)?;
    let tables = Tables::of(plan.rules.syzygy.as_ref())?;
    check_programs(&plan)?;
    let mut scoreboard = Scoreboard::new(&plan)?;
    // The journal is locked first, because another process could be writing games.pgn until then.
    let mut begun = None;
    let page = PageFold::new(Arc::clone(&plan))?;
    let (journal, replayed) = Journal::resume(&dir.path(journal::FILE_NAME), Some(&dir.expected(&plan)), |game| {
        page.record_ended(game.clone());
        scoreboard.record(game, |scoreboard, games| {
            page.record_counted(scoreboard);
            let pgn = begun.get_or_insert_with(|| PgnFile::resume(&dir.path(pgn_file::FILE_NAME), Arc::clone(&plan)));
            if let Ok(file) = pgn
                && let Err(error) = file.record(games)
            {
                *pgn = Err(error);
            }
        });
    })?;
    dir.check_plan(&replayed.header)?;
    check_values(&scoreboard, dir.root())?;
    let pgn = begun.unwrap_or_else(|| PgnFile::resume(&dir.path(pgn_file::FILE_NAME), Arc::clone(&plan)));
    let pgn = pgn
        .and_then(|mut pgn| pgn.publish().map(|()| pgn))
        .within(|| format!("{}: cannot write games.pgn", dir.root().display()))?;
    if replayed.torn_bytes > 0 {
        progress::note(&format!("dropped {} bytes of a game that was not fully recorded", replayed.torn_bytes));
    }
    if scoreboard.verdict() == Verdict::Continue && scoreboard.failures() <= plan.max_failures {
        let complaints = runtime.block_on(prepare::preflight(&plan, &book))?;
        tell(&plan, &complaints);
    }
    let cluster = runtime.block_on(prepare::cluster(&plan))?;
    keep()?;
    runtime.block_on(drive(plan, RunResources { book, tables, cluster }, dir, journal, (scoreboard, pgn, page), output))
}

/// Checks that programs and networks are those that the run began with.
pub(crate) fn check_programs(plan: &Plan) -> Result<()> {
    for player in &plan.players {
        let sha256 = file_sha256(&player.program).within(|| {
            format!("{}: the program of `{}` is missing; restore it to continue", player.program.display(), player.name)
        })?;
        if sha256 != player.origin.sha256 {
            return Err(RunError::Changed {
                file: player.program.display().to_string(),
                harm: "its games would be of two programs",
            });
        }
        check_network(player)?;
    }
    Ok(())
}

/// Checks that the file of a player's network is the one that the run began with.
fn check_network(player: &Player) -> Result<()> {
    let Some(network) = &player.origin.network else { return Ok(()) };
    let Some(file) = network.option.as_ref().and_then(|option| player.option(option)) else { return Ok(()) };
    let sha256 = file_sha256(file)
        .within(|| format!("{file}: the network of `{}` is missing; put {network} there to continue", player.name))?;
    if sha256 != network.sha256 {
        return Err(RunError::Changed { file: file.to_owned(), harm: "its games would be of two networks" });
    }
    Ok(())
}

/// Prints the failures that engines reported, except those that the plan already has.
fn tell(plan: &Plan, complaints: &[Vec<String>]) {
    for (player, complaints) in plan.players.iter().zip(complaints) {
        for text in complaints.iter().filter(|text| !player.complaints.contains(text)) {
            progress::warn(&complaint(&player.name, text));
        }
    }
}

/// Returns the message for a failure that an engine reported.
pub(crate) fn complaint(name: &str, text: &str) -> String {
    format!("engine {name}, before its first game: {text}")
}

/// Prints the failures that engines reported, and stores them in the plan.
fn with_complaints(plan: Arc<Plan>, complaints: Vec<Vec<String>>) -> Arc<Plan> {
    tell(&plan, &complaints);
    let mut plan = Arc::unwrap_or_clone(plan);
    for (player, complaints) in plan.players.iter_mut().zip(complaints) {
        player.complaints = complaints;
    }
    Arc::new(plan)
}

/// Resources of a run.
struct RunResources {
    book: Book,
    tables: Option<Arc<dyn Probe>>,
    /// Workers in other processes, and the dispatcher's connection to them.
    cluster: Option<(Cluster, RemotePort)>,
}

async fn drive(
    plan: Arc<Plan>,
    RunResources { book, tables, cluster }: RunResources,
    dir: &RunDir,
    journal: Journal,
    (scoreboard, pgn, page): (Scoreboard, PgnFile, PageFold),
    output: OutputStyle,
) -> Result<Exit> {
    let keys = QuietKeys::on_stderr();
    let screen = Screen::open(&plan);
    let mut observers: Vec<Box<dyn Observer>> = vec![
        Box::new(pgn),
        Box::new(page.clone()),
        Box::new(Crashes::new(dir.path(crashes::FOLDER), Arc::clone(&plan))),
        Box::new(Console::new(screen.handle(), &plan)),
        Box::new(EventLog::new(dir.root(), &plan)),
    ];
    observers.extend(plan.recording.live.as_deref().map(|file| {
        let live: Box<dyn Observer> = Box::new(LivePgn::new(file, Arc::clone(&plan)));
        live
    }));
    let (commands, asked) = mpsc::channel(4);
    let server = match ControlServer::open(dir.root(), &plan, commands) {
        Ok((server, publisher)) => {
            observers.push(Box::new(publisher));
            Some(server)
        }
        Err(error) => {
            progress::warn(&format!("no control socket, so `watch` and `ctl` cannot reach this run: {error}"));
            None
        }
    };
    let earlier = dir.time(scoreboard.pairs());
    let stderr_dir = dir.path(dir::STDERR);
    let run = Run { plan: Arc::clone(&plan), book, journal, scoreboard, earlier, tables, stderr_dir };
    let (cluster, remote) = cluster.unzip();
    let (interrupts, seen) = mpsc::channel(4);
    let taken = signals::taken();
    let watch = tokio::spawn(signals::watch_signals(interrupts));
    let finish = dispatcher::run(run, &mut observers, Inbox { interrupts: seen, commands: asked, remote }).await;
    watch.abort();
    if finish.reason != StopReason::Interrupted {
        signals::give_back(taken);
    }
    if let Some(cluster) = cluster {
        cluster.close().await;
    }
    drop(observers);
    screen.close();
    drop(keys);
    let summary = Summary::new(&plan, &finish, dir.root());
    let json = summary.to_json();
    if let Err(text) = write_summary(dir, &json) {
        progress::warn(&text);
    }
    if let Err(error) = page.write(dir, &finish.scoreboard, summary.headline()) {
        let (root, why) = (dir.root().display(), with_causes(&error));
        progress::warn(&format!("{root}: no report.html; the journal is complete: {why}"));
    }
    let exit = exit(&finish);
    if let Some(server) = server {
        server.close(exit.code(), summary.json().clone()).await;
    }
    if !output.quiet {
        progress::result(if output.json { &json } else { summary.text() });
        // A test that passed goes into a pull request next.
        let passed = finish.scoreboard.verdict() == Verdict::AcceptH1 && !output.json;
        if let Some(block) = block::block(&plan, &finish.scoreboard).filter(|_| passed) {
            progress::result(&format!("\n{}", block.trim_end()));
        }
    }
    if let StopReason::Broken { why } = &finish.reason {
        progress::broken(why, dir.root());
    }
    Ok(exit)
}

/// Writes the summary of a run as JSON; the error is a warning. The journal has all games, so a
/// missing summary does not change the run's result.
pub(crate) fn write_summary(dir: &RunDir, json: &str) -> std::result::Result<(), String> {
    write_atomically(&dir.path(SUMMARY), json.as_bytes()).map_err(|error| {
        format!("{}: cannot write the summary; the journal is complete: {error}", dir.root().display())
    })
}

/// Returns the exit code of a run.
pub(crate) fn exit(finish: &Finish) -> Exit {
    match (&finish.reason, finish.scoreboard.verdict()) {
        (_, Verdict::AcceptH1) => Exit::Done,
        (_, Verdict::AcceptH0) => Exit::H0,
        (StopReason::Interrupted, _) => Exit::Interrupted,
        (StopReason::TooManyFailures { .. } | StopReason::TooManyTimeLosses { .. } | StopReason::Broken { .. }, _) => {
            Exit::Aborted
        }
        // A tuning may end at any time.
        (StopReason::OutOfTime, _) if finish.scoreboard.tuning().is_some() => Exit::Done,
        // Without a test every end is regular.
        (StopReason::OutOfPairs | StopReason::Narrow | StopReason::Flat, _) if finish.scoreboard.sprt().is_none() => {
            Exit::Done
        }
        (
            StopReason::Verdict
            | StopReason::OutOfPairs
            | StopReason::OutOfOpenings
            | StopReason::Narrow
            | StopReason::Flat
            | StopReason::OutOfTime,
            _,
        ) => Exit::Inconclusive,
    }
}

/// Default directory of a new run.
pub(crate) fn default_place(name: &str) -> Place {
    place_in(Path::new(dir::RUNS), name)
}

/// Directory of a new run in the folder `runs`, by date and name.
pub(crate) fn place_in(runs: &Path, name: &str) -> Place {
    let stamp = chrono::Local::now().format("%Y%m%d-%H%M%S");
    let name: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' }).collect();
    Place::Default(runs.join(format!("{stamp}-{name}")))
}
