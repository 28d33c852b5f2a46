//! Tests of plans and tables of a grid.

use super::cell::{CellGames, CellRow, CellTraining};
use super::page::page;
use super::plan::{LabPlan, LabPlanError};
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
fn means_have_the_standard_error_of_the_seeds() {
    assert_eq!(SeedMean::of(&[], Some(1.0)), None);
    let one = SeedMean::of(&[3.0], Some(0.5)).expect("a mean");
    assert_eq!((one.mean, one.error), (3.0, Some(0.5)));
    let three = SeedMean::of(&[1.0, 2.0, 6.0], Some(0.5)).expect("a mean");
    // Variance (4 + 1 + 9) / 2 = 7.
    assert!(
        (three.mean - 3.0).abs() < 1e-12 && (three.error.expect("an error") - (7.0_f64 / 3.0).sqrt()).abs() < 1e-12
    );
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
    let mut rows: Vec<CellRow> = plan.cells.iter().map(|cell| CellRow::new(cell).expect("a row")).collect();
    for (row, loss) in rows.iter_mut().zip([0.01, 0.02, 0.03, 0.012, 0.022]) {
        row.training = Some(CellTraining {
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
        });
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
