//! Shuffling, interleaving, splitting and deduplication.

use super::{Folder, lines};
use std::collections::BTreeSet;

fn sorted(bytes: &[u8], record: usize) -> Vec<Vec<u8>> {
    let mut records: Vec<_> = bytes.chunks(record).map(<[u8]>::to_vec).collect();
    records.sort();
    records
}

#[test]
fn shuffling_permutes_and_obeys_the_seed_alone() {
    let folder = Folder::new();
    folder.write_games("a.vf", 7, 700);
    folder.run("convert @a.vf --out @a.bf");
    let plain = folder.read("a.bf");
    // With their keys, the records exceed the memory limit of 1 MiB.
    assert!(plain.len() > 500_000);
    folder.run("shuffle @a.bf --out @large.bf");
    folder.run("shuffle @a.bf --out @small.bf --memory 1");
    folder.run("shuffle @a.vf --out @games.bf");
    folder.run("shuffle @a.bf --out @other.bf --seed 2");
    let large = folder.read("large.bf");
    assert!(large != plain && sorted(&large, 32) == sorted(&plain, 32));
    assert!(large == folder.read("small.bf"));
    assert!(large == folder.read("games.bf"), "it does not matter where positions come from");
    assert!(large != folder.read("other.bf"));
    folder.run("shuffle @a.vf --out @b.vf");
    folder.run("convert @b.vf --out @b.bf");
    assert!(folder.read("b.vf").len() == folder.read("a.vf").len());
    assert!(sorted(&folder.read("b.bf"), 32) == sorted(&plain, 32));
}

#[test]
fn interleaving_keeps_each_files_order() {
    let folder = Folder::new();
    folder.write_games("a.vf", 8, 300);
    folder.write_games("b.vf", 9, 300);
    for name in ["a", "b"] {
        folder.run(&format!("convert @{name}.vf --out @{name}.txt"));
    }
    folder.run("interleave @a.txt @b.txt --out @c.txt");
    folder.run("interleave @a.txt @b.txt --out @d.txt");
    assert!(folder.read("c.txt") == folder.read("d.txt"));
    let mixed = lines(&folder.path("c.txt"));
    let (mut a, mut b) = (lines(&folder.path("a.txt")).into_iter(), lines(&folder.path("b.txt")).into_iter());
    let (mut next_a, mut next_b) = (a.next(), b.next());
    let mut switches = 0;
    let mut last = 0;
    for line in &mixed {
        let from = if next_a.as_ref() == Some(line) {
            next_a = a.next();
            1
        } else {
            assert_eq!(next_b.as_ref(), Some(line));
            next_b = b.next();
            2
        };
        switches += u32::from(from != last);
        last = from;
    }
    assert!(next_a.is_none() && next_b.is_none());
    assert!(switches > 100, "{switches}");
}

/// Files smaller than a read buffer, plain and compressed, are mixed evenly, too.
#[test]
fn interleaving_spreads_a_small_file_over_a_larger_one() {
    let folder = Folder::new();
    folder.write_games("a.vf", 31, 40);
    folder.write_games("b.vf", 32, 400);
    folder.run("convert @a.vf --out @a.bf");
    folder.run("convert @b.vf --out @b.bf");
    for name in ["a", "b"] {
        let (bytes, level) = (folder.read(&format!("{name}.bf")), ruzstd::encoding::CompressionLevel::Fastest);
        folder.write(&format!("{name}.zst"), ruzstd::encoding::compress_to_vec(&bytes[..], level));
    }
    let small: BTreeSet<Vec<u8>> = folder.read("a.bf").chunks(32).map(<[u8]>::to_vec).collect();
    for (words, out) in [
        ("interleave @a.bf @b.bf --from bulletformat --out @c.bf", "c.bf"),
        ("interleave @b.zst @a.zst --from bulletformat --out @d.bf", "d.bf"),
    ] {
        folder.run(words);
        let mixed = folder.read(out);
        let records: Vec<&[u8]> = mixed.chunks(32).collect();
        let quarters: Vec<usize> = records
            .chunks(records.len().div_ceil(4))
            .map(|quarter| quarter.iter().filter(|record| small.contains(**record)).count())
            .collect();
        let whole: usize = quarters.iter().sum();
        assert!(quarters.iter().all(|&count| (whole / 16..=whole / 2).contains(&count)), "{words}: {quarters:?}");
    }
}

#[test]
fn duplicates_go_and_the_first_stays() {
    let folder = Folder::new();
    folder.write_games("a.vf", 10, 60);
    folder.run("convert @a.vf --out @a.txt");
    folder.run("convert @a.vf --out @a.bf");
    for memory in ["", " --memory 1"] {
        folder.run(&format!("dedup @a.txt @a.txt --out @b.txt --force{memory}"));
        let mut seen = BTreeSet::new();
        // The key excludes the clocks.
        let key = |line: &str| line.split(' ').take(4).collect::<Vec<_>>().join(" ");
        let expected: Vec<_> = lines(&folder.path("a.txt")).into_iter().filter(|line| seen.insert(key(line))).collect();
        assert!(lines(&folder.path("b.txt")) == expected);
        assert!(expected.len() < lines(&folder.path("a.txt")).len(), "random games begin alike");
    }
    folder.run("dedup @a.bf --out @b.bf");
    let mut seen = BTreeSet::new();
    let expected: Vec<_> =
        folder.read("a.bf").chunks(32).filter(|r| seen.insert(r[..24].to_vec())).collect::<Vec<_>>().concat();
    assert!(folder.read("b.bf") == expected);
    // Deduplication of whole games.
    folder.write_games("c.vf", 11, 4);
    folder.run("dedup @a.vf @c.vf @a.vf @c.vf --out @d.vf");
    assert!(folder.read("d.vf") == [folder.read("a.vf"), folder.read("c.vf")].concat());
}

#[test]
fn games_are_parted_whole() {
    let folder = Folder::new();
    folder.write_games("a.vf", 12, 400);
    folder.run("split @a.vf --out @t.vf --validation @v.vf --share 0.25");
    for name in ["a", "t", "v"] {
        folder.run(&format!("convert @{name}.vf --out @{name}.selfplay"));
    }
    let games = |name: &str| lines(&folder.path(&format!("{name}.selfplay")));
    let (all, train, valid) = (games("a"), games("t"), games("v"));
    assert!((60..140).contains(&valid.len()), "{}", valid.len());
    let valid_set: BTreeSet<_> = valid.iter().collect();
    let expected: Vec<_> = all.iter().filter(|game| !valid_set.contains(game)).collect();
    assert!(train.iter().collect::<Vec<_>>() == expected);
    folder.run("split @a.vf --out @t2.vf --validation @v2.vf --share 0.25");
    assert!(folder.read("t2.vf") == folder.read("t.vf"));
}

#[test]
fn no_game_is_parted_of_which_plies_are_missing() {
    let folder = Folder::new();
    let positions = folder.write_torn_games();
    assert_eq!(positions, 140);
    folder.run("split @whole.plain --out @t.plain --validation @v.plain --share 0.5");
    assert_eq!(lines(&folder.path("t.plain")).len() + lines(&folder.path("v.plain")).len(), 6 * positions);
    folder.run("shuffle @whole.plain --out @mixed.plain");
    folder.run("convert @torn.plain --out @torn.vf");
    folder.run("convert @torn.plain --out @torn.selfplay");
    let mut files = vec!["torn.plain", "mixed.plain", "torn.vf", "torn.selfplay"];
    if cfg!(feature = "binpack") {
        folder.run("convert @torn.plain --out @torn.binpack");
        files.push("torn.binpack");
    }
    for name in files {
        let error = folder.error(&format!("split @{name} --out @x.bf --validation @y.bf"));
        assert!(error.starts_with(&format!("{name}: game ")) && error.contains("games that are not whole"), "{error}");
        assert!(error.contains("--by-position"), "{error}");
        assert!(!folder.path("x.bf").exists() && !folder.path("y.bf.partial").exists());
        folder.run(&format!("split @{name} --out @x.bf --validation @y.bf --by-position"));
        std::fs::remove_file(folder.path("x.bf")).unwrap();
        std::fs::remove_file(folder.path("y.bf")).unwrap();
    }
    // Single positions in viriformat are not games either.
    folder.run("convert @whole.plain --out @a.txt");
    folder.run("convert @a.txt --out @b.vf");
    let error = folder.error("split @b.vf --out @x.vf --validation @y.vf");
    assert!(error.contains("does not say which game a position is of"), "{error}");
}
