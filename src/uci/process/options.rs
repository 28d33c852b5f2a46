//! Options of a running engine, at its start and between games.

use std::path::PathBuf;

use super::{Engine, StartError, files};
use crate::plan::override_options;
use crate::uci::{Iteration, OptionError, set_option};

impl Engine {
    /// Keeps the lines of each search from now on.
    pub fn keep_iterations(&mut self) {
        self.session.keep_iterations();
    }

    /// Sets whether the scores of coming searches are those of the opponent's point of view.
    pub const fn reverse_scores(&mut self, are_reversed: bool) {
        self.session.reverse_scores(are_reversed);
    }

    /// Lines of its last search with a depth and an exact score, if they are kept.
    #[must_use]
    pub fn iterations(&self) -> &[Iteration] {
        self.session.iterations()
    }

    /// Writes the options of the start, `Threads` first because engines lay out their hash tables
    /// by it.
    pub(super) fn write_options(&mut self) -> Result<(), StartError> {
        let is_threads = |name: &str| name.eq_ignore_ascii_case("Threads");
        // An engine without this option may still ponder, if its answer names a move.
        if self.config.ponder && self.session.options().iter().any(|option| option.name.eq_ignore_ascii_case("Ponder"))
        {
            override_options(&mut self.config.options, [("Ponder".to_owned(), "true".to_owned())]);
        }
        for first in [true, false] {
            for (name, value) in self.config.options.iter().filter(|(name, _)| is_threads(name) == first) {
                set_option(self.session.options(), name, value, &mut self.out)
                    .map_err(|source| StartError::Option { name: self.config.name.clone(), source })?;
            }
        }
        self.look_for_files()
    }

    /// Checks the files that options name, before the options are sent.
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

    /// Checks options and queues the changed ones for the next new game. A restarted process gets
    /// all of them.
    ///
    /// # Errors
    /// Returns an error if the engine has no such option or refuses the value; earlier options stay
    /// queued.
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
