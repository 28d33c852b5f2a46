//! Openings of the matches of a chunk: random moves from the starting position or from a book.

use crate::data::Lines;
use destrier::datagen::Openings;
use destrier::nnue::sha256_hex;
use destrier::search::{Game, Limits, Searcher, Signals, SilentReport, in_search_thread};
use destrier::types::SplitMix64;
use serde::Deserialize;
use std::collections::HashSet;
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Table [openings] of a recipe.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RawOpenings {
    #[serde(default)]
    book: Option<PathBuf>,
    #[serde(default)]
    random_plies: Option<String>,
    #[serde(default)]
    limit: Option<i32>,
}

/// Openings of a recipe.
#[derive(Debug, Clone, PartialEq)]
pub struct OpeningSource {
    openings: Openings,
    /// SHA-256 of the book.
    book: Option<String>,
    /// Score in centipawns beyond which an opening is dropped.
    limit: i32,
}

/// Nodes of the search that judges an opening, and the size of its table.
const JUDGE_NODES: u64 = 1000;
const JUDGE_HASH_MIB: usize = 1;
/// Draws for each opening wanted, after which the limit is reported as the fault.
const DRAWS: usize = 1000;

impl OpeningSource {
    /// Reads the book, if there is one.
    ///
    /// # Errors
    /// Fails with the reason if the book or a value cannot be used.
    pub fn load(raw: RawOpenings, folder: &Path) -> Result<OpeningSource, String> {
        let limit = raw.limit.unwrap_or(600);
        if !(0..=30_000).contains(&limit) {
            return Err(format!("`limit` {limit}: expected 0 to 30000 centipawns"));
        }
        let plies = raw.random_plies.as_deref().unwrap_or(if raw.book.is_some() { "2-3" } else { "8-9" });
        let plies = range(plies).ok_or_else(|| {
            format!(
                "`random-plies` {plies}: expected \"A\" or \"A-B\", 1 to 100; with 0 chunks would play the same games"
            )
        })?;
        let Some(book) = raw.book else {
            return Ok(OpeningSource { openings: Openings::random(plies), book: None, limit });
        };
        let path = folder.join(book);
        let mut text = String::new();
        let (mut lines, ..) = Lines::open(&path).map_err(|error| error.to_string())?;
        while let Some(line) = lines.next_line().map_err(|error| error.to_string())? {
            text += line;
            text.push('\n');
        }
        let openings = Openings::from_epd(&text, plies).map_err(|why| format!("{}: {why}", path.display()))?;
        Ok(OpeningSource { openings, book: Some(sha256_hex(text.as_bytes())), limit })
    }

    /// Returns the settings that determine the openings.
    pub fn settings(&self) -> String {
        let book = self.book.as_deref().unwrap_or("none");
        let (mark, plies) = (self.openings.mark(), &self.openings.random_plies);
        format!("book = {book}{mark}\nrandom-plies = {plies:?}\nopening-limit = {}", self.limit)
    }

    /// Draws different openings, one FEN a line. They depend on the seed and on the engine that is
    /// linked in, which judges them.
    ///
    /// # Errors
    /// Fails if too few openings are within the limit, or there is no memory for the search.
    pub fn draw(&self, count: u64, seed: u64) -> anyhow::Result<String> {
        let drawn = in_search_thread(|| -> io::Result<Option<String>> {
            let mut searcher = Searcher::new(JUDGE_HASH_MIB).map_err(io::Error::other)?;
            let mut random = SplitMix64::from_seeds(&[seed]);
            let (mut seen, mut text) = (HashSet::new(), String::new());
            for _ in 0..DRAWS.saturating_mul(count as usize) {
                if seen.len() as u64 == count {
                    break;
                }
                let Some(board) = self.openings.draw(&mut random) else { continue };
                if seen.contains(&board.key()) {
                    continue;
                }
                searcher.new_game();
                let limits = Limits { soft_nodes: Some(JUDGE_NODES), ..Limits::default() };
                let game = Game::new(board);
                let found = searcher.search(&game, &limits, &Signals::default(), Instant::now(), &mut SilentReport);
                if found.score.abs() <= self.limit {
                    seen.insert(board.key());
                    text += &board.to_fen(false);
                    text.push('\n');
                }
            }
            Ok((seen.len() as u64 == count).then_some(text))
        });
        drawn.and_then(|drawn| drawn)?.ok_or_else(|| {
            anyhow::anyhow!(
                "hardly any opening is within {} centipawns; give [openings] a higher `limit`, or more `random-plies`",
                self.limit
            )
        })
    }
}

/// Parses `A` or `A-B`.
fn range(text: &str) -> Option<RangeInclusive<usize>> {
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    let (least, most) = (least.trim().parse().ok()?, most.trim().parse().ok()?);
    (1 <= least && least <= most && most <= 100).then_some(least..=most)
}
