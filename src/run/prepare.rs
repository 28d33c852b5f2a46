//! Resources of a run before its first game: capacity, an event loop, the book, endgame tablebases,
//! and engines that start.

use std::sync::Arc;

use crate::chess::Variant;
use crate::cluster::{self, Cluster};
use crate::game;
use crate::openings::{Book, BookOptions, builtin};
use crate::os;
use crate::plan::{BookSource, Plan};
use crate::record::Opening;
use crate::run::error::{Result, ResultContext as _, RunError, fail};
use crate::schedule::capacity::{self, Demand, Supply};
use crate::schedule::remote::RemotePort;
use crate::schedule::trial;
use crate::uci::PositionLine;

/// Raises the limit on open files, and refuses more concurrent games than the system's limits
/// allow.
pub(crate) fn check_capacity(plan: &Plan) -> Result<()> {
    Ok(capacity::check(plan.concurrency, 0, Demand::of(plan), Supply::claim().after_tables(plan))?)
}

/// Creates the event loop of a run. A write past the system's file size limit returns an error in
/// it.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.within(|| "cannot start the event loop")?;
    let entered = runtime.enter();
    os::outlive_file_size_limit();
    drop(entered);
    Ok(runtime)
}

/// Reads the plan's book and checks that it has not changed.
pub(crate) fn load_book(plan: &Plan) -> Result<Book> {
    let (source, sha256, variant) = (&plan.book.source, &plan.book.sha256, plan.rules.variant);
    if *source == BookSource::Builtin {
        let book = builtin::book_of(sha256, variant)?;
        return book.ok_or_else(|| RunError::OtherBuiltin { sha256: sha256.clone() });
    }
    let book = read_any_book(source, plan.book.plies, variant)?;
    if book.sha256() != sha256 {
        return Err(RunError::Changed { file: book.name().to_owned(), harm: "pairs would get other openings" });
    }
    Ok(book)
}

/// Reads a book and checks each of its openings. Refuses `plies` for a list of positions, where
/// they have no effect.
pub(crate) fn read_book(source: &BookSource, plies: Option<u32>, variant: Variant) -> Result<Book> {
    let book = read_any_book(source, plies, variant)?;
    check_plies(plies, book.is_list())?;
    Ok(book)
}

/// Reads a book and checks each of its openings. A list of positions ignores `plies`, as in the
/// leading runners.
pub(crate) fn read_any_book(source: &BookSource, plies: Option<u32>, variant: Variant) -> Result<Book> {
    let options = BookOptions { variant, plies, format: None };
    match source {
        BookSource::Builtin => Ok(builtin::book(variant)?),
        BookSource::File(path) => Ok(Book::load(path, &options)?),
    }
}

/// Refuses `--book-plies` for lists of positions, where it has no effect.
pub(crate) fn check_plies(plies: Option<u32>, is_list: bool) -> Result<()> {
    if plies.is_some() && is_list {
        fail!(Setting, "--book-plies: a list of positions has no moves; leave out --book-plies");
    }
    Ok(())
}

/// Returns positions spread evenly over a book, as `position` lines.
pub(crate) fn positions(book: &Book, most: usize, variant: Variant) -> Result<Vec<PositionLine>> {
    let lines: Vec<_> = book.spread(most).map(|opening| position_line(opening?, variant)).collect::<Result<_>>()?;
    if lines.is_empty() {
        return Err(RunError::EmptyBook { book: book.name().to_owned() });
    }
    Ok(lines)
}

/// The `position` line of an opening, as in a game from it.
pub(crate) fn position_line(mut opening: Opening, variant: Variant) -> Result<PositionLine> {
    game::normalize(&mut opening, variant).map_err(|error| RunError::Setting(format!("book {error}")))?;
    let fault = |error| RunError::Setting(format!("book opening {}: {error}", opening.index + 1));
    let mut line = PositionLine::new(&opening.fen).map_err(fault)?;
    for word in &opening.moves {
        line.push(word).map_err(fault)?;
    }
    Ok(line)
}

/// Starts the workers of the plan, if it has some, and the server between them and this process.
pub(crate) async fn cluster(plan: &Arc<Plan>) -> Result<Option<(Cluster, RemotePort)>> {
    match &plan.workers {
        Some(workers) => Ok(Some(cluster::start(plan, workers).await?)),
        None => Ok(None),
    }
}

/// Runs a trial search of each engine. An engine that does not start, refuses an option or disobeys
/// the plan's limit is thus found before a run exists. Returns by player the failures that its
/// engine reported.
pub(crate) async fn preflight(plan: &Plan, book: &Book) -> Result<Vec<Vec<String>>> {
    preflight_by_player(plan, book).await?.map_err(|(_, error)| error)
}

/// [`preflight`] that also returns the place of the player whose trial failed.
pub(crate) async fn preflight_by_player(
    plan: &Plan,
    book: &Book,
) -> Result<Result<Vec<Vec<String>>, (usize, RunError)>> {
    let opening = first_opening(plan, book)?;
    let mut complaints = Vec::with_capacity(plan.players.len());
    for (place, player) in plan.players.iter().enumerate() {
        match trial::run(plan, player, &opening).await {
            Ok(heard) => complaints.push(heard),
            Err(error) => return Ok(Err((place, error.into()))),
        }
    }
    Ok(Ok(complaints))
}

/// Returns the opening of the trial searches.
pub(crate) fn first_opening(plan: &Plan, book: &Book) -> Result<Opening> {
    let start = usize::try_from(plan.book.start).unwrap_or_default();
    let found = book.opening(start)?.map_or_else(|| book.opening(0), |opening| Ok(Some(opening)))?;
    found.ok_or_else(|| RunError::EmptyBook { book: book.name().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::file;

    #[test]
    fn a_builtin_book_of_another_version_is_not_replaced() {
        let mut plan = file::from_toml(include_str!("../../tests/it/fixtures/v1/plan.toml")).expect("a plan");
        plan.book.source = BookSource::Builtin;
        plan.book.sha256 = "00".to_owned();
        let refused = load_book(&plan).err();
        assert!(matches!(&refused, Some(RunError::OtherBuiltin { sha256 }) if sha256 == "00"), "{refused:?}");
    }

    #[test]
    fn positions_are_sent_as_in_games() {
        let fen = "r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1";
        let opening = Opening { index: 0, fen: fen.to_owned(), moves: vec!["e1h1".to_owned()] };
        let line =
            |variant| String::from_utf8(position_line(opening.clone(), variant).unwrap().as_bytes().to_vec()).unwrap();
        assert_eq!(line(Variant::Chess960), format!("position fen {fen} moves e1h1"));
        assert_eq!(line(Variant::Standard), format!("position fen {} moves e1g1", fen.replace("HAha", "KQkq")));
    }
}
