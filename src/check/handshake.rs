//! The engine's name, its options, and whether it accepts their values.

use std::collections::BTreeSet;
use std::time::Duration;

use super::peer::{CheckedProcess, Handshake, SentPosition};
use super::{CheckAnswer, CheckedEngine, Finding};
use crate::uci::{EngineOption, OptionKind};

/// A start that takes longer is reported, because every restart in a run takes as long.
const SLOW_START: Duration = Duration::from_secs(2);

pub(super) fn starts(handshake: &Handshake) -> CheckAnswer {
    let text = format!("uciok after {:.0} ms", handshake.took.as_secs_f64() * 1e3);
    if handshake.took > SLOW_START { Finding::warn(text) } else { Finding::pass(text) }
}

pub(super) fn identity(handshake: &Handshake) -> CheckAnswer {
    let one = |what: &str, found: &[String]| match found {
        [one] if !one.is_empty() => Ok(one.clone()),
        [] | [_] => Err(format!("no `id {what}`")),
        _ => Err(format!("`id {what}` came {} times", found.len())),
    };
    let (name, author) = (one("name", &handshake.names)?, one("author", &handshake.authors)?);
    Finding::pass(format!("{name}, by {author}"))
}

pub(super) fn options(handshake: &Handshake) -> CheckAnswer {
    if let Some(line) = handshake.unreadable.first() {
        return Err(format!("{} lines are not options, the first: `{line}`", handshake.unreadable.len()));
    }
    let mut seen = BTreeSet::new();
    for option in &handshake.options {
        if !seen.insert(option.name.to_lowercase()) {
            return Err(format!("option `{}` came twice", option.name));
        }
        let missing = match &option.kind {
            OptionKind::Spin { min: None, .. } => "min",
            OptionKind::Spin { max: None, .. } => "max",
            OptionKind::Combo { vars, .. } if vars.is_empty() => "var",
            _ => continue,
        };
        return Err(format!("option `{}` has no {missing}", option.name));
    }
    Finding::pass(format!("{} options", handshake.options.len()))
}

/// The fault in an option's default.
fn bad_default(option: &EngineOption) -> Option<String> {
    let name = &option.name;
    match &option.kind {
        OptionKind::Check { default: None } | OptionKind::Spin { default: None, .. } => {
            Some(format!("option `{name}` has no default"))
        }
        OptionKind::Spin { min: Some(min), max: Some(max), .. } if min > max => {
            Some(format!("option `{name}` has min {min} above max {max}"))
        }
        OptionKind::Spin { default: Some(default), min, max }
            if min.is_some_and(|min| *default < min) || max.is_some_and(|max| *default > max) =>
        {
            Some(format!("option `{name}` has its default {default} outside its range"))
        }
        OptionKind::Combo { default: Some(default), vars } if !vars.contains(default) => {
            Some(format!("option `{name}` has the default `{default}`, which is none of its values"))
        }
        _ => None,
    }
}

pub(super) fn defaults(handshake: &Handshake) -> CheckAnswer {
    match handshake.options.iter().find_map(bad_default) {
        Some(wrong) => Err(wrong),
        None => Finding::pass("every default lies in its range"),
    }
}

/// The values to try, the default last. Empty for options that would change the language, the game
/// or the disk.
fn values(option: &EngineOption) -> Vec<Option<String>> {
    const LEAST_HASH: i64 = 16;
    let lower = option.name.to_lowercase();
    let like = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
    match &option.kind {
        OptionKind::Check { default: Some(default) } => {
            [!default, *default].map(|value| Some(value.to_string())).to_vec()
        }
        OptionKind::Spin { default: Some(default), min: Some(min), max: Some(max) } if min <= max => {
            let most = if like(&["hash", "mem", "cache", "table", "size", "mb"]) {
                LEAST_HASH.clamp(*min, *max)
            } else if like(&["thread", "cpu", "core"]) {
                2.clamp(*min, *max)
            } else {
                *max
            };
            [*min, most, *default].map(|value| Some(value.to_string())).to_vec()
        }
        OptionKind::Combo { default: Some(default), vars } if !like(&["protocol", "variant"]) => {
            vars.iter().chain([default]).cloned().map(Some).collect()
        }
        OptionKind::Button if like(&["clear"]) => vec![None],
        _ => Vec::new(),
    }
}

pub(super) fn set_options(peer: &mut CheckedProcess, bench: &CheckedEngine) -> CheckAnswer {
    let mut tried = 0;
    for option in &bench.handshake.options {
        for value in values(option) {
            let asked =
                format!("after option `{}` was set to `{}`", option.name, value.as_deref().unwrap_or("pressed"));
            peer.set(&option.name, value.as_deref())?;
            peer.ready().map_err(|why| format!("{why}, {asked}"))?;
            tried += 1;
        }
    }
    // Options given on the command line are restored.
    for (name, value) in &bench.config.options {
        peer.set(name, Some(value))?;
    }
    peer.still_plays()?;
    Finding::pass(format!("{tried} settings taken"))
}

pub(super) fn unknown_option(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    peer.set("No Such Option", Some("1"))?;
    peer.set("NoSuchButton", None)?;
    peer.still_plays()?;
    Finding::pass("ignored")
}

pub(super) fn bad_option(peer: &mut CheckedProcess, bench: &CheckedEngine) -> CheckAnswer {
    let mut lines = ["setoption", "setoption name", "setoption value 1"].map(str::to_owned).to_vec();
    for option in &bench.handshake.options {
        match option.kind {
            OptionKind::Spin { .. } => {
                lines.push(format!("setoption name {} value many", option.name));
                lines.push(format!("setoption name {} value -99999999999999999999", option.name));
                lines.push(format!("setoption name {}", option.name));
            }
            OptionKind::Check { .. } => lines.push(format!("setoption name {} value perhaps", option.name)),
            _ => {}
        }
    }
    for line in lines {
        peer.say(&line);
        peer.ready().map_err(|why| format!("{why}, after `{line}`"))?;
    }
    peer.still_plays()?;
    Finding::pass("values out of range are survived")
}

pub(super) fn new_game(peer: &mut CheckedProcess, _: &CheckedEngine) -> CheckAnswer {
    for _ in 0..5 {
        peer.say("ucinewgame");
        peer.ready().map_err(|why| format!("{why}, after `ucinewgame`"))?;
        peer.go_legal(&SentPosition::start(), "depth 2")?;
    }
    Finding::pass("5 times, with a search after each")
}
