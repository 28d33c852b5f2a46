//! Conversions between formats and back, filters, and invalid files.

use super::{Folder, lines};
use destrier::types::SplitMix64;
use std::io::Read;

#[test]
fn formats_with_games_give_the_games_back() {
    let folder = Folder::new();
    folder.write_games("a.vf", 2, 25);
    let names: &[&str] =
        if cfg!(feature = "binpack") { &["plain", "selfplay", "binpack"] } else { &["plain", "selfplay"] };
    for name in names {
        folder.run(&format!("convert @a.vf --out @b.{name}"));
        folder.run(&format!("convert @b.{name} --out @{name}.vf"));
        assert!(folder.read(&format!("{name}.vf")) == folder.read("a.vf"), "{name}");
    }
}

/// Chess960 games with rooks and kings on nonstandard squares: castling by both sides, moves that
/// resemble it, and one side of each kind.
const CHESS960: &str = "\
1rkr4/p2p1p1p/8/8/8/8/P2P1P1P/1RKR4 w KQkq - 0 20;c1d1:5 c8d8:-3 a2a3:- a7a6:4;0.5
1rkr4/p2p1p1p/8/8/8/8/P2P1P1P/1RKR4 w KQkq - 0 20;c1c2:5 c8c7:-3 a2a3:1 a7a6:4;1.0
4k1r1/p4ppp/8/8/8/8/P6P/R3K2R w KQk - 0 20;e1h1:5 e8g8:-3;0.0
";

#[test]
fn chess960_castles_by_king_takes_rook() {
    let folder = Folder::new();
    folder.write("a.selfplay", CHESS960);
    folder.run("convert @a.selfplay --out @a.vf");
    folder.run("convert @a.vf --out @b.selfplay");
    assert_eq!(folder.text("b.selfplay"), CHESS960);
    // Every position needs a score in `.plain`.
    folder.write("d.selfplay", CHESS960.replace(":-", ":7"));
    folder.run("convert @d.selfplay --out @d.vf");
    folder.run("convert @d.vf --out @d.plain");
    folder.run("convert @d.plain --out @e.vf");
    assert!(folder.read("e.vf") == folder.read("d.vf"));
    // In standard chess, castling is written as the king's move and read in both notations.
    let standard = |word: &str| format!("r3k2r/p6p/8/8/8/8/P6P/R3K2R w KQkq - 0 20;{word}:5 e8c8:1;0.5\n");
    for word in ["e1g1", "e1h1"] {
        folder.write("s.selfplay", standard(word));
        folder.run("convert @s.selfplay --out @s2.selfplay --force");
        assert_eq!(folder.text("s2.selfplay"), standard("e1g1"));
    }
}

#[cfg(feature = "binpack")]
#[test]
fn binpack_has_no_room_for_chess960() {
    let folder = Folder::new();
    folder.write("a.selfplay", CHESS960);
    let error = folder.error("convert @a.selfplay --out @a.binpack");
    assert!(error.contains("binpack does not say from where kings and rooks of Chess960 may castle"), "{error}");
    assert!(error.contains("write viriformat, plain or self-play"), "{error}");
    assert!(!folder.path("a.binpack").exists() && !folder.path("a.binpack.partial").exists());
    // Without castling rights, the position is standard chess.
    folder.write("b.selfplay", CHESS960.lines().nth(1).unwrap().replace("KQkq", "-"));
    folder.run("convert @b.selfplay --out @b.binpack");
    folder.run("convert @b.selfplay --out @b.vf");
    folder.run("convert @b.binpack --out @c.vf");
    assert!(folder.read("b.vf") == folder.read("c.vf"));
}

#[test]
fn packed_files_are_written_by_their_name() {
    let folder = Folder::new();
    folder.write_games("a.vf", 14, 20);
    let names: &[&str] =
        if cfg!(feature = "binpack") { &["vf", "bf", "txt", "plain", "binpack"] } else { &["vf", "txt"] };
    for name in names {
        folder.run(&format!("convert @a.vf --out @b.{name}"));
        folder.run(&format!("convert @a.vf --out @b.{name}.zst"));
        let packed = folder.read(&format!("b.{name}.zst"));
        assert!(packed.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]), "{name}");
        let mut whole = Vec::new();
        ruzstd::decoding::StreamingDecoder::new(&packed[..]).unwrap().read_to_end(&mut whole).unwrap();
        assert!(whole == folder.read(&format!("b.{name}")), "{name}");
    }
    let engine = "--engine @missing --depth 1";
    let error = folder.error(&format!("rescore @a.vf --out @c.vf.zst {engine}"));
    assert!(error.contains("a packed file cannot be continued; leave `.zst` away"), "{error}");
}

#[cfg(feature = "binpack")]
#[test]
fn a_halfmove_clock_beyond_a_byte_is_cut_in_binpack() {
    let folder = Folder::new();
    folder.write("a.selfplay", "4k3/8/8/8/8/8/R7/4K3 w - - 300 200;a2a3:5;1.0\n");
    folder.run("convert @a.selfplay --out @a.binpack");
    folder.run("convert @a.binpack --out @a.plain");
    assert!(folder.text("a.plain").contains("4k3/8/8/8/8/8/R7/4K3 w - - 255 "), "{}", folder.text("a.plain"));
}

#[test]
fn texts_are_told_apart_by_their_first_line_with_words() {
    let folder = Folder::new();
    folder.write("a.txt", "\n \n4k3/8/8/8/8/8/R7/4K3 w - - 0 1;a2a3:5;1.0\n");
    folder.run("convert @a.txt --out @a.vf");
    folder.write("b.txt", "\n4k3/8/8/8/8/8/R7/4K3 w - - 0 1 | 5 | 1.0\n");
    folder.run("convert @b.txt --out @b.vf");
}

#[test]
fn formats_with_positions_give_the_positions_back() {
    let folder = Folder::new();
    folder.write_games("a.vf", 3, 25);
    folder.run("convert @a.vf --out @a.txt");
    folder.run("convert @a.vf --out @a.bf");
    // Single positions keep their scores in viriformat.
    for (from, to, back) in [("a.txt", "b.vf", "b.txt"), ("a.bf", "c.vf", "c.bf"), ("a.bf", "d.txt", "d.bf")] {
        folder.run(&format!("convert @{from} --out @{to}"));
        folder.run(&format!("convert @{to} --out @{back}"));
        assert!(folder.read(back) == folder.read(from), "{from} {to}");
    }
    // Conversion through plain, whose score is the side to move's.
    folder.run("convert @a.vf --out @e.plain");
    folder.run("convert @e.plain --out @e.txt");
    assert!(folder.read("e.txt") == folder.read("a.txt"));
}

#[test]
fn packed_files_are_read() {
    let folder = Folder::new();
    folder.write_games("a.vf", 4, 5);
    folder.run("convert @a.vf --out @a.txt --to self-play");
    let packed = |bytes: &[u8]| ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest);
    let text = folder.read("a.txt");
    let (front, back) = text.split_at(text.len() / 2);
    folder.write("b.txt.zst", [packed(front), packed(back)].concat());
    folder.run("import @b.txt.zst --out @b.vf");
    assert!(folder.read("b.vf") == folder.read("a.vf"));
    // A damaged byte that still unpacks does not fit the checksum.
    let whole = packed(&text);
    let mut refused = 0;
    for place in (20..whole.len()).step_by(whole.len() / 40) {
        let mut damaged = whole.clone();
        damaged[place] ^= 1;
        folder.write("d.txt.zst", &damaged);
        let error = folder.error("import @d.txt.zst --out @d.vf");
        refused += u32::from(error.contains("damaged zstd: its checksum does not fit its content"));
    }
    assert!(refused > 0);
    let torn = packed(&text);
    folder.write("c.txt.zst", &torn[..torn.len() - 20]);
    let error = folder.error("import @c.txt.zst --out @c.vf");
    assert!(error.starts_with("c.txt.zst: cannot read it: ") && error.contains("zstd"), "{error}");
    assert!(error.len() < 120, "{error}");
}

const MIXED: &str = "\
fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 9\nmove e1g1\nscore 30\nply 16\nresult 1\ne
fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 8\nmove e1g1\nscore 31\nply 14\nresult 1\ne
fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 9\nmove e5f7\nscore 32\nply 16\nresult 1\ne
fen 4k3/8/8/8/8/8/4r3/4K3 w - - 0 60\nmove e1e2\nscore 33\nply 118\nresult 0\ne
fen 4k3/8/8/8/8/4r3/8/4K3 w - - 0 60\nmove e1d2\nscore 34\nply 118\nresult 0\ne
fen 8/4P3/8/8/8/1k6/8/4K3 w - - 0 60\nmove e7e8q\nscore 35\nply 118\nresult 1\ne
fen 8/4P3/8/8/8/1k6/8/4K3 w - - 0 60\nmove e1e2\nscore 10001\nply 118\nresult 1\ne
fen 8/4P3/8/8/8/1k6/8/4K3 b - - 0 60\nmove b3b2\nscore -10000\nply 119\nresult -1\ne
";

/// Stockfish's 32002 means that there is no score, and formats of positions leave these out.
#[test]
fn a_plain_position_may_have_no_score() {
    let folder = Folder::new();
    let unscored = MIXED.replace("score -10000", "score 32002").replace("score 35", "score 32002");
    folder.write("a.plain", unscored);
    folder.run("convert @a.plain --out @b.txt");
    let kept = std::fs::read_to_string(folder.path("b.txt")).unwrap();
    assert_eq!(kept.lines().count() + 2, MIXED.matches("score").count(), "{kept}");
    assert!(!kept.contains("32002") && !kept.contains("32767"), "{kept}");
}

#[test]
fn filters_keep_what_they_say() {
    let folder = Folder::new();
    folder.write("a.plain", MIXED);
    let kept = |words: &str| -> Vec<i32> {
        folder.run(&format!("filter @a.plain --out @b.txt --force{words}"));
        lines(&folder.path("b.txt")).iter().map(|line| line.split(" | ").nth(1).unwrap().parse().unwrap()).collect()
    };
    assert_eq!(kept(""), [30, 10000]);
    assert_eq!(kept(" --min-ply 0"), [30, 31, 10000]);
    assert_eq!(kept(" --keep-captures"), [30, 32, 35, 10000]);
    assert_eq!(kept(" --keep-checks"), [30, 34, 10000]);
    assert_eq!(kept(" --keep-checks --keep-captures --min-pieces 4"), [30, 32]);
    assert_eq!(kept(" --max-score 32767"), [30, 10001, 10000]);
    assert_eq!(kept(" --max-score 20 --min-ply 0"), [] as [i32; 0]);
}

#[test]
fn errors_name_the_place_and_the_remedy() {
    let folder = Folder::new();
    folder.write_games("a.vf", 5, 3);
    let good = folder.read("a.vf");
    folder.write("torn.vf", &good[..good.len() - 1]);
    folder.write("zero.bf", [0; 64]);
    folder.write("torn.bf", [1; 40]);
    folder.write("bad.txt", "8/8/8/8/8/8/8/K1k5 w - - 0 1 | 3 | 1.0\n\nrubbish\n");
    folder.write("score.txt", "8/8/8/8/8/8/8/K1k5 w - - 0 1 | x | 1.0\n");
    folder.write("bad.plain", "fen 8/8/8/8/8/8/8/K1k5 w - - 0 1\nmove a1a5\nscore 1\nresult 0\ne\n");
    folder.write("game.txt", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1;e2e4:20 e2e4:5;0.5\n");
    folder.write("x.unknown", "");
    std::fs::create_dir(folder.path("empty")).unwrap();
    let binpack = if cfg!(feature = "binpack") {
        "a.binpack: binpack is written by `convert` and `import` alone; write .plain or .vf here"
    } else {
        "a.binpack: this build cannot read or write binpack"
    };
    for (words, expected) in [
        ("shuffle @a.vf --out @a.binpack", binpack),
        ("check @torn.vf", "ends within a game; cut it to"),
        ("check @zero.bf", "zero.bf: offset 0: fen: white must have one king; is this a bulletformat file?"),
        ("check @bad.txt", "bad.txt: line 3: bad line `rubbish`, expected `FEN | centipawns | result`"),
        ("check @score.txt", "score.txt: line 1: bad score `x`, expected centipawns"),
        ("check @bad.plain", "bad.plain: line 5: bad move `a1a5`, expected a legal one"),
        ("check @game.txt", "game.txt: line 1: bad move `e2e4`, expected a legal one"),
        ("check @x.unknown", "x.unknown: no format goes by this name; give `--from` one of"),
        ("check @missing.vf", "missing.vf: cannot read it: No such file or directory"),
        ("check @empty", "empty: a folder without `games.jsonl`; give the folder of a run of Quintain, or a file"),
        ("convert @a.vf --out @torn.vf", "torn.vf: already exists; give `--force` to replace it"),
        ("convert @a.vf --out @a.pgn", "a.pgn: pgn can be read, not written; write viriformat"),
        (
            "filter @a.vf --out @b.vf",
            "b.vf: a filter does not write viriformat; it would tear games: filter into bulletformat",
        ),
        ("filter @zero.bf --out @b.txt", "zero.bf: bulletformat does not say at which ply a position is; give"),
        ("split @bad.txt --out @b.txt --validation @c.txt", "does not say which game a position is of"),
        ("import @bad.txt --out @b.vf", "bad.txt: text does not say which game a position is of; use `convert`"),
    ] {
        let error = folder.error(words);
        assert!(error.contains(expected), "{words}: {error}");
        assert!(!error.contains('\n'), "{error}");
        assert!(error.matches("No such file").count() < 2, "{error}");
    }
    let formats = folder.error("check @x.unknown");
    assert_eq!(formats.contains("binpack"), cfg!(feature = "binpack"), "{formats}");
    assert!(folder.error("check @torn.bf").starts_with("torn.bf: offset 0: "));
    assert!(!folder.path("b.txt").exists());
}

#[test]
fn hostile_files_are_errors() {
    let folder = Folder::new();
    folder.write_games("a.vf", 6, 6);
    let mut random = SplitMix64::from_seeds(&[3]);
    let names: &[&str] = if cfg!(feature = "binpack") {
        &["vf", "bf", "txt", "plain", "selfplay", "binpack"]
    } else {
        &["vf", "bf", "txt", "plain", "selfplay"]
    };
    for name in names {
        folder.run(&format!("convert @a.vf --out @b.{name} --force"));
        let good = folder.read(&format!("b.{name}"));
        let mut failures = 0;
        for _ in 0..60 {
            let mut bytes = good.clone();
            for _ in 0..1 + random.below(4) {
                let place = random.below(bytes.len());
                bytes[place] = random.next_u64() as u8;
            }
            bytes.truncate(bytes.len() - random.below(3) * random.below(200));
            folder.write(&format!("c.{name}"), bytes);
            failures += u32::from(folder.try_run(&format!("check @c.{name}")).is_err());
        }
        assert!(failures > 0, "{name}");
    }
}

#[test]
fn info_counts_and_draws() {
    let folder = Folder::new();
    folder.write("a.plain", MIXED);
    folder.run("info @a.plain --distinct --plots @plots --memory 1");
    for name in ["scores", "phases", "pieces", "results"] {
        let svg = folder.text(&format!("plots/{name}.svg"));
        assert!(svg.starts_with("<svg") && svg.contains("a.plain"), "{name}");
    }
}

#[test]
fn the_ply_of_plain_counts() {
    let folder = Folder::new();
    let record = |turn: char, number: u32, mv: &str, ply: &str| {
        format!("fen 4k3/8/8/8/8/8/4P3/4K3 {turn} - - 0 {number}\nmove {mv}\nscore 7\nply {ply}\nresult 0\ne\n")
    };
    // Some tools end every FEN with `0 1`.
    folder.write("a.plain", record('w', 1, "e2e3", "40") + &record('b', 1, "e8e7", "41"));
    folder.run("filter @a.plain --out @a.txt");
    assert_eq!(
        folder.text("a.txt"),
        "4k3/8/8/8/8/8/4P3/4K3 w - - 0 21 | 7 | 0.5\n4k3/8/8/8/8/8/4P3/4K3 b - - 0 21 | -7 | 0.5\n"
    );
    folder.run("convert @a.plain --out @b.plain");
    assert_eq!(folder.text("b.plain"), record('w', 21, "e2e3", "40") + &record('b', 21, "e8e7", "41"));
    for (turn, mv, ply, expected) in [
        ('w', "e2e3", "x", "bad ply `x`, expected plies from the start of the game"),
        ('w', "e2e3", "-1", "bad ply `-1`, expected plies from the start of the game"),
        ('w', "e2e3", "41", "bad ply `41`, expected an even one, for White is to move"),
        ('b', "e8e7", "40", "bad ply `40`, expected an odd one, for Black is to move"),
        ('w', "e2e3", "20000", "bad ply `20000`, expected at most 19997"),
    ] {
        folder.write("c.plain", record('w', 1, "e2e3", "0") + &record(turn, 1, mv, ply));
        assert_eq!(folder.error("check @c.plain"), format!("c.plain: line 10: {expected}"));
    }
}

#[test]
fn a_byte_order_mark_is_no_text() {
    let folder = Folder::new();
    folder.write_games("a.vf", 25, 3);
    for name in ["txt", "selfplay", "plain"] {
        folder.run(&format!("convert @a.vf --out @a.{name}"));
        let text = folder.text(&format!("a.{name}"));
        folder.write(&format!("b.{name}"), format!("\u{feff}{text}"));
        folder.run(&format!("convert @b.{name} --out @c.{name}"));
        assert_eq!(folder.text(&format!("c.{name}")), text);
        // A byte order mark is valid only at the start of a file.
        folder.write(&format!("d.{name}"), format!("{text}\u{feff}{text}"));
        assert!(folder.error(&format!("check @d.{name}")).starts_with(&format!("d.{name}: line ")));
    }
}

#[test]
fn a_position_without_a_move_is_not_quiet() {
    let folder = Folder::new();
    folder.write("a.txt", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 21 | 7 | 0.5\n");
    folder.run("convert @a.txt --out @a.vf");
    let error = folder.error("filter @a.txt --out @b.txt");
    assert!(error.contains("text does not say which move was played; give `--keep-captures`"), "{error}");
    let told = folder.told("filter @a.vf --out @b.txt");
    let expected = "1 positions left out, 1 of them because no move is known (`--keep-captures` keeps them)";
    assert!(told.starts_with("0 records, 0 positions") && told.contains(expected), "{told}");
    for input in ["a.txt", "a.vf"] {
        folder.run(&format!("filter @{input} --out @c.txt --keep-captures --force"));
        assert_eq!(folder.text("c.txt"), folder.text("a.txt"));
    }
}

#[cfg(feature = "binpack")]
#[test]
fn a_filter_names_its_way_into_binpack() {
    let folder = Folder::new();
    folder.write_games("a.vf", 24, 5);
    let error = folder.error("filter @a.vf --out @b.binpack");
    assert_eq!(error, "b.binpack: a filter does not write binpack; filter into `.plain`, and `convert` that");
    folder.run("filter @a.vf --out @b.plain --min-ply 0");
    folder.run("convert @b.plain --out @b.binpack");
    folder.run("convert @b.binpack --out @c.plain");
    assert_eq!(folder.text("c.plain"), folder.text("b.plain"));
}
