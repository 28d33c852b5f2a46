//! A run's directory: `plan.toml`, `games.jsonl`, `games.pgn`, `summary.json`, `stderr/`, `crashes/`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::journal::{self, Header, Journal};
use crate::plan::{Plan, file};

/// Where things lie in a run directory that exists.
#[derive(Clone, Debug)]
pub(super) struct RunDir {
    root: PathBuf,
}

impl RunDir {
    /// Makes the directory with its plan and an empty journal, all at once: under another name first, so that a run
    /// directory is never seen half made.
    pub(super) fn create(root: &Path, plan: &Plan) -> Result<(Self, Journal)> {
        let parent = match root.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        std::fs::create_dir_all(parent).with_context(|| {
            format!("{}: cannot create the folder for runs; choose another with --out", parent.display())
        })?;
        if root.exists() {
            bail!("{}: exists already; go on with `quintain resume {0}`, or choose another --out", root.display());
        }
        let scratch = tempfile::Builder::new()
            .prefix(".new-run-")
            .tempdir_in(parent)
            .with_context(|| format!("{}: cannot write there; choose another place with --out", parent.display()))?;
        let text = file::to_toml(plan);
        std::fs::write(scratch.path().join(file::FILE_NAME), &text).context("cannot write plan.toml")?;
        std::fs::create_dir(scratch.path().join("stderr")).context("cannot create stderr/")?;
        let header = Header { plan_sha256: sha256(text.as_bytes()), program: env!("CARGO_PKG_VERSION").to_owned() };
        let journal = Journal::create(&scratch.path().join(journal::FILE_NAME), &header)?;
        let scratch = scratch.keep();
        if let Err(error) = std::fs::rename(&scratch, root) {
            let _ = std::fs::remove_dir_all(&scratch);
            return Err(error).with_context(|| format!("{}: cannot create it; choose another --out", root.display()));
        }
        Ok((Self { root: root.to_owned() }, journal))
    }

    /// Opens the directory of an earlier run and reads its plan.
    pub(super) fn open(root: &Path) -> Result<(Self, Plan)> {
        let dir = Self { root: root.to_owned() };
        let path = dir.path(file::FILE_NAME);
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("{}: cannot read it; is {} a run directory?", path.display(), root.display()))?;
        let plan = file::from_toml(&text).with_context(|| format!("{}", path.display()))?;
        Ok((dir, plan))
    }

    /// Checks that the journal belongs to the plan that lies beside it.
    pub(super) fn check_plan(&self, header: &Header) -> Result<()> {
        let path = self.path(file::FILE_NAME);
        let bytes = std::fs::read(&path).with_context(|| format!("{}: cannot read it", path.display()))?;
        if sha256(&bytes) != header.plan_sha256 {
            bail!(
                "{}: changed since the run began, so its games would not be of one test; restore it, or start a new run",
                path.display()
            );
        }
        Ok(())
    }

    /// The directory itself.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// A file in it.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }
}

/// SHA-256 in hex.
pub(super) fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Replaces a file whole: readers see the old one or the new one, never half of it.
pub(super) fn write_atomically(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write as _;
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Readable as any other file: a temporary one is its owner's alone unless told otherwise.
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    let mut file = tempfile::Builder::new().permissions(permissions).tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_data()?;
    file.persist(path)?;
    Ok(())
}
