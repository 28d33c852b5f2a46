//! Files of the trainer, read by the crates that define the formats.

use super::{Folder, random_game};
use bulletformat::{BulletFormat, ChessBoard};
use destrier::datagen::viriformat::{GameResult, Reader};
use std::fs::File;
use std::io::BufWriter;
use std::str::FromStr;
use viriformat::dataformat::Game;

#[test]
fn viriformat_is_what_its_crate_reads_and_writes() {
    for seed in 0..40 {
        let ours = random_game(seed);
        let mut bytes = Vec::new();
        ours.write(&mut bytes);
        let theirs = Game::deserialise_from(&mut &bytes[..], Vec::new()).unwrap();
        assert_eq!(theirs.len(), ours.plies.len());
        let mut written = Vec::new();
        theirs.serialise_into(&mut written).unwrap();
        assert_eq!(written, bytes, "game {seed}");
        let mut positions = ours.positions();
        theirs.visit_positions(|board, score| {
            let (own, ply) = positions.next().unwrap();
            assert_eq!(score, i32::from(ply.score));
            let placement = |fen: &str| fen.split(' ').next().unwrap().to_owned();
            assert_eq!(placement(&board.to_string()), placement(&own.to_fen(false)));
        });
        let again = Reader::new(&written[..]).next_game().unwrap().unwrap();
        assert_eq!(again, ours);
    }
}

#[test]
fn bulletformat_is_what_its_crate_makes_of_our_text() {
    let folder = Folder::new();
    folder.write_games("a.vf", 1, 30);
    folder.run("convert @a.vf --out @a.txt");
    folder.run("convert @a.vf --out @a.bf");
    folder.run("convert @a.txt --out @b.bf");
    let bytes = folder.read("a.bf");
    assert_eq!(bytes, folder.read("b.bf"));
    let text = folder.text("a.txt");
    assert_eq!(text.lines().count() * 32, bytes.len());
    let theirs: Vec<_> = text.lines().map(|line| ChessBoard::from_str(line).unwrap()).collect();
    let mut file = BufWriter::new(File::create(folder.path("theirs.bf")).unwrap());
    ChessBoard::write_to_bin(&mut file, &theirs).unwrap();
    drop(file);
    assert!(folder.read("theirs.bf") == bytes);
}

#[test]
fn results_have_their_codes() {
    for (result, code) in [(GameResult::WhiteWins, 2), (GameResult::Draw, 1), (GameResult::BlackWins, 0)] {
        assert_eq!(result.half_points(), code);
        assert_eq!(GameResult::from_half_points(code), Some(result));
    }
    assert_eq!(GameResult::from_half_points(3), None);
}
