//! Syzygy endgame tables on disk, for the referee. Opened once for a run and shared by its workers.
//!
//! The files hold win, draw or loss (`.rtbw`) and the distance to the next capture or pawn move
//! (`.rtbz`). Only the former are probed, so a folder without the latter is enough. A file is
//! opened at its first probe, and its data stays in the system's cache.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use shakmaty::Chess;
use shakmaty_syzygy::{SyzygyError, Tablebase, Wdl as TableWdl};
use thiserror::Error;

use crate::chess::Position;
use crate::game::tablebase::{Probe, Wdl};
use crate::plan::rules::SyzygyRule;

/// Reason that tables cannot be used, as one line with the remedy.
#[derive(Debug, Error)]
pub enum TablesError {
    /// A folder that cannot be read.
    #[error("--syzygy: `{}`: {source}; give the folder that the .rtbw files are in", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A folder without tables.
    #[error("--syzygy: `{}` has no Syzygy tables (.rtbw files such as KRvK.rtbw) in it", .0.display())]
    Empty(PathBuf),
    /// A file whose content does not fit its name.
    #[error("--syzygy: `{}`: {source}; fetch the file again, or remove it", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The fault.
        source: io::Error,
    },
    /// No folder was named.
    #[error("--syzygy names no folder; give the folder that the .rtbw files are in")]
    NoFolder,
}

/// The tables of one or more folders.
pub struct Tables {
    tables: Tablebase<Chess>,
    count: usize,
    most_men: u32,
    /// The reader's message about the first table that could not be read.
    fault: OnceLock<String>,
}

impl Tables {
    /// Looks for tables in each folder. Of two files with one name the first is used.
    ///
    /// # Errors
    /// [`TablesError`] for a folder that does not exist or holds no tables, or a file of an
    /// impossible size.
    pub fn open(folders: &[PathBuf]) -> Result<Self, TablesError> {
        let mut tables = Tablebase::new();
        let mut count = 0;
        // In the library, the last file of a name wins.
        for folder in folders.iter().rev() {
            let found = add_folder(&mut tables, folder)?;
            if found == 0 {
                return Err(TablesError::Empty(folder.clone()));
            }
            count += found;
        }
        if folders.is_empty() {
            return Err(TablesError::NoFolder);
        }
        let most_men = u32::try_from(tables.max_pieces()).unwrap_or(0);
        Ok(Self { tables, count, most_men, fault: OnceLock::new() })
    }

    /// Opens the tables of a rule; `None` without a rule.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn of(rule: Option<&SyzygyRule>) -> Result<Option<Arc<dyn Probe>>, TablesError> {
        rule.map(|rule| Ok(Arc::new(Self::open(&rule.paths)?) as Arc<dyn Probe>)).transpose()
    }

    /// Number of win, draw or loss files found; files of one name in several folders count each.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Message about the first table that could not be read; `None` if there was none. Games
    /// continue without it.
    #[must_use]
    pub fn fault(&self) -> Option<&str> {
        self.fault.get().map(String::as_str)
    }
}

/// Adds a folder's tables of win, draw and loss; other files are ignored.
fn add_folder(tables: &mut Tablebase<Chess>, folder: &Path) -> Result<usize, TablesError> {
    let no_folder = |source| TablesError::Folder { folder: folder.to_owned(), source };
    let mut found = 0;
    for entry in std::fs::read_dir(folder).map_err(no_folder)? {
        let file = entry.map_err(no_folder)?.path();
        if file.extension().is_none_or(|extension| extension != "rtbw") {
            continue;
        }
        match tables.add_file(&file) {
            Ok(()) => found += 1,
            // The name is not that of a table.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
            Err(source) => return Err(TablesError::File { file, source }),
        }
    }
    Ok(found)
}

impl fmt::Debug for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tables").field("count", &self.count).field("most_men", &self.most_men).finish_non_exhaustive()
    }
}

impl Probe for Tables {
    fn most_men(&self) -> u32 {
        self.most_men
    }

    fn probe(&self, position: &Position) -> Option<Wdl> {
        match self.tables.probe_wdl_after_zeroing(position.library()) {
            Ok(TableWdl::Loss) => Some(Wdl::Loss),
            Ok(TableWdl::BlessedLoss) => Some(Wdl::BlessedLoss),
            Ok(TableWdl::Draw) => Some(Wdl::Draw),
            Ok(TableWdl::CursedWin) => Some(Wdl::CursedWin),
            Ok(TableWdl::Win) => Some(Wdl::Win),
            Err(error @ SyzygyError::ProbeFailed { .. }) => {
                self.fault.get_or_init(|| {
                    let text = error.to_string();
                    // A corrupted table comes with a backtrace of the reader.
                    let line = text.lines().next().unwrap_or_default().to_owned();
                    tracing::warn!("{line}; games continue without it");
                    line
                });
                None
            }
            // Not every set of tables is complete.
            Err(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Variant;

    /// A file with one value for each side to move: 0 is a loss, 2 a draw, 4 a win. `KRvK` and
    /// `KQvK` are such tables except for positions whose value a capture decides, and those are
    /// searched.
    fn one_value(piece: u8, to_move: u8, other: u8) -> Vec<u8> {
        let (king, enemy_king) = (6, 14);
        let mut file = vec![0x71, 0xe8, 0x23, 0x5d, 1, 0];
        // Both sides' order of pieces, a nibble each.
        file.extend([king, piece, enemy_king].map(|code| code | code << 4));
        file.push(0);
        file.extend([0x80, to_move, 0x80, other]);
        file.resize(80, 0);
        file
    }

    fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        folder
    }

    fn probe(tables: &Tables, fen: &str) -> Option<Wdl> {
        tables.probe(&Position::from_fen(fen, Variant::Standard).unwrap())
    }

    #[test]
    fn files_are_read() {
        let rook =
            folder(&[("KRvK.rtbw", &one_value(4, 4, 0)), ("KRvK.rtbz", b"?"), ("notes.txt", b"?"), ("x.rtbw", b"?")]);
        let queen = folder(&[("KQvK.rtbw", &one_value(5, 4, 0)), ("KRvK.rtbw", &one_value(4, 2, 2))]);
        let [rook, queen] = [&rook, &queen].map(|folder| folder.path().to_owned());
        let tables = Tables::open(&[rook, queen]).unwrap();
        assert_eq!((tables.count(), tables.most_men()), (3, 3));
        for (fen, expected) in [
            ("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", Some(Wdl::Win)),
            ("4k3/8/8/8/8/8/8/R3K3 b - - 0 1", Some(Wdl::Loss)),
            ("4k3/8/8/8/8/8/8/r3K3 w - - 0 1", Some(Wdl::Loss)),
            ("4k3/8/8/8/8/8/8/Q3K3 w - - 0 1", Some(Wdl::Win)),
            // The rook falls.
            ("8/8/8/8/8/8/1k6/R3K3 b - - 0 1", Some(Wdl::Draw)),
            ("4k3/8/8/8/8/8/8/B3K3 w - - 0 1", None),
            ("4k3/8/8/8/8/8/8/RR2K3 w - - 0 1", None),
            ("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", None),
        ] {
            assert_eq!(probe(&tables, fen), expected, "{fen}");
        }
        assert_eq!(tables.fault(), None);
    }

    #[test]
    fn what_is_no_table_is_named() {
        let good = one_value(4, 4, 0);
        let [some, none, short] =
            [folder(&[("KRvK.rtbw", &good)]), folder(&[("KRvK.rtbz", &good)]), folder(&[("KRvK.rtbw", b"?")])];
        let there = some.path();
        let missing = there.join("missing");
        for (folders, part, name) in [
            (vec![there, &missing], "give the folder", "missing"),
            (vec![there, none.path()], "has no Syzygy tables", ""),
            (vec![short.path()], "fetch the file again", "KRvK.rtbw"),
            (vec![&there.join("KRvK.rtbw")], "give the folder", "KRvK.rtbw"),
            (vec![], "names no folder", ""),
        ] {
            let folders: Vec<_> = folders.into_iter().map(Path::to_owned).collect();
            let error = Tables::open(&folders).unwrap_err().to_string();
            assert!(error.contains(part) && error.contains(name) && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn a_table_that_can_not_be_read_is_no_result() {
        let mut bad = one_value(4, 4, 0);
        bad[0] = 0;
        let folder = folder(&[("KRvK.rtbw", &bad)]);
        let tables = Tables::open(&[folder.path().to_owned()]).unwrap();
        assert_eq!(probe(&tables, "4k3/8/8/8/8/8/8/R3K3 w - - 0 1"), None);
        assert!(tables.fault().unwrap().contains("KRvK"), "{:?}", tables.fault());
    }

    /// Real tables, if `QUINTAIN_SYZYGY` names a folder that holds at least KPvK, KQvKR and KBNvK.
    #[test]
    fn real_tables_agree_with_the_books() {
        let Some(folder) = std::env::var_os("QUINTAIN_SYZYGY") else {
            let remedy = "set QUINTAIN_SYZYGY to a folder with 3- and 4-man .rtbw files";
            return crate::skip::skip("real_tables_agree_with_the_books", remedy);
        };
        let tables = Tables::open(&std::env::split_paths(&folder).collect::<Vec<_>>()).unwrap();
        assert!(tables.most_men() >= 4, "{tables:?}");
        for (fen, expected) in [
            // King on the sixth rank before its pawn wins, whoever moves; opposition decides on the
            // fifth.
            ("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1", Wdl::Win),
            ("4k3/8/4K3/4P3/8/8/8/8 b - - 0 1", Wdl::Loss),
            ("8/4k3/8/4K3/4P3/8/8/8 w - - 0 1", Wdl::Draw),
            ("8/4k3/8/4K3/4P3/8/8/8 b - - 0 1", Wdl::Loss),
            // A rook's pawn, and the king in its corner.
            ("k7/8/K7/P7/8/8/8/8 w - - 0 1", Wdl::Draw),
            ("8/8/8/3k4/8/8/8/KBN5 w - - 0 1", Wdl::Win),
            ("8/8/8/3kr3/8/8/8/KQ6 w - - 0 1", Wdl::Win),
        ] {
            assert_eq!(probe(&tables, fen), Some(expected), "{fen}");
        }
    }
}
