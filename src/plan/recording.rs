//! Output beside the journal: a further PGN, an EPD of final positions, and recorded engine output.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use chrono::FixedOffset;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::stored::{PlanFileError, parse};

/// Output besides `games.jsonl` and `games.pgn`. By default there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// Records the principal variation of each move in the journal.
    pub record_pv: bool,
    /// Patterns of output lines. Of each move's output, the last line that matches each pattern is
    /// recorded.
    pub match_lines: Vec<LinePattern>,
    /// Event tag of the PGNs; `None` for the run's name.
    pub event: Option<String>,
    /// Site tag of the PGNs; `None` for `?`.
    pub site: Option<String>,
    /// Further PGN file.
    pub pgn: Option<PgnOutput>,
    /// EPD file of the counted games' final positions.
    pub epd: Option<OutputFile>,
    /// PGN file of the games in play, replaced about once a second.
    pub live: Option<PathBuf>,
}

impl Recording {
    /// True if no engine output is recorded, so that a worker need not look at it.
    #[must_use]
    pub fn keeps_no_talk(&self) -> bool {
        !self.record_pv && self.match_lines.is_empty()
    }
}

/// A further PGN file of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PgnOutput {
    /// File to write.
    pub file: OutputFile,
    /// Format of the games.
    pub options: PgnOptions,
}

/// A file that a run writes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Minimum number of bytes that were in the file before the run, which appends to them; `None`
    /// if the run overwrites the file.
    pub append_after: Option<u64>,
}

/// Format of a game's PGN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PgnOptions {
    /// Notation of moves.
    pub notation: Notation,
    /// True for a short form: the seven-tag roster, the tags of the start position, no comments.
    pub min: bool,
    /// Comment fields besides score, depth and time.
    pub fields: Fields,
    /// True for tags with the name and author that the engines reported.
    pub engine_tags: bool,
    /// True for tags with ECO code and name of the opening.
    pub opening_tags: bool,
    /// Meaning of the round tag.
    pub round: Round,
    /// Time zone of dates and times.
    pub zone: Zone,
    /// Layout of the text.
    pub layout: Layout,
}

impl Default for PgnOptions {
    /// Options of a run's `games.pgn`.
    fn default() -> Self {
        Self {
            notation: Notation::San,
            min: false,
            fields: Fields { nodes: true, ..Fields::default() },
            engine_tags: false,
            opening_tags: false,
            round: Round::PairAndLeg,
            zone: Zone::Utc,
            layout: Layout::Export,
        }
    }
}

/// Notation of moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notation {
    /// Standard algebraic notation: `Nf3`, `exd5`, `O-O`.
    #[default]
    San,
    /// Long algebraic notation: `Ng1f3`, `e4xd5`, `O-O`.
    Lan,
    /// UCI notation, as sent to the engines: `g1f3`, `e4d5`, `e1g1`.
    Uci,
}

/// Meaning of the round tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Round {
    /// Pair and leg: `12.2`.
    #[default]
    PairAndLeg,
    /// Pair alone, as the leading runners count: `12`.
    Pair,
    /// Game, if each game has an opening of its own: `12`.
    Game,
}

/// Time zone of dates and times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Zone {
    /// Coordinated universal time, written with `Z`. The text of a game then depends on its record
    /// alone.
    #[default]
    Utc,
    /// Local time of the machine, written with its offset: `+0100`.
    Local,
    /// Time at a fixed offset.
    Fixed(FixedOffset),
}

/// Layout of the PGN text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// Full lines, broken anywhere, with a number before Black's move after a comment (PGN export
    /// format).
    #[default]
    Export,
    /// Layout of the leading runners: a move and its comment stay on one line, however long.
    /// Black's moves have no number.
    Runner,
    /// The same with the words of cutechess-cli, where those of fastchess differ.
    Cutechess,
}

/// Comment fields besides score, depth and time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// `tl=`: time left on the mover's clock, increment included.
    pub timeleft: bool,
    /// `latency=`: time charged minus the time that the engine reported.
    pub latency: bool,
    /// `n=`
    pub nodes: bool,
    /// `sd=`
    pub seldepth: bool,
    /// `nps=`
    pub nps: bool,
    /// `hashfull=`
    pub hashfull: bool,
    /// `tbhits=`
    pub tbhits: bool,
    /// `pv=`: principal variation, if it was recorded.
    pub pv: bool,
}

impl Fields {
    /// All fields.
    pub const ALL: Self = Self {
        timeleft: true,
        latency: true,
        nodes: true,
        seldepth: true,
        nps: true,
        hashfull: true,
        tbhits: true,
        pv: true,
    };

    /// Names of the fields in the order of a comment, with their switches.
    fn named(&mut self) -> [(&'static str, &mut bool); 8] {
        [
            ("timeleft", &mut self.timeleft),
            ("latency", &mut self.latency),
            ("nodes", &mut self.nodes),
            ("seldepth", &mut self.seldepth),
            ("nps", &mut self.nps),
            ("hashfull", &mut self.hashfull),
            ("tbhits", &mut self.tbhits),
            ("pv", &mut self.pv),
        ]
    }
}

impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = *self;
        let names: Vec<_> = fields.named().into_iter().filter(|(_, is_on)| **is_on).map(|(name, _)| name).collect();
        f.write_str(if names.is_empty() { "none" } else { "" })?;
        f.write_str(&names.join(","))
    }
}

impl FromStr for Fields {
    type Err = RecordingError;

    /// Parses `all`, `none` or names separated by commas.
    fn from_str(text: &str) -> Result<Self, RecordingError> {
        match text.trim() {
            "all" => return Ok(Self::ALL),
            "none" => return Ok(Self::default()),
            _ => {}
        }
        let mut fields = Self::default();
        for word in text.split(',') {
            let name = word.trim();
            match fields.named().into_iter().find(|(known, _)| *known == name) {
                Some((_, is_on)) => *is_on = true,
                None => return Err(RecordingError::Field(name.to_owned())),
            }
        }
        Ok(fields)
    }
}

/// Implements `Display` and `FromStr` for an enum by its names.
macro_rules! named {
    ($type:ident, $error:ident, $($value:path => $name:literal),+) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($value => $name),+ })
            }
        }

        impl FromStr for $type {
            type Err = RecordingError;

            fn from_str(text: &str) -> Result<Self, RecordingError> {
                match text.trim() {
                    $($name => Ok($value),)+
                    other => Err(RecordingError::$error(other.to_owned())),
                }
            }
        }
    };
}

named!(Notation, Notation, Notation::San => "san", Notation::Lan => "lan", Notation::Uci => "uci");
named!(Round, Round, Round::PairAndLeg => "pair.leg", Round::Pair => "pair", Round::Game => "game");
named!(Layout, Layout, Layout::Export => "export", Layout::Runner => "runner", Layout::Cutechess => "cutechess");

impl Zone {
    /// Returns the offset that this machine has now. A game written again, by a resumed run
    /// elsewhere, then has the same text.
    #[must_use]
    pub fn here() -> Self {
        Self::Fixed(*chrono::Local::now().offset())
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Utc => f.write_str("utc"),
            Self::Local => f.write_str("local"),
            Self::Fixed(offset) => write!(f, "{offset}"),
        }
    }
}

impl FromStr for Zone {
    type Err = RecordingError;

    /// Parses `utc`, `local` or an offset such as `+01:00`.
    fn from_str(text: &str) -> Result<Self, RecordingError> {
        match text.trim() {
            "utc" => Ok(Self::Utc),
            "local" => Ok(Self::Local),
            other => other.parse().map(Self::Fixed).map_err(|_| RecordingError::Zone(other.to_owned())),
        }
    }
}

/// A regular expression that is searched for in a line of engine output.
#[derive(Clone, Debug)]
pub struct LinePattern(regex::bytes::Regex);

impl LinePattern {
    /// True if the line matches.
    #[must_use]
    pub fn is_match(&self, line: &[u8]) -> bool {
        self.0.is_match(line)
    }

    /// Text of the pattern.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl PartialEq for LinePattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for LinePattern {}

impl FromStr for LinePattern {
    type Err = RecordingError;

    fn from_str(text: &str) -> Result<Self, RecordingError> {
        regex::bytes::Regex::new(text).map(Self).map_err(|error| {
            // Keeps the last line of the library's message, which states the fault.
            let why = error.to_string();
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            RecordingError::Pattern { pattern: text.to_owned(), why }
        })
    }
}

/// Reason for which a recording option could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RecordingError {
    /// Unknown comment field.
    #[error(
        "`{0}` is no PGN field; choose from timeleft, latency, nodes, seldepth, nps, hashfull, tbhits, pv, or all, or none"
    )]
    Field(String),
    /// Unknown notation.
    #[error("`{0}` is not a notation; choose san, lan or uci")]
    Notation(String),
    /// Unknown numbering of rounds.
    #[error("`{0}` is not a numbering of rounds; choose pair.leg, pair or game")]
    Round(String),
    /// Unknown layout.
    #[error("`{0}` is not a PGN style; choose export, runner or cutechess")]
    Layout(String),
    /// Unknown time zone.
    #[error("`{0}` is not a time zone; choose utc, local or an offset such as +01:00")]
    Zone(String),
    /// Invalid regular expression.
    #[error("`{pattern}` is not a regular expression: {why}")]
    Pattern {
        /// Text that was given.
        pattern: String,
        /// Fault in words.
        why: String,
    },
}

/// Table `recording` of a `plan.toml`.
#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RecordingV1 {
    record_pv: bool,
    match_lines: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    site: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    live: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epd: Option<OutputV1>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pgn: Option<PgnV1>,
}

impl RecordingV1 {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OutputV1 {
    path: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    append_after: Option<u64>,
}

#[derive(PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PgnV1 {
    path: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    append_after: Option<u64>,
    notation: String,
    min: bool,
    fields: String,
    engine_tags: bool,
    opening_tags: bool,
    round: String,
    zone: String,
    layout: String,
}

impl From<&Recording> for RecordingV1 {
    fn from(recording: &Recording) -> Self {
        Self {
            record_pv: recording.record_pv,
            match_lines: recording.match_lines.iter().map(|pattern| pattern.as_str().to_owned()).collect(),
            event: recording.event.clone(),
            site: recording.site.clone(),
            live: recording.live.clone(),
            epd: recording
                .epd
                .as_ref()
                .map(|file| OutputV1 { path: file.path.clone(), append_after: file.append_after }),
            pgn: recording.pgn.as_ref().map(|pgn| PgnV1 {
                path: pgn.file.path.clone(),
                append_after: pgn.file.append_after,
                notation: pgn.options.notation.to_string(),
                min: pgn.options.min,
                fields: pgn.options.fields.to_string(),
                engine_tags: pgn.options.engine_tags,
                opening_tags: pgn.options.opening_tags,
                round: pgn.options.round.to_string(),
                zone: pgn.options.zone.to_string(),
                layout: pgn.options.layout.to_string(),
            }),
        }
    }
}

impl RecordingV1 {
    /// Converts the table to recording options.
    pub(super) fn read(self) -> Result<Recording, PlanFileError> {
        let patterns = self.match_lines.iter().map(|text| parse("recording.match_lines", text));
        let pgn = self.pgn.map(|pgn| {
            Ok::<_, PlanFileError>(PgnOutput {
                file: OutputFile { path: pgn.path, append_after: pgn.append_after },
                options: PgnOptions {
                    notation: parse("recording.pgn.notation", &pgn.notation)?,
                    min: pgn.min,
                    fields: parse("recording.pgn.fields", &pgn.fields)?,
                    engine_tags: pgn.engine_tags,
                    opening_tags: pgn.opening_tags,
                    round: parse("recording.pgn.round", &pgn.round)?,
                    zone: parse("recording.pgn.zone", &pgn.zone)?,
                    layout: parse("recording.pgn.layout", &pgn.layout)?,
                },
            })
        });
        Ok(Recording {
            record_pv: self.record_pv,
            match_lines: patterns.collect::<Result<_, _>>()?,
            event: self.event,
            site: self.site,
            live: self.live,
            pgn: pgn.transpose()?,
            epd: self.epd.map(|OutputV1 { path, append_after }| OutputFile { path, append_after }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<T: FromStr<Err = RecordingError> + fmt::Display + PartialEq + fmt::Debug>(text: &str, expected: &T) {
        assert_eq!(text.parse::<T>().as_ref(), Ok(expected), "{text}");
        assert_eq!(expected.to_string().parse::<T>().as_ref(), Ok(expected), "{text}");
    }

    #[test]
    fn words_are_read_and_written() {
        check("all", &Fields::ALL);
        check("none", &Fields::default());
        check("nodes", &PgnOptions::default().fields);
        check(" nodes, pv ", &Fields { nodes: true, pv: true, ..Fields::default() });
        check("timeleft,latency,nodes,seldepth,nps,hashfull,tbhits,pv", &Fields::ALL);
        check("san", &Notation::San);
        check("lan", &Notation::Lan);
        check("uci", &Notation::Uci);
        check("pair.leg", &Round::PairAndLeg);
        check("pair", &Round::Pair);
        check("game", &Round::Game);
        check("export", &Layout::Export);
        check("runner", &Layout::Runner);
        check("cutechess", &Layout::Cutechess);
        check("utc", &Zone::Utc);
        check("local", &Zone::Local);
        check("-03:30", &Zone::Fixed(FixedOffset::west_opt(3 * 3600 + 1800).unwrap()));
        assert!("nodes,,pv".parse::<Fields>().is_err() && "".parse::<Fields>().is_err());
        for error in ["x".parse::<Notation>().err(), "x".parse::<Round>().err(), "x".parse::<Layout>().err()] {
            assert!(error.unwrap().to_string().starts_with("`x` is not "));
        }
        assert!("noon".parse::<Zone>().is_err());
    }

    #[test]
    fn patterns_search_bytes() {
        let pattern: LinePattern = r"^info .*nodes \d+".parse().unwrap();
        assert!(pattern.is_match(b"info depth 3 nodes 12 \xff"));
        assert!(!pattern.is_match(b"bestmove e2e4"));
        assert_eq!(pattern, pattern.as_str().parse().unwrap());
        let error = "a(".parse::<LinePattern>().unwrap_err().to_string();
        assert_eq!(error, "`a(` is not a regular expression: unclosed group");
    }
}
