//! Flags that choose games, resolved for the players of a run.

use anyhow::{Result, bail};
use clap::ValueEnum;

use crate::plan::{Plan, unknown_player};
use crate::record::{Color, GameRecord, Outcome, PlayerId, Termination};
use crate::text::suggestion;

/// The flags that choose games.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Which games")]
pub(super) struct Query {
    /// Games that ended this way: time-forfeit, crash, checkmate and others.
    #[arg(long, value_name = "WHY", value_delimiter = ',')]
    termination: Vec<String>,
    /// Games of this player; in a test also `new` and `base`.
    #[arg(long, value_name = "NAME")]
    player: Option<String>,
    /// Only games against this opponent.
    #[arg(long, value_name = "NAME", requires = "player")]
    opponent: Option<String>,
    /// Only games in which the player had this side.
    #[arg(long, requires = "player")]
    side: Option<Side>,
    /// win, draw or loss of the player; or 1-0, 0-1, 1/2-1/2.
    #[arg(long, value_name = "RESULT", value_delimiter = ',')]
    result: Vec<String>,
    /// Games from this opening of the book, from 1.
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..))]
    opening: Vec<u64>,
    /// Games of this pair, from 1.
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..))]
    pair: Vec<u64>,
    /// The game of this number, from 1.
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..))]
    game: Vec<u64>,
    /// Games of at least this many plies, book plies not counted.
    #[arg(long, value_name = "N")]
    min_plies: Option<usize>,
    /// Games of at most this many plies.
    #[arg(long, value_name = "N")]
    max_plies: Option<usize>,
    /// The void games, which were played again, and not those that count.
    #[arg(long)]
    pub(super) void: bool,
}

/// White or Black.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Side {
    White,
    Black,
}

/// Requested result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResultFilter {
    Is(Outcome),
    /// Half points of the player.
    Scores(u8),
}

/// Query resolved for one run.
#[derive(Clone, Debug, Default)]
pub(super) struct Filter {
    /// Player whose results are shown.
    pub(super) player: Option<PlayerId>,
    opponent: Option<PlayerId>,
    side: Option<Color>,
    terminations: Vec<Termination>,
    results: Vec<ResultFilter>,
    openings: Vec<u64>,
    pairs: Vec<u64>,
    games: Vec<u64>,
    min_plies: usize,
    max_plies: Option<usize>,
    /// True if a requested player does not play in this run.
    takes_none: bool,
}

impl Query {
    /// Resolves the flags for each run, in order.
    ///
    /// # Errors
    /// Error with the nearest name for a player that no run has.
    pub(super) fn resolve<'a>(&self, plans: impl Iterator<Item = &'a Plan> + Clone) -> Result<Vec<Filter>> {
        for (flag, name) in [("--player", &self.player), ("--opponent", &self.opponent)] {
            if let Some(name) = name
                && !plans.clone().any(|plan| plan.player_named(name).is_some())
            {
                bail!("{flag} {}", unknown_player(name, plans));
            }
        }
        let common = Filter {
            side: self.side.map(|side| if side == Side::White { Color::White } else { Color::Black }),
            terminations: self.termination.iter().map(|name| termination(name)).collect::<Result<_>>()?,
            results: self.result.iter().map(|text| self.wanted(text)).collect::<Result<_>>()?,
            openings: self.opening.clone(),
            pairs: self.pair.clone(),
            games: self.game.clone(),
            min_plies: self.min_plies.unwrap_or(0),
            max_plies: self.max_plies,
            ..Filter::default()
        };
        if let Some(max) = self.max_plies
            && max < common.min_plies
        {
            bail!("--min-plies {} is above --max-plies {max}: no game can be both", common.min_plies);
        }
        let in_run = |plan: &Plan| {
            let find = |name: &Option<String>| name.as_ref().map(|name| plan.player_named(name));
            let (who, opponent) = (find(&self.player), find(&self.opponent));
            let takes_none = who == Some(None) || opponent == Some(None);
            Filter { player: who.flatten(), opponent: opponent.flatten(), takes_none, ..common.clone() }
        };
        Ok(plans.map(in_run).collect())
    }

    fn wanted(&self, text: &str) -> Result<ResultFilter> {
        let half_points = match text {
            "1-0" => return Ok(ResultFilter::Is(Outcome::WhiteWins)),
            "0-1" => return Ok(ResultFilter::Is(Outcome::BlackWins)),
            "1/2-1/2" | "draw" => return Ok(ResultFilter::Is(Outcome::Draw)),
            "win" => 2,
            "loss" => 0,
            other => {
                let known = ["win", "loss", "draw", "1-0", "0-1", "1/2-1/2"];
                bail!("--result `{other}`: {}", suggestion(other, &known, "results are"));
            }
        };
        if self.player.is_none() {
            bail!("--result {text} needs a player: add --player, or write 1-0 or 0-1");
        }
        Ok(ResultFilter::Scores(half_points))
    }
}

impl Filter {
    /// Returns true if the game matches.
    pub(super) fn takes(&self, game: &GameRecord) -> bool {
        fn among<T: PartialEq>(wanted: &[T], found: &T) -> bool {
            wanted.is_empty() || wanted.contains(found)
        }
        let side = self.player.and_then(|player| side(game, player));
        let by_player = self.player.is_none()
            || side.is_some_and(|side| {
                self.side.is_none_or(|wanted| wanted == side)
                    && self.opponent.is_none_or(|opponent| *game.players.get(side.other()) == opponent)
            });
        let outcome = game.ending.outcome;
        let has_result = |wanted: &ResultFilter| match *wanted {
            ResultFilter::Is(wanted) => outcome == wanted,
            ResultFilter::Scores(points) => side.is_some_and(|side| outcome.half_points(side) == points),
        };
        let plies = game.moves.len();
        !self.takes_none
            && by_player
            && among(&self.terminations, &game.ending.termination)
            && (self.results.is_empty() || self.results.iter().any(has_result))
            && among(&self.openings, &game.opening.index.saturating_add(1))
            && among(&self.pairs, &game.id.pair.0.saturating_add(1))
            && among(&self.games, &game.id.number())
            && plies >= self.min_plies
            && self.max_plies.is_none_or(|max| plies <= max)
    }
}

/// Side of a player in a game; `None` if it did not play.
pub(super) fn side(game: &GameRecord, player: PlayerId) -> Option<Color> {
    [Color::White, Color::Black].into_iter().find(|color| *game.players.get(*color) == player)
}

fn termination(name: &str) -> Result<Termination> {
    let Some(found) = Termination::from_name(name) else {
        let names = Termination::ALL.map(Termination::name);
        bail!("--termination `{name}`: {}", suggestion(name, &names, "games end by"));
    };
    Ok(found)
}
