//! Where a run's socket lies: in its directory, or, where that path is too long for a socket's address or its file
//! system has no sockets, in the user's runtime directory (else the one for temporary files), with the path noted in the run directory.

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tokio::net::UnixListener;

/// The socket's name in the run directory.
const SOCKET: &str = "control.sock";

/// In the run directory: the path of a socket that lies elsewhere.
const NOTE: &str = "control.path";

/// Bytes of the longest path that every system takes: 104 with the ending NUL on some, 108 on Linux.
const LONGEST: usize = 103;

/// The files of an open socket, removed when dropped.
#[derive(Debug)]
pub(super) struct Place {
    socket: PathBuf,
    note: Option<PathBuf>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.socket);
        if let Some(note) = &self.note {
            let _ = std::fs::remove_file(note);
        }
    }
}

/// Opens the socket of the run in `dir`, which its user alone may reach. The caller holds the run's journal, so a
/// socket that is there already was left by a process that was killed, and gives way.
pub(super) fn bind(dir: &Path) -> std::io::Result<(UnixListener, Place)> {
    let dir = dir.canonicalize()?;
    let note = dir.join(NOTE);
    let _ = std::fs::remove_file(&note);
    if let Ok(listener) = bind_at(&dir.join(SOCKET)) {
        return Ok((listener, Place { socket: dir.join(SOCKET), note: None }));
    }
    let socket = elsewhere(&dir, std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from));
    let listener = bind_at(&socket)?;
    let place = Place { socket, note: Some(note.clone()) };
    std::fs::write(&note, place.socket.as_os_str().as_bytes())?;
    Ok((listener, place))
}

fn bind_at(path: &Path) -> std::io::Result<UnixListener> {
    if path.as_os_str().len() > LONGEST {
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidFilename, "the path is too long for a socket"));
    }
    if std::fs::symlink_metadata(path).is_ok_and(|about| about.file_type().is_socket()) {
        std::fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    // Until this holds, the server's look at who connects keeps others out.
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// A path that is short and, for one run directory, always the same.
fn elsewhere(dir: &Path, runtime_dir: Option<PathBuf>) -> PathBuf {
    let base = runtime_dir.filter(|path| path.is_absolute() && path.is_dir()).unwrap_or_else(std::env::temp_dir);
    let hash = Sha256::digest(dir.as_os_str().as_bytes());
    let name: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    base.join(format!("quintain-{name}.sock"))
}

/// The socket of the run in `dir`, if there is one.
pub(super) fn find(dir: &Path) -> std::io::Result<PathBuf> {
    let dir = dir.canonicalize()?;
    match std::fs::read(dir.join(NOTE)) {
        Ok(path) => Ok(PathBuf::from(std::ffi::OsStr::from_bytes(&path))),
        Err(_) => Ok(dir.join(SOCKET)),
    }
}
