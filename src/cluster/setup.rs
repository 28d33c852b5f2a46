//! A worker's machine: what it offers, whether it can serve, and a unit that starts it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::access::{Access, Role};
use super::cache::Cache;
use super::link::{Link, LinkError};
use super::pool;
use super::registry::{self, List, RunEntry, WorkerEntry};
use super::sign::{AuthorKey, KeyError};
use super::terms::{Room, Sandbox, Terms};
use crate::schedule::affinity::Topology;
use crate::source::{Context, SourceError};
use crate::tablebase::Tables;
use crate::text::{count, random_hex};
use crate::uci::process::{Confinement, EngineConfig, output};

/// Time limit of a confined program that prints one line.
const PROBE_LIMIT: Duration = Duration::from_mins(1);

/// Memory of a game of two engines with small hash tables, in MiB.
const SMALL_GAME_MIB: u64 = 160;

/// Folders that a unit with `ProtectHome` cannot read.
const HIDDEN: [&str; 3] = ["/home", "/root", "/run/user"];

/// Concurrent games of engines with one thread: as asked for, else the owner's, else one core is
/// left free.
pub(crate) fn slots(terms: &Terms, asked: Option<u16>, cores: usize) -> u16 {
    let free = u16::try_from(cores.saturating_sub(1)).unwrap_or(u16::MAX).max(1);
    asked.or(terms.slots).unwrap_or(free)
}

/// Memory for engines, in MiB: the owner's, else that of the machine.
pub(crate) fn memory_mib(terms: &Terms) -> u64 {
    let of_machine = || {
        let text = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        Some(line.trim().split(' ').next()?.parse::<u64>().ok()? >> 10)
    };
    // A system that does not say is trusted to have enough.
    terms.memory_mib.or_else(of_machine).unwrap_or(u64::MAX >> 20)
}

/// Folder of programs and networks for workers of this user.
///
/// # Errors
/// Those of [`Context::from_env`].
pub(crate) fn cache_folder(user: &str) -> Result<PathBuf, SourceError> {
    Ok(Context::from_env()?.cache.join("worker").join(user))
}

/// Public key of this user as an author of plans. The key is created if there is none.
///
/// # Errors
/// Returns an error if there is none and none can be made.
pub(crate) fn own_key() -> Result<String, KeyError> {
    Ok(AuthorKey::of_user()?.public().to_string())
}

/// Runs and workers of a hub.
///
/// # Errors
/// Returns an error if it cannot be reached or does not answer.
pub(crate) async fn lists(access: &Access) -> Result<(Vec<RunEntry>, Vec<WorkerEntry>), LinkError> {
    let link = Link::open(access, &session(access)).await?;
    let mut runs: Vec<RunEntry> = registry::read(&link, List::Runs).await?;
    let mut workers: Vec<WorkerEntry> = registry::read(&link, List::Workers).await?;
    runs.sort_by(|a, b| b.priority.cmp(&a.priority).then_with(|| a.run.cmp(&b.run)));
    workers.sort_by(|a, b| a.name.cmp(&b.name));
    Ok((runs, workers))
}

fn session(access: &Access) -> String {
    // Two processes of one name would only read each other's answers.
    format!("{}-{}", access.user, random_hex().unwrap_or_default())
}

/// One line on each thing that a worker needs, true for those that are fine.
pub(crate) async fn check_worker(
    url: &str,
    config: &Path,
    credentials: Option<&Path>,
    asked: Option<u16>,
    any_version: bool,
) -> Vec<(bool, String)> {
    let mut lines = Vec::new();
    let terms = Terms::read(config);
    match &terms {
        Ok(terms) => check_terms(terms, config, asked, &mut lines).await,
        Err(error) => lines.push((false, error.to_string())),
    }
    let access = match Access::find(url, Role::Worker, credentials) {
        Ok(access) => access,
        Err(error) => {
            lines.push((false, error.to_string()));
            return lines;
        }
    };
    lines.push((true, format!("credentials of user {} for {}", access.user, access.url)));
    lines.extend(terms.iter().map(|terms| check_cache(&access.user, terms)));
    let link = match Link::open(&access, &session(&access)).await {
        Ok(link) => link,
        Err(error) => {
            lines.push((false, error.to_string()));
            return lines;
        }
    };
    lines.push((true, format!("the hub answers; it is nats-server {}", link.server_version())));
    match registry::read::<RunEntry>(&link, List::Runs).await {
        Ok(runs) => {
            lines.push((true, format!("the hub lists {}", count(runs.len() as u64, "run"))));
            lines.extend(terms.iter().flat_map(|terms| check_runs(&runs, terms, asked, any_version)));
        }
        Err(error) => lines.push((
            false,
            format!("the hub's list of runs cannot be read ({error}); is its quintain of this version?"),
        )),
    }
    lines
}

/// One line on each run that this worker would refuse by its entry alone.
fn check_runs(runs: &[RunEntry], terms: &Terms, asked: Option<u16>, any_version: bool) -> Vec<(bool, String)> {
    let room = Room {
        slots: slots(terms, asked, Topology::detect().physical_cores()),
        memory_mib: memory_mib(terms),
        cache: PathBuf::new(),
        scratch: PathBuf::new(),
    };
    let refused = runs.iter().filter(|run| !run.simulated).filter_map(|run| {
        let why = pool::refusal(run, terms, &room, any_version)?;
        let title = if run.title.is_empty() { &run.run } else { &run.title };
        Some((false, format!("run {} would not be served: {why}", crate::text::printable(title))))
    });
    refused.collect()
}

/// Checks what does not need the hub.
async fn check_terms(terms: &Terms, config: &Path, asked: Option<u16>, lines: &mut Vec<(bool, String)>) {
    let file = config.display();
    lines.push((true, format!("{file} is read")));
    lines.push(match terms.trust.len() {
        0 => (false, format!("{file} trusts no author: add trust = [\"quintain-key:...\"] with the key that `quintain workers --key` prints for an author")),
        keys => (true, count(keys as u64, "trusted author")),
    });
    lines.push(match terms.engines() {
        0 => (
            false,
            format!("{file} allows no engine: add [[engine]] with sha256 = \"...\" or author = \"quintain-key:...\""),
        ),
        engines => (true, count(engines as u64, "[[engine]] table")),
    });
    lines.push(match terms.sandbox {
        Sandbox::None => (true, "sandbox = \"none\": engines have the rights of this user".to_owned()),
        Sandbox::Strict => match probe().await {
            Ok(()) => (true, "the sandbox works".to_owned()),
            Err(why) => (false, why),
        },
    });
    let cores = Topology::detect().physical_cores();
    let slots = slots(terms, asked, cores);
    lines.push((
        usize::from(slots) <= cores,
        format!(
            "{} at once on {}{}",
            count(slots.into(), "game"),
            count(cores as u64, "physical core"),
            if usize::from(slots) <= cores { "" } else { ": give fewer, or games disturb each other" }
        ),
    ));
    let memory = memory_mib(terms);
    let needed = u64::from(slots) * SMALL_GAME_MIB;
    lines.push((
        needed <= memory,
        format!("{memory} MiB of memory; {} with small hash tables: {needed} MiB", count(slots.into(), "game")),
    ));
    if !terms.syzygy.is_empty() {
        lines.push(match Tables::open(&terms.syzygy) {
            Ok(_) => (true, "endgame tables are there".to_owned()),
            Err(error) => (false, error.to_string()),
        });
    }
}

/// Checks the folder in which a worker with these credentials keeps programs.
fn check_cache(user: &str, terms: &Terms) -> (bool, String) {
    match cache_folder(user).map(|folder| Cache::open(&folder, terms.disk_mib)) {
        Ok(Ok(_)) => (true, format!("{} MiB of disk for programs and networks", terms.disk_mib)),
        Ok(Err(error)) => (false, error.to_string()),
        Err(error) => (false, error.to_string()),
    }
}

/// Runs this program in the sandbox of an engine.
async fn probe() -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let config = EngineConfig {
        name: "of the check".to_owned(),
        program: std::env::current_exe().map_err(|error| error.to_string())?,
        args: vec!["--version".to_owned()],
        confinement: Some(Confinement { scratch: folder.path().join("scratch"), ..Confinement::default() }),
        ..EngineConfig::default()
    };
    match output(&config, PROBE_LIMIT).await {
        Ok(printed) if printed.out.contains(env!("CARGO_PKG_VERSION")) => Ok(()),
        Ok(_) => Err(
            "a program does not run in the sandbox of this machine; sandbox = \"none\" in worker.toml switches it off"
                .to_owned(),
        ),
        Err(error) => Err(error.to_string()),
    }
}

/// Arguments of a worker in a unit for systemd.
#[derive(Debug, Default)]
pub(crate) struct UnitArgs {
    /// Concurrent games.
    pub(crate) slots: Option<u16>,
    /// File of the owner's terms.
    pub(crate) config: Option<PathBuf>,
    /// Credentials for the hub.
    pub(crate) credentials: Option<PathBuf>,
    /// True to serve coordinators of any version.
    pub(crate) any_version: bool,
}

/// Warning that a unit cannot read some of its files, with the remedy; `None` if it can.
pub(crate) fn systemd_warning(program: &Path, args: &UnitArgs) -> Option<String> {
    let files = [Some(program), args.config.as_deref(), args.credentials.as_deref()];
    let files = files.into_iter().flatten().map(|file| std::path::absolute(file).unwrap_or_else(|_| file.to_owned()));
    let hidden = files.filter(|file| HIDDEN.iter().any(|folder| file.starts_with(folder)));
    let hidden: Vec<_> = hidden.map(|file| crate::text::printable(&file.display().to_string())).collect();
    (!hidden.is_empty()).then(|| {
        format!(
            "the unit cannot read {}, because ProtectHome hides home folders: install the program in /usr/local/bin, \
             put other files into /var/lib/quintain, and print the unit again with these",
            hidden.join(", ")
        )
    })
}

/// Unit for systemd that starts a worker of `url` as a user of its own.
pub(crate) fn systemd_unit(program: &Path, url: &str, args: &UnitArgs) -> String {
    let warning = systemd_warning(program, args).map(|text| format!("# Warning: {text}\n")).unwrap_or_default();
    let program = program.display();
    // Part of a command line, in which systemd gives some characters a meaning.
    let url: String = url.chars().filter(|c| c.is_ascii_alphanumeric() || ":/.[]-_".contains(*c)).collect();
    let mut more = args.slots.map(|slots| format!(" -j {slots}")).unwrap_or_default();
    for (flag, path) in [("--config", &args.config), ("--credentials", &args.credentials)] {
        let path = path.as_ref().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()));
        more.extend(path.map(|path| format!(" {flag} {}", systemd_word(&path.display().to_string()))));
    }
    if args.any_version {
        more.push_str(" --any-version");
    }
    format!(
        "{warning}# Worker of {url}. Before it is started:\n\
         #   useradd --system --create-home --home-dir /var/lib/quintain quintain\n\
         #   sudo -u quintain XDG_CONFIG_HOME=/var/lib/quintain/config {program} hub join\n\
         #   write /var/lib/quintain/config/quintain/worker.toml\n\
         #   {program} worker {url} --systemd > /etc/systemd/system/quintain-worker.service\n\
         #   systemctl enable --now quintain-worker\n\
         [Unit]\n\
         Description=Quintain worker\n\
         Wants=network-online.target\n\
         After=network-online.target\n\
         \n\
         [Service]\n\
         User=quintain\n\
         Environment=XDG_CONFIG_HOME=/var/lib/quintain/config XDG_CACHE_HOME=/var/lib/quintain/cache\n\
         ExecStart={program} worker {url}{more}\n\
         Restart=on-failure\n\
         RestartSec=30\n\
         # The first signal finishes the pairs in play.\n\
         KillSignal=SIGINT\n\
         KillMode=mixed\n\
         TimeoutStopSec=10min\n\
         NoNewPrivileges=yes\n\
         CapabilityBoundingSet=\n\
         AmbientCapabilities=\n\
         ProtectSystem=strict\n\
         ProtectHome=yes\n\
         ReadWritePaths=/var/lib/quintain\n\
         PrivateTmp=yes\n\
         PrivateDevices=yes\n\
         ProtectKernelTunables=yes\n\
         ProtectKernelModules=yes\n\
         ProtectKernelLogs=yes\n\
         ProtectControlGroups=yes\n\
         ProtectClock=yes\n\
         ProtectHostname=yes\n\
         RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX\n\
         # Engines get namespaces of their own.\n\
         RestrictNamespaces=user net\n\
         RestrictSUIDSGID=yes\n\
         RestrictRealtime=yes\n\
         LockPersonality=yes\n\
         SystemCallArchitectures=native\n\
         \n\
         [Install]\n\
         WantedBy=multi-user.target\n"
    )
}

/// Text as one word of a command line of systemd, which gives some characters a meaning
/// (systemd.service(5), "Command lines").
fn systemd_word(text: &str) -> String {
    let mut word = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => word.extend(['\\', character]),
            '%' | '$' => word.extend([character, character]),
            '\n' => word.push_str("\\n"),
            _ => word.push(character),
        }
    }
    word.push('"');
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::wire;

    /// Entry of a run, a change of it, and the expected reason.
    type Case = (&'static str, serde_json::Value, &'static str);

    #[test]
    fn each_listed_run_that_would_be_refused_is_a_fault() {
        let folder = tempfile::tempdir().unwrap();
        let [key, other] = ["key", "other"].map(|name| AuthorKey::load(&folder.path().join(name)).unwrap().public());
        let file = folder.path().join("worker.toml");
        std::fs::write(&file, format!("trust = [\"{key}\"]\nmemory_mib = 1000\n")).unwrap();
        let terms = Terms::read(&file).unwrap();
        let cases: [Case; 6] = [
            ("signer", other.to_string().into(), "add the key to `trust`"),
            ("v", 9.into(), "speaks version 9 of the protocol"),
            ("program", "0.0.7".into(), "is quintain 0.0.7"),
            ("needs", serde_json::json!({ "threads": 9, "hash_mib": 16 }), "give -j 9 or more"),
            ("needs", serde_json::json!({ "threads": 1, "hash_mib": 900 }), "takes 1028 MiB"),
            ("needs", serde_json::json!({ "threads": 1, "hash_mib": 16, "syzygy": true }), "add syzygy = "),
        ];
        let fine = serde_json::json!({
            "v": wire::VERSION, "run": "run", "title": "a test", "plan_sha256": "", "signer": key.to_string(), "life": "",
            "program": env!("CARGO_PKG_VERSION"), "needs": { "threads": 2, "hash_mib": 32 },
        });
        let checked = |entry: &serde_json::Value, any_version| {
            let run = serde_json::from_value(entry.clone()).unwrap();
            check_runs(&[run], &terms, Some(2), any_version)
        };
        assert_eq!(checked(&fine, false), []);
        for (name, value, expected) in cases {
            let mut entry = fine.clone();
            entry[name] = value;
            let lines = checked(&entry, false);
            assert!(
                matches!(&lines[..], [(false, line)] if line.contains("run a test") && line.contains(expected)),
                "{lines:?}"
            );
            assert_eq!(checked(&entry, true).is_empty(), name == "program");
        }
    }

    #[test]
    fn a_unit_is_hardened_and_takes_no_text_as_syntax() {
        let args = UnitArgs { slots: Some(3), ..UnitArgs::default() };
        let unit = systemd_unit(Path::new("/usr/bin/quintain"), "tls://hub:4222\n; rm $HOME", &args);
        assert!(unit.contains("\nExecStart=/usr/bin/quintain worker tls://hub:4222rmHOME -j 3\n"), "{unit}");
        assert!(unit.contains("NoNewPrivileges=yes") && unit.contains("ProtectSystem=strict"), "{unit}");
        assert!(unit.starts_with("# Worker of "), "{unit}");
        let args = UnitArgs {
            slots: None,
            config: Some("/etc/my 100% \"$worker\".toml".into()),
            credentials: Some("hub.toml".into()),
            any_version: true,
        };
        let unit = systemd_unit(Path::new("/usr/bin/quintain"), "tls://hub:4222", &args);
        let credentials = std::env::current_dir().unwrap().join("hub.toml");
        let started = format!(
            "ExecStart=/usr/bin/quintain worker tls://hub:4222 --config \"/etc/my 100%% \\\"$$worker\\\".toml\" \
             --credentials \"{}\" --any-version\n",
            credentials.display()
        );
        assert!(unit.contains(&started), "{unit}");
    }

    #[test]
    fn a_unit_that_cannot_read_its_files_says_so() {
        let at = |program: &str, config: Option<&str>| {
            let args = UnitArgs { config: config.map(PathBuf::from), ..UnitArgs::default() };
            let program = Path::new(program);
            (systemd_warning(program, &args), systemd_unit(program, "tls://hub:4222", &args))
        };
        for (program, config) in [
            ("/usr/local/bin/quintain", None),
            ("/usr/local/bin/quintain", Some("/etc/worker.toml")),
            ("/homes/quintain", None),
        ] {
            assert_eq!(at(program, config).0, None, "{program}");
        }
        let (warning, unit) = at("/home/anna/.cargo/bin/quintain", Some("/root/worker\n.toml"));
        let warning = warning.unwrap();
        assert!(warning.contains("cannot read /home/anna/.cargo/bin/quintain, /root/worker"), "{warning}");
        assert!(warning.contains("install the program in /usr/local/bin"), "{warning}");
        assert!(unit.starts_with(&format!("# Warning: {warning}\n# Worker of ")), "{unit}");
    }
}
