//! Losses of networks on positions, by the command.

use super::Folder;
use destrier::nnue::{Kind, Layout, encode, random_payload};
use serde_json::Value;
use std::fs;
use std::path::Path;

fn write_network(path: &Path, kind: Kind, seed: u64) {
    let layout = Layout::plain(kind, 32);
    fs::write(path, encode(&layout, &random_payload(&layout, seed)).unwrap()).unwrap();
}

fn json(folder: &Folder, words: &str) -> Value {
    serde_json::from_str(&folder.told(&format!("{words} --json"))).unwrap()
}

#[test]
fn networks_of_every_kind_are_measured_the_same_each_time() {
    let folder = Folder::new();
    folder.write_games("a.vf", 5, 40);
    write_network(&folder.path("one.nnue"), Kind::Screlu, 1);
    write_network(&folder.path("two.nnue"), Kind::LAYERED, 2);
    let words = "loss classical @one.nnue @two.nnue --on @a.vf --keep-captures --keep-checks";
    let all = json(&folder, words);
    assert_eq!(all, json(&folder, words));
    assert_eq!((&all["games"], &all["games_read"]), (&Value::from(40), &Value::from(40)));
    assert_eq!(all["positions"], all["positions_read"]);
    let names: Vec<_> = all["networks"].as_array().unwrap().iter().map(|network| network["name"].clone()).collect();
    assert_eq!(names, ["classical", "one", "two"]);
    for network in all["networks"].as_array().unwrap() {
        for against in ["scores", "results"] {
            let mean = network[against]["mean"].as_f64().unwrap();
            assert!(mean > 0.0 && mean < 0.5 && network[against]["error"].as_f64().unwrap() > 0.0, "{network}");
            let bands = network[against]["bands"].as_array().unwrap();
            let positions: u64 = bands.iter().filter_map(|band| band["positions"].as_u64()).sum();
            assert_eq!(Value::from(positions), all["positions"], "every position is in one band");
        }
    }
    // Random games with random scores teach nothing, so a difference is small beside its error.
    let [first, second] = [0, 1].map(|place| &all["networks"][place]["scores"]);
    assert!(first["difference"].is_null());
    let difference = second["difference"]["mean"].as_f64().unwrap();
    let expected = second["mean"].as_f64().unwrap() - first["mean"].as_f64().unwrap();
    assert!((difference - expected).abs() < 1e-9, "{all}");
    let table = folder.told(words);
    assert!(table.contains("less those of classical:") && table.contains("of 40 games"), "{table}");
}

#[test]
fn a_share_and_its_rest_are_all_games() {
    let folder = Folder::new();
    folder.write_games("a.vf", 6, 60);
    let part = |more: &str| {
        let found = json(&folder, format!("loss classical @a.vf {more}").trim());
        ["games", "positions"].map(|key| found[key].as_u64().unwrap())
    };
    let (all, some, rest) = (part(""), part("--share 0.3"), part("--share 0.3 --rest"));
    assert!(some[0] > 5 && some[0] < 40, "{some:?}");
    assert_eq!(all, [some[0] + rest[0], some[1] + rest[1]]);
    assert!(part("--share 0.3 --seed 2") != some || part("--share 0.3 --seed 3") != some);
}

#[test]
fn games_are_found_in_files_of_positions() {
    let folder = Folder::new();
    folder.write_games("a.vf", 7, 12);
    folder.run("convert @a.vf --out @a.txt");
    folder.run("convert @a.vf --out @a.bin");
    let count = |words: &str| json(&folder, words)["games"].as_u64().unwrap();
    let keep = "--keep-captures --keep-checks";
    assert_eq!(count(&format!("loss classical @a.vf {keep}")), 12);
    // Games may run into each other where one could be the other's rest, and none is torn.
    let found = count(&format!("loss classical @a.txt {keep}"));
    assert!((9..=12).contains(&found), "{found}");
    let positions = json(&folder, &format!("loss classical @a.bin {keep}"))["positions"].as_u64().unwrap();
    assert_eq!(count(&format!("loss classical @a.bin {keep}")), positions.div_ceil(64));
}

#[test]
fn the_pieces_of_a_filtered_game_are_one_game() {
    let folder = Folder::new();
    folder.write_torn_games();
    folder.run("convert @torn.plain --out @torn.vf");
    folder.run("convert @torn.plain --out @torn.txt");
    folder.run("convert @torn.txt --out @alone.vf");
    let mut names = vec!["whole.plain", "torn.plain", "torn.vf", "torn.txt", "alone.vf"];
    if cfg!(feature = "binpack") {
        folder.run("convert @torn.plain --out @torn.binpack");
        names.push("torn.binpack");
    }
    for name in names {
        let words = format!("loss classical @{name} --keep-captures --keep-checks");
        let games = |more: &str| {
            let found = json(&folder, &format!("{words}{more}"));
            ["games", "games_read"].map(|key| found[key].as_u64().unwrap())
        };
        assert_eq!(games(""), [30, 30], "{name}");
        let (some, rest) = (games(" --share 0.5"), games(" --share 0.5 --rest"));
        assert_eq!([some[0] + rest[0], some[1]], [30, 30], "{name}");
    }
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let folder = Folder::new();
    folder.write_games("a.vf", 8, 4);
    folder.run("convert @a.vf --out @a.bin");
    write_network(&folder.path("one.nnue"), Kind::Screlu, 1);
    fs::copy(folder.path("one.nnue"), folder.path("same.nnue")).unwrap();
    let bytes = folder.read("one.nnue");
    folder.write("cut.nnue", &bytes[..bytes.len() / 2]);
    folder.refuses(&[
        // Nothing else is measured in the place of a network that is not there.
        ("loss @gone.nnue @a.vf", "gone.nnue: cannot be read"),
        ("loss classical @gone.nnue --on @a.vf", "gone.nnue: cannot be read"),
        ("loss @cut.nnue @a.vf", "cut.nnue: wrong size"),
        ("loss @one.nnue @same.nnue --on @a.vf", "are the same network"),
        ("loss @one.nnue", "no file to measure on"),
        ("loss @one.nnue @gone.vf", "gone.vf: cannot read it"),
        ("loss @one.nnue @a.vf --share 1.5", "--share 1.5: expected 0 to 1"),
        ("loss @one.nnue @a.vf --min-ply 9999", "no position is left"),
        ("loss @one.nnue @a.bin --min-ply 9", "does not say at which ply"),
    ]);
}
