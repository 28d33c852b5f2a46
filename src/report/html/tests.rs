use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::record::{
    ByColor, Ending, EngineId, GameId, Leg, MoveRecord, Opening, Outcome, PairId, PlayerId, RecordedOutput, SearchInfo,
    Termination,
};
use crate::tournament::scoreboard::Scoreboard;

/// Plan of a run between players of these names.
fn plan(names: &[&str]) -> Plan {
    let mut plan = file::from_toml(include_str!("tests/plan.toml")).expect("a plan");
    let player = plan.players[0].clone();
    plan.players = names.iter().map(|name| Player { name: (*name).to_owned(), ..player.clone() }).collect();
    if names.len() > 2 {
        plan.test = None;
        plan.max_pairs = Some(1);
    }
    plan
}

/// The other game of a void one's pair is played again, too.
#[test]
fn of_a_pair_that_is_played_again_only_the_last_games_have_results() {
    let mut story = story(&plan(&["new", "base"]), 0, "");
    let [first, second] = [Leg::First, Leg::Second].map(|leg| game(0, leg, (0, 1), ""));
    let void = GameRecord { is_void: true, ..second.clone() };
    for game in [first.clone(), void, first, second] {
        story.record(game);
    }
    let void: Vec<bool> = story.kept().iter().map(|game| game.is_void).collect();
    assert_eq!(void, [true, false, true, false], "by number");
}

/// A game with castling and a capture en passant. The first player wins in the first leg and draws
/// in the second.
fn game(pair: u64, leg: Leg, (one, other): (u16, u16), detail: &str) -> GameRecord {
    let (white, black) = if leg == Leg::First { (one, other) } else { (other, one) };
    let ply = |(place, uci): (usize, &str)| MoveRecord {
        uci: uci.to_owned(),
        elapsed: Duration::from_millis(40 + place as u64),
        left: None,
        info: SearchInfo {
            score: Some(if place == 9 { Score::Mate(-3) } else { Score::Cp(20 + place as i32) }),
            depth: Some(8 + place as u32 / 5),
            nodes: Some(1000 << (place / 5)),
            ..SearchInfo::default()
        },
        waited: None,
        said: RecordedOutput::default(),
    };
    let moves = "e4e5 d7d5 e5d6 g8f6 g1f3 c7d6 f1c4 g7g6 e1g1 f8g7";
    GameRecord {
        id: GameId { pair: PairId(pair), leg },
        players: ByColor { white: PlayerId(white), black: PlayerId(black) },
        engines: ByColor { white: EngineId::default(), black: EngineId::default() },
        opening: Opening {
            index: pair,
            fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".to_owned(),
            moves: vec!["e2e4".to_owned(), "a7a6".to_owned()],
        },
        moves: moves.split(' ').enumerate().map(ply).collect(),
        ending: Ending {
            outcome: if leg == Leg::First { Outcome::WhiteWins } else { Outcome::Draw },
            termination: if detail.is_empty() { Termination::DrawAdjudication } else { Termination::Crash },
            detail: detail.to_owned(),
        },
        started: Duration::from_secs(1_795_000_000 + pair),
        took: Duration::from_secs(9),
        overstep: None,
        is_void: false,
        values: None,
        worker: None,
        scale: None,
    }
}

fn story(plan: &Plan, pairs: u64, detail: &str) -> Story {
    let players = plan.players.len() as u64;
    let mut story = Story::new(std::sync::Arc::new(plan.clone())).expect("a test that can be");
    for pair in 0..pairs {
        // Round robin: each meets each in the order of the plan.
        let meetings: Vec<(u16, u16)> =
            (0..players).flat_map(|a| (a + 1..players).map(move |b| (a as u16, b as u16))).collect();
        let who = meetings[pair as usize % meetings.len()];
        for leg in Leg::BOTH {
            story.record(game(pair, leg, who, if pair == 0 { detail } else { "" }));
        }
    }
    story
}

/// Names of all tags in order, without those of the page's own script and style.
fn tags(page: &str) -> Vec<String> {
    let page = page.replace(REPLAY, "").replace(STYLE, "");
    let tag = |rest: &str| {
        let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '!')).collect();
        (!name.is_empty()).then_some(name)
    };
    page.split('<').skip(1).filter_map(tag).collect()
}

#[test]
fn a_page_has_all_its_parts() {
    let plan = plan(&["new", "base"]);
    let crash =
        Crash { game: 1, about: "engine: base".to_owned(), transcript: "> go".to_owned(), stderr: String::new() };
    let page = page(&story(&plan, 30, "exit status 3"), Some("H1 accepted: new is stronger"), &[crash]);
    for part in [
        "H1 accepted: new is stronger",
        "class=\"verdict",
        "Pairs by points",
        "95 % for all moments together",
        "Elo over pairs",
        "Time by move",
        "Scores that the engines gave",
        "exit status 3",
        "All 60 games.",
        "2026-11-18 UTC",
        "<th>Format</th><td>SPRT</td>",
        "engine: base",
        "plan.toml",
        "id=\"board\"",
        "prefers-color-scheme:dark",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // The last depths of game moves show nothing of how a search scales; `quintain scaling` does.
    assert!(!page.contains("by depth</text>"));
    assert_eq!(page.matches("<svg xmlns").count(), 5);
    // The policy allows exactly the page's own script.
    let hash = base64(&Sha256::digest(
        page.split("<script>").nth(1).and_then(|rest| rest.split("</script>").next()).unwrap_or_default(),
    ));
    assert!(page.contains(&format!("script-src 'sha256-{hash}'")));
    assert!(!page.contains("src=\"") && !page.contains("href="));
}

#[test]
fn a_field_has_a_rating_list_and_a_cross_table() {
    let names: Vec<String> = (0..7).map(|place| format!("Engine {place}")).collect();
    let plan = plan(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let page = page(&story(&plan, 21, ""), None, &[]);
    for part in ["Ratings", "Who met whom", "Cross table", "Engine 6", "<p>None.</p>"] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn a_run_at_a_hub_names_no_machine_as_the_one_that_played() {
    let mut plan = plan(&["new", "base"]);
    assert!(caption(&story(&plan, 2, "")).contains(", 2 games at once, AMD EPYC (2 cores, Debian "));
    plan.workers = Some("tls://hub.example:4222".parse().expect("a hub"));
    let story = story(&plan, 2, "");
    let caption = caption(&story);
    assert!(caption.contains(" by the workers of a hub, 2026-11-18 UTC, ") && !caption.contains("EPYC"), "{caption}");
    let page = page(&story, None, &[]);
    for part in ["<th>Coordinator</th><td>AMD EPYC", "<th>Concurrency</th><td>by the workers of a hub</td>"] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn games_are_told_with_book_scores_and_the_last_position() {
    let plan = plan(&["new", "base"]);
    let told = told(&plan, &game(4, Leg::Second, (0, 1), ""));
    assert_eq!((&told["n"], &told["w"], &told["b"], &told["k"]), (&10.into(), &1.into(), &0.into(), &2.into()));
    assert_eq!(told["s"], "e4 a6 e5 d5 exd6 Nf6 Nf3 cxd6 Bc4 g6 O-O Bg7");
    assert_eq!(told["e"], "rnbqk2r/1p2ppbp/p2p1np1/8/2B5/5N2/PPPP1PPP/RNBQ1RK1");
    // Black's score from White's view.
    assert_eq!((&told["v"][0], &told["v"][1], &told["v"][9]), (&"+0.20".into(), &"-0.21".into(), &"#3".into()));
}

#[test]
fn big_runs_keep_their_last_games_and_their_faults() {
    let plan = plan(&["new", "base"]);
    let story = story(&plan, 400, "gone");
    let numbers: Vec<u64> = story.kept().iter().map(|game| game.id.number()).collect();
    assert_eq!((numbers.len(), &numbers[..3], numbers.last()), (202, &[1, 2, 601][..], Some(&800)));
    let page = page(&story, None, &[]);
    assert!(page.contains("202 of 800 games: the last ones, and those before them that ended"));
    assert!(page.len() < 1_000_000, "{}", page.len());
}

#[test]
fn the_page_says_how_many_faults_it_leaves_out() {
    let plan = plan(&["new", "base"]);
    let mut story = Story::new(std::sync::Arc::new(plan.clone())).expect("a test that can be");
    for pair in 0..130 {
        for leg in Leg::BOTH {
            story.record(game(pair, leg, (0, 1), "gone"));
        }
    }
    let page = page(&story, None, &[]);
    assert!(page.contains("250 of 260 games: the last ones, and the first 50 of the 60 before them that ended"));
}

#[test]
fn games_without_times_and_scores_have_no_plots_of_them() {
    let plan = plan(&["new", "base"]);
    let mut story = Story::new(std::sync::Arc::new(plan.clone())).expect("a test that can be").without_pgn();
    for pair in 0..130 {
        for leg in Leg::BOTH {
            let mut game = game(pair, leg, (0, 1), "");
            for ply in &mut game.moves {
                *ply = MoveRecord { elapsed: Duration::ZERO, info: SearchInfo::default(), ..ply.clone() };
            }
            assert!(told(&plan, &game)["c"].is_null());
            story.record(game);
        }
    }
    let page = page(&story, None, &[]);
    assert!(page.contains("200 of 260 games: the last ones") && page.contains("Elo over pairs"));
    for absent in ["Time by move", "Scores that the engines gave", "games.pgn"] {
        assert!(!page.contains(absent), "{absent}");
    }
}

#[test]
fn times_and_scores_are_counted() {
    let plan = plan(&["new", "base"]);
    let story = story(&plan, 50, "");
    let times = story.sides[0].time_use();
    assert_eq!(times.iter().map(|one| one.number).collect::<Vec<_>>(), [2, 3, 4, 5, 6]);
    assert!(times.iter().all(|one| (0.038..0.053).contains(&one.tenths[1])), "{times:?}");
    let total: u64 = story.sides.iter().flat_map(|side| &side.scores).sum();
    assert_eq!(total, 50 * 2 * 10);
    assert_eq!(story.sides[0].scores.first(), Some(&50), "mated in three lies beyond");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// No text adds an element to the page, and the page's data equal the text.
    #[test]
    fn nothing_breaks_out(
        evil in prop_oneof![
            "[<>&\"'/!a-z\\-\u{0}-\u{1f}\u{2028}]{1,24}",
            "(</script>|<script>|<!--|-->|]]>|<svg onload=x>|\"><img src=x>|</title>|</style>|&lt;|\\\\u003c){1,4}",
        ],
    ) {
        let mut harmless = plan(&["xa", "xb"]);
        harmless.players[0].options = vec![("x".to_owned(), "x".to_owned())];
        let crash = |text: &str| Crash { game: 1, about: text.to_owned(), transcript: text.to_owned(), stderr: text.to_owned() };
        let expected = tags(&page(&story(&harmless, 2, "x"), Some("x"), &[crash("x")]));
        let (one, other) = (format!("{evil}a"), format!("{evil}b"));
        let mut plan = plan(&[&one, &other]);
        plan.players[0].origin.spec.clone_from(&one);
        plan.players[0].options = vec![(one.clone(), other.clone())];
        plan.name.clone_from(&one);
        let page = page(&story(&plan, 2, &one), Some(&one), &[crash(&one)]);
        prop_assert_eq!(tags(&page), expected);
        let data = page.split("id=\"games\">").nth(1).and_then(|rest| rest.split("</script>").next()).unwrap_or_default();
        let data: serde_json::Value = serde_json::from_str(data).expect("JSON");
        prop_assert_eq!(data["players"][0].as_str(), Some(one.as_str()));
        prop_assert_eq!(data["games"][0]["x"].as_str(), Some(one.as_str()));
    }
}

/// The page of a live run, whose scoreboard is the dispatcher's, is that of its journal.
#[test]
fn a_live_run_has_the_page_of_its_journal() {
    let plan = Plan { test: None, ..plan(&["new", "base"]) };
    let mut games: Vec<_> = (0..10).flat_map(|pair| Leg::BOTH.map(|leg| game(pair, leg, (0, 1), ""))).collect();
    for game in &mut games {
        // Pairs that repeat others do not count.
        game.moves.truncate(1 + usize::try_from(game.id.pair.0).unwrap());
        if game.id.pair.0.is_multiple_of(3) {
            game.ending.outcome = Outcome::Draw;
        }
    }
    // The second pair is late, as with many workers.
    games[2..8].rotate_left(2);
    let start = || Story::new(std::sync::Arc::new(plan.clone())).unwrap();
    let (mut whole, mut live, mut scoreboard) = (start(), start(), Scoreboard::new(&plan).unwrap());
    for game in games {
        whole.record(game.clone());
        live.record_ended(game.clone());
        scoreboard.record(game, |scoreboard, _| live.record_counted(scoreboard));
    }
    live.finish(scoreboard);
    assert_eq!(live.elo.len(), whole.elo.len());
    assert!(live.elo.len() > 5, "{}", live.elo.len());
    assert_eq!(page(&live, Some("the end"), &[]), page(&whole, Some("the end"), &[]));
}
