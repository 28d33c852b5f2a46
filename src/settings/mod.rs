//! Declarations of the settings that a user writes, in TOML files and as flags.
//!
//! Each key stands once, as a field of [`RawPlan`]. Its flag, its line in `quintain init` and its
//! property in the JSON Schema follow from the field and its comment.
//!
//! A new key touches, besides what uses it: [`RawPlan`], the field of the resolved plan with its
//! stored form (one file of `plan`), and the line of `resolve` that leads from one to the other.

mod error;
mod flags;
mod key;
mod merge;
mod plan;
mod schema;
pub mod value;

pub use error::ConfigError;
pub use flags::{Common, Gauntlet, Match, PlanFlags, Sprt, TakesKeys, Tune};
pub use key::{Key, keys, player_keys};
pub use plan::{RawPlan, RawPlayer};
pub use schema::UserFile;
