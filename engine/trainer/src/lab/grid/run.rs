//! Stages of a grid, each resumable: trainings, games at equal nodes, games at equal time.

use super::cell::{CellGames, CellRow, CellTraining};
use super::page;
use super::plan::{LabCell, LabPlan};
use super::table::LabTable;
use crate::bootstrap::{LoopStep, key_a_line, set_keys, settings_of_match};
use crate::compare::{Evaluation, check_duel, default_engine, duel};
use crate::train::{Plan, check_training, lock_folder, replace, train};
use anyhow::{Context as _, bail};
use quintain::run::Exit;
use quintain::settings::RawPlan;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// File with the settings of a grid.
const SETTINGS: &str = "settings.txt";

/// Stage of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellStage {
    /// Training, export and check.
    Training,
    /// Games at equal nodes.
    Nodes,
    /// Games at equal time.
    Time,
}

impl CellStage {
    /// All stages in the order in which the grid does them.
    pub const ALL: [CellStage; 3] = [CellStage::Training, CellStage::Nodes, CellStage::Time];

    /// Name of the stage, and of its folder.
    pub const fn name(self) -> &'static str {
        match self {
            CellStage::Training => "training",
            CellStage::Nodes => "games-at-nodes",
            CellStage::Time => "games-at-time",
        }
    }
}

/// Grid between two stages.
#[derive(Debug)]
pub struct Lab {
    plan: LabPlan,
    engine: String,
    rows: Vec<CellRow>,
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
    match stage {
        CellStage::Training => row.training.is_some(),
        CellStage::Nodes => row.nodes.is_some() || games_of(plan, cell, stage).is_none(),
        CellStage::Time => row.time.is_some() || games_of(plan, cell, stage).is_none(),
    }
}

/// Checks the data, and the settings of the games.
///
/// # Errors
/// Fails if data or checkpoints cannot be used, settings conflict or the engine is missing.
pub fn check(plan: &LabPlan, engine: &str, path: &Path) -> anyhow::Result<()> {
    for raw in [&plan.nodes, &plan.time].into_iter().flatten() {
        check_duel(raw, engine).with_context(|| format!("{}: [games]", path.display()))?;
    }
    // All cells have the same data.
    let first: Option<&Plan> = plan.cells.first().map(|cell| &cell.plan);
    first.map_or(Ok(()), |plan| check_training(plan, &[])).with_context(|| format!("{}: [data]", path.display()))
}

impl Lab {
    /// Opens the folder of a plan, either new or begun by the same plan. The plan may have got more
    /// sets, sizes, kinds or seeds since.
    ///
    /// # Errors
    /// Fails if the plan has errors, its folder belongs to another plan or is in use, or the engine
    /// is missing.
    pub fn open(path: &Path, engine: Option<&str>) -> anyhow::Result<Lab> {
        let plan = LabPlan::load(path)?;
        let engine = engine.map(str::to_owned).or_else(|| plan.engine.clone());
        let engine = engine.map_or_else(default_engine, Ok)?;
        let settings = new_settings(&plan)?;
        check(&plan, &engine, path)?;
        let out = &plan.out;
        fs::create_dir_all(out).with_context(|| format!("{}: cannot create it; give another `out`", out.display()))?;
        let lock = lock_folder(out).with_context(|| format!("{}: cannot lock it", out.display()))?;
        let Some(lock) = lock else {
            bail!("{}: another lab is at work there; stop it first, or give another `out`", out.display());
        };
        if let Some(settings) = settings {
            let path = out.join(SETTINGS);
            replace(&path, settings.as_bytes()).with_context(|| format!("{}: cannot write it", path.display()))?;
        }
        let rows = load_rows(&plan)?;
        Ok(Lab { engine, rows, is_playing: Arc::default(), _lock: lock, plan })
    }

    /// Returns a flag that is true during games, which handle signals themselves.
    pub fn is_playing(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_playing)
    }

    /// Returns the results so far.
    pub fn table(&self) -> LabTable {
        LabTable::new(&self.plan, &self.rows)
    }

    /// Runs the next stage of a cell.
    ///
    /// # Errors
    /// Fails if the stage fails, with the cell in the message; earlier stages stay done.
    pub fn step(&mut self, out: &mut dyn Write) -> anyhow::Result<LoopStep> {
        let cells = self.plan.cells.len();
        let places = CellStage::ALL.into_iter().flat_map(|stage| (0..cells).map(move |place| (stage, place)));
        let is_left = |(stage, place): &(CellStage, usize)| {
            !is_done(&self.plan, &self.plan.cells[*place], &self.rows[*place], *stage)
        };
        let Some((stage, place)) = places.into_iter().find(is_left) else {
            self.write_results()?;
            return Ok(LoopStep::Finished);
        };
        let name = self.plan.cells[place].name.clone();
        // A closed pipe must not end the work.
        let _ = writeln!(out, "{name}: {}, cell {} of {cells}", stage.name(), place + 1).and_then(|()| out.flush());
        let row = self.rows[place].clone();
        let row = match stage {
            CellStage::Training => self.train(place, row, out).map(Ok),
            stage => self.play(place, row, stage),
        };
        match row.with_context(|| format!("{name}, {}", stage.name()))? {
            Ok(row) => {
                row.save(&row_path(&self.plan.cells[place]))?;
                self.rows[place] = row;
                self.write_results()?;
                Ok(LoopStep::Done)
            }
            Err(exit) => Ok(LoopStep::Stopped(exit)),
        }
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

    /// Plays the games of a stage. Returns the exit status if they stopped before their end.
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
        if matches!(played.exit, Exit::Interrupted | Exit::Aborted) {
            return Ok(Err(played.exit));
        }
        let games = Some(CellGames::new(&played, against, &root)?);
        Ok(Ok(match stage {
            CellStage::Nodes => CellRow { nodes: games, ..row },
            _ => CellRow { time: games, ..row },
        }))
    }

    fn write_results(&self) -> anyhow::Result<()> {
        let table = self.table();
        let files = [("lab.txt", table.text()), ("lab.json", table.json()), ("lab.html", page::page(&table))];
        for (name, text) in files {
            let path = self.plan.out.join(name);
            let text = format!("{}\n", text.trim_end());
            replace(&path, text.as_bytes()).with_context(|| format!("{}: cannot write it", path.display()))?;
        }
        Ok(())
    }
}

/// Settings that all cells share: those of the trainings, then those of the games.
fn settings(plan: &LabPlan) -> anyhow::Result<String> {
    let Some(cell) = plan.cells.first() else { return Ok(String::new()) };
    let (_, training, rate, wdl, optimiser) = cell.plan.decisive()?;
    let data = &cell.plan.data;
    let mut lines = format!("{training:?}\n{rate:?}\n{wdl:?}\n{optimiser:?}\n");
    lines += &format!("validation_fraction: {}\n", data.validation_fraction);
    lines += &format!("validation_positions: {}\n", data.validation_positions);
    for file in data.files.iter().chain(&data.validation).chain(data.triplets.iter().flatten()) {
        let bytes = file.metadata().with_context(|| format!("{}: cannot read it", file.display()))?.len();
        lines += &format!("file {}: {bytes} bytes\n", file.file_name().unwrap_or_default().to_string_lossy());
    }
    let mut text = key_a_line(&lines);
    let opponent = plan.fixed.as_ref().and_then(Evaluation::sha256).unwrap_or_else(|| plan.opponent.clone());
    text += &format!("\nopponent = {opponent}\n");
    for (stage, raw) in [(CellStage::Nodes, &plan.nodes), (CellStage::Time, &plan.time)] {
        for line in raw.iter().flat_map(|raw| settings_of_match(raw).lines().map(str::to_owned).collect::<Vec<_>>()) {
            text += &format!("{} {line}\n", stage.name());
        }
    }
    Ok(text)
}

/// Compares the plan with the settings in its folder. Returns the settings to write if there are
/// none, or others and no cell is begun.
///
/// # Errors
/// Fails if the folder has cells of other settings.
pub fn new_settings(plan: &LabPlan) -> anyhow::Result<Option<String>> {
    let path = plan.out.join(SETTINGS);
    let settings = settings(plan)?;
    let is_begun = plan.out.join("cells").exists();
    match fs::read_to_string(&path) {
        Ok(before) if set_keys(&before) == set_keys(&settings) => Ok(None),
        Ok(before) if is_begun => {
            let [was, is] = [set_keys(&before), set_keys(&settings)];
            let differing = was.lines().zip(is.lines()).find(|(was, is)| was != is);
            let (was, is) = differing.unwrap_or(("fewer or more keys", "these"));
            bail!(
                "{}: the lab was started with `{}`, not `{}`; restore the plan, or give it another `out`",
                path.display(),
                was.trim(),
                is.trim()
            );
        }
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("{}: cannot read it", path.display()))
        }
        _ => Ok(Some(settings)),
    }
}
