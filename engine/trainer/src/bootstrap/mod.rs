//! Loop of self-play, training and match.
//!
//! The engine plays itself, and a network is trained on the games. It replaces the present one if
//! it plays better.
//!
//! Reading order: `plan.rs` (the user's settings), `contents.rs` (their files), `row.rs` (results
//! of a generation), `positions.rs` (games to training data), `stages.rs` (the stages in order),
//! then the command here.
//!
//! Every stage can be killed at any time. Games are appended whole (`destrier::datagen`, Quintain's
//! journal), training resumes from its checkpoint, and every other file is replaced atomically. A
//! stage is done once its results are in `row.json`.

pub(crate) mod contents;
mod plan;
mod positions;
mod row;
mod stages;

pub use plan::{LoopPlan, LoopPlanError};
pub(crate) use plan::{check_match, contents_of_book, key_a_line, other_settings, set_keys, settings_of_match, words};
pub(crate) use positions::{check_rescore, parse_filter, rescore};
pub use row::{GenerationRow, Verdict};
pub use stages::{Loop, LoopStep};

use crate::compare::end_at_interrupts;
use clap::Args;
use quintain::run::Exit;
use std::io::Write;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Example:
  destrier-trainer loop engine/trainer/plans/loop.toml

The same command continues after any kind of stop. The folder of the plan has loop.txt and \
loop.json, the table of all generations, and a folder for each: games, positions, the training \
run, and the match as Quintain keeps it. Exit codes: 0 all generations are done, 4 an engine \
failed too often, 130 it was interrupted.";

/// Self-play, training and a match, generation by generation
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Bootstrap {
    /// The plan, TOML
    plan: PathBuf,
    /// Destrier for the matches, as Quintain takes engines [default: the plan's, else `destrier`
    /// beside this program]
    #[arg(long, value_name = "SPEC")]
    engine: Option<String>,
    /// Print the table as one JSON document at the end
    #[arg(long)]
    json: bool,
}

impl Bootstrap {
    /// Runs the remaining stages of the plan.
    ///
    /// # Errors
    /// Fails if a stage fails, with its cause; earlier results stay.
    pub fn run(&self, out: &mut dyn Write) -> anyhow::Result<Exit> {
        let mut steps = Loop::open(&self.plan, self.engine.as_deref())?;
        end_at_interrupts(steps.is_playing())?;
        loop {
            match steps.step(out)? {
                LoopStep::Done => {}
                LoopStep::Stopped(exit) => return Ok(exit),
                LoopStep::Finished => break,
            }
        }
        writeln!(out, "{}", if self.json { steps.json() } else { steps.table() }.trim_end())?;
        Ok(Exit::Done)
    }
}
