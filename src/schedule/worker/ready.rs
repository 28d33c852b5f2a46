//! Engines of a slot before a game: their start, their options, and `readyok`.
//!
//! No game is lost before its first `go`, with one exception. The pairs of a tuning have values of
//! their own. An engine that gets ready without them, and ends or stays silent once they are set,
//! loses the game as by any other crash or stall. So the tuning learns from such values and goes
//! on. Two restarts show it: one with the values among the options of the start, and one that sets
//! them on an engine that is ready.

use std::time::Duration;

use super::{Guest, KEPT_ENGINES, SlotWorker};
use crate::game::Input;
use crate::plan::Plan;
use crate::record::{ByColor, Color, Leg, PlayerId};
use crate::schedule::program::ProgramStates;
use crate::schedule::{engine_config, stderr_file};
use crate::tournament::events::{PairTask, WorkerEvent};
use crate::uci::OptionError;
use crate::uci::process::{Confinement, Engine, EngineConfig, Evidence, StartError, StartFault};

/// Attempts to start an engine before the slot gives up.
const START_TRIES: u32 = 3;

/// Pause between two attempts to start an engine, after which a scarce resource may be free again.
const START_PAUSE: Duration = Duration::from_millis(500);

/// Reason that an engine is not ready for a game, with the remedy.
pub(super) enum ReadyError {
    /// The run was stopped before the engine's turn to start.
    Stopped,
    /// Another attempt, or another slot, may succeed.
    Transient(String),
    /// The same, but the engine had been sent its options.
    Unready(String),
    /// The engine gets ready, but not with the values of its pair.
    Values(Box<UnreadyEngine>),
    /// The program has changed since the plan, or cannot be run.
    Broken(String),
}

/// Engine that does not get ready with the values of its pair.
pub(super) struct UnreadyEngine {
    pub(super) player: PlayerId,
    fault: StartFault,
    pub(super) evidence: Evidence,
}

impl UnreadyEngine {
    /// Its failure as the referee takes it, if it has this color.
    pub(super) fn input(&self, color: Color) -> Input<'static> {
        let detail = format!("{} after its values were set", self.fault);
        match self.fault {
            StartFault::Exited { .. } => Input::Crashed { color, detail },
            StartFault::Silent { .. } => Input::Stalled { color, detail },
        }
    }
}

impl SlotWorker {
    /// Prepares the engines of a game.
    pub(super) async fn get_ready(&mut self, task: &PairTask, leg: Leg) -> Result<(), ReadyError> {
        let players = task.sides(leg);
        self.make_room(players).await;
        for color in [Color::White, Color::Black] {
            let player = *players.get(color);
            self.ready(player, task.options(player), task.is_begun()).await?;
            let place = usize::from(player.0);
            let is_reversed = color == Color::Black && self.context.plan.players[place].white_pov;
            if let Some(engine) = &mut self.engines[place] {
                engine.reverse_scores(is_reversed);
            }
        }
        Ok(())
    }

    /// Quits the least recently used engines beyond [`KEPT_ENGINES`].
    async fn make_room(&mut self, players: ByColor<PlayerId>) {
        let needed = [players.white, players.black].map(|player| usize::from(player.0));
        self.recent.retain(|place| !needed.contains(place));
        self.recent.extend(needed);
        while self.recent.len() > KEPT_ENGINES {
            let place = self.recent.remove(0);
            if let Some(engine) = self.engines[place].take() {
                engine.quit().await;
            }
        }
    }

    /// Starts a new game on the player's engine, with its `own` options. Starts the process if it
    /// is not running, was found dead, or did not get ready.
    async fn ready(&mut self, player: PlayerId, own: &[(String, String)], is_begun: bool) -> Result<(), ReadyError> {
        let place = usize::from(player.0);
        if (self.context.plan.restart || self.context.plan.players[place].restart)
            && let Some(engine) = self.engines[place].take()
        {
            engine.quit().await;
        }
        let mut exited = None;
        if let Some(engine) = &mut self.engines[place] {
            engine.set_options(own).map_err(|error| refused(&self.context.plan, place, &error))?;
            let Err(fault) = engine.new_game().await else { return Ok(()) };
            self.engines[place] = None;
            exited = Some(fault.to_string());
        }
        // Without values, nothing but the process is at fault.
        if own.is_empty() {
            self.tell_exited(player, exited.take());
        }
        let started = self.start_patiently(player, own, is_begun).await;
        if !matches!(started, Err(ReadyError::Values(_))) {
            self.tell_exited(player, exited);
        }
        started
    }

    /// Reports an engine that was found dead or silent, if one was.
    fn tell_exited(&self, player: PlayerId, exited: Option<String>) {
        if let Some(status) = exited {
            let _ = self.context.events.send(WorkerEvent::Exited { player, status });
        }
    }

    /// Starts a player's engine and its first game, in several attempts.
    async fn start_patiently(
        &mut self,
        player: PlayerId,
        own: &[(String, String)],
        is_begun: bool,
    ) -> Result<(), ReadyError> {
        let mut tries = START_TRIES;
        loop {
            tries -= 1;
            let mut started = self.start(player, own, is_begun).await;
            if matches!(started, Err(ReadyError::Unready(_))) && !own.is_empty() {
                started = self.start_and_set(player, own, is_begun).await;
            }
            match started {
                Ok(engine) => {
                    self.engines[usize::from(player.0)] = Some(engine);
                    return Ok(());
                }
                Err(ReadyError::Transient(why) | ReadyError::Unready(why)) if tries > 0 => {
                    let _ = self.context.events.send(WorkerEvent::StartFailed { why });
                    tokio::time::sleep(START_PAUSE).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Starts a player's engine and a game without its `own` options, then sets them for another
    /// game. If the engine fails only then, the options are at fault.
    async fn start_and_set(
        &mut self,
        player: PlayerId,
        own: &[(String, String)],
        is_begun: bool,
    ) -> Result<Engine, ReadyError> {
        let mut engine = self.start(player, &[], is_begun).await?;
        let place = usize::from(player.0);
        engine.set_options(own).map_err(|error| refused(&self.context.plan, place, &error))?;
        let Err(fault) = engine.new_game().await else { return Ok(engine) };
        let evidence = engine.evidence();
        Err(ReadyError::Values(Box::new(UnreadyEngine { player, fault, evidence })))
    }

    /// Starts a player's engine, after a permit, and its first game. `is_begun` as for
    /// [`Stop::lets_begin`](crate::tournament::events::Stop::lets_begin).
    async fn start(
        &mut self,
        player: PlayerId,
        own: &[(String, String)],
        is_begun: bool,
    ) -> Result<Engine, ReadyError> {
        let place = usize::from(player.0);
        let mut orders = self.context.orders.clone();
        let _permit = tokio::select! {
            biased;
            // The semaphore is never closed.
            permit = self.context.starts.acquire() => permit,
            _ = orders.wait_for(|orders| !orders.stop.lets_begin(is_begun)) => return Err(ReadyError::Stopped),
        };
        let plan = &self.context.plan;
        let check =
            |programs: &mut ProgramStates| programs.check(place, &plan.players[place]).map_err(ReadyError::Broken);
        check(&mut self.programs)?;
        let config = self.config(place).with_options(own);
        let started = Engine::start(&config, &self.context.cpus).await;
        // Checked again, because the program may have been replaced between the check and the
        // start.
        check(&mut self.programs)?;
        let mut engine = started.map_err(|error| {
            let why = error.to_string();
            match &error {
                // Options are sent after `uciok` and before `isready`.
                StartError::Exited { awaited: "readyok", .. } | StartError::Silent { awaited: "readyok", .. } => {
                    ReadyError::Unready(why)
                }
                _ if error.is_transient() => ReadyError::Transient(why),
                _ => ReadyError::Broken(why),
            }
        })?;
        let begun = engine.new_game().await;
        begun.map_err(|fault| ReadyError::Unready(format!("engine {}: {fault} after its start", config.name)))?;
        self.identities[place] = engine.identity().clone();
        Ok(engine)
    }

    fn config(&self, place: usize) -> EngineConfig {
        let plan = &self.context.plan;
        let player = &plan.players[place];
        let log = self.context.stderr_dir.join(stderr_file(player, None, self.context.slot));
        let mut config = engine_config(plan, player, Some(log));
        if let Some(Guest { env, confinement }) = self.context.guests.get(place).cloned() {
            config.env = env;
            config.confinement = confinement.map(|of_all| Confinement {
                scratch: of_all.scratch.join(format!("slot{}", self.context.slot.0 + 1)),
                ..of_all
            });
        }
        config
    }
}

/// Error of a player's engine that does not take an option.
fn refused(plan: &Plan, place: usize, error: &OptionError) -> ReadyError {
    ReadyError::Broken(format!("engine {}: {error}", plan.players[place].name))
}
