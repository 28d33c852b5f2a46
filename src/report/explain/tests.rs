use std::time::Duration;

use super::*;
use crate::plan::file;
use crate::record::{
    ByColor, Ending, GameId, Leg, MoveRecord, Opening, Outcome, PairId, RecordedOutput, SearchInfo, Termination,
    TimeScale,
};
use crate::stats::random::SplitMix64;

fn plan() -> Plan {
    let mut plan = file::from_toml(include_str!("../../../tests/it/fixtures/v1/plan.toml")).unwrap();
    for player in &mut plan.players {
        player.limit = "10".parse().unwrap();
    }
    plan
}

/// A game as its test wants it, from the view of `new`.
#[derive(Clone, Debug)]
struct Wanted {
    pair: u64,
    leg: Leg,
    half_points: u8,
    opening: u64,
    /// Number of the first move.
    from: u32,
    termination: Termination,
    /// Seconds left on the clock of `new`.
    left: u64,
    /// Plies of `new`; the opponent has ten.
    depth: u32,
    moves: String,
}

impl Wanted {
    fn new(pair: u64, leg: Leg, half_points: u8) -> Self {
        let moves = "g1f3 g8f6 b1c3 b8c6".to_owned();
        Self {
            pair,
            leg,
            half_points,
            opening: pair,
            from: 1,
            termination: Termination::Checkmate,
            left: 6,
            depth: 10,
            moves,
        }
    }

    fn game(&self) -> GameRecord {
        let new = if self.leg == Leg::First { Color::White } else { Color::Black };
        let mut players = ByColor { white: PlayerId::BASE, black: PlayerId::BASE };
        *players.get_mut(new) = PlayerId::NEW;
        let outcome = match self.half_points {
            0 => Outcome::win(new.other()),
            1 => Outcome::Draw,
            _ => Outcome::win(new),
        };
        let played = |(place, uci): (usize, &str)| {
            let is_new = (place % 2 == 0) == (new == Color::White);
            let (left, depth) = if is_new { (self.left, self.depth) } else { (6, 10) };
            let info = SearchInfo { depth: Some(depth), nodes: Some(1_000), ..SearchInfo::default() };
            let (elapsed, waited) = (Duration::from_millis(100), None);
            MoveRecord {
                uci: uci.to_owned(),
                elapsed,
                left: Some(Duration::from_secs(left)),
                info,
                waited,
                said: RecordedOutput::default(),
            }
        };
        let fen = format!("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 {}", self.from);
        GameRecord {
            id: GameId { pair: PairId(self.pair), leg: self.leg },
            players,
            engines: ByColor::default(),
            opening: Opening { index: self.opening, fen, moves: Vec::new() },
            moves: self.moves.split(' ').enumerate().map(played).collect(),
            ending: Ending { outcome, termination: self.termination, detail: String::new() },
            started: Duration::ZERO,
            took: Duration::ZERO,
            overstep: None,
            is_void: false,
            values: None,
            worker: None,
            scale: None,
        }
    }
}

fn explain(plan: &Plan, names: &OpeningNames, games: &[Wanted], player: PlayerId) -> Option<Explanation> {
    let mut explainer = Explainer::new(plan, names, player);
    for pair in games.chunk_by(|a, b| a.pair == b.pair) {
        explainer.record(&pair.iter().map(Wanted::game).collect::<Vec<_>>());
    }
    explainer.end()
}

/// Moves after `line` that hardly any two games have in common: each side pushes all pawns of these
/// files but one.
fn pushes(random: &mut SplitMix64, line: &str, files: &str) -> String {
    let mut moves = vec![line.to_owned()];
    let plies = 2 * (files.len() - 1);
    let mut files = [('2', ["3", "4"]), ('7', ["6", "5"])].map(|home| (home, files.chars().collect::<Vec<_>>()));
    for ply in 0..plies {
        let ((from, to), files) = &mut files[ply % 2];
        let file = files.swap_remove((random.unit() * files.len() as f64) as usize);
        moves.push(format!("{file}{from}{file}{}", to[usize::from(random.unit() < 0.5)]));
    }
    moves.join(" ")
}

/// A run whose groups are random. Only `planted` has an effect on the result.
fn play(random: &mut SplitMix64, pairs: u64, planted: Option<Dimension>) -> Vec<Wanted> {
    let mut games = Vec::new();
    for pair in 0..pairs {
        let opening = (random.unit() * 6.0) as u64;
        for leg in Leg::BOTH {
            let [long, forfeit, trouble, deep] = [0; 4].map(|_| random.unit() < 0.25);
            let strikes = match planted {
                Some(Dimension::Opening) => opening == 2,
                Some(Dimension::Color) => leg == Leg::First,
                Some(Dimension::Length) => long,
                Some(Dimension::Termination) => forfeit,
                Some(Dimension::Trouble) => trouble,
                Some(Dimension::Depth) => deep,
                _ => false,
            };
            let loss = if strikes { 0.6 } else { 0.27 };
            let x = random.unit();
            let half_points = if x < loss { 0 } else { 1 + u8::from(x < loss + (1.0 - loss) * 0.45) };
            let mut game = Wanted::new(pair, leg, half_points);
            (game.opening, game.from) = (opening, if long { 90 } else { 25 });
            game.moves = pushes(random, "g1f3 g8f6 b1c3 b8c6", "abdegh");
            (game.left, game.depth) = (if trouble { 0 } else { 6 }, if deep { 14 } else { 10 });
            game.termination = match half_points {
                1 => Termination::ThreefoldRepetition,
                _ if forfeit => Termination::TimeForfeit,
                _ => Termination::Checkmate,
            };
            games.push(game);
        }
    }
    games
}

#[test]
fn planted_effects_are_found_and_no_others() {
    let (plan, names) = (plan(), OpeningNames::builtin());
    let mut random = SplitMix64::new(2_026);
    for (planted, group) in
        [(Dimension::Opening, "#3"), (Dimension::Length, "81 to 120"), (Dimension::Termination, "time-forfeit")]
    {
        let games = play(&mut random, 500, Some(planted));
        let explained = explain(&plan, &names, &games, PlayerId::NEW).unwrap();
        let found = explained.found();
        let is_it = |one: &&&GroupResult| one.dimension == planted && one.text == group;
        let hit = found.iter().find(is_it).unwrap_or_else(|| panic!("{planted:?}: {}", explained.text(&plan, 10)));
        assert!(hit.contrast.is_some_and(|found| found.inside < found.outside), "{hit:?}");
        let allowed = |one: &&GroupResult| one.dimension == planted;
        assert!(found.iter().all(allowed), "{planted:?}: {}", explained.text(&plan, 10));
    }
}

#[test]
fn what_winning_and_white_bring_about_is_shown_and_not_tested() {
    let (plan, names) = (plan(), OpeningNames::builtin());
    for (planted, text) in
        [(Dimension::Depth, "deeper"), (Dimension::Color, "White"), (Dimension::Trouble, "the player only")]
    {
        let games = play(&mut SplitMix64::new(7), 500, Some(planted));
        let explained = explain(&plan, &names, &games, PlayerId::NEW).unwrap();
        let group = explained.groups.iter().find(|group| group.text == text).unwrap();
        assert!(group.contrast.is_some_and(|found| found.inside < found.outside - 0.1), "{group:?}");
        let mut effects = explained.groups.iter().filter(|group| group.dimension.is_effect());
        assert!(effects.all(|group| group.p_holm.is_none()));
        assert!(explained.found().is_empty(), "{planted:?}: {}", explained.text(&plan, 10));
    }
}

#[test]
fn where_nothing_is_planted_nothing_is_found() {
    let (plan, names) = (plan(), OpeningNames::builtin());
    let mut random = SplitMix64::new(5);
    let runs = 150;
    let mut alarms = 0;
    for _ in 0..runs {
        let explained = explain(&plan, &names, &play(&mut random, 150, None), PlayerId::NEW).unwrap();
        assert!(explained.tests >= 8, "{}", explained.tests);
        alarms += usize::from(!explained.found().is_empty());
    }
    // 5 %, and three standard deviations of the simulation itself.
    let most = f64::from(runs) * 0.05 + 3.0 * (f64::from(runs) * 0.05 * 0.95).sqrt();
    assert!(alarms as f64 <= most, "{alarms} of {runs}");
}

#[test]
fn two_groups_mirror_each_other_only_if_they_hold_all_games() {
    let (plan, names) = (plan(), OpeningNames::builtin());
    let mut random = SplitMix64::new(4);
    let mut tested = |lines: &[&'static str]| {
        let games: Vec<_> = (0..200)
            .flat_map(|pair| Leg::BOTH.map(|leg| (pair, leg)))
            .map(|(pair, leg)| {
                let half_points = if random.unit() < 0.5 { 0 } else { 2 };
                let moves = pushes(&mut random, lines[pair as usize % lines.len()], "abgh");
                Wanted { moves, ..Wanted::new(pair, leg, half_points) }
            })
            .collect();
        let explained = explain(&plan, &names, &games, PlayerId::NEW).unwrap();
        let groups = explained.groups.iter().filter(|group| group.dimension == Dimension::Eco);
        groups.map(|group| (group.p_holm.is_some(), group.is_mirror)).collect::<Vec<_>>()
    };
    let [one, other, unnamed] = ["e2e4 e7e5", "d2d4 d7d5", "e2e5"];
    let found = tested(&[one, other]);
    assert!(found == [(true, false), (false, true)] || found == [(false, true), (true, false)], "{found:?}");
    assert_eq!(tested(&[one, other, unnamed]), [(true, false), (true, false), (false, false)]);
}

#[test]
fn groups_add_up_from_either_side() {
    let (plan, names) = (plan(), OpeningNames::builtin());
    let games = play(&mut SplitMix64::new(9), 60, Some(Dimension::Length));
    let [new, base] = [PlayerId::NEW, PlayerId::BASE].map(|player| explain(&plan, &names, &games, player).unwrap());
    assert_eq!((new.pairs, new.wdl.games(), new.ptnml.reversed()), (60, 120, base.ptnml));
    assert_eq!(new.wdl, base.wdl.reversed());
    for explained in [&new, &base] {
        let net = (explained.wdl.wins as f64 - explained.wdl.losses as f64) / 2.0;
        for dimension in Dimension::ALL {
            let groups = || explained.groups.iter().filter(|group| group.dimension == dimension);
            if groups().count() > 0 {
                assert_eq!(groups().map(|group| group.wdl.games()).sum::<u64>(), 120, "{dimension:?}");
                assert_eq!(groups().map(GroupResult::net).sum::<f64>(), net, "{dimension:?}");
            }
        }
        let text = explained.text(&plan, 10);
        assert!(text.lines().all(|line| line.chars().count() <= document::WIDTH), "{text}");
        assert_eq!(explained.csv().lines().count(), explained.groups.len() + 2);
        assert_eq!(explained.json(&plan)["groups"].as_array().unwrap().len(), explained.groups.len());
    }
    assert!(explain(&plan, &names, &[], PlayerId::NEW).is_none());
}

#[test]
fn both_sides_effort() {
    let (plan, names) = (plan(), OpeningNames::builtin());
    let pair = |pair: u64| {
        Leg::BOTH.map(|leg| Wanted { from: 19, left: 3, depth: 12 + (pair % 2) as u32, ..Wanted::new(pair, leg, 1) })
    };
    let games: Vec<_> = (0..10).flat_map(pair).collect();
    let effort = explain(&plan, &names, &games, PlayerId::NEW).unwrap().effort;
    let near =
        |found: Option<f64>, wanted: f64| assert!((found.unwrap() - wanted).abs() < 1e-9, "{found:?}, not {wanted}");
    near(effort.depth.means().0, 12.5);
    near(effort.depth.ratio(1.0).map(|ratio| ratio.value), 1.25);
    near(effort.speed.means().0, 10_000.0);
    near(effort.seconds.means().1, 0.1);
    // Moves 19 and 20 are played; nobody comes to move 40.
    near(effort.used[0].means().0, 0.7);
    near(effort.used[0].difference(1.0).map(|found| found.value), 0.3);
    assert_eq!(effort.used[1].means(), (None, None));
    near(effort.trouble.means().0, 0.0);
}

#[test]
fn games_played_again_and_openings_that_one_colour_wins() {
    let (plan, names) = (plan(), OpeningNames::builtin());
    // Moves of each pair's games; expected are distinct games, shared ends, and equivalent pairs.
    const ONE: &str = "g1f3 g8f6 b1c3 b8c6";
    const OTHER_WAY: &str = "b1c3 g8f6 g1f3 b8c6";
    const ELSEWHERE: &str = "e2e4 e7e5 g1f3 b8c6";
    for (pairs, distinct, transposed, effective) in [
        (vec![[ONE, ONE]], 2, 0, 1.0),
        (vec![[ONE, ONE], [ONE, ONE], [ONE, ONE]], 2, 0, 1.0),
        (vec![[ONE, ONE], [ELSEWHERE, ELSEWHERE]], 4, 0, 2.0),
        (vec![[ONE, ONE], [OTHER_WAY, OTHER_WAY]], 4, 2, 1.0),
        // One game of each pair is the same: 2 * 4 / (2^2 + 1 + 1).
        (vec![[ONE, ONE], [ONE, ELSEWHERE]], 3, 0, 8.0 / 6.0),
    ] {
        let games: Vec<_> = (0..)
            .zip(&pairs)
            .flat_map(|(pair, moves)| {
                // White wins throughout.
                [(Leg::First, 2, moves[0]), (Leg::Second, 0, moves[1])]
                    .map(|(leg, points, moves)| Wanted { moves: moves.to_owned(), ..Wanted::new(pair, leg, points) })
            })
            .collect();
        let explained = explain(&plan, &names, &games, PlayerId::NEW).unwrap();
        let found = explained.repeats;
        assert_eq!((found.distinct, found.transposed), (distinct, transposed), "{pairs:?}");
        assert!((found.effective - effective).abs() < 1e-9, "{pairs:?}: {found:?}");
        assert!((found.widening().powi(2) * effective - pairs.len() as f64).abs() < 1e-9);
        let openings = &explained.openings;
        // One position, whatever its number in the book.
        assert_eq!((openings.one_sided(), openings.lopsided.len()), ([pairs.len() as u64, 0], 1));
        assert_eq!((openings.lopsided[0].number, openings.lopsided[0].both[0]), (1, pairs.len() as u64));
        assert_eq!(openings.lopsided[0].winner, Color::White);
        // A pair alone is compared with no other game.
        assert_eq!(openings.expected_one_sided, (pairs.len() > 1).then_some(pairs.len() as f64));
    }
}

/// Pairs won by one colour are expected as often as the players' strength leaves them.
#[test]
fn one_sided_pairs_are_expected_by_strength() {
    let (plan, names) = (plan(), OpeningNames::builtin());
    for (scores, expected) in [
        // The player's half-points with White, and with Black: a stronger player wins with both.
        (vec![[2, 2]; 10], 0.0),
        // Both games with White are won, and one with Black lost: in that pair, and across.
        (vec![[2, 0], [2, 2]], 1.0),
        (vec![[2, 0], [1, 1]], 0.0),
        // A game with White and one with Black of another pair go together in 12 ways: White wins
        // both in 3 of them, Black in 1.
        (vec![[2, 0], [2, 2], [1, 0], [0, 2]], 4.0 * (3.0 + 1.0) / 12.0),
    ] {
        let games: Vec<_> = (0..)
            .zip(&scores)
            .flat_map(|(pair, [white, black])| {
                [(Leg::First, *white), (Leg::Second, *black)].map(|(leg, points)| Wanted::new(pair, leg, points))
            })
            .collect();
        let explained = explain(&plan, &names, &games, PlayerId::NEW).unwrap();
        let found = explained.openings.expected_one_sided.unwrap();
        assert!((found - expected).abs() < 1e-9, "{scores:?}: {found}, {expected}");
    }
}

/// Time trouble is told by the times that a game had on its machine.
#[test]
fn a_scaled_clock_is_in_trouble_by_its_own_time() {
    let (plan, names) = (plan(), OpeningNames::builtin());
    let games = play(&mut SplitMix64::new(3), 200, Some(Dimension::Trouble));
    let double = TimeScale::from_millionths(2_000_000).unwrap();
    let text = |scale: Option<TimeScale>, factor: u32| {
        let mut explainer = Explainer::new(&plan, &names, PlayerId::NEW);
        for pair in games.chunk_by(|a, b| a.pair == b.pair) {
            let mut records: Vec<_> = pair.iter().map(Wanted::game).collect();
            for record in &mut records {
                record.scale = scale;
                record.moves.iter_mut().for_each(|ply| ply.left = ply.left.map(|left| left * factor));
            }
            explainer.record(&records);
        }
        explainer.end().unwrap().text(&plan, 10)
    };
    assert_eq!(text(Some(double), 2), text(None, 1));
    assert_ne!(text(Some(double), 1), text(None, 1));
}
