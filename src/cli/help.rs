//! `quintain --help`: the commands in groups.

use std::fmt::Write as _;

use clap::Command;

/// Groups of commands in the help, in their order.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Play", &["demo", "sprt", "match", "gauntlet", "race", "tune", "bisect", "queue"]),
    ("Watch", &["watch", "ctl", "serve", "resume"]),
    (
        "Understand",
        &[
            "runs", "report", "explain", "games", "replay", "archive", "progress", "records", "stats", "simulate",
            "rate",
        ],
    ),
    ("Engines and books", &["check", "speed", "suite", "scaling", "calibrate", "engines", "book"]),
    ("Many machines", &["hub", "worker", "workers"]),
    ("Other", &["init", "fastchess", "cutechess", "completions", "man"]),
];

/// Columns of a command's name.
const NAME_WIDTH: usize = 11;

/// The command line with its commands listed by [`GROUPS`] instead of in one list. A negative
/// number is a value everywhere, so that the error names the flag that does not take it.
pub(super) fn grouped(command: Command) -> Command {
    let command = with_negative_numbers(command);
    let styles = command.get_styles().clone();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut template = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (group, names) in GROUPS {
        // Writing into memory cannot fail.
        let _ = writeln!(template, "\n{header}{group}:{header:#}");
        for subcommand in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let about = subcommand.get_about().map(ToString::to_string).unwrap_or_default();
            let name = subcommand.get_name();
            let _ = writeln!(
                template,
                "  {literal}{name}{literal:#}{:1$}  {about}",
                "",
                NAME_WIDTH.saturating_sub(name.len())
            );
        }
    }
    let _ = write!(template, "\n{header}Options:{header:#}\n{{options}}{{after-help}}");
    command.help_template(template)
}

fn with_negative_numbers(command: Command) -> Command {
    command.allow_negative_numbers(true).mut_subcommands(with_negative_numbers)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn each_command_stands_in_one_group() {
        let command = Cli::command();
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        // Users start no hidden command.
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
        let mut there: Vec<&str> = shown.map(Command::get_name).collect();
        listed.sort_unstable();
        there.sort_unstable();
        assert_eq!(listed, there);
    }

    /// Commands whose own help has the examples of all below it.
    const SHARED: [&str; 2] = ["ctl", "hub"];

    /// Commands that print the help of the program whose command line they take.
    const FOREIGN: [&str; 2] = ["fastchess", "cutechess"];

    /// Names of the commands, from `command` down, whose long help has no example.
    fn without_example(command: &Command) -> Vec<String> {
        let name = command.get_name();
        let below: Vec<_> = command.get_subcommands().filter(|command| !command.is_hide_set()).collect();
        if !below.is_empty() && !SHARED.contains(&name) {
            return below.into_iter().flat_map(without_example).collect();
        }
        let help = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string);
        let has_example = FOREIGN.contains(&name) || help.is_some_and(|help| help.contains("Example"));
        if has_example { Vec::new() } else { vec![name.to_owned()] }
    }

    #[test]
    fn each_command_has_an_example() {
        assert_eq!(without_example(&Cli::command()), [""; 0]);
    }

    #[test]
    fn flags_that_a_command_always_refuses_are_hidden() {
        let mut command = grouped(Cli::command());
        command.build();
        let refused: [(&[&str], &[&str]); 2] =
            [(&["progress"], &["until-width", "name"]), (&["book", "judge"], &["until-width", "book"])];
        for (path, flags) in refused {
            let command =
                path.iter().try_fold(&command, |command, name| command.find_subcommand(name)).expect("a command");
            for flag in flags {
                let found = command.get_arguments().find(|arg| arg.get_long() == Some(*flag)).expect("a flag");
                assert!(found.is_hide_set(), "{path:?} --{flag}");
            }
        }
    }

    #[test]
    fn the_short_help_is_one_screen() {
        let mut command = grouped(Cli::command());
        let short = command.render_help().to_string();
        assert!(short.lines().count() <= 62 && short.lines().all(|line| line.chars().count() <= 120), "{short}");
        assert!(short.contains("\nUnderstand:\n  runs         Lists stored and live runs"), "{short}");
        assert!(!short.contains("Examples:"), "{short}");
        let long = command.render_long_help().to_string();
        assert!(long.contains("Exit codes:") && long.contains("Examples:"), "{long}");
        // The commands' own short help leaves out what the long one explains.
        let sprt = command.find_subcommand_mut("sprt").expect("sprt");
        assert!(!sprt.render_help().to_string().contains("Examples:"));
        assert!(sprt.render_long_help().to_string().contains("Examples:"));
    }
}
