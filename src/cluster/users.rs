//! Users of a hub, their rights, and the configuration of its server that follows from them.
//!
//! A worker can publish under its own name only, and reads no other's messages. It gets no right to
//! make consumers: a consumer's deliveries may go to any subject, in the server's name.

use std::fmt::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::access::{Access, AccessError, Role, check_name};
use super::blobs;
use super::wire::MOST_MESSAGE;

/// Name of the hub itself among its users.
pub(crate) const OWNER: &str = "hub";

/// Longest time for a handshake and a password. The server's own limit is 2 s, too short for a
/// loaded machine.
const HANDSHAKE_S: u32 = 30;

/// Maximum number of connections.
const MOST_CONNECTIONS: u32 = 20_000;

/// A hub's address and users, as its file has them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Register {
    /// Address and port that the server listens at.
    pub(crate) listen: std::net::SocketAddr,
    /// Host name or address that users connect to.
    pub(crate) host: String,
    /// SHA-256 of the certificate; none without TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) certificate: Option<String>,
    /// Password of the hub itself.
    pub(crate) password: String,
    /// Maximum size of stored results and files in bytes.
    pub(crate) most_bytes: u64,
    /// Users, in the order of their invitations.
    #[serde(default, rename = "user")]
    pub(crate) users: Vec<User>,
}

/// A user of a hub.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct User {
    /// Name, one token of a subject.
    pub(crate) name: String,
    /// Rights.
    pub(crate) role: Role,
    /// Password.
    pub(crate) password: String,
}

/// Subjects of a user.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rights {
    /// Subjects that may be published to.
    pub(crate) publish: Vec<String>,
    /// Subjects that may be subscribed to.
    pub(crate) subscribe: Vec<String>,
}

impl Register {
    /// Address for users.
    pub(crate) fn url(&self) -> String {
        let scheme = if self.certificate.is_some() { "tls" } else { "nats" };
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        format!("{scheme}://{host}:{}", self.listen.port())
    }

    /// Access of a user.
    pub(crate) fn access(&self, user: &User) -> Access {
        Access {
            url: self.url(),
            user: user.name.clone(),
            role: user.role,
            password: user.password.clone(),
            certificate: self.certificate.clone(),
        }
    }

    /// Access of the hub itself, from its own machine.
    pub(crate) fn owner(&self, url: String) -> Access {
        let user = User { name: OWNER.to_owned(), role: Role::Owner, password: self.password.clone() };
        Access { url, ..self.access(&user) }
    }

    /// Adds a user, or gives one a new password and role.
    ///
    /// # Errors
    /// Returns an error if the name is invalid, or taken by the hub.
    pub(crate) fn invite(&mut self, name: &str, role: Role, password: String) -> Result<User, AccessError> {
        check_name(name)?;
        if name == OWNER {
            return Err(AccessError::Name(name.to_owned()));
        }
        let user = User { name: name.to_owned(), role, password };
        match self.users.iter_mut().find(|user| user.name == name) {
            Some(known) => *known = user.clone(),
            None => self.users.push(user.clone()),
        }
        Ok(user)
    }

    /// Removes a user; false if there is none of this name.
    pub(crate) fn revoke(&mut self, name: &str) -> bool {
        let before = self.users.len();
        self.users.retain(|user| user.name != name);
        self.users.len() < before
    }

    /// Configuration of nats-server 2.9 and later.
    ///
    /// All users are in a named account. Next to `authorization`, Debian's 2.9.10 accepts clients
    /// without credentials (CVE-2023-47090).
    pub(crate) fn configuration(&self, folder: &Path) -> String {
        let in_folder = |name: &str| quoted(&folder.join(name).display().to_string());
        let (password, most_bytes) = (quoted(&self.password), self.most_bytes);
        let mut text = format!(
            "listen: \"{}\"\npid_file: {}\nlog_file: {}\nlogfile_size_limit: 16MB\n\
             max_payload: {MOST_MESSAGE}\nmax_connections: {MOST_CONNECTIONS}\n\
             jetstream {{ store_dir: {}, max_file_store: {most_bytes} }}\n",
            self.listen,
            in_folder("server.pid"),
            in_folder("log"),
            in_folder("store")
        );
        if self.certificate.is_some() {
            // Writing into memory cannot fail.
            let _ = writeln!(
                text,
                "tls {{ cert_file: {}, key_file: {}, timeout: {HANDSHAKE_S} }}",
                in_folder("certificate.pem"),
                in_folder("key.pem")
            );
        }
        let _ = writeln!(
            text,
            "accounts {{\n  SYS {{}}\n  Q {{\n    jetstream: enabled\n    users: [\n      {{ user: {OWNER}, password: {password} }}"
        );
        for user in &self.users {
            let _ = writeln!(text, "      {}", line(user));
        }
        text + "    ]\n  }\n}\nsystem_account: SYS\n"
    }
}

fn line(user: &User) -> String {
    let Rights { publish, subscribe } = rights(&user.name, user.role);
    let list = |subjects: &[String]| subjects.iter().map(|subject| quoted(subject)).collect::<Vec<_>>().join(", ");
    format!(
        "{{ user: {}, password: {}, permissions: {{ publish: {{ allow: [{}] }}, subscribe: {{ allow: [{}] }} }} }}",
        quoted(&user.name),
        quoted(&user.password),
        list(&publish),
        list(&subscribe),
    )
}

/// Rights of a user.
pub(crate) fn rights(name: &str, role: Role) -> Rights {
    let own = |subjects: &[&str]| subjects.iter().map(|subject| subject.replace("{me}", name)).collect::<Vec<_>>();
    let mut rights = match role {
        Role::Worker => Rights {
            publish: own(&[
                "q.*.plan.{me}",
                "q.*.take.{me}",
                "q.*.beat.{me}",
                "q.*.res.{me}",
                "q.*.live.{me}",
                "$KV.workers.{me}",
                "$KV.workers.{me}.>",
            ]),
            subscribe: own(&["_INBOX.{me}.>", "q.*.ctl", "$KV.runs.>"]),
        },
        Role::Coordinator => Rights {
            publish: own(&[
                // Answers. With `allow_responses` the server looks through all of the last minute
                // at each request once these are 4,096, and 1,000 workers keep it busy.
                "_INBOX.>",
                "q.*.ctl",
                "$KV.runs.>",
                "$JS.API.INFO",
                "$JS.API.STREAM.CREATE.KV_runs",
                "$JS.API.STREAM.CREATE.KV_workers",
                "$JS.API.STREAM.CREATE.QRES",
                "$JS.API.STREAM.INFO.QRES",
                "$JS.API.CONSUMER.DURABLE.CREATE.QRES.*",
                "$JS.API.CONSUMER.CREATE.QRES.>",
                "$JS.API.CONSUMER.INFO.QRES.*",
                "$JS.API.CONSUMER.MSG.NEXT.QRES.*",
                "$JS.ACK.QRES.>",
            ]),
            subscribe: own(&["_INBOX.{me}.>", "q.*.plan.*", "q.*.take.*", "q.*.beat.*", "q.*.live.*"]),
        },
        Role::Owner => Rights { publish: vec![">".to_owned()], subscribe: vec![">".to_owned()] },
    };
    if role != Role::Owner {
        for list in ["KV_runs", "KV_workers"] {
            rights.publish.extend([
                format!("$JS.API.STREAM.INFO.{list}"),
                format!("$JS.API.DIRECT.GET.{list}"),
                format!("$JS.API.DIRECT.GET.{list}.>"),
            ]);
        }
        rights.publish.extend(blobs::reader_rights());
    }
    if role == Role::Coordinator {
        rights.publish.extend(blobs::writer_rights());
    }
    rights
}

/// Text as a string of the server's configuration.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn register() -> Register {
        let mut register = Register {
            listen: "0.0.0.0:4222".parse().unwrap(),
            host: "10.0.0.2".to_owned(),
            certificate: Some("cd".repeat(32)),
            password: "owner-secret".to_owned(),
            most_bytes: 1 << 30,
            users: Vec::new(),
        };
        register.invite("anna", Role::Worker, "a-secret".to_owned()).unwrap();
        register.invite("ben", Role::Coordinator, "b-secret".to_owned()).unwrap();
        register
    }

    #[test]
    fn a_user_is_invited_anew_and_revoked() {
        let mut register = register();
        assert_eq!(register.url(), "tls://10.0.0.2:4222");
        register.invite("anna", Role::Worker, "new-secret".to_owned()).unwrap();
        assert_eq!(register.users.len(), 2);
        assert_eq!(register.access(&register.users[0]).password, "new-secret");
        assert!(register.invite("hub", Role::Worker, String::new()).is_err());
        assert!(register.invite("a\" }", Role::Worker, String::new()).is_err());
        assert!(register.revoke("anna"));
        assert!(!register.revoke("anna"));
        assert_eq!(register.users.len(), 1);
    }

    #[test]
    fn a_register_is_kept_as_toml() {
        let text = toml::to_string(&register()).unwrap();
        assert_eq!(toml::from_str::<Register>(&text).unwrap(), register());
    }

    /// No right names another worker, results of others, or the management of streams.
    #[test]
    fn a_worker_has_rights_to_its_own_subjects_only() {
        let Rights { publish, subscribe } = rights("anna", Role::Worker);
        for subject in &publish {
            let is_own = subject.ends_with(".anna") || subject == "$KV.workers.anna.>";
            let is_read = subject.starts_with("$JS.API.DIRECT.GET.") || subject.starts_with("$JS.API.STREAM.INFO.KV_");
            assert!(is_own || is_read, "{subject}");
        }
        assert_eq!(subscribe, ["_INBOX.anna.>", "q.*.ctl", "$KV.runs.>"]);
        for role in [Role::Worker, Role::Coordinator] {
            for subject in rights("anna", role).publish {
                for forbidden in ["DELETE", "PURGE", "UPDATE", "ACCOUNT", "$SYS"] {
                    assert!(!subject.contains(forbidden), "{subject}");
                }
                assert!(subject != ">" && !subject.starts_with("$JS.>") && !subject.starts_with("$JS.API.>"));
            }
        }
    }

    /// The server's list of expected answers grows with each request, and it searches that list.
    #[test]
    fn a_coordinator_answers_without_a_list_of_requests_on_the_server() {
        assert!(!register().configuration(Path::new("/data")).contains("allow_responses"));
        assert!(rights("ben", Role::Coordinator).publish.contains(&"_INBOX.>".to_owned()));
    }

    #[test]
    fn the_configuration_has_all_users_in_a_named_account() {
        let text = register().configuration(Path::new("/data"));
        assert!(!text.contains("authorization"), "{text}");
        assert_eq!(text.matches("user: ").count(), 3);
        assert!(
            text.contains("system_account: SYS") && text.contains("cert_file: \"/data/certificate.pem\""),
            "{text}"
        );
        let plain = Register { certificate: None, ..register() };
        assert!(!plain.configuration(Path::new("/data")).contains("tls"));
        let text = register().configuration(Path::new("/a\"b\\c"));
        assert!(text.contains("log_file: \"/a\\\"b\\\\c/log\"\n"), "{text}");
    }
}
