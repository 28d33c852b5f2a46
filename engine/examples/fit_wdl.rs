//! Fits the model behind `UCI_ShowWDL` to games: `fit_wdl JOURNAL...`, with the `games.jsonl` of
//! runs.
//!
//! Every move with a score in centipawns counts as one game of that score and material, from the
//! end of the opening on. Games that ended by the clock or a crash are left out. The fit maximises
//! the likelihood of the three results by gradient ascent on counts in bins of ten centipawns.
#![expect(clippy::print_stdout, reason = "a tool prints what it found")]

use destrier::board::Board;
use destrier::types::Color;
use destrier::uci::wdl::{Model, material};
use serde_json::Value;
use std::collections::BTreeMap;

const BIN: i64 = 10;
/// Score beyond which a game is decided and says nothing about the curve.
const SCORE_LIMIT: i64 = 1000;
/// Steps after which the gain in likelihood is judged.
const ROUND: i32 = 200;
/// Gain of a round, in nats a position, below which the steps become smaller.
const ENOUGH: f64 = 1e-6;

/// Games won, drawn and lost from the mover's view, by material and score.
type Counts = BTreeMap<(u32, i64), [f64; 3]>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut counts = Counts::new();
    let mut games = 0;
    for path in std::env::args().skip(1) {
        for line in std::fs::read_to_string(&path)?.lines() {
            let game: Value = serde_json::from_str(line).map_err(|error| format!("{path}: {error}"))?;
            games += u32::from(count_game(&game, &mut counts).is_some());
        }
    }
    let positions: f64 = counts.values().flatten().sum();
    if positions == 0.0 {
        return Err("no scores; give the games.jsonl of some runs".into());
    }
    let (model, loss) = fit(&counts, positions);
    println!("{games} games, {positions} positions, {loss:.5} nats a position");
    println!("a: [{:.1}, {:.1}], b: [{:.1}, {:.1}]", model.a[0], model.a[1], model.b[0], model.b[1]);
    Ok(())
}

/// Adds a game's positions. Returns `None` for a line that is not a game, a void game, or a game
/// not decided on the board.
fn count_game(game: &Value, counts: &mut Counts) -> Option<()> {
    if game["kind"] != "game" {
        return None;
    }
    let decided = ["checkmate", "stalemate", "threefold-repetition", "fifty-moves", "insufficient-material"];
    if !decided.contains(&game["termination"].as_str()?) {
        return None;
    }
    let white = match game["result"].as_str()? {
        "1-0" => 0,
        "0-1" => 2,
        _ => 1,
    };
    let mut board = match game["opening"]["fen"].as_str() {
        Some(fen) => Board::from_fen(fen).ok()?,
        None => Board::startpos(),
    };
    for word in game["opening"]["moves"].as_str().unwrap_or_default().split_ascii_whitespace() {
        board.play(board.parse_uci(word)?);
    }
    let mut found = Vec::new();
    for ply in game["moves"].as_array()? {
        let mv = board.parse_uci(ply["m"].as_str()?)?;
        let score = ply["cp"].as_i64().filter(|score| score.abs() <= SCORE_LIMIT);
        if let Some(score) = score {
            let result = if board.turn() == Color::White { white } else { 2 - white };
            found.push(((material(&board), score.div_euclid(BIN)), result));
        }
        board.play(mv);
    }
    found.into_iter().for_each(|(bin, result)| counts.entry(bin).or_default()[result] += 1.0);
    Some(())
}

/// Returns the negative log likelihood per position.
fn loss(model: &Model, counts: &Counts, positions: f64) -> f64 {
    let total: f64 = counts
        .iter()
        .map(|(&(material, bin), results)| {
            let chances = model.chances((bin * BIN + BIN / 2) as i32, material);
            results.iter().zip(chances).map(|(count, chance)| -count * chance.max(1e-9).ln()).sum::<f64>()
        })
        .sum();
    total / positions
}

/// Fits the four numbers with steps of a centipawn, a tenth and a hundredth.
fn fit(counts: &Counts, positions: f64) -> (Model, f64) {
    let model = |p: [f64; 4]| Model { a: [p[0], p[1]], b: [p[2], p[3]] };
    let value = |p: [f64; 4]| loss(&model(p), counts, positions);
    let point = [1.0, 0.1, 0.01].into_iter().fold([100.0, 0.0, 100.0, 0.0], |point, rate| descend(value, point, rate));
    (model(point), value(point))
}

/// Minimises `value` by Adam on numerical gradients, with steps of `rate` centipawns, as long as a
/// round of them gains.
fn descend(value: impl Fn([f64; 4]) -> f64, mut point: [f64; 4], rate: f64) -> [f64; 4] {
    let (mut mean, mut square) = ([0.0; 4], [0.0; 4]);
    let mut last = value(point);
    for step in 1.. {
        let slopes: [f64; 4] = std::array::from_fn(|index| {
            let at = |shift: f64| {
                let mut moved = point;
                moved[index] += shift;
                value(moved)
            };
            at(0.5) - at(-0.5)
        });
        for (index, slope) in slopes.into_iter().enumerate() {
            mean[index] = 0.9 * mean[index] + 0.1 * slope;
            square[index] = 0.999 * square[index] + 0.001 * slope * slope;
            let mean: f64 = mean[index] / (1.0 - 0.9_f64.powi(step));
            let square: f64 = square[index] / (1.0 - 0.999_f64.powi(step));
            point[index] -= rate * mean / (square.sqrt() + 1e-12);
        }
        if step % ROUND == 0 {
            let now = value(point);
            println!("step {step} of {rate} centipawns: {point:.1?} {now:.6}");
            if last - now < ENOUGH {
                break;
            }
            last = now;
        }
    }
    point
}
