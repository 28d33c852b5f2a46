//! Notices of the end of a run: a command of the user's, a webhook, ntfy and Discord.
//!
//! An address is a secret, so settings hold only the name of the environment variable that has it.
//! Those of a run are kept in its folder for `quintain resume`, in a file that only its user
//! reads, and signed: a folder from elsewhere starts no command.
//! No notice changes the result of a run: one that fails is a line of warning.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::files::{MOST_DOCUMENT_BYTES, read_secret, write_secret};
use crate::report::{state, stored};
use crate::run::error::{Result, ResultContext as _, fail};
use crate::run::{Exit, progress, stamp};
use crate::settings::{ConfigError, RawPlan};
use crate::source::{self, Context, RawNotify};
use crate::text::{count, printable, with_causes};

/// Longest time of a request.
const REQUEST_LIMIT: Duration = Duration::from_secs(10);

/// Longest time of the user's command.
const COMMAND_LIMIT: Duration = Duration::from_secs(60);

/// Maximum length of a message in characters, below Discord's limit of 2000.
const MOST_CHARACTERS: usize = 1_800;

/// Name of the file in a run directory that keeps the settings of its receivers. No page shows it
/// and no archive has it.
pub(crate) const KEPT: &str = "notify";

/// Prefix of the signed text.
const PURPOSE: &[u8] = b"quintain notices 1\n";

/// Kept settings, with the signature of the user who gave them.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptReceivers {
    signature: String,
    settings: RawPlan,
}

/// Settings of the receivers alone.
fn settings(raw: &RawPlan) -> RawPlan {
    RawPlan {
        on_end: raw.on_end.clone(),
        notify_webhook: raw.notify_webhook.clone(),
        notify_ntfy: raw.notify_ntfy.clone(),
        notify_discord: raw.notify_discord.clone(),
        ..RawPlan::default()
    }
}

/// Keeps the receivers that the settings name in the run directory `root`. What cannot be kept is a
/// warning.
pub(crate) fn keep(raw: &RawPlan, root: &Path) {
    let settings = settings(raw);
    if settings == RawPlan::default() {
        return;
    }
    let path = root.join(KEPT);
    let write = || -> Result<()> {
        let signature = stamp::sign(PURPOSE, &settings.table()?.to_string())?;
        let text = toml::to_string(&KeptReceivers { signature, settings: settings.clone() });
        let text = text.map_err(|error| ConfigError::Value(error.to_string()))?;
        write_secret(&path, &text).within(|| format!("{}: cannot write it", path.display()))
    };
    if let Err(error) = write() {
        progress::warn(&format!("`quintain resume` will send no notifications of this run: {}", with_causes(&error)));
    }
}

/// Settings of the receivers that the run in `root` began with; none if this user did not write
/// them.
pub(crate) fn kept(root: &Path) -> RawPlan {
    let path = root.join(KEPT);
    if path.symlink_metadata().is_err() {
        return RawPlan::default();
    }
    let read = || -> Option<RawPlan> {
        let kept: KeptReceivers = toml::from_str(&read_secret(&path, MOST_DOCUMENT_BYTES).ok()?).ok()?;
        let text = kept.settings.table().ok()?.to_string();
        stamp::is_signed(PURPOSE, &text, &kept.signature).then(|| settings(&kept.settings))
    };
    read().unwrap_or_else(|| {
        let shown = path.display();
        progress::warn(&format!(
            "{shown}: it was not written by you on this machine, so its receivers are not notified; give --on-end again"
        ));
        RawPlan::default()
    })
}

/// Kind of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Service {
    Webhook,
    Ntfy,
    Discord,
}

impl Service {
    const fn name(self) -> &'static str {
        match self {
            Self::Webhook => "webhook",
            Self::Ntfy => "ntfy",
            Self::Discord => "discord",
        }
    }

    /// Type and bytes of a request's body, as the service documents it.
    fn body(self, summary: &Value, message: &str) -> (&'static str, Vec<u8>) {
        const JSON: &str = "application/json";
        match self {
            Self::Webhook => (JSON, summary.to_string().into_bytes()),
            Self::Ntfy => ("text/plain; charset=utf-8", message.as_bytes().to_vec()),
            // Names of engines mention nobody.
            Self::Discord => {
                let body = json!({ "content": message, "allowed_mentions": { "parse": [] } });
                (JSON, body.to_string().into_bytes())
            }
        }
    }
}

/// Receivers of the notice.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receivers {
    command: Option<String>,
    /// Kinds, with the variables that hold the addresses.
    services: Vec<(Service, String)>,
}

impl Receivers {
    /// Receivers that the settings name, and those of `quintain.toml` in the current repository
    /// for services that the settings leave out.
    ///
    /// # Errors
    /// Returns an error if an address is written out instead of a variable's name.
    pub(crate) fn of(raw: &RawPlan) -> Result<Self> {
        let tree = Context::from_env().ok().and_then(|context| source::notify(&context)).unwrap_or_default();
        let RawNotify { webhook, ntfy, discord } = tree;
        let mut services = Vec::new();
        for (service, own, of_tree) in [
            (Service::Webhook, &raw.notify_webhook, webhook),
            (Service::Ntfy, &raw.notify_ntfy, ntfy),
            (Service::Discord, &raw.notify_discord, discord),
        ] {
            let Some(variable) = own.clone().or(of_tree) else { continue };
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if variable.is_empty() || !variable.chars().all(is_name) {
                fail!(
                    Setting,
                    "notify-{}: give the name of the environment variable that holds the address; plans are stored with runs, but the address is a secret",
                    service.name()
                );
            }
            services.push((service, variable));
        }
        Ok(Self { command: raw.on_end.clone(), services })
    }

    /// Receivers as of [`of`](Self::of), of settings that were checked before. What cannot be read
    /// now is a warning, because no notice changes a run; the user's command stays.
    pub(crate) fn of_checked(raw: &RawPlan) -> Self {
        Self::of(raw).unwrap_or_else(|error| {
            progress::warn(&format!("the end of this run goes to no service: {}", with_causes(&error)));
            Self { command: raw.on_end.clone(), services: Vec::new() }
        })
    }

    /// Notifies all receivers of the end of the run in `root` at the same time, and waits for the
    /// slowest.
    pub(crate) fn tell(&self, root: &Path, exit: Exit) {
        // One that was interrupted has not ended.
        if exit == Exit::Interrupted || self.command.is_none() && self.services.is_empty() {
            return;
        }
        let text = stored::text(&root.join(stored::SUMMARY));
        let Some(mut summary) = text.and_then(|text| serde_json::from_str::<Value>(&text).ok()) else {
            progress::warn(&format!("{}: no summary to report", root.display()));
            return;
        };
        summary["run"] = json!(root.display().to_string());
        summary["exit"] = json!(exit.code());
        self.send_all(&summary, &message(&summary));
    }

    /// Tells everyone of the end of a command that plays many matches in `root`: its JSON document
    /// and its result in one line.
    pub(crate) fn tell_of(&self, command: &str, (mut document, headline): (Value, &str), root: &Path, exit: Exit) {
        if exit == Exit::Interrupted {
            return;
        }
        let run = root.display().to_string();
        let line = format!("{command}: {}, {}", printable(headline), printable(&run));
        document["name"] = json!(command);
        document["run"] = json!(run);
        document["exit"] = json!(exit.code());
        self.send_all(&document, &line.chars().take(MOST_CHARACTERS).collect::<String>());
    }

    fn send_all(&self, document: &Value, message: &str) {
        std::thread::scope(|scope| {
            if let Some(command) = &self.command {
                scope.spawn(|| call(command, document));
            }
            for (service, variable) in &self.services {
                scope.spawn(|| {
                    if let Err(why) = send(*service, variable, document, message) {
                        progress::warn(&format!("{} was not notified: {why}", service.name()));
                    }
                });
            }
        });
    }
}

/// Notice in one line.
fn message(summary: &Value) -> String {
    let text = |key: &str| summary[key].as_str().map(printable);
    let players: Vec<String> = summary["players"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|player| ["label", "name"].iter().find_map(|key| player[key].as_str()).map(printable))
        .collect();
    let who = match players.as_slice() {
        [new, base] => format!("{new} against {base}"),
        players => format!("{} players", players.len()),
    };
    let reason = text("stopped_by");
    let has_outcome = reason.as_deref().is_some_and(|reason| state::has_outcome(players.len(), reason));
    let outcome = text("outcome").filter(|_| has_outcome);
    let result = text("verdict").filter(|verdict| verdict.starts_with('H')).or(outcome).or(reason);
    let elo = summary["elo"].as_f64().map(|elo| format!(", Elo {elo:+.1}")).unwrap_or_default();
    let title = text("title").map(|title| format!("{title}: ")).unwrap_or_default();
    let games = summary["games"].as_u64().map(|games| format!(", {}", count(games, "game"))).unwrap_or_default();
    let line = format!(
        "{}: {title}{who}{elo}{games}, {}",
        result.unwrap_or_else(|| "over".to_owned()),
        text("run").unwrap_or_default()
    );
    line.chars().take(MOST_CHARACTERS).collect()
}

/// Runs the user's command with the summary as its input.
fn call(command: &str, summary: &Value) {
    let text = |key: &str| summary[key].as_str().unwrap_or_default().to_owned();
    let variables = [
        ("QUINTAIN_RUN", text("run")),
        ("QUINTAIN_NAME", text("name")),
        ("QUINTAIN_TITLE", text("title")),
        ("QUINTAIN_VERDICT", text("verdict")),
        ("QUINTAIN_STOPPED_BY", text("stopped_by")),
        ("QUINTAIN_EXIT", summary["exit"].to_string()),
    ];
    if let Err(why) = source::tell(command, summary.to_string().as_bytes(), &variables, COMMAND_LIMIT) {
        progress::warn(&format!("--on-end: {why}"));
    }
}

/// Sends a notice. The error does not name the address.
fn send(service: Service, variable: &str, summary: &Value, message: &str) -> Result<(), String> {
    let Ok(address) = std::env::var(variable) else { return Err(format!("the variable {variable} is not set")) };
    let agent = ureq::Agent::config_builder().timeout_global(Some(REQUEST_LIMIT)).build().new_agent();
    let (kind, body) = service.body(summary, message);
    let mut request = agent.post(address.trim()).header("content-type", kind);
    if service == Service::Ntfy {
        request = request.header("title", "quintain");
    }
    match request.send(body.as_slice()) {
        Ok(_) => Ok(()),
        Err(ureq::Error::StatusCode(status)) => Err(format!("it answered {status}")),
        Err(ureq::Error::Timeout(_)) => Err(format!("no answer within {} s", REQUEST_LIMIT.as_secs())),
        Err(_) => Err(format!("the address in {variable} cannot be reached")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_never_part_of_a_setting() {
        for (text, fits) in [("MY_HOOK", true), ("https://ntfy.sh/secret", false), ("", false), ("$MY_HOOK", false)] {
            let raw = RawPlan { notify_ntfy: Some(text.to_owned()), ..RawPlan::default() };
            let found = Receivers::of(&raw);
            assert_eq!(found.is_ok(), fits, "{text}");
            if let Err(error) = found {
                assert!(!error.to_string().contains("ntfy.sh"), "{error}");
            }
        }
    }

    #[test]
    fn a_message_is_one_line_of_its_run() {
        let summary = json!({ "verdict": "H1", "elo": 9.53, "games": 180, "run": "runs/x", "title": "less\nreduction",
            "players": [{ "name": "lmr", "label": "lmr (Hash=2)" }, { "name": "main" }] });
        let said = message(&summary);
        assert!(
            said.starts_with("H1: less") && said.ends_with("lmr (Hash=2) against main, Elo +9.5, 180 games, runs/x"),
            "{said}"
        );
        assert!(!said.contains('\n'), "{said}");
        let many = json!({ "verdict": null, "stopped_by": "out-of-pairs", "games": 6, "players": [{}, {}, {}], "title": "x".repeat(9_000) });
        let said = message(&many);
        assert!(said.starts_with("out-of-pairs: xxx") && said.chars().count() == MOST_CHARACTERS, "{said}");
        let race = json!({ "stopped_by": "out-of-pairs", "outcome": "b wins the race", "games": 6, "run": "runs/x",
            "players": [{ "name": "a" }, { "name": "b" }, { "name": "c" }] });
        assert_eq!(message(&race), "b wins the race: 3 players, 6 games, runs/x");
        for (games, text) in [(json!(1), "over: 0 players, 1 game, r"), (json!(null), "over: 0 players, r")] {
            assert_eq!(message(&json!({ "games": games, "run": "r" })), text);
        }
    }
}
