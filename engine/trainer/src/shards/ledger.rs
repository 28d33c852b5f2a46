//! Ledger: the list of all shards, one JSON line each, fit for Git. The data itself stays outside.

use crate::data::{DataError, replace};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Name of the ledger in a folder of shards.
pub const FILE_NAME: &str = "ledger.jsonl";

/// Version of the format.
const VERSION: u32 = 1;

/// First line of a ledger.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    shards: u32,
}

/// Games, positions and results of a shard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardCounts {
    /// Whole games.
    pub games: u64,
    /// Positions of the games.
    pub positions: u64,
    /// Positions that the recipe keeps.
    pub kept: u64,
    /// Games that Black won, drew, and that White won.
    pub results: [u64; 3],
}

/// Line of a shard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardLine {
    /// File in the folder of the ledger.
    pub file: String,
    /// Name of the recipe.
    pub recipe: String,
    /// SHA-256 of all settings of the recipe that determine the games.
    pub settings: String,
    /// Seed of the stream of shards.
    pub seed: u64,
    /// Number of the shard in its stream, from 1.
    pub number: u32,
    /// Engines that played, and the one that scored, each with a hash or signature.
    pub engine: String,
    /// Counts of the contents.
    #[serde(flatten)]
    pub counts: ShardCounts,
    /// Games that an engine lost by a failure; they are not in the file.
    #[serde(default)]
    pub passed_over: u64,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// SHA-256 of the file.
    pub sha256: String,
}

/// Identity of a shard: recipe, its settings, seed and number.
type ShardKey<'a> = (&'a str, &'a str, u64, u32);

impl ShardLine {
    fn key(&self) -> ShardKey<'_> {
        (&self.recipe, &self.settings, self.seed, self.number)
    }
}

/// Error in a ledger.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// File that cannot be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Line that is not one of a ledger.
    #[error("{}: line {line}: {why}", path.display())]
    Line {
        /// The ledger.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// The fault and the remedy.
        why: String,
    },
    /// Shard that two lines list.
    #[error("{}: {file}: {why}", path.display())]
    Double {
        /// The ledger of the later line.
        path: PathBuf,
        /// File of the later line.
        file: String,
        /// The fault and the remedy.
        why: String,
    },
}

/// Lines of a ledger, without doubles, in the order of recipe, seed and number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    lines: Vec<ShardLine>,
}

impl Ledger {
    /// Reads the ledger of a folder, or an empty one if there is none. A torn last line, which the
    /// program never leaves but a copy may, is an error like any other.
    ///
    /// # Errors
    /// [`LedgerError`], with file, line and remedy.
    pub fn open(folder: &Path) -> Result<Ledger, LedgerError> {
        let path = folder.join(FILE_NAME);
        match std::fs::read_to_string(&path) {
            Ok(text) => Ledger::parse(&path, &text),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Ledger::default()),
            Err(error) => Err(DataError::io(&path, "read it")(error).into()),
        }
    }

    /// Reads the ledger of a folder, or a ledger file, which must exist.
    ///
    /// # Errors
    /// As [`Ledger::open`].
    pub fn read(path: &Path) -> Result<Ledger, LedgerError> {
        let path = if path.is_dir() { path.join(FILE_NAME) } else { path.to_owned() };
        match std::fs::read_to_string(&path) {
            Ok(text) => Ledger::parse(&path, &text),
            Err(error) => Err(DataError::io(&path, "read it")(error).into()),
        }
    }

    fn parse(path: &Path, text: &str) -> Result<Ledger, LedgerError> {
        let wrong = |line: usize, why: String| LedgerError::Line { path: path.to_owned(), line, why };
        let mut lines = (1..).zip(text.lines());
        let (_, head) = lines.next().ok_or_else(|| wrong(1, "no header; is this a ledger of shards?".to_owned()))?;
        let header: Header = serde_json::from_str(head)
            .map_err(|_| wrong(1, format!("expected `{{\"shards\":{VERSION}}}`; is this a ledger of shards?")))?;
        if header.shards != VERSION {
            let why =
                format!("version {}, this program reads {VERSION}; take the program that wrote it", header.shards);
            return Err(wrong(1, why));
        }
        let mut ledger = Ledger::default();
        for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let line: ShardLine = serde_json::from_str(line)
                .map_err(|error| wrong(number, format!("{error}; remove the line, and its shard is made again")))?;
            if !is_plain(&line.file) {
                let why = format!("`{}` is not the name of a file beside the ledger", line.file);
                return Err(wrong(number, why));
            }
            ledger.record(path, line)?;
        }
        Ok(ledger)
    }

    /// Adds a line. `path` is the ledger that it comes from, for messages.
    ///
    /// # Errors
    /// [`LedgerError::Double`] if the shard, its file name or its bytes are listed already.
    pub fn record(&mut self, path: &Path, line: ShardLine) -> Result<(), LedgerError> {
        let double = |why: String| LedgerError::Double { path: path.to_owned(), file: line.file.clone(), why };
        for known in &self.lines {
            let ShardLine { recipe, seed, number, .. } = known;
            if known.sha256 == line.sha256 {
                return Err(double(format!(
                    "the same bytes as shard {number} of `{recipe}` with seed {seed} ({}); leave one of them out",
                    known.file
                )));
            }
            if known.key() == line.key() {
                return Err(double(format!(
                    "shard {number} of `{recipe}` with seed {seed} is there already with other bytes; machines need seeds of their own (`--seed`)"
                )));
            }
            if known.file == line.file {
                return Err(double("another shard has this file name; rename one recipe".to_owned()));
            }
        }
        let place = self.lines.partition_point(|known| known.key() < line.key());
        self.lines.insert(place, line);
        Ok(())
    }

    /// Returns the lines.
    pub fn lines(&self) -> &[ShardLine] {
        &self.lines
    }

    /// Returns the lines of a recipe's stream.
    pub fn stream<'a>(&'a self, recipe: &'a str, seed: u64) -> impl Iterator<Item = &'a ShardLine> {
        self.lines.iter().filter(move |line| line.recipe == recipe && line.seed == seed)
    }

    /// Formats the ledger.
    pub fn text(&self) -> String {
        let mut text = format!("{{\"shards\":{VERSION}}}\n");
        for line in &self.lines {
            text += &serde_json::to_string(line).unwrap_or_default();
            text.push('\n');
        }
        text
    }

    /// Writes the ledger atomically.
    ///
    /// # Errors
    /// [`LedgerError::Data`].
    pub fn write(&self, path: &Path) -> Result<(), LedgerError> {
        Ok(replace(path, self.text().as_bytes())?)
    }

    /// Formats a table of the recipes and seeds.
    pub fn table(&self) -> String {
        let mut streams: BTreeMap<(&str, u64), (u64, u64, ShardCounts)> = BTreeMap::new();
        for line in &self.lines {
            let (shards, bytes, sum) = streams.entry((&line.recipe, line.seed)).or_default();
            *shards += 1;
            *bytes += line.bytes;
            sum.add(&line.counts);
        }
        let width = streams.keys().map(|(recipe, _)| recipe.len()).max().unwrap_or(0).max(6);
        let mut text = format!(
            "{:<width$} {:>6} {:>6} {:>10} {:>12} {:>12} {:>14} {:>8}\n",
            "recipe", "seed", "shards", "games", "positions", "kept", "W/D/L %", "MB"
        );
        let mut all = (0, 0, ShardCounts::default());
        for ((recipe, seed), (shards, bytes, sum)) in &streams {
            text += &row(width, recipe, &seed.to_string(), *shards, *bytes, sum);
            all.0 += shards;
            all.1 += bytes;
            all.2.add(sum);
        }
        if streams.len() > 1 {
            text += &row(width, "all", "", all.0, all.1, &all.2);
        }
        text
    }
}

fn row(width: usize, recipe: &str, seed: &str, shards: u64, bytes: u64, sum: &ShardCounts) -> String {
    let ShardCounts { games, positions, kept, results: [losses, draws, wins] } = sum;
    let share = |count: &u64| format!("{:.0}", 100.0 * *count as f64 / (*games).max(1) as f64);
    let results = [wins, draws, losses].map(share).join("/");
    let megabytes = bytes as f64 / 1e6;
    format!(
        "{recipe:<width$} {seed:>6} {shards:>6} {games:>10} {positions:>12} {kept:>12} {results:>14} {megabytes:>8.1}\n"
    )
}

impl ShardCounts {
    /// Adds the counts of other games.
    pub fn add(&mut self, other: &ShardCounts) {
        self.games += other.games;
        self.positions += other.positions;
        self.kept += other.kept;
        self.results.iter_mut().zip(other.results).for_each(|(sum, count)| *sum += count);
    }
}

/// Returns true for a file name without folders.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\\']) && !name.starts_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(recipe: &str, seed: u64, number: u32) -> ShardLine {
        ShardLine {
            file: format!("{recipe}-{seed}-{number:05}.vf"),
            recipe: recipe.to_owned(),
            settings: "s".to_owned(),
            seed,
            number,
            engine: "e".to_owned(),
            counts: ShardCounts { games: 2, positions: 9, kept: 5, results: [1, 0, 1] },
            passed_over: 0,
            bytes: 99,
            sha256: format!("{recipe} {seed} {number}"),
        }
    }

    fn ledger(lines: impl IntoIterator<Item = ShardLine>) -> Result<Ledger, LedgerError> {
        let mut ledger = Ledger::default();
        lines.into_iter().try_for_each(|line| ledger.record(Path::new("l"), line))?;
        Ok(ledger)
    }

    #[test]
    fn lines_come_back_in_one_order() {
        let one = ledger([line("b", 1, 2), line("b", 1, 1), line("a", 2, 1)]).unwrap();
        let other = ledger([line("a", 2, 1), line("b", 1, 1), line("b", 1, 2)]).unwrap();
        assert_eq!(one, other);
        assert_eq!(Ledger::parse(Path::new("l"), &one.text()).unwrap(), one);
        assert_eq!(one.stream("b", 1).count(), 2);
        let table = one.table();
        assert!(table.contains("50/0/50") && table.lines().last().unwrap().starts_with("all"), "{table}");
    }

    #[test]
    fn doubles_are_refused() {
        for (double, says) in [
            (line("a", 1, 1), "the same bytes as shard 1 of `a` with seed 1"),
            (ShardLine { sha256: "other".to_owned(), ..line("a", 1, 1) }, "with other bytes; machines need seeds"),
            (ShardLine { sha256: "a 1 1".to_owned(), ..line("a", 2, 7) }, "the same bytes as shard 1"),
            (ShardLine { file: "a-1-00001.vf".to_owned(), ..line("b", 1, 1) }, "another shard has this file name"),
        ] {
            let error = ledger([line("a", 1, 1), double]).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
        assert_eq!(ledger([line("a", 1, 1), line("a", 2, 1), line("b", 1, 1)]).unwrap().lines().len(), 3);
    }

    #[test]
    fn bad_lines_are_named() {
        let good = ledger([line("a", 1, 1)]).unwrap().text();
        for (text, says) in [
            (String::new(), "line 1: no header"),
            ("{\"x\":1}\n".to_owned(), "line 1: expected `{\"shards\":1}`"),
            (good.replace("\"shards\":1", "\"shards\":9"), "line 1: version 9, this program reads 1"),
            (good[..good.len() - 9].to_owned(), "line 2: "),
            (good.replace("a-1-00001.vf", "../a.vf"), "line 2: `../a.vf` is not the name of a file"),
        ] {
            let error = Ledger::parse(Path::new("l"), &text).unwrap_err().to_string();
            assert!(error.contains(says) && !error.contains('\n'), "{error}");
        }
    }
}
