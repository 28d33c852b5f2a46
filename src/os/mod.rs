//! The operating system: what Linux, macOS and Windows do differently, under one set of names.
//! `docs/systems.md` says which promise holds on which system.
//!
//! | file | system |
//! | --- | --- |
//! | `linux` | Linux |
//! | `macos` | macOS, and other Unix systems than Linux |
//! | `unix` | shared by both |
//! | `windows` | Windows |
//! | `unknown` | what all but Linux lack |
//! | `watchdog` | what `macos` ends processes with |
//! | `confine` | confinement of engines, which only Linux has |
//! | `processor` | the processor's name, which only Linux tells |
//!
//! Each file has the same functions. What a system lacks is said at the function, and returns
//! "unknown" or an error instead of a guess. Nothing outside this room asks which system it is on
//! (`tests/it/tidy.rs`).

pub(crate) mod confine;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(all(unix, not(target_os = "linux")))]
mod macos;
mod processor;
#[cfg(unix)]
mod unix;
#[cfg(not(target_os = "linux"))]
mod unknown;
#[cfg(all(unix, any(test, not(target_os = "linux"))))]
mod watchdog;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub(crate) use self::linux::*;
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) use self::macos::*;
pub(crate) use self::processor::{processor, processor_features};
#[cfg(unix)]
pub(crate) use self::unix::*;
#[cfg(not(target_os = "linux"))]
pub(crate) use self::unknown::*;
#[cfg(windows)]
pub(crate) use self::windows::*;
