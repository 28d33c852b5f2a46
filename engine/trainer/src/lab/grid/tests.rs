//! Tests of plans, settings, stages and tables of a grid.

use super::cell::{CellFailure, CellGames, CellRow, CellStage, CellTraining};
use super::page::page;
use super::plan::{LabPlan, LabPlanError};
use super::run::{failed_cells, next_stage, set_aside};
use super::settings::{LabEngine, SETTINGS, new_settings};
use super::table::{LabTable, SeedMean};
use std::path::PathBuf;
use tempfile::TempDir;

const PLAN: &str = "name = \"small\"\nout = \"out\"\n\
    sets = [\"file+rank\", { features = \"piece\", name = \"plain\" }, { features = \"top-pairs:2\", pairs = \"pairs.txt\" }]\n\
    hidden = [32, 64]\nkinds = [\"screlu\", \"layered\"]\nseeds = [1, 5]\nopponent = \"plain\"\n\
    [data]\nfiles = [\"train.bin\"]\n[training]\nsuperbatches = 1\n[rate]\nschedule = \"constant\"\nstart = 0.001\n\
    [games]\nnodes = 100\ntc = \"1+0.01\"\npairs = 2\n";

struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = TempDir::new().expect("a folder");
        for (name, text) in [("train.bin", ""), ("pairs.txt", "1 2\n3 4\n")] {
            std::fs::write(folder.path().join(name), text).expect("a file");
        }
        Folder(folder)
    }

    fn load(&self, text: &str) -> Result<LabPlan, LabPlanError> {
        let path: PathBuf = self.0.path().join("plan.toml");
        std::fs::write(&path, text).expect("a file");
        LabPlan::load(&path)
    }
}

#[test]
fn a_grid_has_all_cells_and_the_opponent_of_each_shape_and_seed_first() {
    let plan = Folder::new().load(PLAN).expect("a plan");
    assert_eq!(plan.cells.len(), 3 * 2 * 2 * 2);
    let names: Vec<&str> = plan.cells.iter().map(|cell| cell.name.as_str()).take(4).collect();
    let expected = ["plain-screlu-32-s1", "file+rank-screlu-32-s1", "top-pairs-2-screlu-32-s1", "plain-screlu-32-s5"];
    assert_eq!(names, expected);
    for cell in &plan.cells {
        let Some(opponent) = cell.opponent else {
            assert_eq!(cell.set, "plain");
            continue;
        };
        let other = &plan.cells[opponent];
        let shape = |plan: &crate::train::Plan| (plan.network.kind, plan.network.hidden, plan.seed);
        assert_eq!((other.set.as_str(), shape(&other.plan)), ("plain", shape(&cell.plan)));
    }
    // Without mirroring, all sets see the same board.
    assert!(plan.cells.iter().all(|cell| cell.plan.network.mirrored != Some(true)));
    let limits = [plan.nodes, plan.time].map(|raw| raw.map(|raw| (raw.nodes, raw.tc)));
    assert_eq!(limits, [Some((Some(100), None)), Some((None, Some("1+0.01".to_owned())))]);
}

#[test]
fn shipped_plans_are_sound() {
    let folder = Folder::new();
    std::fs::write(folder.0.path().join("held-out.bin"), "").expect("a file");
    let shipped =
        std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/plans/lab")).expect("the folder of the plans");
    let mut cells = Vec::new();
    for entry in shipped {
        let path = entry.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("a plan");
        let plan = folder.load(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        cells.push(plan.cells.len());
    }
    cells.sort_unstable();
    assert_eq!(cells, [5 * 3, 16 * 3]);
}

#[test]
fn mistakes_name_file_line_key_and_remedy() {
    let folder = Folder::new();
    for (from, to, says) in [
        ("file+rank", "file+rnak", "plan.toml: line 3, `sets`"),
        ("hidden = [32, 64]", "hidden = []", "line 4, `hidden`: the list is empty; give at least one"),
        ("hidden = [32, 64]", "hidden = [32, 33]", "line 4, `hidden` is 33: give 32 to 4096 in steps of 32"),
        ("seeds = [1, 5]", "seeds = [1, 1]", "line 6, `seeds`: a value is in the list twice"),
        ("\"layered\"", "\"layred\"", "unknown kind `layred`"),
        (
            "opponent = \"plain\"",
            "opponent = \"piece\"",
            "line 7, `opponent`: `piece` is no set of the plan and no file",
        ),
        ("train.bin", "gone.bin", "line 9, `files`: "),
        ("train.bin", "gone.bin", "make it with `destrier-trainer data filter`"),
        ("pairs.txt", "gone.txt", "line 3, `pairs`: "),
        ("top-pairs:2", "top-pairs:3", "line 3, `sets`"),
        ("name = \"plain\"", "name = \"file+rank\"", "`file+rank` is the name of two sets"),
        ("seeds = ", "seed = ", "unknown key `seed`, did you mean `seeds`?"),
        ("pairs = 2\n", "pairs = 2\nbounds = [0, 5]\n", "leave out `bounds`"),
        ("nodes = 100\ntc = \"1+0.01\"\n", "", "line 15, `games`: give `nodes`"),
        ("[games]\n", "[games]\nseed = 3\n", "leave out `out`, `seed` and `name`"),
    ] {
        let text = PLAN.replace(from, to);
        assert_ne!(text, PLAN, "{from}");
        let error = folder.load(&text).expect_err(says).to_string();
        assert!(error.contains(says) && error.contains("plan.toml"), "{error}");
    }
}

#[test]
fn means_have_the_larger_standard_error_of_seeds_and_measurements() {
    assert_eq!(SeedMean::of(&[], Some(1.0)), None);
    let one = SeedMean::of(&[3.0], Some(0.5)).expect("a mean");
    assert_eq!((one.mean, one.error), (3.0, Some(0.5)));
    let three = SeedMean::of(&[1.0, 2.0, 6.0], Some(0.5)).expect("a mean");
    // Variance (4 + 1 + 9) / 2 = 7.
    assert!(
        (three.mean - 3.0).abs() < 1e-12 && (three.error.expect("an error") - (7.0_f64 / 3.0).sqrt()).abs() < 1e-12
    );
    // Seeds that agree by chance do not make the measurements better.
    let close = SeedMean::of(&[1.0, 1.01], Some(0.5)).expect("a mean");
    assert_eq!(close.error, Some(0.5));
    assert_eq!(SeedMean::of(&[3.0], None).expect("a mean").error, None);
}

fn rows(plan: &LabPlan) -> Vec<CellRow> {
    plan.cells.iter().map(|cell| CellRow::new(cell).expect("a row")).collect()
}

fn training(loss: f64) -> CellTraining {
    CellTraining {
        positions: 1000,
        validation: loss,
        score: loss,
        result: 0.1,
        mean_error: 1.0,
        win_mean: 0.002,
        win_most: 0.01,
        win_worst: 0.02,
        checked: 5,
        speed: Some(1e6),
        evaluation: Some(25_000.0 * loss),
        sha256: String::new(),
    }
}

fn games(ptnml: [u64; 5], elo: Option<f64>, nps: f64) -> CellGames {
    CellGames {
        against: "plain-screlu-32-s1".to_owned(),
        ptnml,
        wins: 2 * ptnml[4] + ptnml[3],
        draws: ptnml[3] + ptnml[1],
        losses: 2 * ptnml[0] + ptnml[1],
        elo,
        elo_error: Some(19.6),
        nps: Some(nps),
        against_nps: Some(200e3),
        pair_seconds: 1.0,
    }
}

#[test]
fn a_table_has_means_over_seeds_and_the_page_draws_them() {
    let folder = Folder::new();
    let plan = folder.load(PLAN).expect("a plan");
    let mut rows = rows(&plan);
    for (row, loss) in rows.iter_mut().zip([0.01, 0.02, 0.03, 0.012, 0.022]) {
        row.training = Some(training(loss));
    }
    rows[1].nodes = Some(games([1, 0, 0, 0, 0], None, 100e3));
    rows[4].nodes = Some(games([0, 0, 1, 0, 1], Some(100.0), 120e3));
    rows[1].time = Some(games([0, 1, 1, 0, 0], Some(-50.0), 100e3));
    rows[4].time = Some(games([0, 0, 1, 1, 0], Some(-30.0), 120e3));
    let table = LabTable::new(&plan, &rows);
    assert_eq!(table.rows.len(), 12);
    let [lines, plain] = [&table.rows[0], &table.rows[1]];
    assert_eq!((lines.set.as_str(), lines.trained, plain.is_opponent), ("file+rank", [2, 2], true));
    assert!((lines.loss.expect("a loss").mean - 0.021).abs() < 1e-12);
    let at_time = lines.elo_at_time.expect("games");
    assert_eq!((at_time.elo, at_time.error.map(|error| error.round())), (Some(-40.0), Some(10.0)));
    // One seed lost everything, so that only the games of all seeds together have an Elo: 3 of 6
    // points.
    let at_nodes = lines.elo_at_nodes.expect("games");
    assert!(at_nodes.error.is_none() && at_nodes.elo.expect("finite").abs() < 1e-9, "{at_nodes:?}");
    assert!((lines.evaluation.expect("measured").mean - 525.0).abs() < 1e-9);
    assert_eq!(plain.nps.expect("of the opponent's games").mean, 200e3);
    let text = table.text();
    assert!(text.contains("-40.0 +- 10.0") && text.contains("110 (0.55x)  525 +- 25"), "{text}");
    let html = page(&table);
    assert_eq!(html.matches("<svg").count(), 8, "four pictures on two sheets");
    assert!(html.contains("-40.0 ± 10.0") && !html.contains("NaN") && !html.contains("src="), "{html}");
    let json: serde_json::Value = serde_json::from_str(&table.json()).expect("JSON");
    assert_eq!(json["rows"][0]["elo_at_time"]["elo"], -40.0);
}

#[test]
fn a_stage_of_few_seeds_says_their_number_and_has_the_error_of_its_games() {
    let folder = Folder::new();
    let plan = folder.load(PLAN).expect("a plan");
    let mut rows = rows(&plan);
    rows[..6].iter_mut().for_each(|row| row.training = Some(training(0.01)));
    rows[1].nodes = Some(games([0, 1, 1, 0, 0], Some(-41.0), 100e3));
    rows[4].nodes = Some(games([0, 1, 1, 0, 0], Some(-39.0), 150e3));
    let table = LabTable::new(&plan, &rows);
    let lines = &table.rows[0];
    // The scatter of the seeds is 1, the error of their games 10 / sqrt(2).
    assert!(table.text().contains("-40.0 +- 7.1  "), "{}", table.text());
    assert!(page(&table).contains("-40.0 ± 7.1"));
    let error = lines.elo_at_nodes.and_then(|elo| elo.error).expect("an error");
    assert!((error - 50.0_f64.sqrt()).abs() < 0.001, "{error}");
    let speed = |table: &LabTable| {
        let row = &table.rows[0];
        (row.nps_from, row.nps.map(|nps| (nps.mean, nps.seeds)), row.nps_ratio.map(|ratio| ratio.mean))
    };
    assert_eq!(speed(&table), (Some(CellStage::Nodes), Some((125e3, 2)), Some(0.625)));

    rows[4].time = Some(games([0, 1, 1, 0, 0], Some(-50.0), 120e3));
    let table = LabTable::new(&plan, &rows);
    assert_eq!(speed(&table), (Some(CellStage::Time), Some((120e3, 1)), Some(0.6)));
    let text = table.text();
    assert!(text.contains("-40.0 +- 7.1  ") && text.contains("-50.0 +- 10.0 (1)  ") && text.contains("of n seeds"));
    let json: serde_json::Value = serde_json::from_str(&table.json()).expect("JSON");
    let row = &json["rows"][0];
    assert_eq!(row["seeds"], serde_json::json!({ "training": [1, 5], "nodes": [1, 5], "time": [5] }));
    assert_eq!(row["elo_at_time"]["seeds"], 1);
    assert_eq!(row["nps_from"], "games-at-time");
    // The opponent's speed is from the same kind of games.
    assert_eq!(table.rows[1].nps_from, Some(CellStage::Time));
}

#[test]
fn a_failed_cell_is_passed_over_and_tried_again_last() {
    let folder = Folder::new();
    let plan = folder.load(PLAN).expect("a plan");
    let mut rows = rows(&plan);
    let next = |rows: &[CellRow], failed: &[usize]| next_stage(&plan, rows, failed);
    assert_eq!(next(&rows, &[]), Some((CellStage::Training, 0)));
    assert_eq!(next(&rows, &[0]), Some((CellStage::Training, 1)), "it failed in this call");
    rows[0].failure = Some(CellFailure::new(CellStage::Training, &anyhow::anyhow!("the loss is not a number")));
    assert_eq!(next(&rows, &[]), Some((CellStage::Training, 1)), "it failed in an earlier call");
    rows[1..].iter_mut().for_each(|row| row.training = Some(training(0.01)));
    // The games of cells 1 and 2 need the network of cell 0, and cell 3 is the next opponent.
    assert_eq!(next(&rows, &[]), Some((CellStage::Nodes, 4)));
    for row in &mut rows[3..] {
        row.nodes = Some(games([0, 1, 1, 0, 0], Some(-40.0), 80e3));
        row.time = row.nodes.clone();
    }
    assert_eq!(next(&rows, &[]), Some((CellStage::Training, 0)), "all others are done");
    assert_eq!(next(&rows, &[0]), None);
    let says = failed_cells(&plan, &rows).expect("a failure");
    assert!(says.starts_with("1 of 24 cells failed: plain-screlu-32-s1 (training), and 2 wait for"), "{says}");
    assert!(says.contains("out/lab.txt has the reasons, and the same command tries them again"), "{says}");
    rows[0] = CellRow { training: Some(training(0.01)), failure: None, ..rows[0].clone() };
    assert_eq!((next(&rows, &[]), failed_cells(&plan, &rows)), (Some((CellStage::Nodes, 1)), None));
}

#[test]
fn a_failure_is_kept_and_shown_on_one_line() {
    let folder = Folder::new();
    let plan = folder.load(PLAN).expect("a plan");
    let mut rows = rows(&plan);
    let error = anyhow::anyhow!("cannot build it\n  by <this>\n").context("the games");
    rows[1].failure = Some(CellFailure::new(CellStage::Nodes, &error));
    let path = folder.0.path().join("row.json");
    rows[1].save(&path).expect("a file");
    assert_eq!(CellRow::load(&path, &plan.cells[1]).expect("a row"), rows[1]);
    let table = LabTable::new(&plan, &rows);
    let line = "file+rank-screlu-32-s1: games-at-nodes failed: the games: cannot build it by <this>";
    assert!(table.text().lines().any(|shown| shown == line), "{}", table.text());
    let html = page(&table);
    assert!(html.contains("games-at-nodes failed: the games: cannot build it by &lt;this&gt;</p>"), "{html}");
    let json: serde_json::Value = serde_json::from_str(&table.json()).expect("JSON");
    let failure = serde_json::json!({ "stage": "games-at-nodes", "reason": "the games: cannot build it by <this>" });
    assert_eq!(json["cells"][1]["failure"], failure);
    assert!(json["cells"][0].get("failure").is_none());
}

#[test]
fn a_lab_keeps_its_engine_and_an_older_one_takes_it_in() {
    let folder = Folder::new();
    let plan = folder.load(PLAN).expect("a plan");
    let engine = |identity: &str| LabEngine { identity: identity.to_owned(), name: "destrier".to_owned() };
    let [one, other] = ["1a2b", "3c4d -- uci"].map(engine);
    let settings = new_settings(&plan, &one).expect("no folder yet").expect("settings to write");
    assert!(settings.ends_with("engine = 1a2b\nengine name = destrier\n"), "{settings}");
    std::fs::create_dir_all(&plan.out).expect("a folder");
    let write = |text: &str| std::fs::write(plan.out.join(SETTINGS), text).expect("a file");
    write(&settings);
    let begun_with = |engine: &LabEngine| new_settings(&plan, engine).map_err(|error| format!("{error:#}"));
    assert_ne!(begun_with(&other).expect("no cell is begun"), None);
    std::fs::create_dir(plan.out.join("cells")).expect("a folder");
    assert_eq!(begun_with(&one), Ok(None));
    let renamed = LabEngine { name: "newest".to_owned(), ..one.clone() };
    assert_eq!(begun_with(&renamed), Ok(None), "the same program");
    let error = begun_with(&other).expect_err("another engine");
    let says = "settings.txt: the lab was started with `engine = 1a2b` (destrier), not `engine = 3c4d -- uci` (destrier); \
                give the first one with --engine, or the plan another `out`";
    assert!(error.ends_with(says), "{error}");

    let older: String =
        settings.lines().filter(|line| !line.starts_with("engine")).map(|line| format!("{line}\n")).collect();
    write(&older);
    let taken_in = begun_with(&other).expect("an older lab goes on").expect("settings to write");
    assert_eq!(taken_in, format!("{older}engine = 3c4d -- uci\nengine name = destrier\n"));
    assert!(older.contains("pairs = 2\n"), "{older}");
    write(&older.replace("pairs = 2\n", "pairs = 3\n"));
    let error = begun_with(&one).expect_err("other settings");
    assert!(error.contains("with `games-at-nodes pairs = 3`, not `games-at-nodes pairs = 2`; restore"), "{error}");
}

#[test]
fn a_lab_keeps_its_data_and_an_older_one_takes_it_in() {
    let folder = Folder::new();
    let plan = folder.load(PLAN).expect("a plan");
    let engine = LabEngine { identity: "1a2b".to_owned(), name: "destrier".to_owned() };
    let check = || new_settings(&plan, &engine).map_err(|error| format!("{error:#}"));
    let data = &plan.cells[0].plan.data.files[0];
    std::fs::write(data, [0; 64]).expect("data");
    let settings = check().expect("no folder yet").expect("settings to write");
    std::fs::create_dir_all(plan.out.join("cells")).expect("a folder");
    let write = |text: &str| std::fs::write(plan.out.join(SETTINGS), text).expect("a file");
    let older: String =
        settings.lines().filter(|line| !line.starts_with("contents")).map(|line| format!("{line}\n")).collect();
    write(&older);
    assert_eq!(check(), Ok(Some(settings.clone())), "an earlier version wrote no contents");
    write(&settings);
    assert_eq!(check(), Ok(None));
    std::fs::write(data, [1; 64]).expect("data");
    let error = check().expect_err("other scores in a file of the same size");
    assert!(error.contains("settings.txt: the lab was started with `contents of files = "), "{error}");
}

#[test]
fn an_engine_is_its_program_and_arguments() {
    let folder = Folder::new();
    let program = folder.0.path().join("engine");
    std::fs::copy("/bin/sh", &program).expect("an executable file");
    let spec = program.display().to_string();
    let find = |spec: &str| LabEngine::find(spec).expect("an engine");
    let plain = find(&spec);
    assert_eq!((plain.identity.len(), plain.name.as_str()), (64, "engine"));
    assert_eq!(find(&format!("{spec} -- uci")).identity, format!("{} -- uci", plain.identity));
    let mut bytes = std::fs::read(&program).expect("the program");
    bytes.push(0);
    std::fs::write(&program, bytes).expect("the program");
    assert_ne!(find(&spec).identity, plain.identity, "another build");
}

#[test]
fn games_that_were_given_up_are_kept_beside_new_ones() {
    let folder = TempDir::new().unwrap();
    let root = folder.path().join("games-at-time");
    for number in 1..3 {
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("games.jsonl"), number.to_string()).unwrap();
        let aside = set_aside(&root).unwrap();
        assert_eq!(aside, folder.path().join(format!("games-at-time-failed-{number}")));
        assert_eq!(std::fs::read_to_string(aside.join("games.jsonl")).unwrap(), number.to_string());
        assert!(!root.exists());
    }
    assert!(set_aside(&root).is_err());
}
