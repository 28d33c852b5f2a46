//! Output file that grows with a run and can be repaired after an interruption.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek as _, SeekFrom, Take, Write as _};
use std::path::{Path, PathBuf};

use tempfile::{SpooledTempFile, spooled_tempfile_in};

use crate::files::{open_regular, open_regular_with};
use crate::plan::recording::OutputFile;
use crate::report::pgn_written::PgnScan;

/// Bytes of a file that are read at once.
const CHUNK: usize = 64 << 10;

/// Bytes of missing texts that are kept in memory.
const MOST_HELD: usize = 1 << 20;

/// Output file that takes the run's texts in order. Before [`Sink::publish`] these are the
/// journal's, some of which may be in the file. Later ones are new.
pub(super) struct Sink {
    path: PathBuf,
    kind: SinkKind,
}

enum SinkKind {
    /// Written again under a temporary name, which then replaces the file.
    Anew { out: BufWriter<File>, is_published: bool },
    /// Compared with the journal's games, as long as they are found in it.
    Checked { written: PgnScan },
    /// Appended to.
    Append {
        out: File,
        /// Texts in the file. `None` once one was missing, because all later ones are missing too.
        found: Option<FoundTexts<Take<File>>>,
        /// Missing texts of the journal; `None` once the file has them.
        staged: Option<SpooledTempFile>,
    },
}

impl Sink {
    /// Creates a new file under a temporary name.
    ///
    /// # Errors
    /// Returns an error that names the file if its folder cannot be written.
    pub(super) fn anew(path: &Path) -> io::Result<Self> {
        let out = scratch_file(&scratch_name(path)).map_err(|error| named(path, &error))?;
        Ok(Self { path: path.to_owned(), kind: SinkKind::Anew { out: BufWriter::new(out), is_published: false } })
    }

    /// Continues a PGN of the run. Games found in it are not made again.
    ///
    /// # Errors
    /// Returns an error that names the file if there is none and none can be created.
    pub(super) fn resume(path: &Path) -> io::Result<Self> {
        match PgnScan::open(path) {
            Ok(written) => Ok(Self { path: path.to_owned(), kind: SinkKind::Checked { written } }),
            Err(_) => Self::anew(path),
        }
    }

    /// True as long as the file is compared with the journal's games.
    pub(super) const fn is_checked(&self) -> bool {
        matches!(self.kind, SinkKind::Checked { .. })
    }

    /// True if the next games of the file have these tags and results. If not, the rest of the file
    /// is void, and all texts from here on must be put.
    ///
    /// # Errors
    /// Returns an error that names the file if a new one cannot be created.
    pub(super) fn has<'a>(&mut self, games: impl IntoIterator<Item = (String, &'a str)>) -> io::Result<bool> {
        let SinkKind::Checked { written } = &mut self.kind else { return Ok(false) };
        // Unreadable games count as not found.
        if written.has(games).unwrap_or(false) {
            return Ok(true);
        }
        self.cut()?;
        Ok(false)
    }

    /// Ends the comparison early. A new file begins with the games found so far, and replaces the
    /// old one in [`Sink::publish`].
    fn cut(&mut self) -> io::Result<()> {
        let SinkKind::Checked { written } = &self.kind else { return Ok(()) };
        let mut sink = Self::anew(&self.path)?;
        if let SinkKind::Anew { out, .. } = &mut sink.kind {
            let known = open_regular(&self.path).map(|file| file.take(written.whole()));
            known.and_then(|mut known| io::copy(&mut known, out)).map_err(|error| self.named(&error))?;
        }
        *self = sink;
        Ok(())
    }

    /// Ends the comparison with all games of the journal found. The file is cut after them, and
    /// later texts are appended.
    fn adopt(&mut self) -> io::Result<()> {
        let SinkKind::Checked { written } = &self.kind else { return Ok(()) };
        // Not for appending alone, because Windows cuts no such file.
        let opened = open_regular_with(OpenOptions::new().write(true), &self.path);
        let cut = |mut out: File| {
            out.set_len(written.whole())?;
            out.seek(SeekFrom::End(0)).map(|_| out)
        };
        let out = opened.and_then(cut);
        let out = out.map_err(|error| self.named(&error))?;
        self.kind = SinkKind::Append { out, found: None, staged: None };
        Ok(())
    }

    /// Opens a file of the user's, new or to be continued.
    ///
    /// # Errors
    /// Returns an error that names the file if it cannot be read or written.
    pub(super) fn open(output: &OutputFile) -> io::Result<Self> {
        let path = &output.path;
        // A device or pipe can neither be replaced nor read back.
        let is_file = std::fs::metadata(path).map_or(true, |about| about.is_file());
        match output.append_after {
            None if is_file => Self::anew(path),
            after => Self::append(path, after.filter(|_| is_file)).map_err(|error| named(path, &error)),
        }
    }

    fn append(path: &Path, after: Option<u64>) -> io::Result<Self> {
        let mut found = None;
        if let Some(after) = after
            && let Ok(mut file) = File::open(path)
        {
            // What other runs append from now on is not searched.
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(after))?;
            found = Some(FoundTexts::new(file.take(length.saturating_sub(after))));
        }
        let out = OpenOptions::new().append(true).create(true).open(path)?;
        let staged = Some(staging(path));
        Ok(Self { path: path.to_owned(), kind: SinkKind::Append { out, found, staged } })
    }

    /// Writes a text unless the file has it. A partly written text is completed. Texts of the
    /// journal are in the file only after [`Sink::publish`], so that a refused run changes nothing.
    ///
    /// # Errors
    /// Returns an error that names the file if it cannot be written.
    pub(super) fn put(&mut self, text: &[u8]) -> io::Result<()> {
        self.cut()?;
        let written = match &mut self.kind {
            SinkKind::Anew { out, is_published } => {
                out.write_all(text).and_then(|()| if *is_published { out.flush() } else { Ok(()) })
            }
            SinkKind::Append { out, found, staged } => missing(found, text).and_then(|text| match staged {
                Some(staged) => staged.write_all(text),
                None => out.write_all(text),
            }),
            SinkKind::Checked { .. } => Ok(()),
        };
        written.map_err(|error| self.named(&error))
    }

    /// Error with the name of the file.
    pub(super) fn named(&self, error: &io::Error) -> io::Error {
        named(&self.path, error)
    }

    /// Ends the texts of the journal: writes those that the file lacks, and moves a new file into
    /// place.
    ///
    /// # Errors
    /// Returns an error that names the file if it cannot be written or renamed.
    pub(super) fn publish(&mut self) -> io::Result<()> {
        self.adopt()?;
        let done = match &mut self.kind {
            SinkKind::Anew { out, is_published } => {
                let moved = out.flush().and_then(|()| std::fs::rename(scratch_name(&self.path), &self.path));
                *is_published = moved.is_ok();
                moved
            }
            SinkKind::Append { out, found, staged } => {
                *found = None;
                staged
                    .take()
                    .map_or(Ok(()), |mut texts| texts.rewind().and_then(|()| io::copy(&mut texts, out).map(drop)))
            }
            SinkKind::Checked { .. } => Ok(()),
        };
        done.map_err(|error| self.named(&error))
    }
}

/// Part of `text` that the file lacks. Once it lacks one, `found` is `None`.
fn missing<'a, R: Read>(found: &mut Option<FoundTexts<R>>, text: &'a [u8]) -> io::Result<&'a [u8]> {
    let Some(texts) = found else { return Ok(text) };
    if text.is_empty() || texts.pass(text)? {
        return Ok(&[]);
    }
    // If the run was killed during a write, the rest of the file is the beginning of this text.
    let rest = found.take().and_then(FoundTexts::rest);
    Ok(rest.and_then(|rest| text.strip_prefix(rest.as_slice())).unwrap_or(text))
}

/// Texts in the rest of a file, read piece by piece.
struct FoundTexts<R> {
    reader: R,
    /// Bytes read that no text had yet.
    held: Vec<u8>,
    /// True if bytes after the last found text are no longer held.
    is_cut: bool,
}

impl<R: Read> FoundTexts<R> {
    const fn new(reader: R) -> Self {
        Self { reader, held: Vec::new(), is_cut: false }
    }

    /// Looks for the next place of a text that is not empty; false if there is none. Other runs may
    /// have written to the file before it.
    fn pass(&mut self, text: &[u8]) -> io::Result<bool> {
        loop {
            if let Some(end) = end_of(&self.held, 0, text) {
                self.held.drain(..end);
                self.is_cut = false;
                return Ok(true);
            }
            // The last bytes may be the beginning of the text.
            let passed = self.held.len().saturating_sub(text.len() - 1);
            let size = CHUNK.max(text.len()) as u64;
            if (&mut self.reader).take(size).read_to_end(&mut self.held)? == 0 {
                return Ok(false);
            }
            self.held.drain(..passed);
            self.is_cut |= passed > 0;
        }
    }

    /// All bytes after the last found text, once the next one was not found; `None` if they are
    /// longer than that.
    fn rest(self) -> Option<Vec<u8>> {
        (!self.is_cut).then_some(self.held)
    }
}

/// End of the first `text` in `found` from `start` on. The text is not empty.
pub(crate) fn end_of(found: &[u8], start: usize, text: &[u8]) -> Option<usize> {
    let place = found[start..].windows(text.len()).position(|window| window == text)?;
    Some(start + place + text.len())
}

/// Place for texts that are written later: memory, or beyond [`MOST_HELD`] a file without a name in
/// the folder of the output, else in that for temporary files.
fn staging(output: &Path) -> SpooledTempFile {
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let temporary = std::env::temp_dir();
    // A folder may let its user append to a file and make none.
    let is_writable = tempfile::tempfile_in(folder).is_ok();
    spooled_tempfile_in(MOST_HELD, if is_writable { folder } else { &temporary })
}

impl Drop for Sink {
    fn drop(&mut self) {
        if let SinkKind::Anew { is_published: false, .. } = self.kind {
            // A refused run keeps its old file and leaves no new one beside it.
            let _ = std::fs::remove_file(scratch_name(&self.path));
        }
    }
}

/// Creates the file of a temporary name. What a killed run left there, or a link that came with the
/// directory, is removed: the file that a link names is never written.
fn scratch_file(path: &Path) -> io::Result<File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    File::create_new(path)
}

fn scratch_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    PathBuf::from(name)
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a file that holds `before`, of which `after` bytes precede the run. It gets the texts
    /// of `journal`, then the `new` ones.
    #[track_caller]
    fn check(before: Option<&str>, after: Option<u64>, journal: &[&str], new: &[&str], expected: &str) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        if let Some(before) = before {
            std::fs::write(&path, before).unwrap();
        }
        let mut sink = Sink::open(&OutputFile { path: path.clone(), append_after: after }).unwrap();
        journal.iter().for_each(|text| sink.put(text.as_bytes()).unwrap());
        sink.publish().unwrap();
        new.iter().for_each(|text| sink.put(text.as_bytes()).unwrap());
        // Every text is on its way to the disk once it is put, before the file is closed.
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected, "{before:?} {after:?} {journal:?} {new:?}");
        drop(sink);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_under_the_temporary_name_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (path, elsewhere) = (dir.path().join("f"), dir.path().join("elsewhere"));
        std::fs::write(&elsewhere, "mine").unwrap();
        std::os::unix::fs::symlink(&elsewhere, scratch_name(&path)).unwrap();
        let mut sink = Sink::resume(&path).unwrap();
        sink.put(b"a").unwrap();
        sink.publish().unwrap();
        assert_eq!([&elsewhere, &path].map(|path| std::fs::read_to_string(path).unwrap()), ["mine", "a"]);
    }

    #[test]
    fn a_file_ends_up_with_each_text_once() {
        // Created.
        check(None, None, &[], &["a", "b"], "ab");
        check(Some("old"), None, &[], &["a"], "a");
        check(Some("old"), None, &["a"], &["b"], "ab");
        // Appended to.
        check(None, Some(0), &[], &["a"], "a");
        check(Some("old"), Some(3), &[], &["a", "a"], "oldaa");
        // Resumed: all texts there, some, torn, none.
        check(Some("old(a)(b)"), Some(3), &["(a)", "(b)"], &["(c)"], "old(a)(b)(c)");
        check(Some("old(a)"), Some(3), &["(a)", "(b)"], &["(c)"], "old(a)(b)(c)");
        check(Some("old(a)(b"), Some(3), &["(a)", "(b)", "(c)"], &[], "old(a)(b)(c)");
        check(None, Some(3), &["(a)"], &["(b)"], "(a)(b)");
        check(Some("ol"), Some(3), &["(a)"], &["(b)"], "ol(a)(b)");
        // An equal text later is another text, and one from before the run is not the run's.
        check(Some("(a)(a)"), Some(3), &["(a)", "(a)"], &["(a)"], "(a)(a)(a)(a)");
        // Text of another run between and after.
        check(Some("old(a)[x](b)[y]"), Some(3), &["(a)", "(b)"], &["(c)"], "old(a)[x](b)[y](c)");
        check(Some("old(a)(b[y]"), Some(3), &["(a)", "(b)"], &["(c)"], "old(a)(b[y](b)(c)");
    }

    #[test]
    fn a_large_file_is_passed_in_little_memory() {
        let foreign = vec![b'x'; 40 * CHUNK];
        let file = [b"(a)", foreign.as_slice(), b"(b)", foreign.as_slice(), b"(c"].concat();
        let mut found = Some(FoundTexts::new(file.as_slice()));
        for text in ["(a)", "(b)"] {
            assert_eq!(missing(&mut found, text.as_bytes()).unwrap(), b"");
            assert!(found.as_ref().unwrap().held.capacity() <= 4 * CHUNK);
        }
        // A torn end counts only right after the text before it.
        assert_eq!(missing(&mut found, b"(c)").unwrap(), b"(c)");
        assert!(found.is_none());
    }

    #[test]
    fn many_missing_texts_wait_in_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let texts: Vec<Vec<u8>> = (b'a'..b'h').map(|letter| vec![letter; MOST_HELD / 2]).collect();
        for is_published in [false, true] {
            std::fs::write(&path, "old").unwrap();
            let mut sink = Sink::open(&OutputFile { path: path.clone(), append_after: Some(3) }).unwrap();
            texts.iter().for_each(|text| sink.put(text).unwrap());
            let SinkKind::Append { staged: Some(staged), .. } = &sink.kind else { panic!("not appended to") };
            assert!(staged.is_rolled());
            if is_published {
                sink.publish().unwrap();
            }
            drop(sink);
            assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
            let texts = if is_published { texts.concat() } else { Vec::new() };
            assert!(std::fs::read(&path).unwrap() == [b"old", texts.as_slice()].concat());
        }
    }

    /// Checks a PGN that holds `before`. The journal has `pairs`, and one more pair is played.
    #[track_caller]
    fn check_pgn(before: Option<&str>, pairs: &[&str], expected: &str) {
        let text = |name: &str| format!("[Event \"{name}\"]\n\n1. e4 {{{name}}} 1-0\n\n");
        let all = |names: &str| names.chars().map(|name| text(&name.to_string())).collect::<String>();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("games.pgn");
        // Small letters are games. Text from a bracket on is kept as it is.
        let before =
            before.map(|before| before.split_once('[').map_or_else(|| all(before), |(names, rest)| all(names) + rest));
        if let Some(before) = &before {
            std::fs::write(&path, before).unwrap();
        }
        let mut sink = Sink::resume(&path).unwrap();
        let mut put = 0;
        for pair in pairs {
            let heads = pair.chars().map(|name| (format!("[Event \"{name}\"]\n"), "1-0"));
            if !sink.has(heads).unwrap() {
                sink.put(all(pair).as_bytes()).unwrap();
                put += 1;
            }
        }
        sink.publish().unwrap();
        sink.put(all("z").as_bytes()).unwrap();
        let (names, puts) = expected.split_once(' ').unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), all(names) + &all("z"), "{before:?} {pairs:?}");
        assert_eq!(put.to_string(), puts, "{before:?} {pairs:?}");
        drop(sink);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_run_that_is_refused_keeps_its_pgn() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("games.pgn");
        std::fs::write(&path, "[Event \"a\"]\n\n1-0\n\n[Event \"b\"]\n\n1-0\n\n").unwrap();
        let before = std::fs::read(&path).unwrap();
        let mut sink = Sink::resume(&path).unwrap();
        assert!(sink.has([("[Event \"a\"]\n".to_owned(), "1-0")]).unwrap());
        assert!(!sink.has([("[Event \"x\"]\n".to_owned(), "1-0")]).unwrap());
        sink.put(b"x").unwrap();
        drop(sink);
        assert_eq!(std::fs::read(&path).unwrap(), before);
        // A file of the user's, too.
        let mut sink = Sink::open(&OutputFile { path: path.clone(), append_after: Some(0) }).unwrap();
        sink.put(b"x").unwrap();
        drop(sink);
        assert_eq!(std::fs::read(&path).unwrap(), before);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_pgn_goes_on_where_its_known_games_end() {
        // All games there, so none is made again.
        check_pgn(Some("abcd"), &["ab", "cd"], "abcd 0");
        check_pgn(Some("ab"), &["ab", "cd"], "abcd 1");
        check_pgn(Some("abc"), &["ab", "cd"], "abcd 1");
        check_pgn(None, &["ab", "cd"], "abcd 2");
        check_pgn(Some(""), &["ab"], "ab 1");
        // Another game in the middle, one too many at the end, and torn ends.
        check_pgn(Some("abxdef"), &["ab", "cd", "ef"], "abcdef 2");
        check_pgn(Some("xb"), &["ab"], "ab 1");
        check_pgn(Some("abcdef"), &["ab", "cd"], "abcd 0");
        check_pgn(Some("ab[Event \"c"), &["ab", "cd"], "abcd 1");
        check_pgn(Some("ab[\0\0\0"), &["ab"], "ab 0");
        check_pgn(Some("abcd"), &[], " 0");
    }

    #[test]
    fn a_device_is_only_written_to() {
        let mut sink = Sink::open(&OutputFile { path: PathBuf::from("/dev/null"), append_after: None }).unwrap();
        sink.put(b"a").unwrap();
        sink.publish().unwrap();
        sink.put(b"b").unwrap();
    }

    #[test]
    fn errors_name_the_file() {
        let path = PathBuf::from("/nonexistent/f");
        for append_after in [None, Some(0)] {
            let error = Sink::open(&OutputFile { path: path.clone(), append_after }).err().unwrap();
            assert!(error.to_string().starts_with("/nonexistent/f: "), "{error}");
        }
    }
}
