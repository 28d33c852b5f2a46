//! Features of one game: its groups, and the time and search of both sides.

use crate::chess::{Position, Variant};
use crate::plan::Plan;
use crate::plan::time_control::TimeControl;
use crate::record::{Color, GameRecord, MoveRecord, PlayerId, Score};
use crate::report::eco::OpeningNames;
use crate::report::explain::{Dimension, Label, USED_AT};

/// Lead in centipawns, as the mean of both engines' scores, that decides a game if it is never
/// given up again.
const DECIDED_CP: f64 = 150.0;

/// Bound on scores. Larger scores and mates are set to it.
const MOST_CP: f64 = 1_000.0;

/// Share of the base time below which a side is in time trouble.
const TROUBLE: f64 = 0.05;

/// Maximum number of men of a final position that is not a sign of a repeated game, because such
/// endings often coincide.
const FEW_MEN: u32 = 7;

/// Phase of a game by material: minor pieces count 1, rooks 2, queens 4, in all 24.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GamePhase {
    /// Material of 22 to 24, up to move 20.
    Opening,
    /// Any other position.
    Middlegame,
    /// Material of 8 at most: two queens, or a rook and two minor pieces each.
    Endgame,
}

impl GamePhase {
    pub(super) const ALL: [Self; 3] = [Self::Opening, Self::Middlegame, Self::Endgame];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Opening => "opening",
            Self::Middlegame => "middlegame",
            Self::Endgame => "endgame",
        }
    }

    const fn new(material: u32, move_number: u32) -> Self {
        match material {
            ..=8 => Self::Endgame,
            22.. if move_number <= 20 => Self::Opening,
            _ => Self::Middlegame,
        }
    }
}

/// Time and search of one side in a game. Pairs are (sum, number of values).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SideEffort {
    /// Share of the base time used at each of [`USED_AT`]; below 0 if saved increments exceed it.
    pub(super) used: [Option<f64>; USED_AT.len()],
    /// Seconds and moves, by phase.
    pub(super) by_phase: [(f64, f64); GamePhase::ALL.len()],
    pub(super) depth: (f64, f64),
    pub(super) nodes: (f64, f64),
    /// Nodes and seconds.
    pub(super) speed: (f64, f64),
    /// Moves in time trouble, and moves under a clock.
    pub(super) trouble: (f64, f64),
}

impl SideEffort {
    /// Records a move played at `move_number` in a position of `phase`.
    fn record(&mut self, played: &MoveRecord, clock: Option<TimeControl>, phase: GamePhase, move_number: u32) {
        let seconds = played.elapsed.as_secs_f64();
        let sum = &mut self.by_phase[phase as usize];
        *sum = (sum.0 + seconds, sum.1 + 1.0);
        if let Some(depth) = played.info.depth {
            self.depth = (self.depth.0 + f64::from(depth), self.depth.1 + 1.0);
        }
        if let Some(nodes) = played.info.nodes {
            self.nodes = (self.nodes.0 + nodes as f64, self.nodes.1 + 1.0);
            // Divides by the charged time, because an engine's own time may be rounded or wrong.
            self.speed = (self.speed.0 + nodes as f64, self.speed.1 + seconds);
        }
        let base = clock.map(|clock| (clock.base + clock.increment).as_secs_f64()).filter(|base| *base > 0.0);
        if let (Some(left), Some(base)) = (played.left, base) {
            let left = left.as_secs_f64() / base;
            self.trouble = (self.trouble.0 + f64::from(u8::from(left < TROUBLE)), self.trouble.1 + 1.0);
            match move_number {
                20 => self.used[0] = Some(1.0 - left),
                40 => self.used[1] = Some(1.0 - left),
                _ => {}
            }
            self.used[2] = Some(1.0 - left);
        }
    }

    fn mean(value: (f64, f64)) -> Option<f64> {
        (value.1 > 0.0).then(|| value.0 / value.1)
    }
}

/// A game from its player's view.
#[derive(Clone, Debug)]
pub(super) struct Features {
    pub(super) own: SideEffort,
    pub(super) their: SideEffort,
    /// ECO code and name after the book.
    pub(super) book_name: String,
    /// Key of the final position, if it has enough men to be a sign of a repeated game.
    pub(super) last_position: Option<u64>,
    color: Color,
    opponent: (PlayerId, String),
    opening: u64,
    eco: Option<(&'static str, &'static str)>,
    decided: Option<GamePhase>,
    moves: u32,
    termination: usize,
    termination_name: &'static str,
}

impl Features {
    /// Features of `game`, in which the player has `color`. A record that cannot be replayed lacks
    /// those that need a board.
    pub(super) fn of(plan: &Plan, names: &OpeningNames, game: &GameRecord, color: Color) -> Self {
        let variant = plan.rules.variant;
        let opponent = *game.players.get(color.other());
        let name = plan.name_of(opponent);
        let termination = game.ending.termination;
        let mut features = Self {
            own: SideEffort::default(),
            their: SideEffort::default(),
            book_name: book_name(names, game, variant),
            last_position: None,
            color,
            opponent: (opponent, name.to_owned()),
            opening: game.opening.index,
            eco: names.of(game, variant).map(|found| (found.eco, found.name)),
            decided: None,
            moves: 0,
            termination: crate::record::Termination::ALL.iter().position(|one| *one == termination).unwrap_or(0),
            termination_name: termination.name(),
        };
        features.replay(plan, game, variant);
        features
    }

    /// Replays the game up to the first move that is impossible.
    fn replay(&mut self, plan: &Plan, game: &GameRecord, variant: Variant) -> Option<()> {
        let clock =
            |color: Color| plan.players.get(usize::from(game.players.get(color).0))?.limit.scaled(game.scale).clock;
        let clocks = [clock(Color::White), clock(Color::Black)];
        let mut position = Position::from_fen(&game.opening.fen, variant).ok()?;
        for uci in &game.opening.moves {
            position.advance_by(uci).ok()?;
        }
        let mut board = MaterialCount::new(&position);
        let mut swing = Swing::new(game.ending.outcome.winner(), board.phase(&position));
        for played in &game.moves {
            let (mover, phase, number) = (position.turn(), board.phase(&position), position.fullmoves());
            let spent = if mover == self.color { &mut self.own } else { &mut self.their };
            spent.record(played, clocks[usize::from(mover == Color::Black)], phase, number);
            self.moves = number;
            position.advance_by(&played.uci).ok()?;
            board.after(&position, &played.uci);
            swing.record(mover, played.info.score, phase);
        }
        self.decided = Some(swing.decided(board.phase(&position)));
        self.last_position = (position.men() > FEW_MEN).then(|| position.key());
        Some(())
    }

    /// Group of the game in a dimension; `None` if it has none.
    pub(super) fn label(&self, dimension: Dimension) -> Option<Label> {
        let label = |order: u64, text: &str| Some(Label { order, text: text.to_owned() });
        match dimension {
            Dimension::Color => label(u64::from(self.color == Color::Black), &self.color.to_string()),
            Dimension::Opponent => label(u64::from(self.opponent.0.0), &self.opponent.1),
            Dimension::Opening => {
                let number = self.opening.saturating_add(1);
                let gap = if self.book_name.is_empty() { "" } else { " " };
                label(number, &format!("#{number}{gap}{}", self.book_name))
            }
            Dimension::Eco => {
                let (eco, name) = self.eco?;
                let order = eco.bytes().fold(0, |order, byte| order * 256 + u64::from(byte));
                label(order, &format!("{eco} {}", name.split(':').next().unwrap_or(name)))
            }
            Dimension::Phase => self.decided.and_then(|phase| label(phase as u64, phase.name())),
            Dimension::Length => {
                let bins = [(20, "up to 20"), (40, "21 to 40"), (60, "41 to 60"), (80, "61 to 80"), (120, "81 to 120")];
                let bin = bins.iter().position(|(most, _)| self.moves <= *most).unwrap_or(bins.len());
                label(bin as u64, bins.get(bin).map_or("more than 120", |(_, text)| text))
            }
            Dimension::Termination => label(self.termination as u64, self.termination_name),
            Dimension::Trouble => {
                let (own, their) =
                    (SideEffort::mean(self.own.trouble)? > 0.0, SideEffort::mean(self.their.trouble)? > 0.0);
                match (own, their) {
                    (true, false) => label(0, "the player only"),
                    (false, true) => label(1, "the opponent only"),
                    (true, true) => label(2, "both"),
                    (false, false) => label(3, "neither"),
                }
            }
            Dimension::TimeUsed => three(self.own.used[2]? - self.their.used[2]?, 0.1, ["more", "as much", "less"]),
            Dimension::Depth => {
                let gap = SideEffort::mean(self.own.depth)? - SideEffort::mean(self.their.depth)?;
                three(gap, 1.0, ["deeper", "as deep", "shallower"])
            }
            Dimension::Speed => {
                let (own, their) = (SideEffort::mean(self.own.speed)?, SideEffort::mean(self.their.speed)?);
                let gap = (own > 0.0 && their > 0.0).then(|| (own / their).ln())?;
                three(gap, 1.1_f64.ln(), ["faster", "as fast", "slower"])
            }
        }
    }
}

/// Label for values above, within and below a threshold.
fn three(gap: f64, threshold: f64, words: [&str; 3]) -> Option<Label> {
    let place = if gap > threshold {
        0
    } else if gap < -threshold {
        2
    } else {
        1
    };
    Some(Label { order: place as u64, text: words[place].to_owned() })
}

/// ECO code and name of the position at the end of the book; empty if it has none.
fn book_name(names: &OpeningNames, game: &GameRecord, variant: Variant) -> String {
    let book = GameRecord { moves: Vec::new(), ..game_without_moves(game) };
    names.of(&book, variant).map(|found| format!("{} {}", found.eco, found.name)).unwrap_or_default()
}

/// Copy of a game without its moves, which may be many.
fn game_without_moves(game: &GameRecord) -> GameRecord {
    GameRecord {
        id: game.id,
        players: game.players,
        engines: crate::record::ByColor::default(),
        opening: game.opening.clone(),
        moves: Vec::new(),
        ending: game.ending.clone(),
        started: game.started,
        took: game.took,
        overstep: None,
        is_void: game.is_void,
        values: None,
        worker: None,
        scale: None,
    }
}

/// Material, recounted only after a capture or promotion.
struct MaterialCount {
    men: u32,
    material: u32,
}

impl MaterialCount {
    fn new(position: &Position) -> Self {
        Self { men: position.men(), material: material(position) }
    }

    fn after(&mut self, position: &Position, uci: &str) {
        let men = position.men();
        if men != self.men || uci.len() == 5 {
            *self = Self::new(position);
        }
    }

    fn phase(&self, position: &Position) -> GamePhase {
        GamePhase::new(self.material, position.fullmoves())
    }
}

fn material(position: &Position) -> u32 {
    let fen = position.fen();
    let weight = |piece: u8| match piece.to_ascii_lowercase() {
        b'n' | b'b' => 1,
        b'r' => 2,
        b'q' => 4,
        _ => 0,
    };
    fen.bytes().take_while(|byte| *byte != b' ').map(weight).sum()
}

/// Search for the move after which the winner's lead was never given up again.
struct Swing {
    winner: Option<Color>,
    /// Last scores of White's and Black's engines, from the winner's view.
    scores: [Option<f64>; 2],
    /// Phase of the move that brought the lead; `None` without a lead.
    since: Option<GamePhase>,
    start: GamePhase,
    seen: bool,
}

impl Swing {
    const fn new(winner: Option<Color>, start: GamePhase) -> Self {
        Self { winner, scores: [None; 2], since: None, start, seen: false }
    }

    fn record(&mut self, mover: Color, score: Option<Score>, phase: GamePhase) {
        let (Some(winner), Some(score)) = (self.winner, score) else { return };
        let cp = match score {
            Score::Cp(cp) => f64::from(cp).clamp(-MOST_CP, MOST_CP),
            Score::Mate(mate) => MOST_CP.copysign(if mate > 0 { 1.0 } else { -1.0 }),
        };
        let cp = if mover == winner { cp } else { -cp };
        self.scores[usize::from(mover == Color::Black)] = Some(cp);
        let [Some(white), Some(black)] = self.scores else { return };
        let leads = (white + black) / 2.0 >= DECIDED_CP;
        // A lead in the first scores of both sides came with the opening.
        let phase = if self.seen { phase } else { self.start };
        self.seen = true;
        self.since = if leads { self.since.or(Some(phase)) } else { None };
    }

    /// Phase in which the game was decided; without a decisive lead, that of the final position.
    fn decided(&self, last: GamePhase) -> GamePhase {
        self.since.unwrap_or(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_is_decided_where_the_lead_stayed() {
        use GamePhase::{Endgame, Middlegame, Opening};
        let cp = |cp| Some(Score::Cp(cp));
        // Scores of White and Black in turn, each from its own view, with the phase of the move;
        // winner, and phase of the decision.
        for (winner, plies, decided) in [
            (Some(Color::White), vec![], Endgame),
            (None, vec![(cp(900), Opening), (cp(-900), Opening)], Endgame),
            (
                Some(Color::White),
                vec![(cp(10), Opening), (cp(0), Opening), (cp(300), Middlegame), (cp(-250), Middlegame)],
                Middlegame,
            ),
            // One engine alone is not enough, and a lead that was given up does not count.
            (Some(Color::White), vec![(cp(280), Opening), (cp(0), Opening), (cp(290), Middlegame)], Endgame),
            (
                Some(Color::White),
                vec![
                    (cp(400), Opening),
                    (cp(-400), Opening),
                    (cp(0), Middlegame),
                    (cp(0), Middlegame),
                    (cp(500), Endgame),
                ],
                Endgame,
            ),
            (
                Some(Color::Black),
                vec![(cp(0), Opening), (cp(0), Opening), (Some(Score::Mate(-3)), Middlegame)],
                Middlegame,
            ),
            (Some(Color::Black), vec![(cp(-200), Middlegame), (cp(200), Middlegame), (None, Endgame)], Opening),
        ] {
            let mut swing = Swing::new(winner, Opening);
            for (place, (score, phase)) in plies.iter().enumerate() {
                swing.record(if place % 2 == 0 { Color::White } else { Color::Black }, *score, *phase);
            }
            assert_eq!(swing.decided(Endgame), decided, "{winner:?} {plies:?}");
        }
    }

    #[test]
    fn phases_go_by_material() {
        for (fen, phase) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", GamePhase::Opening),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 21", GamePhase::Middlegame),
            ("r1bqk2r/pppppppp/8/8/8/8/PPPPPPPP/R1BQK2R w KQkq - 0 9", GamePhase::Middlegame),
            ("3qk3/pppppppp/8/8/8/8/PPPPPPPP/3QK3 w - - 0 9", GamePhase::Endgame),
            ("2rqk3/pppppppp/8/8/8/8/PPPPPPPP/3QK3 w - - 0 9", GamePhase::Middlegame),
        ] {
            let position = Position::from_fen(fen, Variant::Standard).unwrap();
            assert_eq!(MaterialCount::new(&position).phase(&position), phase, "{fen}");
        }
    }
}
