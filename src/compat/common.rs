//! Options that mean the same in both dialects.

use std::time::Duration;

use super::invocation::{DrawArgs, PgnArgs, ResignArgs, RunnerSettings};
use super::words::{OptionGroup, boolean, interval, number, unknown_key};

/// Applies an option that means the same in both dialects. Returns false if it is none of these.
pub(super) fn option(settings: &mut RunnerSettings, group: &OptionGroup) -> Result<bool, String> {
    match group.option {
        "-draw" => settings.draw = Some(draw(&group.pairs()?)?),
        "-resign" => settings.resign = Some(resign(&group.pairs()?)?),
        "-event" => settings.event = group.words.join(" "),
        "-site" => settings.site = group.words.join(" "),
        "-noswap" => settings.no_swap = is_given(group)?,
        "-reverse" => settings.reverse = is_given(group)?,
        "-recover" => settings.recover = is_given(group)?,
        "-tbignore50" => settings.tb.ignore_50 = is_given(group)?,
        "-rounds" => settings.rounds = number(group.one()?)?,
        "-games" => settings.games = number(group.one()?)?,
        "-tb" => settings.tb.paths = Some(group.one()?.to_owned()),
        "-tbpieces" => settings.tb.pieces = number(group.one()?)?,
        "-wait" => settings.wait = number(group.one()?).map(Duration::from_millis)?,
        "-ratinginterval" => settings.rating_interval = interval(group.one()?)?,
        "-scoreinterval" => settings.score_interval = interval(group.one()?)?,
        "-seeds" => settings.seeds = number(group.one()?)?,
        "-variant" => settings.chess960 = chess960(group.one()?)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Returns true for a flag without a value; an error if a value follows.
fn is_given(group: &OptionGroup) -> Result<bool, String> {
    group.none().map(|()| true)
}

fn chess960(value: &str) -> Result<bool, String> {
    match value {
        "standard" => Ok(false),
        "fischerandom" => Ok(true),
        _ => Err(format!("\"{value}\" is neither standard nor fischerandom")),
    }
}

fn draw(pairs: &[(&str, &str)]) -> Result<DrawArgs, String> {
    let mut draw = DrawArgs { number: 0, count: 1, score: 0 };
    for &(key, value) in pairs {
        let field = match key {
            "movenumber" => &mut draw.number,
            "movecount" => &mut draw.count,
            "score" => &mut draw.score,
            _ => return Err(unknown_key(key, value, &["movenumber", "movecount", "score"])),
        };
        *field = number(value)?;
    }
    Ok(draw)
}

fn resign(pairs: &[(&str, &str)]) -> Result<ResignArgs, String> {
    let mut resign = ResignArgs { count: 1, score: 0, two_sided: false };
    for &(key, value) in pairs {
        match key {
            "movecount" => resign.count = number(value)?,
            "score" => resign.score = number(value)?,
            "twosided" => resign.two_sided = boolean(value)?,
            _ => return Err(unknown_key(key, value, &["movecount", "score", "twosided"])),
        }
    }
    Ok(resign)
}

/// Values of `-pgnout FILE [min] [fi]`. `fi` has no effect because only finished games are written.
pub(super) fn pgn(group: &OptionGroup) -> Result<PgnArgs, String> {
    let [file, rest @ ..] = group.words.as_slice() else { return Err("it takes a file".to_owned()) };
    let mut pgn = PgnArgs { file: (*file).to_owned(), ..PgnArgs::default() };
    for word in rest {
        match *word {
            "min" => pgn.min = true,
            "fi" => {}
            _ => return Err(format!("\"{word}\" is neither min nor fi")),
        }
    }
    Ok(pgn)
}
