//! What a command needs of the files that it reads.

use super::error::{DataError, WHICH_GAME, WHICH_MOVE};
use super::filter::Filter;
use super::format::Format;
use std::path::Path;

/// What files must say.
#[derive(Debug, Clone, Copy, Default)]
pub struct Needs {
    pub filter: Option<Filter>,
    /// The format that they are written in.
    pub to: Option<Format>,
    /// Games; the remedy where there are only positions.
    pub games: Option<&'static str>,
}

impl Needs {
    /// Holds the format of a file to them.
    ///
    /// # Errors
    /// A format that does not say it.
    pub(super) fn check(&self, path: &Path, format: Format) -> Result<(), DataError> {
        self.filter.map_or(Ok(()), |filter| filter.check(path, format))?;
        if let Some(remedy) = self.games.filter(|_| !format.holds_games()) {
            return Err(format.lacks(path, WHICH_GAME, remedy));
        }
        if matches!(self.to, Some(Format::Plain | Format::SelfPlay | Format::Binpack)) && !format.holds_games() {
            return Err(format.lacks(path, WHICH_MOVE, "write viriformat, bulletformat or text"));
        }
        Ok(())
    }
}
