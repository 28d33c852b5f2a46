//! Requirements of a command on its input files.

use super::error::{DataError, WHICH_GAME, WHICH_MOVE};
use super::filter::Filter;
use super::format::Format;
use std::path::Path;

/// Requirements on the formats of input files.
#[derive(Debug, Clone, Copy, Default)]
pub struct Needs {
    /// Filter of the positions to write.
    pub filter: Option<Filter>,
    /// Output format.
    pub to: Option<Format>,
    /// Set if games are required; the text is the remedy for files of positions.
    pub games: Option<&'static str>,
}

impl Needs {
    /// Checks the format of a file against the requirements.
    ///
    /// # Errors
    /// Fails if the format lacks required information.
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
