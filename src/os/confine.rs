//! Confinement of an engine that somebody else built. It reads its program, the system's libraries
//! and the paths that its owner lists, and writes to one folder. It reaches no network and no other
//! process.
//!
//! All is applied between fork and exec, so the engine keeps the process id that was spawned. A
//! wrapper program would stand between the two, and its load would be measured instead.
//!
//! | layer | holds |
//! | --- | --- |
//! | Landlock | files; from newer kernels on also signals and abstract sockets |
//! | seccomp | no socket of any kind, no tracing, no mounts, no kernel keys |
//! | namespaces of users and of the network, if the system grants them | no network interface |
//! | limits | address space, file sizes, no core files; in a namespace of users also processes |
//!
//! The environment is cleared except for a few variables, because it may hold secrets.

use std::path::PathBuf;

/// Limits of a confined engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Confinement {
    /// Files and folders that it may read besides its program and the system's.
    pub reads: Vec<PathBuf>,
    /// Folder that it may write to, also its working directory unless it has another one.
    pub scratch: PathBuf,
    /// Maximum size of the address space in bytes; `None` for no limit.
    pub address_space: Option<u64>,
}

/// Reason that a process cannot be confined.
#[derive(Debug, thiserror::Error)]
pub enum ConfineError {
    /// The system has no such means.
    #[error(
        "the kernel of this machine does not confine engines ({0}); it needs Linux 5.13 or later with Landlock, or `sandbox = \"none\"` in worker.toml if every engine is trusted"
    )]
    Unsupported(String),
    /// A folder cannot be used.
    #[error("{}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

#[cfg(all(feature = "cluster", target_os = "linux"))]
pub(crate) use linux::apply;

#[cfg(not(all(feature = "cluster", target_os = "linux")))]
pub(crate) fn apply(
    _command: &mut tokio::process::Command,
    _program: &std::path::Path,
    _confinement: &Confinement,
) -> Result<(), ConfineError> {
    Err(ConfineError::Unsupported("it is not Linux".to_owned()))
}

#[cfg(all(feature = "cluster", target_os = "linux"))]
mod linux {
    use std::collections::BTreeMap;
    use std::io;
    use std::path::{Path, PathBuf};

    use landlock::{
        ABI, Access as _, AccessFs, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset, RulesetAttr as _,
        RulesetCreated, RulesetCreatedAttr as _, Scope, path_beneath_rules,
    };
    use rustix::io::Errno;
    use rustix::process::{Resource, Rlimit, setrlimit};
    use rustix::thread::{UnshareFlags, unshare_unsafe};
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
    use tokio::process::Command;

    use super::{ConfineError, Confinement};

    /// Newest version of Landlock that is asked for. Older kernels hold what they know.
    const NEWEST: ABI = ABI::V6;

    /// Oldest version that confines files.
    const OLDEST: ABI = ABI::V1;

    /// Folders of programs and libraries, which are read and executed.
    const SYSTEM: &[&str] =
        &["/usr", "/bin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store", "/etc/ld.so.cache"];

    /// Descriptions of the machine, by which engines choose threads and memory.
    const MACHINE: &[&str] =
        &["/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu", "/sys/devices/system/node", "/sys/kernel/mm"];

    /// Devices that are read.
    const DEVICES: &[&str] = &["/dev/zero", "/dev/random", "/dev/urandom"];

    /// Variables that an engine keeps.
    const KEPT: &[&str] = &["PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH"];

    /// Maximum number of threads and processes of one engine.
    const MOST_TASKS: u64 = 1_024;

    /// Maximum size in bytes of one file that it writes.
    const MOST_FILE: u64 = 256 << 20;

    /// Bit of the numbers of calls by the x32 interface.
    const X32: i64 = 0x4000_0000;

    /// Numbers of `ptrace`, `process_vm_readv` and `process_vm_writev` that only x32 has.
    const OF_X32: &[i64] = &[521, 539, 540];

    /// Confines the process of `command`, which will execute `program`.
    pub(crate) fn apply(command: &mut Command, program: &Path, confinement: &Confinement) -> Result<(), ConfineError> {
        let unsupported = |error: &dyn std::error::Error| ConfineError::Unsupported(error.to_string());
        let rules = rules(program, confinement)?;
        let filter = filter().map_err(|error| unsupported(&error))?;
        let address_space = confinement.address_space;
        command.env_clear();
        for name in KEPT {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.env("HOME", &confinement.scratch).env("TMPDIR", &confinement.scratch);
        command.current_dir(&confinement.scratch);
        let in_child = move || {
            // First, because a namespace of users gives rights that the rest takes away. A system
            // that refuses it (containers do) has the filter's word that there is no network.
            #[expect(unsafe_code, reason = "namespaces are left between fork and exec")]
            // SAFETY: the child has one thread and shares no file table with another process.
            let is_apart = unsafe { unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWNET) }.is_ok();
            limit(Resource::Core, 0)?;
            limit(Resource::Fsize, MOST_FILE)?;
            // Outside of a namespace the limit counts all threads of the owner, browser and all.
            if is_apart {
                limit(Resource::Nproc, MOST_TASKS)?;
            }
            if let Some(bytes) = address_space {
                limit(Resource::As, bytes)?;
            }
            let refused = || io::Error::from(Errno::NOSYS);
            rules.try_clone()?.restrict_self().map_err(|_| refused())?;
            seccompiler::apply_filter(&filter).map_err(|_| refused())
        };
        #[expect(unsafe_code, reason = "the limits must hold before the program starts")]
        // SAFETY: only async-signal-safe calls are allowed between fork and exec. The closure makes
        // system calls alone: rules and filter were made above, and errors are plain numbers.
        unsafe {
            command.pre_exec(in_child);
        }
        Ok(())
    }

    /// Lowers a limit; one that is lower already stays.
    fn limit(resource: Resource, most: u64) -> io::Result<()> {
        let now = rustix::process::getrlimit(resource);
        let lower = |old: Option<u64>| Some(old.map_or(most, |old| old.min(most)));
        Ok(setrlimit(resource, Rlimit { current: lower(now.current), maximum: lower(now.maximum) })?)
    }

    /// Rules for files.
    fn rules(program: &Path, confinement: &Confinement) -> Result<RulesetCreated, ConfineError> {
        let scratch = &confinement.scratch;
        let folder = |source| ConfineError::Folder { path: scratch.clone(), source };
        std::fs::create_dir_all(scratch).map_err(folder)?;
        let made = || -> Result<RulesetCreated, landlock::RulesetError> {
            let read = AccessFs::ReadFile | AccessFs::ReadDir;
            let files = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
            let mut rules = Ruleset::default()
                .set_compatibility(CompatLevel::HardRequirement)
                .handle_access(AccessFs::from_all(OLDEST))?
                .set_compatibility(CompatLevel::BestEffort)
                .handle_access(AccessFs::from_all(NEWEST))?
                .scope(Scope::from_all(NEWEST))?
                .create()?
                .add_rules(path_beneath_rules(files(SYSTEM), AccessFs::from_read(OLDEST)))?
                .add_rules(path_beneath_rules([program], AccessFs::from_read(OLDEST)))?
                .add_rules(path_beneath_rules(files(MACHINE), read))?
                .add_rules(path_beneath_rules(files(DEVICES), read))?
                .add_rules(path_beneath_rules(&confinement.reads, read))?
                .add_rules(path_beneath_rules(["/dev/null"], AccessFs::from_all(OLDEST)))?;
            if let Ok(scratch) = PathFd::new(scratch) {
                let all = AccessFs::from_all(NEWEST) & !(AccessFs::Execute | AccessFs::MakeSock | AccessFs::MakeFifo);
                rules = rules.add_rule(PathBeneath::new(scratch, all))?;
            }
            Ok(rules)
        };
        made().map_err(|error| ConfineError::Unsupported(error.to_string()))
    }

    /// Filter of system calls that no engine needs. They fail with a permission error.
    fn filter() -> Result<BpfProgram, seccompiler::Error> {
        const FORBIDDEN: &[libc::c_long] = &[
            libc::SYS_socket,
            libc::SYS_socketpair,
            libc::SYS_io_uring_setup,
            libc::SYS_ptrace,
            libc::SYS_process_vm_readv,
            libc::SYS_process_vm_writev,
            libc::SYS_pidfd_getfd,
            libc::SYS_unshare,
            libc::SYS_setns,
            libc::SYS_mount,
            libc::SYS_umount2,
            libc::SYS_pivot_root,
            libc::SYS_bpf,
            libc::SYS_perf_event_open,
            libc::SYS_userfaultfd,
            libc::SYS_keyctl,
            libc::SYS_add_key,
            libc::SYS_request_key,
        ];
        // A kernel with the x32 interface knows each call by a second number.
        let second = |call: &i64| if cfg!(target_arch = "x86_64") { vec![*call, *call | X32] } else { vec![*call] };
        let of_x32: &[i64] = if cfg!(target_arch = "x86_64") { OF_X32 } else { &[] };
        let calls = FORBIDDEN.iter().flat_map(second).chain(of_x32.iter().map(|call| *call | X32));
        // A call without conditions always matches.
        let rules: BTreeMap<i64, Vec<_>> = calls.map(|call| (call, Vec::new())).collect();
        let denied = SeccompAction::Errno(Errno::PERM.raw_os_error().unsigned_abs());
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, denied, std::env::consts::ARCH.try_into()?)?;
        Ok(filter.try_into()?)
    }
}

#[cfg(all(feature = "cluster", target_os = "linux"))]
#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use super::*;
    use crate::skip::skip;
    use crate::uci::process::{Engine, EngineConfig};

    /// An engine that names itself after the outcome of `attempt`, a piece of Bash.
    fn engine(folder: &Path, attempt: &str, confinement: Option<Confinement>) -> EngineConfig {
        let program = folder.join("engine");
        let script = format!(
            "#!/bin/bash\nif ( {attempt} ) >/dev/null 2>&1; then R=done; else R=refused; fi\n\
             while read -r word rest; do case $word in\n\
             uci) echo \"id name $R $$\"; echo uciok;;\nisready) echo readyok;;\nquit) exit;;\nesac; done\n"
        );
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        EngineConfig { name: "confined".to_owned(), program, confinement, ..EngineConfig::default() }
    }

    /// Each attempt succeeds without confinement and fails with it, in the process that was
    /// spawned.
    #[tokio::test]
    async fn a_confined_engine_reaches_nothing_of_its_users() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["secret", "listed"] {
            std::fs::write(path(name), "text\n").unwrap();
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let confinement =
            Confinement { reads: vec![path("listed")], scratch: path("scratch"), address_space: Some(4 << 30) };
        let trial = engine(folder.path(), "true", Some(confinement.clone()));
        match Engine::start(&trial, &[]).await {
            Ok(engine) => engine.quit().await,
            Err(error) if error.to_string().contains("does not confine engines") => {
                return skip("a_confined_engine_reaches_nothing_of_its_users", &error.to_string());
            }
            Err(error) => panic!("{error}"),
        };
        let shown = folder.path().display();
        for (attempt, is_allowed) in [
            (format!("read -r line < {shown}/listed"), true),
            ("echo text > $TMPDIR/mine".to_owned(), true),
            ("/usr/bin/env true".to_owned(), true),
            (format!("read -r line < {shown}/secret"), false),
            (format!("echo text > {shown}/listed"), false),
            (format!("echo text > {shown}/new"), false),
            (format!("exec 3<>/dev/tcp/127.0.0.1/{port}"), false),
            (format!("kill -0 {}", std::process::id()), false),
            ("[ -n \"$CARGO_MANIFEST_DIR\" ]".to_owned(), false),
        ] {
            for confinement in [None, Some(confinement.clone())] {
                let is_confined = confinement.is_some();
                let mut config = engine(folder.path(), &attempt, confinement);
                if !is_confined {
                    config.env = vec![("TMPDIR".to_owned(), shown.to_string())];
                }
                let engine = Engine::start(&config, &[]).await.unwrap();
                let expected = if is_allowed || !is_confined { "done" } else { "refused" };
                let name = engine.identity().name.clone();
                assert_eq!(name, format!("{expected} {}", engine.pid()), "{attempt}, confined: {is_confined}");
                engine.quit().await;
            }
        }
        assert!(path("scratch/mine").exists());
    }
}
