//! `quintain serve`: a dashboard for browsers over the folder of results.
//!
//! It only reads files there and talks to live runs over their control sockets, as `quintain watch`
//! and `quintain ctl` do. It can be started and stopped while runs are played. The page is three
//! files embedded in the program; a browser loads nothing from elsewhere. Names of engines and runs
//! come from others: the page sets them as text, never as markup, and a content security policy
//! forbids inline scripts and styles.
//!
//! Reading order: `guard` (access control), `store` (the index of runs), `fold` (the course of
//! one), `live` and `board` (runs that are being played), `routes`, `connections` (bounds on
//! clients).

mod app;
mod board;
mod connections;
mod documents;
mod fold;
mod games;
mod guard;
mod live;
mod machine;
mod queue;
mod routes;
mod standings;
mod store;

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;

use app::{App, AppSettings};
use connections::Limits;
use guard::Guard;

use crate::run::queue::Queue;
use crate::source::OwnProgram;
use crate::text::{random_hex, with_causes};

/// Characters of the shortest token that is accepted.
pub const SHORTEST_TOKEN: usize = 16;

/// Settings of the server.
#[derive(Clone, Debug)]
pub struct ServeSettings {
    /// The folder of results.
    pub results: PathBuf,
    /// The secret that steering a run needs; away from loopback, reading does too. At least
    /// [`SHORTEST_TOKEN`] characters.
    pub token: String,
    /// Names of the dashboard besides `localhost` and addresses.
    pub hosts: Vec<String>,
    /// Allows new tests, which start programs, even if other machines can connect.
    pub makes_tests: bool,
    /// This program, and the directory in which new tests are resolved.
    pub own: OwnProgram,
}

/// Reason that the server stopped or did not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The token is too easily guessed.
    #[error("the token: at least {SHORTEST_TOKEN} characters of A-Z, a-z, 0-9, `-`, `.`, `_`; without it one is made")]
    Token,
    /// The system provided no randomness.
    #[error("no randomness for a token: {0}; give one with --token-file")]
    Random(std::io::Error),
    /// The socket failed.
    #[error("cannot listen: {0}")]
    Io(#[from] std::io::Error),
}

/// A new token: 128 random bits in hex.
///
/// # Errors
/// [`ServeError::Random`].
pub fn token() -> Result<String, ServeError> {
    random_hex().map_err(ServeError::Random)
}

/// Checks a token that the user chose.
///
/// # Errors
/// [`ServeError::Token`].
pub fn check_token(token: &str) -> Result<(), ServeError> {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    if token.len() < SHORTEST_TOKEN || !token.chars().all(is_fit) {
        return Err(ServeError::Token);
    }
    Ok(())
}

/// Waits for a condition.
async fn until(is_met: &(dyn Fn() -> bool + Sync)) {
    while !is_met() {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

/// Serves until Ctrl-C, or until `is_stopped`, for a program that handles signals itself.
///
/// # Errors
/// [`ServeError::Token`], and [`ServeError::Io`] if the socket fails.
pub fn serve(
    listener: TcpListener,
    settings: ServeSettings,
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> Result<(), ServeError> {
    let ServeSettings { results, token, hosts, makes_tests, own } = settings;
    check_token(&token)?;
    let address: SocketAddr = listener.local_addr()?;
    let (guard, queue) = (
        Guard::new(&token, address, &hosts),
        Queue::of(&results).map_err(|why| std::io::Error::other(with_causes(&why)))?,
    );
    let makes_tests = makes_tests || !guard.is_private();
    let router = routes::router(App::new(AppSettings { guard, results, queue, own, makes_tests }));
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let served: std::io::Result<()> = runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        // Streams never end by themselves, so they are cut off.
        tokio::select! {
            never = connections::serve(listener, router, Limits::default()) => match never {},
            interrupted = tokio::signal::ctrl_c() => interrupted,
            () = until(is_stopped) => Ok(()),
        }
    });
    runtime.shutdown_background();
    Ok(served?)
}
