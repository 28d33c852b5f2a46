//! Access of one user to one hub: address, name, role, password, and the hub's certificate.
//!
//! The certificate is known by its SHA-256 alone. No authority and no host name counts, so a hub
//! may change its address, and nobody else can stand in for it. The password is sent over TLS only,
//! or within one machine.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_nats::ServerAddr;
use async_nats::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use async_nats::rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use async_nats::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use async_nats::rustls::{ClientConfig, DigitallySignedStruct, Error as TlsError, SignatureScheme};
use serde::{Deserialize, Serialize};

use crate::files::{self, MOST_DOCUMENT_BYTES, read_secret};
use crate::text::{TomlError, from_toml, is_user_name, sha256};

/// Longest name of a user.
const LONGEST_NAME: usize = 32;

/// Rights of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Role {
    /// Plays pairs.
    Worker,
    /// Coordinates runs.
    Coordinator,
    /// All rights: the hub itself, and the server of one run.
    Owner,
}

impl Role {
    /// The role in the names of files and in texts.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Coordinator => "coordinator",
            Self::Owner => "owner",
        }
    }

    /// True if a user of this role may act as `other`.
    const fn allows(self, other: Self) -> bool {
        matches!(
            (self, other),
            (Self::Owner, _) | (Self::Worker, Self::Worker) | (Self::Coordinator, Self::Coordinator)
        )
    }
}

/// Reason that a hub cannot be reached with the credentials at hand.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// The address is not that of a hub.
    #[error("`{0}` is not a hub's address; give nats://127.0.0.1:PORT, or tls://HOST:PORT for another machine")]
    Url(String),
    /// The password would be sent unencrypted.
    #[error("`{0}` is on another machine, which needs TLS; give tls://HOST:PORT, as `quintain hub invite` prints it")]
    Plain(String),
    /// The name of a user does not fit.
    #[error("`{0}` cannot be a user name; give 1 to {LONGEST_NAME} of the characters a-z, 0-9 and -")]
    Name(String),
    /// No credentials are known for this hub.
    #[error(
        "no credentials for {url} ({path} does not exist); its owner makes them with `quintain hub invite NAME{flag}`, and `quintain hub join` keeps them"
    )]
    Missing {
        /// Address of the hub.
        url: String,
        /// Expected file.
        path: PathBuf,
        /// Flag of the invitation for the wanted role.
        flag: &'static str,
    },
    /// A credentials file or its folder cannot be used.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is not a credentials file.
    #[error(transparent)]
    Toml(#[from] TomlError),
    /// The file is of another hub.
    #[error("{path}: it is for the hub {found}, not for {url}; give that address, or the credentials of this hub")]
    OtherHub {
        /// The file.
        path: PathBuf,
        /// Address in the file.
        found: String,
        /// Wanted address.
        url: String,
    },
    /// The user may not do that.
    #[error(
        "user {user} is a {found} of {url}, and this needs a {wanted}: its owner makes one with `quintain hub invite NAME{flag}`"
    )]
    Role {
        /// Name of the user.
        user: String,
        /// Role in the credentials.
        found: &'static str,
        /// Address of the hub.
        url: String,
        /// Wanted role.
        wanted: &'static str,
        /// Flag of the invitation for the wanted role.
        flag: &'static str,
    },
    /// The text is not an invitation.
    #[error("this is not an invitation ({0}); paste the whole line that `quintain hub invite` printed")]
    Invitation(&'static str),
    /// A credentials file was changed or damaged.
    #[error("{path}: {why}; ask the hub's owner for a new invitation, and `quintain hub join` replaces the file")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The fault.
        why: String,
    },
    /// There is no folder for credentials.
    #[error("there is no home directory for credentials; set HOME or XDG_CONFIG_HOME, or give --credentials FILE")]
    NoHome,
}

/// Access of one user to one hub.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Access {
    /// `nats://HOST:PORT` on this machine, `tls://HOST:PORT` anywhere.
    pub(crate) url: String,
    /// Name of the user.
    pub(crate) user: String,
    /// Rights of the user.
    pub(crate) role: Role,
    /// Password; never in an argument list, a message or a log.
    pub(crate) password: String,
    /// SHA-256 of the hub's certificate in hexadecimal digits; none without TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) certificate: Option<String>,
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, user, role, certificate, password: _ } = self;
        let mut shown = f.debug_struct("Access");
        shown.field("url", url).field("user", user).field("role", role).field("certificate", certificate);
        shown.finish_non_exhaustive()
    }
}

impl Access {
    /// Credentials for a hub: those in `file`, else those that `quintain hub join` kept.
    ///
    /// # Errors
    /// Returns an error if the address is invalid, or if the credentials are missing, readable by
    /// others, of another hub, or of another role.
    pub(crate) fn find(url: &str, role: Role, file: Option<&Path>) -> Result<Self, AccessError> {
        let url = normal_url(url)?;
        let path = match file {
            Some(file) => file.to_owned(),
            None => kept_at(&config_folder()?, &url, role),
        };
        let access = match Self::read(&path) {
            Err(AccessError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound && file.is_none() => {
                return Err(AccessError::Missing { url, path, flag: flag_of(role) });
            }
            read => read?,
        };
        if access.url != url {
            return Err(AccessError::OtherHub { path, found: access.url, url });
        }
        if !access.role.allows(role) {
            let (found, wanted) = (access.role.word(), role.word());
            return Err(AccessError::Role { user: access.user, found, url, wanted, flag: flag_of(role) });
        }
        Ok(access)
    }

    /// Reads a credentials file.
    ///
    /// # Errors
    /// Returns an error if it cannot be read, is readable by others, or holds something else.
    pub(crate) fn read(path: &Path) -> Result<Self, AccessError> {
        let io = |source| AccessError::File { path: path.to_owned(), source };
        let access: Self = from_toml(path, &read_secret(path, MOST_DOCUMENT_BYTES).map_err(io)?)?;
        access.checked().map_err(|error| {
            let why = match error {
                AccessError::Invitation(why) => why.to_owned(),
                other => other.to_string(),
            };
            AccessError::Damaged { path: path.to_owned(), why }
        })
    }

    /// Writes a credentials file that only its owner can read.
    ///
    /// # Errors
    /// Returns an error if the system refuses.
    pub(crate) fn write(&self, path: &Path) -> Result<(), AccessError> {
        // Plain data always serialises.
        let table = toml::to_string(self).unwrap_or_default();
        let text = format!(
            "# Access to a hub of quintain. Anybody who has this file can act as this user: keep it secret.\n{table}"
        );
        files::write_secret(path, &text).map_err(|source| AccessError::File { path: path.to_owned(), source })
    }

    /// Keeps the credentials in the user's folder of settings, where [`Access::find`] finds them.
    ///
    /// # Errors
    /// Returns an error if there is no such folder or the system refuses.
    pub(crate) fn keep(&self, config: &Path) -> Result<PathBuf, AccessError> {
        let path = kept_at(config, &self.url, self.role);
        self.write(&path)?;
        Ok(path)
    }

    /// The access as one line, to be sent to its user.
    pub(crate) fn invitation(&self) -> String {
        let Self { url, user, role, password, certificate } = self;
        let (scheme, place) = url.split_once("://").unwrap_or(("tls", url));
        let certificate = certificate.as_deref().unwrap_or("none");
        format!("{scheme}://{user}:{password}@{place}/{}/{certificate}", role.word())
    }

    /// Reads an [`Access::invitation`].
    ///
    /// # Errors
    /// Returns an error for other text.
    pub(crate) fn from_invitation(text: &str) -> Result<Self, AccessError> {
        let bad = AccessError::Invitation;
        let (scheme, rest) = text.trim().split_once("://").ok_or(bad("it has no `://`"))?;
        let (user, rest) = rest.split_once(':').ok_or(bad("it names no user"))?;
        let (password, rest) = rest.split_once('@').ok_or(bad("it has no password"))?;
        let mut parts = rest.split('/');
        let (Some(place), Some(role), Some(certificate)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(bad("it ends early"));
        };
        if parts.next().is_some() {
            return Err(bad("it does not end after the certificate"));
        }
        let role = match role {
            "worker" => Role::Worker,
            "coordinator" => Role::Coordinator,
            _ => return Err(bad("its role is neither worker nor coordinator")),
        };
        let certificate = Some(certificate.to_owned()).filter(|certificate| certificate != "none");
        let access = Self {
            url: format!("{scheme}://{place}"),
            user: user.to_owned(),
            role,
            password: password.to_owned(),
            certificate,
        };
        access.checked()
    }

    fn checked(mut self) -> Result<Self, AccessError> {
        self.url = normal_url(&self.url)?;
        check_name(&self.user)?;
        match &self.certificate {
            None if self.url.starts_with("tls") => Err(AccessError::Invitation("it names no certificate")),
            Some(digits) if digits.len() != 64 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                Err(AccessError::Invitation("its certificate has not 64 hexadecimal digits"))
            }
            _ => Ok(self),
        }
    }

    /// Settings of TLS that accept the hub's certificate and no other.
    pub(crate) fn tls(&self) -> Option<ClientConfig> {
        let pin = Pin { certificate: self.certificate.clone()?, provider: Arc::new(ring::default_provider()) };
        let builder =
            ClientConfig::builder_with_provider(Arc::clone(&pin.provider)).with_safe_default_protocol_versions();
        // The provider has the default versions.
        Some(builder.ok()?.dangerous().with_custom_certificate_verifier(Arc::new(pin)).with_no_client_auth())
    }
}

/// SHA-256 of a certificate, as in [`Access::certificate`].
pub(crate) fn fingerprint(certificate: &[u8]) -> String {
    sha256(certificate)
}

/// Verifier that accepts one certificate, and checks that the server has its key.
#[derive(Debug)]
struct Pin {
    certificate: String,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pin {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        if fingerprint(certificate).eq_ignore_ascii_case(&self.certificate) {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(TlsError::General("the certificate is not that of the invitation".to_owned()))
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Checks the name of a user, which becomes part of subjects, of file names and of the server's
/// configuration.
///
/// # Errors
/// Returns an error for other characters and lengths.
pub(crate) fn check_name(name: &str) -> Result<(), AccessError> {
    if is_user_name(name, LONGEST_NAME) { Ok(()) } else { Err(AccessError::Name(name.to_owned())) }
}

/// `SCHEME://HOST:PORT` of an address, with the default port filled in.
///
/// # Errors
/// Returns an error if the address is invalid, or if a password would be sent unencrypted over a
/// network.
fn normal_url(text: &str) -> Result<String, AccessError> {
    let bad = || AccessError::Url(text.to_owned());
    let address: ServerAddr = if text.contains("://") { text.parse().map_err(|_| bad())? } else { return Err(bad()) };
    let rest = address.as_url_str().split_once("://").map_or("", |(_, rest)| rest);
    if !matches!(address.scheme(), "nats" | "tls") || address.host().is_empty() || rest.contains(['@', '?', '#']) {
        return Err(bad());
    }
    if rest.split_once('/').is_some_and(|(_, path)| !path.is_empty()) {
        return Err(bad());
    }
    if address.scheme() == "nats" && !is_here(address.host()) {
        return Err(AccessError::Plain(text.to_owned()));
    }
    let host = address.host();
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    Ok(format!("{}://{host}:{}", address.scheme(), address.port()))
}

/// True for a host name that stays within this machine.
fn is_here(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Flag of `quintain hub invite` for a role.
pub(super) const fn flag_of(role: Role) -> &'static str {
    match role {
        Role::Worker => "",
        Role::Coordinator | Role::Owner => " --coordinator",
    }
}

/// The user's folder for settings of quintain.
///
/// # Errors
/// Returns an error if the user has no home.
pub(crate) fn config_folder() -> Result<PathBuf, AccessError> {
    files::config_folder().ok_or(AccessError::NoHome)
}

/// File of the credentials for a hub.
fn kept_at(config: &Path, url: &str, role: Role) -> PathBuf {
    let place = url.split_once("://").map_or(url, |(_, place)| place);
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-') { c } else { '_' };
    let name: String = place.chars().map(plain).collect();
    config.join("hubs").join(format!("{name}.{}.toml", role.word()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access() -> Access {
        Access {
            url: "tls://hub.example:4222".to_owned(),
            user: "anna-box1".to_owned(),
            role: Role::Worker,
            password: "0123abcd".to_owned(),
            certificate: Some("ab".repeat(32)),
        }
    }

    #[test]
    fn an_address_is_kept_in_one_form_and_no_password_leaves_the_machine_in_the_clear() {
        for (text, url) in [
            ("tls://hub.example", "tls://hub.example:4222"),
            ("tls://10.1.2.3:99/", "tls://10.1.2.3:99"),
            ("nats://127.0.0.1:4223", "nats://127.0.0.1:4223"),
            ("nats://localhost", "nats://localhost:4222"),
            ("tls://[::1]:7", "tls://[::1]:7"),
        ] {
            assert_eq!(normal_url(text).unwrap(), url);
            assert_eq!(normal_url(url).unwrap(), url);
        }
        for text in ["", "hub.example", "http://hub", "tls://", "tls://a:b@hub", "tls://hub/x", "ws://127.0.0.1"] {
            assert!(matches!(normal_url(text), Err(AccessError::Url(_))), "{text}");
        }
        for text in ["nats://hub.example", "nats://192.168.1.2:4222", "nats://localhost.example"] {
            assert!(normal_url(text).unwrap_err().to_string().contains("which needs TLS; give tls://"), "{text}");
        }
    }

    #[test]
    fn an_invitation_is_read_as_it_was_written() {
        let coordinator = Access { role: Role::Coordinator, ..access() };
        let plain = Access { url: "nats://127.0.0.1:4222".to_owned(), certificate: None, ..access() };
        for sent in [access(), coordinator, plain] {
            assert_eq!(Access::from_invitation(&format!(" {}\n", sent.invitation())).unwrap(), sent);
        }
        let good = access().invitation();
        for (from, to, fault) in [
            ("tls://", "", "no `://`"),
            ("anna-box1:", "", "no password"),
            ("worker", "owner", "its role"),
            ("worker", "worker/x/y", "does not end after the certificate"),
            ("/worker", "", "ends early"),
            ("abab", "", "64 hexadecimal digits"),
            ("anna-box1", "Anna", "cannot be a user name"),
        ] {
            let error = Access::from_invitation(&good.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(error.contains(fault), "{from}: {error}");
            assert!(!error.contains("0123abcd"), "{error}");
        }
        let pinless = good.replace(&"ab".repeat(32), "none");
        assert!(Access::from_invitation(&pinless).unwrap_err().to_string().contains("names no certificate"));
    }

    #[test]
    fn credentials_are_for_one_hub_and_one_role_and_for_their_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = kept_at(folder.path(), &access().url, Role::Worker);
        assert!(path.ends_with("hubs/hub.example_4222.worker.toml"), "{path:?}");
        Access { certificate: Some("ab".repeat(31)), ..access() }.write(&path).unwrap();
        let damaged = Access::read(&path).unwrap_err().to_string();
        assert!(damaged.starts_with(&path.display().to_string()) && damaged.contains("new invitation"), "{damaged}");
        access().write(&path).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(path.parent().unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700);
        let find = |url: &str, role| Access::find(url, role, Some(&path));
        assert_eq!(find("tls://hub.example", Role::Worker).unwrap(), access());
        for (url, role, fault) in [
            ("tls://other.example", Role::Worker, "it is for the hub tls://hub.example:4222"),
            ("tls://hub.example", Role::Coordinator, "invite NAME --coordinator"),
        ] {
            let error = find(url, role).unwrap_err().to_string();
            assert!(error.contains(fault), "{error}");
        }
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(find("tls://hub.example", Role::Worker).unwrap_err().to_string().contains("chmod 600"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&path, "url = 3\n").unwrap();
        assert!(find("tls://hub.example", Role::Worker).unwrap_err().to_string().contains("toml:1:7: "));
    }

    #[test]
    fn a_password_is_never_shown() {
        assert!(!format!("{:?}", access()).contains("0123abcd"));
    }

    #[test]
    fn names_that_would_be_more_than_a_name_are_refused() {
        for name in ["a", "anna-box1", &"x".repeat(32)] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in ["", "Anna", "a.b", "a*", ">", "a b", "a\"b", "../x", "ä", &"x".repeat(33)] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }

    /// Differing certificates are detected before anything is sent.
    #[test]
    fn only_the_pinned_certificate_is_accepted() {
        let pin = Pin { certificate: fingerprint(b"hub").to_uppercase(), provider: Arc::new(ring::default_provider()) };
        let name = ServerName::try_from("anything.example").unwrap();
        let check = |bytes: &[u8], now: UnixTime| {
            let certificate = CertificateDer::from(bytes.to_vec());
            pin.verify_server_cert(&certificate, &[], &name, &[], now)
        };
        // The clock of a worker may be wrong by years.
        for years in [0, 56, 200] {
            let now = UnixTime::since_unix_epoch(std::time::Duration::from_hours(years * 365 * 24));
            assert!(check(b"hub", now).is_ok());
            assert!(check(b"thief", now).unwrap_err().to_string().contains("not that of the invitation"));
        }
        assert!(access().tls().is_some());
    }
}
