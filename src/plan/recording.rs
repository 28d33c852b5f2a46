//! What a run writes beside its journal: a further PGN, an EPD of final positions, and what of the engines' talk is kept for them.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use chrono::FixedOffset;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::stored::{PlanFileError, parse};

/// What is kept and written besides `games.jsonl` and `games.pgn`. By default nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// Keep each move's principal variation in the journal.
    pub record_pv: bool,
    /// Keep, for each of these, the last line of a move's output that matches.
    pub match_lines: Vec<LinePattern>,
    /// The event of the PGNs; `None` for the run's name.
    pub event: Option<String>,
    /// The site of the PGNs; `None` for `?`.
    pub site: Option<String>,
    /// A PGN where the user wants one.
    pub pgn: Option<PgnOutput>,
    /// Where the counted games' final positions go.
    pub epd: Option<OutputFile>,
}

impl Recording {
    /// True where nothing of the engines' talk is kept, so that a worker need not look.
    #[must_use]
    pub fn keeps_no_talk(&self) -> bool {
        !self.record_pv && self.match_lines.is_empty()
    }
}

/// A further PGN of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PgnOutput {
    /// Where.
    pub file: OutputFile,
    /// What it looks like.
    pub options: PgnOptions,
}

/// A file that a run adds to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    /// Which.
    pub path: PathBuf,
    /// The run adds to what is there: so many bytes, at least, are not its own. `None` where the run begins the file anew.
    pub append_after: Option<u64>,
}

/// What the text of a game looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PgnOptions {
    /// How moves are written.
    pub notation: Notation,
    /// Only the seven-tag roster and where the game started, and no comments.
    pub min: bool,
    /// What a move's comment says besides score, depth and time.
    pub fields: Fields,
    /// Tags with the name and author that the engines gave themselves.
    pub engine_tags: bool,
    /// Tags with ECO code and name of the opening.
    pub opening_tags: bool,
    /// What a round is.
    pub round: Round,
    /// Which clock on the wall dates and times are of.
    pub zone: Zone,
    /// How the text is laid out.
    pub layout: Layout,
}

impl Default for PgnOptions {
    /// As in a run's `games.pgn`.
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

/// How moves are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notation {
    /// Standard algebraic: `Nf3`, `exd5`, `O-O`.
    #[default]
    San,
    /// Long algebraic: `Ng1f3`, `e4xd5`, `O-O`.
    Lan,
    /// As sent to the engines: `g1f3`, `e4d5`, `e1g1`.
    Uci,
}

/// What the number of a round says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Round {
    /// `12.2`: the pair and its leg.
    #[default]
    PairAndLeg,
    /// `12`: the pair, as the leading runners count.
    Pair,
    /// `12`: the game, where each has an opening of its own.
    Game,
}

/// Which clock on the wall dates and times are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Zone {
    /// Coordinated universal time, written with `Z`: a game's text depends on its record alone.
    #[default]
    Utc,
    /// What is local where the text is made, written with the offset: `+0100`.
    Local,
    /// A fixed offset.
    Fixed(FixedOffset),
}

/// How the text is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// Lines are filled whatever stands in them, and Black's move has its number after a comment.
    #[default]
    Export,
    /// As the leading runners lay it out: a move stays in one line with its comment, however long, and Black's has no number.
    Runner,
}

/// What a move's comment says besides score, depth and time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// `tl=`: what is left on the mover's clock, increment included.
    pub timeleft: bool,
    /// `latency=`: the time charged less the time the engine says it took.
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
    /// `pv=`, where it was recorded.
    pub pv: bool,
}

impl Fields {
    /// All of them.
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

    /// The names, in the order of a comment, with what they stand for.
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

    /// `all`, `none`, or names with commas between them.
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

/// Gives a type of few values their names, both ways.
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
named!(Layout, Layout, Layout::Export => "export", Layout::Runner => "runner");

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

    /// `utc`, `local`, or an offset such as `+01:00`.
    fn from_str(text: &str) -> Result<Self, RecordingError> {
        match text.trim() {
            "utc" => Ok(Self::Utc),
            "local" => Ok(Self::Local),
            other => other.parse().map(Self::Fixed).map_err(|_| RecordingError::Zone(other.to_owned())),
        }
    }
}

/// A regular expression that is looked for in a line of an engine's output.
#[derive(Clone, Debug)]
pub struct LinePattern(regex::bytes::Regex);

impl LinePattern {
    /// True where the line holds it.
    #[must_use]
    pub fn is_match(&self, line: &[u8]) -> bool {
        self.0.is_match(line)
    }

    /// As it was given.
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
            // The library draws a picture of several lines, the last of which says what is wrong.
            let why = error.to_string();
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            RecordingError::Pattern { pattern: text.to_owned(), why }
        })
    }
}

/// Why a word about records was not understood.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RecordingError {
    /// No field of a comment.
    #[error(
        "`{0}` is no PGN field; choose from timeleft, latency, nodes, seldepth, nps, hashfull, tbhits, pv, or all, or none"
    )]
    Field(String),
    /// No notation.
    #[error("`{0}` is no notation; choose san, lan or uci")]
    Notation(String),
    /// No numbering of rounds.
    #[error("`{0}` is no numbering of rounds; choose pair.leg, pair or game")]
    Round(String),
    /// No layout.
    #[error("`{0}` is no PGN style; choose export or runner")]
    Layout(String),
    /// No time zone.
    #[error("`{0}` is no time zone; choose utc, local or an offset such as +01:00")]
    Zone(String),
    /// No regular expression.
    #[error("`{pattern}` is no regular expression: {why}")]
    Pattern {
        /// As given.
        pattern: String,
        /// What is wrong with it.
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
    /// What is recorded.
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
        check("utc", &Zone::Utc);
        check("local", &Zone::Local);
        check("-03:30", &Zone::Fixed(FixedOffset::west_opt(3 * 3600 + 1800).unwrap()));
        assert!("nodes,,pv".parse::<Fields>().is_err() && "".parse::<Fields>().is_err());
        for error in ["x".parse::<Notation>().err(), "x".parse::<Round>().err(), "x".parse::<Layout>().err()] {
            assert!(error.unwrap().to_string().starts_with("`x` is no "));
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
        assert_eq!(error, "`a(` is no regular expression: unclosed group");
    }
}
