//! Repair of a damaged journal. Damaged lines are dropped, so their games are played again.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::lines::JournalLines;
use super::twice::{GameChecksums, Novelty};
use super::{Header, JournalError, PlanFacts, format, open_locked};
use crate::files::open_regular;
use crate::os;

/// Number of names tried for the old file.
const NAMES: u32 = 1_000;

/// Report of a repaired journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairReport {
    /// Numbers of the damaged lines in the old file, from 1.
    pub lines: Vec<u64>,
    /// Numbers of the lines that differ from an earlier record of their game.
    pub superseded: Vec<u64>,
    /// Path under which the old file is kept.
    pub kept: PathBuf,
}

impl RepairReport {
    /// True if the first line was damaged and replaced by a new header.
    #[must_use]
    pub fn has_new_header(&self) -> bool {
        self.lines.first() == Some(&1)
    }
}

/// Drops the damaged lines of the journal at `path` and keeps the old file beside it.
///
/// Returns `None` if no line is damaged. A torn tail is not damage, because
/// [`Journal::resume`](super::Journal::resume) drops it by itself. `header` replaces a damaged
/// first line that games follow; the caller vouches that they belong to its plan. A game that does
/// not fit `expected` is damage too. Of two records of a game the first is kept, as in reading.
///
/// # Errors
/// [`JournalError::NoHeader`] if the first line is damaged and no game follows it,
/// [`JournalError::Newer`], [`JournalError::Locked`], [`JournalError::Io`].
pub fn mend(path: &Path, header: &Header, expected: Option<&PlanFacts>) -> Result<Option<RepairReport>, JournalError> {
    let io = |act| move |source| JournalError::Io { path: path.to_owned(), act, source };
    let lock = open_locked(path)?;
    let file = open_regular(path).map_err(io("read it"))?;
    let Scan { whole, damaged, superseded } = scan(&file, path, header, expected)?;
    if damaged.is_empty() && superseded.is_empty() {
        return Ok(None);
    }
    let kept = keep(path).map_err(io("keep its old file beside it"))?;
    let mut head = Vec::new();
    if damaged.first() == Some(&1) {
        format::write_header(header, &mut head);
    }
    replace(path, lock, file, &head, &whole).map_err(io("write it without its damaged lines"))?;
    Ok(Some(RepairReport { lines: damaged, superseded, kept }))
}

/// Lines of a journal by their fate.
#[derive(Default)]
struct Scan {
    /// Start and length of each line to keep.
    whole: Vec<(u64, u64)>,
    /// Numbers of damaged lines before the tail.
    damaged: Vec<u64>,
    /// Numbers of lines that differ from an earlier record of their game.
    superseded: Vec<u64>,
}

/// Treatment of a line.
enum LineFate {
    Keep,
    Supersede,
    /// Drop it: the checksum is right, but the game cannot be one of the plan.
    Drop,
    /// Drop it as damaged, unless it is part of a torn tail.
    Bad,
}

fn scan(file: &File, path: &Path, header: &Header, expected: Option<&PlanFacts>) -> Result<Scan, JournalError> {
    let no_header = || JournalError::NoHeader { path: path.to_owned() };
    let mut lines = JournalLines::new(BufReader::with_capacity(1 << 16, file));
    let (mut scan, mut twice) = (Scan::default(), GameChecksums::default());
    let mut expected = expected.filter(|expected| expected.is_of(&header.plan_sha256));
    // Damaged lines since the last whole one, and whether nothing but NULs followed the first of
    // them.
    let mut pending = Vec::new();
    let (mut is_tail, mut has_games) = (true, false);
    let mut start = 0;
    loop {
        let length =
            lines.advance().map_err(|source| JournalError::Io { path: path.to_owned(), act: "read it", source })?;
        if length == 0 {
            break;
        }
        let is_first = lines.number == 1;
        let fate = match format::parse_line(&lines.line) {
            Ok(format::JournalLine::Header(found)) if is_first => {
                expected = expected.filter(|expected| expected.is_of(&found.plan_sha256));
                LineFate::Keep
            }
            Err(format::LineError::Newer(found)) => return Err(JournalError::Newer { path: path.to_owned(), found }),
            Ok(_) if is_first => return Err(no_header()),
            Ok(format::JournalLine::Header(_)) | Err(format::LineError::Bad(_)) => LineFate::Bad,
            Ok(format::JournalLine::Game(game)) if expected.is_some_and(|expected| expected.fault(&game).is_some()) => {
                LineFate::Drop
            }
            Ok(format::JournalLine::Game(game)) => {
                has_games = true;
                match twice.record(&game, format::stated_crc(&lines.line)) {
                    Novelty::First | Novelty::Again => LineFate::Keep,
                    Novelty::Differs => LineFate::Supersede,
                }
            }
            Ok(format::JournalLine::Other) => LineFate::Keep,
        };
        if matches!(fate, LineFate::Bad) {
            is_tail = pending.is_empty() || is_tail && lines.is_void();
            pending.push(lines.number);
        } else {
            scan.damaged.append(&mut pending);
        }
        match fate {
            LineFate::Keep => scan.whole.push((start, length)),
            LineFate::Supersede => scan.superseded.push(lines.number),
            LineFate::Drop => scan.damaged.push(lines.number),
            LineFate::Bad => {}
        }
        start += length;
    }
    if !is_tail {
        scan.damaged.append(&mut pending);
    }
    let has_header = scan.whole.first().is_some_and(|(start, _)| *start == 0);
    if has_header || has_games { Ok(scan) } else { Err(no_header()) }
}

/// Gives the file at `path` a second, unused name.
fn keep(path: &Path) -> io::Result<PathBuf> {
    for number in 1..=NAMES {
        let mut name = path.as_os_str().to_owned();
        name.push(if number == 1 { ".damaged".to_owned() } else { format!(".damaged-{number}") });
        let kept = PathBuf::from(name);
        match std::fs::hard_link(path, &kept) {
            Ok(()) => return Ok(kept),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            // Copies the file, because some file systems have no hard links.
            Err(_) if !kept.exists() => return std::fs::copy(path, &kept).map(|_| kept),
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Replaces the file at `path`, in one step, by `head` and the given parts of `old`. The lock is
/// held until the new file is in place, if the system can replace a file that is open. Otherwise a
/// process that takes the lock meanwhile keeps its file, and this is an error.
fn replace(path: &Path, lock: File, mut old: File, head: &[u8], parts: &[(u64, u64)]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut new = BufWriter::new(tempfile::NamedTempFile::new_in(folder)?);
    new.write_all(head)?;
    for &(start, length) in parts {
        old.seek(SeekFrom::Start(start))?;
        io::copy(&mut (&old).take(length), &mut new)?;
    }
    let new = new.into_inner()?;
    new.as_file().set_permissions(old.metadata()?.permissions())?;
    new.as_file().sync_all()?;
    drop(old);
    let lock = os::REPLACES_OPEN_FILES.then_some(lock);
    os::persist(new, path)?;
    drop(lock);
    os::sync_folder(folder)
}
