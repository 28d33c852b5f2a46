//! Tests of the arguments and files of a comparison; `tests/play.rs` plays its games.

use super::evaluation::{Entrant, Evaluation, distinguish, entrants};
use super::table::lead;
use destrier::nnue::{Kind, Layout, encode, random_payload, sha256_hex};
use std::fs;
use std::path::{Path, PathBuf};

fn network(path: &Path, seed: u64) -> PathBuf {
    let layout = Layout::plain(Kind::Screlu, 32);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a fresh folder");
    fs::write(path, encode(&layout, &random_payload(&layout, seed)).expect("a good layout")).expect("a fresh folder");
    path.to_owned()
}

#[test]
fn networks_are_found_and_named() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    let place = |name: &str| folder.path().join(name);
    let paths = [network(&place("a/net.nnue"), 1), network(&place("b/net.nnue"), 2), network(&place("c.nnue"), 3)];
    // A run's folder selects the network in it.
    let mut players = entrants(&[place("a"), paths[1].clone(), paths[2].clone()]).expect("three networks");
    players.push(Entrant::parse("classical").expect("a word"));
    distinguish(&mut players).expect("no two the same");
    let names: Vec<&str> = players.iter().map(|player| player.name.as_str()).collect();
    assert_eq!(names, ["a-net", "b-net", "c", "classical"]);
    assert_eq!(players[0].evaluation, Evaluation::Network(paths[0].clone()));
    assert_eq!(players[3].evaluation.options(), [("EvalMode".to_owned(), "classical".to_owned())]);

    // Names that clash even with the folder's name, and a network with the same name as the base.
    let more =
        [network(&place("x/a/net.nnue"), 5), network(&place("y/a/net.nnue"), 6), network(&place("classical.nnue"), 7)];
    let mut same = entrants(&more).expect("three networks");
    same.push(Entrant::parse("classical").expect("a word"));
    let hash = |place: usize| sha256_hex(&fs::read(&more[place]).expect("written"))[..12].to_owned();
    distinguish(&mut same).expect("no two the same");
    let names: Vec<&str> = same.iter().map(|player| player.name.as_str()).collect();
    assert_eq!(names[..2], [format!("a-net-{}", hash(0)), format!("a-net-{}", hash(1))]);
    assert!(names[2] != "classical" && names[3] == "classical", "{names:?}");

    let kept = players[2].evaluation.clone().kept(&place("nets")).expect("a copy");
    let Evaluation::Network(copy) = &kept else { panic!("{kept}") };
    assert!(copy.is_absolute() && copy.starts_with(place("nets")), "{kept}");
    assert_eq!(kept.sha256(), players[2].evaluation.sha256());
    network(&paths[2], 4);
    assert_ne!(players[2].evaluation.clone().kept(&place("nets")).expect("another copy"), kept);
}

#[test]
fn a_lead_is_said_with_what_would_tell_more() {
    assert_eq!(lead("b", 0.95), "stronger than b with 95.0 %");
    let says = "but b is not significantly weaker (94.0 %): play more --pairs with another --out";
    assert_eq!(lead("b", 0.94), says);
}

#[test]
fn what_is_no_network_is_named_with_a_remedy() {
    let folder = tempfile::tempdir().expect("a fresh folder");
    let place = |name: &str| folder.path().join(name);
    let check = |path: PathBuf, says: &str| {
        let error = Evaluation::network(&path).expect_err(says).to_string();
        assert!(error.contains(says) && error.starts_with(&folder.path().display().to_string()), "{error}");
    };
    fs::create_dir(place("empty")).expect("a fresh folder");
    check(place("empty"), "destrier-trainer export");
    check(place("nothing.nnue"), "cannot be read");
    fs::write(place("text.nnue"), "hello").expect("a fresh folder");
    check(place("text.nnue"), "give a network that Destrier loads");
    network(&place("two/a.nnue"), 1);
    network(&place("two/b.nnue"), 2);
    check(place("two"), "several networks, a.nnue and b.nnue");
    network(&place("two/c.nnue"), 1);
    let mut players = entrants(&[place("two/a.nnue"), place("two/b.nnue"), place("two/c.nnue")]).expect("networks");
    let error = distinguish(&mut players).expect_err("two are the same").to_string();
    assert!(error.contains("a.nnue and") && error.contains("c.nnue are the same network"), "{error}");
}
