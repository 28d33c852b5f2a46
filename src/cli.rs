//! The command line: its parsing, its commands and their exit codes.

mod archive;
mod bisect;
mod book;
mod calibrate;
mod check;
mod complete;
mod ctl;
mod demo;
mod engines;
mod explain;
mod flags;
mod games;
mod help;
#[cfg(feature = "cluster")]
mod hub;
mod init;
mod located;
mod matches;
mod picture;
mod queue;
mod race;
mod rate;
mod records;
mod replay;
mod report;
mod resume;
mod runs;
mod scaling;
mod serve;
mod shell;
mod simulate;
mod speed;
mod sprt;
mod stats;
mod suite;
mod trust;
mod tune;
mod versions;
mod watch;
#[cfg(feature = "cluster")]
mod worker;
#[cfg(feature = "cluster")]
mod workers;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ColorChoice, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::compat;
use crate::plan::affinity::parse_cpus;
use crate::run::{Exit, progress};

/// Bad usage, a bad plan or file, or an engine that does not start.
const EXIT_USAGE: u8 = 2;

/// Levels of the log unless `QUINTAIN_LOG` has others. The picture libraries are silenced, because
/// what they remark on our own pictures helps nobody.
const DEFAULT_LOG: &str = "warn,async_nats=off,usvg=off,resvg=off,simplecss=off,tiny_skia=off";

const AFTER_HELP: &str = "\
Exit codes:
  0    done (sprt: H1 accepted)
  1    sprt: H0 accepted; tune: no step gains 5 Elo; check, worker --check: something failed;
       replay: the engine failed again; speed: the new engine is slower
  2    bad usage, plan, file, or engine that does not start
  3    inconclusive: out of pairs or time
  4    aborted: engine failures or time losses beyond the limit, or a run that could not continue
       (the disk is full; an engine's program was changed, removed or could not be started)
  130  interrupted; `quintain resume` continues

Examples:
  quintain demo                                       a whole test in about a minute
  quintain sprt                                       is the working tree stronger?
  quintain sprt --new git:my-branch --base git:main --tc 8+0.08 --bounds 0,5
  quintain match ./engine-a ./engine-b stockfish --pairs 100
  quintain gauntlet --hero . --vs stockfish --vs toga2
  quintain resume results/runs/20260101-120000-sprt
  quintain watch results/runs/20260101-120000-sprt
  quintain ctl results/runs/20260101-120000-sprt concurrency 4
  quintain games RUN --termination time-forfeit       which games were lost on time?
  quintain check ./my-engine                          does it obey the protocol and its clock?
  quintain stats --ptnml 379,10170,21828,10640,343 --bounds 0,2
  quintain simulate --elo 3 --bounds 0,5 --pairs-per-minute 30 --budget 8h  which bounds fit 8 h?
  quintain rate games.pgn --anchor 'Stockfish 17=3640'";

/// Tests UCI chess engines: did a change make the engine stronger?
#[derive(Debug, Parser)]
#[command(
    name = "quintain",
    version,
    after_help = "--help adds exit codes and examples; COMMAND --help explains a command.",
    after_long_help = AFTER_HELP,
    max_term_width = 110
)]
struct Cli {
    /// Use of colours in the output.
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    color: ColorChoice,
    #[command(subcommand)]
    command: QuintainCommand,
}

#[derive(Debug, Subcommand)]
enum QuintainCommand {
    /// Plays one whole test of the bundled engine, in about a minute.
    Demo(demo::DemoArgs),
    /// Is one engine stronger than another? Plays until a test decides.
    Sprt(Box<sprt::SprtArgs>),
    /// Plays a round robin, gauntlet, Swiss or knockout of engines.
    Match(Box<matches::MatchArgs>),
    /// Plays one or several engines against a field of opponents.
    Gauntlet(Box<matches::GauntletArgs>),
    /// Plays several candidates against one base; drops hopeless ones.
    Race(Box<race::RaceArgs>),
    /// Finds better values for an engine's parameters, and proves them.
    Tune(Box<tune::TuneArgs>),
    /// Runs a fastchess command line, with fastchess's output.
    #[command(disable_help_flag = true)]
    Fastchess(RunnerWords),
    /// Runs a cutechess-cli command line, with its output.
    #[command(disable_help_flag = true)]
    Cutechess(RunnerWords),
    /// Queues tests and matches, and plays them one after another.
    Queue(queue::QueueArgs),
    /// Resumes an interrupted run.
    Resume(resume::ResumeArgs),
    /// Follows a live run from another terminal.
    Watch(watch::WatchArgs),
    /// Shows stored and live runs in a browser.
    Serve(serve::ServeArgs),
    /// Controls a live run: pause, resume, stop, concurrency.
    Ctl(ctl::CtlArgs),
    /// Replays a game against its engine: does the failure reproduce?
    Replay(replay::ReplayArgs),
    /// Lists stored and live runs with their verdicts.
    Runs(runs::RunsArgs),
    /// Lists and filters the games of a run.
    Games(Box<games::GamesArgs>),
    /// Breaks points down by opening, phase, length, time and depth.
    Explain(explain::ExplainArgs),
    /// Prints a run's report: text, Markdown, JSON, CSV or HTML.
    Report(report::ReportArgs),
    /// Copies a run in about a tenth of the bytes, for Git.
    Archive(archive::ArchiveArgs),
    /// Measures how many concurrent games this machine can play.
    Calibrate(calibrate::CalibrateArgs),
    /// Computes Elo, LOS and LLR from counts.
    Stats(stats::StatsArgs),
    /// Predicts a test's chance of passing, and its cost.
    Simulate(simulate::SimulateArgs),
    /// Rates many players, with errors, from PGN files and runs.
    Rate(rate::RateArgs),
    /// Checks a file of test records and prints it as tables.
    Records(records::RecordsArgs),
    /// Shows Elo of an engine's versions over its commits.
    Progress(Box<versions::ProgressArgs>),
    /// Finds the commit that lost or won Elo.
    Bisect(Box<bisect::BisectArgs>),
    /// Runs a hub, to which the workers of several machines connect.
    #[cfg(feature = "cluster")]
    Hub(hub::HubArgs),
    /// Plays games for the runs of a hub, within the limits of worker.toml.
    #[cfg(feature = "cluster")]
    Worker(Box<worker::WorkerArgs>),
    /// Lists the workers and the runs of a hub.
    #[cfg(feature = "cluster")]
    Workers(workers::WorkersArgs),
    /// Is one build faster? Compares the CPU time of two benches.
    Speed(speed::SpeedArgs),
    /// Runs engines on test positions: best moves, points, mates, perft.
    Suite(suite::SuiteArgs),
    /// Measures nodes and time by depth, and the speed-up by threads.
    Scaling(scaling::ScalingArgs),
    /// Makes, describes, checks, converts and judges opening books.
    Book(book::BookArgs),
    /// Checks an engine's protocol, clock and behaviour.
    Check(check::CheckArgs),
    /// Lists the engines of the registry and their state.
    Engines(engines::EnginesArgs),
    /// Writes a plan to start from, with every key explained.
    Init(init::InitArgs),
    /// Prints a script that completes command lines in a shell.
    Completions(shell::CompletionsArgs),
    /// Prints the manual page, or writes one for each command.
    Man(shell::ManArgs),
}

/// Unparsed command line of another program.
#[derive(Debug, clap::Args)]
struct RunnerWords {
    /// Arguments of that program; -help lists them.
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// True if an engine passes `quintain check`, for the runners that ask.
fn passes(spec: &str) -> Result<bool, compat::PlayFailure> {
    Ok(check::passes(spec)?)
}

/// Command line of another runner, if this program was started under its name or the first word
/// says so, with the words that start this program so again.
fn other_runner(args: &[OsString]) -> Option<(compat::Dialect, &[OsString], String)> {
    let program = args.first()?.to_string_lossy().into_owned();
    if let Some(dialect) = compat::dialect_of(std::path::Path::new(&program)) {
        return Some((dialect, &args[1..], program));
    }
    let dialect = match args.get(1)?.to_str()? {
        "fastchess" => compat::Dialect::Fastchess,
        "cutechess" => compat::Dialect::Cutechess,
        _ => return None,
    };
    let again = format!("{program} {}", args[1].to_string_lossy());
    Some((dialect, &args[2..], again))
}

/// Reads `--color` before anything is parsed, because help and usage errors are coloured as well. A
/// wrong value is refused later.
fn color(args: impl Iterator<Item = OsString>) -> ColorChoice {
    let mut words = args.skip(1).take_while(|word| word != "--").map(|word| word.to_string_lossy().into_owned());
    let mut choice = None;
    while let Some(word) = words.next() {
        choice = match word.strip_prefix("--color") {
            Some("") => words.next(),
            Some(rest) => rest.strip_prefix('=').map(str::to_owned).or(choice),
            None => choice,
        };
    }
    choice.and_then(|choice| choice.parse().ok()).unwrap_or(ColorChoice::Auto)
}

/// Joins `--affinity` and a list of CPUs after it by an equals sign. Without one the parser would
/// take the list for a plan or an engine, because the flag needs no value.
fn with_joined_lists(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::new();
    for word in args {
        let is_list = word.to_str().is_some_and(|word| parse_cpus(word).is_ok() || looks_like_cpus(word));
        match words.last_mut() {
            Some(last) if is_list && last == "--affinity" => {
                last.push("=");
                last.push(word);
            }
            _ => words.push(word),
        }
    }
    words
}

/// True for a word of CPUs with a mistake, such as `3-1`, so that it is reported as one.
fn looks_like_cpus(word: &str) -> bool {
    let has_numbers = word.starts_with(|first: char| first.is_ascii_digit());
    has_numbers && word.contains([',', '-']) && word.bytes().all(|byte| byte.is_ascii_digit() || b",-".contains(&byte))
}

/// Messages of the program's own, on the standard error.
fn log() {
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("QUINTAIN_LOG").unwrap_or_else(|_| DEFAULT_LOG.into()),
        )
        .with_writer(std::io::stderr)
        .with_ansi(console::colors_enabled_stderr())
        .without_time()
        .with_target(false)
        .init();
}

/// The answer to the program's name alone.
const FIRST_STEPS: &str = "\
Quintain tells you whether a change made your UCI engine stronger.

  quintain demo                                    see one test from start to verdict, in about a minute
  quintain sprt                                    in the Git repository of an engine: is the working tree stronger?
  quintain sprt --new ./engine-a --base ./engine-b
  quintain --help                                  all commands
";

/// Parses the command line. Returns the exit code if it asks for help or is wrong, after printing.
fn parsed(color: ColorChoice) -> Result<Cli, ExitCode> {
    let parsed = help::grouped(Cli::command())
        .color(color)
        .try_get_matches_from(with_joined_lists(std::env::args_os()))
        .and_then(|matches| Cli::from_arg_matches(&matches));
    parsed.map_err(|error| {
        let _ = error.print();
        ExitCode::from(if error.use_stderr() { EXIT_USAGE } else { 0 })
    })
}

/// Parses the command line, runs the command, and reports errors in one line.
#[must_use]
pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    if let Some((dialect, words, program)) = other_runner(&args) {
        // What reads their lines reads the standard error as well: only who asks gets more.
        if std::env::var_os("QUINTAIN_LOG").is_some() {
            log();
        }
        return ExitCode::from(compat::run(dialect, words, &program, &passes));
    }
    match complete::answer(&args, || help::grouped(Cli::command())) {
        Ok(false) => {}
        // A shell that no longer listens needs no word.
        Ok(true) | Err(_) => return ExitCode::SUCCESS,
    }
    if args.len() < 2 {
        progress::note(FIRST_STEPS.trim_end());
        return ExitCode::from(EXIT_USAGE);
    }
    let color = color(args.into_iter());
    let cli = match parsed(color) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    if color != ColorChoice::Auto {
        console::set_colors_enabled(color == ColorChoice::Always);
        console::set_colors_enabled_stderr(color == ColorChoice::Always);
    }
    log();
    let result = match cli.command {
        QuintainCommand::Demo(args) => demo::run(&args),
        QuintainCommand::Sprt(args) => sprt::run(&args),
        QuintainCommand::Match(args) => matches::run_match(&args),
        QuintainCommand::Gauntlet(args) => matches::run_gauntlet(&args),
        QuintainCommand::Race(args) => race::run(&args),
        QuintainCommand::Tune(args) => tune::run(&args),
        QuintainCommand::Fastchess(args) => {
            return ExitCode::from(compat::run(compat::Dialect::Fastchess, &args.words, "quintain fastchess", &passes));
        }
        QuintainCommand::Cutechess(args) => {
            return ExitCode::from(compat::run(compat::Dialect::Cutechess, &args.words, "quintain cutechess", &passes));
        }
        QuintainCommand::Queue(args) => queue::run(&args),
        QuintainCommand::Resume(args) => resume::run(&args),
        QuintainCommand::Watch(args) => watch::run(&args),
        #[cfg(feature = "cluster")]
        QuintainCommand::Hub(args) => hub::run(args),
        #[cfg(feature = "cluster")]
        QuintainCommand::Worker(args) => worker::run(*args),
        #[cfg(feature = "cluster")]
        QuintainCommand::Workers(args) => workers::run(&args),
        QuintainCommand::Serve(args) => serve::run(&args),
        QuintainCommand::Ctl(args) => ctl::run(&args).map(|()| Exit::Done),
        QuintainCommand::Replay(args) => replay::run(&args),
        QuintainCommand::Runs(args) => runs::run(&args),
        QuintainCommand::Games(args) => games::run(&args),
        QuintainCommand::Explain(args) => explain::run(&args),
        QuintainCommand::Report(args) => report::run(&args),
        QuintainCommand::Archive(args) => archive::run(&args),
        QuintainCommand::Calibrate(args) => calibrate::run(&args),
        QuintainCommand::Speed(args) => speed::run(&args),
        QuintainCommand::Suite(args) => suite::run(&args),
        QuintainCommand::Scaling(args) => scaling::run(&args),
        QuintainCommand::Stats(args) => stats::run(&args, &mut std::io::stdout().lock()).map(|()| Exit::Done),
        QuintainCommand::Simulate(args) => simulate::run(&args, &mut std::io::stdout().lock()).map(|()| Exit::Done),
        QuintainCommand::Rate(args) => rate::run(&args, &mut std::io::stdout().lock()).map(|()| Exit::Done),
        QuintainCommand::Records(args) => records::run(&args, &mut std::io::stdout().lock()).map(|()| Exit::Done),
        QuintainCommand::Progress(args) => versions::run(&args),
        QuintainCommand::Bisect(args) => bisect::run(&args),
        QuintainCommand::Book(args) => book::run(&args),
        QuintainCommand::Check(args) => check::run(&args),
        QuintainCommand::Engines(args) => engines::run(&args),
        QuintainCommand::Init(args) => init::run(&args),
        QuintainCommand::Completions(args) => shell::completions(&args),
        QuintainCommand::Man(args) => shell::man(&args, Cli::command()),
    };
    exit_code(result)
}

/// Exit code of a command, whose error is printed. Without its whole output it has not succeeded.
fn exit_code(result: anyhow::Result<Exit>) -> ExitCode {
    match result {
        Ok(_) if let Some(error) = progress::lost() => {
            progress::note(&format!("error: the output is not complete: {error}"));
            ExitCode::from(EXIT_USAGE)
        }
        Ok(exit) => ExitCode::from(exit.code()),
        Err(error) => {
            progress::error(error.as_ref());
            ExitCode::from(EXIT_USAGE)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    /// Commands that call this program, from the fenced blocks of the README and of the guides,
    /// less their comments.
    fn commands_of_the_guides() -> Vec<String> {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let guides = std::fs::read_dir(root.join("docs")).expect("docs").map(|entry| entry.expect("entry").path());
        let pages = guides.filter(|path| path.extension().is_some_and(|kind| kind == "md"));
        let mut commands = Vec::new();
        let workflow = std::fs::read_to_string(root.join("configs/workflow.yml")).expect("workflow");
        let steps = workflow.lines().map(|line| line.split(" || ").next().unwrap_or_default().trim());
        commands.extend(steps.filter(|line| line.starts_with("quintain ")).map(str::to_owned));
        assert!(commands.len() > 1, "{commands:?}");
        for page in pages.chain([root.join("README.md")]) {
            let text = std::fs::read_to_string(&page).expect("page");
            // Between fences: every second part.
            let blocks = text.split("```").skip(1).step_by(2);
            let lines = blocks.flat_map(str::lines).map(|line| line.split(" # ").next().unwrap_or_default().trim());
            commands.extend(lines.filter(|line| line.starts_with("quintain ")).map(str::to_owned));
        }
        commands
    }

    #[test]
    fn every_command_of_the_guides_parses() {
        let commands = commands_of_the_guides();
        assert!(commands.len() >= 60, "{commands:?}");
        for command in commands {
            // What the shell makes of a redirection is not the program's.
            let words = crate::source::split_words(command.split(" > ").next().unwrap_or_default()).expect("words");
            let parsed = Cli::command().try_get_matches_from(words).map(|_| ());
            assert!(parsed.is_ok(), "{command}: {parsed:?}");
        }
    }

    #[test]
    fn a_list_of_cpus_needs_no_equals_sign() {
        for (line, expected) in [
            ("q match a b --affinity 0,2-3", "q match a b --affinity=0,2-3"),
            ("q bisect --affinity 1 v1 v2", "q bisect --affinity=1 v1 v2"),
            ("q queue add sprt --affinity 0,1 a.toml", "q queue add sprt --affinity=0,1 a.toml"),
            ("q match a b --affinity 3-1", "q match a b --affinity=3-1"),
            ("q sprt --affinity a.toml", "q sprt --affinity a.toml"),
            ("q bisect --affinity 9876543 v2", "q bisect --affinity 9876543 v2"),
            ("q sprt --affinity=2 3", "q sprt --affinity=2 3"),
        ] {
            let words = with_joined_lists(line.split(' ').map(OsString::from));
            assert_eq!(words.join(std::ffi::OsStr::new(" ")), expected);
        }
    }

    #[test]
    fn the_colour_is_known_before_the_rest() {
        for (line, choice) in [
            ("q sprt", ColorChoice::Auto),
            ("q --color never sprt --help", ColorChoice::Never),
            ("q sprt --color=always --json", ColorChoice::Always),
            ("q sprt --color", ColorChoice::Auto),
            ("q sprt --color blue", ColorChoice::Auto),
            ("q sprt -- --color never", ColorChoice::Auto),
        ] {
            assert_eq!(color(line.split(' ').map(OsString::from)), choice, "{line}");
        }
    }
}
