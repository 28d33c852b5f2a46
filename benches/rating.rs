//! Cost of ratings: 200 players with 100,000 games, and the live view's 60 players. Also the cost
//! of reading PGN for its tags and moves, beside that of reading the same bytes for their line ends
//! alone.
//!
//! `cargo bench --bench rating`. Compare ratios of one run, not times of two.

#![allow(clippy::print_stdout, reason = "a benchmark's output")]

mod median;

use std::fmt::Write as _;
use std::hint::black_box;

use quintain::record::PairScore;
use quintain::report::collection::Collection;
use quintain::report::pgn_tags;
use quintain::stats::random::SplitMix64;
use quintain::stats::rating::{EncounterCounts, rate};

const ROUNDS: usize = 5;
const PGN_GAMES: u32 = 40_000;

fn main() {
    let mut random = SplitMix64::new(1);
    let few = tournament(60, 100_000, &mut random);
    let many = tournament(200, 100_000, &mut random);
    let times = [(60, &few), (200, &many)].map(|(players, met)| {
        let seconds = median::seconds(ROUNDS, || drop(black_box(rate(players, black_box(met), &[]).expect("sound"))));
        println!("{players} players, 100,000 games: {:.1} ms", seconds * 1e3);
        seconds
    });
    println!("200 players to 60: {:.1} times the time", times[1] / times[0]);

    let text = pgn(&mut random);
    let lines = median::seconds(ROUNDS, || {
        black_box(black_box(&text).iter().filter(|byte| **byte == b'\n').count());
    });
    let tags = median::seconds(ROUNDS, || {
        black_box(pgn_tags::read(black_box(text.as_slice()), |_| ()).expect("memory"));
    });
    let all = median::seconds(ROUNDS, || {
        let mut collection = Collection::new(false);
        collection.add_pgn(black_box(text.as_slice())).expect("memory");
        drop(black_box(collection));
    });
    let a_minute = |seconds: f64| f64::from(PGN_GAMES) / seconds * 60.0 / 1e6;
    println!("PGN of {PGN_GAMES} games, {} MB", text.len() / 1_000_000);
    println!("line ends: {:.1} ms, ratio 1", lines * 1e3);
    println!(
        "tags and moves: {:.1} ms, ratio {:.2}, {:.0} million games a minute",
        tags * 1e3,
        tags / lines,
        a_minute(tags)
    );
    println!("results: {:.1} ms, ratio {:.2}, {:.0} million games a minute", all * 1e3, all / lines, a_minute(all));
}

fn half_points(random: &mut SplitMix64, lead: f64) -> u8 {
    let score = 1.0 / (1.0 + 10f64.powf(-lead / 400.0));
    let draws = score.min(1.0 - score);
    let u = random.unit();
    u8::from(u < score - draws / 2.0) + u8::from(u < score + draws / 2.0)
}

/// Pairs spread over all who can meet, players 4 Elo apart.
fn tournament(players: usize, games: usize, random: &mut SplitMix64) -> Vec<EncounterCounts> {
    let mut met: Vec<EncounterCounts> =
        (0..players).flat_map(|a| (a + 1..players).map(move |b| EncounterCounts::new(a, b))).collect();
    let encounters = met.len();
    for pair in 0..games / 2 {
        let met = &mut met[pair % encounters];
        let lead = 4.0 * (met.a as f64 - met.b as f64);
        let (first, second) = (half_points(random, lead + 30.0), half_points(random, lead - 30.0));
        met.record_pair(PairScore { first, second });
    }
    met
}

/// Games of eighty plies as engine matches write them, with a comment a ply.
fn pgn(random: &mut SplitMix64) -> Vec<u8> {
    let mut text = String::new();
    for game in 0..PGN_GAMES {
        let (a, b) = (game / 2 % 20, 20 + game / 2 % 21);
        let (white, black) = if game % 2 == 0 { (a, b) } else { (b, a) };
        let result = ["0-1", "1/2-1/2", "1-0"][usize::from(half_points(random, 0.0))];
        let _ = write!(
            text,
            "[Event \"bench\"]\n[Site \"?\"]\n[Date \"2026.01.01\"]\n[Round \"{}\"]\n[White \"engine {white}\"]\n\
             [Black \"engine {black}\"]\n[Result \"{result}\"]\n[PlyCount \"80\"]\n[TimeControl \"8+0.08\"]\n\n",
            game / 2 + 1
        );
        // The number of the game in base eight, so that none repeats another.
        let file = |digit: u32| char::from(b"abcdefgh"[(game >> (3 * digit)) as usize % 8]);
        for number in 1..=40 {
            let digit = number % 3 * 2;
            let (one, other) = (file(digit), file(digit + 1));
            let _ = writeln!(
                text,
                "{number}. {one}4 {{+0.35/12 0.051s, n=12345}} {number}... {other}5 {{-0.20/11 0.049s, n=9876}}"
            );
        }
        let _ = writeln!(text, "{result}\n");
    }
    text.into_bytes()
}
