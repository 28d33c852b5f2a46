use super::*;
use crate::stats::rating::EncounterCounts;

/// Collection of these texts, a source each.
fn collection(texts: &[&str]) -> Collection {
    let mut collection = Collection::new(false);
    for text in texts {
        collection.add_pgn(text.as_bytes()).expect("memory can be read");
    }
    collection
}

/// Checks games written as `White Black result round fen` (`_` for nothing). Expected are the pairs
/// and single games of the first player.
fn check(games: &[&str], legs: &[(usize, usize)], white: [u64; 3], black: [u64; 3]) {
    let mut text = String::new();
    for game in games {
        let words: Vec<&str> = game.split(' ').map(|word| word.trim_matches('_')).collect();
        let [white, black, result, round, fen] = words[..] else { panic!("{game}") };
        for (tag, value) in [("Round", round), ("White", white), ("Black", black), ("Result", result), ("FEN", fen)] {
            if !value.is_empty() {
                text += &format!("[{tag} \"{value}\"]\n");
            }
        }
        text += &format!("\n1. e4 {result}\n\n");
    }
    let collection = collection(&[&text]);
    let pools: Vec<_> = collection.pools().collect();
    let [(_, results)] = pools[..] else { panic!("{games:?}") };
    let mut expected = EncounterCounts::new(0, 1);
    for (first, second) in legs {
        expected.legs[*first][*second] += 1;
    }
    let [wins, draws, losses] = white;
    expected.white = crate::stats::Trinomial { wins, draws, losses };
    let [wins, draws, losses] = black;
    expected.black = crate::stats::Trinomial { wins, draws, losses };
    assert_eq!(results.encounters(), [expected], "{games:?}");
    assert_eq!(results.names(), ["A", "B"]);
}

#[test]
fn pairs_are_recognised() {
    let none = [0; 3];
    // One round, or both games of a round, even with another pair between them.
    check(&["A B 1-0 1 f", "B A 1/2-1/2 1 f"], &[(2, 1)], none, none);
    check(&["A B 1-0 1.1 _", "B A 1-0 1.2 _"], &[(2, 0)], none, none);
    check(&["A B 1-0 1.1 f", "B A 1-0 2.2 g", "B A 0-1 1.2 f", "A B 0-1 2.1 g"], &[(2, 2), (0, 0)], none, none);
    // Not the same opening, not the same round, not reversed.
    check(&["A B 1-0 1 f", "B A 1/2-1/2 1 g"], &[], [1, 0, 0], [0, 1, 0]);
    check(&["A B 1-0 1 f", "B A 0-1 2 f"], &[], [1, 0, 0], [1, 0, 0]);
    check(&["A B 1-0 1 f", "A B 0-1 1 f"], &[], [1, 0, 1], none);
    // Without round numbers, neighbours with an opening of their own.
    check(&["A B 1-0 - f", "B A 0-1 - f"], &[(2, 2)], none, none);
    check(&["A B 1-0 ? f", "A B 1-0 ? g", "B A 0-1 ? f"], &[], [2, 0, 0], [1, 0, 0]);
    check(&["A B 1-0 _ _", "B A 0-1 _ _"], &[], [1, 0, 0], [1, 0, 0]);
    check(&["A B 1-0 - f", "A B 0-1 - f", "B A 1-0 - f"], &[(0, 0)], [1, 0, 0], none);
}

#[test]
fn games_without_result_or_names_are_counted_and_left_out() {
    let text = "[White \"A\"]\n[Black \"B\"]\n[Result \"*\"]\n\n*\n\n[White \"A\"]\n[Result \"1-0\"]\n\n1-0\n\n\
                [White \"A\"]\n[Black \"A\"]\n[Result \"1-0\"]\n\n1-0\n";
    let collection = collection(&[text]);
    let skipped = SkippedGames { unfinished: 1, nameless: 1, with_itself: 1, ..SkippedGames::default() };
    assert_eq!((collection.skipped(), collection.skipped().games()), (skipped, 3));
    assert_eq!(collection.pools().count(), 0);
}

/// A game of A and B with these tags and moves; White wins.
fn game(tags: &[(&str, &str)], moves: &str) -> String {
    let own = [("White", "A"), ("Black", "B"), ("Result", "1-0")];
    let tags: String = own.iter().chain(tags).map(|(tag, value)| format!("[{tag} \"{value}\"]\n")).collect();
    format!("{tags}\n{moves} 1-0\n\n")
}

#[test]
fn a_game_counts_once_wherever_it_stands() {
    // Games counted, given again, repeated.
    let check = |texts: &[&str], expected: (u64, u64, u64)| {
        let found = collection(texts);
        let games = found.pools().map(|(_, results)| results.games()).sum::<u64>();
        assert_eq!((games, found.skipped().given_again, found.skipped().repeated), expected, "{texts:?}");
        assert_eq!(found.conditions().values().sum::<u64>(), games);
    };
    let (open, closed) = (game(&[("Round", "1")], "1. e4 e5 2. Nf3"), game(&[("Round", "2")], "1. d4 d5"));
    check(&[&(open.clone() + &closed)], (2, 0, 0));
    check(&[&(open.clone() + &closed), &open, &closed], (2, 2, 0));
    check(&[&(open.clone() + &open)], (1, 0, 1));
    check(&[&open, &(open.clone() + &open)], (1, 2, 0));
    // Round, comments and notation do not identify a game; start and result do.
    let annotated = game(&[("Round", "7")], "1. e2e4 {book} e7e5 $1 2. Ng1f3!");
    check(&[&open, &annotated], (1, 1, 0));
    let elsewhere = game(&[("FEN", "4k3/8/8/8/8/8/8/4K3 w - - 0 1")], "1. e4 e5 2. Nf3");
    let lost = open.replace("1-0", "0-1");
    check(&[&(open.clone() + &elsewhere + &lost)], (3, 0, 0));
    // Without moves only the tags tell: the third of one file is new if another has two.
    let bare = game(&[("Round", "-")], "");
    check(&[&bare.repeat(3)], (3, 0, 0));
    check(&[&bare.repeat(2), &bare.repeat(3)], (3, 2, 0));
    // Under a clock a game may come again, and its tags distinguish it from a copy.
    let draw = |round: &str| game(&[("TimeControl", "8+0.08"), ("Round", round)], "1. e4 e5");
    check(&[&(draw("1") + &draw("2") + &draw("1"))], (2, 0, 1));
    check(&[&(draw("1") + &draw("2")), &(draw("1") + &draw("2")), &draw("3").repeat(2)], (2, 3, 1));
    // Unless no move was played.
    let forfeit = game(&[("PlyCount", "0")], "");
    check(&[&forfeit.repeat(2)], (1, 0, 1));
}

#[test]
fn a_game_is_the_same_in_every_notation() {
    let check = |tags: &[(&str, &str)], notations: &[&str], other: &str| {
        let first = game(tags, notations[0]);
        for moves in notations {
            let found = collection(&[&first, &game(tags, moves)]);
            assert_eq!(found.skipped().given_again, 1, "{moves}");
        }
        assert_eq!(collection(&[&first, &game(tags, other)]).skipped().games(), 0, "{other}");
    };
    check(
        &[("FEN", "7k/4P3/8/8/8/8/8/K7 w - - 0 1")],
        &[
            "1. e8=Q+ Kg7 2. Qe1",
            "1. e8Q+ Kg7 2. Qe1",
            "1. e7e8=Q+ Kh8g7 2. Qe8e1",
            "1. e7-e8Q+ Kh8-g7 2. Qe8-e1",
            "1.e7e8q h8g7 2.e8e1",
        ],
        "1.e7e8r h8g7 2.e8e1",
    );
    check(
        &[("FEN", "r3k2r/7p/8/8/8/8/7p/R3K3 w Qkq - 0 1"), ("Variant", "Chess960")],
        &["1. O-O-O h1=N", "1. O-O-O h2h1=N", "1. O-O-O h2-h1N", "1. e1a1 {king takes rook} h2h1n"],
        "1. e1d1 h2h1n",
    );
}

#[test]
fn conditions_have_results_of_their_own() {
    let at = |tags: &[(&str, &str)], moves: &str| game(tags, moves);
    let text = [
        at(&[("TimeControl", "8+0.08")], "1. e4"),
        at(&[("TimeControl", "8.0+0.08")], "1. d4"),
        at(&[("TimeControl", "-"), ("Limit", "nodes=2000")], "1. c4"),
        at(&[("WhiteTimeControl", "8+0.08"), ("BlackTimeControl", "16+0.16")], "1. f4"),
        at(&[("WhiteTimeControl", "16+0.16"), ("BlackTimeControl", "8+0.08")], "1. g4"),
        at(&[("TimeControl", "8+0.08"), ("Variant", "Chess960")], "1. b4"),
    ]
    .concat();
    let found = collection(&[&text]);
    let conditions: Vec<(&str, u64)> = found.conditions().iter().map(|(name, games)| (name.as_str(), *games)).collect();
    let expected = [("16+0.16 | 8+0.08", 2), ("8+0.08", 2), ("8+0.08 Chess960", 1), ("nodes=2000", 1)];
    assert_eq!(conditions, expected);
    let names = |condition: &str| found.pools().find(|(name, _)| *name == condition).expect("a pool").1.names();
    assert_eq!(names("8+0.08"), ["A", "B"]);
    // With odds, a player of another limit is another player.
    assert_eq!(names("16+0.16 | 8+0.08"), ["A @ 8+0.08", "B @ 16+0.16", "A @ 16+0.16", "B @ 8+0.08"]);
    let mut mixed = Collection::new(true);
    mixed.add_pgn(text.as_bytes()).expect("memory can be read");
    let pools: Vec<_> = mixed.pools().map(|(name, results)| (name.to_owned(), results.games())).collect();
    assert_eq!(pools, [(String::new(), 6)]);
    assert_eq!(mixed.conditions(), found.conditions());
}

#[test]
fn openings_that_are_shared_are_known() {
    let book = |book: &str, moves: &str| game(&[], &format!("{book} {moves}"));
    let text = [
        book("1. e4 {book} e5 {book}", "2. Nf3"),
        book("1. e4 {book} e5 {book}", "2. Nc3"),
        book("1. d4 {book}", "d5"),
        book("", "1. c4"),
        game(&[("FEN", "4k3/8/8/8/8/8/8/4K3 w - - 0 1")], "1. Kd1"),
        game(&[("FEN", "4k3/8/8/8/8/8/8/4K3 w - -")], "1. Kf1"),
    ]
    .concat();
    let found = collection(&[&text]);
    let sizes: Vec<_> =
        found.pools().flat_map(|(_, results)| results.shared_openings()).map(|shared| shared.len()).collect();
    assert_eq!(sizes, [2, 2]);
}

/// Pairs that were finished ahead of another one, or after the verdict.
#[test]
fn pairs_that_the_run_does_not_count_are_left_out() {
    let game = |white, black| RunGame {
        white: PlayerId(white),
        black: PlayerId(black),
        outcome: Outcome::WhiteWins,
        moves: u64::from(white),
        opening: None,
    };
    let pairs = [0, 2].map(|pair| (PairId(pair), [Some(game(0, 1)), Some(game(1, 0))]));
    let limit = Limit::nodes(7);
    let player = |name| RunPlayer { name, key: name, limit, network: "" };
    for (next, counted, left_out) in [(0, 0, 4), (1, 2, 2), (3, 2, 0)] {
        let mut games = RunGames {
            variant: Variant::Standard,
            pairs: BTreeMap::from(pairs),
            halves_from: None,
            next: PairId(0),
            void: 0,
        };
        games.count_before(PairId(next));
        let mut found = Collection::new(false);
        found.add_run(games, &[player("A"), player("B")]);
        let all: u64 = found.conditions().values().sum();
        assert_eq!((all, found.skipped().unpaired), (counted, left_out), "before {next}");
    }
}

#[test]
fn players_of_a_run_are_known_by_their_key() {
    let limit = Limit::nodes(7);
    let run = |keys: [&'static str; 2]| {
        let mut line = GameLine::new(b"");
        ["e2e4", "e7e5"].iter().for_each(|text| line.push(text.as_bytes()));
        let game = |white, black| RunGame {
            white: PlayerId(white),
            black: PlayerId(black),
            outcome: Outcome::WhiteWins,
            moves: line.moves(),
            opening: None,
        };
        let games = RunGames {
            variant: Variant::Standard,
            pairs: BTreeMap::from([(PairId(0), [Some(game(0, 1)), Some(game(1, 0))])]),
            halves_from: None,
            next: PairId(1),
            void: 0,
        };
        let [new, base] = keys;
        (
            games,
            [
                RunPlayer { name: "A", key: new, limit, network: "" },
                RunPlayer { name: "B", key: base, limit, network: "" },
            ],
        )
    };
    let mut found = Collection::new(false);
    // The same names and moves of other versions are new evidence. Then come the first run again
    // and its PGN.
    for (keys, given_again) in [(["c1", "c2"], 0), (["c2", "c3"], 0), (["c1", "c2"], 2)] {
        let (games, players) = run(keys);
        found.add_run(games, &players);
        assert_eq!(found.skipped().given_again, given_again, "{keys:?}");
    }
    found.add_pgn(game(&[], "1. e4 e5").as_bytes()).expect("memory can be read");
    assert_eq!(found.skipped().given_again, 3);
    assert_eq!(found.conditions(), &BTreeMap::from([("nodes=7".to_owned(), 4)]));
}
