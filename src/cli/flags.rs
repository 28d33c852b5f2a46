//! The flags that every command has which plays a plan, and how plan files and flags come together.

use std::path::PathBuf;

use anyhow::Result;

use crate::cli::records::RecordArgs;
use crate::cli::resolve;
use crate::plan::config::RawPlan;

/// What `sprt`, `match` and `gauntlet` share.
#[derive(Debug, clap::Args)]
pub(super) struct RunFlags {
    /// A UCI option for every engine; may be repeated.
    #[arg(long = "option", value_name = "NAME=VALUE", help_heading = "Engines")]
    options: Vec<String>,

    /// Stop after so long: `90s`, `30m`, `8h`.
    #[arg(long, value_name = "TIME", help_heading = "Running")]
    max_time: Option<String>,

    /// Stop as soon as the 95 % intervals reach no farther than so many Elo either way: that of the two engines' difference, with
    /// more engines those of the ratings, in a gauntlet of the heroes'. A `match` or `gauntlet` then needs no --pairs; an `sprt` that
    /// has no verdict by then is inconclusive. The width hardly depends on who is ahead, so the intervals stay true (Chow and
    /// Robbins 1965).
    #[arg(long, value_name = "ELO", help_heading = "Running")]
    until_width: Option<f64>,

    /// Clock, `[moves/]base+increment` in seconds [default: 8+0.08].
    #[arg(long, value_name = "TC", help_heading = "Limits")]
    tc: Option<String>,
    /// Seconds a move.
    #[arg(long, value_name = "S", help_heading = "Limits")]
    movetime: Option<f64>,
    /// Nodes a move.
    #[arg(long, value_name = "N", help_heading = "Limits")]
    nodes: Option<u64>,
    /// Plies a move.
    #[arg(long, value_name = "N", help_heading = "Limits")]
    depth: Option<u32>,
    /// How far a move may overstep its time before it forfeits [default: 10].
    #[arg(long, value_name = "MS", help_heading = "Limits")]
    margin_ms: Option<f64>,
    /// When a search without a clock counts as hanging, in seconds [default: 60].
    #[arg(long, value_name = "S", help_heading = "Limits")]
    stall_timeout: Option<f64>,
    /// What an engine may take to say `uciok`, and again `readyok` before a game, in seconds, without the time for which it waits
    /// for a CPU [default: 10 and 30].
    #[arg(long, value_name = "S", help_heading = "Limits")]
    start_timeout: Option<f64>,
    /// Let engines with a clock think on their opponent's time; a game then takes the CPUs of two.
    #[arg(long, help_heading = "Limits")]
    ponder: bool,

    /// Opening book: EPD, FEN list, PGN or Polyglot, .gz and .zst too. At fixed nodes or depth a run ends with it; under a clock
    /// openings come again, and their pairs count for less [default: the balanced book inside the program].
    #[arg(long, value_name = "FILE", help_heading = "Openings")]
    book: Option<PathBuf>,
    /// random (without replacement, from the seed) or sequential [default: random].
    #[arg(long, value_name = "ORDER", help_heading = "Openings")]
    book_order: Option<String>,
    /// Plies taken from each PGN game [default: all]; plies of a Polyglot book's lines [default: 8].
    #[arg(long, value_name = "N", help_heading = "Openings")]
    book_plies: Option<u32>,
    /// The first opening taken, from 1 [default: 1].
    #[arg(long, value_name = "N", help_heading = "Openings")]
    book_start: Option<u64>,
    /// Chess960 rules and castling.
    #[arg(long, help_heading = "Openings")]
    chess960: bool,

    /// Draw rule: `move=34,count=8,score=20`; `none` for none [default: none].
    #[arg(long, value_name = "RULE", help_heading = "Adjudication")]
    draw: Option<String>,
    /// Resign rule: `count=3,score=600[,twosided]`; `none` for none [default: none].
    #[arg(long, value_name = "RULE", help_heading = "Adjudication")]
    resign: Option<String>,
    /// A draw after so many plies of play.
    #[arg(long, value_name = "N", help_heading = "Adjudication")]
    max_plies: Option<u32>,
    /// Give the result that the Syzygy tables in these folders have, right after a capture or pawn move; `none` for none. Several
    /// folders stand as in PATH.
    #[arg(long, value_name = "PATHS", help_heading = "Adjudication")]
    syzygy: Option<String>,
    /// Play on with more men than this, kings included, whatever the tables have.
    #[arg(long, value_name = "N", help_heading = "Adjudication")]
    syzygy_pieces: Option<u32>,
    /// Count wins that the fifty-move rule would turn into draws as wins.
    #[arg(long = "syzygy-ignore-50", help_heading = "Adjudication")]
    syzygy_ignore_50: bool,
    /// Which results of the tables end a game: both, win-loss or draw [default: both].
    #[arg(long, value_name = "RESULTS", help_heading = "Adjudication")]
    syzygy_adjudicate: Option<String>,

    /// Games at once [default: physical cores]. At most one for each CPU under a clock, 64 without, and what the limits on open
    /// files and processes carry.
    #[arg(short = 'j', long, value_name = "N", help_heading = "Running")]
    concurrency: Option<u16>,
    /// Allow more games at once than CPUs under a clock, each charged for the others' time, and more than 64 for each without.
    #[arg(long, help_heading = "Running")]
    force_concurrency: bool,
    /// Pin each slot to CPUs of its own: fast physical cores first, hyper-threads last; or to these, in this order.
    #[arg(long, value_name = "CPUS", help_heading = "Running", num_args = 0..=1, require_equals = true, default_missing_value = "auto")]
    affinity: Option<String>,
    /// Start the engines anew for each game.
    #[arg(long, help_heading = "Running")]
    restart: bool,
    /// Play a pair again if a game was lost on time by the machine's doing: the waits for a CPU cover the overrun, and the engine
    /// hardly ran once its clock was at zero (at most three times a pair; the number is reported) [default: false].
    #[arg(long, value_name = "BOOL", help_heading = "Running", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    void_disturbed: Option<bool>,
    /// Share of the games that may be lost on time before the run stops, as if of a hundred games at least; 100% for no limit
    /// [default: 10%].
    #[arg(long, value_name = "SHARE", help_heading = "Running")]
    max_time_losses: Option<String>,
    /// Crashes, stalls and illegal moves after which the run stops [default: 10].
    #[arg(long, value_name = "N", help_heading = "Running")]
    max_failures: Option<u64>,
    /// Decides the order of openings [default: from the system].
    #[arg(long, value_name = "N", help_heading = "Running")]
    seed: Option<u64>,

    #[command(flatten)]
    records: RecordArgs,

    /// The run's directory [default: results/runs/<date>-<name>].
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,
    /// What to call the run [default: the command].
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    name: Option<String>,
    /// Print the summary as one JSON document.
    #[arg(long, help_heading = "Output")]
    pub(super) json: bool,
}

impl RunFlags {
    /// The flags as a plan's keys.
    pub(super) fn to_raw(&self) -> Result<RawPlan> {
        let mut raw = RawPlan {
            options: resolve::options(&self.options)?,
            max_time: self.max_time.clone(),
            until_width: self.until_width,
            tc: self.tc.clone(),
            movetime: self.movetime,
            nodes: self.nodes,
            depth: self.depth,
            margin_ms: self.margin_ms,
            stall_timeout: self.stall_timeout,
            start_timeout: self.start_timeout,
            book: self.book.clone(),
            book_order: self.book_order.clone(),
            book_plies: self.book_plies,
            book_start: self.book_start,
            chess960: self.chess960.then_some(true),
            draw: self.draw.clone(),
            resign: self.resign.clone(),
            max_plies: self.max_plies,
            ponder: self.ponder.then_some(true),
            syzygy: self.syzygy.clone(),
            syzygy_pieces: self.syzygy_pieces,
            syzygy_ignore_50: self.syzygy_ignore_50.then_some(true),
            syzygy_adjudicate: self.syzygy_adjudicate.clone(),
            concurrency: self.concurrency,
            force_concurrency: self.force_concurrency.then_some(true),
            affinity: self.affinity.clone(),
            restart: self.restart.then_some(true),
            void_disturbed: self.void_disturbed,
            max_time_losses: self.max_time_losses.clone(),
            max_failures: self.max_failures,
            seed: self.seed,
            out: self.out.clone(),
            name: self.name.clone(),
            ..RawPlan::default()
        };
        self.records.fill(&mut raw);
        Ok(raw)
    }
}
