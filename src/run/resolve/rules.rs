//! Rules of the games.

use std::time::Duration;

use super::positive_seconds;
use crate::chess::Variant;
use crate::plan::Player;
use crate::plan::rules::{DrawRule, ResignRule, RuleError, Rules, SyzygyRule, SyzygyScope};
use crate::run::error::{Result, RunError, fail};
use crate::settings::RawPlan;
use crate::tablebase::Tables;

/// Parses the rule of `flag`; `none` cancels the rule of a plan file.
fn rule<T: std::str::FromStr<Err = RuleError>>(flag: &'static str, text: Option<&str>) -> Result<Option<T>> {
    match text {
        None | Some("none") => Ok(None),
        Some(text) => text.parse().map(Some).map_err(RunError::value(flag)),
    }
}

/// Opens the tablebases at once, so that a missing directory is reported before engines are built.
fn syzygy(raw: &RawPlan) -> Result<Option<SyzygyRule>> {
    let paths = raw.syzygy.as_deref().filter(|paths| *paths != "none");
    let Some(paths) = paths else {
        let alone = raw.syzygy_pieces.is_some() || raw.syzygy_ignore_50.is_some() || raw.syzygy_adjudicate.is_some();
        if alone && raw.syzygy.is_none() {
            fail!(
                Setting,
                "--syzygy-pieces, --syzygy-ignore-50 and --syzygy-adjudicate only modify the use of tables; name the tables' folder with --syzygy"
            );
        }
        return Ok(None);
    };
    let mut rule = SyzygyRule::new(paths)?;
    if let Some(pieces) = raw.syzygy_pieces {
        rule = rule.with_pieces(pieces)?;
    }
    rule.ignore_fifty = raw.syzygy_ignore_50 == Some(true);
    rule.scope = raw.syzygy_adjudicate.as_deref().map(str::parse::<SyzygyScope>).transpose()?.unwrap_or_default();
    Tables::open(&rule.paths)?;
    Ok(Some(rule))
}

pub(super) fn rules(raw: &RawPlan) -> Result<Rules> {
    if raw.max_plies == Some(0) {
        fail!(Setting, "--max-plies 0 draws every game before its first move; leave it out for no limit");
    }
    let usual = Rules::default();
    Ok(Rules {
        variant: if raw.chess960 == Some(true) { Variant::Chess960 } else { Variant::Standard },
        draw: rule::<DrawRule>("--draw", raw.draw.as_deref())?,
        resign: rule::<ResignRule>("--resign", raw.resign.as_deref())?,
        max_plies: raw.max_plies,
        ponder: raw.ponder == Some(true),
        short_position: raw.short_position == Some(true),
        syzygy: syzygy(raw)?,
        margin: raw.margin_ms.map_or(Ok(usual.margin), milliseconds)?,
        stall_timeout: raw
            .stall_timeout
            .map_or(Ok(usual.stall_timeout), |limit| positive_seconds("--stall-timeout", limit))?,
    })
}

/// Refuses options that contradict the variant: such an engine would send castling in a way that
/// the referee takes for an illegal move.
pub(super) fn check_chess960(players: &[Player], variant: Variant) -> Result<()> {
    let (is_wanted, remedy) = match variant {
        Variant::Chess960 => ("true", "leave it out, or leave out --chess960"),
        Variant::Standard => ("false", "leave it out, or give --chess960"),
    };
    for player in players {
        match player.option(Variant::OPTION) {
            Some(value) if !value.eq_ignore_ascii_case(is_wanted) => {
                fail!(
                    Setting,
                    "{}: the option {}={value} contradicts the games' rules; {remedy}",
                    player.name,
                    Variant::OPTION
                );
            }
            _ => {}
        }
    }
    Ok(())
}

/// Time of `--margin-ms`.
fn milliseconds(margin: f64) -> Result<Duration> {
    match Duration::try_from_secs_f64(margin / 1e3) {
        Ok(time) => Ok(time),
        Err(_) => fail!(Setting, "--margin-ms {margin}: a number of milliseconds, 0 or more"),
    }
}
