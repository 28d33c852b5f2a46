//! Judgements so far, in `OUT.partial` beside the book that is being made.
//!
//! The first line holds the settings as JSON. Each further line holds a candidate's index and its
//! judgement, in order of arrival. A line is written in one call and counts only with its line
//! feed, so a kill loses no more than the running searches. The candidates themselves follow from
//! the seed. A last line `given up` says that no search makes a book with these settings. Others
//! may then begin anew.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::judge::KnownJudgements;
use crate::journal;
use crate::openings::maker::Judgement;

/// Version of the file format. Files of other versions are refused.
const VERSION: u64 = 1;

/// Line after the judgements if they cannot become a book.
const GIVEN_UP: &[u8] = b"given up\n";

/// Settings that decide a judgement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JudgementSettings {
    pub(super) start: String,
    pub(super) plies: u32,
    pub(super) seed: u64,
    pub(super) nodes: u64,
    pub(super) window: String,
    pub(super) engine_sha256: String,
    pub(super) engine_args: Vec<String>,
    pub(super) options: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PartialHeader {
    quintain_book: u64,
    settings: JudgementSettings,
}

/// Open and locked file of judgements.
#[derive(Debug)]
pub(super) struct PartialBook {
    path: PathBuf,
    file: File,
}

impl PartialBook {
    /// Opens or creates the file of the book `out`. Returns it with the judgements in it.
    pub(super) fn open(out: &Path, settings: &JudgementSettings) -> Result<(Self, KnownJudgements)> {
        let mut path = out.as_os_str().to_owned();
        path.push(".partial");
        let path = PathBuf::from(path);
        let name = path.display();
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.with_context(|| format!("{name}: cannot write it; choose another --out"))?;
        match journal::lock(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                bail!("{name}: another `book make` is writing it; wait for it, or choose another --out")
            }
            // Some file systems have no locks. There the user must not start two at once.
            Err(TryLockError::Error(error)) => tracing::debug!("{name}: {error}"),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).with_context(|| format!("{name}: cannot read it"))?;
        let (known, sound) = match bytes.iter().position(|byte| *byte == b'\n') {
            Some(end) => {
                let (known, sound) = judgements(&bytes, end + 1);
                let same = same_settings(&bytes[..end], settings).with_context(|| name.to_string())?;
                match same {
                    Ok(()) => (known, sound),
                    // No judgement is lost, for example if the first engine did not start.
                    Err(_) if known.is_empty() => (known, 0),
                    // None is of use, and the error said to change the settings.
                    Err(_) if bytes[sound..] == *GIVEN_UP => (KnownJudgements::new(), 0),
                    Err(difference) => bail!("{name}: {difference}"),
                }
            }
            // Killed before the first line was complete. Any other content is another program's.
            None if bytes.is_empty() || bytes.starts_with(b"{\"quintain_book\"") => (KnownJudgements::new(), 0),
            None => bail!("{name}: not a file of `book make`; move it away, or choose another --out"),
        };
        let cannot = || format!("{name}: cannot write it");
        file.set_len(sound as u64).with_context(cannot)?;
        file.seek(SeekFrom::End(0)).with_context(cannot)?;
        if sound == 0 {
            let header = PartialHeader { quintain_book: VERSION, settings: settings.clone() };
            let line = serde_json::to_string(&header)? + "\n";
            file.write_all(line.as_bytes()).with_context(cannot)?;
        }
        Ok((Self { path, file }, known))
    }

    /// Path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a judgement.
    pub(super) fn append(&self, index: u64, judgement: Judgement) -> Result<()> {
        let line = format!("{index} {}\n", judgement.name());
        (&self.file).write_all(line.as_bytes()).with_context(|| {
            format!("{}: cannot write it; make room, and the same command continues", self.path.display())
        })
    }

    /// Notes that these settings do not lead to a book. Fewer positions may still be asked for.
    pub(super) fn give_up(self) -> Result<()> {
        (&self.file).write_all(GIVEN_UP).with_context(|| format!("{}: cannot write it", self.path.display()))
    }

    /// Removes the file once the book is written.
    pub(super) fn remove(self) -> Result<()> {
        std::fs::remove_file(&self.path).with_context(|| format!("{}: cannot remove it", self.path.display()))
    }
}

/// Checks that the first line has these settings. The inner error names the differences.
fn same_settings(line: &[u8], settings: &JudgementSettings) -> Result<Result<(), String>> {
    let found = serde_json::from_slice::<PartialHeader>(line).ok().filter(|header| header.quintain_book == VERSION);
    let Some(PartialHeader { settings: found, .. }) = found else {
        bail!("not a file of this version's `book make`; move it away, or choose another --out");
    };
    if found == *settings {
        return Ok(Ok(()));
    }
    let (old, new) = (serde_json::to_value(&found)?, serde_json::to_value(settings)?);
    let differs = |(key, value): (&String, &Value)| {
        let now = &new[key];
        (value != now).then(|| format!("{key} {value} and not {now}"))
    };
    let differences: Vec<String> = old.as_object().into_iter().flatten().filter_map(differs).collect();
    Ok(Err(format!("started with {}; give the same settings, or delete it to start again", differences.join(", "))))
}

/// Judgements in complete lines from `at` on, and the end of the last one. Everything after a
/// malformed line, as left by a power cut, is judged again.
fn judgements(bytes: &[u8], at: usize) -> (KnownJudgements, usize) {
    let (mut known, mut sound) = (KnownJudgements::new(), at);
    for line in bytes[at..].split_inclusive(|byte| *byte == b'\n') {
        let Some((index, judgement)) = line.strip_suffix(b"\n").and_then(judgement) else { break };
        known.insert(index, judgement);
        sound += line.len();
    }
    (known, sound)
}

fn judgement(line: &[u8]) -> Option<(u64, Judgement)> {
    let (index, name) = std::str::from_utf8(line).ok()?.split_once(' ')?;
    Some((index.parse().ok()?, Judgement::from_name(name)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn settings() -> JudgementSettings {
        JudgementSettings {
            start: "standard".to_owned(),
            plies: 8,
            seed: 1,
            nodes: 1000,
            window: "0,60".to_owned(),
            engine_sha256: "0".repeat(64),
            engine_args: Vec::new(),
            options: vec!["Hash=16".to_owned()],
        }
    }

    fn open(out: &Path, settings: &JudgementSettings) -> Result<(PartialBook, KnownJudgements), String> {
        PartialBook::open(out, settings).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn judgements_are_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("book.epd");
        let (partial, known) = open(&out, &settings()).expect("made");
        assert!(known.is_empty());
        let error = open(&out, &settings()).expect_err("locked");
        assert!(error.contains("book.epd.partial: another `book make` is writing it"), "{error}");
        let all = [(3, Judgement::Kept), (0, Judgement::Skimmed), (17, Judgement::Refused)];
        for (index, judgement) in all {
            partial.append(index, judgement).expect("written");
        }
        let path = partial.path().to_owned();
        drop(partial);
        let whole = std::fs::read(&path).expect("there");
        assert!(whole.ends_with(b"}}\n3 kept\n0 skimmed\n17 refused\n"));
        // A file cut anywhere keeps its complete lines and continues from there.
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).expect("written");
            if (1..16).contains(&cut) {
                assert!(open(&out, &settings()).is_err(), "{cut}");
                continue;
            }
            let (partial, known) = open(&out, &settings()).expect("opened");
            let lines = whole[..cut].iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(known, all[..lines.saturating_sub(1)].iter().copied().collect(), "{cut}");
            partial.append(99, Judgement::Kept).expect("written");
            drop(partial);
            let (partial, known) = open(&out, &settings()).expect("opened");
            assert_eq!((known.len(), known.get(&99)), (lines.saturating_sub(1) + 1, Some(&Judgement::Kept)));
            partial.remove().expect("removed");
            assert!(!path.exists());
        }
    }

    #[test]
    fn other_settings_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("book.epd");
        // Without judgements, other settings replace those of the file.
        drop(open(&out, &JudgementSettings { seed: 7, ..settings() }).expect("made"));
        let (partial, _) = open(&out, &settings()).expect("made anew");
        partial.append(0, Judgement::Kept).expect("written");
        drop(partial);
        let cases = [
            (
                JudgementSettings { nodes: 2000, ..settings() },
                "started with nodes 1000 and not 2000; give the same settings",
            ),
            (
                JudgementSettings { seed: 2, plies: 6, ..settings() },
                "started with plies 8 and not 6, seed 1 and not 2;",
            ),
            (JudgementSettings { options: Vec::new(), ..settings() }, "started with options [\"Hash=16\"] and not [];"),
        ];
        for (other, part) in cases {
            let error = open(&out, &other).expect_err(part);
            assert!(error.contains(part) && error.contains("book.epd.partial: "), "{error}");
        }
        assert!(open(&out, &settings()).is_ok());
        // After a request that cannot be met, the same settings keep the judgements for a smaller
        // one, and other settings begin anew.
        for given_up in [true, false] {
            let (partial, known) = open(&out, &settings()).expect("opened");
            assert_eq!(known.len(), 1);
            if given_up {
                partial.give_up().expect("written");
            }
        }
        open(&out, &settings()).expect("opened").0.give_up().expect("written");
        let (_, known) = open(&out, &JudgementSettings { plies: 6, ..settings() }).expect("made anew");
        assert!(known.is_empty());
        for foreign in ["my notes\n", "my notes", "{}\n", "{\"quintain_book\":2,\"settings\":{}}\n"] {
            std::fs::write(folder.path().join("book.epd.partial"), foreign).expect("written");
            let error = open(&out, &settings()).expect_err(foreign);
            assert!(error.contains("move it away"), "{error}");
            assert_eq!(std::fs::read(folder.path().join("book.epd.partial")).expect("there"), foreign.as_bytes());
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_whole_lines_and_a_rest(bytes in proptest::collection::vec(any::<u8>(), 0..100), text in "([0-9]{1,3} (kept|refused|skimmed|k)\\n?){0,9}") {
            for bytes in [bytes, text.into_bytes()] {
                let (known, sound) = judgements(&bytes, 0);
                prop_assert!(sound == 0 || bytes[sound - 1] == b'\n');
                prop_assert_eq!(judgements(&bytes[..sound], 0), (known, sound));
            }
        }
    }
}
