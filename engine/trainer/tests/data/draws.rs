//! Draws of positions and pairs, and the fit of win probabilities.

use super::{Folder, lines};
use destrier::types::SplitMix64;
use std::collections::BTreeSet;

const ALL: &str = "--min-ply 0 --keep-checks --keep-captures --max-score 32000";

#[test]
fn positions_of_each_game_are_drawn_by_the_seed() {
    let folder = Folder::new();
    folder.write_games("a.vf", 7, 120);
    let draw = |words: &str| {
        folder.run(&format!("filter @a.vf --out @b.txt --force {ALL}{words}"));
        lines(&folder.path("b.txt"))
    };
    let all = draw("");
    let [one, again, other, three] =
        [" --per-game 1", " --per-game 1 --seed 1", " --per-game 1 --seed 2", " --per-game 3"].map(draw);
    // Each game of the test has at least one position, and all but a few have three.
    assert_eq!((one.len(), other.len()), (120, 120));
    assert!((340..=360).contains(&three.len()), "{}", three.len());
    assert!(one == again && one != other);
    let known: BTreeSet<&String> = all.iter().collect();
    assert!(one.iter().chain(&three).all(|line| known.contains(line)));
    let told = folder.told(&format!("filter @a.vf --out @c.txt {ALL} --per-game 1"));
    let undrawn = all.len() - 120;
    assert!(told.contains(&format!("{undrawn} not drawn")), "{told}");
    folder.run("convert @a.vf --out @a.bf");
    let error = folder.error(&format!("filter @a.bf --out @d.bf {ALL} --per-game 1"));
    assert!(error.starts_with("a.bf: ") && error.contains("which game") && error.contains("--per-game"), "{error}");
}

#[test]
fn the_win_probability_of_scores_is_fitted() {
    let folder = Folder::new();
    let mut random = SplitMix64::new(3);
    let mut text = String::new();
    for _ in 0..20_000 {
        let score = random.below(1200) as i32 - 600;
        let win = 1.0 / (1.0 + (-f64::from(score) / 250.0).exp());
        let result = if (random.below(1000) as f64) < 1000.0 * win { "1.0" } else { "0.0" };
        text += &format!("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1 | {score} | {result}\n");
    }
    folder.write("a.txt", text);
    let json: serde_json::Value =
        serde_json::from_str(&folder.told("fit-wdl @a.txt --json --plot @wdl.svg")).expect("JSON");
    let number = |key: &str| json[key].as_f64().expect(key);
    assert!((number("scale") - 250.0).abs() < 4.0 * number("scale_error"), "{json}");
    assert!(number("offset").abs() < 4.0 * number("offset_error") && number("scale_error") < 10.0, "{json}");
    assert!(folder.text("wdl.svg").contains("Win probability by score"));
    let told = folder.told("fit-wdl @a.txt");
    assert!(told.contains("20000 positions of 20000 games, 0 left out"), "{told}");
    folder.write("b.txt", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1 | 30 | 0.5\n");
    assert!(folder.error("fit-wdl @b.txt").contains("no curve fits"));
    folder.run("convert @a.txt --out @a.bf");
    let error = folder.error("fit-wdl @a.bf --min-ply 8");
    assert!(error.contains("a.bf") && error.contains("leave out `--min-ply`"), "{error}");
}

#[test]
fn pairs_are_chosen_and_read_back() {
    let folder = Folder::new();
    folder.write_games("a.vf", 9, 60);
    folder.run("pairs frequent @a.vf --count 64 --out @pairs.txt");
    let text = folder.text("pairs.txt");
    assert!(text.starts_with("# 64 pairs by `frequent`") && text.lines().count() == 65, "{text}");
    for (words, says) in [
        ("pairs frequent @a.vf --count 0 --out @b.txt", "--count 0: give 1 to"),
        ("pairs frequent @a.vf --count 30000 --positions 3 --out @b.txt", "are wanted; give more positions"),
        ("pairs gain @a.vf --count 64 --out @b.txt", "give the network with --net"),
        ("pairs gain @a.vf --count 64 --out @b.txt --net @a.vf", "a.vf: "),
    ] {
        let error = folder.error(words);
        assert!(error.contains(says), "{error}");
    }
}
