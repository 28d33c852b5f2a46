//! Live view: a few lines redrawn on a terminal, or an occasional plain line elsewhere.
//!
//! A thread of its own draws, behind a bounded channel. A terminal that stops reading costs the
//! view some updates and the run nothing.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::plan::{Plan, Workers};
use crate::record::{PlayerId, Termination};
use crate::report::figures::{self, duration};
use crate::report::{crashes, standings, tune};
use crate::stats::sprt::Verdict;
use crate::text::{count, printable, printable_lines};
use crate::tournament::events::{Observer, Phase, RunEvent};
use crate::tournament::pairing::Pairing;
use crate::tournament::scoreboard::{Faults, Scoreboard};
use crate::tournament::time_losses::ALARM;
use crate::tournament::tuning::TuningProgress;
use crate::tournament::workers::WorkerStatus;

/// Minimum time between two plain lines.
const PLAIN_INTERVAL: Duration = Duration::from_secs(30);

/// Messages queued for a slow terminal before updates are dropped.
const BACKLOG: usize = 64;

/// Maximum number of rows of a table on a terminal. The summary has all.
const MAX_ROWS: usize = 16;

/// Resolution of the LLR bar.
const BAR_STEPS: u64 = 1_000;

/// Contents of the view at one moment.
#[derive(Clone, Debug)]
pub struct View {
    /// Progress of the test, if the run has one.
    pub bar: Option<Bar>,
    /// Lines below the bar.
    pub lines: Vec<String>,
    /// Essentials in one line, for output without a terminal.
    pub plain: String,
}

/// Progress of a test between its bounds.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Position of the LLR between its bounds, 0 to 1.
    pub fraction: f64,
    /// LLR and bounds as text.
    pub llr: String,
}

enum ConsoleMessage {
    View(Box<View>),
    Line(String),
}

/// Drawing thread of the live view.
pub struct Screen {
    sender: Option<SyncSender<ConsoleMessage>>,
    thread: Option<JoinHandle<()>>,
}

impl Screen {
    /// Opens the view on standard error, with a heading that names the run.
    #[must_use]
    pub fn open(plan: &Plan) -> Self {
        let (sender, receiver) = sync_channel(BACKLOG);
        let heading = heading(plan);
        let terminal = std::io::stderr().is_terminal();
        let draw = move || {
            if terminal { draw_live(&heading, &receiver) } else { draw_plain(&heading, &receiver) }
        };
        let thread = std::thread::Builder::new().name("screen".to_owned()).spawn(draw).ok();
        Self { sender: Some(sender), thread }
    }

    /// Handle through which an observer sends messages.
    #[must_use]
    pub fn handle(&self) -> ScreenHandle {
        ScreenHandle { sender: self.sender.clone() }
    }

    /// Shows the state of the run.
    pub fn show(&self, view: View) {
        self.handle().send(ConsoleMessage::View(Box::new(view)));
    }

    /// Prints a permanent line.
    pub fn line(&self, text: String) {
        self.handle().send(ConsoleMessage::Line(text));
    }

    /// Draws the remaining messages and ends the view. All handles must be dropped before.
    pub fn close(mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Handle to the [`Screen`] that never blocks.
#[derive(Clone)]
pub struct ScreenHandle {
    sender: Option<SyncSender<ConsoleMessage>>,
}

impl ScreenHandle {
    fn send(&self, message: ConsoleMessage) {
        if let Some(sender) = &self.sender {
            // The channel is full if the terminal is slow. A later view makes up for this one.
            let _ = sender.try_send(message);
        }
    }
}

/// Formats a run for the live view.
#[derive(Clone, Debug)]
pub struct Viewer {
    /// Total number of pairs, if known. The openings of the book are no estimate for a test, which
    /// ends before.
    total: Option<u64>,
    plan: Plan,
    /// Pairs counted before this process began, which the pace leaves out.
    pairs_before: u64,
    /// Number of time losses so far. The first few have a line each.
    time_losses: u64,
    /// Number of narrowed ranges of a tuning so far. Each has a line.
    cuts: usize,
    /// Line on the workers of a hub; `None` without a hub, and before they are known.
    fleet: Option<String>,
}

impl Viewer {
    /// Creates the formatter for `plan`'s run.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let is_planned = plan.test.is_none() || plan.max_pairs.is_some();
        let total = Pairing::new(plan).total().filter(|_| is_planned);
        Self { total, plan: plan.clone(), pairs_before: 0, time_losses: 0, cuts: 0, fleet: None }
    }

    /// Records the state before this process began, which the pace leaves out.
    pub fn begin(&mut self, scoreboard: &Scoreboard) {
        self.pairs_before = scoreboard.pairs();
        self.time_losses = scoreboard.finished_time_losses().lost;
        self.cuts = scoreboard.tuning().map_or(0, |progress| progress.course().tuning().cuts().len());
    }

    /// Pairs per minute since this process began; `None` before the first.
    #[must_use]
    pub fn pairs_per_minute(&self, scoreboard: &Scoreboard, elapsed: Duration) -> Option<f64> {
        self.pace(scoreboard, elapsed).pairs_per_minute
    }

    fn pace(&self, scoreboard: &Scoreboard, elapsed: Duration) -> PairRate {
        PairRate::new(scoreboard, scoreboard.pairs().saturating_sub(self.pairs_before), elapsed, self.total)
    }

    /// Formats the state of the run.
    #[must_use]
    pub fn view(&self, scoreboard: &Scoreboard, elapsed: Duration) -> View {
        let pace = self.pace(scoreboard, elapsed);
        let mut view = if let Some(progress) = scoreboard.tuning() {
            self.tuning(progress, scoreboard, &pace)
        } else if self.plan.players.len() == 2 {
            duel(&self.plan, scoreboard, &pace)
        } else {
            self.table(scoreboard, &pace)
        };
        if let Some(fleet) = &self.fleet {
            view.plain.push_str(&format!(", {fleet}"));
            view.lines.push(fleet.clone());
        }
        view
    }

    /// View of a tuning, whose only Elo is that of validation.
    fn tuning(&self, progress: &TuningProgress, scoreboard: &Scoreboard, pace: &PairRate) -> View {
        let mut lines = tune::lines(progress);
        let (state, pairs) = (tune::state_line(progress.course()), tune::pairs_line(progress));
        let plain = [Some(pairs), Some(state), tune::validation_line(progress.course()), Some(pace.to_string())];
        lines.push(pace.to_string());
        lines.extend(fault_line(&self.plan, scoreboard));
        View { bar: None, lines, plain: plain.into_iter().flatten().collect::<Vec<_>>().join("; ") }
    }

    /// View of more than two players on one scale.
    fn table(&self, scoreboard: &Scoreboard, pace: &PairRate) -> View {
        let rows = standings::rows(&self.plan, scoreboard);
        let pairs = scoreboard.pairs();
        let of =
            self.total.map_or_else(|| count(pairs, "pair"), |total| format!("{pairs} of {}", count(total, "pair")));
        let count = format!("{of}, {pace}");
        let leaders = standings::leaders(&rows, 3);
        let mut lines = standings::table(&rows, Some(MAX_ROWS));
        lines.push(count.clone());
        View { bar: None, lines, plain: if leaders.is_empty() { count } else { format!("{count}: {leaders}") } }
    }

    /// Counts a time loss. Returns true from the fifth on, because the run reports those together.
    const fn count_time_loss(&mut self) -> bool {
        self.time_losses += 1;
        self.time_losses >= ALARM
    }

    /// Line on the ranges of a tuning that were narrowed since the last call.
    fn narrowed(&mut self, scoreboard: &Scoreboard) -> Option<String> {
        let course = scoreboard.tuning()?.course();
        let cuts = course.tuning().cuts().len();
        let before = std::mem::replace(&mut self.cuts, cuts);
        (cuts > before).then(|| tune::cut_lines(course).split_off(before).join("\n"))
    }

    /// Permanent line for an event, if it deserves one.
    #[must_use]
    pub fn line(&mut self, event: &RunEvent<'_>) -> Option<String> {
        match event {
            RunEvent::GameEnded { record, .. }
                if record.ending.termination == Termination::TimeForfeit && self.count_time_loss() =>
            {
                None
            }
            RunEvent::Opened { scoreboard } if scoreboard.pairs() > 0 => {
                Some(format!("resuming after {}", count(scoreboard.pairs(), "pair")))
            }
            RunEvent::GameEnded { record, failure: Some(failure) } => {
                let name = self.plan.name_of(failure.player);
                let evidence = record.overstep.map(|overstep| format!(" ({})", overstep.load)).unwrap_or_default();
                let fate = if record.is_void { "; void, its pair is played again" } else { "" };
                let values = match record.values {
                    Some(_) => {
                        let folder = crashes::folder_name(record.id.number());
                        format!("; its values are in {}/{folder}/{} of the run", crashes::FOLDER, crashes::ABOUT)
                    }
                    None => String::new(),
                };
                Some(format!(
                    "game {}: {name}: {}{}{}{evidence}{fate}{values}",
                    record.id.number(),
                    record.ending.termination.name(),
                    if record.ending.detail.is_empty() { "" } else { ": " },
                    printable(&record.ending.detail),
                ))
            }
            RunEvent::GameEnded { record, failure: None } if record.is_void => Some(format!(
                "game {}: void: Quintain itself was suspended while a clock ran; its pair is played again",
                record.id.number()
            )),
            RunEvent::PairCounted { scoreboard, .. } => self.narrowed(scoreboard),
            RunEvent::Workers { workers } => {
                if let Some(Workers::Hub(hub)) = &self.plan.workers {
                    self.fleet = Some(fleet_line(workers, &hub.url));
                }
                None
            }
            RunEvent::Warning { text } | RunEvent::PvWarning { text } => Some(format!("warning: {text}")),
            RunEvent::Steered { status } => Some(match status.phase {
                Phase::Running => format!("playing, {} at once", status.concurrency),
                Phase::Paused => format!("paused, {} at once after `quintain ctl RUN resume`", status.concurrency),
                Phase::Stopping => "stopping".to_owned(),
            }),
            RunEvent::Finishing { pairs: false } => {
                Some("finishing the running games; press Ctrl-C again to stop at once".to_owned())
            }
            RunEvent::Finishing { pairs: true } => {
                Some("finishing the started pairs; press Ctrl-C to stop after the running games".to_owned())
            }
            RunEvent::Opened { .. }
            | RunEvent::GameBegan { .. }
            | RunEvent::GameMoved { .. }
            | RunEvent::GameEnded { .. }
            | RunEvent::Tick { .. }
            | RunEvent::Closed { .. } => None,
        }
    }
}

/// Workers of the hub at `url` that play a run, and pairs that they lost.
fn fleet_line(workers: &[WorkerStatus], url: &str) -> String {
    let serving: Vec<_> = workers.iter().filter(|worker| worker.serves).collect();
    if serving.is_empty() {
        return format!("no worker plays; `quintain workers {url}` lists those of the hub");
    }
    let slots = serving.iter().map(|worker| u64::from(worker.slots)).sum();
    let mut line = format!("{} with {}", count(serving.len() as u64, "worker"), count(slots, "slot"));
    let others = (workers.len() - serving.len()) as u64;
    if others > 0 {
        line.push_str(&format!(", {others} not playing"));
    }
    let lost: u64 = workers.iter().map(|worker| worker.lost).sum();
    if lost > 0 {
        line.push_str(&format!(", {} lost and played again", count(lost, "pair")));
    }
    line
}

/// View of two players.
fn duel(plan: &Plan, scoreboard: &Scoreboard, pace: &PairRate) -> View {
    let estimates = scoreboard.estimates();
    let ptnml = figures::ptnml(&scoreboard.ptnml());
    let mut plain = vec![count(scoreboard.pairs(), "pair"), format!("ptnml {ptnml}")];
    plain.extend(estimates.trial().map(|trial| trial.line()));
    plain.extend([estimates.elo_short(), pace.to_string()]);
    View {
        bar: estimates.trial().map(|trial| Bar {
            fraction: ((trial.llr - trial.lower) / (trial.upper - trial.lower)).clamp(0.0, 1.0),
            llr: trial.line(),
        }),
        lines: [
            estimates.elo_line(),
            estimates.anytime_short(),
            format!("ptnml {ptnml}   {}", count(scoreboard.pairs(), "pair")),
            pace.to_string(),
        ]
        .into_iter()
        .chain(fault_line(plan, scoreboard))
        .collect(),
        plain: plain.join(", "),
    }
}

/// Time losses and crashes of two players.
fn fault_line(plan: &Plan, scoreboard: &Scoreboard) -> Option<String> {
    let [new, base] = plan.players.as_slice() else { return None };
    let [ours, theirs] = [PlayerId::NEW, PlayerId::BASE].map(|player| scoreboard.faults(player));
    let crashes = |f: Faults| f.crashes + f.stalls + f.illegal_moves;
    Some(format!(
        "time losses {}/{}   crashes {}/{}   ({}/{})",
        ours.time_forfeits,
        theirs.time_forfeits,
        crashes(ours),
        crashes(theirs),
        new.name,
        base.name,
    ))
}

/// Observer that shows a run on a screen.
pub struct Console {
    screen: ScreenHandle,
    viewer: Viewer,
}

impl Console {
    /// Creates an observer that shows `plan`'s run on `screen`.
    #[must_use]
    pub fn new(screen: ScreenHandle, plan: &Plan) -> Self {
        Self { screen, viewer: Viewer::new(plan) }
    }
}

impl Observer for Console {
    fn observe(&mut self, event: RunEvent<'_>) {
        if let Some(line) = self.viewer.line(&event) {
            self.screen.send(ConsoleMessage::Line(line));
        }
        let (scoreboard, elapsed) = match event {
            RunEvent::Opened { scoreboard } => {
                self.viewer.begin(scoreboard);
                (scoreboard, Duration::ZERO)
            }
            RunEvent::Tick { scoreboard, elapsed } | RunEvent::Closed { scoreboard, elapsed, .. } => {
                (scoreboard, elapsed)
            }
            _ => return,
        };
        self.screen.send(ConsoleMessage::View(Box::new(self.viewer.view(scoreboard, elapsed))));
    }
}

/// Pairs per minute, and the estimated time left.
struct PairRate {
    pairs_per_minute: Option<f64>,
    left: Option<Duration>,
}

impl PairRate {
    fn new(scoreboard: &Scoreboard, played: u64, elapsed: Duration, total: Option<u64>) -> Self {
        let minutes = elapsed.as_secs_f64() / 60.0;
        let rate = (played > 0 && minutes > 0.0).then(|| played as f64 / minutes);
        if scoreboard.verdict() != Verdict::Continue {
            return Self { pairs_per_minute: rate, left: None };
        }
        let until_end = total.map(|limit| limit.saturating_sub(scoreboard.settled()) as f64);
        // The first few pairs do not tell the drift.
        let until_verdict = (scoreboard.pairs() >= 8).then(|| scoreboard.expected_remaining()).flatten();
        let pairs = match (until_verdict, until_end) {
            (Some(verdict), Some(end)) => Some(verdict.min(end)),
            (one, other) => one.or(other),
        };
        let left = pairs.zip(rate).and_then(|(pairs, rate)| Duration::try_from_secs_f64(pairs / rate * 60.0).ok());
        Self { pairs_per_minute: rate, left }
    }
}

impl std::fmt::Display for PairRate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.pairs_per_minute {
            Some(rate) => write!(f, "{rate:.1} pairs/min")?,
            None => write!(f, "- pairs/min")?,
        }
        if let Some(left) = self.left {
            write!(f, ", about {} left", duration(left))?;
        }
        Ok(())
    }
}

fn heading(plan: &Plan) -> String {
    let tuning = tune::title(plan);
    let who = tuning.clone().or_else(|| plan.duel());
    let who = who.unwrap_or_else(|| format!("{} players, {}", plan.players.len(), plan.format.name()));
    let what = match (&plan.test, plan.max_pairs) {
        (Some(test), _) => format!("H0 {} H1 {} ({})", test.bounds.elo0, test.bounds.elo1, test.model),
        (None, Some(pairs)) if tuning.is_some() => count(pairs, "pair"),
        (None, Some(pairs)) => format!("{} of each two who meet", count(pairs, "pair")),
        (None, None) => match plan.until_width {
            Some(width) => format!("until Elo is known within +-{width}"),
            None => "without end".to_owned(),
        },
    };
    plan.noted(&format!(
        "{who}, {}, {}, {}, {what}",
        figures::limits(plan),
        figures::games_at_once(plan),
        count(plan.book.openings, "opening"),
    ))
}

fn draw_live(heading: &str, messages: &Receiver<ConsoleMessage>) {
    let screen = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(10));
    let text = ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar_style = ProgressStyle::with_template("{msg}\nH0 [{bar:50.cyan}] H1")
        .map(|style| style.progress_chars("=>-"))
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let add_line = || screen.add(ProgressBar::no_length().with_style(text.clone()));
    let title = add_line();
    title.set_message(printable(heading));
    let mut llr: Option<ProgressBar> = None;
    let mut lines: Vec<ProgressBar> = Vec::new();
    for message in messages {
        match message {
            ConsoleMessage::Line(line) => {
                let _ = screen.println(printable_lines(&line));
            }
            ConsoleMessage::View(view) => {
                if let Some(bar) = view.bar {
                    let shown = llr.get_or_insert_with(|| {
                        screen.insert_after(&title, ProgressBar::new(BAR_STEPS).with_style(bar_style.clone()))
                    });
                    shown.set_position((bar.fraction * BAR_STEPS as f64) as u64);
                    shown.set_message(printable(&bar.llr));
                }
                lines.resize_with(lines.len().max(view.lines.len()), add_line);
                for (line, text) in lines.iter().zip(view.lines.into_iter().chain(std::iter::repeat(String::new()))) {
                    line.set_message(printable(&text));
                }
            }
        }
    }
    for bar in std::iter::once(title).chain(llr).chain(lines) {
        bar.abandon();
    }
}

fn draw_plain(heading: &str, messages: &Receiver<ConsoleMessage>) {
    let say = |line: &str| {
        let _ = writeln!(std::io::stderr().lock(), "{}", printable_lines(line));
    };
    say(heading);
    let mut last = Instant::now();
    let mut unsaid = None;
    let mut said = String::new();
    for message in messages {
        match message {
            ConsoleMessage::Line(line) => say(&line),
            ConsoleMessage::View(view) if last.elapsed() >= PLAIN_INTERVAL => {
                last = Instant::now();
                unsaid = None;
                // While a run is paused its line stays the same.
                if said != view.plain {
                    say(&view.plain);
                    said = view.plain;
                }
            }
            ConsoleMessage::View(view) => unsaid = Some(view.plain),
        }
    }
    if let Some(line) = unsaid.filter(|line| *line != said) {
        say(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only a run at a hub has such a line.
    #[test]
    fn the_view_has_the_workers_of_a_hub() {
        let mut plan = crate::plan::file::from_toml(include_str!("../../tests/it/fixtures/v1/plan.toml")).unwrap();
        let scoreboard = Scoreboard::new(&plan).unwrap();
        let worker = |name: &str, slots: u16, lost: u64, serves: bool| {
            let (name, machine, state) = (name.to_owned(), String::new(), String::new());
            WorkerStatus { name, machine, slots, lost, verified: None, serves, state }
        };
        let workers = [worker("a", 7, 0, true), worker("b", 1, 2, true), worker("c", 4, 1, false)];
        let plain = |plan: &Plan, workers: &[WorkerStatus]| {
            let mut viewer = Viewer::new(plan);
            assert_eq!(viewer.line(&RunEvent::Workers { workers }), None);
            viewer.view(&scoreboard, Duration::ZERO).plain
        };
        assert!(!plain(&plan, &workers).contains("worker"));
        plan.workers = Some("nats://127.0.0.1:4222/ab".parse().unwrap());
        let line = "2 workers with 8 slots, 1 not playing, 3 pairs lost and played again";
        assert!(plain(&plan, &workers).ends_with(line), "{}", plain(&plan, &workers));
        assert!(plain(&plan, &workers[2..]).contains("`quintain workers nats://127.0.0.1:4222`"));
    }
}
