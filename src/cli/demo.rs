//! `quintain demo`: one complete test of an engine against itself.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};

use crate::plan::time_control::Limit;
use crate::run::dir::Place;
use crate::run::drive::{self, OutputStyle};
use crate::run::{Exit, progress, resolve};
use crate::settings::RawPlan;
use crate::source::find_program;
use crate::text::shell_path;

/// Nodes per move of `new` and of `base`.
const NODES: [u64; 2] = [6_000, 3_000];

/// Bounds of the test. Half the nodes cost far more than the upper one.
const BOUNDS: [f64; 2] = [0.0, 50.0];

/// Program of the bundled engine.
const BUNDLED: &str = "destrier";

const EXAMPLES: &str = "\
In a clone of Quintain's repository the engine is built from it. Elsewhere `destrier` is looked \
for beside this program and on PATH. --engine takes any other UCI engine.

Examples:
  quintain demo
  quintain demo --engine stockfish";

/// Plays one whole test: an engine against itself with half the nodes, to a verdict, a picture and
/// a report.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct DemoArgs {
    /// The engine, as `sprt --new` takes it [default: the one that comes with this program].
    #[arg(long, value_name = "SPEC")]
    engine: Option<String>,
    /// Concurrent games [default: physical cores].
    #[arg(short = 'j', long, value_name = "N")]
    concurrency: Option<u16>,
    /// The run's directory [default: results/runs/DATE-demo].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(super) fn run(args: &DemoArgs) -> Result<Exit> {
    let place = args.out.clone().map_or_else(|| drive::default_place("demo"), Place::Given);
    place.check()?;
    let engine = match &args.engine {
        Some(spec) => spec.clone(),
        None => bundled(&std::env::current_dir().context("no current directory")?)?,
    };
    let [new_name, base_name] = NODES.map(|nodes| Some(format!("{nodes}-nodes")));
    let raw = RawPlan {
        new: Some(engine.clone()),
        base: Some(engine),
        new_name,
        base_name,
        bounds: Some(BOUNDS),
        nodes: Some(NODES[0]),
        concurrency: args.concurrency,
        seed: Some(1),
        name: Some("demo".to_owned()),
        ..RawPlan::default()
    };
    progress::note(&format!(
        "An engine against itself with half the nodes, {} against {}: can a test tell which is stronger?",
        NODES[0], NODES[1]
    ));
    let (mut plan, book) = resolve::sprt(&raw).context("cannot start the demonstration")?;
    if let [_, base] = plan.players.as_mut_slice() {
        base.limit = Limit::nodes(NODES[1]);
    }
    // Its folder is another one than wanted if that was taken in the meantime.
    let outcome = drive::start_at(Arc::new(plan), book, &place, OutputStyle::new(false), |_| {})?;
    if let Some(text) = last_words(outcome.exit, &outcome.root) {
        progress::result(&text);
    }
    Ok(outcome.exit)
}

/// Text about the documents of a complete run; `None` for one that was cut short.
fn last_words(exit: Exit, root: &Path) -> Option<String> {
    let is_complete = match exit {
        Exit::Done | Exit::H0 | Exit::Inconclusive => true,
        Exit::Failed | Exit::Interrupted | Exit::Aborted => false,
    };
    let run = root.display();
    is_complete.then(|| {
        format!(
            "\npicture    {run}/llr.svg\nreport     {run}/report.html, with every game\nnow yours  `quintain sprt --new ./a --base ./b`; in the Git \
             repository of an engine just `quintain sprt`"
        )
    })
}

/// Spec of the bundled engine, as seen from `cwd`.
fn bundled(cwd: &Path) -> Result<String> {
    let is_clone = |folder: &&Path| {
        let manifest = std::fs::read_to_string(folder.join("engine/Cargo.toml")).unwrap_or_default();
        folder.join(".git").exists() && manifest.lines().any(|line| line.trim() == "name = \"destrier\"")
    };
    if cwd.ancestors().any(|folder| is_clone(&folder)) {
        return Ok(".".to_owned());
    }
    let own = std::env::current_exe().ok();
    let beside: Vec<&Path> = own.as_deref().and_then(Path::parent).into_iter().collect();
    if let Some(program) = find_program(Path::new(BUNDLED), OsStr::new(""), &beside) {
        return Ok(shell_path(&program));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    if find_program(Path::new(BUNDLED), &path, &[]).is_some() {
        return Ok(BUNDLED.to_owned());
    }
    bail!(
        "`{BUNDLED}`, the bundled engine, is neither beside this program nor on PATH; run `quintain demo` in a clone of \
         Quintain's repository, which builds it, or name any UCI engine: `quintain demo --engine ./my-engine`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_complete_run_has_last_words_and_they_name_its_folder() {
        let root = Path::new("results/runs/20261201-120000-demo-2");
        for exit in [Exit::Done, Exit::H0, Exit::Inconclusive] {
            let text = last_words(exit, root).unwrap();
            assert!(text.contains("results/runs/20261201-120000-demo-2/report.html"), "{text}");
        }
        for exit in [Exit::Interrupted, Exit::Aborted] {
            assert_eq!(last_words(exit, root), None);
        }
    }

    #[test]
    fn a_clone_is_known_by_its_engine() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let in_clone = || bundled(&root.join("src")).ok().as_deref() == Some(".");
        std::fs::create_dir_all(root.join("src")).unwrap();
        std::fs::create_dir_all(root.join("engine")).unwrap();
        std::fs::create_dir_all(root.join(".git")).unwrap();
        assert!(!in_clone());
        std::fs::write(root.join("engine/Cargo.toml"), "[package]\nname = \"other\"\n").unwrap();
        assert!(!in_clone());
        std::fs::write(root.join("engine/Cargo.toml"), "[package]\nname = \"destrier\"\n").unwrap();
        assert!(in_clone());
    }
}
