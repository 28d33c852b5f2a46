//! Declarations of the user's settings, in TOML files and as flags.
//!
//! Each key is declared once, as a field of [`RawPlan`]. Its flag, its line in `quintain init` and
//! its property in the JSON Schema are derived from the field and its doc comment.
//!
//! A new key changes, besides its users: [`RawPlan`], the field of the resolved plan with its
//! stored form (one file of `plan`), and the line of `resolve` that converts one to the other.

mod error;
mod flags;
mod key;
mod merge;
mod plan;
mod schema;
pub mod value;

pub use error::ConfigError;
pub use flags::{
    AnyCommand, GauntletCommand, KeyedCommand, MatchCommand, PlanFlags, RaceCommand, SprtCommand, TuneCommand,
};
pub use key::{Key, keys, player_keys};
pub use plan::{RawPlan, RawPlayer};
pub use schema::UserFile;

/// Plans of the usual tests of a change, which `quintain init --presets` writes.
pub(crate) const PRESETS: [(&str, &str); 3] = [
    ("configs/sprt-stc.toml", include_str!("../../configs/sprt-stc.toml")),
    ("configs/sprt-ltc.toml", include_str!("../../configs/sprt-ltc.toml")),
    ("configs/sprt-simplify.toml", include_str!("../../configs/sprt-simplify.toml")),
];
