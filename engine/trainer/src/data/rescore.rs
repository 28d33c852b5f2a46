//! Rescoring of positions with UCI engines that run in parallel.
//!
//! Records are written in order, and each is scored with cleared engine memory. The output is
//! therefore the same for any number of engines, and an interrupted run continues after the last
//! whole record.

use super::error::DataError;
use super::evaluation::{EvaluationFault, EvaluationView, white_evaluation};
use super::files::replace;
use super::format::Format;
use super::hash::{networks_of, sha256_of};
use super::input::{Input, check_apart};
use super::journal::white_score;
use super::read::{EntrySource, PassedGames, file_of, sample};
use super::record::{BULLET_BYTES, Entry, Position};
use super::write::{Encoder, is_file};
use super::{passed_over, say};
use anyhow::{Context, anyhow, bail, ensure};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use destrier::board::Board;
use destrier::datagen::viriformat::{self, NO_SCORE};
use destrier::nnue::sha256_hex;
use indicatif::{ProgressBar, ProgressStyle};
use quintain::journal;
use quintain::record::Score;
use quintain::source::find_program;
use quintain::uci::process::{Engine, EngineConfig, StartFault};
use quintain::uci::{Go, PositionLine};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Program of an engine: a path as it is, a name as found on PATH or in the folders `beyond`.
pub fn program_of(name: &Path, beyond: &[&Path]) -> Option<PathBuf> {
    if name.components().count() > 1 {
        return Some(name.to_owned());
    }
    find_program(name, &std::env::var_os("PATH").unwrap_or_default(), beyond)
}

/// Arguments of `rescore`.
#[derive(Debug, Args)]
pub struct RescoreArgs {
    #[command(flatten)]
    input: Input,
    /// File to write: viriformat, bulletformat or text, self-play for games. The same command
    /// continues an interrupted run
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// Its format, if its name does not imply it
    #[arg(long, value_name = "FORMAT", value_parser = written())]
    to: Option<Format>,
    /// The engine: a path, or a name to look up in PATH
    #[arg(long, value_name = "PROGRAM")]
    engine: PathBuf,
    /// An argument for it
    #[arg(long = "arg", value_name = "WORD", allow_hyphen_values = true)]
    args: Vec<String>,
    /// An option to set
    #[arg(long = "option", value_name = "NAME=VALUE")]
    options: Vec<String>,
    /// Iterations for each position
    #[arg(long, value_name = "PLIES", required_unless_present_any = ["nodes", "eval"], value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,
    /// Nodes for each position
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Take the evaluation without a search, which the engine prints for the command `eval`: the
    /// number after these words at the beginning of a line, `NNUE evaluation` for Stockfish 12 and
    /// later, `nnue:` for Destrier. It is in pawns if it has a decimal point and no `cp` at it
    #[arg(long, value_name = "WORDS", conflicts_with_all = ["depth", "nodes", "keep_hash"], value_parser = words)]
    eval: Option<String>,
    /// Side whose advantage is positive in that line, if the line has neither `white` nor `side to
    /// move`
    #[arg(long, value_name = "VIEW", requires = "eval", conflicts_with_all = ["depth", "nodes"])]
    eval_view: Option<EvaluationView>,
    /// Engines side by side
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    engines: u16,
    /// Let engines remember what they saw before: faster for single positions, but scores depend on
    /// the order
    #[arg(long)]
    keep_hash: bool,
    /// Positions sent to an engine before it has answered the first of them: shallow searches are
    /// then as fast as the engine, not as the pipe. Only for engines that read while they search
    /// and do one search after the other, as Stockfish does; with `--eval`, for engines that answer
    /// `isready` after the output of `eval`
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    ahead: u16,
    /// Seconds after which a search or an evaluation is given up
    #[arg(long, default_value_t = 60, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
}

/// Formats in which an interrupted file can be continued.
const WRITTEN: [Format; 4] = [Format::Viriformat, Format::Bulletformat, Format::Text, Format::SelfPlay];

/// Creates the parser of `--to`, limited to [`WRITTEN`] so that the help names no other format.
fn written() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(WRITTEN.iter().filter_map(Format::to_possible_value))
        .try_map(|name| Format::from_str(&name, false))
}

/// Reads the words of `--eval`.
fn words(text: &str) -> Result<String, &'static str> {
    match text.trim() {
        "" => Err("expected the words before the number, such as `NNUE evaluation`"),
        words => Ok(words.to_owned()),
    }
}

/// Record with its number.
type Task = (u64, Entry);
type RescoreResult = anyhow::Result<Task>;

/// Records in flight per engine, in addition to those sent ahead.
const WAITING: u64 = 4;

/// Part of a game's positions, and at least one of them, for which an engine may find no score: it
/// may play an only move at once. Records of single positions have their score always.
const UNSCORED_PART: usize = 10;

/// Numbers of searches.
#[derive(Debug, Default)]
struct SearchCounts {
    /// Positions searched.
    positions: AtomicU64,
    /// Those for which the engine found no score.
    unscored: AtomicU64,
}

/// Channel ends of the main thread to and from the engine threads.
#[derive(Clone, Copy)]
struct Crew<'a> {
    tasks: &'a Sender<Task>,
    scored: &'a Receiver<RescoreResult>,
    counts: &'a SearchCounts,
}

impl RescoreArgs {
    /// # Errors
    /// Fails if a file cannot be read or written, or an engine misbehaves. Whole records stay in
    /// the file.
    pub fn run(&self) -> anyhow::Result<()> {
        let format = Format::to_write(&self.out, self.to)?;
        ensure!(
            WRITTEN.contains(&format),
            "{}: {} cannot be continued; write viriformat, bulletformat, text or self-play",
            self.out.display(),
            format.name()
        );
        ensure!(
            self.out.extension().is_none_or(|extension| extension != "zst"),
            "{}: a packed file cannot be continued; leave `.zst` away, and pack it with `convert` in the end",
            self.out.display()
        );
        check_apart(&[&self.out], &self.input.files)?;
        let config = self.config()?;
        let mut encoder = Encoder::new(&self.out, format, None)?;
        let sources = self.input.open(encoder.needs())?;
        let (mut file, done) = self.open_output(format, &sources)?;
        let passed = PassedGames::of(&sources);
        let counts = SearchCounts::default();
        let (records, left_out) = thread::scope(|scope| {
            let (task_sender, tasks) = channel();
            let (scored_sender, scored) = channel();
            let tasks = Arc::new(Mutex::new(tasks));
            for _ in 0..self.engines {
                let (tasks, sender, config, counts) = (Arc::clone(&tasks), scored_sender.clone(), &config, &counts);
                scope.spawn(move || self.work(config, format, &tasks, &sender, counts));
            }
            drop((scored_sender, tasks));
            let mut write = |entry: Entry| {
                encoder
                    .encode(entry, |_, record| file.write_all(record))
                    .map_err(DataError::io(&self.out, "write to it"))
            };
            let crew = Crew { tasks: &task_sender, scored: &scored, counts: &counts };
            self.feed(sources, format, done, crew, &mut write)
        })?;
        file.sync_data().map_err(DataError::io(&self.out, "write to it"))?;
        let (new, path) = (records - done, self.out.display());
        let scored = if self.eval.is_some() { "evaluated" } else { "searched" };
        let [positions, unscored] = [&counts.positions, &counts.unscored].map(|count| count.load(Ordering::Relaxed));
        let unscored = match unscored {
            0 => String::new(),
            _ => format!(", {unscored} of these without a score"),
        };
        let left_out = match left_out {
            0 => String::new(),
            _ => format!(", {left_out} positions left out, of which no move is known"),
        };
        let passed = passed_over(passed.games());
        say(&format!(
            "{records} records in {path}, {new} of them with {positions} positions {scored} now{unscored}{left_out}{passed}"
        ))?;
        Ok(())
    }

    /// Lines of [`summary`](Self::summary) that every version has written.
    const SETTINGS: usize = 7;

    fn config(&self) -> anyhow::Result<EngineConfig> {
        let options = self.options.iter().map(|option| {
            let (name, value) =
                option.split_once('=').ok_or_else(|| anyhow!("--option {option}: expected NAME=VALUE"))?;
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        });
        let name = self.engine.file_name().unwrap_or(self.engine.as_os_str()).to_string_lossy().into_owned();
        Ok(EngineConfig {
            name,
            program: self.engine.clone(),
            args: self.args.clone(),
            options: options.collect::<anyhow::Result<_>>()?,
            ..EngineConfig::default()
        })
    }

    /// Returns all settings that determine the output, one per line. After the first
    /// [`SETTINGS`](Self::SETTINGS) come the formats and samples of the input, the hash of the
    /// engine and those of its networks, because earlier versions did not write them and their runs
    /// must be able to continue.
    fn summary(&self, format: Format, sources: &[EntrySource]) -> anyhow::Result<String> {
        let RescoreArgs { input, engine, args, options, depth, nodes, eval, eval_view, keep_hash, .. } = self;
        let limit = |limit: Option<u64>| limit.map_or_else(|| "none".to_owned(), |limit| limit.to_string());
        let mut summary = format!(
            "input = {:?}\nengine = {}\narguments = {args:?}\noptions = {options:?}\ndepth = {}\nnodes = {}\nkeep hash = {keep_hash}\n",
            input.files,
            engine.display(),
            limit(depth.map(u64::from)),
            limit(*nodes),
        );
        // Writing to a string cannot fail.
        if let Some(words) = eval {
            let _ = writeln!(summary, "evaluation = {words:?}, view {eval_view:?}");
        }
        let _ = writeln!(summary, "output = {}", format.name());
        for (path, source) in input.files.iter().zip(sources) {
            let EntrySource { format, length, .. } = source;
            let sample = fingerprint(&file_of(path))?;
            let _ = writeln!(summary, "{} = {}, {length} bytes, sample {sample}", path.display(), format.name());
        }
        // A program that is missing is reported when it is started.
        if let Some(program) = program_of(engine, &[]).filter(|program| program.is_file()) {
            let _ = writeln!(summary, "sha256 of the engine = {}", sha256_of(&program)?);
        }
        let options = self.config()?.options;
        for (path, hash) in networks_of(options.iter().map(|(name, value)| (name.as_str(), value.as_str())))? {
            let _ = writeln!(summary, "sha256 of {} = {hash}", path.display());
        }
        Ok(summary)
    }

    /// Opens the output at the end of its last whole record. Returns the number of whole records.
    fn open_output(&self, format: Format, sources: &[EntrySource]) -> anyhow::Result<(File, u64)> {
        let out = &self.out;
        let failed = |act| DataError::io(out, act);
        if out.exists() {
            is_file(out)?;
        }
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(out)
            .map_err(failed("open it"))?;
        match journal::lock(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!("{}: another run writes to it; stop that first", out.display()),
            Err(TryLockError::Error(error)) => return Err(failed("lock it")(error).into()),
        }
        let length = file.metadata().map_err(failed("read it"))?.len();
        let mut settings = out.as_os_str().to_owned();
        settings.push(".settings");
        let settings = PathBuf::from(settings);
        let is = self.summary(format, sources)?;
        if length == 0 {
            replace(&settings, is.as_bytes())?;
        } else {
            let before =
                fs::read_to_string(&settings).map_err(DataError::io(&settings, "read the settings of the output"))?;
            if before.lines().count() < Self::SETTINGS {
                bail!(
                    "{}: it is cut off, so {} cannot be continued; give another --out",
                    settings.display(),
                    out.display()
                );
            }
            if let Some((was, is)) = before.lines().zip(is.lines()).find(|(was, is)| was != is) {
                bail!(
                    "{}: started with `{was}`, not `{is}`; give the same arguments and files, or another --out",
                    out.display()
                );
            }
        }
        let (records, whole) = whole_records(out, format, &file)?;
        file.set_len(whole).map_err(failed("cut off its torn last record"))?;
        file.seek(SeekFrom::Start(whole)).map_err(failed("write to it"))?;
        Ok((file, records))
    }

    /// Distributes records and writes the results in order. Returns the number of records in the
    /// file and of positions that the format cannot hold.
    fn feed(
        &self,
        sources: Vec<EntrySource>,
        format: Format,
        done: u64,
        Crew { tasks, scored, counts }: Crew<'_>,
        write: &mut dyn FnMut(Entry) -> Result<(), DataError>,
    ) -> anyhow::Result<(u64, u64)> {
        let style = ProgressStyle::with_template("{wide_bar} {bytes}/{total_bytes} {msg} {elapsed}, left {eta}");
        let bar = ProgressBar::new(sources.iter().map(|source| source.length).sum())
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let most = u64::from(self.engines) * (WAITING + 2 * u64::from(self.ahead));
        let mut waiting = BTreeMap::new();
        let (mut sent, mut written, mut before, mut left_out) = (0, done, 0, 0);
        let mut receive = |written: &mut u64| -> anyhow::Result<()> {
            // Every engine thread reports its error before it ends.
            let (number, entry) = scored.recv().context("the engines are gone")??;
            waiting.insert(number, entry);
            while let Some(entry) = waiting.remove(written) {
                write(entry)?;
                *written += 1;
            }
            let positions = counts.positions.load(Ordering::Relaxed);
            let rate = positions as f64 / bar.elapsed().as_secs_f64().max(1e-3);
            bar.set_message(format!("{positions} positions, {rate:.0}/s"));
            Ok(())
        };
        for source in sources {
            for entry in source.entries {
                let units = units(entry?, format);
                left_out += u64::from(units.is_empty());
                for unit in units {
                    if sent >= done && tasks.send((sent, unit)).is_err() {
                        // All engine threads have ended, and one of the remaining results is the
                        // error.
                        loop {
                            receive(&mut written)?;
                        }
                    }
                    sent += 1;
                    while sent.saturating_sub(written) > most {
                        receive(&mut written)?;
                    }
                }
                bar.set_position(before + source.read.load(Ordering::Relaxed));
            }
            before += source.length;
        }
        ensure!(sent >= done, "{}: holds {done} records, the input only {sent}", self.out.display());
        while written < sent {
            receive(&mut written)?;
        }
        bar.finish_and_clear();
        Ok((written, left_out))
    }

    /// Scores records with one engine until none are left.
    fn work(
        &self,
        config: &EngineConfig,
        format: Format,
        tasks: &Mutex<Receiver<Task>>,
        scored: &Sender<RescoreResult>,
        counts: &SearchCounts,
    ) {
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => {
                // The receiver may be gone already, here and below.
                let _ = scored.send(Err(error.into()));
                return;
            }
        };
        runtime.block_on(async {
            let mut engine = match Engine::start(config, &[]).await {
                Ok(engine) => engine,
                Err(error) => {
                    // The message includes its cause, which would otherwise be printed twice.
                    let _ = scored.send(Err(anyhow!("{error}")));
                    return;
                }
            };
            loop {
                let batch = self.take(tasks);
                if batch.is_empty() {
                    break;
                }
                let answer = self.score(&mut engine, &batch, format, counts).await;
                let failed = answer.is_err();
                let mut gone = false;
                match answer {
                    Ok(scores) => {
                        for ((number, entry), scores) in batch.into_iter().zip(scores) {
                            gone |= scored.send(Ok((number, entry.with_scores(&scores)))).is_err();
                        }
                    }
                    Err(error) => gone = scored.send(Err(error)).is_err(),
                }
                if failed || gone {
                    break;
                }
            }
            engine.quit().await;
        });
    }

    /// Takes the next records for an engine: those of about `ahead` positions if none depends on
    /// those before it or all may, else one. Empty at the end.
    fn take(&self, tasks: &Mutex<Receiver<Task>>) -> Vec<Task> {
        let tasks = tasks.lock().unwrap_or_else(PoisonError::into_inner);
        let is_joined = self.keep_hash || self.eval.is_some();
        let most = if is_joined { usize::from(self.ahead) } else { 1 };
        let positions_of = |(_, entry): &Task| match entry {
            Entry::Game(game) => game.plies.len().max(1),
            Entry::Position(_) => 1,
        };
        let mut batch: Vec<Task> = tasks.recv().into_iter().collect();
        let mut positions: usize = batch.iter().map(positions_of).sum();
        while positions < most
            && let Ok(task) = tasks.try_recv()
        {
            positions += positions_of(&task);
            batch.push(task);
        }
        batch
    }

    /// Scores the positions of records.
    async fn score(
        &self,
        engine: &mut Engine,
        batch: &[Task],
        format: Format,
        counts: &SearchCounts,
    ) -> anyhow::Result<Vec<Vec<i16>>> {
        if !self.keep_hash && self.eval.is_none() {
            engine.new_game().await.map_err(|fault| anyhow!("engine {}: {fault}", engine.config().name))?;
        }
        let entries: Vec<_> = batch.iter().map(|(_, entry)| entry.positions()).collect();
        let ended: Vec<Vec<_>> = entries
            .iter()
            .map(|positions| positions.iter().map(|position| final_score(&position.board)).collect())
            .collect();
        let all = entries.iter().flatten().zip(ended.iter().flatten());
        let searched: Vec<_> = all.filter(|(_, ended)| ended.is_none()).map(|(position, _)| position).collect();
        let mut scores = Vec::with_capacity(searched.len());
        for positions in searched.chunks(usize::from(self.ahead)) {
            match &self.eval {
                Some(words) => self.evaluate(engine, positions, words, &mut scores).await?,
                None => self.search(engine, positions, &mut scores).await?,
            }
            counts.positions.fetch_add(positions.len() as u64, Ordering::Relaxed);
        }
        let unscored = scores.iter().filter(|score| **score == NO_SCORE).count();
        if let Some(position) = self.missed(&searched, &scores, format) {
            let remedy = self.remedy(position);
            bail!("engine {}: no score for `{}`; {remedy}", engine.config().name, position.board.to_fen(false));
        }
        counts.unscored.fetch_add(unscored as u64, Ordering::Relaxed);
        let mut scores = scores.into_iter();
        let mut score = |ended: Option<i16>| ended.or_else(|| scores.next());
        Ok(ended.into_iter().map(|ended| ended.into_iter().filter_map(&mut score).collect()).collect())
    }

    /// Returns a position whose missing score ends the rescoring. Games may have a few of them. An
    /// evaluation may be missing only in check: a later answer might be that of another position.
    fn missed<'a>(&self, searched: &[&'a Position], scores: &[i16], format: Format) -> Option<&'a Position> {
        let unscored = || searched.iter().zip(scores).filter(|(_, score)| **score == NO_SCORE).map(|(at, _)| *at);
        match (&self.eval, format.holds_games()) {
            (Some(_), true) => unscored().find(|position| !position.board.in_check()),
            (Some(_), false) => unscored().min_by_key(|position| position.board.in_check()),
            (None, true) if unscored().count() <= (scores.len() / UNSCORED_PART).max(1) => None,
            (None, _) => unscored().next(),
        }
    }

    /// Returns the remedy if an engine names no score of a position.
    fn remedy(&self, position: &Position) -> String {
        match &self.eval {
            Some(words) => {
                let none = format!("no line that it prints for `eval` begins with `{words}` and has a number");
                let in_check =
                    "; many engines have none in check: drop such positions by `data filter`, and write another --out";
                none + if position.board.in_check() { in_check } else { "" }
            }
            None if self.ahead > 1 => "does it drop lines while it searches? Lower --ahead".to_owned(),
            None => "raise --nodes or --depth".to_owned(),
        }
    }

    /// Asks the engine for its evaluations of positions that are sent together, and appends them,
    /// [`NO_SCORE`] if it names none.
    async fn evaluate(
        &self,
        engine: &mut Engine,
        positions: &[&Position],
        words: &str,
        scores: &mut Vec<i16>,
    ) -> anyhow::Result<()> {
        let mut found = Vec::with_capacity(positions.len());
        let ended = engine.evaluate_through(&lines_of(positions)?, words, self.limit(), &mut found).await;
        for (position, line) in positions.iter().zip(&found) {
            let line = line.as_deref().unwrap_or_default();
            scores.push(match white_evaluation(line, words, position.board.turn(), self.eval_view) {
                Ok(score) => score,
                Err(EvaluationFault::NoNumber) => NO_SCORE,
                Err(EvaluationFault::NoView) => bail!(
                    "engine {}: `{}` does not say whose advantage is positive; give --eval-view white or mover",
                    engine.config().name,
                    String::from_utf8_lossy(line)
                ),
            });
        }
        self.named(ended, engine, positions, found.len())
    }

    /// Lets the engine search positions that are sent together, and appends their scores,
    /// [`NO_SCORE`] where it names none.
    async fn search(&self, engine: &mut Engine, positions: &[&Position], scores: &mut Vec<i16>) -> anyhow::Result<()> {
        let go = Go { depth: self.depth, nodes: self.nodes, ..Go::default() };
        let mut found = Vec::with_capacity(positions.len());
        let ended = engine.go_through(&lines_of(positions)?, &go, self.limit(), &mut found).await;
        for (position, info) in positions.iter().zip(&found) {
            scores.push(info.score.map_or(NO_SCORE, |score| white_score(score, position.board.turn())));
        }
        self.named(ended, engine, positions, found.len())
    }

    fn limit(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }

    /// Adds the engine and the position, the one after `answered` others, to a fault.
    fn named(
        &self,
        ended: Result<(), StartFault>,
        engine: &Engine,
        positions: &[&Position],
        answered: usize,
    ) -> anyhow::Result<()> {
        ended.map_err(|fault| {
            let place = positions.get(answered).map(|position| position.board.to_fen(false)).unwrap_or_default();
            let remedy =
                if matches!(fault, StartFault::Silent { .. }) { "; raise --timeout, or lower --ahead" } else { "" };
            anyhow!("engine {}: {fault} at `{place}`{remedy}", engine.config().name)
        })
    }
}

fn lines_of(positions: &[&Position]) -> anyhow::Result<Vec<PositionLine>> {
    let lines = positions.iter().map(|position| PositionLine::new(&position.board.to_fen(false)));
    Ok(lines.collect::<Result<_, _>>()?)
}

/// Returns the score of a mate or stalemate; `None` if there are legal moves and an engine must
/// search.
fn final_score(board: &Board) -> Option<i16> {
    let score = if board.in_check() { Score::Mate(0) } else { Score::Cp(0) };
    (board.count_legal_moves() == 0).then(|| white_score(score, board.turn()))
}

/// Splits an entry into parts that become one record each. A game without moves has none in
/// self-play format, which stores scores beside moves.
fn units(entry: Entry, format: Format) -> Vec<Entry> {
    if format == Format::SelfPlay && matches!(&entry, Entry::Game(game) if game.plies.is_empty()) {
        return Vec::new();
    }
    if format.holds_games() {
        return vec![entry];
    }
    entry.positions().into_iter().map(Entry::Position).collect()
}

/// Returns a digest of a file's [`sample`], or `none` for a pipe, which can be read only once.
fn fingerprint(path: &Path) -> Result<String, DataError> {
    let failed = || DataError::io(path, "read it");
    let data = path.metadata().map_err(failed())?;
    if !data.is_file() {
        return Ok("none".to_owned());
    }
    let mut file = File::open(path).map_err(failed())?;
    let bytes = sample(&mut file, data.len(), 1).map_err(failed())?;
    Ok(sha256_hex(&bytes)[..32].to_owned())
}

/// Most zeros at the end of a whole record of bulletformat: of the pieces two kings are one byte.
const MOST_BULLET_ZEROS: u64 = 23;

/// Returns the number of whole records of a file and their total size in bytes.
fn whole_records(path: &Path, format: Format, mut file: &File) -> anyhow::Result<(u64, u64)> {
    let most_zeros = if format == Format::Bulletformat { MOST_BULLET_ZEROS } else { viriformat::MOST_ZEROS };
    let written = viriformat::written_length(&mut file, most_zeros).map_err(DataError::io(path, "read it"))?;
    let mut input = BufReader::with_capacity(1 << 18, file).take(written);
    match format {
        Format::Viriformat => {
            let mut reader = viriformat::Reader::new(input);
            loop {
                match reader.next_game() {
                    Ok(Some(_)) => {}
                    Ok(None) => break,
                    Err(viriformat::ReadError { damage: viriformat::Damage::Torn, .. }) => break,
                    Err(error) => return Err(DataError::Viriformat { path: path.to_owned(), error }.into()),
                }
            }
            Ok((reader.games(), reader.offset()))
        }
        Format::Bulletformat => {
            let records = written / BULLET_BYTES as u64;
            Ok((records, records * BULLET_BYTES as u64))
        }
        _ => {
            let (mut lines, mut whole, mut offset) = (0, 0, 0);
            let mut buffer = vec![0; 1 << 18];
            loop {
                let count = input.read(&mut buffer).map_err(DataError::io(path, "read it"))?;
                if count == 0 {
                    return Ok((lines, whole));
                }
                for (place, _) in buffer[..count].iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
                    lines += 1;
                    whole = offset + place as u64 + 1;
                }
                offset += count as u64;
            }
        }
    }
}
