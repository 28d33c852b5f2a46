//! Playing of a resolved plan, new or resumed: opens the run directory, runs the dispatcher, writes
//! the summary.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use crate::cluster::Cluster;
use crate::control::server::ControlServer;
use crate::files::write_atomically;
use crate::game::tablebase::Probe;
use crate::journal::{self, Journal};
use crate::openings::Book;
use crate::plan::{Chain, Plan, Player};
use crate::report::block;
use crate::report::console::{Console, Screen};
use crate::report::crashes::{self, Crashes};
use crate::report::event_log::EventLog;
use crate::report::live_pgn::LivePgn;
use crate::report::pgn_file::{self, PgnFile};
use crate::report::state;
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

/// Result of a run that was played, new or resumed, and its place.
#[derive(Debug)]
pub(crate) struct RunOutcome {
    pub(crate) exit: Exit,
    /// Directory of the run.
    pub(crate) root: PathBuf,
    /// Document of `summary.json`.
    pub(crate) summary: Value,
}

/// Starts a new run at `place`. Nothing is left behind if an engine does not start.
pub(crate) fn start(plan: Arc<Plan>, book: Book, place: &Place, output: OutputStyle) -> Result<Exit> {
    start_at(plan, book, place, output, |_| {}).map(|outcome| outcome.exit)
}

/// Starts a new run as [`start`] does, and returns its directory and summary too. `keep` is told
/// the directory before the first game.
pub(crate) fn start_at(
    plan: Arc<Plan>,
    book: Book,
    place: &Place,
    output: OutputStyle,
    keep: impl FnOnce(&Path),
) -> Result<RunOutcome> {
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
    let begin = || -> Result<_> {
        let (dir, journal) = RunDir::create(place, &plan)?;
        keep(dir.root());
        let mut pgn = PgnFile::begin(&dir.path(pgn_file::FILE_NAME), Arc::clone(&plan))?;
        pgn.publish()?;
        Ok((dir, journal, pgn, PageFold::new(Arc::clone(&plan))?))
    };
    let ((dir, journal, pgn, page), cluster) = or_leave(&runtime, cluster, begin())?;
    let live = plan.recording.live.as_deref().map(|file| LivePgn::new(file, Arc::clone(&plan)));
    // Printed only now, so that a refused run prints only its error.
    if let Some(line) = forecast::line(&plan).filter(|_| !output.quiet) {
        progress::note(&line);
    }
    let resources = RunResources { book, tables, cluster };
    let begun = BegunRun { scoreboard, pgn, page, live, was_over: false };
    runtime.block_on(drive(plan, resources, &dir, journal, begun, output))
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
    resume_with(plan, dir, output, || Ok(())).map(|session| session.outcome.exit)
}

/// Result of a session that resumed a run.
#[derive(Debug)]
pub(crate) struct ResumedSession {
    pub(crate) outcome: RunOutcome,
    /// False if the run was over before the session, and its last session said so.
    pub(crate) has_news: bool,
}

/// Resumes a run as [`resume`] does. `keep` is called before the first game, unless the run is
/// refused.
pub(crate) fn resume_with(
    plan: Arc<Plan>,
    dir: &RunDir,
    output: OutputStyle,
    keep: impl FnOnce() -> Result<()>,
) -> Result<ResumedSession> {
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
    let mut live = plan.recording.live.as_deref().map(|file| LivePgn::resumed(file, Arc::clone(&plan)));
    let (journal, replayed) = Journal::resume(&dir.path(journal::FILE_NAME), Some(&dir.expected(&plan)), |game| {
        page.record_ended(game.clone());
        live.iter_mut().for_each(|live| live.record(&game));
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
    let ((), cluster) = or_leave(&runtime, cluster, keep())?;
    let was_over = is_over(&plan, &scoreboard, dir);
    let resources = RunResources { book, tables, cluster };
    let begun = BegunRun { scoreboard, pgn, page, live, was_over };
    let outcome = runtime.block_on(drive(plan, resources, dir, journal, begun, output))?;
    Ok(ResumedSession { outcome, has_news: !was_over })
}

/// Workers of a run, and the dispatcher's connection to them.
type WithPort = Option<(Cluster, RemotePort)>;

/// The workers, with the value that was begun. If that failed, they are told that the run is over.
fn or_leave<T>(runtime: &Runtime, cluster: WithPort, begun: Result<T>) -> Result<(T, WithPort)> {
    match (begun, cluster) {
        (Ok(begun), cluster) => Ok((begun, cluster)),
        (Err(error), Some((cluster, port))) => {
            drop(port);
            runtime.block_on(cluster.close());
            Err(error)
        }
        (Err(error), None) => Err(error),
    }
}

/// True if nothing is left to play, and the summary of the last session has the run's end.
pub(crate) fn is_over(plan: &Plan, scoreboard: &Scoreboard, dir: &RunDir) -> bool {
    let reason = StopReason::of_counted(plan, scoreboard);
    let told = || dir.summary(scoreboard.pairs());
    reason.is_some_and(|reason| told().is_some_and(|told| told["stopped_by"] == state::reason_name(&reason)))
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
    cluster: WithPort,
}

/// State of a run before its next game, and the outputs that have it.
struct BegunRun {
    scoreboard: Scoreboard,
    pgn: PgnFile,
    page: PageFold,
    /// PGN of the games in play; `None` if the plan has none.
    live: Option<LivePgn>,
    /// True if the run is over, so this session plays nothing and has no events.
    was_over: bool,
}

async fn drive(
    plan: Arc<Plan>,
    RunResources { book, tables, cluster }: RunResources,
    dir: &RunDir,
    journal: Journal,
    BegunRun { scoreboard, pgn, page, live, was_over }: BegunRun,
    output: OutputStyle,
) -> Result<RunOutcome> {
    let keys = QuietKeys::on_stderr();
    let screen = Screen::open(&plan);
    let mut observers: Vec<Box<dyn Observer>> = vec![
        Box::new(pgn),
        Box::new(page.clone()),
        Box::new(Crashes::new(dir.path(crashes::FOLDER), Arc::clone(&plan))),
        Box::new(Console::new(screen.handle(), &plan)),
    ];
    if !was_over {
        observers.push(Box::new(EventLog::new(dir.root(), &plan)));
    }
    observers.extend(live.map(|live| -> Box<dyn Observer> { Box::new(live) }));
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
    let is_lost = is_lost(dir, &finish);
    if !is_lost {
        write_results(dir, &finish, &summary, &page);
    }
    let exit = Exit::of(&finish.reason, &finish.scoreboard);
    if let Some(server) = server {
        server.close(exit.code(), summary.json().clone()).await;
    }
    // A chain prints one document at its end.
    let is_part = output.json && plan.chain != Chain::default();
    if !output.quiet && !is_part {
        // The other lines of the text name a folder that has gone.
        let text = if is_lost { summary.headline() } else { summary.text() };
        progress::result(&if output.json { summary.to_json() } else { text.to_owned() });
        // A test that passed goes into a pull request next.
        let passed = finish.scoreboard.verdict() == Verdict::AcceptH1 && !output.json;
        if let Some(block) = block::block(&plan, &finish.scoreboard).filter(|_| passed) {
            progress::result(&format!("\n{}", block.trim_end()));
        }
    }
    if let StopReason::Broken { why } = &finish.reason {
        if is_lost { progress::note(&format!("error: {why}")) } else { progress::broken(why, dir.root()) }
    }
    Ok(RunOutcome { exit, root: dir.root().to_owned(), summary: summary.json().clone() })
}

/// Writes the summary and the page of a run. What cannot be written is a warning, because it does
/// not change the run's result.
fn write_results(dir: &RunDir, finish: &Finish, summary: &Summary, page: &PageFold) {
    if let Err(text) = write_summary(dir, finish, summary) {
        progress::warn(&text);
    }
    if let Err(error) = page.write(dir, finish, summary.headline()) {
        let (root, kept, why) = (dir.root().display(), journal_state(dir, finish), with_causes(&error));
        progress::warn(&format!("{root}: no report.html{kept}: {why}"));
    }
}

/// Writes the summary of a run as JSON; the error is a warning.
pub(crate) fn write_summary(dir: &RunDir, finish: &Finish, summary: &Summary) -> std::result::Result<(), String> {
    write_atomically(&dir.path(SUMMARY), summary.to_json().as_bytes()).map_err(|error| {
        let kept = journal_state(dir, finish);
        format!("{}: cannot write the summary{kept}: {error}", dir.root().display())
    })
}

/// Addition to a warning of a file that is missing beside the journal: nothing, unless the journal
/// has all games.
fn journal_state(dir: &RunDir, finish: &Finish) -> &'static str {
    let is_broken = matches!(finish.reason, StopReason::Broken { .. });
    if is_broken || !has_journal(dir) { "" } else { "; the journal is complete" }
}

/// True if a run could not continue because its journal was removed.
fn is_lost(dir: &RunDir, finish: &Finish) -> bool {
    matches!(finish.reason, StopReason::Broken { .. }) && !has_journal(dir)
}

fn has_journal(dir: &RunDir) -> bool {
    dir.path(journal::FILE_NAME).is_file()
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
