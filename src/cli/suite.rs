//! `quintain suite`: test positions with known answers.

mod page;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use self::page::SuitePage;
use super::picture::PictureFormat;
use crate::chess::Variant;
use crate::files::{MOST_DOCUMENT_BYTES, open_input, text_within, write_atomically};
use crate::openings::packing::unpacked_file;
use crate::plan::time_control::Limit;
use crate::run::{Exit, RunError, progress, resolve, suite as solve};
use crate::suite::TestAnswer;
use crate::suite::epd::{self, TestPosition};
use crate::suite::tally::{self, Comparison, Sum};
use crate::text::count;
use crate::uci::Go;
use crate::uci::process::EngineConfig;

const EXAMPLES: &str = "\
A suite is an EPD file, with one position a line and its solution: `bm` (best moves), `am` (moves \
to avoid), `dm 4` or `bm #4` (mate in that many moves; `bm #-4`: the side to move is mated), points \
by move as in STS (`c0 \"f5=10, Be5+=2\"`, or c8 and c9), or perft counts (`;D1 20 ;D2 400`; the \
engine has to support `go perft N`). Moves are in standard algebraic or UCI notation. Parts of a \
suite are told apart by the text of `id` before its number.

Each position is searched as a new game. An answer is solved if it earns all points. The time to \
solution is that of the first line of the search from which on the move (or mate) was right, as \
the engine reports it. With two engines or more, each is compared with the first by McNemar's \
exact test: p is the probability of a split at least as uneven if both were equally good. \
Intervals of the solved share are Wilson's, of 95 %.

An engine that fails, or that does not know `go perft`, has no results. The others go on, and the \
exit code is 2 in the end.

--out writes an HTML page: sums, times to solution, comparisons, points by theme, and each \
position with its board, the most often missed first.

Timed answers get worse with more searches at once (-j) than the machine has cores.

Examples:
  quintain suite wac.epd ./my-engine --time 1s
  quintain suite sts.epd . git:main --nodes 100000 -j 2 --failed
  quintain suite wac.epd ./my-engine stockfish --out wac.html
  quintain suite wac.epd . --net old.nnue --net new.nnue --nodes 50000
  quintain suite mates.epd ./my-engine stockfish --depth 20 --json

JSON: `suite`, `limit`, `engines` (`name, spec, sums` (`theme, positions, solved, share, points, \
most, seconds`; `share` is the interval of the solved), `answers` (`id, fen, solved, points, \
answer, seconds, nodes, depth`)), `failed` (`name, spec, error`), `comparisons` with the first \
engine (`name, both, first, second, neither, p`).";

/// Runs engines on test positions: best moves, points, mates, perft.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct SuiteArgs {
    /// The test positions; the file may be packed by gzip or zstd.
    #[arg(value_name = "FILE.epd")]
    file: PathBuf,
    /// The engines; the first is compared with the others.
    #[arg(value_name = "ENGINE", required = true)]
    engines: Vec<String>,
    /// Time for each position [default: 1s, unless nodes or depth are given].
    #[arg(long, value_name = "TIME")]
    time: Option<String>,
    /// Nodes for each position.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Depth in plies for each position.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,
    /// A UCI option of all engines; may be repeated.
    #[arg(long = "option", value_name = "NAME=VALUE")]
    options: Vec<String>,
    /// Chess960 rules and castling; sets UCI_Chess960.
    #[arg(long)]
    chess960: bool,
    /// A network for all engines, built in or set as an option as their recipes say; given more
    /// than once, every engine is taken with each.
    #[arg(long = "net", value_name = "FILE")]
    nets: Vec<PathBuf>,
    /// Positions at once.
    #[arg(short = 'j', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    concurrency: u16,
    /// List the positions that are not solved.
    #[arg(long)]
    failed: bool,
    /// File for the page, .html, or for the picture of the times alone, .svg or .png.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Results of an engine.
struct SuiteResults {
    spec: String,
    name: String,
    answers: Vec<TestAnswer>,
    sums: Vec<Sum>,
}

/// Engine that failed, and so has no results.
struct FailedEngine {
    spec: String,
    name: String,
    why: String,
}

pub(super) fn run(args: &SuiteArgs) -> Result<Exit> {
    let path = args.file.display();
    let unpacked = open_input(&args.file).and_then(unpacked_file);
    let text = unpacked.and_then(|text| text_within(text, MOST_DOCUMENT_BYTES)).with_context(|| path.to_string())?;
    let variant = if args.chess960 { Variant::Chess960 } else { Variant::Standard };
    let tests = epd::parse(&args.file, &text, variant)?;
    let time = match &args.time {
        Some(time) => Some(resolve::time("--time", time)?),
        None => (args.nodes.is_none() && args.depth.is_none()).then_some(Duration::from_secs(1)),
    };
    let go = Go { movetime: time, nodes: args.nodes, depth: args.depth, ..Go::default() };
    let format = args.out.as_deref().map(|path| PictureFormat::of(path, ".html, .svg or .png")).transpose()?;
    let (mut results, mut failed) = (Vec::new(), Vec::new());
    let engines = engines(&args.engines, &args.options, &args.nets, &go)?;
    let is_alone = engines.len() == 1;
    for (spec, mut config) in engines {
        if args.chess960 {
            variant.set_option(&mut config.options);
        }
        let positions = count(tests.len() as u64, "position");
        progress::note(&format!("{}: {positions}, {}", config.name, limit(&go)));
        let answers = solve::answers(&config, &go, &tests, usize::from(args.concurrency), &|done| {
            if done.is_multiple_of(50) && done < tests.len() {
                progress::note(&format!("{done} of {}", tests.len()));
            }
        });
        let answers = match answers {
            Err(RunError::Suite(error)) if !is_alone => {
                progress::warn(&error.to_string());
                failed.push(FailedEngine { spec, name: config.name, why: error.to_string() });
                continue;
            }
            answers => answers?,
        };
        if answers.len() != tests.len() {
            bail!("{spec}: {} of {} positions were answered", answers.len(), tests.len());
        }
        let sums = tally::sums(&tests, &answers);
        results.push(SuiteResults { spec, name: config.name, answers, sums });
    }
    // Before the picture, which may fail.
    progress::result(&if args.json {
        serde_json::to_string_pretty(&document(args, &go, &tests, (&results, &failed)))?
    } else {
        report(&tests, (&results, &failed), args.failed)
    });
    if let (Some(format), Some(path)) = (format, &args.out) {
        let page = SuitePage { file: &args.file, limit: limit(&go), tests: &tests, results: &results, failed: &failed };
        let bytes = match format {
            PictureFormat::Html => page.html().into_bytes(),
            _ => format.write("", &page.svg(), "")?,
        };
        write_atomically(path, &bytes).with_context(|| format!("{}: cannot write it", path.display()))?;
        progress::note(&format!("wrote {}", path.display()));
    }
    if !failed.is_empty() {
        let names: Vec<&str> = failed.iter().map(|engine| engine.name.as_str()).collect();
        bail!("no results of {}", names.join(", "));
    }
    Ok(Exit::Done)
}

/// Resolves engines with their specs, each with every network. Those of one name are named by their
/// specs.
pub(super) fn engines(
    specs: &[String],
    options: &[String],
    nets: &[PathBuf],
    go: &Go,
) -> Result<Vec<(String, EngineConfig)>> {
    let limit = Limit { movetime: go.movetime, nodes: go.nodes, depth: go.depth, ..Limit::default() };
    let mut found = Vec::new();
    for spec in specs {
        let own = nets.is_empty().then_some(None);
        for net in nets.iter().map(|net| Some(net.as_path())).chain(own) {
            found.push((spec.clone(), resolve::one_engine(spec, options, net, limit)?));
        }
    }
    let names: Vec<String> = found.iter().map(|(_, config)| config.name.clone()).collect();
    for (spec, config) in &mut found {
        if names.iter().filter(|name| **name == config.name).count() > 1 {
            config.name.clone_from(spec);
        }
    }
    Ok(found)
}

/// Limit of a search as text.
pub(super) fn limit(go: &Go) -> String {
    let time = go.movetime.map(|time| format!("{} s", time.as_secs_f64()));
    let nodes = go.nodes.map(|nodes| count(nodes, "node"));
    let depth = go.depth.map(|depth| format!("depth {depth}"));
    [time, nodes, depth].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn report(tests: &[TestPosition], (results, failed): (&[SuiteResults], &[FailedEngine]), lists_failed: bool) -> String {
    let mut text = String::new();
    let names = results.iter().map(|result| &result.name).chain(failed.iter().map(|engine| &engine.name));
    let names = names.map(|name| name.chars().count());
    let width = results.iter().flat_map(|result| &result.sums).map(|sum| sum.theme.chars().count() + 2);
    let width = names.chain(width).max().unwrap_or(0).max(8);
    let _ = writeln!(
        text,
        "{:<width$}  {:>9}  {:>7}  {:>14}  {:>15}  {:>8}",
        "", "solved", "", "95 % interval", "points", "median s"
    );
    for result in results {
        for sum in &result.sums {
            let label = if sum.theme.is_empty() { result.name.clone() } else { format!("  {}", sum.theme) };
            let share = 100.0 * sum.solved as f64 / sum.positions.max(1) as f64;
            let seconds = sum.seconds.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.3}"));
            let _ = writeln!(
                text,
                "{label:<width$}  {:>9}  {share:>5.1} %  {:>14}  {:>15}  {seconds:>8}",
                format!("{}/{}", sum.solved, sum.positions),
                percents(sum.share),
                format!("{}/{}", sum.points, sum.most),
            );
        }
    }
    for engine in failed {
        let _ = writeln!(text, "{:<width$}  {:>9}", engine.name, "failed");
    }
    for (result, compared) in comparisons(results) {
        let _ = writeln!(
            text,
            "\n{} against {}: {} solved by the first alone, {} by the second alone, {} by both, {} by neither; p {:.4} (McNemar)",
            results[0].name, result.name, compared.first, compared.second, compared.both, compared.neither, compared.p
        );
    }
    if lists_failed {
        for result in results {
            let mut failed = tests.iter().zip(&result.answers).filter(|(_, answer)| !answer.is_solved).peekable();
            let what = if failed.peek().is_some() { "does not solve:" } else { "solves all" };
            let _ = writeln!(text, "\n{} {what}", result.name);
            for (test, answer) in failed {
                let _ = writeln!(text, "  {}  {} ({} points)  {}", test.id, answer.text, answer.points, test.fen);
            }
        }
    }
    text.trim_end().to_owned()
}

/// Interval of a share, in percent.
fn percents([low, high]: [f64; 2]) -> String {
    format!("[{:.1}, {:.1}]", 100.0 * low, 100.0 * high)
}

/// Comparisons of the first engine with each other one.
fn comparisons(results: &[SuiteResults]) -> Vec<(&SuiteResults, Comparison)> {
    let Some((first, others)) = results.split_first() else { return Vec::new() };
    others.iter().map(|other| (other, tally::compare(&first.answers, &other.answers))).collect()
}

fn document(
    args: &SuiteArgs,
    go: &Go,
    tests: &[TestPosition],
    (results, failed): (&[SuiteResults], &[FailedEngine]),
) -> Value {
    let answer = |test: &TestPosition, answer: &TestAnswer| {
        json!({
            "id": test.id,
            "fen": test.fen,
            "solved": answer.is_solved,
            "points": answer.points,
            "answer": answer.text,
            "seconds": answer.time.map(|time| time.as_secs_f64()),
            "nodes": answer.nodes,
            "depth": answer.depth,
        })
    };
    let engine = |result: &SuiteResults| {
        let answers: Vec<_> = tests.iter().zip(&result.answers).map(|(test, given)| answer(test, given)).collect();
        json!({ "name": result.name, "spec": result.spec, "sums": result.sums, "answers": answers })
    };
    let compared = |(result, compared): (&SuiteResults, Comparison)| {
        json!({
            "name": result.name, "both": compared.both, "first": compared.first, "second": compared.second,
            "neither": compared.neither, "p": compared.p,
        })
    };
    let failure = |engine: &FailedEngine| json!({ "name": engine.name, "spec": engine.spec, "error": engine.why });
    json!({
        "suite": args.file.display().to_string(),
        "limit": limit(go),
        "engines": results.iter().map(engine).collect::<Vec<_>>(),
        "failed": failed.iter().map(failure).collect::<Vec<_>>(),
        "comparisons": comparisons(results).into_iter().map(compared).collect::<Vec<_>>(),
    })
}
