//! A damaged journal made whole: its damaged lines go, and the games that they held are played again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::lines::Lines;
use super::{JournalError, format, open_locked};
use crate::files::open_regular;
use crate::record::GameId;

/// Tries of a name for the old file.
const NAMES: u32 = 1_000;

/// A journal that was mended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mended {
    /// Numbers of the damaged lines in the old file, from 1.
    pub lines: Vec<u64>,
    /// The old file.
    pub kept: PathBuf,
}

/// Drops the damaged lines of the journal at `path`, and keeps the old file beside it. Returns `None` for a journal without
/// any; a torn tail is none, for [`Journal::resume`](super::Journal::resume) drops it by itself.
///
/// A lost line may have said that the games of a pair were void. So of a game that stands twice only the last is kept.
///
/// # Errors
/// [`JournalError::NoHeader`] if the first line is damaged, [`JournalError::Newer`], [`JournalError::Locked`],
/// [`JournalError::Io`].
pub fn mend(path: &Path) -> Result<Option<Mended>, JournalError> {
    let io = |act| move |source| JournalError::Io { path: path.to_owned(), act, source };
    // Held until the new file is in place.
    let _lock = open_locked(path)?;
    let file = open_regular(path).map_err(io("read it"))?;
    let found = scan(&file, path)?;
    if found.damaged.is_empty() {
        return Ok(None);
    }
    let kept = keep(path).map_err(io("keep its old file beside it"))?;
    replace(path, file, &found.whole).map_err(io("write it without its damaged lines"))?;
    Ok(Some(Mended { lines: found.damaged, kept }))
}

/// The lines of a journal.
struct Scan {
    /// Start and length of each line to keep.
    whole: Vec<(u64, u64)>,
    /// Numbers of the damaged ones that are not its tail.
    damaged: Vec<u64>,
}

fn scan(file: &File, path: &Path) -> Result<Scan, JournalError> {
    let mut lines = Lines::new(BufReader::with_capacity(1 << 16, file));
    let mut scan = Scan { whole: Vec::new(), damaged: Vec::new() };
    let mut places: BTreeMap<GameId, usize> = BTreeMap::new();
    let mut superseded = BTreeSet::new();
    // Damaged lines after which nothing whole came yet, and whether anything but NULs came after the first.
    let mut pending = Vec::new();
    let mut is_tail = true;
    let mut start = 0;
    loop {
        let length =
            lines.advance().map_err(|source| JournalError::Io { path: path.to_owned(), act: "read it", source })?;
        if length == 0 {
            break;
        }
        let is_first = lines.number == 1;
        let is_whole = match format::parse_line(&lines.line) {
            Ok(format::Line::Header(_)) => is_first,
            Err(format::LineError::Newer(found)) => return Err(JournalError::Newer { path: path.to_owned(), found }),
            Ok(_) | Err(_) if is_first => return Err(JournalError::NoHeader { path: path.to_owned() }),
            Ok(format::Line::Game(game)) => {
                if !game.is_void {
                    superseded.extend(places.insert(game.id, scan.whole.len()));
                }
                true
            }
            Ok(format::Line::Other) => true,
            Err(format::LineError::Bad(_)) => false,
        };
        if is_whole {
            scan.damaged.append(&mut pending);
            scan.whole.push((start, length));
        } else {
            is_tail = pending.is_empty() || is_tail && lines.is_void();
            pending.push(lines.number);
        }
        start += length;
    }
    if !is_tail {
        scan.damaged.append(&mut pending);
    }
    let mut places = 0..;
    scan.whole.retain(|_| places.next().is_some_and(|place| !superseded.contains(&place)));
    Ok(scan)
}

/// Gives the file at `path` a second name, one that is free.
fn keep(path: &Path) -> io::Result<PathBuf> {
    for number in 1..=NAMES {
        let mut name = path.as_os_str().to_owned();
        name.push(if number == 1 { ".damaged".to_owned() } else { format!(".damaged-{number}") });
        let kept = PathBuf::from(name);
        match std::fs::hard_link(path, &kept) {
            Ok(()) => return Ok(kept),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            // Some file systems have no second names.
            Err(_) if !kept.exists() => return std::fs::copy(path, &kept).map(|_| kept),
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Puts the given parts of `old` in the place of the file at `path`, all at once.
fn replace(path: &Path, mut old: File, parts: &[(u64, u64)]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut new = BufWriter::new(tempfile::NamedTempFile::new_in(folder)?);
    for &(start, length) in parts {
        old.seek(SeekFrom::Start(start))?;
        io::copy(&mut (&old).take(length), &mut new)?;
    }
    let new = new.into_inner()?;
    new.as_file().set_permissions(old.metadata()?.permissions())?;
    new.as_file().sync_all()?;
    new.persist(path)?;
    File::open(folder)?.sync_all()
}
