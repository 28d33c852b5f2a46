//! Engines that are found or built before a run, with a progress display.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::run::error::{Result, ResultContext as _, fail};
use crate::run::progress;
use crate::source::{self, Bases, Context, NetworkFile, ResolvedEngine, TunableEngine, Update};
use crate::uci::process::EngineConfig;

/// Maximum number of commits built in search of a different program.
const MOST_BASES: usize = 10;

impl ResolvedEngine {
    /// Configuration of a process of it, with its own options and the usual timeouts.
    pub(crate) fn config(&self) -> EngineConfig {
        EngineConfig {
            name: self.name.clone(),
            program: self.program.clone(),
            args: self.args.clone(),
            dir: self.dir.clone(),
            options: self.options.clone(),
            ..EngineConfig::default()
        }
    }
}

/// Progress display of builds. A terminal shows the step, the elapsed time and the compiler's last
/// line; otherwise each step is a line.
pub(crate) struct Building {
    pub(crate) context: Context,
    spinner: ProgressBar,
    total: usize,
}

impl Building {
    /// Starts the display for `total` engines.
    pub(crate) fn begin(total: usize) -> Result<Self> {
        let context = Context::from_env()?;
        let style = ProgressStyle::with_template("{spinner} {elapsed} {prefix}\n  {wide_msg:.dim}");
        let spinner = ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        spinner.enable_steady_tick(Duration::from_millis(120));
        Ok(Self { context, spinner, total })
    }

    /// Finds or builds engine `number`, from 1; `role` is for error messages.
    pub(crate) fn engine(
        &self,
        number: usize,
        role: &str,
        spec: &str,
        network: Option<&NetworkFile>,
    ) -> Result<ResolvedEngine> {
        self.resolve(number, spec, network).within(|| format!("{role} `{spec}`"))
    }

    /// Builds engine `number` from the newest commit, `from` a revision or HEAD on, whose program
    /// differs from that of `new_spec`; `is_same` compares them.
    pub(crate) fn other(
        &self,
        number: usize,
        (new_spec, from): (&str, Option<&str>),
        network: Option<&NetworkFile>,
        is_same: impl Fn(&ResolvedEngine) -> bool,
    ) -> Result<ResolvedEngine> {
        let bases = self.watched(number, |show| Bases::of(&self.context, new_spec, from, show));
        let mut bases = bases.within(|| "base")?;
        for passed in 0..MOST_BASES {
            let Some(spec) = bases.next() else {
                if passed == 0 {
                    return Err(bases.none()).within(|| "base");
                }
                fail!(
                    Engine,
                    "base: every commit with other engine sources than `{new_spec}` ({passed}) builds the same program or none; \
                     choose one with --base, or give one side an option of its own"
                );
            };
            let spec = spec.within(|| "base")?;
            match self.resolve(number, &spec, network) {
                Ok(found) if is_same(&found) => {
                    self.say(&format!(
                        "{} builds the same program as `{new_spec}`; looking at older commits",
                        found.name
                    ));
                }
                Ok(found) => {
                    if passed > 0 {
                        self.say(&format!("base is {}, the newest commit with another program", found.name));
                    }
                    return Ok(found);
                }
                Err(error) if passed > 0 && source::is_bad_commit(&error) => {
                    self.say(&format!(
                        "`{spec}` is passed over: {}",
                        error.to_string().lines().next().unwrap_or_default()
                    ));
                }
                Err(error) => return Err(error).within(|| format!("base `{spec}`")),
            }
        }
        fail!(
            Engine,
            "base: the {MOST_BASES} newest commits with other engine sources than `{new_spec}` build the same program or none; choose \
             one with --base, or exclude files that do not change the engine by `sources` or `exclude` of quintain.toml"
        )
    }

    /// Finds or builds the one engine in its tunable form.
    pub(crate) fn tunable(&self, spec: &str, network: Option<&NetworkFile>) -> Result<TunableEngine> {
        self.watched(1, |show| source::tunable(spec, network, &self.context, show))
            .within(|| format!("engine `{spec}`"))
    }

    fn resolve(
        &self,
        number: usize,
        spec: &str,
        network: Option<&NetworkFile>,
    ) -> Result<ResolvedEngine, source::SourceError> {
        self.watched(number, |show| source::resolve_with(spec, network, &self.context, show))
    }

    /// Runs `build` and shows its steps.
    fn watched<T>(&self, number: usize, build: impl FnOnce(&mut dyn FnMut(Update<'_>)) -> T) -> T {
        let mut show = |update: Update<'_>| match update {
            Update::Step(text) => {
                let text = format!("{number} of {}: {text}", self.total);
                if self.spinner.is_hidden() {
                    progress::note(&text);
                }
                self.spinner.reset_elapsed();
                self.spinner.set_prefix(text);
                self.spinner.set_message("");
            }
            Update::Note(text) => self.say(text),
            Update::Output(line) => self.spinner.set_message(line.replace(char::is_control, " ")),
        };
        build(&mut show)
    }

    /// Prints a line that stays on the screen.
    fn say(&self, text: &str) {
        if self.spinner.is_hidden() { progress::note(text) } else { self.spinner.println(text) }
    }
}

impl Drop for Building {
    fn drop(&mut self) {
        self.spinner.finish_and_clear();
    }
}
