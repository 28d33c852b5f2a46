//! Grid of networks that differ in inputs, shape and seed: `lab`.
//!
//! Reading order: `plan.rs` (the user's settings), `cell.rs` (stages and results of a cell),
//! `settings.rs` (settings that must not change), `run.rs` (the stages in order), `table.rs` and
//! `page.rs` (the results), `estimate.rs` (the time it takes), then the command here.
//!
//! Every stage can be killed at any time. A training continues from its checkpoint, games from
//! their journal, and every other file is replaced atomically. A stage is done once its results are
//! in the cell's `row.json`. The same file has the reason if a stage failed; the other cells go on.

mod cell;
mod estimate;
mod page;
mod plan;
mod run;
mod settings;
mod table;

#[cfg(test)]
mod tests;

use crate::bootstrap::LoopStep;
use crate::compare::{default_engine, end_at_interrupts};
use anyhow::bail;
use cell::CellStage;
use clap::Args;
use plan::LabPlan;
use quintain::report::figures;
use quintain::run::Exit;
use run::Lab;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  destrier-trainer lab engine/trainer/plans/lab/screening.toml --dry-run
  destrier-trainer lab engine/trainer/plans/lab/screening.toml

All cells are trained, exported and checked first, then they play at equal nodes, then at equal \
time. The folder of the plan has lab.txt, lab.json and lab.html with the results so far, and a \
folder for each cell. The same command continues after any kind of stop; sets, sizes, kinds and \
seeds may be added. Engine, data, training and games stay the same. A cell that fails is passed \
over, and the next call tries it again after all others. Exit codes: 0 all is done, 2 a cell failed, \
130 it was interrupted.";

/// Trains and compares networks of several inputs, sizes and seeds
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct LabArgs {
    /// The plan, TOML
    plan: PathBuf,
    /// Destrier for the games, as Quintain takes engines [default: the plan's, else `destrier`
    /// beside this program]
    #[arg(long, value_name = "SPEC")]
    engine: Option<String>,
    /// List the cells with an estimate of the time that each takes; trains and plays nothing
    #[arg(long)]
    dry_run: bool,
    /// Print the table as one JSON document at the end
    #[arg(long)]
    json: bool,
}

impl LabArgs {
    /// Runs the remaining stages of the plan.
    ///
    /// # Errors
    /// Fails if the plan or its folder cannot be used, or at the end with a list of the cells that
    /// failed; all results stay.
    pub fn run(&self, out: &mut dyn Write) -> anyhow::Result<Exit> {
        if self.dry_run {
            return self.list(out).map(|()| Exit::Done);
        }
        let mut lab = Lab::open(&self.plan, self.engine.as_deref())?;
        end_at_interrupts(lab.is_playing())?;
        loop {
            match lab.step(out)? {
                LoopStep::Done => {}
                LoopStep::Stopped(exit) => return Ok(exit),
                LoopStep::Finished => break,
            }
        }
        let table = lab.table();
        writeln!(out, "{}", if self.json { table.json() } else { table.text() }.trim_end())?;
        match lab.failed_cells() {
            Some(failed) => bail!("{failed}"),
            None => Ok(Exit::Done),
        }
    }

    /// Lists the cells with the time that is left; creates no files.
    fn list(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        let plan = LabPlan::load(&self.plan)?;
        let engine = self.engine.clone().or_else(|| plan.engine.clone());
        let engine = engine.map_or_else(default_engine, Ok)?;
        run::check(&plan, &engine, &self.plan)?;
        let rows = run::load_rows(&plan)?;
        let seconds = estimate::seconds(&plan, &rows);
        let width = plan.cells.iter().map(|cell| cell.name.len()).max().unwrap_or(0).max(4);
        let mut total = [0.0; 3];
        let mut text = format!("{:width$}  {:>12}", "cell", "M positions");
        for stage in CellStage::ALL {
            text += &format!("  {:>14}", stage.name());
        }
        text.push('\n');
        for (cell, seconds) in plan.cells.iter().zip(&seconds) {
            text += &format!("{:width$}  {:>12.1}", cell.name, estimate::positions(cell) / 1e6);
            for (place, seconds) in seconds.iter().enumerate() {
                total[place] += seconds.unwrap_or(0.0);
                text += &format!("  {:>14}", seconds.map_or_else(|| "-".to_owned(), duration));
            }
            text.push('\n');
        }
        text += &format!("{:width$}  {:>12}", "all", plan.cells.len());
        for seconds in total {
            text += &format!("  {:>14}", duration(seconds));
        }
        text += &format!(
            "\ntogether about {}: trainings as measured just now on this machine with its load, games as those played, or \
             assumed at 60 moves a side\n",
            duration(total.iter().sum())
        );
        Ok(out.write_all(text.as_bytes())?)
    }
}

/// Formats seconds for people; NaN is unknown.
fn duration(seconds: f64) -> String {
    Duration::try_from_secs_f64(seconds).map_or_else(|_| "unknown".to_owned(), figures::duration)
}
