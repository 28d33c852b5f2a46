//! Access control, decided from a request's method and headers alone.
//!
//! - A browser that was lured to another site must not reach this one. A foreign name that resolves
//!   to this machine (DNS rebinding) is refused by `Host`, a foreign script or form by `Origin` and
//!   `Sec-Fetch-Site`.
//! - Steering a run needs the token in a header of its own. No cookie is ever set, so a browser
//!   never sends one by itself.
//! - If other machines can connect, reading needs the token as well.

use std::net::{IpAddr, SocketAddr};

use sha2::{Digest, Sha256};

use crate::text::hex;

/// The header that carries the token.
pub(super) const TOKEN_HEADER: &str = "x-quintain-token";

/// Beginning of the paths of runs.
const RUNS: &str = "/api/runs/";

/// A secret, kept as its hash, so that the time of a comparison reveals nothing.
#[derive(Clone, Debug)]
pub(super) struct Secret([u8; 32]);

impl Secret {
    pub(super) fn new(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }

    fn is(&self, token: &str) -> bool {
        *self == Self::new(token)
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0).fold(0, |different, (one, other)| different | (one ^ other)) == 0
    }
}

/// Rules for requests.
#[derive(Clone, Debug)]
pub(super) struct Guard {
    secret: Secret,
    /// True if only this machine can connect.
    is_local: bool,
    /// Names of the dashboard besides addresses and `localhost`, lower case.
    hosts: Vec<String>,
}

/// The parts of a request that the guard examines.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts<'a> {
    /// True for `GET` and `HEAD`, which only read.
    pub(super) is_safe: bool,
    /// True for data, false for the page itself, which holds nothing secret.
    pub(super) is_data: bool,
    pub(super) host: Option<&'a str>,
    pub(super) origin: Option<&'a str>,
    pub(super) fetch_site: Option<&'a str>,
    pub(super) token: Option<&'a str>,
    /// The path, and the key in its query.
    pub(super) path: &'a str,
    pub(super) key: Option<&'a str>,
}

/// Reason to refuse a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum RequestRefusal {
    #[error("this name is not known here; ask by address or localhost, or start with --host NAME")]
    Host,
    #[error("requests from other sites are refused")]
    Foreign,
    #[error("the token is missing or wrong; open the address that `quintain serve` printed")]
    Token,
}

impl Guard {
    pub(super) fn new(token: &str, listen: SocketAddr, hosts: &[String]) -> Self {
        let hosts = hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        Self { secret: Secret::new(token), is_local: listen.ip().is_loopback(), hosts }
    }

    /// Returns true if reading needs the token too.
    pub(super) const fn is_private(&self) -> bool {
        !self.is_local
    }

    /// Key with which everything below a run's path can be read, for links: they carry no header.
    /// It opens nothing else, and steers nothing.
    pub(super) fn key(&self, run_path: &str) -> String {
        // Hashed twice, so that a key gives away none of a longer path.
        let inner = Sha256::new().chain_update(self.secret.0).chain_update(run_path).finalize();
        hex(&Sha256::new().chain_update(self.secret.0).chain_update(inner).finalize())
    }

    /// True if `key` is that of the run whose part `path` is.
    fn opens(&self, path: &str, key: &str) -> bool {
        let Some(id) = path.strip_prefix(RUNS).and_then(|rest| rest.split('/').next()) else { return false };
        Secret::new(&self.key(&format!("{RUNS}{id}"))).is(key)
    }

    /// # Errors
    /// Returns the reason if the request is to be refused.
    pub(super) fn check(&self, asked: &Facts<'_>) -> Result<(), RequestRefusal> {
        let host = asked.host.filter(|host| self.knows(host)).ok_or(RequestRefusal::Host)?;
        let is_own = |origin: &str| {
            let rest = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            rest.is_some_and(|rest| rest.eq_ignore_ascii_case(host))
        };
        if asked.origin.is_some_and(|origin| !is_own(origin)) {
            return Err(RequestRefusal::Foreign);
        }
        // A link on another site may open the page.
        let is_foreign = asked.fetch_site.is_some_and(|site| !matches!(site, "same-origin" | "none"));
        if is_foreign && (asked.is_data || !asked.is_safe) {
            return Err(RequestRefusal::Foreign);
        }
        let needs_token = !asked.is_safe || (asked.is_data && !self.is_local);
        let has_key = || asked.is_safe && asked.key.is_some_and(|key| self.opens(asked.path, key));
        if needs_token && !has_key() && !asked.token.is_some_and(|token| self.secret.is(token)) {
            return Err(RequestRefusal::Token);
        }
        Ok(())
    }

    /// Returns true for an address, or a name that no other site can have. Any port is accepted,
    /// because it may be forwarded.
    fn knows(&self, host: &str) -> bool {
        let Some(name) = host_name(host) else { return false };
        let name = name.to_ascii_lowercase();
        let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(&name);
        match address.parse::<IpAddr>() {
            Ok(address) => address.is_loopback() || !self.is_local || self.hosts.contains(&name),
            Err(_) => name == "localhost" || self.hosts.contains(&name),
        }
    }
}

/// A `Host` header without its port.
fn host_name(host: &str) -> Option<&str> {
    let end = if host.starts_with('[') { host.find(']')? + 1 } else { host.find(':').unwrap_or(host.len()) };
    let (name, port) = host.split_at(end);
    let is_port = |port: &str| port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok());
    (port.is_empty() || is_port(port)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "a-token-of-some-length";

    #[track_caller]
    fn check(listen: &str, asked: Facts<'_>, expected: Result<(), RequestRefusal>) {
        let guard = Guard::new(TOKEN, listen.parse().unwrap(), &["Lab.Example".to_owned()]);
        assert_eq!(guard.check(&asked), expected, "{listen} {asked:?}");
    }

    #[test]
    fn hosts_are_known_by_address_or_by_name() {
        for (host, here, anywhere) in [
            ("127.0.0.1:7171", true, true),
            ("127.0.0.1", true, true),
            ("localhost:8080", true, true),
            ("LOCALHOST", true, true),
            ("[::1]:7171", true, true),
            ("lab.example:7171", true, true),
            ("192.168.1.7:7171", false, true),
            ("evil.example:7171", false, false),
            ("localhost.evil.example", false, false),
            ("127.0.0.1.evil.example", false, false),
            ("127.0.0.1:7171@evil.example", false, false),
            ("[::1", false, false),
            ("", false, false),
        ] {
            let asked = Facts { is_safe: true, host: Some(host), ..Facts::default() };
            let expected = |known| if known { Ok(()) } else { Err(RequestRefusal::Host) };
            check("127.0.0.1:7171", asked, expected(here));
            check("0.0.0.0:7171", asked, expected(anywhere));
        }
        check("127.0.0.1:7171", Facts { is_safe: true, ..Facts::default() }, Err(RequestRefusal::Host));
    }

    #[test]
    fn other_sites_are_refused_and_steering_needs_the_token() {
        let read = Facts { is_safe: true, is_data: true, host: Some("localhost:7171"), ..Facts::default() };
        let post = Facts { is_safe: false, token: Some(TOKEN), ..read };
        let here = "127.0.0.1:7171";
        check(here, read, Ok(()));
        check(here, post, Ok(()));
        for token in [None, Some(""), Some("a-token-of-some-lengtH"), Some("a-token-of-some-length ")] {
            check(here, Facts { token, ..post }, Err(RequestRefusal::Token));
            check("0.0.0.0:7171", Facts { token, ..read }, Err(RequestRefusal::Token));
            check("0.0.0.0:7171", Facts { token, is_data: false, ..read }, Ok(()));
        }
        check("0.0.0.0:7171", Facts { token: Some(TOKEN), ..read }, Ok(()));
        let guard = Guard::new(TOKEN, "0.0.0.0:7171".parse().unwrap(), &[]);
        let keys = ["/api/runs/a%2Fb", "/api/runs/a"].map(|run| guard.key(run));
        let [key, other] = keys.each_ref().map(String::as_str);
        for (path, key, expected) in [
            ("/api/runs/a%2Fb/report", key, Ok(())),
            ("/api/runs/a%2Fb", key, Ok(())),
            ("/api/runs/a%2Fb/report", other, Err(RequestRefusal::Token)),
            ("/api/runs/a%2Fc/report", key, Err(RequestRefusal::Token)),
            ("/api/runs", key, Err(RequestRefusal::Token)),
            ("/api/queue", key, Err(RequestRefusal::Token)),
            ("/api/runs/a%2Fb/report", "", Err(RequestRefusal::Token)),
        ] {
            let asked = Facts { path, key: Some(key), ..read };
            check("0.0.0.0:7171", asked, expected);
            check("0.0.0.0:7171", Facts { is_safe: false, ..asked }, Err(RequestRefusal::Token));
        }
        for (origin, expected) in [
            ("http://localhost:7171", Ok(())),
            ("http://localhost:7172", Err(RequestRefusal::Foreign)),
            ("http://127.0.0.1:7171", Err(RequestRefusal::Foreign)),
            ("http://evil.example", Err(RequestRefusal::Foreign)),
            ("null", Err(RequestRefusal::Foreign)),
            ("", Err(RequestRefusal::Foreign)),
        ] {
            check(here, Facts { origin: Some(origin), ..post }, expected);
            check(here, Facts { origin: Some(origin), ..read }, expected);
        }
        for (site, expected) in [
            ("same-origin", Ok(())),
            ("none", Ok(())),
            ("same-site", Err(RequestRefusal::Foreign)),
            ("cross-site", Err(RequestRefusal::Foreign)),
        ] {
            check(here, Facts { fetch_site: Some(site), ..read }, expected);
            check(here, Facts { fetch_site: Some(site), ..post }, expected);
            check(here, Facts { fetch_site: Some(site), is_data: false, ..read }, Ok(()));
        }
    }
}
