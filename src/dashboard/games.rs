//! Routes of a run's games: the list with its filters, one game with its positions, and as PGN.

use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path as FilePath;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::chess::Position;
use crate::dashboard::app::{App, answer, error};
use crate::dashboard::fold::{Fold, GameRow};
use crate::files::{inside, open_regular};
use crate::journal::{self, archive};
use crate::plan::Plan;
use crate::record::{Color, GameId, GameRecord, Leg, Outcome, Score};
use crate::report::eco::OpeningNames;
use crate::report::pgn_file;
use crate::report::stored;

/// Games on a page of the list, at most.
const MOST_GAMES: usize = 200;

/// Bytes read of a journal's line.
const MOST_LINE: u64 = journal::LONGEST_LINE as u64;

/// Selection of games.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct GamesQuery {
    /// From 0.
    page: usize,
    size: usize,
    /// Name of a player.
    player: String,
    /// `win`, `draw` or `loss` of the player; without one `1-0`, `0-1` or `1/2-1/2`.
    result: String,
    /// Name of a termination, or `fault` for all that are an engine's fault.
    termination: String,
    /// Part of an ECO code or of a name, or the number of the opening in the book.
    opening: String,
}

impl GamesQuery {
    fn takes(&self, game: &GameRow, names: &[&str]) -> bool {
        let name = |id: u16| names.get(usize::from(id)).copied().unwrap_or_default();
        let side = match self.player.as_str() {
            "" => None,
            player if player == name(game.white) => Some(Color::White),
            player if player == name(game.black) => Some(Color::Black),
            _ => return false,
        };
        let result = match (self.result.as_str(), side) {
            ("", _) => true,
            (word, Some(side)) => {
                [("loss", 0), ("draw", 1), ("win", 2)].contains(&(word, game.outcome.half_points(side)))
            }
            (word, None) => word == game.outcome.token() || word == "draw" && game.outcome == Outcome::Draw,
        };
        let end = match self.termination.as_str() {
            "" => true,
            "fault" => game.termination.is_fault(),
            word => word == game.termination.name(),
        };
        result && end && self.takes_opening(game)
    }

    fn takes_opening(&self, game: &GameRow) -> bool {
        let word = self.opening.trim().to_lowercase();
        let has = |text: &str| text.to_lowercase().contains(&word);
        word.is_empty()
            || word.parse::<u64>().map_or_else(
                |_| game.opening.is_some_and(|opening| has(opening.eco) || has(opening.name)),
                |number| number == game.index + 1,
            )
    }
}

/// A game in the list.
#[derive(Serialize)]
struct ListedGame<'a> {
    game: u64,
    white: &'a str,
    black: &'a str,
    result: &'static str,
    termination: &'static str,
    plies: usize,
    /// Seconds that it took.
    seconds: f64,
    /// Number of the opening in the book, from 1.
    opening: u64,
    eco: Option<&'static str>,
    name: Option<&'static str>,
    is_void: bool,
}

/// The games that a query takes, the last ones first.
fn page(fold: &Fold, query: &GamesQuery) -> Value {
    let names = fold.names();
    let name = |id: u16| names.get(usize::from(id)).copied().unwrap_or("?");
    let found: Vec<&GameRow> = fold.games().iter().rev().filter(|game| query.takes(game, &names)).collect();
    let size = if query.size == 0 { 50 } else { query.size.min(MOST_GAMES) };
    let shown = found.iter().skip(query.page.saturating_mul(size)).take(size);
    let games: Vec<ListedGame<'_>> = shown
        .map(|game| ListedGame {
            game: game.number,
            white: name(game.white),
            black: name(game.black),
            result: game.outcome.token(),
            termination: game.termination.name(),
            plies: game.plies,
            seconds: game.seconds,
            opening: game.index + 1,
            eco: game.opening.map(|opening| opening.eco),
            name: game.opening.map(|opening| opening.name),
            is_void: game.is_void,
        })
        .collect();
    let mut ends: Vec<&str> = fold.games().iter().map(|game| game.termination.name()).collect();
    ends.sort_unstable();
    ends.dedup();
    json!({
        "total": found.len(),
        "all": fold.games().len(),
        "page": query.page,
        "size": size,
        "players": names,
        "terminations": ends,
        "games": games,
    })
}

pub(super) async fn list(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<GamesQuery>,
) -> Result<Response, Response> {
    let entry = app.entry(&id).await?;
    match app.ask_fold(&id, &entry.dir, move |fold| page(fold, &query)).await? {
        Ok(found) => Ok(answer(StatusCode::OK, &found)),
        Err(why) => Err(error(StatusCode::NOT_FOUND, &why.to_string())),
    }
}

/// Reads the game whose line is after `offset` bytes of the journal in `dir`; `None` if another one
/// is there.
fn read_at(dir: &FilePath, offset: u64, id: GameId) -> std::io::Result<Option<GameRecord>> {
    let Some(path) = inside(dir, journal::FILE_NAME) else { return Ok(None) };
    let mut file = open_regular(&path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut line = Vec::new();
    BufReader::new(file.take(MOST_LINE)).read_until(b'\n', &mut line)?;
    Ok(journal::game_of(&line).filter(|game| game.id == id && !game.is_void))
}

/// Looks for one game in the whole journal in `dir`; `None` if it is not there. Its first record
/// counts, or the first one after a void game of its pair, which was played again.
fn find(dir: &FilePath, id: GameId) -> std::io::Result<Option<GameRecord>> {
    let Some(path) = archive::stored_name(dir).and_then(|name| inside(dir, name)) else { return Ok(None) };
    let mut reader = archive::open(&path.with_file_name(journal::FILE_NAME))?;
    let keys = Leg::BOTH.map(|leg| format!("\"game\":{},", GameId { leg, ..id }.number()));
    let (mut line, mut found) = (Vec::new(), None);
    loop {
        line.clear();
        if reader.by_ref().take(MOST_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(found);
        }
        // The number stands near the beginning of its line.
        let head = &line[..line.len().min(200)];
        let is_of_pair = keys.iter().any(|key| head.windows(key.len()).any(|part| part == key.as_bytes()));
        let game = if is_of_pair { journal::game_of(&line) } else { None };
        match game.filter(|game| game.id.pair == id.pair) {
            Some(game) if game.is_void => found = None,
            Some(game) if game.id == id && found.is_none() => found = Some(game),
            _ => {}
        }
    }
}

/// A ply of a game.
#[derive(Serialize)]
struct PlyJson {
    uci: String,
    san: String,
    /// Position after it.
    fen: String,
    is_book: bool,
    cp: Option<i32>,
    mate: Option<i32>,
    depth: Option<u32>,
    /// Milliseconds that were charged.
    ms: Option<f64>,
}

fn detail(plan: &Plan, game: &GameRecord) -> Option<Value> {
    let mut position = Position::from_fen(&game.opening.fen, plan.rules.variant).ok()?;
    let start = position.fen();
    let book = game.opening.moves.iter().map(|uci| (uci, None));
    let played = game.moves.iter().map(|ply| (&ply.uci, Some(ply)));
    let mut plies = Vec::new();
    for (uci, ply) in book.chain(played) {
        // The last move of a game may be the illegal one that lost it.
        let Ok(san) = position.san(uci) else { break };
        position.advance_by(uci).ok()?;
        let (cp, mate) = ply.and_then(|ply| ply.info.score).map(Score::parts).unwrap_or_default();
        plies.push(PlyJson {
            uci: uci.clone(),
            san,
            fen: position.fen(),
            is_book: ply.is_none(),
            cp,
            mate,
            depth: ply.and_then(|ply| ply.info.depth),
            ms: ply.map(|ply| ply.elapsed.as_secs_f64() * 1e3),
        });
    }
    let name = |color| plan.players.get(usize::from(game.players.get(color).0)).map(|player| player.name.as_str());
    let opening = OpeningNames::builtin().of(game, plan.rules.variant);
    Some(json!({
        "game": game.id.number(),
        "white": name(Color::White),
        "black": name(Color::Black),
        "result": game.ending.outcome.token(),
        "termination": game.ending.termination.name(),
        "detail": game.ending.detail,
        "opening": opening.map(|opening| format!("{} {}", opening.eco, opening.name)),
        "fen": start,
        "plies": plies,
    }))
}

async fn read(app: &App, id: &str, number: u64) -> Result<(Plan, GameRecord), Response> {
    let missing = || error(StatusCode::NOT_FOUND, "this run has no such game");
    let entry = app.entry(id).await?;
    let game = GameId::from_number(number).ok_or_else(missing)?;
    let (folds, id) = (Arc::clone(&app.folds), id.to_owned());
    let read = move || {
        let dir = &entry.dir;
        let placed = folds.offset_of(&id, dir, number).and_then(|offset| read_at(dir, offset, game).ok()?);
        let game = placed.or_else(|| find(dir, game).ok()?)?;
        Some((stored::plan(dir)?, game))
    };
    app.spawn_long_work(read).await?.ok_or_else(missing)
}

pub(super) async fn one(State(app): State<App>, Path((id, number)): Path<(String, u64)>) -> Result<Response, Response> {
    let (plan, game) = read(&app, &id, number).await?;
    let found = app.spawn_long_work(move || detail(&plan, &game)).await?;
    let found = found.ok_or_else(|| error(StatusCode::NOT_FOUND, "this game cannot be replayed"))?;
    Ok(answer(StatusCode::OK, &found))
}

pub(super) async fn pgn(State(app): State<App>, Path((id, number)): Path<(String, u64)>) -> Result<Response, Response> {
    let (plan, game) = read(&app, &id, number).await?;
    match pgn_file::game(&plan, &game) {
        Ok(text) => Ok(([(header::CONTENT_TYPE, "application/x-chess-pgn")], text).into_response()),
        Err(why) => Err(error(StatusCode::NOT_FOUND, &why.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{Header, Journal};

    #[test]
    fn the_first_record_of_a_game_after_the_last_void_one_of_its_pair_is_found() {
        let lines = include_str!("../../tests/it/fixtures/v1/games.jsonl").split_inclusive('\n');
        let games: Vec<GameRecord> = lines.filter_map(|line| journal::game_of(line.as_bytes())).take(3).collect();
        let [first, second, other] = games.as_slice() else { panic!("{} games", games.len()) };
        assert_eq!(first.id.pair, second.id.pair);
        let at = |game: &GameRecord, index: u64| {
            let mut game = game.clone();
            game.opening.index = index;
            game
        };
        let void = GameRecord { is_void: true, ..at(second, 9) };
        for (records, expected) in [
            (vec![at(first, 1), at(other, 2), at(first, 3)], Some(1)),
            (vec![at(first, 1), void.clone(), at(first, 2), at(second, 3), at(first, 4)], Some(2)),
            (vec![at(first, 1), void.clone(), at(second, 2)], None),
            (vec![void], None),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let header = Header { plan_sha256: String::new(), program: String::new() };
            let mut journal = Journal::create(&folder.path().join(journal::FILE_NAME), &header).unwrap();
            records.iter().for_each(|game| journal.append(game).unwrap());
            let found = find(folder.path(), first.id).unwrap();
            assert_eq!(found.map(|game| game.opening.index), expected);
        }
    }
}
