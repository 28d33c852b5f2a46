//! `quintain runs`: stored and live runs, and the names by which commands take them.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::ValueEnum;
use clap::builder::{OsStringValueParser, TypedValueParser};
use console::{measure_text_width, truncate_str};
use serde_json::{Value, json};

use crate::control::client::Client;
use crate::report::explain::table::markdown;
use crate::report::state::{self, ListedState};
use crate::report::stored::{self, Index, IndexEntry, RunDigest};
use crate::run::begin::GameCommand;
use crate::run::dir::RESULTS;
use crate::run::{Exit, progress};
use crate::stats::sprt::Bounds;
use crate::text::{columns, printable};
use crate::tournament::formats::{FORMATS, either};

const EXAMPLES: &str = "\
A RUN of other commands is a folder, an id of this list, the end of exactly one id, or `latest`. \
Elo is that of the first player against the second, with its 95 % interval.

Keys of --json: `runs`, the newest first, each with `id`, `dir`, `state` (live, H0, H1, \
interrupted, damaged, or the reason of its end), `outcome` (the result on one line), `date` \
(seconds since 1970), `title`, `players`, `labels` (the names, with the options that differ of players with one program), \
`limit`, `elo0`, `elo1`, `pairs` and the estimates of summary.json.

Examples:
  quintain runs
  quintain runs lmr --verdict H1
  quintain runs --limit 8+0.08 --bounds 0,5 --format md
  quintain report latest";

/// Lists the runs of a folder, the newest first.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct RunsArgs {
    /// Runs with all of these words in their ids, names, titles, players' names or differing
    /// options. Case does not matter.
    #[arg(value_name = "WORD")]
    words: Vec<String>,
    /// The folder of results.
    #[arg(long, value_name = "DIR", default_value = RESULTS)]
    results: PathBuf,
    /// Runs with this state: live, H0, H1, interrupted, and so on, as listed.
    #[arg(long = "verdict", value_name = "STATE")]
    state: Option<String>,
    /// Runs of this format, `sprt` for tests of two players, or `match` for all formats without a
    /// command of their own.
    #[arg(long = "type", value_name = "FORMAT")]
    kind: Option<String>,
    /// Runs with this limit, as listed: 8+0.08, nodes=7000.
    #[arg(long, value_name = "LIMIT")]
    limit: Option<String>,
    /// Runs that test these bounds.
    #[arg(long, value_name = "H0,H1", allow_hyphen_values = true)]
    bounds: Option<Bounds>,
    /// Maximum number of runs listed.
    #[arg(short = 'n', long, value_name = "N")]
    top: Option<usize>,
    /// Form of the list.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: ListFormat,
    /// Print one JSON document, as `--format json` does.
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ListFormat {
    /// Columns for a terminal.
    Table,
    /// A Markdown table.
    #[value(alias = "markdown")]
    Md,
    /// One JSON document.
    Json,
}

/// Parser of an argument that names a run: a path, or what `quintain runs` lists.
pub(super) fn run_parser() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().try_map(|name| folder_of(Path::new(RESULTS), name))
}

/// Names of the stored and live runs, the newest first, with their players and states. A name is
/// the last part of an id, or the whole one if two end so.
pub(super) fn described() -> Vec<(String, String)> {
    let index = Index::of(Path::new(RESULTS), &Index::default());
    let rows: Vec<Row> = index.newest_first().into_iter().map(|(id, entry)| Row::new(id, entry)).collect();
    let mut ends: HashMap<&str, u64> = HashMap::new();
    for row in &rows {
        *ends.entry(last_part(row.id)).or_default() += 1;
    }
    let is_single = |end: &str| ends.get(end).is_some_and(|runs| *runs == 1);
    let name = |id: &str| Some(last_part(id)).filter(|end| is_single(end)).unwrap_or(id).to_owned();
    rows.iter().map(|row| (name(row.id), format!("{}, {}", row.players(), row.state))).collect()
}

/// Last part of a run's id.
fn last_part(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or_default()
}

/// Folder of the run that `name` stands for; `name` itself as a path if it is one, or if there is
/// no such run: opening it then fails.
pub(super) fn folder_of(results: &Path, name: OsString) -> Result<PathBuf, stored::FindError> {
    let path = PathBuf::from(&name);
    if path.exists() {
        return Ok(path);
    }
    let found = name.to_str().map_or(Ok(None), |name| stored::find(results, name))?;
    Ok(found.unwrap_or(path))
}

pub(super) fn run(args: &RunsArgs) -> Result<Exit> {
    if !args.results.is_dir() {
        bail!(
            "{}: no such folder; name the folder of results with --results, or play a run first",
            args.results.display()
        );
    }
    let index = Index::of(&args.results, &Index::default());
    args.check_words(&index)?;
    let rows = index.newest_first().into_iter().map(|(id, entry)| Row::new(id, entry)).filter(|row| args.selects(row));
    let rows: Vec<Row> = rows.take(args.top.unwrap_or(usize::MAX)).collect();
    let format = if args.json { ListFormat::Json } else { args.format };
    progress::result(&match format {
        ListFormat::Table if rows.is_empty() => "no runs".to_owned(),
        ListFormat::Table => {
            let size = console::Term::stdout().size_checked();
            table(&rows, size.map(|(_, width)| usize::from(width))).join("\n")
        }
        ListFormat::Md => markdown_table(&rows),
        ListFormat::Json => json!({ "runs": rows.iter().map(Row::json).collect::<Vec<_>>() }).to_string(),
    });
    Ok(Exit::Done)
}

/// A run in the list.
struct Row<'a> {
    id: &'a str,
    dir: &'a Path,
    about: &'a RunDigest,
    state: &'a str,
}

/// Heads of the columns; `#` marks numbers.
const HEADS: [&str; 7] = ["run", "state", "players", "limit", "bounds", "#pairs", "#Elo"];

/// Column of the players, which is cut on a narrow terminal, and its smallest width there.
const PLAYERS: usize = 2;
const LEAST_PLAYERS: usize = 20;

impl<'a> Row<'a> {
    fn new(id: &'a str, entry: &'a IndexEntry) -> Self {
        let about = entry.about.as_ref();
        let is_live = entry.socket.is_some() && Client::connect(&entry.dir).is_ok();
        let state = if is_live { ListedState::Live.name() } else { about.word() };
        Self { id, dir: &entry.dir, about, state }
    }

    fn bounds(&self) -> Option<Bounds> {
        self.about.elo0.zip(self.about.elo1).map(|(elo0, elo1)| Bounds { elo0, elo1 })
    }

    fn players(&self) -> String {
        match self.about.labels.as_slice() {
            [new, base] => format!("{new} against {base}"),
            [] => self.about.name.clone(),
            players => format!("{} players, {}", players.len(), self.about.format),
        }
    }

    /// Result of more than two players.
    fn outcome(&self) -> Option<&str> {
        let has_outcome = state::has_outcome(self.about.players.len(), self.state);
        self.about.outcome.as_deref().filter(|_| has_outcome)
    }

    fn cells(&self) -> Vec<String> {
        let outcome = self.outcome().map_or(String::new(), |outcome| format!(": {outcome}"));
        let note = self.about.title.as_ref().map_or(String::new(), |title| format!(" ({title})"));
        let known = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        let is_of_two = self.about.players.len() == 2;
        [
            self.id.to_owned(),
            self.state.to_owned(),
            self.players() + &outcome + &note,
            self.about.limit.clone(),
            known(self.bounds().map(|bounds| bounds.to_string())),
            known(self.about.pairs.map(|pairs| pairs.to_string())),
            known(is_of_two.then(|| self.about.estimates.elo_short().trim_start_matches("Elo ").to_owned())),
        ]
        .map(|cell| printable(&cell))
        .to_vec()
    }

    fn json(&self) -> Value {
        let mut value = json!(self.about);
        value["id"] = json!(self.id);
        value["dir"] = json!(self.dir.display().to_string());
        value["state"] = json!(self.state);
        value
    }
}

impl RunsArgs {
    /// Refuses a state and a format that no run can have, because they would only list nothing.
    fn check_words(&self, index: &Index) -> Result<()> {
        let has = |words: &[&str], wanted: &str| words.iter().any(|word| word.eq_ignore_ascii_case(wanted));
        let rows = || index.newest_first().into_iter().map(|(id, entry)| Row::new(id, entry));
        if let Some(state) = &self.state
            && !has(&state::WORDS, state)
            && !rows().any(|row| row.state.eq_ignore_ascii_case(state))
        {
            bail!("--verdict `{state}`: no run has this state; give {}", either(&state::WORDS));
        }
        let mut kinds = vec!["sprt", "match"];
        kinds.extend(FORMATS.iter().map(|format| format.name));
        if let Some(kind) = &self.kind
            && !has(&kinds, kind)
            && !rows().any(|row| row.about.format.eq_ignore_ascii_case(kind))
        {
            bail!("--type `{kind}`: no run has this format; give {}", either(&kinds));
        }
        Ok(())
    }

    fn selects(&self, row: &Row) -> bool {
        let about = row.about;
        let is = |wanted: &Option<String>, found: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(found))
        };
        let kind = if row.bounds().is_some() { "sprt" } else { &about.format };
        let is_match = row.bounds().is_none() && GameCommand::of_format(&about.format) == GameCommand::Match;
        self.words.iter().all(|word| about.names(row.id, word))
            && is(&self.state, row.state)
            && (is(&self.kind, kind) || is(&self.kind, &about.format) || is_match && is(&self.kind, "match"))
            && is(&self.limit, &about.limit)
            && self.bounds.is_none_or(|bounds| row.bounds() == Some(bounds))
    }
}

/// Lines of the list, cut to the `width` of a terminal as far as the players' column can be.
fn table(rows: &[Row], width: Option<usize>) -> Vec<String> {
    let widest = |texts: &mut dyn Iterator<Item = &String>| texts.map(|text| measure_text_width(text)).max();
    let mut cells: Vec<Vec<String>> = rows.iter().map(Row::cells).collect();
    let lines = columns(&HEADS, &cells);
    let excess = widest(&mut lines.iter()).zip(width).map_or(0, |(line, width)| line.saturating_sub(width));
    if excess == 0 {
        return lines;
    }
    let players = widest(&mut cells.iter().map(|row| &row[PLAYERS])).unwrap_or(0);
    let players = players.saturating_sub(excess).max(LEAST_PLAYERS);
    for row in &mut cells {
        row[PLAYERS] = truncate_str(&row[PLAYERS], players, "…").into_owned();
    }
    columns(&HEADS, &cells)
}

fn markdown_table(rows: &[Row]) -> String {
    let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let heads = HEADS.map(|head| head.trim_start_matches('#').to_owned());
    let rules = HEADS.map(|head| if head.starts_with('#') { "---:" } else { "---" }.to_owned());
    let rows = rows.iter().map(|row| line(&row.cells().iter().map(|cell| markdown(cell)).collect::<Vec<_>>()));
    [line(&heads), line(&rules)].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct RunnerWords {
        #[command(flatten)]
        args: RunsArgs,
    }

    /// A folder with five runs.
    fn results() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (id, summary) in [
            (
                "20261120-080000-lmr",
                json!({ "name": "sprt", "stopped_by": "verdict", "verdict": "H1", "elo0": 0, "elo1": 5, "pairs": 90, "elo": 9.5,
                    "note": "less | reduction", "players": [{ "name": "lmr", "limit": "8+0.08" }, { "name": "main", "limit": "8+0.08" }] }),
            ),
            (
                "20261121-080000-null",
                json!({ "name": "sprt", "stopped_by": "out-of-pairs", "verdict": "continue", "elo0": -5, "elo1": 0, "pairs": 7,
                    "players": [{ "name": "null", "limit": "nodes=9" }, { "name": "main", "limit": "nodes=9" }] }),
            ),
            (
                "20261122-080000-field",
                json!({ "name": "field", "stopped_by": "interrupted", "format": "gauntlet", "pairs": 4, "players":
                    [{ "name": "a", "limit": "1+0.01" }, { "name": "b", "limit": "1+0.01" }, { "name": "c", "limit": "1+0.01" }] }),
            ),
            (
                "20261122-090000-cup",
                json!({ "name": "cup", "stopped_by": "out-of-pairs", "outcome": "b wins the knockout", "format": "knockout", "pairs": 2,
                    "players": [{ "name": "a", "limit": "1+0.01" }, { "name": "b", "limit": "1+0.01" }, { "name": "c", "limit": "1+0.01" }] }),
            ),
            ("20261123-080000-junk", json!([])),
        ] {
            let dir = root.path().join("runs").join(id);
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(dir.join(stored::SUMMARY), summary.to_string()).unwrap();
        }
        root
    }

    /// Last words of the ids that a command line lists.
    fn listed(root: &Path, words: &str) -> Vec<String> {
        let root = root.display().to_string();
        let line = ["runs", "--results", &root].into_iter().chain(words.split_whitespace());
        let args = RunnerWords::try_parse_from(line).map_err(|error| error.to_string()).unwrap().args;
        let index = Index::of(&args.results, &Index::default());
        let rows = index.newest_first().into_iter().map(|(id, entry)| Row::new(id, entry));
        rows.filter(|row| args.selects(row)).map(|row| row.id.rsplit('-').next().unwrap().to_owned()).collect()
    }

    #[test]
    fn filters_select_runs() {
        let root = results();
        for (words, expected) in [
            ("", &["junk", "cup", "field", "null", "lmr"][..]),
            ("--verdict h1", &["lmr"]),
            ("--verdict out-of-pairs", &["cup", "null"]),
            ("--verdict interrupted", &["field"]),
            ("--verdict damaged", &["junk"]),
            ("--type sprt", &["null", "lmr"]),
            ("--type gauntlet", &["field"]),
            ("--limit nodes=9", &["null"]),
            ("--bounds -5,0", &["null"]),
            ("--bounds 0,5 main", &["lmr"]),
            ("MAIN", &["null", "lmr"]),
            ("main reduction", &["lmr"]),
            ("main --verdict H0", &[]),
        ] {
            assert_eq!(listed(root.path(), words), expected, "{words}");
        }
    }

    #[test]
    fn a_misspelt_filter_is_refused() {
        let root = results();
        let index = Index::of(root.path(), &Index::default());
        let check = |flag: &str, word: &str| {
            let args =
                RunnerWords::try_parse_from(["runs", flag, word]).map_err(|error| error.to_string()).unwrap().args;
            args.check_words(&index).map_err(|error| error.to_string())
        };
        for (flag, word) in [
            ("--verdict", "h1"),
            ("--verdict", "live"),
            ("--verdict", "too-many-failures"),
            ("--type", "sprt"),
            ("--type", "Match"),
            ("--type", "gauntlet"),
            ("--type", "swiss"),
        ] {
            assert_eq!(check(flag, word), Ok(()), "{flag} {word}");
        }
        let refused = check("--verdict", "H2").unwrap_err();
        assert!(refused.starts_with("--verdict `H2`: no run has this state; give live, H1, H0, "), "{refused}");
        let refused = check("--type", "sptr").unwrap_err();
        assert!(refused.starts_with("--type `sptr`: no run has this format; give sprt, match, "), "{refused}");
    }

    #[test]
    fn the_list_has_a_line_for_each_run() {
        let root = results();
        let index = Index::of(root.path(), &Index::default());
        let rows: Vec<_> = index.newest_first().into_iter().map(|(id, entry)| Row::new(id, entry)).collect();
        let lines = table(&rows, None);
        let expected = [
            "run                         state         players                                   limit    bounds   pairs   Elo",
            "runs/20261123-080000-junk   damaged       runs/20261123-080000-junk                          -            -     -",
            "runs/20261122-090000-cup    out-of-pairs  3 players, knockout: b wins the knockout  1+0.01   -            2     -",
            "runs/20261122-080000-field  interrupted   3 players, gauntlet                       1+0.01   -            4     -",
            "runs/20261121-080000-null   out-of-pairs  null against main                         nodes=9  [-5, 0]      7     -",
            "runs/20261120-080000-lmr    H1            lmr against main (less | reduction)       8+0.08   [0, 5]      90  +9.5",
        ];
        assert_eq!(lines, expected);
        let width = |lines: &[String]| lines.iter().map(|line| line.chars().count()).max();
        let narrow = table(&rows, Some(100));
        assert_eq!(
            (width(&narrow), narrow[2].contains("3 players, knockout: b win…")),
            (Some(100), true),
            "{narrow:?}"
        );
        assert_eq!(width(&table(&rows, Some(10))), width(&lines).map(|all| all - 40 + LEAST_PLAYERS));
        let table = markdown_table(&rows);
        assert!(table.starts_with("| run | state |") && table.contains("less \\| reduction"), "{table}");
    }

    #[test]
    fn a_name_that_is_no_path_is_looked_up() {
        let root = results();
        let found = |name: &str| folder_of(root.path(), name.into());
        assert_eq!(found("latest").unwrap(), root.path().join("runs/20261123-080000-junk"));
        assert_eq!(found("lmr").unwrap(), root.path().join("runs/20261120-080000-lmr"));
        assert_eq!(found("no-such-run").unwrap(), Path::new("no-such-run"));
        let there = root.path().join("runs").display().to_string();
        assert_eq!(found(&there).unwrap(), Path::new(&there));
    }
}
