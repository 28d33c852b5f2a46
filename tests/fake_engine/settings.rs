//! The command line, and the faults that it can ask for.

use std::path::PathBuf;
use std::time::Duration;

/// Time at which a fault occurs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// At the start of the process.
    Start,
    /// At one `go`: the fourth of a game unless `@K` says otherwise.
    Once,
    /// At every `go` from the first, or from the K-th.
    From,
}

/// Every fault and when it strikes.
const FAULTS: &[(&str, When)] = &[
    ("abort", When::Once),
    ("bad-default", When::Start),
    ("bad-option-lines", When::Start),
    ("bench-differs", When::Start),
    ("bench-drifts", When::Start),
    ("byte-by-byte", When::From),
    ("castling-other-notation", When::From),
    ("chatter", When::Once),
    ("complains", When::Start),
    ("complains-later", When::Start),
    ("close-stdin", When::Once),
    ("close-stdout", When::Once),
    ("crlf", When::From),
    ("deaf-in-search", When::Start),
    ("die-on-junk", When::Start),
    ("die-on-mated", When::Start),
    ("die-on-new-game", When::Start),
    ("early-infinite", When::Start),
    ("early-ponder", When::Start),
    ("exit-after-bestmove", When::Once),
    ("exit-at-start", When::Start),
    ("exit-in-ponder", When::Once),
    ("exit-in-search", When::Once),
    ("exit-on-position", When::Once),
    ("flood", When::From),
    ("fork-child", When::Start),
    ("hang", When::Once),
    ("huge-numbers", When::From),
    ("ignore-quit", When::Start),
    ("ignore-sigterm", When::Start),
    ("ignore-eof", When::Start),
    ("ignores-nodes", When::Start),
    ("illegal", When::Once),
    ("illegal-ponder", When::Start),
    ("illegal-pv", When::Start),
    ("invalid-utf8", When::From),
    ("kill-harness", When::Once),
    ("late-on-clock", When::Start),
    ("leading-spaces", When::From),
    ("late-stop", When::Start),
    ("leave-family", When::Start),
    ("leave-group", When::Start),
    ("long-line", When::From),
    ("mate-scores", When::From),
    ("missing-move", When::Once),
    ("no-author", When::Start),
    ("no-info", When::Start),
    ("no-newline", When::From),
    ("no-nodes", When::Start),
    ("no-read", When::Once),
    ("no-readyok", When::From),
    ("no-searchmoves", When::Start),
    ("no-stop", When::Start),
    ("no-time", When::Start),
    ("no-uciok", When::Start),
    ("none", When::Once),
    ("nul-bytes", When::From),
    ("null-move", When::Once),
    ("only-after-stop", When::From),
    ("overcounts-nodes", When::Start),
    ("overuses-depth", When::From),
    ("overuses-nodes", When::From),
    ("promo-without-piece", When::From),
    ("segv", When::Once),
    ("stderr-flood", When::From),
    ("stop-harness", When::Once),
    ("tabs", When::From),
    ("two-bestmoves", When::From),
    ("uppercase", When::Once),
    ("weird-options", When::Start),
];

pub struct Fault {
    pub name: &'static str,
    pub when: When,
    pub at: u64,
}

impl Fault {
    fn parse(text: &str) -> Result<Self, String> {
        let (name, at) = text.split_once('@').unwrap_or((text, ""));
        let known = FAULTS.iter().find(|(known, _)| *known == name);
        let &(name, when) = known.ok_or_else(|| format!("no fault {name}"))?;
        let at = match (at, when) {
            ("", When::Once) => 4,
            ("", _) => 1,
            (at, _) => number(at)?,
        };
        Ok(Self { name, when, at })
    }
}

#[derive(Default)]
pub struct Settings {
    pub name: String,
    pub seed: u64,
    pub sleep: Duration,
    pub spin: Duration,
    pub info: u64,
    pub score: Option<i64>,
    pub mate: Option<i64>,
    pub resigns: u64,
    pub start: Duration,
    pub start_cpu: Duration,
    pub stop: Duration,
    pub past_clock: Option<i64>,
    pub clock: bool,
    pub vary: bool,
    pub announce: bool,
    pub pv: Option<String>,
    pub ponder: Option<u64>,
    pub linger: bool,
    pub leave: bool,
    pub orphan: bool,
    pub bench: bool,
    /// It knows `go perft`, and takes this time for more than one ply.
    pub perft: Option<Duration>,
    pub tunes: bool,
    /// It has an option `EvalFile`, and the seed is the number in that file.
    pub net: bool,
    /// Factor of the nodes a ply, for engines that print their iterations.
    pub grows: Option<f64>,
    pub crash_above: Option<(String, f64)>,
    pub lost_below: Option<(String, f64)>,
    /// File for which searches wait, and the first game of the process in which they do.
    pub hold: Option<(PathBuf, u64)>,
    /// Text after `setoption` at which the process dies.
    pub dies_at: Option<String>,
    /// Option that ends the process once it is set above the value.
    pub dies_above: Option<(String, f64)>,
    pub faults: Vec<Fault>,
}

impl Settings {
    pub fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut settings = Self { name: "Fake".into(), ..Self::default() };
        while let Some(flag) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{flag} needs a value"));
            let micros = |text: String| number(&text).map(Duration::from_micros);
            match flag.as_str() {
                "--name" => settings.name = value()?,
                "--seed" => settings.seed = number(&value()?)?,
                "--sleep-us" => settings.sleep = micros(value()?)?,
                "--spin-us" => settings.spin = micros(value()?)?,
                "--info" => settings.info = number(&value()?)?,
                "--score" => settings.score = Some(value()?.parse().map_err(|e| format!("--score: {e}"))?),
                "--mate" => settings.mate = Some(value()?.parse().map_err(|e| format!("--mate: {e}"))?),
                "--resigns" => settings.resigns = number(&value()?)?,
                "--start-ms" => settings.start = Duration::from_millis(number(&value()?)?),
                "--past-clock-ms" => {
                    settings.past_clock = Some(value()?.parse().map_err(|e| format!("--past-clock-ms: {e}"))?);
                }
                "--start-cpu-ms" => settings.start_cpu = Duration::from_millis(number(&value()?)?),
                "--stop-ms" => settings.stop = Duration::from_millis(number(&value()?)?),
                "--clock" => settings.clock = true,
                "--vary" => settings.vary = true,
                "--announce" => settings.announce = true,
                "--pv" => settings.pv = Some(value()?.replace(',', " ")),
                "--ponder" => settings.ponder = Some(number(&value()?)?),
                "--perft-ms" => settings.perft = Some(Duration::from_millis(number(&value()?)?)),
                "--tunes" => settings.tunes = true,
                "--net" => settings.net = true,
                "--grows" => settings.grows = Some(value()?.parse().map_err(|e| format!("--grows: {e}"))?),
                "--crash-above" => settings.crash_above = Some(bound(&value()?)?),
                "--dies-above" => settings.dies_above = Some(bound(&value()?)?),
                "--lost-below" => settings.lost_below = Some(bound(&value()?)?),
                "--hold" => {
                    let text = value()?;
                    let (file, game) = text.rsplit_once('@').ok_or("--hold FILE@GAME")?;
                    settings.hold = Some((file.into(), number(game)?));
                }
                "--dies-at" => {
                    let text = value()?;
                    let (name, value) = text.split_once('=').ok_or("--dies-at NAME=VALUE")?;
                    settings.dies_at = Some(format!("name {name} value {value}"));
                }
                "--fault" => settings.faults.push(Fault::parse(&value()?)?),
                // What `fork-child` starts: a process that does nothing but hold the pipes open.
                "--linger" => settings.linger = true,
                // What `leave-group` starts: the same in a session of its own.
                "--leave" => settings.leave = true,
                // What `leave-family` starts: a process that starts such a one and ends.
                "--orphan" => settings.orphan = true,
                "bench" => settings.bench = true,
                _ => return Err(format!("no flag {flag}")),
            }
        }
        Ok(settings)
    }
}

/// An option and a value of it.
fn bound(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| format!("{text}: NAME=VALUE"))?;
    Ok((name.to_owned(), value.parse().map_err(|error| format!("{text}: {error}"))?))
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|error| format!("{text}: {error}"))
}
