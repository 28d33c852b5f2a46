//! Tags of a game.

use std::borrow::Cow;
use std::time::Duration;

use chrono::{DateTime, FixedOffset, Local, Utc};

use super::{Layout, LiveGame, PgnMeta, PgnOptions, Round, Zone};
use crate::chess::{START_FEN, Variant};
use crate::plan::time_control::{Limit, Seconds};
use crate::record::{ByColor, GameId, GameRecord, Opening, Termination};
use crate::report::eco::{OpeningName, OpeningNames};

/// Name and value of a tag.
type Tag<'a> = (&'static str, Cow<'a, str>);

/// Tags as text: the seven-tag roster, then all others in alphabetical order.
pub(super) fn tags(
    record: &GameRecord,
    meta: &PgnMeta<'_>,
    options: &PgnOptions,
    openings: Option<&OpeningNames>,
) -> String {
    let end = record.ending.outcome.token();
    let (mut tags, sorted) = basic(record.id, &record.opening, record.started, (meta, options), end);
    if !options.min {
        more(record, meta, options, openings, &mut tags);
    }
    written((tags, sorted))
}

/// Tags of a game in play as text.
pub(super) fn live(game: &LiveGame<'_>, meta: &PgnMeta<'_>, outcome: &str) -> String {
    let options = PgnOptions::default();
    let (mut tags, sorted) = basic(game.id, game.opening, game.started, (meta, &options), outcome);
    tags.push(("GameStartTime", stamp(game.started, options.zone).into()));
    limits(meta, &mut tags);
    written((tags, sorted))
}

/// The seven-tag roster and the tags of the start position, with the place from which tags are
/// sorted.
fn basic<'a>(
    id: GameId,
    opening: &'a Opening,
    started: Duration,
    (meta, options): (&PgnMeta<'a>, &PgnOptions),
    outcome: &'a str,
) -> (Vec<Tag<'a>>, usize) {
    let pair = id.pair.0.saturating_add(1);
    let round = match options.round {
        Round::PairAndLeg => format!("{pair}.{}", id.leg.index() + 1),
        Round::Pair => pair.to_string(),
        Round::Game => meta.number.unwrap_or_else(|| id.number()).to_string(),
    };
    let mut tags: Vec<Tag<'a>> = vec![
        ("Event", meta.event.into()),
        ("Site", meta.site.into()),
        ("Date", local(started, options.zone).format("%Y.%m.%d").to_string().into()),
        ("Round", round.into()),
        ("White", meta.names.white.into()),
        ("Black", meta.names.black.into()),
        ("Result", outcome.into()),
    ];
    let roster = tags.len();
    if opening.fen != START_FEN || meta.variant == Variant::Chess960 {
        tags.push(("SetUp", "1".into()));
        tags.push(("FEN", opening.fen.as_str().into()));
    }
    // The leading runners write the position right after the roster.
    let sorted = if options.layout == Layout::Export { roster } else { tags.len() };
    if meta.variant == Variant::Chess960 {
        let [usual, of_cutechess] = Variant::CHESS960_TAGS;
        let name = if options.layout == Layout::Cutechess { of_cutechess } else { usual };
        tags.push(("Variant", name.into()));
    }
    (tags, sorted)
}

/// Tags as text, those from the place `sorted` on in alphabetical order.
fn written((mut tags, sorted): (Vec<Tag<'_>>, usize)) -> String {
    tags[sorted..].sort_by_key(|(name, _)| *name);
    let mut text = String::with_capacity(LINE * tags.len());
    for (name, value) in &tags {
        text.extend(["[", name, " \""]);
        push_value(value, &mut text);
        text.push_str("\"]\n");
    }
    text
}

/// Usual size of a tag's line in bytes.
const LINE: usize = 48;

/// Adds the tags besides the roster and the start position.
fn more<'a>(
    record: &'a GameRecord,
    meta: &PgnMeta<'a>,
    options: &PgnOptions,
    openings: Option<&OpeningNames>,
    tags: &mut Vec<Tag<'a>>,
) {
    let seconds = record.took.as_secs();
    tags.push(("GameDuration", format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60).into()));
    tags.push(("GameStartTime", stamp(record.started, options.zone).into()));
    tags.push(("GameEndTime", stamp(record.started.saturating_add(record.took), options.zone).into()));
    tags.push(("PlyCount", (record.opening.moves.len() + record.moves.len()).to_string().into()));
    if let Some(text) = termination(record.ending.termination, options.layout) {
        tags.push(("Termination", text.into()));
    }
    limits(meta, tags);
    if options.engine_tags {
        let ByColor { white, black } = &record.engines;
        let said = [
            ("EngineWhiteName", &white.name),
            ("EngineWhiteAuthor", &white.author),
            ("EngineBlackName", &black.name),
            ("EngineBlackAuthor", &black.author),
        ];
        let said = said.into_iter().filter(|(_, text)| !text.is_empty());
        tags.extend(said.map(|(name, text)| (name, text.into())));
    }
    let opening = openings.filter(|_| options.opening_tags).and_then(|openings| openings.of(record, meta.variant));
    if let Some(OpeningName { eco, name }) = opening {
        tags.push(("ECO", eco.into()));
        tags.push(("Opening", name.into()));
    }
}

/// Adds the tags of the players' limits.
fn limits(meta: &PgnMeta<'_>, tags: &mut Vec<Tag<'_>>) {
    let (white, black) = (time_control(&meta.limits.white), time_control(&meta.limits.black));
    if white == black {
        tags.push(("TimeControl", white.into()));
    } else {
        tags.push(("WhiteTimeControl", white.into()));
        tags.push(("BlackTimeControl", black.into()));
    }
    // States the whole limit too, if it has more than a clock. Games under different limits are not
    // to be rated together.
    let (white, black) = (&meta.limits.white, &meta.limits.black);
    if [white, black].iter().any(|limit| limit.nodes.is_some() || limit.depth.is_some()) {
        if white == black {
            tags.push(("Limit", white.to_string().into()));
        } else {
            tags.push(("WhiteLimit", white.to_string().into()));
            tags.push(("BlackLimit", black.to_string().into()));
        }
    }
}

/// A time since the Unix epoch as local time of the zone.
fn local(since_epoch: Duration, zone: Zone) -> DateTime<FixedOffset> {
    let seconds = i64::try_from(since_epoch.as_secs()).unwrap_or(i64::MAX);
    let time = DateTime::<Utc>::from_timestamp(seconds, 0).unwrap_or(DateTime::UNIX_EPOCH);
    match zone {
        Zone::Utc => time.fixed_offset(),
        Zone::Local => time.with_timezone(&Local).fixed_offset(),
        Zone::Fixed(offset) => time.with_timezone(&offset),
    }
}

/// Date and time: in UTC with `Z`, elsewhere with the offset as the leading runners write it.
fn stamp(since_epoch: Duration, zone: Zone) -> String {
    let format = if zone == Zone::Utc { "%Y-%m-%dT%H:%M:%SZ" } else { "%Y-%m-%dT%H:%M:%S %z" };
    local(since_epoch, zone).format(format).to_string()
}

/// Value of the termination tag. cutechess-cli writes none at an end by the rules.
const fn termination(termination: Termination, layout: Layout) -> Option<&'static str> {
    let is_cutechess = matches!(layout, Layout::Cutechess);
    Some(match termination {
        Termination::Checkmate
        | Termination::Stalemate
        | Termination::InsufficientMaterial
        | Termination::ThreefoldRepetition
        | Termination::FiftyMoves => {
            if is_cutechess {
                return None;
            }
            "normal"
        }
        Termination::Stall if is_cutechess => "stalled connection",
        Termination::TimeForfeit => "time forfeit",
        Termination::IllegalMove => "illegal move",
        Termination::Crash | Termination::Stall => "abandoned",
        Termination::ResignAdjudication
        | Termination::DrawAdjudication
        | Termination::MaxPliesAdjudication
        | Termination::TablebaseAdjudication => "adjudication",
    })
}

fn time_control(limit: &Limit) -> String {
    match (limit.clock, limit.movetime) {
        (Some(clock), _) => clock.to_string(),
        (None, Some(movetime)) => format!("{}/move", Seconds(movetime)),
        (None, None) => "-".to_owned(),
    }
}

/// Appends the value of a tag: `"` and `\` escaped, control characters as spaces, cut after 200
/// characters (the standard allows lines of 255).
fn push_value(value: &str, text: &mut String) {
    for c in value.chars().take(200) {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if c.is_control() => text.push(' '),
            c => text.push(c),
        }
    }
}
