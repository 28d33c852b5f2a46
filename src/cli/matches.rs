//! `quintain match` and `quintain gauntlet`: games of any number of engines.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::cli::flags::RunFlags;
use crate::cli::located;
use crate::run::begin::GameCommand;
use crate::run::drive::OutputStyle;
use crate::run::{Exit, chain, progress};
use crate::settings::{GauntletCommand, MatchCommand, RawPlan, RawPlayer};

const MATCH_EXAMPLES: &str = "\
ENGINE is a SPEC, as `quintain sprt --help` explains it. Settings that differ between engines (clock, options, name) go into a plan, \
in [[players]].

Examples:
  quintain match ./engine-a ./engine-b stockfish --pairs 100 --tc 8+0.08
  quintain match --format swiss --rounds 5 git:v1 git:v2 git:v3 git:v4 --nodes 20000
  quintain match configs/match.toml";

const GAUNTLET_EXAMPLES: &str = "\
Examples:
  quintain gauntlet --hero . --vs stockfish --vs toga2 --pairs 100 --tc 8+0.08
  quintain gauntlet --hero . --hero git:main --sparring configs/sparring.toml --skip-missing";

/// Plays any number of engines against each other, all from the same openings: round robin,
/// gauntlet, Swiss or knockout.
#[derive(Debug, clap::Args)]
#[command(after_long_help = MATCH_EXAMPLES, allow_negative_numbers = true)]
pub(super) struct MatchArgs {
    /// The engines, or a plan, a file ending in .toml; flags and engines take precedence over it.
    #[arg(value_name = "ENGINE")]
    engines: Vec<String>,
    #[command(flatten)]
    flags: RunFlags<MatchCommand>,
}

/// Plays one or several engines against a field of others, and puts all of them on one scale.
#[derive(Debug, clap::Args)]
#[command(after_long_help = GAUNTLET_EXAMPLES, allow_negative_numbers = true)]
pub(super) struct GauntletArgs {
    /// Plan file; flags take precedence over its keys.
    #[arg(value_name = "PLAN.toml")]
    plan: Option<PathBuf>,
    /// An engine the gauntlet is about; may be repeated [default: `.`, the working tree].
    #[arg(long = "hero", value_name = "SPEC", help_heading = "Engines")]
    heroes: Vec<String>,
    /// An opponent; may be repeated.
    #[arg(long = "vs", value_name = "SPEC", help_heading = "Engines")]
    opponents: Vec<String>,
    /// Opponents from the [[players]] of this file.
    #[arg(long, value_name = "FILE", help_heading = "Engines", conflicts_with = "opponents")]
    sparring: Option<PathBuf>,
    #[command(flatten)]
    flags: RunFlags<GauntletCommand>,
}

fn named(spec: &str) -> RawPlayer {
    RawPlayer { spec: Some(spec.to_owned()), ..RawPlayer::default() }
}

pub(super) fn run_match(args: &MatchArgs) -> Result<Exit> {
    let played = chain::play(GameCommand::Match, merged_match(args)?, OutputStyle::new(args.flags.json));
    let plan = args.engines.iter().find(|word| is_plan(word)).map(Path::new);
    played.map_err(|error| located::in_plan(error.into(), plan, args.flags.typed()))
}

pub(super) fn run_gauntlet(args: &GauntletArgs) -> Result<Exit> {
    let played = chain::play(GameCommand::Gauntlet, merged_gauntlet(args)?, OutputStyle::new(args.flags.json));
    played.map_err(|error| located::in_plan(error.into(), args.plan.as_deref(), args.flags.typed()))
}

/// Returns true if a positional argument of `match` or `race` is a plan file and not an engine.
pub(super) fn is_plan(word: &str) -> bool {
    Path::new(word).extension().is_some_and(|extension| extension == "toml")
}

/// Keys of the plan file with the engines and flags of the command line over them.
pub(super) fn merged_match(args: &MatchArgs) -> Result<RawPlan> {
    let (plans, engines): (Vec<&String>, Vec<&String>) = args.engines.iter().partition(|word| is_plan(word));
    if let [one, other, ..] = plans.as_slice() {
        bail!("two plans, {one} and {other}: give one");
    }
    let mut raw = args.flags.over_plan(plans.first().map(Path::new))?;
    if !engines.is_empty() {
        raw.players = engines.into_iter().map(|spec| named(spec)).collect();
    }
    Ok(raw)
}

/// Keys of the plan file with the heroes, opponents and flags of the command line over them.
pub(super) fn merged_gauntlet(args: &GauntletArgs) -> Result<RawPlan> {
    let raw = args.flags.over_plan(args.plan.as_deref())?;
    // A gauntlet has no flag for its format.
    if let Some(format) = raw.format.as_deref().filter(|format| *format != "gauntlet") {
        bail!("the plan's format is {format}; play it with `quintain {}`", GameCommand::of_format(format).name());
    }
    let opponents = match &args.sparring {
        Some(path) => {
            let file = RawPlan::read(path)?;
            if file.players.is_empty() {
                bail!("{}: no [[players]] in it; give each opponent one, with its `spec`", path.display());
            }
            let unused: Vec<String> = file.table()?.keys().filter(|key| *key != "players").cloned().collect();
            if !unused.is_empty() {
                progress::warn(&format!(
                    "{}: only its [[players]] are used, not {}; give these in the plan or as flags",
                    path.display(),
                    unused.join(", ")
                ));
            }
            file.players
        }
        None => args.opponents.iter().map(|spec| named(spec)).collect(),
    };
    // Heroes and opponents may each come from flags or from the plan.
    let in_file = usize::from(raw.heroes.unwrap_or(1)).min(raw.players.len());
    let (file_heroes, file_field) = raw.players.split_at(in_file);
    let heroes: Vec<_> = match (args.heroes.as_slice(), file_heroes) {
        ([], []) => vec![named(".")],
        ([], heroes) => heroes.to_vec(),
        (heroes, _) => heroes.iter().map(|spec| named(spec)).collect(),
    };
    let field = if opponents.is_empty() { file_field.to_vec() } else { opponents };
    if field.is_empty() {
        bail!("no opponent; give --vs SPEC or --sparring FILE");
    }
    Ok(RawPlan {
        format: Some("gauntlet".to_owned()),
        heroes: Some(u16::try_from(heroes.len()).unwrap_or(u16::MAX)),
        players: [heroes, field].concat(),
        ..raw
    })
}
