//! Stamp of a run directory that this user's program wrote: an HMAC of its plan with the user's
//! secret.
//!
//! A directory from elsewhere has no stamp by this secret, and a changed plan does not match its
//! stamp. The secret is in `$QUINTAIN_STATE`, else in `$XDG_STATE_HOME/quintain`, else in
//! `~/.local/state/quintain`.

use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::files::{create_secret, read_text, write_atomically};
use crate::os;
use crate::run::error::{Result, ResultContext as _, RunError};
use crate::text::{hex, random_hex};

/// Name of the stamp in the run directory.
pub(crate) const FILE_NAME: &str = "stamp";

/// Maximum size of a stamp or of a secret in bytes.
const MOST_BYTES: u64 = 1 << 10;

/// Name of the secret in the state directory.
const SECRET: &str = "secret";

/// Prefix of the stamped text, so that a stamp is valid for one purpose only.
const PURPOSE: &[u8] = b"quintain run directory 1\n";

/// Hexadecimal digits of the shortest accepted secret.
const SHORTEST_SECRET: usize = 32;

/// Stamps the run directory `root` with the plan text `plan`.
///
/// # Errors
/// Returns an error if the secret or the stamp cannot be written.
pub(crate) fn write(root: &Path, plan: &str) -> Result<()> {
    let stamp = sign(PURPOSE, plan)?;
    let path = root.join(FILE_NAME);
    // Replaced, because the name may be a link.
    write_atomically(&path, (stamp + "\n").as_bytes()).within(|| format!("{}: cannot write it", path.display()))
}

/// True if this user's program stamped the run directory `root` with the plan text `plan`.
pub(crate) fn is_valid(root: &Path, plan: &str) -> bool {
    let stamp = read_text(&root.join(FILE_NAME), MOST_BYTES).unwrap_or_default();
    is_signed(PURPOSE, plan, stamp.trim_end())
}

/// Returns the user's signature of a text; `purpose` keeps it from being valid elsewhere.
///
/// # Errors
/// Returns an error if the secret cannot be read or made.
pub(crate) fn sign(purpose: &[u8], text: &str) -> Result<String> {
    Ok(hex(&mac(&secret(&state()?)?, purpose, text)?.finalize().into_bytes()))
}

/// True if this user signed the text for this purpose.
pub(crate) fn is_signed(purpose: &[u8], text: &str, signature: &str) -> bool {
    let Some(signature) = unhex(signature) else { return false };
    // Without a secret there is no valid signature.
    let secret = state().and_then(|state| read(&state.join(SECRET)));
    secret.and_then(|secret| mac(&secret, purpose, text)).is_ok_and(|mac| mac.verify_slice(&signature).is_ok())
}

fn mac(secret: &str, purpose: &[u8], text: &str) -> Result<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes())?;
    mac.update(purpose);
    mac.update(text.as_bytes());
    Ok(mac)
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2).map(|digits| std::str::from_utf8(digits).ok());
    digits.map(|digits| u8::from_str_radix(digits.filter(|digits| digits.len() == 2)?, 16).ok()).collect()
}

/// Returns the user's directory for persistent state.
fn state() -> Result<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let found = variable("QUINTAIN_STATE")
        .or_else(|| variable("XDG_STATE_HOME").map(|dir| dir.join("quintain")))
        .or_else(os::state_folder);
    found.ok_or(RunError::NoState)
}

/// Returns the secret in the directory `state`, and makes one if there is none.
fn secret(state: &Path) -> Result<String> {
    let path = state.join(SECRET);
    if !path.exists() {
        make(&path)?;
    }
    read(&path)
}

fn make(path: &Path) -> Result<()> {
    let unwritable = || format!("{}: cannot write it; set QUINTAIN_STATE to a folder of your own", path.display());
    match create_secret(path, &random_hex().map_err(RunError::Random)?) {
        // If two programs make one, the first prevails.
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error).within(unwritable),
        _ => Ok(()),
    }
}

fn read(path: &Path) -> Result<String> {
    let secret = read_text(path, MOST_BYTES).within(|| format!("{}: cannot read it", path.display()))?;
    if secret.len() < SHORTEST_SECRET {
        return Err(RunError::DamagedSecret { path: path.to_owned() });
    }
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_made_once_and_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("new/state");
        let made: Vec<String> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| secret(&state).unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(made.iter().all(|one| *one == made[0] && one.len() >= SHORTEST_SECRET), "{made:?}");
        let mode =
            |path: &Path| std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions()) & 0o777;
        assert_eq!((mode(&state), mode(&state.join(SECRET))), (0o700, 0o600));
        assert_eq!(std::fs::read_dir(&state).unwrap().count(), 1);
        std::fs::write(state.join(SECRET), "short").unwrap();
        assert!(secret(&state).unwrap_err().to_string().contains("it is damaged"));
    }

    #[test]
    fn a_mac_is_of_one_plan_and_one_secret() {
        let mac = |secret: &str, plan| mac(secret, PURPOSE, plan);
        let of = |secret: &str, plan| mac(secret, plan).unwrap().finalize().into_bytes();
        let (one, other) = ("1".repeat(32), "2".repeat(32));
        let stamp = of(&one, "plan");
        assert!(mac(&one, "plan").unwrap().verify_slice(&stamp).is_ok());
        assert!(mac(&one, "plan ").unwrap().verify_slice(&stamp).is_err());
        assert!(mac(&other, "plan").unwrap().verify_slice(&stamp).is_err());
        assert!(mac(&one, "plan").unwrap().verify_slice(&stamp[..31]).is_err());
        for (text, bytes) in
            [("", Some(vec![])), ("0aff", Some(vec![10, 255])), ("0af", None), ("0g", None), ("é", None)]
        {
            assert_eq!(unhex(text), bytes, "{text}");
        }
    }
}
