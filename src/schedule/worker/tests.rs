//! Games that do not count, on a slot without engines.

use super::*;
use crate::plan::file;
use crate::record::{MoveLoad, Outcome, SinceFlag};

const PLAYERS: ByColor<PlayerId> = ByColor { white: PlayerId(0), black: PlayerId(1) };

/// The first pair of a run, from the initial position.
fn task() -> PairTask {
    let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".to_owned();
    let opening = Opening { index: 0, fen, moves: Vec::new() };
    let all_legs = &[Leg::First, Leg::Second];
    PairTask {
        pair: PairId(0),
        sides: [PLAYERS, ByColor { white: PLAYERS.black, black: PLAYERS.white }],
        openings: [opening.clone(), opening],
        legs: all_legs.to_vec(),
        all_legs,
        options: None,
    }
}

fn slot(void_disturbed: bool) -> SlotWorker {
    let mut plan = file::from_toml(include_str!("../../../tests/it/fixtures/v1/plan.toml")).expect("a plan");
    plan.void_disturbed = void_disturbed;
    SlotWorker::new(WorkerContext {
        slot: SlotId(0),
        plan: Arc::new(plan),
        cpus: Vec::new(),
        starts: Arc::new(Semaphore::new(1)),
        tables: None,
        stderr_dir: PathBuf::new(),
        events: mpsc::unbounded_channel().0,
        orders: watch::channel(Orders::play(1)).1,
        guests: Arc::default(),
        plies: Arc::default(),
    })
}

/// A first move of White that was 50 ms late, all of them after its clock was at zero. The engine
/// waited for a CPU during all but `own` of them.
fn late(slot: &SlotWorker, task: &PairTask, own: Duration) -> PlayedGame {
    let late = Duration::from_millis(50);
    let since = SinceFlag { elapsed: late, waited: late - own, ..SinceFlag::default() };
    let load = MoveLoad { engine_waited: Some(late), since_flag: Some(since), ..MoveLoad::default() };
    let allowed = Duration::from_millis(110);
    let (game, _) = slot.set_up(task.opening(Leg::First), PLAYERS).expect("a legal position");
    PlayedGame {
        parts: game.into_parts(),
        ending: Ending { outcome: Outcome::BlackWins, termination: Termination::TimeForfeit, detail: String::new() },
        failure: None,
        overstep: Some(Overstep { allowed, answered: Some(allowed + late), load }),
    }
}

#[test]
fn a_loss_on_time_by_the_machine_is_void_if_the_plan_says_so() {
    let (none, long) = (Duration::ZERO, Duration::from_millis(2));
    for (void_disturbed, own, may_be_void, is_void) in [
        (true, none, true, true),
        (false, none, true, false),
        // It took time of its own, too.
        (true, long, true, false),
        // Its pair was void too often.
        (true, none, false, false),
    ] {
        let (mut slot, task) = (slot(void_disturbed), task());
        let played = late(&slot, &task, own);
        let times = [Duration::from_secs(1_800_000_000), Duration::from_secs(1)];
        let (record, _) = slot.game_record(&task, Leg::First, played, may_be_void, times);
        assert_eq!(record.is_void, is_void, "{void_disturbed}, {own:?}, {may_be_void}");
        assert_eq!(record.ending.termination, Termination::TimeForfeit);
        assert!(record.overstep.is_some_and(|overstep| overstep.is_disturbed()));
    }
}
