//! Options of a running engine: those of its start, and those that change between games.

use std::path::PathBuf;

use super::{Engine, StartError, files};
use crate::uci::option::{OptionError, set_option};

impl Engine {
    /// `Threads` goes first: engines lay out their hash tables by it.
    pub(super) fn write_options(&mut self) -> Result<(), StartError> {
        let is_threads = |name: &str| name.eq_ignore_ascii_case("Threads");
        let is_ponder = |name: &str| name.eq_ignore_ascii_case("Ponder");
        // Whoever has no such option may ponder still: it is enough to name a move.
        if self.config.ponder && self.session.options().iter().any(|option| is_ponder(&option.name)) {
            self.config.options.retain(|(name, _)| !is_ponder(name));
            self.config.options.push(("Ponder".to_owned(), "true".to_owned()));
        }
        for first in [true, false] {
            for (name, value) in self.config.options.iter().filter(|(name, _)| is_threads(name) == first) {
                set_option(self.session.options(), name, value, &mut self.out)
                    .map_err(|source| StartError::Option { name: self.config.name.clone(), source })?;
            }
        }
        self.look_for_files()
    }

    /// Looks for the files that options name before the engine is told of them.
    fn look_for_files(&mut self) -> Result<(), StartError> {
        let dir = self.config.dir.clone().unwrap_or_else(|| PathBuf::from("."));
        let dir = std::path::absolute(&dir).unwrap_or(dir);
        let mut doubts = Vec::new();
        for (name, value) in &self.config.options {
            let option = self.session.options().iter().find(|option| option.name.eq_ignore_ascii_case(name));
            let Some(option) = option else { continue };
            let looked = files::look(option, value, &dir, &self.config.program)
                .map_err(|source| StartError::File { name: self.config.name.clone(), source })?;
            doubts.extend(looked);
        }
        doubts.into_iter().for_each(|doubt| self.session.complain(doubt));
        Ok(())
    }

    /// Checks options, and has those that change set before the next new game; a process started anew gets all of them.
    ///
    /// # Errors
    /// An option that the engine does not have, or a value that it does not take: those before it are set.
    pub fn set_options(&mut self, options: &[(String, String)]) -> Result<(), OptionError> {
        for (name, value) in options {
            let known = self.config.options.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name));
            if known.as_ref().is_some_and(|(_, now)| now == value) {
                continue;
            }
            set_option(self.session.options(), name, value, &mut self.unsent)?;
            match known {
                Some((_, now)) => now.clone_from(value),
                None => self.config.options.push((name.clone(), value.clone())),
            }
        }
        Ok(())
    }
}
