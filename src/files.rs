//! Opening of files named by a user or found on disk, without waiting for a FIFO's writer or for
//! the end of a device, and writing of whole files.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use crate::os;

/// Longest file that is read as a summary or as evidence of a crash.
pub const MOST_DOCUMENT_BYTES: u64 = 8 << 20;

/// Path of a file in a run's folder; `None` if it is missing, or reached by a link: that may lead
/// out of the folder.
pub(crate) fn inside(dir: &Path, name: impl AsRef<Path>) -> Option<PathBuf> {
    let path = dir.canonicalize().ok()?.join(name);
    (path.canonicalize().ok()? == path && path.is_file()).then_some(path)
}

/// Opens a regular file for reading, without waiting.
///
/// # Errors
/// Returns an error with the remedy for a folder, a FIFO, a device or a socket, and the
/// system's error for any other failure.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open_regular_with(OpenOptions::new().read(true), path)
}

/// [`open_regular`] with other options.
///
/// # Errors
/// As [`open_regular`].
pub fn open_regular_with(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    // Opening alone may act on a device, so the name is looked at first.
    if let Ok(about) = std::fs::metadata(path) {
        check(&about)?;
    }
    let file = os::without_waiting(options).open(path)?;
    // The name may have been given to another file meanwhile.
    check(&file.metadata()?)?;
    Ok(file)
}

/// Opens input that is read once: a regular file, or a pipe that this process was given
/// (`/dev/stdin`, and the `/dev/fd/N` of a shell's process substitution). Such a pipe has its
/// writer already.
///
/// # Errors
/// As [`open_regular`].
pub fn open_input(path: &Path) -> io::Result<File> {
    if is_own_descriptor(path) { File::open(path) } else { open_regular(path) }
}

/// The bytes of a regular file of at most `most` bytes.
///
/// # Errors
/// As [`open_regular`]; also for a longer file.
pub fn read_bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    bytes_of(open_regular(path)?, most)
}

/// Text of at most `most` bytes that is read once, as of [`open_input`].
///
/// # Errors
/// As [`read_text`].
pub fn read_input(path: &Path, most: u64) -> io::Result<String> {
    text_within(open_input(path)?, most)
}

/// Text of at most `most` bytes.
///
/// # Errors
/// Those of `source`; also an error for a longer text and for bytes that are not UTF-8.
pub(crate) fn text_within(source: impl Read, most: u64) -> io::Result<String> {
    text_of(bytes_of(source, most)?)
}

fn bytes_of(source: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = source.take(most + 1).read_to_end(&mut bytes)? as u64;
    if length > most {
        return Err(invalid(format!("it is longer than {most} bytes, the limit for such a file")));
    }
    Ok(bytes)
}

/// [`read_bytes`] as text.
///
/// # Errors
/// As [`read_bytes`]; also for bytes that are not UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    text_of(read_bytes(path, most)?)
}

fn text_of(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

fn is_own_descriptor(path: &Path) -> bool {
    path == Path::new("/dev/stdin") || path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd")
}

fn check(about: &Metadata) -> io::Result<()> {
    if about.is_file() {
        return Ok(());
    }
    let kind = os::kind(about.file_type());
    Err(invalid(format!("it is {kind}, not a regular file; write its contents to a file, and use that one")))
}

fn invalid(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// Folder of the user's settings and keys: `$XDG_CONFIG_HOME/quintain`, else `~/.config/quintain`
/// (on Windows `%APPDATA%\\quintain`); `None` if there is no home directory.
#[must_use]
pub fn config_folder() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_CONFIG_HOME").filter(|value| !value.is_empty());
    named.map(|base| PathBuf::from(base).join("quintain")).or_else(os::config_folder)
}

/// Creates a file that only its owner can read, and its folder. It must not exist.
///
/// # Errors
/// Returns the system's error, also if the file exists.
pub fn create_secret(path: &Path, text: &str) -> io::Result<()> {
    secret_beside(path, text)?.persist_noclobber(path)?;
    os::sync_folder(folder_of(path))
}

/// Writes a file that only its owner can read, whole, and its folder if necessary.
///
/// # Errors
/// Returns the system's error.
pub fn write_secret(path: &Path, text: &str) -> io::Result<()> {
    os::persist(secret_beside(path, text)?, path)?;
    os::sync_folder(folder_of(path))
}

/// Folder of the file `path`.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A synchronized temporary file in the folder of `path`. Such files are their owner's alone.
fn secret_beside(path: &Path, text: &str) -> io::Result<tempfile::NamedTempFile> {
    let folder = folder_of(path);
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    os::for_owner_alone(&mut builder).create(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Text of a file of secrets.
///
/// # Errors
/// As [`read_text`]; also if other users can read the file.
pub fn read_secret(path: &Path, most: u64) -> io::Result<String> {
    if let Some(command) = os::remedy_for_readers(path, &std::fs::metadata(path)?) {
        let remedy = format!("other users can read it; `{command}`, and use a new one if they did");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, remedy));
    }
    read_text(path, most)
}

/// Replaces a file whole: readers see the old one or the new one, never half of it. A power cut
/// after this returns keeps the new one.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = folder_of(path);
    let mut builder = tempfile::Builder::new();
    os::for_all(&mut builder, false);
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_data()?;
    os::persist(file, path)?;
    os::sync_folder(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_their_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/key");
        create_secret(&path, "text").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(read_secret(&path, 9).unwrap(), "text");
        assert!(create_secret(&path, "other").is_err());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let error = read_secret(&path, 9).unwrap_err().to_string();
        assert!(error.contains("chmod 600"), "{error}");
    }

    #[test]
    fn only_regular_files_are_opened_and_nothing_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("file"), "text").unwrap();
        std::os::unix::fs::symlink(path("file"), path("link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", path("zero")).unwrap();
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, path("fifo"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        for name in ["file", "link"] {
            assert_eq!(read_text(&path(name), 4).unwrap(), "text");
            assert!(read_text(&path(name), 3).unwrap_err().to_string().contains("longer than 3 bytes"));
            assert!(open_input(&path(name)).is_ok());
        }
        for (name, kind) in [("fifo", "a FIFO"), ("zero", "a device"), ("socket", "a socket"), (".", "a folder")] {
            let mut append = OpenOptions::new();
            for opened in [
                open_regular(&path(name)),
                open_input(&path(name)),
                open_regular_with(append.append(true), &path(name)),
            ] {
                let said = opened.unwrap_err().to_string();
                assert!(said.starts_with(&format!("it is {kind}, not a regular file; ")), "{said}");
            }
        }
        assert_eq!(open_regular(&path("gone")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    /// A shell opens such a pipe for `<(...)`.
    #[test]
    fn a_pipe_that_is_open_already_is_read() {
        use std::io::Write as _;
        use std::os::fd::AsRawFd as _;
        let (from, mut to) = io::pipe().unwrap();
        to.write_all(b"text").unwrap();
        drop(to);
        let path = format!("/dev/fd/{}", from.as_raw_fd());
        let mut text = String::new();
        open_input(Path::new(&path)).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
        assert!(open_regular(Path::new(&path)).unwrap_err().to_string().contains("a FIFO"));
    }
}
