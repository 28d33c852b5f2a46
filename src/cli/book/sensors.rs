//! `quintain book judge`: books and clocks by the information in a pair of games.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::BUILTIN;
use crate::chess::Variant;
use crate::cli::flags::RunFlags;
use crate::files::write_atomically;
use crate::plan::BookSource;
use crate::record::{GameRecord, PlayerId};
use crate::report::figures::signed;
use crate::run::dir::RunDir;
use crate::run::drive::default_place;
use crate::run::notify::Receivers;
use crate::run::series::{MatchResult, Series};
use crate::run::{Exit, prepare, progress, resolve};
use crate::settings::{AnyCommand, RawPlan};
use crate::stats::elo::fixed;
use crate::stats::sensor::{IntervalEstimate, LevelPairs, SensedPair, SensorFigures};
use crate::text::{columns, count};
use crate::tournament::scoreboard::Scoreboard;

/// Name of the document beside the matches.
const DOCUMENT: &str = "judge.json";

const EXAMPLES: &str = "\
A book is a sensor: a pair of games from one book tells more about the engines' strength than a \
pair from another. Two engines of known order play a few pairs from each book in turn, so that \
the machine's load affects all books alike. --tcs compares clocks the same way, alone or with \
several books.

nElo is normalized Elo, the strength in units of a game's randomness; the pairs that a test needs \
grow with its inverse square. Level pairs give each side one point and carry no information; \
`drawn` is the share of them with two draws. Bias is the root mean square of the openings' \
advantage for a colour, in Elo: its square is the variance of games minus that of pairs, an \
unbiased estimate. Pairs an hour come from the times of the games themselves. Efficiency is nElo \
squared times pairs an hour: a test with twice the efficiency takes half the time. Its interval, \
and that of the ratio to the first book, is by the delta method on the logarithm, with score and \
time of each pair together; all are of 95 %.

The matches are kept in --out, and the same command with the same --out continues there. \
`quintain report` and `explain` read each of them.

Examples:
  quintain book judge --books builtin my-book.epd uho.pgn --engines git:main,git:v1.0 --tc 2+0.02 --pairs 500 --out results/judge
  quintain book judge --books my-book.epd --engines ./strong,./weak --tcs 1+0.01,2+0.02,8+0.08 --pairs 300
  quintain book judge --books A.epd B.epd --engines ./strong,./weak --nodes 20000 --json

JSON: `engines`, `arms` (`book, tc, pairs, ptnml, level` (`drawn, won`), `nelo, level_rate, bias, \
efficiency` (`value, lo, hi`), `pairs_an_hour`, `against_first` (`nelo, level_rate, \
efficiency_ratio`, null for the first)), `reason` (pairs|time|stopped). null stands for what is \
not known.";

/// Measures how much information a pair from each book has about the strength of two engines.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES, allow_negative_numbers = true)]
#[command(mut_args(|arg| if ["book", "until_width"].contains(&arg.get_id().as_str()) { arg.hide(true) } else { arg }))]
pub(super) struct JudgeArgs {
    /// The books; `builtin` is the one inside the program.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true, help_heading = "Books")]
    books: Vec<String>,
    /// The stronger engine, then the weaker one.
    #[arg(long, value_name = "STRONG,WEAK", value_delimiter = ',', required = true, help_heading = "Books")]
    engines: Vec<String>,
    /// Clocks to compare, instead of --tc.
    #[arg(long, value_name = "TC,...", value_delimiter = ',', conflicts_with = "tc", help_heading = "Books")]
    tcs: Vec<String>,
    /// Pairs from each book at each clock.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(2..), help_heading = "Books")]
    pairs: u64,
    /// Pairs from one book before the next has its turn.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Books")]
    batch: u64,
    #[command(flatten)]
    flags: RunFlags<AnyCommand>,
}

/// A book at a clock.
struct Arm {
    book: String,
    tc: Option<String>,
    series: Series,
    pairs: Vec<SensedPair>,
    slots: u16,
    is_spent: bool,
}

impl Arm {
    fn label(&self) -> String {
        let book =
            Path::new(&self.book).file_name().map_or(self.book.clone(), |name| name.to_string_lossy().into_owned());
        match &self.tc {
            Some(tc) => format!("{book} {tc}"),
            None => book,
        }
    }

    /// Checks that every earlier match is one of these engines.
    fn check(&self, engines: &[String]) -> Result<()> {
        for run in self.series.runs()? {
            let (_, plan) = RunDir::open(&run)?;
            let specs: Vec<&str> = plan.players.iter().map(|player| player.origin.spec.as_str()).collect();
            if specs != engines {
                bail!("{}: a match of {}; give these --engines, or another --out", run.display(), specs.join(" and "));
            }
        }
        Ok(())
    }

    /// Ends an interrupted match, and reads all matches.
    fn finish(&mut self) -> Result<Exit> {
        let exit = self.series.finish()?;
        if exit == Exit::Done {
            self.read()?;
        }
        Ok(exit)
    }

    /// Reads the pairs that count from the matches that were not read before.
    fn read(&mut self) -> Result<()> {
        for run in self.series.new_runs()? {
            let (dir, plan) = RunDir::open(&run)?;
            self.slots = plan.concurrency;
            let mut scoreboard = Scoreboard::new(&plan)?;
            let pairs = &mut self.pairs;
            dir.read(&plan, |game| scoreboard.record(game, |_, games| pairs.extend(sensed(games))))?;
        }
        Ok(())
    }

    fn figures(&self) -> SensorFigures {
        SensorFigures::of(&self.pairs, self.slots)
    }
}

/// End of a judgement.
enum JudgeEnd {
    /// Each arm has its pairs, or no opening left.
    Pairs,
    /// The time of --max-time is over.
    Time,
    /// A match did not end as it should.
    Stopped(Exit),
}

/// A pair from the first engine's view.
fn sensed(games: &[GameRecord]) -> Option<SensedPair> {
    let [first, second] = games else { return None };
    let half_points = [first.half_points(PlayerId::NEW)?, second.half_points(PlayerId::NEW)?];
    Some(SensedPair { half_points, seconds: (first.took + second.took).as_secs_f64() })
}

pub(super) fn run(args: &JudgeArgs) -> Result<Exit> {
    let mut raw = args.flags.typed().clone();
    let limit = raw.max_time.take().map(|text| resolve::time("--max-time", &text)).transpose()?;
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
    let receivers = Receivers::of(&raw)?;
    check(args, &raw)?;
    let root = raw.out.clone().unwrap_or_else(|| default_place("judge").wanted().to_owned());
    let mut arms = arms(args, &raw, &root)?;
    for arm in &arms {
        arm.series.check_programs(&args.engines, "judge")?;
    }
    let all = args.pairs.saturating_mul(arms.len() as u64);
    progress::note(&format!("{}; games in {}", count(all, "pair"), root.display()));
    let end = play(&mut arms, args, deadline)?;
    // A match that stopped has pairs that count.
    for arm in &mut arms {
        arm.read()?;
    }
    let (exit, reason, why) = match end {
        JudgeEnd::Pairs => (Exit::Done, "pairs", ""),
        JudgeEnd::Time => (Exit::Inconclusive, "time", ""),
        JudgeEnd::Stopped(exit) => (exit, "stopped", ", stopped by a match that could not go on"),
    };
    let found = json(args, &arms, reason);
    let document = serde_json::to_string_pretty(&found)? + "\n";
    // On a full disk this error would hide why the match stopped.
    if !matches!(end, JudgeEnd::Stopped(_)) {
        let path = root.join(DOCUMENT);
        write_atomically(&path, document.as_bytes()).with_context(|| format!("{}: cannot write it", path.display()))?;
    }
    let shown = if args.flags.json { document } else { text(&arms) };
    progress::result(shown.trim_end());
    let labels: Vec<String> = arms.iter().map(Arm::label).collect();
    let pairs = arms.iter().map(|arm| arm.pairs.len() as u64).sum();
    let headline = format!("{} from {}{why}", count(pairs, "pair"), labels.join(", "));
    receivers.tell_of("book judge", (found, &headline), &root, exit);
    Ok(exit)
}

/// Plays the arms in turns.
fn play(arms: &mut [Arm], args: &JudgeArgs, deadline: Option<Instant>) -> Result<JudgeEnd> {
    for arm in &mut *arms {
        match arm.finish()? {
            Exit::Done => {}
            exit => return Ok(JudgeEnd::Stopped(exit)),
        }
    }
    for round in 0.. {
        if arms.iter().all(|arm| arm.is_spent || arm.pairs.len() as u64 >= args.pairs) {
            break;
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(JudgeEnd::Time);
        }
        // Another book begins each round.
        let count = arms.len();
        for place in 0..count {
            match turn(&mut arms[(place + round) % count], args)? {
                Exit::Done => {}
                exit => return Ok(JudgeEnd::Stopped(exit)),
            }
        }
    }
    Ok(JudgeEnd::Pairs)
}

fn check(args: &JudgeArgs, raw: &RawPlan) -> Result<()> {
    if args.engines.len() != 2 || args.engines[0] == args.engines[1] {
        bail!("--engines: write two engines, the stronger one first, as in ./strong,./weak");
    }
    if raw.book.is_some() {
        bail!("--book: give the books with --books");
    }
    if raw.until_width.is_some() {
        bail!("--until-width ends a single match; use --pairs");
    }
    let mut seen = HashSet::new();
    for (flag, text) in args.books.iter().map(|book| ("--books", book)).chain(args.tcs.iter().map(|tc| ("--tcs", tc))) {
        if !seen.insert((flag, text)) {
            bail!("{flag}: `{text}` is given twice");
        }
    }
    Ok(())
}

/// Opens the folder of each book and clock.
fn arms(args: &JudgeArgs, raw: &RawPlan, root: &Path) -> Result<Vec<Arm>> {
    let clocks: Vec<Option<&String>> =
        if args.tcs.is_empty() { vec![None] } else { args.tcs.iter().map(Some).collect() };
    let mut lists = Vec::new();
    for book in &args.books {
        // A book that cannot be read is told before a game is played.
        let source = file_of(book).map_or(BookSource::Builtin, BookSource::File);
        let variant = if raw.chess960 == Some(true) { Variant::Chess960 } else { Variant::Standard };
        lists.push(prepare::read_any_book(&source, raw.book_plies, variant)?.is_list());
    }
    // The plies of some books may be cut and compared with lists.
    prepare::check_plies(raw.book_plies, !lists.contains(&false))?;
    let mut arms = Vec::new();
    for (book, is_list) in args.books.iter().zip(lists) {
        for tc in &clocks {
            let mut own = raw.clone();
            own.book = file_of(book);
            own.book_plies = raw.book_plies.filter(|_| !is_list);
            if let Some(tc) = tc {
                own.tc = Some((*tc).clone());
            }
            let arm = Arm {
                book: book.clone(),
                tc: tc.cloned(),
                series: Series::open(root.join(folder(arms.len(), book, tc.map(String::as_str))), own)?,
                pairs: Vec::new(),
                slots: 1,
                is_spent: false,
            };
            arm.check(&args.engines)?;
            arms.push(arm);
        }
    }
    Ok(arms)
}

/// File of a book; `None` for the one inside the program.
fn file_of(book: &str) -> Option<PathBuf> {
    (book != BUILTIN).then(|| PathBuf::from(book))
}

/// Folder of a book and clock.
fn folder(place: usize, book: &str, tc: Option<&str>) -> String {
    let stem = Path::new(book).file_name().map_or(book.to_owned(), |name| name.to_string_lossy().into_owned());
    let plain = |text: &str| -> String {
        text.chars().map(|c| if c.is_ascii_alphanumeric() || "._+".contains(c) { c } else { '-' }).collect()
    };
    format!("{:02}-{}{}", place + 1, plain(&stem), tc.map(|tc| format!("-{}", plain(tc))).unwrap_or_default())
}

/// Plays the next pairs from a book.
fn turn(arm: &mut Arm, args: &JudgeArgs) -> Result<Exit> {
    let played = arm.pairs.len() as u64;
    let pairs = args.batch.min(args.pairs.saturating_sub(played));
    if pairs == 0 || arm.is_spent {
        return Ok(Exit::Done);
    }
    match arm.series.play(&args.engines, pairs, 0, true, "judge")? {
        MatchResult::Played(Exit::Done) => {}
        MatchResult::Played(exit) => return Ok(exit),
        MatchResult::OutOfOpenings => {
            progress::warn(&format!("{}: each of its openings was played once", arm.label()));
            arm.is_spent = true;
        }
        MatchResult::NoStart(_, error) => return Err(error.into()),
    }
    arm.read()?;
    let found = arm.figures();
    progress::note(&format!(
        "{}: {} of {} pairs, nElo {}",
        arm.label(),
        found.pairs(),
        args.pairs,
        found.nelo.map_or("-".to_owned(), |nelo| ranged(&nelo, 1.0, 1))
    ));
    Ok(Exit::Done)
}

fn ranged(found: &IntervalEstimate, scale: f64, decimals: usize) -> String {
    let number = |value: f64| if value.is_finite() { fixed(value * scale, decimals) } else { "-".to_owned() };
    format!("{} [{}, {}]", number(found.value), number(found.lo), number(found.hi))
}

/// Share of the level pairs that had two draws.
fn drawn_percent(level: LevelPairs) -> String {
    let (drawn, all) = (level.drawn as f64, (level.drawn + level.won) as f64);
    if all > 0.0 { fixed(100.0 * drawn / all, 1) } else { "-".to_owned() }
}

fn text(arms: &[Arm]) -> String {
    let shown = |found: Option<IntervalEstimate>, scale: f64, decimals: usize| {
        found.map_or("-".to_owned(), |found| ranged(&found, scale, decimals))
    };
    let rows: Vec<Vec<String>> = arms
        .iter()
        .map(|arm| {
            let found = arm.figures();
            vec![
                arm.label(),
                found.pairs().to_string(),
                shown(found.nelo, 1.0, 1),
                shown(found.level_rate, 100.0, 1),
                drawn_percent(found.level),
                shown(found.bias, 1.0, 0),
                found.pairs_an_hour.map_or("-".to_owned(), |pace| fixed(pace, 0)),
                shown(found.efficiency, 1e-3, 1),
            ]
        })
        .collect();
    let heads = ["book", "pairs", "nElo", "level pairs %", "drawn %", "bias (Elo)", "pairs/h", "efficiency / 1000"];
    let mut out = columns(&heads, &rows).join("\n") + "\n";
    if let Some((first, others)) = arms.split_first().filter(|(_, others)| !others.is_empty()) {
        let base = first.figures();
        // Writing into memory cannot fail.
        let _ = writeln!(out, "\nagainst {}", first.label());
        let rows: Vec<Vec<String>> = others
            .iter()
            .map(|arm| {
                let found = arm.figures().against(&base);
                let nelo = found.nelo.map_or("-".to_owned(), |nelo| {
                    format!("{} [{}, {}]", signed(nelo.value, 1), signed(nelo.lo, 1), signed(nelo.hi, 1))
                });
                vec![
                    arm.label(),
                    nelo,
                    shown(found.level_rate, 100.0, 1),
                    found.efficiency_ratio.map_or("-".to_owned(), |ratio| format!("x{}", ranged(&ratio, 1.0, 2))),
                ]
            })
            .collect();
        out.push_str(&columns(&["book", "nElo", "level pairs %", "efficiency"], &rows).join("\n"));
        out.push('\n');
    }
    out.trim_end().to_owned()
}

fn json(args: &JudgeArgs, arms: &[Arm], reason: &str) -> Value {
    let base = arms.first().map(Arm::figures);
    let arm = |(place, arm): (usize, &Arm)| {
        let found = arm.figures();
        let against = base.filter(|_| place > 0).map(|base| found.against(&base));
        let mut value = json!({ "book": arm.book, "tc": arm.tc, "pairs": found.pairs(), "against_first": against });
        if let (Value::Object(all), Ok(Value::Object(own))) = (&mut value, serde_json::to_value(found)) {
            all.extend(own);
        }
        value
    };
    json!({ "engines": args.engines, "arms": arms.iter().enumerate().map(arm).collect::<Vec<_>>(), "reason": reason })
}
