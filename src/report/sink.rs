//! A file that grows with a run and can be made good after a break.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use crate::files::{open_regular, open_regular_with};
use crate::plan::recording::OutputFile;
use crate::report::pgn_written::Written;

/// Takes the run's texts in their order: before [`Sink::publish`] those of the journal, of which some may be in the file, then
/// new ones.
pub(super) struct Sink {
    path: PathBuf,
    kind: Kind,
}

enum Kind {
    /// Made anew under a temporary name, which then takes the file's place.
    Anew { out: BufWriter<File>, is_published: bool },
    /// Held to the journal's games, whose texts stand in it as far as they are known.
    Checked { written: Written },
    /// Added to.
    Append {
        out: File,
        /// What followed the bytes that are not the run's.
        found: Vec<u8>,
        /// Bytes of `found` that are dealt with; `None` once a text was missing, for then all that follow are.
        at: Option<usize>,
    },
}

impl Sink {
    /// Begins a file anew.
    ///
    /// # Errors
    /// Where the folder cannot be written; the message names the file.
    pub(super) fn anew(path: &Path) -> io::Result<Self> {
        let out = File::create(scratch_name(path)).map_err(|error| named(path, &error))?;
        Ok(Self { path: path.to_owned(), kind: Kind::Anew { out: BufWriter::new(out), is_published: false } })
    }

    /// Goes on with a PGN of the run's own: games that stand in it need not be made again.
    ///
    /// # Errors
    /// Returns an error that names the file if there is none and none can be made.
    pub(super) fn resume(path: &Path) -> io::Result<Self> {
        match Written::open(path) {
            Ok(written) => Ok(Self { path: path.to_owned(), kind: Kind::Checked { written } }),
            Err(_) => Self::anew(path),
        }
    }

    /// True as long as the file's games are held to the journal's.
    pub(super) const fn is_checked(&self) -> bool {
        matches!(self.kind, Kind::Checked { .. })
    }

    /// True if the games with these tags and results come next in the file. If not, what comes there is none of the run's, and
    /// the texts from here on are to be put.
    ///
    /// # Errors
    /// Returns an error that names the file if a new one cannot be begun.
    pub(super) fn has<'a>(&mut self, games: impl IntoIterator<Item = (String, &'a str)>) -> io::Result<bool> {
        let Kind::Checked { written } = &mut self.kind else { return Ok(false) };
        // What cannot be read is not known.
        if written.has(games).unwrap_or(false) {
            return Ok(true);
        }
        self.cut()?;
        Ok(false)
    }

    /// Ends the check before its end: a new file begins with what is known, and takes the old one's place when all is in.
    fn cut(&mut self) -> io::Result<()> {
        let Kind::Checked { written } = &self.kind else { return Ok(()) };
        let mut sink = Self::anew(&self.path)?;
        if let Kind::Anew { out, .. } = &mut sink.kind {
            let known = open_regular(&self.path).map(|file| file.take(written.whole()));
            known.and_then(|mut known| io::copy(&mut known, out)).map_err(|error| self.named(&error))?;
        }
        *self = sink;
        Ok(())
    }

    /// Ends the check with all the journal's games known: whatever follows them goes, and later texts are added.
    fn adopt(&mut self) -> io::Result<()> {
        let Kind::Checked { written } = &self.kind else { return Ok(()) };
        let opened = open_regular_with(OpenOptions::new().append(true), &self.path);
        let out = opened.and_then(|out| out.set_len(written.whole()).map(|()| out));
        let out = out.map_err(|error| self.named(&error))?;
        self.kind = Kind::Append { out, found: Vec::new(), at: None };
        Ok(())
    }

    /// Begins, or goes on with, a file of the user's.
    ///
    /// # Errors
    /// Where it cannot be read or written; the message names the file.
    pub(super) fn open(output: &OutputFile) -> io::Result<Self> {
        let path = &output.path;
        // A device or a pipe can neither be replaced nor read back.
        let is_file = std::fs::metadata(path).map_or(true, |about| about.is_file());
        match output.append_after {
            None if is_file => Self::anew(path),
            after => Self::append(path, after.filter(|_| is_file)).map_err(|error| named(path, &error)),
        }
    }

    fn append(path: &Path, after: Option<u64>) -> io::Result<Self> {
        let mut found = Vec::new();
        if let Some(after) = after
            && let Ok(mut file) = File::open(path)
        {
            file.seek(SeekFrom::Start(after))?;
            file.read_to_end(&mut found)?;
        }
        let out = OpenOptions::new().append(true).create(true).open(path)?;
        let at = after.map(|_| 0);
        Ok(Self { path: path.to_owned(), kind: Kind::Append { out, found, at } })
    }

    /// Adds a text unless it is there already; one that is there in part is made whole.
    ///
    /// # Errors
    /// Where the file cannot be written; the message names it.
    pub(super) fn put(&mut self, text: &[u8]) -> io::Result<()> {
        self.cut()?;
        let written = match &mut self.kind {
            Kind::Anew { out, is_published } => {
                out.write_all(text).and_then(|()| if *is_published { out.flush() } else { Ok(()) })
            }
            Kind::Append { out, found, at } => out.write_all(missing(found, at, text)),
            Kind::Checked { .. } => Ok(()),
        };
        written.map_err(|error| self.named(&error))
    }

    /// An error with the name of the file.
    pub(super) fn named(&self, error: &io::Error) -> io::Error {
        named(&self.path, error)
    }

    /// Says that all texts of the journal were put.
    ///
    /// # Errors
    /// Where the file cannot be written or renamed; the message names it.
    pub(super) fn publish(&mut self) -> io::Result<()> {
        self.adopt()?;
        let done = match &mut self.kind {
            Kind::Anew { out, is_published } => {
                let moved = out.flush().and_then(|()| std::fs::rename(scratch_name(&self.path), &self.path));
                *is_published = moved.is_ok();
                moved
            }
            Kind::Append { found, at, .. } => {
                (*found, *at) = (Vec::new(), None);
                Ok(())
            }
            Kind::Checked { .. } => Ok(()),
        };
        done.map_err(|error| self.named(&error))
    }
}

/// What of `text` is not in `found` from `at` on. Other runs may have written to the file meanwhile, before it or after.
fn missing<'a>(found: &[u8], at: &mut Option<usize>, text: &'a [u8]) -> &'a [u8] {
    let Some(start) = *at else { return text };
    let rest = &found[start..];
    if text.is_empty() {
        return text;
    }
    let place = if rest.starts_with(text) { Some(0) } else { find(rest, text) };
    if let Some(place) = place {
        *at = Some(start + place + text.len());
        return &[];
    }
    *at = None;
    // The run was ended in the middle of a write: what is there is the head of this text, and nothing else.
    text.strip_prefix(rest).unwrap_or(text)
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

impl Drop for Sink {
    fn drop(&mut self) {
        if let Kind::Anew { is_published: false, .. } = self.kind {
            // A run that is refused keeps the file it has, and nothing beside it.
            let _ = std::fs::remove_file(scratch_name(&self.path));
        }
    }
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

    /// What becomes of a file with `before` in it where a run finds `after` bytes that are not its own, has put the texts of
    /// `journal`, and puts `new` ones.
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
        // Before it is closed: every text is on its way to the disk once it is put.
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected, "{before:?} {after:?} {journal:?} {new:?}");
        drop(sink);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_ends_up_with_each_text_once() {
        // Begun anew.
        check(None, None, &[], &["a", "b"], "ab");
        check(Some("old"), None, &[], &["a"], "a");
        check(Some("old"), None, &["a"], &["b"], "ab");
        // Added to.
        check(None, Some(0), &[], &["a"], "a");
        check(Some("old"), Some(3), &[], &["a", "a"], "oldaa");
        // Resumed: all there, some there, torn, gone.
        check(Some("old(a)(b)"), Some(3), &["(a)", "(b)"], &["(c)"], "old(a)(b)(c)");
        check(Some("old(a)"), Some(3), &["(a)", "(b)"], &["(c)"], "old(a)(b)(c)");
        check(Some("old(a)(b"), Some(3), &["(a)", "(b)", "(c)"], &[], "old(a)(b)(c)");
        check(None, Some(3), &["(a)"], &["(b)"], "(a)(b)");
        check(Some("ol"), Some(3), &["(a)"], &["(b)"], "ol(a)(b)");
        // The same text twice is two texts, and one that was there before the run is none of its own.
        check(Some("(a)(a)"), Some(3), &["(a)", "(a)"], &["(a)"], "(a)(a)(a)(a)");
        // Another run wrote between and after.
        check(Some("old(a)[x](b)[y]"), Some(3), &["(a)", "(b)"], &["(c)"], "old(a)[x](b)[y](c)");
        check(Some("old(a)(b[y]"), Some(3), &["(a)", "(b)"], &["(c)"], "old(a)(b[y](b)(c)");
    }

    /// What becomes of a PGN with `before` in it where the journal's pairs are those of `pairs`, and one more is played.
    #[track_caller]
    fn check_pgn(before: Option<&str>, pairs: &[&str], expected: &str) {
        let text = |name: &str| format!("[Event \"{name}\"]\n\n1. e4 {{{name}}} 1-0\n\n");
        let all = |names: &str| names.chars().map(|name| text(&name.to_string())).collect::<String>();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("games.pgn");
        // Small letters are games; what is in brackets stands as it is.
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
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_pgn_goes_on_where_its_known_games_end() {
        // All there: nothing is made again.
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
