//! Signatures of plans: an author signs what workers shall play, and a worker plays only what one
//! of the authors that its owner trusts has signed.
//!
//! Keys are Ed25519. A public key is `quintain-key:` and 64 hexadecimal digits. The secret key is
//! one line of the same form in `~/.config/quintain/key`, which is made when it is first needed.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use serde::{Deserialize, Serialize};

use crate::files::{config_folder, create_secret, read_secret};
use crate::text::hex;

/// Start of a public key's text.
const PUBLIC: &str = "quintain-key:";

/// Start of a secret key's text.
const SECRET: &str = "quintain-secret-key:";

/// Name of the file with the author's secret key, in the folder of the user's settings.
const FILE: &str = "key";

/// Maximum size of that file in bytes.
const MOST_FILE: u64 = 1 << 10;

/// Reason that there is no key to sign with.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// No variable names a folder for it.
    #[error("there is no folder for the key that signs plans: set HOME")]
    NoHome,
    /// The file cannot be read or made.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file holds something else.
    #[error("{}: this is not a key that signs plans; restore it, or remove the file to get a new key, which workers then have to trust", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// The system has no random numbers.
    #[error("the system has no random numbers for a key that signs plans")]
    NoRandom,
}

/// Public key of an author.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PublicKey([u8; 32]);

/// Text that is not a public key.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an author's key: give {PUBLIC} and 64 hexadecimal digits, as `quintain workers --key` prints it")]
pub struct BadKey(String);

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PUBLIC}{}", hex(&self.0))
    }
}

impl FromStr for PublicKey {
    type Err = BadKey;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.strip_prefix(PUBLIC).and_then(bytes).map(Self).ok_or_else(|| BadKey(text.to_owned()))
    }
}

/// Secret key of an author.
#[derive(Debug)]
pub(crate) struct AuthorKey(Ed25519KeyPair);

impl AuthorKey {
    /// Key of this user. It is made on first use.
    ///
    /// # Errors
    /// Returns an error if there is none and none can be made, or if other users can read it.
    pub(crate) fn of_user() -> Result<Self, KeyError> {
        Self::load(&config_folder().ok_or(KeyError::NoHome)?.join(FILE))
    }

    /// Key in the file `path`, which is made if it is missing.
    pub(crate) fn load(path: &Path) -> Result<Self, KeyError> {
        let io = |source| KeyError::Io { path: path.to_owned(), source };
        match read_secret(path, MOST_FILE) {
            Ok(text) => Self::parse(&text).ok_or_else(|| KeyError::Damaged { path: path.to_owned() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let mut seed = [0; 32];
                SystemRandom::new().fill(&mut seed).map_err(|_| KeyError::NoRandom)?;
                match create_secret(path, &format!("{SECRET}{}\n", hex(&seed))) {
                    // Another process made it meanwhile.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Self::load(path),
                    Err(error) => Err(io(error)),
                    Ok(()) => Self::from_seed(&seed).ok_or(KeyError::NoRandom),
                }
            }
            Err(error) => Err(io(error)),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Self::from_seed(&bytes::<32>(text.trim_end().strip_prefix(SECRET)?)?)
    }

    fn from_seed(seed: &[u8; 32]) -> Option<Self> {
        Ed25519KeyPair::from_seed_unchecked(seed).ok().map(Self)
    }

    /// Public key, by which a worker's owner trusts this author.
    pub(crate) fn public(&self) -> PublicKey {
        let mut key = [0; 32];
        key.copy_from_slice(self.0.public_key().as_ref());
        PublicKey(key)
    }

    /// Signs the plan of a run.
    pub(crate) fn sign(&self, run: &str, plan: String) -> SignedPlan {
        let signature = hex(self.0.sign(&signed_bytes(run, &plan)).as_ref());
        SignedPlan { plan, signer: self.public().to_string(), signature }
    }
}

/// Text of a plan with its author's signature.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SignedPlan {
    plan: String,
    signer: String,
    signature: String,
}

/// Reason that a plan is not played.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TrustError {
    /// The owner trusts nobody.
    #[error(
        "the plan is signed by {signer}, and worker.toml trusts no key: if you know its author, add trust = [\"{signer}\"]"
    )]
    Nobody {
        /// Key of the signature.
        signer: String,
    },
    /// The owner trusts others.
    #[error(
        "the plan is signed by {signer}, which worker.toml does not trust: if you know its author, add the key to `trust`"
    )]
    Stranger {
        /// Key of the signature.
        signer: String,
    },
    /// The signature is of another plan, another run or another key.
    #[error("the signature of the plan is wrong; it was changed on the way, or its run has another name")]
    Forged,
}

impl SignedPlan {
    /// Text of the plan, whoever signed it.
    pub(super) fn text(&self) -> &str {
        &self.plan
    }

    /// Author and text of the plan of `run`, if the author is trusted.
    ///
    /// # Errors
    /// Returns an error if the signature is of something else, or the author is not trusted.
    pub(crate) fn verify(self, run: &str, trusted: &[PublicKey]) -> Result<(PublicKey, String), TrustError> {
        let signer: PublicKey = self.signer.parse().map_err(|_| TrustError::Forged)?;
        let signature: [u8; 64] = bytes(&self.signature).ok_or(TrustError::Forged)?;
        let key = UnparsedPublicKey::new(&ED25519, signer.0);
        key.verify(&signed_bytes(run, &self.plan), &signature).map_err(|_| TrustError::Forged)?;
        match trusted {
            [] => Err(TrustError::Nobody { signer: self.signer }),
            _ if !trusted.contains(&signer) => Err(TrustError::Stranger { signer: self.signer }),
            _ => Ok((signer, self.plan)),
        }
    }
}

/// Signed bytes. They name their purpose and the run, so that a signature is good for nothing else.
fn signed_bytes(run: &str, plan: &str) -> Vec<u8> {
    format!("quintain plan 1\n{run}\n{plan}").into_bytes()
}

/// Bytes of exactly this number of pairs of hexadecimal digits.
fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != 2 * N || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; N];
    for (place, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * place..2 * place + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(seed: u8) -> AuthorKey {
        AuthorKey::from_seed(&[seed; 32]).unwrap()
    }

    #[test]
    fn only_plans_of_trusted_authors_pass() {
        let (author, other) = (key(1), key(2));
        let signed = author.sign("run-1", "plan".to_owned());
        let trusted = [other.public(), author.public()];
        assert_eq!(signed.clone().verify("run-1", &trusted).unwrap(), (author.public(), "plan".to_owned()));
        let signer = author.public().to_string();
        let with = |change: fn(&mut SignedPlan)| {
            let mut changed = signed.clone();
            change(&mut changed);
            changed
        };
        for (plan, run, trusted, expected) in [
            (signed.clone(), "run-1", &[][..], TrustError::Nobody { signer: signer.clone() }),
            (signed.clone(), "run-1", &trusted[..1], TrustError::Stranger { signer }),
            (signed.clone(), "run-2", &trusted, TrustError::Forged),
            (with(|plan| plan.plan.push(' ')), "run-1", &trusted, TrustError::Forged),
            (with(|plan| plan.signer = key(2).public().to_string()), "run-1", &trusted, TrustError::Forged),
            (with(|plan| plan.signer.clear()), "run-1", &trusted, TrustError::Forged),
            (with(|plan| plan.signature.clear()), "run-1", &trusted, TrustError::Forged),
            (with(|plan| plan.signature = "é".repeat(64)), "run-1", &trusted, TrustError::Forged),
        ] {
            assert_eq!(plan.verify(run, trusted).unwrap_err(), expected);
        }
    }

    #[test]
    fn public_keys_are_text() {
        let key = key(7).public();
        assert_eq!(key.to_string().parse::<PublicKey>(), Ok(key));
        for wrong in ["", "quintain-key:", "quintain-key:12", &key.to_string()[1..], &format!("{key}0")] {
            assert!(wrong.parse::<PublicKey>().unwrap_err().to_string().contains("64 hexadecimal digits"), "{wrong}");
        }
    }

    /// Test vector 1 of RFC 8032, section 7.1: the public key of a seed.
    #[test]
    fn a_secret_key_is_the_seed_of_the_standard() {
        let secret = format!("{SECRET}9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60\n");
        let expected = "quintain-key:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
        assert_eq!(AuthorKey::parse(&secret).unwrap().public().to_string(), expected);
    }

    #[test]
    fn the_key_of_a_user_is_made_once_and_not_replaced() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quintain/key");
        let first = AuthorKey::load(&path).unwrap().public();
        assert_eq!(AuthorKey::load(&path).unwrap().public(), first);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(&path, "something\n").unwrap();
        let error = AuthorKey::load(&path).unwrap_err().to_string();
        assert!(error.contains("restore it"), "{error}");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let error = AuthorKey::load(&path).unwrap_err().to_string();
        assert!(error.contains("chmod 600"), "{error}");
    }
}
