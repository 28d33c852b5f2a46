//! Stages of a grid, each resumable: trainings, games at equal nodes, games at equal time.

use super::cell::{CellFailure, CellGames, CellRow, CellStage, CellTraining};
use super::page;
use super::plan::{LabCell, LabPlan};
use super::settings::{LabEngine, SETTINGS, new_settings};
use super::table::LabTable;
use crate::bootstrap::LoopStep;
use crate::compare::{Evaluation, check_duel, default_engine, duel};
use crate::data::{replace, write_texts};
use crate::train::{check_training, lock_folder, train};
use anyhow::{Context as _, bail};
use quintain::run::Exit;
use quintain::settings::RawPlan;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// File with the results for people.
const TEXT: &str = "lab.txt";

/// Grid between two stages.
#[derive(Debug)]
pub struct Lab {
    plan: LabPlan,
    engine: String,
    rows: Vec<CellRow>,
    /// Places of the cells that failed since the grid was opened.
    failed: Vec<usize>,
    is_playing: Arc<AtomicBool>,
    /// Lock of the folder, held for the lifetime of the grid.
    _lock: File,
}

/// File with the results of a cell.
fn row_path(cell: &LabCell) -> PathBuf {
    cell.plan.out.join("row.json")
}

/// Reads the results of all cells.
///
/// # Errors
/// As [`CellRow::load`].
pub fn load_rows(plan: &LabPlan) -> anyhow::Result<Vec<CellRow>> {
    plan.cells.iter().map(|cell| CellRow::load(&row_path(cell), cell)).collect()
}

/// Games of a stage; `None` for a stage that the plan or the cell does not have.
pub fn games_of<'a>(plan: &'a LabPlan, cell: &LabCell, stage: CellStage) -> Option<&'a RawPlan> {
    let raw = match stage {
        CellStage::Training => None,
        CellStage::Nodes => plan.nodes.as_ref(),
        CellStage::Time => plan.time.as_ref(),
    };
    raw.filter(|_| cell.opponent.is_some() || plan.fixed.is_some())
}

/// Returns true if the cell has nothing left to do in the stage.
pub fn is_done(plan: &LabPlan, cell: &LabCell, row: &CellRow, stage: CellStage) -> bool {
    row.has(stage) || (stage != CellStage::Training && games_of(plan, cell, stage).is_none())
}

/// Returns true if a stage of a cell is left, and the networks that it needs are trained.
fn can_begin(plan: &LabPlan, rows: &[CellRow], stage: CellStage, place: usize) -> bool {
    let cell = &plan.cells[place];
    let is_trained = |place: usize| rows[place].training.is_some();
    let has_networks = is_trained(place) && cell.opponent.is_none_or(is_trained);
    !is_done(plan, cell, &rows[place], stage) && (stage == CellStage::Training || has_networks)
}

/// Returns the next stage and the place of its cell. Cells with the failure of an earlier call come
/// after all others; those of `failed` are left out.
pub fn next_stage(plan: &LabPlan, rows: &[CellRow], failed: &[usize]) -> Option<(CellStage, usize)> {
    let stages = CellStage::ALL.into_iter().flat_map(|stage| (0..rows.len()).map(move |place| (stage, place)));
    let is_left =
        |(stage, place): &(CellStage, usize)| !failed.contains(place) && can_begin(plan, rows, *stage, *place);
    let left: Vec<(CellStage, usize)> = stages.filter(is_left).collect();
    left.iter().find(|(_, place)| rows[*place].failure.is_none()).or(left.first()).copied()
}

/// Returns a sentence about the cells that failed and those that wait for their networks; `None` if
/// no cell failed.
pub fn failed_cells(plan: &LabPlan, rows: &[CellRow]) -> Option<String> {
    let failed = |row: &CellRow| Some(format!("{} ({})", row.name, row.failure.as_ref()?.stage.name()));
    let failed: Vec<String> = rows.iter().filter_map(failed).collect();
    if failed.is_empty() {
        return None;
    }
    let is_waiting = |(cell, row): &(&LabCell, &CellRow)| {
        row.failure.is_none() && CellStage::ALL.iter().any(|stage| !is_done(plan, cell, row, *stage))
    };
    let waiting = plan.cells.iter().zip(rows).filter(is_waiting).count();
    let waiting = if waiting > 0 { format!(", and {waiting} wait for their networks") } else { String::new() };
    Some(format!(
        "{} of {} cells failed: {}{waiting}; {} has the reasons, and the same command tries them again",
        failed.len(),
        rows.len(),
        failed.join(", "),
        plan.out.join(TEXT).display()
    ))
}

/// Renames the folder of games that were given up, because they would end at once if they were
/// continued. Returns its new name.
///
/// # Errors
/// Fails if it cannot be renamed.
pub fn set_aside(root: &Path) -> anyhow::Result<PathBuf> {
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    let free = |number: &u32| !root.with_file_name(format!("{name}-failed-{number}")).exists();
    let number = (1..).find(free).context("no name is free")?;
    let aside = root.with_file_name(format!("{name}-failed-{number}"));
    fs::rename(root, &aside).with_context(|| format!("{}: cannot rename it", root.display()))?;
    Ok(aside)
}

/// Checks the settings of the games, the settings in the folder, and the data. Returns the settings
/// to write into the folder, if any.
///
/// # Errors
/// Fails if settings conflict, the engine is missing, the folder has cells of other settings or of
/// another engine, or data or checkpoints cannot be used.
pub fn check(plan: &LabPlan, engine: &str, path: &Path) -> anyhow::Result<Option<String>> {
    for raw in [&plan.nodes, &plan.time].into_iter().flatten() {
        check_duel(raw, engine).with_context(|| format!("{}: [games]", path.display()))?;
    }
    let settings = new_settings(plan, &LabEngine::find(engine)?)?;
    // All cells have the same data.
    if let Some(cell) = plan.cells.first() {
        check_training(&cell.plan, &[]).with_context(|| format!("{}: [data]", path.display()))?;
    }
    Ok(settings)
}

impl Lab {
    /// Opens the folder of a plan, either new or begun by the same plan. The plan may have got more
    /// sets, sizes, kinds or seeds since.
    ///
    /// # Errors
    /// Fails if the plan has errors, its folder belongs to another plan or engine or is in use, or
    /// the engine is missing.
    pub fn open(path: &Path, engine: Option<&str>) -> anyhow::Result<Lab> {
        let plan = LabPlan::load(path)?;
        let engine = engine.map(str::to_owned).or_else(|| plan.engine.clone());
        let engine = engine.map_or_else(default_engine, Ok)?;
        let settings = check(&plan, &engine, path)?;
        let out = &plan.out;
        fs::create_dir_all(out).with_context(|| format!("{}: cannot create it; give another `out`", out.display()))?;
        let lock = lock_folder(out).with_context(|| format!("{}: cannot lock it", out.display()))?;
        let Some(lock) = lock else {
            bail!("{}: another lab is at work there; stop it first, or give another `out`", out.display());
        };
        if let Some(settings) = settings {
            replace(&out.join(SETTINGS), settings.as_bytes())?;
        }
        let rows = load_rows(&plan)?;
        Ok(Lab { engine, rows, failed: Vec::new(), is_playing: Arc::default(), _lock: lock, plan })
    }

    /// Returns a flag that is true during games, which handle signals themselves.
    pub fn is_playing(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_playing)
    }

    /// Returns the results so far.
    pub fn table(&self) -> LabTable {
        LabTable::new(&self.plan, &self.rows)
    }

    /// Returns a sentence about the cells that failed; `None` if no cell failed.
    pub fn failed_cells(&self) -> Option<String> {
        failed_cells(&self.plan, &self.rows)
    }

    /// Runs the next stage of a cell. If it fails, the reason becomes a part of the cell's results.
    ///
    /// # Errors
    /// Fails if the results cannot be written.
    pub fn step(&mut self, out: &mut dyn Write) -> anyhow::Result<LoopStep> {
        let Some((stage, place)) = next_stage(&self.plan, &self.rows, &self.failed) else {
            self.write_results()?;
            return Ok(LoopStep::Finished);
        };
        let (name, cells) = (self.plan.cells[place].name.clone(), self.plan.cells.len());
        // A closed pipe must not end the work.
        let _ = writeln!(out, "{name}: {}, cell {} of {cells}", stage.name(), place + 1).and_then(|()| out.flush());
        let row = self.rows[place].clone();
        let done = match stage {
            CellStage::Training => self.train(place, row, out).map(Ok),
            stage => self.play(place, row, stage),
        };
        let row = match done {
            Ok(Ok(row)) => CellRow { failure: None, ..row },
            Ok(Err(exit)) => return Ok(LoopStep::Stopped(exit)),
            Err(error) => {
                let failure = CellFailure::new(stage, &error);
                let _ = writeln!(out, "{name}: {failure}").and_then(|()| out.flush());
                self.failed.push(place);
                CellRow { failure: Some(failure), ..self.rows[place].clone() }
            }
        };
        self.keep(place, row)?;
        self.write_results()?;
        Ok(LoopStep::Done)
    }

    /// Replaces the results of a cell, in its folder too.
    fn keep(&mut self, place: usize, row: CellRow) -> anyhow::Result<()> {
        let cell = &self.plan.cells[place];
        let folder = &cell.plan.out;
        fs::create_dir_all(folder).with_context(|| format!("{}: cannot create it", folder.display()))?;
        row.save(&row_path(cell))?;
        self.rows[place] = row;
        Ok(())
    }

    fn train(&self, place: usize, row: CellRow, out: &mut dyn Write) -> anyhow::Result<CellRow> {
        let summary = train(&self.plan.cells[place].plan, out)?;
        Ok(CellRow { training: Some(CellTraining::new(&summary)?), ..row })
    }

    /// Copy of a cell's network that later changes of the file do not affect.
    fn network_of(&self, place: usize) -> anyhow::Result<Evaluation> {
        let cell = &self.plan.cells[place];
        let file = cell.plan.out.join(format!("{}.nnue", cell.name));
        let evaluation = Evaluation::network(&file)?;
        let expected = self.rows[place].training.as_ref().map(|training| training.sha256.as_str());
        if evaluation.sha256().as_deref() != expected {
            bail!(
                "{}: not the network that was trained; remove {} to train the cell again",
                file.display(),
                row_path(cell).display()
            );
        }
        evaluation.kept(&self.plan.out.join("nets"))
    }

    /// Plays the games of a stage. Returns the exit status if they were interrupted.
    fn play(&self, place: usize, row: CellRow, stage: CellStage) -> anyhow::Result<Result<CellRow, Exit>> {
        let cell = &self.plan.cells[place];
        let raw = games_of(&self.plan, cell, stage).context("the plan has no such games")?;
        // Cells of one seed play the same openings.
        let raw = RawPlan { seed: Some(cell.plan.seed), ..raw.clone() };
        let (against, opponent) = match (cell.opponent, &self.plan.fixed) {
            (Some(place), _) => (self.plan.cells[place].name.clone(), self.network_of(place)?),
            (None, Some(fixed)) => ("opponent".to_owned(), fixed.clone().kept(&self.plan.out.join("nets"))?),
            (None, None) => bail!("the cell has no opponent"),
        };
        let network = self.network_of(place)?;
        let root = cell.plan.out.join(stage.name());
        self.is_playing.store(true, Ordering::Relaxed);
        let played = duel(&raw, &(&cell.name, network), &(&against, opponent), &self.engine, &root);
        self.is_playing.store(false, Ordering::Relaxed);
        let played = played?;
        match played.exit {
            Exit::Interrupted => return Ok(Err(played.exit)),
            Exit::Aborted => bail!(
                "the games stopped, because an engine failed or lost on time too often, or the run broke; {} has them, and the next call plays anew",
                set_aside(&root)?.display()
            ),
            _ => {}
        }
        let games = Some(CellGames::new(&played, against, &root)?);
        Ok(Ok(match stage {
            CellStage::Nodes => CellRow { nodes: games, ..row },
            _ => CellRow { time: games, ..row },
        }))
    }

    fn write_results(&self) -> anyhow::Result<()> {
        let table = self.table();
        let files = [(TEXT, table.text()), ("lab.json", table.json()), ("lab.html", page::page(&table))];
        Ok(write_texts(&self.plan.out, &files)?)
    }
}
