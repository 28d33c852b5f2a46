//! Keys of a plan. Each field is a key of the TOML file, a flag, a line of `quintain init`, and a
//! property of the JSON Schema. The first paragraph of its doc comment is one line, which all four
//! show.
//!
//! `example` is the value that `init` writes for the key: its default, or an example; `x-examples`
//! has those of single commands. `x-commands` lists the commands that have the key (default: all),
//! and `x-essential` those whose new plans set it.

#![allow(
    rustdoc::broken_intra_doc_links,
    rustdoc::invalid_html_tags,
    reason = "the comments are the help of a terminal, where brackets are defaults"
)]

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::value::{self, Switch};
use crate::text::{OptionTable, options};
use crate::tournament::formats::Parameters;

/// A plan as written: every key is optional, and values are not yet checked against each other.
///
/// Relative paths start at the current directory, in a file as on the command line.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RawPlan {
    /// The tested engine [default: `.`, the working tree].
    #[arg(long, value_name = "SPEC", help_heading = "Engines")]
    #[schemars(example = &".", extend("x-commands" = ["sprt"], "x-essential" = ["sprt"]))]
    pub new: Option<String>,
    /// The reference engine [default of a test: the newest commit with another program; a race
    /// needs one].
    #[arg(long, value_name = "SPEC", help_heading = "Engines")]
    #[schemars(example = &"git:main", extend("x-commands" = ["sprt", "race"], "x-essential" = ["race"]))]
    pub base: Option<String>,
    /// Revision from which on a base is searched, if none is given [default: HEAD].
    #[arg(long, value_name = "REV", help_heading = "Engines")]
    #[schemars(example = &"main", extend("x-commands" = ["sprt"]))]
    pub base_from: Option<String>,
    /// Name of `new` in all results [default: its own name].
    #[arg(long, value_name = "NAME", help_heading = "Engines")]
    #[schemars(example = &"patch", extend("x-commands" = ["sprt"]))]
    pub new_name: Option<String>,
    /// Name of `base` in all results [default: its own name].
    #[arg(long, value_name = "NAME", help_heading = "Engines")]
    #[schemars(example = &"main", extend("x-commands" = ["sprt"]))]
    pub base_name: Option<String>,
    /// UCI option of every engine; the flag may be repeated [default: what its recipe says].
    #[arg(long = "option", value_name = "NAME=VALUE", help_heading = "Engines", value_parser = value::option)]
    #[serde(deserialize_with = "options", serialize_with = "value::pairs", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "OptionTable", example = json!({ "Hash": 16 }))]
    pub options: Vec<(String, String)>,
    /// UCI option of `new` alone; the flag may be repeated.
    #[arg(long = "new-option", value_name = "NAME=VALUE", help_heading = "Engines", value_parser = value::option)]
    #[serde(deserialize_with = "options", serialize_with = "value::pairs", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "OptionTable", example = json!({ "Threads": 1 }), extend("x-commands" = ["sprt"]))]
    pub new_options: Vec<(String, String)>,
    /// UCI option of `base` alone; the flag may be repeated.
    #[arg(long = "base-option", value_name = "NAME=VALUE", help_heading = "Engines", value_parser = value::option)]
    #[serde(deserialize_with = "options", serialize_with = "value::pairs", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "OptionTable", example = json!({ "Threads": 1 }), extend("x-commands" = ["sprt"]))]
    pub base_options: Vec<(String, String)>,
    /// Network of every engine, built in or set as an option as its recipe says [default: its own].
    ///
    /// `network` of quintain.toml says how a built engine takes it; a program gets the UCI option
    /// EvalFile. The file is kept by its SHA-256, so the run does not change with it.
    #[arg(long, value_name = "FILE", help_heading = "Engines")]
    #[schemars(example = &"nets/big.nnue", extend("x-commands" = ["sprt", "match", "gauntlet", "race", "tune"]))]
    pub net: Option<PathBuf>,
    /// Network of `new` alone; without `base` both sides are then the same engine.
    #[arg(long, value_name = "FILE", help_heading = "Engines")]
    #[schemars(example = &"nets/new.nnue", extend("x-commands" = ["sprt"]))]
    pub new_net: Option<PathBuf>,
    /// Network of `base` alone.
    #[arg(long, value_name = "FILE", help_heading = "Engines")]
    #[schemars(example = &"nets/base.nnue", extend("x-commands" = ["sprt"]))]
    pub base_net: Option<PathBuf>,
    /// Plays without engines that are not installed, except heroes; each is named [default: false].
    #[arg(long, help_heading = "Engines")]
    #[schemars(example = false, extend("x-commands" = ["match", "gauntlet"]))]
    pub skip_missing: Option<bool>,

    /// round-robin, gauntlet, swiss, knockout or pyramid [default: round-robin].
    ///
    /// The order of the engines seeds a Swiss and a knockout; in a pyramid each engine meets those
    /// before it.
    #[arg(long, value_name = "FORMAT", help_heading = "Format")]
    #[schemars(example = &"round-robin", example = &"gauntlet", example = &"race")]
    #[schemars(extend("x-commands" = ["match", "gauntlet", "race"], "x-essential" = ["match", "gauntlet", "race"]))]
    pub format: Option<String>,
    /// Pairs: per encounter of a match [default: 50], per candidate of a race [2000], of a tuning
    /// [10000].
    #[arg(long, value_name = "N", help_heading = "Format")]
    #[schemars(example = 50, extend("x-commands" = ["match", "gauntlet", "tune", "race"]))]
    #[schemars(extend("x-examples" = { "tune": 10_000, "race": 2_000 }))]
    #[schemars(extend("x-essential" = ["match", "gauntlet"]))]
    pub pairs: Option<u64>,
    /// Number of heroes of a gauntlet, counted from the first player [default: 1].
    #[arg(long, value_name = "N", help_heading = "Format")]
    #[schemars(example = 1, extend("x-commands" = ["match", "gauntlet"], "x-essential" = ["gauntlet"]))]
    pub heroes: Option<u16>,
    /// Rounds of a Swiss tournament [default: enough to determine the winner].
    #[arg(long, value_name = "N", help_heading = "Format")]
    #[schemars(example = 5, extend("x-commands" = ["match"]))]
    pub rounds: Option<u32>,

    /// Hypotheses H0 and H1, in Elo of the model [default: 0 and 5].
    #[arg(long, value_name = "ELO0,ELO1", help_heading = "Test", value_parser = value::bounds)]
    #[arg(allow_hyphen_values = true)]
    #[schemars(example = [0.0, 5.0], extend("x-commands" = ["sprt"], "x-essential" = ["sprt"]))]
    pub bounds: Option<[f64; 2]>,
    /// Unit of the bounds: normalized, logistic or bayesian [default: normalized].
    #[arg(long, value_name = "MODEL", help_heading = "Test")]
    #[schemars(example = &"normalized", extend("x-commands" = ["sprt"]))]
    pub model: Option<String>,
    /// Probability of accepting H1 if H0 is true; in a race, of any false claim [default: 0.05].
    #[arg(long, value_name = "P", help_heading = "Test")]
    #[schemars(example = 0.05, extend("x-commands" = ["sprt", "race"]))]
    pub alpha: Option<f64>,
    /// Probability of accepting H0 if H1 is true [default: 0.05].
    #[arg(long, value_name = "P", help_heading = "Test")]
    #[schemars(example = 0.05, extend("x-commands" = ["sprt"]))]
    pub beta: Option<f64>,
    /// Pairs after which the test stops without a verdict [default: no limit].
    #[arg(long, value_name = "N", help_heading = "Test")]
    #[schemars(example = 20_000, extend("x-commands" = ["sprt"]))]
    pub max_pairs: Option<u64>,
    /// Time for the whole test, such as `30m` or `8h`, from which the upper bound follows [default:
    /// none].
    ///
    /// With that bound the test decides within the time in 95 % of cases, if pairs vary as in the
    /// past runs that show the pace. In the others it stops then without a verdict; resumed, it has
    /// the whole time again.
    #[arg(long, value_name = "TIME", help_heading = "Test", conflicts_with = "bounds")]
    #[schemars(example = &"8h", extend("x-commands" = ["sprt"]))]
    pub budget: Option<String>,
    /// Plays a program against itself [default: false].
    ///
    /// Without it, equal programs with equal settings are refused.
    #[arg(long, help_heading = "Test")]
    #[schemars(example = false, extend("x-commands" = ["sprt", "race"]))]
    pub allow_same: Option<bool>,
    /// Plan of the test that follows if this one passes [default: none].
    ///
    /// In a file, a relative path starts at the file's folder. The next test has the same engines,
    /// unless its plan names others. That plan may name a third test. The first test that does not
    /// pass ends the chain.
    #[arg(long, value_name = "FILE", help_heading = "Test")]
    #[schemars(example = &"sprt-ltc.toml", extend("x-commands" = ["sprt"]))]
    pub then: Option<PathBuf>,

    /// Elo that a candidate must gain on the base, or it is dropped [default: 0].
    #[arg(long, value_name = "ELO", help_heading = "Race")]
    #[schemars(example = 2.0, extend("x-commands" = ["race"]))]
    pub gain: Option<f64>,
    /// Elo by which another candidate may be stronger than the winner [default: 0].
    ///
    /// It ends a race of equally good candidates. Without it, the winner must be the only candidate
    /// left.
    #[arg(long, value_name = "ELO", help_heading = "Race")]
    #[schemars(example = 10.0, extend("x-commands" = ["race"]))]
    pub close: Option<f64>,
    /// Pairs of each candidate between two decisions of a race [default: 16].
    #[arg(long, value_name = "N", help_heading = "Race")]
    #[schemars(example = 16, extend("x-commands" = ["race"]))]
    pub step: Option<u32>,

    /// Engine to tune [default: `.`, the working tree].
    #[arg(long, value_name = "SPEC", help_heading = "Tuning")]
    #[schemars(example = &".", extend("x-commands" = ["tune"], "x-essential" = ["tune"]))]
    pub engine: Option<String>,
    /// File of parameters: lines of OpenBench or fishtest, or TOML [default: as the recipe says].
    ///
    /// A line is `name, start, min, max, c_end, r_end`, perhaps with `int` or `float` after the
    /// name; a switch is `name, check, true`. TOML has a table [params] of rows `Name = { start =
    /// 80, min = 20, max = 160, step = 8 }` and of switches `Name = { start = true }`. Without it
    /// the engine prints its parameters, as the [tune] table of its quintain.toml says.
    #[arg(long, value_name = "FILE", help_heading = "Tuning", conflicts_with = "from_engine")]
    #[schemars(example = &"params.txt", extend("x-commands" = ["tune"]))]
    pub params: Option<PathBuf>,
    /// Tunes the engine's own spin options whose names match this expression [default: none].
    ///
    /// A parameter starts at its default, and a step is a twentieth of its range, at least 1.
    /// `--method factors` takes check options, and spin options of two values.
    #[arg(long, value_name = "REGEX", help_heading = "Tuning")]
    #[schemars(example = &"^LMR", extend("x-commands" = ["tune"]))]
    pub from_engine: Option<String>,
    /// Tunes only parameters whose names match this glob; may be repeated [default: all].
    #[arg(long, value_name = "GLOB", help_heading = "Tuning")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(example = ["lmr_*"], extend("x-commands" = ["tune"]))]
    pub only: Vec<String>,
    /// Leaves out parameters whose names match this glob; may be repeated [default: none].
    #[arg(long, value_name = "GLOB", help_heading = "Tuning")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(example = ["*_depth"], extend("x-commands" = ["tune"]))]
    pub skip: Vec<String>,
    /// auto, the updates of fishtest or openbench, or factors [default: auto].
    ///
    /// `auto` measures its own step and needs no number of pairs in advance. `fishtest` and
    /// `openbench` follow those programs' formulae, whose schedules depend on the number of pairs.
    /// `factors` is for switches: each pair sets every parameter to its max for one side and to its
    /// min for the other, at random. The result is the value of each switch.
    #[arg(long, value_name = "METHOD", help_heading = "Tuning")]
    #[schemars(example = &"auto", extend("x-commands" = ["tune"], "x-essential" = ["tune"]))]
    pub method: Option<String>,
    /// Stops `auto` once its result hardly moves or is shown not to gain [default: false].
    ///
    /// The run ends if the result moved less than a tenth of a step in its last quarter, once 2000
    /// tuning pairs are played. It also ends if the interval of the validating pairs lies below 1
    /// Elo.
    #[arg(long, help_heading = "Tuning")]
    #[schemars(example = false, extend("x-commands" = ["tune"]))]
    pub until_flat: Option<bool>,
    /// Skips the searches that find dead parameters and balance steps [default: false].
    #[arg(long, help_heading = "Tuning")]
    #[schemars(example = false, extend("x-commands" = ["tune"]))]
    pub no_sensitivity: Option<bool>,
    /// Skips the race of the result against the start that follows a tuning [default: false].
    #[arg(long, help_heading = "Tuning")]
    #[schemars(example = false, extend("x-commands" = ["tune"]))]
    pub no_prove: Option<bool>,
    /// Clock of the race that proves the result [default: the limit of the tuning].
    #[arg(long, value_name = "TC", help_heading = "Tuning")]
    #[schemars(example = &"8+0.08", extend("x-commands" = ["tune"]))]
    pub prove_tc: Option<String>,
    /// Maximum pairs of each candidate in that race [default: those of the tuning].
    #[arg(long, value_name = "N", help_heading = "Tuning")]
    #[schemars(example = 10_000, extend("x-commands" = ["tune"]))]
    pub prove_pairs: Option<u64>,

    /// Clock, `[moves/]base+inc` in seconds or `min:sec`, or two: `40/60+0.6:20/10` [default:
    /// 8+0.08].
    #[arg(long, value_name = "TC", help_heading = "Limits")]
    #[schemars(example = &"8+0.08", extend("x-essential" = ["sprt", "match", "gauntlet", "tune"]))]
    pub tc: Option<String>,
    /// Clock of `new` alone [default: as `tc`].
    #[arg(long, value_name = "TC", help_heading = "Limits")]
    #[schemars(example = &"8+0.08", extend("x-commands" = ["sprt"]))]
    pub new_tc: Option<String>,
    /// Clock of `base` alone [default: as `tc`].
    #[arg(long, value_name = "TC", help_heading = "Limits")]
    #[schemars(example = &"8+0.08", extend("x-commands" = ["sprt"]))]
    pub base_tc: Option<String>,
    /// Seconds per move, instead of a clock [default: none].
    #[arg(long, value_name = "S", help_heading = "Limits")]
    #[schemars(example = 0.1)]
    pub movetime: Option<f64>,
    /// Nodes per move [default: no limit].
    #[arg(long, value_name = "N", help_heading = "Limits")]
    #[schemars(example = 20_000)]
    pub nodes: Option<u64>,
    /// Plies per move [default: no limit].
    #[arg(long, value_name = "N", help_heading = "Limits")]
    #[schemars(example = 12)]
    pub depth: Option<u32>,
    /// Lets engines with a clock think on their opponent's time [default: false].
    ///
    /// Each game then takes twice the CPUs.
    #[arg(long, help_heading = "Limits")]
    #[schemars(example = true)]
    pub ponder: Option<bool>,
    /// Sends engines only the moves since the last capture or pawn move [default: false].
    ///
    /// They read such a command faster, and the games stay the same. At depth 4 it saves a fifth of
    /// the time of Stockfish's games.
    #[arg(long, help_heading = "Limits")]
    #[schemars(example = true)]
    pub short_position: Option<bool>,
    /// Milliseconds by which a move may overstep its time before it forfeits [default: 10].
    #[arg(long, value_name = "MS", help_heading = "Limits")]
    #[schemars(example = 10.0)]
    pub margin_ms: Option<f64>,
    /// Seconds after which a search without a clock counts as hanging [default: 60].
    #[arg(long, value_name = "S", help_heading = "Limits")]
    #[schemars(example = 60.0)]
    pub stall_timeout: Option<f64>,
    /// Seconds in which an engine must answer `uci`, and then `isready` [default: 10 and 30].
    ///
    /// `readyok` is awaited before each game. The time for which the engine waits for a CPU does
    /// not count.
    #[arg(long, value_name = "S", help_heading = "Limits")]
    #[schemars(example = 10.0)]
    pub start_timeout: Option<f64>,

    /// Opening book: EPD, FEN, PGN or Polyglot [default: the balanced book inside the program].
    ///
    /// .gz and .zst are read too. At fixed nodes or depth a run ends with its book; under a clock
    /// openings repeat, and their pairs count for less.
    #[arg(long, value_name = "FILE", help_heading = "Openings")]
    #[schemars(example = &"openings/quintain_8ply.epd.zst")]
    pub book: Option<PathBuf>,
    /// random (without replacement, from the seed) or sequential [default: random].
    #[arg(long, value_name = "ORDER", help_heading = "Openings")]
    #[schemars(example = &"random")]
    pub book_order: Option<String>,
    /// Plies taken from each PGN game [default: all], or of a Polyglot book's lines [default: 8].
    #[arg(long, value_name = "N", help_heading = "Openings")]
    #[schemars(example = 8)]
    pub book_plies: Option<u32>,
    /// Number of the first opening taken, from 1 [default: 1].
    #[arg(long, value_name = "N", help_heading = "Openings")]
    #[schemars(example = 1)]
    pub book_start: Option<u64>,
    /// Chess960 rules and castling; needs a book for it [default: false].
    #[arg(long, help_heading = "Openings")]
    #[schemars(example = true)]
    pub chess960: Option<bool>,

    /// Draw rule: first move, moves in a row, highest score in cp; or `none` [default: none].
    ///
    /// `move=34,count=8,score=20[,from-start]`. The move number of a book position counts, unless
    /// `from-start` is given.
    #[arg(long, value_name = "RULE", help_heading = "Adjudication")]
    #[schemars(example = &"move=34,count=8,score=20")]
    pub draw: Option<String>,
    /// Resign rule: moves in a row, cp lost, `twosided` if both agree; or `none` [default: none].
    ///
    /// `count=3,score=600[,twosided]`
    #[arg(long, value_name = "RULE", help_heading = "Adjudication")]
    #[schemars(example = &"count=3,score=600,twosided")]
    pub resign: Option<String>,
    /// Plies of play after which a game is drawn [default: no limit].
    #[arg(long, value_name = "N", help_heading = "Adjudication")]
    #[schemars(example = 400)]
    pub max_plies: Option<u32>,
    /// Folders with Syzygy tables, joined as in PATH; or `none` [default: none].
    ///
    /// A game gets the tables' result right after a capture or pawn move.
    #[arg(long, value_name = "PATHS", help_heading = "Adjudication")]
    #[schemars(example = &"/path/to/syzygy")]
    pub syzygy: Option<String>,
    /// Maximum number of men, kings included, of a position that the tables decide [default: all
    /// they have].
    #[arg(long, value_name = "N", help_heading = "Adjudication")]
    #[schemars(example = 5)]
    pub syzygy_pieces: Option<u32>,
    /// Counts wins that the fifty-move rule would turn into draws as wins [default: false].
    #[arg(long = "syzygy-ignore-50", help_heading = "Adjudication")]
    #[schemars(example = false)]
    pub syzygy_ignore_50: Option<bool>,
    /// Results of the tables that end a game: both, win-loss or draw [default: both].
    #[arg(long, value_name = "RESULTS", help_heading = "Adjudication")]
    #[schemars(example = &"both")]
    pub syzygy_adjudicate: Option<String>,

    /// Concurrent games [default: physical cores].
    ///
    /// At most one for each CPU under a clock, 64 without, and no more than the limits on open
    /// files and processes allow.
    #[arg(short = 'j', long, value_name = "N", help_heading = "Running")]
    #[schemars(example = 2)]
    pub concurrency: Option<u16>,
    /// Allows more concurrent games than one per CPU under a clock, 64 without [default: false].
    ///
    /// Under a clock, each game's clock then also measures the load of the others.
    #[arg(long, help_heading = "Running")]
    #[schemars(example = false)]
    pub force_concurrency: Option<bool>,
    /// Plays the games in worker processes: "local:N" for N on this machine, or a hub's address
    /// [default: none].
    ///
    /// "local:N" needs the program nats-server; each worker plays one game at a time. `quintain
    /// hub` prints the address of a hub.
    #[arg(long, value_name = "WORKERS", help_heading = "Running", conflicts_with = "concurrency")]
    #[schemars(example = &"local:4")]
    pub workers: Option<String>,
    /// Credentials for the hub of --workers [default: those stored by `quintain hub join`].
    #[arg(long, value_name = "FILE", help_heading = "Running")]
    #[schemars(example = &"me.toml")]
    pub credentials: Option<PathBuf>,
    /// Priority among the hub's runs, from -9 to 9; workers serve the highest [default: 0].
    #[arg(long, value_name = "N", help_heading = "Running", allow_negative_numbers = true)]
    #[schemars(example = 1)]
    pub priority: Option<i32>,
    /// Weight by which runs of one priority share the hub's workers [default: 1].
    #[arg(long, value_name = "SHARE", help_heading = "Running")]
    #[schemars(example = 2.0)]
    pub weight: Option<f64>,
    /// Scales the times on the hub's workers for the speed of an engine there, as "base=2190000"
    /// [default: no].
    ///
    /// The times are those of a machine on which the engine searches this many nodes per second. A
    /// worker measures its own speed with every slot busy. Without this, a run under a clock takes
    /// workers of one processor and one speed only.
    #[arg(long, value_name = "ENGINE=NPS", help_heading = "Running")]
    #[schemars(example = &"base=2190000")]
    pub scale: Option<String>,
    /// Share of the pairs that a second worker plays too, at fixed nodes or depth, as "2%"
    /// [default: no].
    ///
    /// The games of both must be equal. A difference ends the run and names both workers: one of
    /// them sends games that these engines do not play.
    #[arg(long, value_name = "SHARE", help_heading = "Running")]
    #[schemars(example = &"2%")]
    pub verify: Option<String>,
    /// Pins each slot to separate CPUs, or to those of a list, such as "0,2,4" [default: false].
    ///
    /// Without a list, fast physical cores are used first and hyper-threads last.
    #[arg(long, value_name = "CPUS", help_heading = "Running")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "auto")]
    #[serde(deserialize_with = "value::affinity")]
    #[schemars(with = "Switch", example = false)]
    pub affinity: Option<String>,
    /// Restarts the engines for each game [default: false].
    #[arg(long, help_heading = "Running")]
    #[schemars(example = false)]
    pub restart: Option<bool>,
    /// Plays a pair again if the machine made an engine lose on time [default: false].
    ///
    /// This applies if the waits for a CPU cover the overrun, and the engine hardly ran after its
    /// clock had reached zero. A pair is replayed at most three times; the number is reported.
    #[arg(long, help_heading = "Running")]
    #[schemars(example = false)]
    pub void_disturbed: Option<bool>,
    /// Share of the games that may be lost on time before the run stops [default: 10%].
    ///
    /// The share is computed over at least 100 games; 100% means no limit.
    #[arg(long, value_name = "SHARE", help_heading = "Running")]
    #[schemars(example = &"10%")]
    pub max_time_losses: Option<String>,
    /// Crashes, stalls and illegal moves after which the run stops [default: 10; a tuning: 16 times
    /// a block's pairs].
    #[arg(long, value_name = "N", help_heading = "Running")]
    #[schemars(example = 10)]
    pub max_failures: Option<u64>,
    /// Time after which the run stops: `90s`, `30m`, `8h` [default: no limit].
    ///
    /// Pauses do not count, and a resumed run has the whole time again.
    #[arg(long, value_name = "TIME", help_heading = "Running")]
    #[schemars(example = &"8h")]
    pub max_time: Option<String>,
    /// Half-width in Elo of the 95 % intervals at which the run stops [default: none].
    ///
    /// The interval is that of the two engines' difference; with more engines the intervals are
    /// those of the ratings, in a gauntlet of the heroes'. A `match` or `gauntlet` then needs no
    /// --pairs; an `sprt` that has no verdict by then is inconclusive. The width hardly depends on
    /// who is ahead, so the intervals stay true (Chow and Robbins 1965).
    #[arg(long, value_name = "ELO", help_heading = "Running")]
    #[schemars(example = 5, extend("x-commands" = ["sprt", "match", "gauntlet", "race"]))]
    pub until_width: Option<f64>,
    /// Seed of the order of openings [default: from the system].
    #[arg(long, value_name = "N", help_heading = "Running")]
    #[schemars(example = 1)]
    pub seed: Option<u64>,

    /// Additional PGN file, to which the counted games are appended [default: none].
    #[arg(long, value_name = "FILE", help_heading = "Records")]
    #[schemars(example = &"games.pgn")]
    pub pgn: Option<PathBuf>,
    /// Fields of its comments besides score, depth and time: all, none, or a list [default: nodes].
    ///
    /// A list has some of timeleft, latency, nodes, seldepth, nps, hashfull, tbhits, pv, separated
    /// by commas.
    #[arg(long, value_name = "FIELDS", help_heading = "Records")]
    #[schemars(example = &"nodes,seldepth")]
    pub pgn_fields: Option<String>,
    /// Notation of its moves: san, lan or uci [default: san].
    #[arg(long, value_name = "NOTATION", help_heading = "Records")]
    #[schemars(example = &"san")]
    pub pgn_notation: Option<String>,
    /// Writes only the seven-tag roster, where the game started, and the moves [default: false].
    #[arg(long, help_heading = "Records")]
    #[schemars(example = false)]
    pub pgn_min: Option<bool>,
    /// Groups of further tags: all, none, or some of engines, opening [default: none].
    ///
    /// `engines` is each engine's own name and author, `opening` the ECO code and name. With
    /// --pgn-style runner or cutechess the default is all.
    #[arg(long, value_name = "TAGS", help_heading = "Records")]
    #[schemars(example = &"engines,opening")]
    pub pgn_tags: Option<String>,
    /// export (the standard's format), runner (as fastchess does) or cutechess [default: export].
    ///
    /// With runner and cutechess, rounds are pairs, times are local, and a move stays on one line
    /// with its comment. games.pgn always has export.
    #[arg(long, value_name = "STYLE", help_heading = "Records")]
    #[schemars(example = &"export")]
    pub pgn_style: Option<String>,
    /// PGN of the games in play, replaced about once a second for broadcasts [default: none].
    ///
    /// The moves so far with score, depth, time and clock, and the latest finished games: 64
    /// games at most. Each update replaces the whole file.
    #[arg(long, value_name = "FILE", help_heading = "Records")]
    #[schemars(example = &"live.pgn")]
    pub live_pgn: Option<PathBuf>,
    /// EPD file, to which the final positions of the counted games are appended [default: none].
    #[arg(long, value_name = "FILE", help_heading = "Records")]
    #[schemars(example = &"final.epd")]
    pub epd: Option<PathBuf>,
    /// Value of the PGN tag Event [default: the run's name].
    #[arg(long, value_name = "TEXT", help_heading = "Records")]
    #[schemars(example = &"my-test")]
    pub event: Option<String>,
    /// Value of the PGN tag Site [default: ?].
    #[arg(long, value_name = "TEXT", help_heading = "Records")]
    #[schemars(example = &"?")]
    pub site: Option<String>,
    /// Keeps each move's principal variation in the journal [default: false].
    ///
    /// `--pgn-fields pv` has the same effect.
    #[arg(long, help_heading = "Records")]
    #[schemars(example = false)]
    pub record_pv: Option<bool>,
    /// Regular expression whose last match in a move's output is kept; repeatable [default: none].
    ///
    /// The line is kept in the journal and in the PGN's comments.
    #[arg(long, value_name = "REGEX", help_heading = "Records")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(example = ["^info string"])]
    pub match_line: Vec<String>,

    /// The run's directory [default: results/runs/<date>-<name>].
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    #[schemars(example = &"results/runs/my-test")]
    pub out: Option<PathBuf>,
    /// Name of the run [default: the command].
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    #[schemars(example = &"my-test")]
    pub name: Option<String>,
    /// Title of the run, on one line, shown beside its name [default: none].
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    #[schemars(example = &"wider aspiration windows")]
    pub note: Option<String>,

    /// Shell command run at the end, with the summary as JSON on its input [default: none].
    ///
    /// QUINTAIN_RUN, QUINTAIN_NAME, QUINTAIN_TITLE, QUINTAIN_VERDICT, QUINTAIN_STOPPED_BY and
    /// QUINTAIN_EXIT describe the run. The command may take a minute. `quintain resume` keeps it.
    /// A run that is interrupted has not ended.
    #[arg(long, value_name = "COMMAND", help_heading = "Output")]
    #[schemars(example = &"jq .elo")]
    pub on_end: Option<String>,
    /// Environment variable with the URL to which the summary is posted as JSON [default: none].
    ///
    /// A variable holds the URL, because plans are stored and the URL is a secret. quintain.toml
    /// may name it in its table [notify], as `webhook`, `ntfy` and `discord`.
    #[arg(long, value_name = "VARIABLE", help_heading = "Output")]
    #[schemars(example = &"MY_WEBHOOK")]
    pub notify_webhook: Option<String>,
    /// Environment variable with the URL of an ntfy topic, notified at the end [default: none].
    #[arg(long, value_name = "VARIABLE", help_heading = "Output")]
    #[schemars(example = &"MY_NTFY")]
    pub notify_ntfy: Option<String>,
    /// Environment variable with the URL of a Discord webhook, called at the end [default: none].
    #[arg(long, value_name = "VARIABLE", help_heading = "Output")]
    #[schemars(example = &"MY_DISCORD")]
    pub notify_discord: Option<String>,

    /// Players of a match or a gauntlet, whose heroes come first; candidates of a race.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-commands" = ["match", "gauntlet", "race"]))]
    pub players: Vec<RawPlayer>,
}

impl RawPlan {
    /// Keys of tournament formats, as plans store them.
    #[must_use]
    pub fn format_parameters(&self) -> Parameters {
        Parameters { heroes: self.heroes, rounds: self.rounds, ..Parameters::default() }
    }
}

/// A player as written. Its own keys win over those that the plan has for all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RawPlayer {
    /// The engine: `.`, git:REV, a path, or a name of engines.toml or on PATH.
    pub spec: Option<String>,
    /// Name in all results [default: the engine's name].
    #[schemars(example = &"mine")]
    pub name: Option<String>,
    /// UCI options of its own, which win over those of all.
    #[serde(deserialize_with = "options", serialize_with = "value::pairs", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "OptionTable", example = json!({ "Hash": 16 }))]
    pub options: Vec<(String, String)>,
    /// Network of its own, which wins over that of all.
    #[schemars(example = &"nets/big.nnue")]
    pub net: Option<PathBuf>,
    /// Clock of its own; each limit takes the place of all limits of the plan.
    #[schemars(example = &"8+0.08")]
    pub tc: Option<String>,
    /// Seconds per move.
    #[schemars(example = 0.1)]
    pub movetime: Option<f64>,
    /// Nodes per move.
    #[schemars(example = 20_000)]
    pub nodes: Option<u64>,
    /// Plies per move.
    #[schemars(example = 12)]
    pub depth: Option<u32>,
}
