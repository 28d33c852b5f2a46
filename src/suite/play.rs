//! The questions of a suite, put to an engine.

use std::time::{Duration, Instant};

use super::epd::{Task, TestPosition};
use super::searcher::{LONGEST, PositionSearcher};
use crate::chess::Position;
use crate::record::Score;
use crate::source::bench_nodes;
use crate::text::printable;
use crate::uci::process::{EngineConfig, StartError, Talk, TalkEvent};
use crate::uci::{Command, Go, Iteration, PositionLine};

/// Longest wait for the answer to `go perft 1`, which takes no time. Engines that do not know the
/// command are silent or search.
const FIRST_COUNT: Duration = Duration::from_secs(10);

/// Longest wait for this answer after that to a later `isready`. The latter comes first if the
/// engine counts in a thread of its own, or does not know `go perft`.
const AFTER_READY: Duration = Duration::from_secs(2);

/// Answer of an engine to a test.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TestAnswer {
    /// Points, at most those of the task.
    pub(crate) points: f64,
    /// True for a perfect answer.
    pub(crate) is_solved: bool,
    /// The answer as text: a move, with a mate score if the task is a mate, or counts.
    pub(crate) text: String,
    /// Time, as reported by the engine, after which its move was right until the end.
    pub(crate) time: Option<Duration>,
    /// Nodes by then.
    pub(crate) nodes: Option<u64>,
    /// Depth by then, in plies.
    pub(crate) depth: Option<u32>,
}

/// Reason that an engine gives no answers.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// The engine cannot be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The engine failed.
    #[error("engine {name}: {why}, at `{id}` ({fen})")]
    Engine {
        /// The engine.
        name: String,
        /// The failure.
        why: String,
        /// Name of the test.
        id: String,
        /// Position of the test.
        fen: String,
    },
}

/// An engine that answers tests.
pub(crate) struct Solver {
    config: EngineConfig,
    searcher: PositionSearcher,
}

impl Solver {
    /// Starts the engine.
    ///
    /// # Errors
    /// Returns an error if it does not start.
    pub(crate) async fn start(config: EngineConfig, go: Go) -> Result<Self, SuiteError> {
        let searcher = PositionSearcher::start(&config, go).await?;
        Ok(Self { config, searcher })
    }

    /// Asks the engine one test, as a new game.
    ///
    /// # Errors
    /// Returns an error if the engine ends, hangs, or plays an illegal move.
    pub(crate) async fn solve(&mut self, test: &TestPosition) -> Result<TestAnswer, SuiteError> {
        let answered = match &test.task {
            Task::Perft(counts) => count(&self.config, test, counts).await?,
            Task::Move { .. } | Task::Mate(_) => self.search(test).await,
        };
        answered.map_err(|why| SuiteError::Engine {
            name: self.config.name.clone(),
            why,
            id: printable(&test.id),
            fen: test.fen.clone(),
        })
    }

    async fn search(&mut self, test: &TestPosition) -> Result<TestAnswer, String> {
        let line = PositionLine::new(&test.fen).map_err(|error| error.to_string())?;
        let found = self.searcher.search(line.as_bytes()).await?;
        judge(test, &found.text, found.info.score, self.searcher.iterations())
    }

    /// Ends the engine.
    pub(crate) async fn end(self) {
        self.searcher.end().await;
    }
}

/// Judges an answer and, by the lines of the search, since when it stood.
fn judge(test: &TestPosition, best: &str, score: Option<Score>, lines: &[Iteration]) -> Result<TestAnswer, String> {
    let position = test.position()?;
    let shown = position.san(best).map_err(|error| format!("bestmove: {error}"))?;
    let value = |best: &str, score: Option<Score>| points(&test.task, &position, best, score);
    let earned = value(best, score);
    let is_solved = earned >= test.task.most();
    let text = match (&test.task, score) {
        (Task::Mate(_), Some(Score::Mate(moves))) => format!("{shown}, mate in {moves}"),
        _ => shown,
    };
    // The first line of the last stretch of right ones.
    let right = |line: &&Iteration| value(&line.best, Some(line.score)) >= test.task.most();
    let named = lines.iter().filter(|line| !line.best.is_empty());
    let since = named.rev().take_while(right).last().filter(|_| is_solved);
    Ok(TestAnswer {
        points: earned,
        is_solved,
        text,
        time: since.and_then(|line| line.time),
        nodes: since.and_then(|line| line.nodes),
        depth: since.map(|line| line.depth),
    })
}

/// Points of a move with its score.
fn points(task: &Task, position: &Position, best: &str, score: Option<Score>) -> f64 {
    let is = |text: &str| position.same_move(text, best);
    match task {
        Task::Move { avoid, .. } if avoid.iter().any(|text| is(text)) => 0.0,
        Task::Move { points, .. } if points.is_empty() => 1.0,
        Task::Move { points, .. } => points.iter().find(|(text, _)| is(text)).map_or(0.0, |(_, points)| *points),
        Task::Mate(moves) => match score {
            Some(Score::Mate(found)) => {
                let is_right = found.signum() == moves.signum() && found.unsigned_abs() <= moves.unsigned_abs();
                f64::from(u8::from(is_right))
            }
            _ => 0.0,
        },
        Task::Perft(_) => 0.0,
    }
}

/// Lets an engine count lines of legal moves by `go perft`, which several engines know. A count
/// that is wrong ends the test.
async fn count(
    config: &EngineConfig,
    test: &TestPosition,
    counts: &[(u32, u64)],
) -> Result<Result<TestAnswer, String>, SuiteError> {
    let mut talk = Talk::start(config, &[]).await?;
    let mut answer = TestAnswer::default();
    let mut start = b"uci\n".to_vec();
    for (name, value) in &config.options {
        // The engine took these options when it was started.
        if let Err(error) = (Command::SetOption { name, value: Some(value) }).write(&mut start) {
            return Ok(Err(error.to_string()));
        }
    }
    start.extend_from_slice(b"isready\n");
    talk.say(&start);
    let is_ready = |line: &str| (line == "readyok").then_some(Ok(0));
    if let Err(why) = hear(&mut talk, LONGEST, None, is_ready).await {
        return Ok(Err(why));
    }
    if counts.first().is_none_or(|(depth, _)| *depth != 1)
        && let Err(why) = perft(&mut talk, &test.fen, 1, true).await
    {
        return Ok(Err(why));
    }
    let begun = Instant::now();
    for (place, (depth, expected)) in counts.iter().enumerate() {
        let found = match perft(&mut talk, &test.fen, *depth, place == 0 && *depth == 1).await {
            Ok(found) => found,
            Err(why) => return Ok(Err(why)),
        };
        answer.text = format!("perft {depth}: {found}");
        if found != *expected {
            answer.text += &format!(", not {expected}");
            return Ok(Ok(answer));
        }
        answer.points += 1.0;
        answer.depth = Some(*depth);
        answer.time = Some(begun.elapsed());
    }
    talk.say(b"quit\n");
    answer.is_solved = true;
    Ok(Ok(answer))
}

/// Count of an engine to a depth. The first question, a probe of one ply, has a short wait.
async fn perft(talk: &mut Talk, fen: &str, depth: u32, is_probe: bool) -> Result<u64, String> {
    talk.say(format!("position fen {fen}\ngo perft {depth}\n").as_bytes());
    if is_probe {
        talk.say(b"isready\n");
    }
    let counted = |line: &str| match line {
        _ if line.starts_with("bestmove") => Some(Err("it answers with a move".to_owned())),
        _ if line.starts_with("info depth") => Some(Err("it answers with a search".to_owned())),
        _ => bench_nodes(line).map(Ok),
    };
    let (limit, after_ready) = if is_probe { (FIRST_COUNT, Some(AFTER_READY)) } else { (LONGEST, None) };
    let found = hear(talk, limit, after_ready, counted).await;
    found
        .map_err(|why| format!("{why} to `go perft {depth}`, not with `Nodes searched: N`: does it know this command?"))
}

/// Passes the lines of a process to `take` until it returns a value. A `readyok` that is not taken
/// leaves a wait of `after_ready`, if there is one.
async fn hear(
    talk: &mut Talk,
    limit: Duration,
    after_ready: Option<Duration>,
    take: impl Fn(&str) -> Option<Result<u64, String>>,
) -> Result<u64, String> {
    let mut until = Instant::now() + limit;
    loop {
        match talk.hear(until).await {
            TalkEvent::Line(line, _) => {
                let line = String::from_utf8_lossy(&line);
                if let Some(value) = take(line.trim()) {
                    return value;
                }
                if let (Some(left), "readyok") = (after_ready, line.trim()) {
                    until = until.min(Instant::now() + left);
                }
            }
            TalkEvent::Silence => return Err("no answer".to_owned()),
            TalkEvent::Ended(status) => return Err(status),
        }
    }
}
