//! Path of a run's socket: in its directory, or in the user's runtime directory (else the one for
//! temporary files) with the path noted in the run directory. The second applies if the first path
//! is too long for a socket's address, or if its file system has no sockets.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::files::open_regular;
use crate::os::{self, LONGEST_SOCKET_PATH, LocalListener};
use crate::report::stored::{SOCKET, SOCKET_NOTE as NOTE};
use crate::text::hex;

/// The files of an open socket, removed when dropped.
#[derive(Debug)]
pub(super) struct SocketFiles {
    socket: PathBuf,
    note: Option<PathBuf>,
}

impl Drop for SocketFiles {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.socket);
        if let Some(note) = &self.note {
            let _ = std::fs::remove_file(note);
        }
    }
}

/// Opens the socket of the run in `dir`, which its user alone may connect to. The caller holds the
/// run's journal, so a socket that exists already was left by a killed process and is replaced.
pub(super) fn bind(dir: &Path) -> std::io::Result<(LocalListener, SocketFiles)> {
    let dir = dir.canonicalize()?;
    let note = dir.join(NOTE);
    let _ = std::fs::remove_file(&note);
    if let Ok(listener) = LocalListener::bind(&dir.join(SOCKET)) {
        return Ok((listener, SocketFiles { socket: dir.join(SOCKET), note: None }));
    }
    let socket = elsewhere(&dir, std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from));
    let listener = LocalListener::bind(&socket)?;
    let place = SocketFiles { socket, note: Some(note.clone()) };
    std::fs::write(&note, place.socket.as_os_str().as_encoded_bytes())?;
    Ok((listener, place))
}

/// A path that is short and always the same for one run directory.
fn elsewhere(dir: &Path, runtime_dir: Option<PathBuf>) -> PathBuf {
    let base = runtime_dir.filter(|path| path.is_absolute() && path.is_dir()).unwrap_or_else(std::env::temp_dir);
    base.join(name_elsewhere(dir))
}

/// Name of the socket outside the run directory `dir`, unique to that directory.
fn name_elsewhere(dir: &Path) -> String {
    let hash = Sha256::digest(dir.as_os_str().as_encoded_bytes());
    format!("quintain-{}.sock", hex(&hash[..8]))
}

/// The socket of the run in `dir`, if there is one.
///
/// The directory may belong to another user. A note is followed only to the place where [`bind`]
/// puts the socket of this very directory, and a socket is accepted only if this user made it.
pub(super) fn find(dir: &Path) -> std::io::Result<PathBuf> {
    let dir = dir.canonicalize()?;
    let socket = match open_regular(&dir.join(NOTE)) {
        Ok(note) => noted(note, &dir)?,
        Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => {
            return Err(foreign("control.path is not a file"));
        }
        Err(_) => dir.join(SOCKET),
    };
    if !os::is_own_socket(&socket)? {
        return Err(foreign(&format!("{socket:?} is not a socket of yours")));
    }
    Ok(socket)
}

/// The path in a note, if it is one for the run in `dir`.
fn noted(note: std::fs::File, dir: &Path) -> std::io::Result<PathBuf> {
    let mut path = Vec::new();
    note.take(LONGEST_SOCKET_PATH as u64 + 1).read_to_end(&mut path)?;
    let path = os::path_of_bytes(path);
    let is_ours = path.is_absolute() && path.file_name().is_some_and(|name| *name == *name_elsewhere(dir));
    if is_ours { Ok(path) } else { Err(foreign("control.path leads elsewhere than to the socket of this run")) }
}

fn foreign(why: &str) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::PermissionDenied, format!("{why}; it is not asked, see docs/trust.md"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_note_leads_to_no_other_socket() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let [run, other] = ["run", "other"].map(|name| folder.join(name));
        [&run, &other].into_iter().for_each(|dir| std::fs::create_dir(dir).unwrap());
        let own = folder.join(name_elsewhere(&run));
        let _open = [&own, &folder.join("agent.sock"), &folder.join(name_elsewhere(&other)), &other.join(SOCKET)]
            .map(|path| UnixListener::bind(path).unwrap());
        std::fs::create_dir(folder.join("sub")).unwrap();
        std::os::unix::fs::symlink(&own, folder.join("sub").join(name_elsewhere(&run))).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.join("link")).unwrap();
        let mut cases = vec![(own.clone(), true)];
        for path in ["agent.sock", &name_elsewhere(&other), "other/control.sock", "link", ""] {
            cases.push((folder.join(path), false));
        }
        // A link with the right name, a relative path, an endless one.
        cases.push((folder.join("sub").join(name_elsewhere(&run)), false));
        cases.push((PathBuf::from(name_elsewhere(&run)), false));
        cases.push((PathBuf::from(format!("/{}{}", "./".repeat(1_000_000), name_elsewhere(&run))), false));
        for (path, expected) in cases {
            std::fs::write(run.join(NOTE), path.as_os_str().as_encoded_bytes()).unwrap();
            let found = find(&run);
            assert_eq!(found.is_ok(), expected, "{}: {found:?}", path.display().to_string().len());
        }
        // A note that is a device is not read, and a link posing as the socket is not followed.
        std::fs::remove_file(run.join(NOTE)).unwrap();
        std::os::unix::fs::symlink("/dev/zero", run.join(NOTE)).unwrap();
        assert!(find(&run).is_err());
        std::fs::remove_file(run.join(NOTE)).unwrap();
        std::os::unix::fs::symlink(&own, run.join(SOCKET)).unwrap();
        assert!(find(&run).is_err());
        assert!(find(&other).is_ok());
    }
}
