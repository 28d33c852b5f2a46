//! Game files of a run beside its journal: `games.pgn`, and on request a further PGN and an EPD of
//! final positions.
//!
//! Each holds exactly the counted games, in schedule order, and is repaired from the journal if a
//! run resumes.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::plan::Plan;
use crate::plan::recording::PgnOptions;
use crate::record::{ByColor, GameRecord, PlayerId, TimeScale};
use crate::report::eco::OpeningNames;
use crate::report::epd;
use crate::report::pgn::{self, PgnMeta};
use crate::report::sink::Sink;
use crate::tournament::events::{Observer, RunEvent};

/// Name of the PGN in a run directory.
pub const FILE_NAME: &str = "games.pgn";

/// Observer that writes each pair when it counts.
///
/// A write error is reported once and never stops the run, because the journal holds all games.
pub struct PgnFile {
    plan: Arc<Plan>,
    openings: Option<OpeningNames>,
    outputs: Vec<(Sink, Form)>,
}

/// Contents of a file.
enum Form {
    Pgn(PgnOptions),
    Epd,
}

impl PgnFile {
    /// Creates `games.pgn` for `path` under a temporary name, and the other files of the plan.
    /// [`PgnFile::publish`] moves new files into place.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn begin(path: &Path, plan: Arc<Plan>) -> io::Result<Self> {
        Self::beside(Sink::anew(path)?, plan)
    }

    /// Continues `games.pgn` at `path`. Its games are compared with those that are
    /// [recorded](Self::record), and only missing or different ones are written again.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn resume(path: &Path, plan: Arc<Plan>) -> io::Result<Self> {
        Self::beside(Sink::resume(path)?, plan)
    }

    fn beside(own: Sink, plan: Arc<Plan>) -> io::Result<Self> {
        let mut outputs = vec![(own, Form::Pgn(PgnOptions::default()))];
        if let Some(further) = &plan.recording.pgn {
            outputs.push((Sink::open(&further.file)?, Form::Pgn(further.options.clone())));
        }
        if let Some(file) = &plan.recording.epd {
            outputs.push((Sink::open(file)?, Form::Epd));
        }
        let names_openings = |(_, form): &(Sink, Form)| matches!(form, Form::Pgn(options) if options.opening_tags);
        let openings = outputs.iter().any(names_openings).then(OpeningNames::builtin);
        Ok(Self { plan, openings, outputs })
    }

    /// Records a pair replayed from the journal.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn record(&mut self, games: &[GameRecord]) -> io::Result<()> {
        for (sink, form) in &mut self.outputs {
            if sink.is_checked() && sink.has(heads(&self.plan, self.openings.as_ref(), form, games)?)? {
                continue;
            }
            sink.put(pair_text(&self.plan, self.openings.as_ref(), form, games)?.as_bytes())?;
        }
        Ok(())
    }

    /// Moves the files into place. Later pairs are appended to them.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written or renamed.
    pub fn publish(&mut self) -> io::Result<()> {
        self.outputs.iter_mut().try_for_each(|(sink, _)| sink.publish())
    }
}

/// Tags and results of a pair's games.
fn heads<'a>(
    plan: &Plan,
    openings: Option<&OpeningNames>,
    form: &Form,
    games: &'a [GameRecord],
) -> io::Result<Vec<(String, &'a str)>> {
    let Form::Pgn(options) = form else { return Ok(Vec::new()) };
    let head = |game: &'a GameRecord| {
        Ok((pgn::head(game, &meta(plan, game)?, options, openings), game.ending.outcome.token()))
    };
    games.iter().map(head).collect()
}

/// Text of a pair's games.
fn pair_text(plan: &Plan, openings: Option<&OpeningNames>, form: &Form, games: &[GameRecord]) -> io::Result<String> {
    games
        .iter()
        .map(|game| match form {
            Form::Pgn(options) => game_text(plan, openings, options, game),
            Form::Epd => epd::line(game, plan.rules.variant).map_err(io::Error::other),
        })
        .collect()
}

/// Text of a run's game, as in its `games.pgn`.
///
/// # Errors
/// Returns an error if the record names a player that the plan lacks, or can't be replayed.
pub fn game(plan: &Plan, game: &GameRecord) -> io::Result<String> {
    game_text(plan, None, &PgnOptions::default(), game)
}

fn game_text(
    plan: &Plan,
    openings: Option<&OpeningNames>,
    options: &PgnOptions,
    game: &GameRecord,
) -> io::Result<String> {
    pgn::game_as(game, &meta(plan, game)?, options, openings).map_err(io::Error::other)
}

fn meta<'a>(plan: &'a Plan, game: &GameRecord) -> io::Result<PgnMeta<'a>> {
    let of_plan = meta_of(plan, game.players, game.scale);
    of_plan.ok_or_else(|| io::Error::other(format!("game {} names a player that is not in the plan", game.id.number())))
}

/// Facts of a game of these players; `None` if the plan lacks one.
pub(super) fn meta_of(plan: &Plan, players: ByColor<PlayerId>, scale: Option<TimeScale>) -> Option<PgnMeta<'_>> {
    let player = |id: PlayerId| plan.players.get(usize::from(id.0));
    let (white, black) = (player(players.white)?, player(players.black)?);
    Some(PgnMeta {
        event: plan.recording.event.as_deref().unwrap_or(&plan.name),
        site: plan.recording.site.as_deref().unwrap_or("?"),
        names: ByColor { white: &white.name, black: &black.name },
        limits: ByColor { white: white.limit.scaled(scale), black: black.limit.scaled(scale) },
        variant: plan.rules.variant,
        number: None,
    })
}

impl Observer for PgnFile {
    fn observe(&mut self, event: RunEvent<'_>) {
        let RunEvent::PairCounted { games, .. } = event else { return };
        let Self { plan, openings, outputs } = self;
        outputs.retain_mut(|(sink, form)| {
            let text = pair_text(plan, openings.as_ref(), form, games).map_err(|error| sink.named(&error));
            let written = text.and_then(|text| sink.put(text.as_bytes()));
            if let Err(error) = &written {
                // The file may end with half a game now, which `quintain resume` repairs.
                tracing::warn!("{error}; no more games are written to it, the journal has them all");
            }
            written.is_ok()
        });
    }
}
