//! Processes other than this one that play a run's games.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::player::player_named;
use crate::record::PlayerId;

/// Workers of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Workers {
    /// Number of workers on this machine. Each plays one game at a time, and a private server
    /// connects them.
    Local(u16),
    /// The workers of a hub.
    Hub(HubRun),
}

/// A run at a hub.
#[derive(Clone, Debug, PartialEq)]
pub struct HubRun {
    /// Address of the hub.
    pub url: String,
    /// Name of the run there, in hexadecimal digits; empty before it has one.
    pub run: String,
    /// Credentials; `None` for those that `quintain hub join` kept.
    pub credentials: Option<PathBuf>,
    /// Priority from -9 to 9. Workers serve the highest one that they can serve.
    pub priority: i8,
    /// Share among runs of one priority, above 0.
    pub weight: f64,
    /// True for a run whose games simulated workers make up, to measure a hub. No other worker
    /// plays for it, and its games are those of no engine.
    pub is_simulated: bool,
}

/// Speed of a player's engine that the times of a run are for.
///
/// A worker on which the engine has another speed scales its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReferenceSpeed {
    /// The player.
    pub player: PlayerId,
    /// Nodes per second.
    pub nps: u64,
}

impl ReferenceSpeed {
    /// Reads `ENGINE=NPS`, given the players' names in their order. The sides of a test may be
    /// called `new` and `base`.
    ///
    /// # Errors
    /// Returns an error if no player has the name, or the speed is not a number of nodes.
    pub fn parse<'a>(
        text: &str,
        names: impl IntoIterator<Item = &'a str>,
        is_test: bool,
    ) -> Result<Self, BadReference> {
        let (engine, nps) = text.rsplit_once('=').ok_or_else(|| BadReference::Form(text.to_owned()))?;
        let names: Vec<_> = names.into_iter().collect();
        let player = player_named(names.iter().copied(), engine, is_test)
            .ok_or_else(|| BadReference::Engine { name: engine.to_owned(), names: names.join(", ") })?;
        let nps = nps.replace('_', "").parse().ok().filter(|nps| (1..=MOST_NPS).contains(nps));
        Ok(Self { player, nps: nps.ok_or_else(|| BadReference::Form(text.to_owned()))? })
    }
}

/// Maximum speed of a reference in nodes per second.
const MOST_NPS: u64 = 1_000_000_000_000;

/// Text that is not a reference speed.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum BadReference {
    /// The text has another form.
    #[error("`{0}` is not an engine's speed; give ENGINE=NPS, such as base=2190000")]
    Form(String),
    /// No player has the name.
    #[error("no engine of this run is called `{name}`; its engines: {names}")]
    Engine {
        /// The name.
        name: String,
        /// Names of the players.
        names: String,
    },
}

/// Word of a simulated run, in the text of its workers and before its name.
pub(crate) const SIMULATED: &str = "simulated";

/// Highest priority, and the lowest one without its sign.
const MOST_PRIORITY: i8 = 9;

impl Workers {
    /// Number of concurrent games, as far as this process knows.
    #[must_use]
    pub const fn games(&self) -> u16 {
        match self {
            Self::Local(workers) => *workers,
            Self::Hub(_) => 1,
        }
    }

    /// True for simulated workers.
    #[must_use]
    pub const fn are_simulated(&self) -> bool {
        matches!(self, Self::Hub(HubRun { is_simulated: true, .. }))
    }

    /// True if both are the same workers, whatever the run is called there.
    #[must_use]
    pub fn are_those_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Hub(one), Self::Hub(other)) => one.url == other.url && one.is_simulated == other.is_simulated,
            _ => self == other,
        }
    }
}

/// Text that names no workers.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum BadWorkers {
    /// It is of another form.
    #[error(
        "`{0}` names no workers; give local:N, as local:4, for N workers on this machine, or the address of a hub, as tls://HOST:4222"
    )]
    Form(String),
    /// The priority is out of range.
    #[error("`{0}` is not a priority; give a whole number from -{MOST_PRIORITY} to {MOST_PRIORITY}")]
    Priority(String),
    /// The weight is out of range.
    #[error("`{0}` is not a weight; give a number above 0")]
    Weight(String),
}

impl HubRun {
    /// Sets the priority.
    ///
    /// # Errors
    /// Returns an error if it is out of range.
    pub fn set_priority(&mut self, priority: i32) -> Result<(), BadWorkers> {
        let is_fit = |priority: &i8| (-MOST_PRIORITY..=MOST_PRIORITY).contains(priority);
        let fit = i8::try_from(priority).ok().filter(is_fit);
        self.priority = fit.ok_or_else(|| BadWorkers::Priority(priority.to_string()))?;
        Ok(())
    }

    /// Sets the share among runs of one priority.
    ///
    /// # Errors
    /// Returns an error if it is not above 0.
    pub fn set_weight(&mut self, weight: f64) -> Result<(), BadWorkers> {
        if !(weight.is_finite() && weight > 0.0) {
            return Err(BadWorkers::Weight(weight.to_string()));
        }
        self.weight = weight;
        Ok(())
    }
}

impl FromStr for Workers {
    type Err = BadWorkers;

    /// Reads `local:N`, or the address of a hub and what [`fmt::Display`] writes after it.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || BadWorkers::Form(text.to_owned());
        if let Some(count) = text.strip_prefix("local:") {
            let count = count.parse().ok().filter(|count| *count > 0);
            return count.map(Self::Local).ok_or_else(bad);
        }
        let mut words = text.split(' ');
        let address = words.next().unwrap_or_default();
        let (scheme, place) = address.split_once("://").ok_or_else(bad)?;
        let (host, run) = place.split_once('/').unwrap_or((place, ""));
        let is_run = run.len() <= 64 && run.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !matches!(scheme, "nats" | "tls") || host.is_empty() || !is_run {
            return Err(bad());
        }
        let (url, run) = (format!("{scheme}://{host}"), run.to_owned());
        let mut hub = HubRun { url, run, credentials: None, priority: 0, weight: 1.0, is_simulated: false };
        if let Some((_, rest)) = text.split_once(" credentials=") {
            hub.credentials = Some(PathBuf::from(rest));
        }
        for word in words.take_while(|word| !word.starts_with("credentials=")) {
            match word.split_once('=') {
                Some(("priority", value)) => {
                    hub.set_priority(value.parse().map_err(|_| BadWorkers::Priority(value.to_owned()))?)?;
                }
                Some(("weight", value)) => {
                    hub.set_weight(value.parse().map_err(|_| BadWorkers::Weight(value.to_owned()))?)?;
                }
                None if word == SIMULATED => hub.is_simulated = true,
                _ => return Err(bad()),
            }
        }
        Ok(Self::Hub(hub))
    }
}

impl fmt::Display for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(workers) => write!(f, "local:{workers}"),
            Self::Hub(HubRun { url, run, credentials, priority, weight, is_simulated }) => {
                write!(f, "{url}/{run}")?;
                if *is_simulated {
                    write!(f, " {SIMULATED}")?;
                }
                if *priority != 0 {
                    write!(f, " priority={priority}")?;
                }
                if weight.to_bits() != 1.0_f64.to_bits() {
                    write!(f, " weight={weight}")?;
                }
                // Last, because its path may hold spaces.
                credentials.as_ref().map_or(Ok(()), |file| write!(f, " credentials={}", file.display()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_named_by_their_number_or_their_hub() {
        assert_eq!("local:4".parse::<Workers>().unwrap().to_string(), "local:4");
        for (text, stored) in [
            ("tls://hub.example:4222", "tls://hub.example:4222/"),
            ("tls://hub.example/3fa9", "tls://hub.example/3fa9"),
            ("nats://[::1]:1/ab priority=-2 weight=0.5", "nats://[::1]:1/ab priority=-2 weight=0.5"),
            ("tls://h/ab simulated priority=3", "tls://h/ab simulated priority=3"),
            ("tls://h/ab priority=3 credentials=/a b/c.toml", "tls://h/ab priority=3 credentials=/a b/c.toml"),
        ] {
            let workers: Workers = text.parse().unwrap();
            assert_eq!(workers.to_string(), stored);
            assert_eq!(stored.parse::<Workers>().unwrap(), workers);
        }
        for wrong in [
            "",
            "local",
            "local:",
            "local:0",
            "local:-1",
            "local:65536",
            "4",
            "http://example.org",
            "tls://",
            "tls://h/run",
            "tls://h/ab other=1",
        ] {
            assert!(wrong.parse::<Workers>().unwrap_err().to_string().contains("local:N"), "{wrong}");
        }
        for wrong in ["10", "-10", "1.5", ""] {
            let error = format!("tls://h priority={wrong}").parse::<Workers>().unwrap_err();
            assert_eq!(error, BadWorkers::Priority(wrong.to_owned()));
        }
        for wrong in ["0", "-1", "inf", "NaN", "x"] {
            let error = format!("tls://h weight={wrong}").parse::<Workers>().unwrap_err();
            assert_eq!(error, BadWorkers::Weight(wrong.to_owned()));
        }
    }

    #[test]
    fn a_reference_speed_names_a_player() {
        let read = |text: &str| ReferenceSpeed::parse(text, ["new", "a=b"], false);
        assert_eq!(read("a=b=2_190_000"), Ok(ReferenceSpeed { player: PlayerId(1), nps: 2_190_000 }));
        let error = read("base=1").unwrap_err().to_string();
        assert!(error.contains("`base`; its engines: new, a=b"), "{error}");
        for wrong in ["new", "new=", "new=0", "new=-1", "new=1.5", "new=fast"] {
            assert_eq!(read(wrong), Err(BadReference::Form(wrong.to_owned())));
        }
    }

    #[test]
    fn the_sides_of_a_test_may_be_named_by_their_roles() {
        for (text, names, is_test, expected) in [
            ("base=5", &["x-1", "x-2"][..], true, Some(1)),
            ("new=5", &["x-1", "x-2"], true, Some(0)),
            // A player's own name comes first, and players of a match have no roles.
            ("base=5", &["base", "x"], true, Some(0)),
            ("base=5", &["x-1", "x-2"], false, None),
            ("base=5", &["a", "b", "c"], false, None),
            ("x-1=5", &["x-1", "x-2"], true, Some(0)),
            ("base", &["x-1", "x-2"], true, None),
        ] {
            let read = ReferenceSpeed::parse(text, names.iter().copied(), is_test);
            let expected = expected.map(|player| ReferenceSpeed { player: PlayerId(player), nps: 5 });
            assert_eq!(read.ok(), expected, "{text} {names:?}");
        }
    }

    #[test]
    fn a_run_is_at_the_same_hub_whatever_its_name() {
        let hub = |text: &str| text.parse::<Workers>().unwrap();
        assert!(hub("tls://h/ab").are_those_of(&hub("tls://h")));
        assert!(!hub("tls://h/ab").are_those_of(&hub("tls://g/ab")));
        assert!(!hub("tls://h/ab").are_those_of(&hub("tls://h/ab simulated")));
        assert!(hub("local:2").are_those_of(&hub("local:2")) && !hub("local:2").are_those_of(&hub("local:3")));
    }
}
