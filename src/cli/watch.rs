//! `quintain watch DIR`: the display of a live run.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use anyhow::Result;

use crate::cli::runs::run_parser;
use crate::control::client::{Client, ClientError};
use crate::control::protocol::{ServerMessage, line};
use crate::plan::Plan;
use crate::report::console::{Screen, View};
use crate::report::state;
use crate::report::summary::{self, Summary};
use crate::run::dir::RunDir;
use crate::run::{Exit, progress, series};
use crate::tournament::events::{Finish, StopReason};
use crate::tournament::scoreboard::Scoreboard;

/// Shows a live run as its own terminal does, until it ends; of a run that is over, its summary. It
/// can be left at any time: the run does not notice.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Exit codes: those of the run, as if it had been played here (`quintain --help`); 130 too if it was killed; \
                  2 if there is no run.\n\n\
                  Example:\n  quintain watch results/runs/20260101-120000-sprt"
)]
pub(super) struct WatchArgs {
    /// The run: its directory, an id of `quintain runs`, the end of one, or `latest`. Of a
    /// tuning and of a series of matches, the run that it plays.
    #[arg(value_name = "RUN", value_parser = run_parser())]
    dir: PathBuf,
    /// Print JSON lines, distinguished by `event`: `progress` about once a second, `line` for
    /// messages, `end` last.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &WatchArgs) -> Result<Exit> {
    let (dir, plan) = RunDir::open(&series::newest_run(&args.dir))?;
    let exit = match Client::connect(dir.root()) {
        Ok(client) if args.json => stream(client)?,
        Ok(client) => follow(client, &plan)?,
        Err(ClientError::NotLive { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    if args.json
        && let Some(exit) = exit
    {
        return Ok(exit);
    }
    let finish = over(&dir, &plan)?;
    let summary = Summary::new(&plan, &finish, dir.root());
    let exit = exit.unwrap_or_else(|| Exit::of(&finish.reason, &finish.scoreboard));
    if args.json {
        progress::result(&line(&ServerMessage::End { exit: exit.code(), summary: summary.json().clone() }));
    } else {
        progress::result(summary.text());
    }
    Ok(exit)
}

/// Prints the run's lines. Returns the exit status that the run reported, if any.
fn stream(mut client: Client) -> Result<Option<Exit>> {
    client.watch()?;
    while let Some((text, say)) = client.read()? {
        progress::result(&text);
        if let ServerMessage::End { exit, .. } = say {
            return Ok(Exit::from_code(exit));
        }
    }
    Ok(None)
}

/// Shows the run. Returns the exit status that it reported, if any.
fn follow(mut client: Client, plan: &Plan) -> Result<Option<Exit>> {
    client.watch()?;
    let screen = Screen::open(plan);
    // Without a terminal views are printed rarely, so the first one is printed at once.
    let mut plain = !std::io::stderr().is_terminal();
    let mut ended = None;
    while let Some((_, say)) = client.read()? {
        match say {
            ServerMessage::Progress(now) => {
                let view = View::from(now.shown);
                if std::mem::take(&mut plain) {
                    screen.line(view.plain.clone());
                }
                screen.show(view);
            }
            ServerMessage::Line { text } => screen.line(text),
            ServerMessage::End { exit, .. } => {
                ended = Exit::from_code(exit);
                break;
            }
            ServerMessage::Status { .. }
            | ServerMessage::Workers { .. }
            | ServerMessage::Error { .. }
            | ServerMessage::Game(_)
            | ServerMessage::Ply(_)
            | ServerMessage::Other => {}
        }
    }
    screen.close();
    Ok(ended)
}

/// Finish of a run that nobody plays, from its journal and its last summary.
fn over(dir: &RunDir, plan: &Plan) -> Result<Finish> {
    let scoreboard = dir.scoreboard(plan)?;
    Ok(finish(dir, plan, scoreboard))
}

/// Finish of a run that nobody plays, from its counted results and its last summary.
pub(super) fn finish(dir: &RunDir, plan: &Plan, scoreboard: Scoreboard) -> Finish {
    let summary = dir.summary(scoreboard.pairs());
    let reason = reason(summary.as_ref(), plan, &scoreboard);
    Finish { scoreboard, reason, time: summary.as_ref().and_then(summary::time) }
}

fn reason(summary: Option<&serde_json::Value>, plan: &Plan, scoreboard: &Scoreboard) -> StopReason {
    let told = || summary.map_or(StopReason::Interrupted, |summary| state::stop_reason(summary, scoreboard));
    StopReason::of_counted(plan, scoreboard).unwrap_or_else(told)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;
    use crate::plan::file;
    use crate::tournament::events::RunTime;

    #[test]
    fn an_end_is_read_from_the_summary_as_it_was() {
        let plan = file::from_toml(include_str!("../report/html/tests/plan.toml")).unwrap();
        let scoreboard = Scoreboard::new(&plan).unwrap();
        let time = Some(RunTime::of_session(Duration::from_secs(720), true));
        for end in [
            StopReason::TooManyFailures { failures: 12 },
            StopReason::Broken { why: "/opt/engine changed".to_owned() },
            StopReason::OutOfTime,
            StopReason::Interrupted,
        ] {
            let finish = Finish { scoreboard: scoreboard.clone(), reason: end.clone(), time };
            let written = Summary::new(&plan, &finish, Path::new("run"));
            assert_eq!(reason(Some(written.json()), &plan, &scoreboard), end);
            assert_eq!(summary::time(written.json()), time);
        }
        // An older summary has no reason.
        let broken = serde_json::json!({ "stopped_by": "broken" });
        assert!(matches!(reason(Some(&broken), &plan, &scoreboard), StopReason::Broken { .. }));
        assert_eq!(reason(None, &plan, &scoreboard), StopReason::Interrupted);
    }
}
