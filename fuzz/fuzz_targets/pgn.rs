//! The PGN writer: what it writes of a random game, the book's reader reads back.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use quintain::chess::{Position, START_FEN, Variant};
use quintain::openings::{Book, BookFileFormat, BookOptions};
use quintain::record::{
    ByColor, Ending, EngineId, GameId, GameRecord, MoveRecord, Opening, Outcome, PlayerId, RecordedOutput, Score,
    SearchInfo, Termination,
};
use quintain::report::pgn::{Fields, Layout, PgnMeta, PgnOptions, game_as};

const CHESS960: &str = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9";

fuzz_target!(|input: (bool, u8, String, String, Vec<(u8, i32, Option<u32>, Option<u64>, u32)>)| {
    let (chess960, book_plies, name, detail, plies) = input;
    let said = RecordedOutput { pv: detail.clone(), lines: vec![name.clone()] };
    let (fen, variant) = if chess960 { (CHESS960, Variant::Chess960) } else { (START_FEN, Variant::Standard) };
    let mut position = Position::from_fen(fen, variant).expect("a good start");
    let mut moves = Vec::new();
    for (pick, score, depth, nodes, elapsed) in plies {
        let legal = position.legal_moves();
        let uci = legal[usize::from(pick) % legal.len()].clone();
        let mut after = position.clone();
        after.play(&uci).expect("legal");
        if after.over().is_some() {
            break;
        }
        position = after;
        let score = if score % 3 == 0 { Score::Mate(score) } else { Score::Cp(score) };
        let info = SearchInfo { score: Some(score), depth, nodes, ..SearchInfo::default() };
        moves.push(MoveRecord {
            uci,
            elapsed: Duration::from_micros(elapsed.into()),
            left: None,
            info,
            waited: None,
            said: said.clone(),
        });
    }
    if moves.is_empty() {
        return;
    }
    let expected: Vec<_> = moves.iter().map(|played| played.uci.clone()).collect();
    let played = moves.split_off(usize::from(book_plies).min(moves.len()));
    let book = moves.into_iter().map(|played| played.uci).collect();
    let record = GameRecord {
        id: GameId::from_number(1).expect("the first"),
        players: ByColor { white: PlayerId::NEW, black: PlayerId::BASE },
        engines: ByColor { white: EngineId { name: name.clone(), author: detail.clone() }, black: EngineId::default() },
        opening: Opening { index: 0, fen: fen.to_owned(), moves: book },
        moves: played,
        ending: Ending { outcome: Outcome::Draw, termination: Termination::DrawAdjudication, detail },
        started: Duration::from_secs(1),
        took: Duration::from_secs(2),
        overstep: None,
        is_void: false,
        values: None,
        worker: None,
        scale: None,
    };
    let limit = "8+0.08".parse().expect("a limit");
    let meta = PgnMeta {
        event: &name,
        site: &name,
        names: ByColor { white: &name, black: "base" },
        limits: ByColor { white: limit, black: limit },
        variant,
        number: None,
    };
    let as_options = PgnOptions {
        fields: Fields::ALL,
        engine_tags: true,
        layout: if name.is_ascii() { Layout::Export } else { Layout::Runner },
        ..PgnOptions::default()
    };
    let text = game_as(&record, &meta, &as_options, None).expect("a good record");
    let options = BookOptions { format: Some(BookFileFormat::Pgn), variant, plies: None };
    let read =
        Book::from_bytes("own", text.clone().into_bytes(), &options).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(read.len(), 1, "{text}");
    let opening = read.opening(0).expect("readable").expect("one game");
    assert_eq!((opening.fen.as_str(), opening.moves), (fen, expected), "{text}");
});
