//! A hub: a nats-server for many machines, its users, and the files of its runs.
//!
//! Its folder holds `hub.toml` (address, users, passwords), the certificate and key, the server's
//! configuration and store. Commands that change users write `hub.toml` and the configuration, and
//! have a running server read it again.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::rustls::pki_types::CertificateDer;
use async_nats::rustls::pki_types::pem::PemObject as _;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, MissedTickBehavior};

use super::access::{Access, AccessError, Role, config_folder, fingerprint};
use super::blobs;
use super::link::{self, Door, Link, LinkError};
use super::registry::{self, List, RunEntry};
use super::server::{self, CONFIGURATION, ChildError, Server};
use super::users::{Register, User};
use crate::files::{MOST_DOCUMENT_BYTES, read_input, write_secret};
use crate::os;
use crate::text::{TomlError, from_toml, random_hex};

/// Port of a hub, which is that of NATS.
const PORT: u16 = 4222;

/// User that plays runs from the hub's own machine.
const LOCAL_USER: &str = "me";

/// Interval of the looks for files that no run names.
const SWEEP: Duration = Duration::from_mins(5);

/// Time limit for a server to read its configuration again.
const RELOAD_LIMIT: Duration = Duration::from_mins(1);

/// Pause between two looks at that.
const RELOAD_PAUSE: Duration = Duration::from_millis(100);

/// Reason that a hub cannot be run or changed.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// The server cannot be started.
    #[error(transparent)]
    Child(#[from] ChildError),
    /// The server cannot be used.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// A user's name or credentials do not fit.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The hub's file is damaged.
    #[error(transparent)]
    Toml(#[from] TomlError),
    /// A file or folder cannot be used.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// There is no hub in the folder.
    #[error("{0}: there is no hub; start one with `quintain hub`, or name its folder with --data")]
    Missing(PathBuf),
    /// Another process runs this hub.
    #[error("{0}: another `quintain hub` runs with this folder; stop that one, or give --data another folder")]
    Running(PathBuf),
    /// The system has no random numbers.
    #[error("the system has no random numbers for a password: {0}")]
    Random(#[source] io::Error),
    /// The certificate cannot be made.
    #[error("cannot make a certificate: {0}")]
    Certificate(String),
    /// The certificate cannot be read.
    #[error("{path}: {why}; restore it, or remove it and invite all users again")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The fault.
        why: String,
    },
    /// The user of this machine cannot be a worker.
    #[error(
        "{LOCAL_USER} is the hub's own user, which starts runs; give the worker another name, or {LOCAL_USER} new credentials with --coordinator"
    )]
    Own,
    /// No such user.
    #[error("the hub has no user {name}; its users are: {users}")]
    Unknown {
        /// Name that was given.
        name: String,
        /// Names of all users.
        users: String,
    },
    /// The running server does not take the change.
    #[error("the change is written, but the running server has not taken it after {} s; start `quintain hub` again", RELOAD_LIMIT.as_secs())]
    Reload,
}

/// Settings of a hub.
#[derive(Debug)]
pub(crate) struct HubSettings {
    /// Folder of its files.
    pub(crate) folder: PathBuf,
    /// Folder of the user's settings, which gets the credentials for this machine.
    pub(crate) config: Option<PathBuf>,
    /// Address to listen at; `None` for the last one, or for loopback.
    pub(crate) listen: Option<SocketAddr>,
    /// Host name for users; `None` for the last one, or for this machine's address.
    pub(crate) host: Option<String>,
    /// Maximum size of stored results and files in bytes.
    pub(crate) most_bytes: u64,
}

/// Folder of the user's hub.
///
/// # Errors
/// Returns an error if the user has no home.
pub(crate) fn default_folder() -> Result<PathBuf, AccessError> {
    Ok(config_folder()?.join("hub"))
}

/// Runs a hub until `end` is ready. `say` gets lines for the user.
///
/// # Errors
/// Returns an error if the server does not start, or lets in strangers.
pub(crate) async fn serve(
    settings: HubSettings,
    say: impl Fn(&str),
    end: impl Future<Output = ()>,
) -> Result<(), HubError> {
    let folder = settings.folder.clone();
    std::fs::create_dir_all(&folder).map_err(file(&folder))?;
    let folder = folder.canonicalize().map_err(file(&folder))?;
    let lock = folder.join("running");
    let lock = File::create(&lock).map_err(file(&lock))?;
    if lock.try_lock().is_err() {
        return Err(HubError::Running(folder));
    }
    let register = change(&folder, |register| adopt(register, &settings, &folder))?;
    let mut server = Server::start(&folder).await?;
    let owner = register.owner(local_url(&register));
    server::refuses_strangers(&owner).await?;
    let link = Link::open(&owner, "hub").await?;
    create_streams(&link).await?;
    for user in register.users.iter().filter(|user| user.name == LOCAL_USER) {
        if let Some(config) = &settings.config {
            register.access(user).keep(config)?;
        }
    }
    say(&format!("hub at {}, with its files in {}", register.url(), folder.display()));
    say("add a machine: `quintain hub invite NAME` here, and paste what it prints into `quintain hub join` there");
    say(&format!("play with its workers: `quintain sprt ... --workers {}`", register.url()));
    let (tell, mut ends) = mpsc::unbounded_channel();
    let (leave, mut left) = oneshot::channel::<Infallible>();
    let keeper = tokio::spawn(async move {
        loop {
            let ended = tokio::select! {
                _ = &mut left => return server.stop().await,
                ended = server.keep_alive() => ended,
            };
            let is_last = ended.is_err();
            if tell.send(ended).is_err() || is_last {
                return;
            }
        }
    });
    let mut sweep = tokio::time::interval_at(Instant::now() + SWEEP, SWEEP);
    sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut named = BTreeSet::new();
    tokio::pin!(end);
    let result = loop {
        tokio::select! {
            () = &mut end => break Ok(()),
            Some(ended) = ends.recv() => {
                if let Err(error) = restarted(ended, &owner, &link).await {
                    break Err(error);
                }
                say("nats-server ended and was started again; nothing is lost");
            }
            _ = sweep.tick() => purge(&link, &mut named, blobs::UNNAMED).await,
        }
    };
    drop(leave);
    // Waits for the end of the server, so that the next hub gets its port and store.
    let _ = keeper.await;
    result
}

/// Handles the end of a server, which was started again.
async fn restarted(ended: Result<(), ChildError>, owner: &Access, link: &Link) -> Result<(), HubError> {
    ended?;
    server::refuses_strangers(owner).await?;
    // Its store may have been lost.
    create_streams(link).await
}

async fn create_streams(link: &Link) -> Result<(), HubError> {
    link.create_stream().await?;
    blobs::create(link).await?;
    registry::create(link).await?;
    registry::update(link).await?;
    Ok(())
}

/// Removes files older than `age` that no run has `named` at the last look and none names at this
/// one.
async fn purge(link: &Link, named: &mut BTreeSet<String>, age: Duration) {
    // A server that does not answer is asked again at the next look.
    let Ok(runs) = registry::read::<RunEntry>(link, List::Runs).await else { return };
    let now: BTreeSet<_> = runs.into_iter().flat_map(|run| run.blobs).collect();
    let keep = now.union(named).cloned().collect();
    if let Err(error) = blobs::sweep(link, &keep, age).await {
        tracing::warn!("{error}");
    }
    *named = now;
}

/// Fills in what a start decides: address, certificate, and the user of this machine.
fn adopt(register: &mut Register, settings: &HubSettings, folder: &Path) -> Result<(), HubError> {
    let previous = register.listen.ip();
    register.listen = settings.listen.unwrap_or(register.listen);
    if register.listen.port() == 0 {
        register.listen.set_port(server::lasting_port(register.listen.ip())?);
    }
    register.most_bytes = settings.most_bytes;
    let is_here = register.listen.ip().is_loopback();
    match &settings.host {
        Some(host) => register.host.clone_from(host),
        None if register.listen.ip() == previous && !register.host.is_empty() => {}
        None => register.host = host_of(register.listen.ip()),
    }
    if is_here {
        register.certificate = None;
    } else if register.certificate.is_none() {
        register.certificate = Some(certificate(folder)?);
    }
    if !register.users.iter().any(|user| user.name == LOCAL_USER) {
        register.invite(LOCAL_USER, Role::Coordinator, password()?)?;
    }
    Ok(())
}

/// The hub's certificate, made at first use. Returns its SHA-256. It names no host, because users
/// know it by its digits.
fn certificate(folder: &Path) -> Result<String, HubError> {
    let [known, key] = ["certificate.pem", "key.pem"].map(|name| folder.join(name));
    if known.exists() && key.exists() {
        // Invitations of an earlier start name it.
        let text = read_input(&known, MOST_DOCUMENT_BYTES).map_err(file(&known))?;
        let found = CertificateDer::from_pem_slice(text.as_bytes());
        let found = found.map_err(|error| HubError::Damaged { path: known, why: error.to_string() })?;
        return Ok(fingerprint(&found));
    }
    let bad = |error: rcgen::Error| HubError::Certificate(error.to_string());
    let made = rcgen::generate_simple_self_signed(vec!["quintain-hub".to_owned()]).map_err(bad)?;
    for (path, text) in [(known, made.cert.pem()), (key, made.signing_key.serialize_pem())] {
        write_secret(&path, &text).map_err(file(&path))?;
    }
    Ok(fingerprint(made.cert.der()))
}

/// Address of this machine for others, given the one to listen at.
fn host_of(listen: IpAddr) -> String {
    if !listen.is_unspecified() {
        return listen.to_string();
    }
    // Nothing is sent: the system chooses the address that it would send from.
    let own = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).and_then(|socket| {
        socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9))?;
        Ok(socket.local_addr()?.ip())
    });
    match own {
        Ok(address) if !address.is_unspecified() => address.to_string(),
        _ => os::host_name(),
    }
}

/// Address of the server for this machine.
fn local_url(register: &Register) -> String {
    let scheme = if register.certificate.is_some() { "tls" } else { "nats" };
    let ip = match register.listen.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
    };
    format!("{scheme}://{}", SocketAddr::new(ip, register.listen.port()))
}

/// Gives a user credentials. Returns them once a running server accepts them.
///
/// # Errors
/// Returns an error if there is no hub, the name does not fit, or the server does not take it.
pub(crate) async fn invite(folder: &Path, name: &str, role: Role) -> Result<Access, HubError> {
    check_hub(folder)?;
    if name == LOCAL_USER && role == Role::Worker {
        return Err(HubError::Own);
    }
    let password = password()?;
    let register = change(folder, |register| Ok(register.invite(name, role, password.clone()).map(|_| ())?))?;
    let user = User { name: name.to_owned(), role, password };
    let access = register.access(&user);
    taken(folder, &Access { url: local_url(&register), ..access.clone() }, true).await?;
    Ok(access)
}

/// Takes a user's credentials away. Returns once a running server has dropped the user.
///
/// # Errors
/// Returns an error if there is no hub or no such user, or the server does not take it.
pub(crate) async fn revoke(folder: &Path, name: &str) -> Result<(), HubError> {
    let register = users(folder)?;
    let Some(user) = register.users.iter().find(|user| user.name == name) else {
        let users = register.users.iter().map(|user| user.name.as_str()).collect::<Vec<_>>().join(", ");
        return Err(HubError::Unknown { name: name.to_owned(), users });
    };
    change(folder, |register| {
        register.revoke(name);
        Ok(())
    })?;
    taken(folder, &Access { url: local_url(&register), ..register.access(user) }, false).await
}

/// The hub's users.
///
/// # Errors
/// Returns an error if there is no hub, or its file is damaged.
pub(crate) fn users(folder: &Path) -> Result<Register, HubError> {
    check_hub(folder)?;
    let path = folder.join("hub.toml");
    Ok(from_toml(&path, &read_input(&path, MOST_DOCUMENT_BYTES).map_err(file(&path))?)?)
}

fn check_hub(folder: &Path) -> Result<(), HubError> {
    if folder.join("hub.toml").exists() { Ok(()) } else { Err(HubError::Missing(folder.to_owned())) }
}

/// Waits until the running server, if any, accepts a user or refuses it.
async fn taken(folder: &Path, access: &Access, accepts: bool) -> Result<(), HubError> {
    let began = Instant::now();
    while server_of(folder).is_some() {
        let is_taken = match link::door(access, true).await {
            Door::Open => accepts,
            Door::Shut => !accepts,
            Door::Unknown(_) => false,
        };
        if is_taken {
            break;
        }
        if began.elapsed() > RELOAD_LIMIT {
            return Err(HubError::Reload);
        }
        tokio::time::sleep(RELOAD_PAUSE).await;
    }
    Ok(())
}

/// Changes a hub's file, one process at a time, and makes a running server read its configuration
/// again.
fn change(folder: &Path, change: impl FnOnce(&mut Register) -> Result<(), HubError>) -> Result<Register, HubError> {
    // The server started in another folder, and takes no other path of its store when it reloads.
    let folder = &folder.canonicalize().map_err(file(folder))?;
    let lock = folder.join("lock");
    let lock = File::create(&lock).map_err(file(&lock))?;
    lock.lock().map_err(file(folder))?;
    let mut register = match users(folder) {
        Err(HubError::Missing(_)) => Register {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)),
            host: String::new(),
            certificate: None,
            password: password()?,
            most_bytes: 0,
            users: Vec::new(),
        },
        read => read?,
    };
    change(&mut register)?;
    let path = folder.join("hub.toml");
    // Plain data always serialises.
    let text = format!(
        "# Users of this hub and their passwords. Written by `quintain hub`.\n{}",
        toml::to_string(&register).unwrap_or_default()
    );
    write_secret(&path, &text).map_err(file(&path))?;
    server::configure(folder, &register.configuration(folder))?;
    if let Some(server) = server_of(folder) {
        // It may have ended meanwhile, and reads the new configuration when it starts.
        os::ask_to_reload(server);
    }
    Ok(register)
}

/// Process of the running server, if it is one.
fn server_of(folder: &Path) -> Option<u32> {
    let text = std::fs::read_to_string(folder.join("server.pid")).ok()?;
    let pid = text.trim().parse().ok()?;
    let words = os::command_line(pid)?;
    // Its number may be another process's by now.
    let own = folder.canonicalize().ok()?.join(CONFIGURATION);
    words.iter().any(|word| word == own.as_os_str().as_encoded_bytes()).then_some(pid)
}

fn password() -> Result<String, HubError> {
    random_hex().map_err(HubError::Random)
}

fn file(path: &Path) -> impl FnOnce(io::Error) -> HubError {
    let path = path.to_owned();
    move |source| HubError::File { path, source }
}

#[cfg(test)]
mod tests;
