//! The curve of versions, races and bisections: from stored games, and by playing them.

use serde_json::Value;

use crate::harness::{Ran, quintain, run};

/// Games of `a` against `b`: so many pairs with these points of `a` (half points of its game with White and with Black).
fn pairs(a: &str, b: &str, date: &str, first_round: usize, points: &[(u8, u8)]) -> String {
    let token = |half: u8| ["0-1", "1/2-1/2", "1-0"][usize::from(half)];
    let game = |white: &str, black: &str, round: usize, result: &str| {
        format!(
            "[Event \"e\"]\n[Date \"{date}\"]\n[Round \"{round}\"]\n[White \"{white}\"]\n[Black \"{black}\"]\n[Result \"{result}\"]\n\n{result}\n\n"
        )
    };
    points
        .iter()
        .enumerate()
        .map(|(place, (first, second))| {
            let round = first_round + place;
            game(a, b, round, token(*first)) + &game(b, a, round, token(2 - *second))
        })
        .collect()
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// Three versions and a sparring partner: the second is no better, the third loses most of its games.
fn stored() -> String {
    let level = [(1, 1), (2, 0), (1, 1), (2, 1), (1, 0)].repeat(8);
    let weak = [(0, 0), (1, 0), (0, 1), (1, 1), (0, 0)].repeat(8);
    [
        pairs("v2", "v1", "2026.02.01", 1, &level),
        pairs("v3", "v2", "2026.03.01", 101, &weak),
        pairs("v1", "Rival", "2026.01.01", 201, &level),
    ]
    .concat()
}

#[test]
fn a_drop_is_told_from_stored_games() {
    let folder = tempfile::tempdir().unwrap();
    let [pgn, svg, html, csv, own] =
        ["g.pgn", "e.svg", "e.html", "e.csv", "e.json"].map(|name| folder.path().join(name).display().to_string());
    std::fs::write(&pgn, stored()).unwrap();
    let common = ["progress", &pgn, "--sparring", "Rival"];
    let ran = run(&[&common[..], &["--json"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let document = json(&ran);
    let names: Vec<_> = document["versions"].as_array().unwrap().iter().map(|v| v["version"].clone()).collect();
    assert_eq!(names, ["v1", "v2", "v3"]);
    assert_eq!((&document["anchor"], document["versions"][0]["elo"].as_f64()), (&"v1".into(), Some(0.0)));
    assert_eq!(document["versions"][2]["date"], "2026-03-01");
    assert_eq!((&document["steps"][0]["mark"], &document["steps"][1]["mark"]), (&"open".into(), &"drop".into()));
    assert_eq!(document["sparring"][0]["name"], "Rival");
    for (path, head) in [(&svg, "<svg"), (&html, "<!doctype html>"), (&csv, "version,commit,date,elo"), (&own, "{")] {
        let ran = run(&[&common[..], &["--out", path]].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stdout.contains("DROP: v3 lost"), "{}", ran.stdout);
        assert!(std::fs::read_to_string(path).unwrap().starts_with(head), "{path}");
    }
    assert_eq!(std::fs::read_to_string(&own).unwrap(), run(&[&common[..], &["--json"]].concat()).stdout);
}

#[test]
fn what_is_no_curve_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = folder.path().join("g.pgn").display().to_string();
    std::fs::write(&pgn, stored()).unwrap();
    let cases: &[(&[&str], &str)] = &[
        (&["progress"], "no finished games of any version"),
        (&["progress", &pgn, "--sparring", "Nobody"], "--sparring `Nobody`: no such player"),
        (&["progress", &pgn, "--out", "elo.txt"], "a name that ends in"),
        (&["progress", &pgn, "--alpha", "1"], "--alpha 1: a probability"),
        (&["progress", &pgn, "--order", "size"], "--order `size`: commit or date"),
        (&["progress", "missing.pgn"], "missing.pgn: cannot open it"),
    ];
    for (args, expected) in cases {
        let ran: Ran = quintain(args).current_dir(folder.path()).output().unwrap().into();
        assert_eq!(ran.code, Some(2), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains(expected), "{args:?}: {}", ran.stderr);
    }
}
