//! Options of cutechess-cli that few command lines have.

use super::*;

#[test]
fn the_rarer_options_of_cutechess() {
    reads(Dialect::Cutechess, "-bookmode disk -resultformat wide", |invocation| {
        let notes =
            ["-bookmode has no effect: books are held in memory", "-resultformat has no effect: results have one form"];
        invocation.notes = notes.map(|note| format!("Warning: {note}")).to_vec();
        invocation.notes.push(NO_BOOK.to_owned());
    });
    cute("-tournamentfile cup.json", |s| s.config_name = "cup.json".to_owned());
    for (line, concurrency, notes) in [
        ("-resume -tournamentfile saved.json", 1, 0),
        ("-engine cmd=a -engine cmd=b -each tc=1 -tournamentfile saved.json -resume -concurrency 3", 3, 1),
    ] {
        let Ok(RunnerAction::Play(resumed)) = parse(Dialect::Cutechess, line) else { panic!("{line}") };
        let settings = &resumed.settings;
        assert_eq!((resumed.engines.len(), settings.rounds, settings.concurrency), (2, 77, concurrency), "{line}");
        assert_eq!((resumed.engines[0].name.as_str(), resumed.notes.len()), ("x", notes), "{line}");
        assert_eq!(resumed.resume, Some("saved.json".into()), "{line}");
    }
    reads(Dialect::Cutechess, "-engine conf=Known name=c", |invocation| {
        invocation.engines.push(EngineArgs { cmd: "./known".to_owned(), ..engine("c", "1") });
    });
    reads(
        Dialect::Cutechess,
        "-each 'initstr=setoption name Clear Hash\\nsetoption name A b value c d'",
        |invocation| {
            let options =
                [("Clear Hash", "true"), ("A b", "c d")].map(|(name, value)| (name.to_owned(), value.to_owned()));
            invocation.engines.iter_mut().for_each(|engine| engine.options = options.to_vec());
        },
    );
    reads(Dialect::Cutechess, "-variant fischerandom", |invocation| {
        invocation.settings.chess960 = true;
        invocation.notes.clear();
    });
    for (line, reason) in [
        ("-resume", "-resume needs the -tournamentfile"),
        ("-resume -tournamentfile gone.json", "gone.json: cannot be read"),
        ("-resume -tournamentfile gone.json", "a file that Cute Chess wrote is not read"),
        ("-engine cmd=c proto=xboard", "not by xboard; write proto=uci"),
        ("-engine conf=Other", "no engine Other"),
        ("-engine cmd=c initstr=xboard", "lines of setoption, not \"xboard\""),
        ("-engine cmd=c book=b.bin", "-openings file=BOOK.bin"),
    ] {
        let error =
            parse(Dialect::Cutechess, &format!("-engine cmd=a tc=1 -engine cmd=b tc=1 {line}")).expect_err(line);
        assert!(error.contains(reason), "{line}: {error}");
    }
}
