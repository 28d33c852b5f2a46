//! Engines that judge a book's candidates.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::openings::maker::{Judgement, OpeningCandidate, ScoreWindow, Selection, Walks};
use crate::record::{Color, Score};
use crate::uci::Go;
use crate::uci::process::{Engine, EngineConfig, SearchOutcome};

/// Divisor of the node count for the first, short search of a candidate.
const SKIM_PART: u64 = 20;

/// Fewest nodes of a short search. If it would have fewer, a candidate gets only the long one.
const LEAST_SKIM: u64 = 100;

/// Time after which a search counts as hanging.
const STALL: Duration = Duration::from_secs(120);

/// Engine, node count and score window of the judgements.
#[derive(Clone, Debug)]
pub(super) struct Judge {
    pub(super) engine: EngineConfig,
    /// Nodes of the search that decides.
    pub(super) nodes: u64,
    pub(super) window: ScoreWindow,
}

/// Reason that candidates of these settings cannot become the book, with the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct UnmetRequest(String);

/// Judgements of an earlier attempt, by candidate index.
pub(super) type KnownJudgements = HashMap<u64, Judgement>;

/// Judges walks with `engines` engines until the selection is full. Judgements in `known` are
/// reused; `take_note` receives each new one before it counts. `report` is called after every
/// judgement. Returns the engine's name. The error is an [`UnmetRequest`] if no search fills the
/// selection.
pub(super) async fn fill(
    selection: &mut Selection,
    walks: Walks,
    judge: &Judge,
    engines: usize,
    known: KnownJudgements,
    mut take_note: impl FnMut(u64, Judgement) -> Result<()>,
    report: impl Fn(&Selection),
) -> Result<String> {
    // The first engine starts alone, so that a failure to start is reported once.
    let first = Engine::start(&judge.engine, &[]).await?;
    let name = match first.identity().name.as_str() {
        "" => judge.engine.program.display().to_string(),
        name => name.to_owned(),
    };
    let queue = Arc::new(JudgeQueue { walks: Mutex::new(walks), known });
    let (sender, mut judgements) = mpsc::channel(2 * engines.max(1));
    let mut workers = JoinSet::new();
    workers.spawn(work(Some(first), judge.clone(), Arc::clone(&queue), sender.clone()));
    for _ in 1..engines {
        workers.spawn(work(None, judge.clone(), Arc::clone(&queue), sender.clone()));
    }
    drop(sender);
    while let Some(judged) = judgements.recv().await {
        let (candidate, judgement) = judged?;
        if !queue.known.contains_key(&candidate.index) {
            take_note(candidate.index, judgement)?;
        }
        selection.record(candidate, judgement);
        report(selection);
        if selection.is_full() {
            return Ok(name);
        }
        if selection.is_hopeless() {
            bail!(UnmetRequest(format!(
                "only {} of {} positions had a score in the window; widen --window, or change --plies",
                selection.kept(),
                selection.judged()
            )));
        }
    }
    let found = queue.walks.lock().unwrap_or_else(PoisonError::into_inner).found();
    bail!(UnmetRequest(format!(
        "walks of this length lead to only {found} positions, of which {} are in the window; raise --plies, or lower --count",
        selection.kept()
    )))
}

/// Candidates to judge, and judgements that are known already.
struct JudgeQueue {
    walks: Mutex<Walks>,
    known: KnownJudgements,
}

impl JudgeQueue {
    fn next(&self) -> Option<(OpeningCandidate, Option<Judgement>)> {
        let candidate = self.walks.lock().unwrap_or_else(PoisonError::into_inner).next()?;
        let known = self.known.get(&candidate.index).copied();
        Some((candidate, known))
    }
}

type JudgedCandidate = Result<(OpeningCandidate, Judgement)>;

/// Judges candidates until none is left, a search fails or the receiver is gone.
async fn work(engine: Option<Engine>, judge: Judge, queue: Arc<JudgeQueue>, sender: mpsc::Sender<JudgedCandidate>) {
    let started = match engine {
        Some(engine) => Ok(engine),
        None => Engine::start(&judge.engine, &[]).await,
    };
    let mut engine = match started {
        Ok(engine) => engine,
        Err(error) => {
            let _ = sender.send(Err(error.into())).await;
            return;
        }
    };
    while let Some((candidate, known)) = queue.next() {
        let judged = match known {
            Some(judgement) => Ok(judgement),
            None => judge.judge(&mut engine, &candidate).await,
        };
        let failed = judged.is_err();
        if sender.send(judged.map(|judgement| (candidate, judgement))).await.is_err() || failed {
            break;
        }
    }
    engine.quit().await;
}

impl Judge {
    async fn judge(&self, engine: &mut Engine, candidate: &OpeningCandidate) -> Result<Judgement> {
        let (skim, turn) = (self.nodes / SKIM_PART, Color::to_move(&candidate.fen));
        if skim >= LEAST_SKIM && !self.window.hopes(score(engine, &candidate.fen, skim).await?, turn) {
            return Ok(Judgement::Skimmed);
        }
        let kept = self.window.keeps(score(engine, &candidate.fen, self.nodes).await?, turn);
        Ok(if kept { Judgement::Kept } else { Judgement::Refused })
    }
}

/// Score of a position after `nodes` nodes. A new game is announced first, so that the score does
/// not depend on earlier searches.
async fn score(engine: &mut Engine, fen: &str, nodes: u64) -> Result<Score> {
    engine.new_game().await?;
    let go = Go { nodes: Some(nodes), ..Go::default() };
    match engine.go(format!("position fen {fen}").as_bytes(), &go, Some(STALL)).await {
        SearchOutcome::BestMove { info, .. } => info.score.with_context(|| {
            format!("the engine gave no score for `{fen}` with `go nodes {nodes}`; use another engine, or more --nodes")
        }),
        SearchOutcome::Overrun { elapsed, .. } => {
            bail!("the engine did not end `go nodes {nodes}` at `{fen}` within {} s", elapsed.as_secs())
        }
        SearchOutcome::Exited { status, .. } => bail!("the engine ended ({status}) while searching `{fen}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openings::maker::Start;

    /// Engine as a shell script; `on_go` is its response to `go`.
    fn judge(on_go: &str) -> Judge {
        let script = format!(
            "while read -r word kind fen; do case $word in uci) echo uciok;; isready) echo readyok;; \
             position) cp=$((${{#fen}} % 7 * 20));; go) {on_go};; quit) exit;; esac; done"
        );
        let engine =
            EngineConfig { program: "/bin/sh".into(), args: vec!["-c".to_owned(), script], ..EngineConfig::default() };
        Judge { engine, nodes: 1000, window: ScoreWindow::Size { low_cp: 0, high_cp: 60 } }
    }

    fn make(on_go: &str, count: u64, plies: u32, engines: usize) -> Result<Selection, String> {
        let mut selection = Selection::new(count);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let judge = judge(on_go);
        let walks = Walks::new(Start::Standard, plies, 1);
        let filled = fill(&mut selection, walks, &judge, engines, KnownJudgements::new(), |_, _| Ok(()), |_| {});
        runtime.block_on(filled).map(|_| selection).map_err(|error| error.to_string())
    }

    const SCORES: &str = "echo info score cp $cp; echo bestmove e2e4";

    #[test]
    fn the_book_does_not_depend_on_the_number_of_engines() {
        let one = make(SCORES, 40, 6, 1).expect("made");
        let four = make(SCORES, 40, 6, 4).expect("made");
        assert_eq!(one.to_epd().lines().count(), 40);
        assert_eq!((one.to_epd(), one.tally()), (four.to_epd(), four.tally()));
        assert!(one.tally().refused > 0);
    }

    #[test]
    fn what_an_engine_does_wrong_ends_the_work() {
        let table = [
            ("exit 3", "the engine ended (exit status 3) while searching"),
            ("echo bestmove e2e4", "the engine gave no score"),
            (
                "echo info score mate 3; echo bestmove e2e4",
                "walks of this length lead to only 20 positions, of which 0",
            ),
        ];
        for (on_go, message) in table {
            let error = make(on_go, 5, 1, 2).expect_err(message);
            assert!(error.starts_with(message), "{error}");
        }
        let missing =
            Judge { engine: EngineConfig { program: "./no-such-engine".into(), ..judge("").engine }, ..judge("") };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (mut selection, walks) = (Selection::new(1), Walks::new(Start::Standard, 1, 1));
        let filled = fill(&mut selection, walks, &missing, 2, KnownJudgements::new(), |_, _| Ok(()), |_| {});
        let error = runtime.block_on(filled);
        assert!(error.expect_err("no engine").to_string().contains("./no-such-engine"));
    }
}
