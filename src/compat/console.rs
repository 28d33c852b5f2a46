//! Console of the leading runners for scripts and frameworks that parse it, and the PGN and EPD
//! files beside it.
//!
//! `Started game` and `Finished game` lines appear as they happen. Pairs count in schedule order,
//! as everywhere in Quintain. A block may therefore appear a few games after its last `Finished
//! game`. Output is flushed after every line, so a reader behind a pipe never lags.

mod files;
mod lines;
mod tally;
mod variations;

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use self::files::{FileRepair, Output};
pub use self::lines::EngineHeading;
pub use self::tally::{Scores, Tally};

use crate::chess::Variant;
use crate::compat::say::reworded;
use crate::plan::recording::PgnOptions;
use crate::plan::time_control::Limit;
use crate::record::{ByColor, GameId, GameRecord, PairId, PlayerId, Termination};
use crate::report::eco::OpeningNames;
use crate::report::epd;
use crate::report::pgn::{self, PgnMeta};
use crate::report::reasons::{illegal_move, side_reason};
use crate::stats::sprt::{Sprt, Verdict};
use crate::tournament::events::{Observer, RunEvent, StopReason};
use crate::tournament::formats::{Encounter, in_order};
use crate::tournament::scoreboard::Scoreboard;

/// Line format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Lines of fastchess.
    Fastchess,
    /// Lines of cutechess-cli, as fastchess prints them.
    FastchessCutechess,
    /// Lines of cutechess-cli.
    Cutechess,
}

/// Settings of the console.
#[derive(Clone, Debug)]
pub struct ConsoleSettings {
    /// Line format.
    pub style: Style,
    /// Players in plan order.
    pub players: Vec<EngineHeading>,
    /// Limits of the players, for the PGN.
    pub limits: Vec<Limit>,
    /// File name of the book; empty without one.
    pub book: String,
    /// Games of the whole tournament; a lower bound if its length is open.
    pub games: u64,
    /// First pair that is a single game, if any is.
    pub halves_from: Option<PairId>,
    /// Engines at the head of a table of cutechess-cli whatever their results.
    pub heroes: usize,
    /// True if results decide the number of games.
    pub is_open: bool,
    /// SPRT, if the tournament has one.
    pub sprt: Option<Sprt>,
    /// True to count pairs rather than games.
    pub penta: bool,
    /// Pairs (games without `penta`) between two blocks; `None` for only the last block.
    pub rating_interval: Option<u64>,
    /// Games between two score lines; `None` for only the last line.
    pub score_interval: Option<u64>,
    /// True if a crash or stall does not end the tournament.
    pub recover: bool,
    /// True if a warning ends the tournament.
    pub strict: bool,
    /// True to warn of mate variations of a wrong length.
    pub check_mate_pvs: bool,
    /// True to write the parts of a warning on one line.
    pub test_env: bool,
    /// Options of the PGN.
    pub pgn: PgnOptions,
    /// Event tag of the PGN.
    pub event: String,
    /// Site tag of the PGN.
    pub site: String,
    /// Standard chess or Chess960.
    pub variant: Variant,
}

/// Number of a game among all that are played, from 1. From pair `halves_from` on pairs are single
/// games.
#[must_use]
pub fn number(game: GameId, halves_from: Option<PairId>) -> u64 {
    match halves_from {
        Some(from) if game.pair >= from => game.pair.0.saturating_add(from.0).saturating_add(1),
        _ => game.number(),
    }
}

/// Observer that prints the console and writes the game files.
pub struct RunnerConsole {
    setup: ConsoleSettings,
    openings: Option<OpeningNames>,
    out: Box<dyn Write + Send>,
    pgn: Option<Output>,
    epd: Option<Output>,
    /// Results of finished games, in finishing order.
    finished: Scores,
    /// Results of counted pairs, in schedule order.
    counted: Scores,
    pairs: u64,
    /// LLR of the counted pairs.
    llr: Option<f64>,
    timeouts: Vec<u64>,
    crashes: Vec<u64>,
    /// Set at the first warning.
    warned: Arc<AtomicBool>,
    /// Players of the last finished or counted game, the lower number first.
    last: (PlayerId, PlayerId),
    /// True if the last block shows the current results.
    is_told: bool,
    /// True if a block is due once the pairs are counted that the last game completed.
    is_block_due: bool,
    /// True once the tournament is about to end. Games that a slot still begins are not announced.
    is_ending: bool,
}

impl RunnerConsole {
    /// Console that writes to `out` and sets `warned` at the first warning.
    #[must_use]
    pub fn new(setup: ConsoleSettings, out: Box<dyn Write + Send>, warned: Arc<AtomicBool>) -> Self {
        let players = setup.players.len();
        Self {
            openings: setup.pgn.opening_tags.then(OpeningNames::builtin),
            setup,
            out,
            pgn: None,
            epd: None,
            finished: Scores::default(),
            counted: Scores::default(),
            pairs: 0,
            llr: None,
            timeouts: vec![0; players],
            crashes: vec![0; players],
            warned,
            last: (PlayerId(0), PlayerId(1)),
            is_told: false,
            is_block_due: false,
            is_ending: false,
        }
    }

    /// Adds files that receive each finished game.
    #[must_use]
    pub fn with_files(mut self, pgn: Option<Output>, epd: Option<Output>) -> Self {
        (self.pgn, self.epd) = (pgn, epd);
        self
    }

    /// Continues after earlier processes: `finished` has all finished games, `counted` those of the
    /// first `pairs` pairs.
    pub fn resume(&mut self, finished: Scores, counted: Scores, pairs: u64) {
        (self.finished, self.counted, self.pairs) = (finished, counted, pairs);
    }

    /// Number of a game for users.
    fn number(&self, game: GameId) -> u64 {
        number(game, self.setup.halves_from)
    }

    fn print(&mut self, text: &str) {
        // A closed reader does not stop the run, because the journal has the games.
        let _ = self.out.write_all(text.as_bytes());
        let _ = self.out.flush();
    }

    fn warn(&mut self, text: &str) {
        self.warned.store(true, Ordering::Relaxed);
        self.is_ending |= self.setup.strict;
        self.print(&format!("{text}\n"));
    }

    fn given(&self, player: PlayerId) -> &str {
        self.setup.players.get(usize::from(player.0)).map_or("?", |given| &given.name)
    }

    fn names(&self, players: &ByColor<PlayerId>) -> String {
        format!("({} vs {})", self.given(players.white), self.given(players.black))
    }

    /// Results that blocks show: counted pairs with `penta`, otherwise finished games.
    const fn scores(&self) -> &Scores {
        if self.setup.penta { &self.counted } else { &self.finished }
    }

    fn began(&mut self, game: GameId, players: &ByColor<PlayerId>) {
        if self.is_ending {
            return;
        }
        let number = self.number(game);
        let total = self.setup.games.max(number);
        let line = format!("Started game {number} of {total} {}\n", self.names(players));
        self.print(&line);
    }

    fn ended(&mut self, game: &GameRecord) {
        if game.is_void {
            return;
        }
        self.file(game);
        self.warn_of(game);
        let names = self.names(&game.players);
        let line = format!(
            "Finished game {} {names}: {} {{{}}}\n",
            self.number(game.id),
            game.ending.outcome.token(),
            side_reason(game, self.setup.pgn.layout)
        );
        self.print(&line);
        if let Some(loser) = tally::loser(game).map(|loser| usize::from(loser.0)) {
            match game.ending.termination {
                Termination::TimeForfeit => self.timeouts[loser] += 1,
                Termination::Crash | Termination::Stall => {
                    self.crashes[loser] += 1;
                    self.is_ending |= !self.setup.recover;
                }
                _ => {}
            }
        }
        self.finished.record(std::slice::from_ref(game));
        self.last = in_order((game.players.white, game.players.black));
        self.is_told = false;
        let games = self.finished.games();
        let is_last = games == self.setup.games && !self.setup.is_open;
        let has_score = match self.setup.style {
            Style::Fastchess => false,
            Style::FastchessCutechess => true,
            Style::Cutechess => self.setup.players.len() == 2,
        };
        if has_score && (is_last || self.setup.score_interval.is_some_and(|interval| games.is_multiple_of(interval))) {
            let (first, second) = self.last;
            let tally = self.finished.between(first, second);
            let line = lines::score_of(&tally, self.given(first), self.given(second));
            self.print(&line);
        }
        if !self.setup.penta
            && (is_last || self.setup.rating_interval.is_some_and(|interval| games.is_multiple_of(interval)))
        {
            self.is_block_due = true;
        }
    }

    /// Texts of a game in the PGN and in the EPD; `None` if it cannot be replayed.
    #[must_use]
    pub fn texts(&self, game: &GameRecord) -> [Option<String>; 2] {
        let [white, black] = [game.players.white, game.players.black].map(|player| usize::from(player.0));
        let limit = |player: usize| self.setup.limits.get(player).copied().unwrap_or_default();
        let meta = PgnMeta {
            event: &self.setup.event,
            site: &self.setup.site,
            names: ByColor { white: self.given(game.players.white), black: self.given(game.players.black) },
            limits: ByColor { white: limit(white), black: limit(black) },
            variant: self.setup.variant,
            number: Some(self.number(game.id)),
        };
        let text = pgn::game_as(game, &meta, &self.setup.pgn, self.openings.as_ref()).ok();
        let end = match self.setup.style {
            Style::Fastchess | Style::FastchessCutechess => epd::line(game, self.setup.variant),
            Style::Cutechess => epd::fen_line(game, self.setup.variant),
        };
        [text, end.ok()]
    }

    /// Appends a game to the files and prints the checksum line. A file that fails is dropped with
    /// a warning.
    fn file(&mut self, game: &GameRecord) {
        let [text, epd] = self.texts(game);
        let mut told = Vec::new();
        for (output, text) in [(&mut self.pgn, text), (&mut self.epd, epd)] {
            let (Some(file), Some(text)) = (output.as_mut(), text) else { continue };
            match file.add(&text) {
                Ok(line) => told.extend(line),
                Err(error) => {
                    told.push(format!("Warning; {}: {error}; it gets no more games\n", file.path().display()));
                    *output = None;
                }
            }
        }
        for line in told {
            self.print(&line);
        }
    }

    fn warn_of(&mut self, game: &GameRecord) {
        let names = ByColor { white: self.given(game.players.white), black: self.given(game.players.black) };
        let texts = variations::warnings(game, self.number(game.id), names, &self.setup);
        texts.iter().for_each(|text| self.warn(text));
        let Some(loser) = tally::loser(game) else { return };
        let name = self.given(loser).to_owned();
        match game.ending.termination {
            Termination::IllegalMove => {
                let word = illegal_move(game);
                if let Some(word) = word.filter(|word| !variations::has_uci_format(word))
                    && self.setup.style != Style::Cutechess
                {
                    let rule = "Move does not match uci move format, lowercase and 4/5 chars.";
                    self.warn(&format!("Warning; {rule} Move {word} played by {name}"));
                }
                self.warn(&format!("Warning; Illegal move {} played by {name}", word.unwrap_or("<none>")));
            }
            Termination::Crash | Termination::Stall => {
                self.warn(&format!("Warning; Engine {name} is not responsive"));
            }
            _ => {}
        }
    }

    /// Takes the weight of the openings of two players from the scoreboard, which knows openings
    /// and pairs that came again.
    fn weigh(&mut self, players: Encounter, scoreboard: &Scoreboard) {
        let effect = scoreboard.design_effect_of(players);
        self.counted.weigh(players, effect);
        self.finished.weigh(players, effect);
    }

    fn counted(&mut self, games: &[GameRecord], scoreboard: &Scoreboard) {
        let verdict = scoreboard.verdict();
        self.llr = scoreboard.llr();
        self.counted.record(games);
        self.pairs += 1;
        let Some(game) = games.first() else { return };
        self.last = in_order((game.players.white, game.players.black));
        self.weigh(self.last, scoreboard);
        self.is_told = false;
        let is_last = self.counted.games() == self.setup.games && !self.setup.is_open;
        let is_due = self.setup.rating_interval.is_some_and(|interval| self.pairs.is_multiple_of(interval));
        if self.setup.penta && (is_due || is_last) && verdict == Verdict::Continue {
            self.block(verdict);
        }
    }

    /// Prints a block of results.
    fn block(&mut self, verdict: Verdict) {
        let (first, second) = self.last;
        let scores = self.scores();
        let tally = scores.between(first, second);
        let setup = &self.setup;
        let players: Vec<_> = (0..)
            .map_while(|id| {
                setup.players.get(usize::from(id)).map(|given| (given.name.as_str(), scores.of(PlayerId(id))))
            })
            .collect();
        let mut text = String::new();
        match (setup.style, players.as_slice()) {
            (Style::Fastchess, [_, _]) => {
                text += &lines::results(&tally, [&setup.players[0], &setup.players[1]], &setup.book, setup.penta);
            }
            (Style::Fastchess, _) => text += &lines::table(&players, setup.penta, true),
            (Style::FastchessCutechess, [_, _]) => text += &lines::elo_difference(&tally),
            (Style::FastchessCutechess, _) => text += &lines::table(&players, false, false),
            (Style::Cutechess, [(first_name, _), _]) => text += &lines::cutechess_results(&tally, first_name),
            (Style::Cutechess, _) => text += &lines::cutechess_table(&players, setup.heroes),
        }
        if let Some(sprt) = &setup.sprt {
            // The SPRT runs on counted pairs, even if the block shows games.
            let llr = self.llr.unwrap_or(0.0);
            text += &match setup.style {
                Style::Fastchess => lines::llr(sprt, llr),
                style => lines::sprt(sprt, llr, verdict, style),
            };
        }
        if setup.style == Style::Fastchess {
            text = format!("{}{text}{}", lines::RULE, lines::RULE);
        }
        self.print(&text);
        self.is_told = true;
    }

    fn closed(&mut self, scoreboard: &Scoreboard, reason: &StopReason) {
        let verdict = scoreboard.verdict();
        let is_out = *reason == StopReason::OutOfOpenings;
        // The total that triggers the last block may not be reached: repeated pairs do not count,
        // and results may decide the number of games. cutechess-cli ends with a block even if it is
        // interrupted. A verdict has one below.
        let is_cut_off = self.setup.style == Style::Cutechess && verdict == Verdict::Continue;
        if (is_out || is_cut_off || *reason == StopReason::OutOfPairs) && !self.is_told {
            self.block(verdict);
        }
        if is_out {
            self.warn(
                "Warning; Out of openings: each was played, and at fixed nodes or depth the same games would come again. \
                 Give a larger opening file.",
            );
        }
        if let Some(sprt) = &self.setup.sprt
            && let Some(completed) = lines::completed(sprt, verdict)
        {
            self.block(verdict);
            match self.setup.style {
                Style::Fastchess => self.print(&completed),
                Style::FastchessCutechess => self.print("Tournament finished\n"),
                Style::Cutechess => {}
            }
        }
        if self.setup.style == Style::Fastchess {
            for place in 0..self.setup.players.len() {
                let (timeouts, crashes) = (self.timeouts[place], self.crashes[place]);
                if timeouts + crashes > 0 {
                    let name = &self.setup.players[place].name;
                    let text = format!("Player: {name}\n  Timeouts: {timeouts}\n  Crashed: {crashes}\n");
                    self.print(&text);
                }
            }
        }
    }
}

impl Observer for RunnerConsole {
    fn observe(&mut self, event: RunEvent<'_>) {
        // The LLR of a block is that of all its games. A message about a PV may come between.
        if self.is_block_due && !matches!(event, RunEvent::PairCounted { .. } | RunEvent::PvWarning { .. }) {
            self.is_block_due = false;
            self.block(Verdict::Continue);
        }
        match event {
            // Wrong PVs have lines of their own.
            RunEvent::Warning { text } => self.print(&format!("Warning; {}\n", reworded(text))),
            RunEvent::GameBegan { game, players } => self.began(game, &players),
            RunEvent::GameEnded { record, .. } => self.ended(record),
            RunEvent::Opened { scoreboard } => {
                self.llr = scoreboard.llr();
                let players = (0..).map(PlayerId).take(self.setup.players.len());
                for high in players.clone() {
                    players.clone().take_while(|low| *low < high).for_each(|low| self.weigh((low, high), scoreboard));
                }
            }
            RunEvent::PairCounted { games, scoreboard } => self.counted(games, scoreboard),
            RunEvent::Closed { scoreboard, reason, .. } => {
                self.closed(scoreboard, reason);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
