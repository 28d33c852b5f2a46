//! Panels of a block of features: grids of cells, each a feature with its name.

use crate::heat::PIECE_NAMES;
use destrier::nnue::FEATURES;
use destrier::nnue::sets::{FeatureBlock, LineKind, MOBILITY_CAPS, RelativeAxes};
use destrier::types::Square;

/// Codes of pieces: own ones are 0 to 5 by kind, enemy ones 6 to 11.
const CODES: usize = 2 * PIECE_NAMES.len();
/// Codes of all pieces but kings, in order.
const CODES_WITHOUT_KINGS: [usize; 10] = [0, 1, 2, 3, 4, 6, 7, 8, 9, 10];
/// Columns of the panel of a block whose features are a list.
const LIST_COLUMNS: usize = 32;

/// Cell of a panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PanelCell {
    /// Column from the left and row from the top.
    pub place: (usize, usize),
    /// Feature, counted from the first one of the block.
    pub feature: usize,
    /// Name of the feature within the panel.
    pub name: String,
}

/// Grid of features.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Panel {
    /// Title.
    pub title: String,
    /// Number of columns.
    pub columns: usize,
    /// Number of rows.
    pub rows: usize,
    /// Cells, each in a place of its own; some places may be empty.
    pub cells: Vec<PanelCell>,
}

impl Panel {
    fn new(
        title: String,
        [columns, rows]: [usize; 2],
        cell: impl Fn(usize, usize) -> Option<(usize, String)>,
    ) -> Panel {
        let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (column, row)));
        let cells = places.filter_map(|place| {
            let (feature, name) = cell(place.0, place.1)?;
            Some(PanelCell { place, feature, name })
        });
        Panel { cells: cells.collect(), title, columns, rows }
    }

    /// Returns the cells row by row, with `None` in empty places.
    pub fn grid(&self) -> Vec<Option<&PanelCell>> {
        let mut grid = vec![None; self.columns * self.rows];
        for cell in &self.cells {
            grid[self.columns * cell.place.1 + cell.place.0] = Some(cell);
        }
        grid
    }
}

/// Returns the number of features that a block has for each square of the own king; 0 if its
/// features do not depend on that square.
pub fn king_stride(block: &FeatureBlock) -> usize {
    match block {
        FeatureBlock::KingPiece | FeatureBlock::KingAll => block.size() / Square::COUNT,
        _ => 0,
    }
}

/// Returns the panels of a block. Those of features that depend on the square of the own king are
/// for one square.
pub fn panels(block: &FeatureBlock, king: Square) -> Vec<Panel> {
    let of_codes = |panel: &dyn Fn(usize) -> Panel| (0..CODES).map(panel).collect::<Vec<_>>();
    match block {
        FeatureBlock::Piece | FeatureBlock::KingPiece | FeatureBlock::KingAll => {
            let boards = of_codes(&|code| board(code, |square| block.of_piece(king, code, square)));
            boards.into_iter().filter(|panel| !panel.cells.is_empty()).collect()
        }
        FeatureBlock::MobilitySquares => of_codes(&|code| board(code, |square| Some(64 * code + square.index()))),
        FeatureBlock::Lines(kind) => of_codes(&|code| {
            Panel::new(piece_name(code), [8, 8], |x, y| {
                let line = kind.of(square_at(x, y));
                Some((kind.count() * code + line, line_name(*kind, line)))
            })
        }),
        FeatureBlock::KingRelative(axes) => {
            let places = block.size() / CODES_WITHOUT_KINGS.len();
            (0..).zip(CODES_WITHOUT_KINGS).map(|(row, code)| relative(*axes, places * row, code)).collect()
        }
        FeatureBlock::Moves => vec![Panel::new("from: large squares; to: small ones".to_owned(), [64, 64], |x, y| {
            let (from, to) = (square_at(x >> 3, y >> 3), square_at(x & 7, y & 7));
            Some((64 * from.index() + to.index(), format!("{from} to {to}")))
        })],
        FeatureBlock::MobilityCounts => vec![mobility_counts()],
        FeatureBlock::TopPairs(list) => {
            let (pairs, title) = (list.pairs(), "pairs in the order of their list".to_owned());
            vec![Panel::new(title, [LIST_COLUMNS, pairs.len().div_ceil(LIST_COLUMNS)], |x, y| {
                let feature = LIST_COLUMNS * y + x;
                Some((feature, pairs.get(feature)?.features().map(piece_on_square).join(" and ")))
            })]
        }
        FeatureBlock::LinePairs(kind) => (0..kind.count())
            .map(|line| {
                Panel::new(line_name(*kind, line), [CODES, CODES], |x, y| {
                    let name = format!("{}, then {}", piece_name(y), piece_name(x));
                    Some((CODES * CODES * line + CODES * y + x, name))
                })
            })
            .collect(),
    }
}

/// Returns the names of all features of a block in their order, with the panel that each is in.
pub fn feature_names(block: &FeatureBlock) -> Vec<String> {
    let mut names = vec![String::new(); block.size()];
    let has_king = king_stride(block) > 0;
    for king in Square::all().take(if has_king { Square::COUNT } else { 1 }) {
        let panels = panels(block, king);
        let is_alone = panels.len() == 1;
        for panel in panels {
            for cell in panel.cells {
                let mut name = if is_alone { cell.name } else { format!("{}: {}", panel.title, cell.name) };
                if has_king {
                    name += &format!(", own king on {king}");
                }
                names[cell.feature] = name;
            }
        }
    }
    names
}

/// Returns the square of a board in White's view.
fn square_at(x: usize, y: usize) -> Square {
    Square::at(x as u8, 7 - y as u8)
}

fn piece_name(code: usize) -> String {
    format!("{} {}", if code < PIECE_NAMES.len() { "own" } else { "enemy" }, PIECE_NAMES[code % PIECE_NAMES.len()])
}

/// Names a feature of `piece`.
fn piece_on_square(feature: u16) -> String {
    let feature = usize::from(feature) % FEATURES;
    format!("{} {}", piece_name(feature / 64), Square::new((feature % 64) as u8))
}

fn line_name(kind: LineKind, line: usize) -> String {
    match kind {
        LineKind::File => format!("file {}", char::from(b'a' + line as u8)),
        LineKind::Rank => format!("rank {}", line + 1),
        LineKind::Diagonal => format!("diagonal {line}"),
        LineKind::Antidiagonal => format!("antidiagonal {line}"),
    }
}

/// Returns a board of the squares of one piece.
fn board(code: usize, feature: impl Fn(Square) -> Option<usize>) -> Panel {
    Panel::new(piece_name(code), [8, 8], |x, y| {
        let square = square_at(x, y);
        Some((feature(square)?, square.to_string()))
    })
}

/// Returns the board of a piece around the own king, which is in the middle of the relative axes.
fn relative(axes: RelativeAxes, first: usize, code: usize) -> Panel {
    let steps = |place: usize| place as i32 - 7;
    let title = piece_name(code);
    match axes {
        RelativeAxes::Both => Panel::new(title, [15, 15], |x, y| {
            Some((first + 15 * (14 - x) + y, format!("{:+} files, {:+} ranks", steps(x), -steps(y))))
        }),
        RelativeAxes::File => Panel::new(title, [15, 8], |x, y| {
            Some((first + 8 * (14 - x) + 7 - y, format!("{:+} files, rank {}", steps(x), 8 - y)))
        }),
        RelativeAxes::Rank => Panel::new(title, [8, 15], |x, y| {
            Some((first + 15 * x + y, format!("file {}, {:+} ranks", char::from(b'a' + x as u8), -steps(y))))
        }),
    }
}

/// Returns the panel of numbers of squares: a row for each piece, a column for each number.
fn mobility_counts() -> Panel {
    let columns = MOBILITY_CAPS.into_iter().max().unwrap_or(0) + 1;
    let title = "rows: own pawn to enemy king; columns: 0 squares and more".to_owned();
    let features = |caps: &[usize]| caps.iter().map(|cap| cap + 1).sum::<usize>();
    Panel::new(title, [columns, CODES], |count, code| {
        let (side, kind) = (code / PIECE_NAMES.len(), code % PIECE_NAMES.len());
        let first = features(&MOBILITY_CAPS) * side + features(&MOBILITY_CAPS[..kind]);
        let name = format!("{}, {count} squares", piece_name(code));
        (count <= MOBILITY_CAPS[kind]).then_some((first + count, name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use destrier::board::Board;
    use destrier::nnue::sets::{FeaturePair, FeatureSet, OrientedBoard, PairList};
    use destrier::types::Color;
    use std::sync::Arc;

    const KING: Square = Square::at(4, 0);

    fn by_name(name: &str) -> FeatureBlock {
        FeatureBlock::all().find(|block| block.to_string() == name).expect(name).clone()
    }

    #[test]
    fn every_feature_has_one_cell() {
        let pairs: Vec<FeaturePair> = (0..70).filter_map(|feature| FeaturePair::new(feature, 500)).collect();
        let pairs = FeatureBlock::TopPairs(Arc::new(PairList::new(pairs).expect("distinct pairs")));
        for block in FeatureBlock::all().cloned().chain([pairs]) {
            let panels = panels(&block, KING);
            let mut features: Vec<usize> =
                panels.iter().flat_map(|panel| panel.cells.iter().map(|cell| cell.feature)).collect();
            features.sort_unstable();
            if matches!(block, FeatureBlock::Lines(_)) {
                // A line has a cell for each of its squares.
                features.dedup();
            }
            let of_king = match king_stride(&block) {
                0 => 0..block.size(),
                stride => stride * KING.index()..stride * (KING.index() + 1),
            };
            assert!(features.iter().copied().eq(of_king), "{block}: {features:?}");
            for panel in &panels {
                let inside = |cell: &PanelCell| cell.place.0 < panel.columns && cell.place.1 < panel.rows;
                assert!(panel.cells.iter().all(inside), "{block}");
                assert!(panel.grid().into_iter().flatten().eq(&panel.cells), "{block}");
            }
        }
    }

    #[test]
    fn every_feature_has_a_name() {
        let pairs = vec![FeaturePair::new(12, 700).expect("a pair"), FeaturePair::new(324, 12).expect("a pair")];
        let pairs = FeatureBlock::TopPairs(Arc::new(PairList::new(pairs).expect("distinct pairs")));
        let blocks: Vec<FeatureBlock> = FeatureBlock::all().cloned().chain([pairs]).collect();
        for block in &blocks {
            let mut names = feature_names(block);
            assert_eq!(names.len(), block.size(), "{block}");
            assert!(names.iter().all(|name| !name.is_empty()), "{block}");
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), block.size(), "{block}: two features of one name");
        }
        for (block, feature, name) in [
            ("piece", 64 * 7 + 28, "enemy knight: e4"),
            ("file", 8 * 3 + 2, "own rook: file c"),
            ("king-all", 768 * 6 + 64 * 11 + 62, "enemy king: g8, own king on g1"),
            ("king-relative", 225 + 15 * 8 + 6, "own knight: -1 files, +1 ranks"),
            ("moves", 64 * 12 + 28, "e2 to e4"),
            ("rank-pairs", 144 + 12 * 3 + 6, "rank 2: own rook, then enemy pawn"),
            ("mobility-counts", 9 + 8, "own knight, 8 squares"),
            ("top-pairs:2", 1, "own pawn e2 and own king e1"),
        ] {
            let block = blocks.iter().find(|found| found.to_string() == block).expect(block);
            assert_eq!(feature_names(block)[feature], name, "{block}");
        }
    }

    /// A knight that the engine sees on e3 is drawn there, two ranks above the own king on e1.
    #[test]
    fn a_feature_is_drawn_where_its_piece_stands() {
        let board = Board::from_fen("4k3/8/8/8/8/4N3/8/4K3 w - - 0 1").expect("a legal position");
        for (name, places, label) in [
            ("piece", vec![(4, 5)], "e3"),
            ("king-piece", vec![(4, 5)], "e3"),
            ("king-all", vec![(4, 5)], "e3"),
            ("king-relative", vec![(7, 5)], "+0 files, +2 ranks"),
            ("king-relative-h", vec![(7, 5)], "+0 files, rank 3"),
            ("king-relative-v", vec![(4, 5)], "file e, +2 ranks"),
            ("file", (0..8).map(|y| (4, y)).collect(), "file e"),
            ("rank", (0..8).map(|x| (x, 5)).collect(), "rank 3"),
            ("diagonal", (0..7).map(|x| (x, x + 1)).collect(), "diagonal 6"),
            ("mobility-squares", vec![(3, 3), (5, 3), (2, 4), (6, 4), (2, 6), (6, 6), (3, 7), (5, 7)], "d1"),
            ("mobility-counts", vec![(8, 1)], "own knight, 8 squares"),
        ] {
            let block = by_name(name);
            let set = FeatureSet::new(vec![block.clone()]).expect("a set");
            let active = set.active(&OrientedBoard::from((&board, Color::White)));
            let panels = panels(&block, KING);
            let knights = panels.iter().find(|panel| panel.title == "own knight").unwrap_or(&panels[0]);
            let of_knight = |cell: &&PanelCell| active.has(cell.feature) && (panels.len() > 1 || cell.place.1 == 1);
            let lit: Vec<&PanelCell> = knights.cells.iter().filter(of_knight).collect();
            let mut expected = places;
            expected.sort_unstable_by_key(|&(x, y)| (y, x));
            assert_eq!(lit.iter().map(|cell| cell.place).collect::<Vec<_>>(), expected, "{name}");
            assert!(lit.iter().any(|cell| cell.name == label), "{name}: {lit:?}");
        }
    }
}
