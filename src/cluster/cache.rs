//! Programs and networks on a worker's disk, named by their SHA-256, within the owner's quota.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::terms::is_sha256;
use crate::os;
use crate::text::{self, file_sha256};

/// Time after which a file that was not finished is removed.
const UNFINISHED: Duration = Duration::from_hours(1);

/// Reason that a file is not kept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CacheError {
    /// The system refused something.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The content does not match the SHA-256.
    #[error("the file {0} on the hub has other contents")]
    Damaged(String),
    /// The file exceeds the quota.
    #[error("{mib} MiB of programs and networks do not fit into the {quota_mib} MiB of disk_mib in worker.toml")]
    Full {
        /// MiB that are needed at once.
        mib: u64,
        /// MiB that the owner grants.
        quota_mib: u64,
    },
}

/// Folder of files by their SHA-256.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    quota: u64,
}

impl Cache {
    /// Opens the folder, which is made if it is missing.
    ///
    /// # Errors
    /// Returns an error if it cannot be made.
    pub(crate) fn open(folder: &Path, quota_mib: u64) -> Result<Self, CacheError> {
        let io = |source| CacheError::Io { path: folder.to_owned(), source };
        fs::create_dir_all(folder).map_err(io)?;
        // Left over from a process that ended meanwhile. One that runs takes less long.
        let is_old = |used: SystemTime| used.elapsed().is_ok_and(|age| age > UNFINISHED);
        for (path, _, used) in Self::entries(folder).map_err(io)? {
            let is_ours = path.file_name().and_then(|name| name.to_str()).is_some_and(is_sha256);
            if !is_ours && is_old(used) {
                let _ = fs::remove_file(path);
            }
        }
        Ok(Self { folder: folder.to_owned(), quota: quota_mib << 20 })
    }

    /// Path of a file, which may be missing.
    pub(crate) fn path(&self, sha256: &str) -> PathBuf {
        self.folder.join(sha256)
    }

    /// True if a file exists unchanged. It then counts as used now.
    pub(crate) fn has(&self, sha256: &str) -> bool {
        let path = self.path(sha256);
        let is_whole = file_sha256(&path).is_ok_and(|found| found == sha256);
        if is_whole {
            let _ = File::open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        }
        is_whole
    }

    /// Keeps a file. Those that were used longest ago make room, but for the ones `in_use`.
    ///
    /// # Errors
    /// Returns an error for another content, a full quota or disk.
    pub(crate) fn put(
        &self,
        sha256: &str,
        bytes: &[u8],
        is_program: bool,
        in_use: &BTreeSet<String>,
    ) -> Result<PathBuf, CacheError> {
        let path = self.path(sha256);
        let io = |source| CacheError::Io { path: path.clone(), source };
        if !is_sha256(sha256) || text::sha256(bytes) != sha256 {
            return Err(CacheError::Damaged(sha256.to_owned()));
        }
        self.make_room(bytes.len() as u64, in_use)?;
        let mut builder = tempfile::Builder::new();
        os::for_all(builder.prefix("new-"), is_program);
        let mut file = builder.tempfile_in(&self.folder).map_err(io)?;
        io::Write::write_all(&mut file, bytes).map_err(io)?;
        os::give_to_all(file.as_file(), is_program).map_err(io)?;
        os::persist(file, &path).map_err(io)?;
        Ok(path)
    }

    /// Makes room for a file of this size, which need not be fetched without. Those that were used
    /// longest ago are removed, but for the ones `in_use`.
    ///
    /// # Errors
    /// Returns an error for a full quota or disk.
    pub(crate) fn make_room(&self, bytes: u64, in_use: &BTreeSet<String>) -> Result<(), CacheError> {
        let io = |source| CacheError::Io { path: self.folder.clone(), source };
        let mut entries = Self::entries(&self.folder).map_err(io)?;
        let mut total = entries.iter().fold(bytes, |total, (_, size, _)| total.saturating_add(*size));
        entries.retain(|(path, ..)| !path.file_name().is_some_and(|name| in_use.contains(&*name.to_string_lossy())));
        let removable = entries.iter().fold(0, |sum: u64, (_, size, _)| sum.saturating_add(*size));
        let lacks_space =
            |freed: u64| os::free_bytes(&self.folder).is_some_and(|free| free.saturating_add(freed) < bytes);
        let check = |total: u64, freed: u64| match total.saturating_sub(freed) {
            kept if kept > self.quota => {
                Err(CacheError::Full { mib: kept.div_ceil(1 << 20), quota_mib: self.quota >> 20 })
            }
            _ if lacks_space(freed) => Err(io(io::ErrorKind::StorageFull.into())),
            _ => Ok(()),
        };
        // Nothing is removed in vain.
        check(total, removable)?;
        entries.sort_by_key(|(_, _, used)| *used);
        for (path, size, _) in entries {
            if total <= self.quota && !lacks_space(0) {
                break;
            }
            if fs::remove_file(&path).is_ok() {
                total = total.saturating_sub(size);
            }
        }
        check(total, 0)
    }

    /// Files with their sizes and the times of their last use.
    fn entries(folder: &Path) -> io::Result<Vec<(PathBuf, u64, SystemTime)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            // Another process of this worker may have removed it.
            let Ok(about) = entry.metadata() else { continue };
            if about.is_file() {
                found.push((entry.path(), about.len(), about.modified().unwrap_or(SystemTime::UNIX_EPOCH)));
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::os::unix::fs::PermissionsExt as _;

    fn name(bytes: &[u8]) -> String {
        text::sha256(bytes)
    }

    #[test]
    fn files_are_what_their_names_say() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path(), 1).unwrap();
        let none = BTreeSet::new();
        let program = name(b"program");
        assert!(!cache.has(&program));
        let path = cache.put(&program, b"program", true, &none).unwrap();
        assert!(cache.has(&program));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o755);
        fs::write(&path, "changed").unwrap();
        assert!(!cache.has(&program), "a changed file is fetched again");
        for (name, bytes) in [(program.as_str(), &b"other"[..]), ("../../etc/x", b"program")] {
            assert!(cache.put(name, bytes, true, &none).unwrap_err().to_string().contains("other contents"));
        }
        for (name, hours) in [("new-123", 2), ("new-124", 0)] {
            fs::write(folder.path().join(name), "half").unwrap();
            let began = SystemTime::now() - Duration::from_hours(hours);
            File::options().write(true).open(folder.path().join(name)).unwrap().set_modified(began).unwrap();
        }
        Cache::open(folder.path(), 1).unwrap();
        assert_eq!(["new-123", "new-124"].map(|name| folder.path().join(name).exists()), [false, true]);
    }

    /// The quota holds 1 MiB, each file has 400 kB.
    #[test]
    fn the_file_used_longest_ago_makes_room() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path(), 1).unwrap();
        let files: Vec<_> = (0..4_u8).map(|byte| vec![byte; 400_000]).collect();
        let names: Vec<_> = files.iter().map(|bytes| name(bytes)).collect();
        let none = BTreeSet::new();
        for place in 0..2 {
            cache.put(&names[place], &files[place], false, &none).unwrap();
            let used = SystemTime::now() - Duration::from_secs(100 - place as u64);
            File::options().write(true).open(cache.path(&names[place])).unwrap().set_modified(used).unwrap();
        }
        assert!(cache.has(&names[0]), "so that the second one was used longest ago");
        cache.put(&names[2], &files[2], false, &none).unwrap();
        assert_eq!([0, 1, 2].map(|place| cache.path(&names[place]).exists()), [true, false, true]);
        let in_use: BTreeSet<_> = [names[0].clone(), names[2].clone()].into();
        let full = cache.put(&names[3], &files[3], false, &in_use).unwrap_err().to_string();
        assert!(full.contains("2 MiB") && full.contains("disk_mib"), "{full}");
        assert_eq!([0, 2, 3].map(|place| cache.path(&names[place]).exists()), [true, true, false]);
    }

    #[test]
    fn a_file_larger_than_the_disk_finds_no_room() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path(), u64::MAX >> 20).unwrap();
        cache.make_room(0, &BTreeSet::new()).unwrap();
        if os::free_bytes(folder.path()).is_some() {
            let full = cache.make_room(1 << 62, &BTreeSet::new());
            assert!(matches!(full, Err(CacheError::Io { source, .. }) if source.kind() == io::ErrorKind::StorageFull));
        }
    }
}
