use super::lines::{self, EngineHeading};
use super::*;
use crate::record::{Ending, Leg, Opening, Outcome};
use crate::stats::clusters::Openings;
use crate::stats::random::SplitMix64;
use crate::stats::sprt::{Bounds, Model};
use crate::stats::{Pentanomial, Trinomial};

/// Tally with these pairs, of which `mixed` are a win and a loss, and the games that make them up.
fn tally(ptnml: [u64; 5], mixed: u64) -> Tally {
    let [ll, ld, even, wd, ww] = ptnml;
    let wdl = Trinomial { wins: 2 * ww + wd + mixed, losses: 2 * ll + ld + mixed, draws: ld + wd + 2 * (even - mixed) };
    // All draws, and a half of the other games rounded up, with White.
    let white = Trinomial { wins: wdl.wins.div_ceil(2), losses: wdl.losses.div_ceil(2), draws: wdl.draws };
    Tally { wdl, white, ptnml: Pentanomial(ptnml), mixed, design_effect: 1.0 }
}

fn given(name: &str, hash: &str, time: &str) -> EngineHeading {
    EngineHeading { name: name.to_owned(), time: time.to_owned(), threads: "1t".to_owned(), hash: hash.to_owned() }
}

#[test]
fn single_games_leave_no_gaps_in_the_numbers() {
    let number_of =
        |pair: u64, leg: Leg, from: Option<u64>| number(GameId { pair: PairId(pair), leg }, from.map(PairId));
    // Three encounters of one game each, and of three.
    assert_eq!([0, 1, 2].map(|pair| number_of(pair, Leg::First, Some(0))), [1, 2, 3]);
    let pairs = (0..3).flat_map(|pair| Leg::BOTH.map(|leg| (pair, leg)));
    let games = pairs.chain((3..6).map(|pair| (pair, Leg::First)));
    let numbers: Vec<u64> = games.map(|(pair, leg)| number_of(pair, leg, Some(3))).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(number_of(5, Leg::Second, None), 12);
}

/// The four lines after the first, as fastchess 1.8.2 prints them for these counts. The sign of a
/// `nan` or a zero differs. So does the error of nElo for skewed results, because ours includes the
/// estimated variance (theirs is 278.00 in the first case).
#[test]
fn blocks_have_the_figures_of_fastchess() {
    let cases = [
        (
            [2, 0, 1, 0, 0],
            1,
            "Elo: -279.59 +/- nan, nElo: -347.44 +/- 417.00\n\
             LOS: 0.72 %, DrawRatio: 33.33 %, PairsRatio: 0.00\n\
             Games: 6, Wins: 1, Losses: 5, Draws: 0, Points: 1.0 (16.67 %)\n\
             Ptnml(0-2): [2, 0, 1, 0, 0], WL/DD Ratio: inf\n",
        ),
        (
            [1, 0, 1, 0, 0],
            1,
            "Elo: -190.85 +/- nan, nElo: -245.67 +/- 340.48\n\
             LOS: 7.86 %, DrawRatio: 50.00 %, PairsRatio: 0.00\n\
             Games: 4, Wins: 1, Losses: 3, Draws: 0, Points: 1.0 (25.00 %)\n\
             Ptnml(0-2): [1, 0, 1, 0, 0], WL/DD Ratio: inf\n",
        ),
        (
            [1, 0, 0, 2, 0],
            0,
            "Elo: 0.00 +/- 381.84, nElo: 0.00 +/- 278.00\n\
             LOS: 50.00 %, DrawRatio: 0.00 %, PairsRatio: 2.00\n\
             Games: 6, Wins: 2, Losses: 2, Draws: 2, Points: 3.0 (50.00 %)\n\
             Ptnml(0-2): [1, 0, 0, 2, 0], WL/DD Ratio: nan\n",
        ),
        (
            [0; 5],
            0,
            "Elo: nan +/- nan, nElo: nan +/- nan\n\
             LOS: nan %, DrawRatio: nan %, PairsRatio: nan\n\
             Games: 0, Wins: 0, Losses: 0, Draws: 0, Points: 0.0 (nan %)\n\
             Ptnml(0-2): [0, 0, 0, 0, 0], WL/DD Ratio: nan\n",
        ),
    ];
    let (a, b) = (given("A", "16MB", "300 nodes"), given("B", "8MB", "600 nodes"));
    for (ptnml, mixed, expected) in cases {
        let head = "Results of A vs B (300 nodes - 600 nodes, 1t, 16MB - 8MB, b.epd):\n";
        assert_eq!(lines::results(&tally(ptnml, mixed), [&a, &b], "b.epd", true), format!("{head}{expected}"));
    }
    let games = lines::results(&tally([0, 1, 2, 3, 4], 1), [&a, &a], "", false);
    assert!(games.starts_with("Results of A vs A (300 nodes, 1t, 16MB):\n"), "{games}");
    assert!(!games.contains("Ptnml") && !games.contains("PairsRatio"), "{games}");
}

#[test]
fn tests_have_their_lines() {
    let sprt = Sprt::new(Bounds { elo0: 0.0, elo1: 30.0 }, Model::Normalized, 0.05, 0.05).unwrap();
    let cases = [
        (2.99, "LLR: 2.99 (101.5%) (-2.94, 2.94) [0.00, 30.00]\n"),
        (-1.0, "LLR: -1.00 (-34.0%) (-2.94, 2.94) [0.00, 30.00]\n"),
    ];
    for (llr, expected) in cases {
        assert_eq!(lines::llr(&sprt, llr), expected);
    }
    let completed = |verdict| lines::completed(&sprt, verdict);
    assert_eq!(completed(Verdict::AcceptH1).unwrap(), "SPRT ([0.00, 30.00]) completed - H1 was accepted\n");
    assert_eq!(completed(Verdict::AcceptH0).unwrap(), "SPRT ([0.00, 30.00]) completed - H0 was accepted\n");
    assert_eq!(completed(Verdict::Continue), None);
    let sprt_line = |llr, verdict, style| lines::sprt(&sprt, llr, verdict, style);
    let theirs = Style::FastchessCutechess;
    assert_eq!(sprt_line(-1.0, Verdict::Continue, theirs), "SPRT: llr -1.00 (34.0%), lbound -2.94, ubound 2.94\n");
    let line = sprt_line(-1.0, Verdict::Continue, Style::Cutechess);
    assert_eq!(line, "SPRT: llr -1.00 (-34.0%), lbound -2.94, ubound 2.94\n");
    let accepted = sprt_line(3.0, Verdict::AcceptH1, theirs);
    assert_eq!(accepted, "SPRT: llr 3.00 (101.9%), lbound -2.94, ubound 2.94 - H1 was accepted\n");
}

#[test]
fn cutechess_has_its_lines() {
    let tally = tally([1, 0, 1, 0, 2], 1);
    assert_eq!(lines::score_of(&tally, "A", "B"), "Score of A vs B: 5 - 3 - 0  [0.625] 8\n");
    assert_eq!(lines::score_of(&Tally::default(), "A", "B"), "Score of A vs B: 0 - 0 - 0  [nan] 0\n");
    let line = lines::elo_difference(&tally);
    assert!(line.starts_with("Elo difference: 88.74 +/- ") && line.ends_with(" %, DrawRatio: 0.00 %\n"), "{line}");
}

/// The lines of cutechess-cli 1.3.1 for these counts, apart from the errors.
#[test]
fn blocks_of_cutechess_have_results_by_colour() {
    let text = lines::cutechess_results(&tally([1, 0, 1, 0, 2], 1), "A");
    let expected = "...      A playing White: 3 - 2 - 0  [0.600] 5\n\
                    ...      A playing Black: 2 - 1 - 0  [0.667] 3\n\
                    ...      White vs Black: 4 - 4 - 0  [0.500] 8\n\
                    Elo difference: 88.7 +/- ";
    assert!(text.starts_with(expected) && text.ends_with(" %, DrawRatio: 0.0 %\n"), "{text}");
    let none = lines::cutechess_results(&Tally::default(), "A");
    assert_eq!(none, "Elo difference: nan +/- nan, LOS: nan %, DrawRatio: nan %\n");
}

#[test]
fn tables_of_cutechess_have_its_columns() {
    let players = [
        ("hero", tally([1, 0, 0, 0, 0], 0)),
        ("idle", Tally::default()),
        ("first", tally([0, 0, 1, 0, 1], 0)),
        ("second", tally([0, 0, 1, 0, 1], 0)),
    ];
    let table = lines::cutechess_table(&players, 1);
    let mut rows = table.lines();
    assert_eq!(rows.next(), Some("Rank Name                          Elo     +/-   Games   Score    Draw "));
    assert_eq!(rows.next(), Some("   0 hero                         -inf     nan       2    0.0%    0.0% "));
    let names: Vec<_> = rows.map(|row| row.split_whitespace().take(2).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(names, ["1 second", "2 first", "3 idle", ""]);
    let table = lines::cutechess_table(&players[1..], 0);
    assert_eq!(table.lines().nth(1).map(|row| &row[..12]), Some("   1 second "));
}

#[test]
fn tables_have_the_strongest_first() {
    let players = [
        ("weak", tally([3, 1, 0, 0, 0], 0)),
        ("idle", Tally::default()),
        ("a name that is longer than most", tally([0, 0, 0, 1, 3], 0)),
    ];
    let text = lines::table(&players, true, true);
    let ranks: Vec<_> = text.lines().skip(1).map(|line| line.split_whitespace().nth(1).unwrap()).collect();
    assert_eq!(ranks, ["a", "weak", "idle"]);
    let widths: Vec<_> = text.lines().map(str::len).collect();
    assert!(widths.iter().all(|width| *width == widths[0]), "{text}");
    let head = "Rank Name                                   Elo        +/-       nElo        +/-      Games      Score       Draw           Ptnml(0-2)";
    assert_eq!(text.lines().next(), Some(head));
}

#[test]
fn repeated_openings_widen_the_errors_of_a_block() {
    let wide = Tally { design_effect: 4.0, ..tally([10, 120, 300, 150, 20], 0) };
    let error = |tally: &Tally| {
        let (a, b) = (EngineHeading::default(), EngineHeading::default());
        let text = lines::results(tally, [&a, &b], "", true);
        let line = text.lines().nth(1).and_then(|line| line.split([' ', ',']).nth(3)).map(str::to_owned);
        line.and_then(|error| error.parse::<f64>().ok()).expect("an error")
    };
    let narrow = error(&Tally { design_effect: 1.0, ..wide });
    assert!((error(&wide) / narrow - 2.0).abs() < 0.01, "{} and {narrow}", error(&wide));
}

#[test]
fn the_weight_of_all_encounters_is_the_mean_of_theirs() {
    let (mut scores, mut random) = (Scores::default(), SplitMix64::new(5));
    let (mut exact, mut of) = (Openings::default(), [Openings::default(), Openings::default()]);
    for pair in 0..480u64 {
        // Forty openings, each six times against each of two opponents. Each opening favours one
        // side of an encounter.
        let (index, opponent) = (pair / 2 % 40, pair % 2);
        let favoured = SplitMix64::new(2 * index + opponent).next_u64() & 1 == 1;
        let is_won = favoured == (random.unit() < 0.8);
        let points = if is_won { 4 } else { 0 };
        exact.record(2 * index + opponent, points);
        of[usize::from(opponent == 1)].record(index, points);
        let players = (PlayerId(0), PlayerId(if opponent == 0 { 1 } else { 2 }));
        let game = |leg: Leg| GameRecord {
            id: GameId { pair: PairId(pair), leg },
            players: match leg {
                Leg::First => ByColor { white: players.0, black: players.1 },
                Leg::Second => ByColor { white: players.1, black: players.0 },
            },
            engines: ByColor::default(),
            opening: Opening { index, fen: index.to_string(), moves: Vec::new() },
            moves: Vec::new(),
            ending: Ending {
                outcome: if is_won == (leg == Leg::First) { Outcome::WhiteWins } else { Outcome::BlackWins },
                termination: Termination::Checkmate,
                detail: String::new(),
            },
            started: std::time::Duration::ZERO,
            took: std::time::Duration::ZERO,
            overstep: None,
            is_void: false,
            values: None,
            worker: None,
            scale: None,
        };
        scores.record(&[game(Leg::First), game(Leg::Second)]);
        scores.weigh(players, of[usize::from(opponent == 1)].design_effect());
    }
    let [one, all] = [scores.between(PlayerId(0), PlayerId(1)), scores.of(PlayerId(0))];
    let near = all.design_effect / exact.design_effect();
    assert!(one.design_effect > 1.5 && (near - 1.0).abs() < 0.1, "{one:?} {all:?} {}", exact.design_effect());
    assert_eq!(scores.between(PlayerId(1), PlayerId(0)).design_effect.to_bits(), one.design_effect.to_bits());
}
