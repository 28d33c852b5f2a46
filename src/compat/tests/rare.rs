//! Options that few command lines have.

use super::*;

/// Notes of an invocation without a book, with these warnings.
fn warned(warnings: &[&str]) -> Vec<String> {
    warnings.iter().map(|warning| format!("Warning: {warning}")).chain([NO_BOOK.to_owned()]).collect()
}

#[test]
fn a_packed_log_is_text() {
    reads(Dialect::Fastchess, "-log file=x.log compress=true", |invocation| {
        invocation.settings.log = LogArgs { file: "x.log".to_owned(), compress: true, ..LogArgs::default() };
        invocation.notes.push("Warning: -log compress=true has no effect: the log is text".to_owned());
    });
}

#[test]
fn the_rarer_options_of_cutechess() {
    reads(Dialect::Cutechess, "-bookmode disk -resultformat wide", |invocation| {
        invocation.notes = warned(&[
            "-bookmode has no effect: books are held in memory",
            "-resultformat has no effect: results have one form",
        ]);
    });
    reads(Dialect::Cutechess, "-each trust stderr=e.log -each trust", |invocation| {
        invocation.notes = warned(&[
            "trust has no effect: UCI engines claim no results",
            "stderr has no effect: error output is in the folder stderr of the run",
        ]);
    });
    reads(Dialect::Cutechess, "-each debug tscale=1.5 -debug all", |invocation| {
        invocation.notes = warned(&[
            "debug has no effect: no engine is sent `debug on`",
            "-debug all acts as -debug: no engine is sent `debug on`",
        ]);
        let settings = &mut invocation.settings;
        [settings.startup, settings.ucinewgame] = [15, 90].map(Duration::from_secs);
        settings.log = LogArgs { file: "-".into(), level: LogLevel::Trace, engine: true, ..LogArgs::default() };
    });
    cute("-each tscale=0.5", |_| {});
    for line in ["-engines", "-engine cmd=a --engines"] {
        assert_eq!(parse(Dialect::Cutechess, line), Ok(RunnerAction::Engines), "{line}");
    }
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
        ("-engine conf=Xboard", "engines.json: engine \"Xboard\": engines are spoken to by uci, not by xboard"),
        ("-engine cmd=c initstr=xboard", "lines of setoption, not \"xboard\""),
        ("-engine cmd=c book=b.bin", "-openings file=BOOK.bin"),
        ("-debug some", "no value, or all"),
        ("-each tscale=0", "tscale=0: it is a number from 0.2 to 120"),
    ] {
        let error =
            parse(Dialect::Cutechess, &format!("-engine cmd=a tc=1 -engine cmd=b tc=1 {line}")).expect_err(line);
        assert!(error.contains(reason), "{line}: {error}");
    }
}

#[test]
fn entries_of_engines_json_are_keys() {
    reads(Dialect::Cutechess, "-engine conf=Known name=c", |invocation| {
        invocation.engines.push(EngineArgs { cmd: "./known".to_owned(), ..engine("c", "1") });
    });
    // An entry has no limit, so one that comes before it holds.
    reads(Dialect::Cutechess, "-engine nodes=5 conf=Known name=c", |invocation| {
        let limit = Limit { clock: clock("1"), nodes: Some(5), ..Limit::default() };
        invocation.engines.push(EngineArgs { cmd: "./known".to_owned(), limit, ..engine("c", "1") });
    });
    reads(Dialect::Cutechess, "-engine conf=Loud cmd=c", |invocation| {
        invocation.engines.push(EngineArgs { cmd: "c".to_owned(), ..engine("c", "1") });
        invocation.settings.startup = Duration::from_secs(20);
        invocation.settings.ucinewgame = Duration::from_secs(120);
        invocation.notes = warned(&[
            "trust has no effect: UCI engines claim no results",
            "stderr has no effect: error output is in the folder stderr of the run",
            "debug has no effect: no engine is sent `debug on`",
        ]);
    });
}

#[test]
fn a_policy_gives_all_games_of_an_encounter_one_opening() {
    let cute = Dialect::Cutechess;
    for policy in ["policy=round", "policy=encounter"] {
        for repeat in ["", "-repeat 1"] {
            plans(cute, 2, &format!("-games 2 -rounds 50 -openings {policy} {repeat}"), |plan| {
                (plan.max_pairs, plan.half_last, plan.opening_per_game) = (Some(50), false, false);
            });
        }
        plans(cute, 2, &format!("-rounds 4 -openings {policy}"), |plan| {
            (plan.max_pairs, plan.half_last, plan.opening_per_game) = (Some(2), false, true);
        });
    }
    // The last `-openings` counts.
    for options in ["-openings policy=default", "-openings policy=round -openings order=sequential"] {
        plans(cute, 2, &format!("-games 2 {options}"), |plan| {
            (plan.max_pairs, plan.half_last, plan.opening_per_game) = (Some(1), false, true);
        });
    }
}

#[test]
fn openings_that_other_games_share_are_warned_of() {
    // (engines, options after `-openings file=b.epd`, part of the only warning)
    let cases = [
        (2, "-games 4 -repeat 4", Some("by two games, not by 4")),
        (2, "-rounds 9 -repeat 3", Some("by two games, not by 3")),
        (2, "-games 2 -repeat", None),
        (3, "-games 4 -repeat 4", Some("by two games, not by 4")),
        (3, "-games 2 -repeat 4", None),
        (2, "policy=round -games 4", Some("by two games, not by 4")),
        (2, "policy=round -games 2 -rounds 9 -repeat 4", None),
        (2, "policy=encounter -games 2", None),
        (2, "policy=encounter -games 2 -rounds 2", Some("policy=encounter acts as policy=round")),
        (3, "policy=encounter -games 2", Some("policy=encounter acts as policy=round")),
    ];
    for (engines, options, warning) in cases {
        let line = format!("{} -each tc=1 -openings file=b.epd {options}", "-engine cmd=a ".repeat(engines));
        let Ok(RunnerAction::Play(invocation)) = parse(Dialect::Cutechess, &line) else { panic!("{line}") };
        let notes = invocation.notes;
        match warning {
            Some(part) => assert!(notes.len() == 1 && notes[0].contains(part), "{line}: {notes:?}"),
            None => assert!(notes.is_empty(), "{line}: {notes:?}"),
        }
    }
}

#[test]
fn zeros_switch_adjudication_off_in_cutechess() {
    let zeros = "-draw movenumber=0 movecount=8 score=20 -resign movecount=0 score=600";
    cute(zeros, |_| {});
    cute(&format!("-draw movenumber=9 movecount=8 score=20 -resign movecount=3 score=600 {zeros}"), |_| {});
    cute("-draw movenumber=9 movecount=8 score=0 -resign movecount=3 score=0", |s| {
        s.draw = Some(DrawArgs { number: 9, count: 8, score: 0 });
        s.resign = Some(ResignArgs { count: 3, score: 0, two_sided: false });
    });
    fast(zeros, |s| {
        s.draw = Some(DrawArgs { number: 0, count: 8, score: 20 });
        s.resign = Some(ResignArgs { count: 0, score: 600, two_sided: false });
    });
}

#[test]
fn cutechess_counts_the_moves_of_a_draw_from_the_book_position() {
    plans(Dialect::Cutechess, 2, "-draw movenumber=34 movecount=8 score=20", |plan| {
        plan.rules.draw = Some(DrawRule { move_number: 34, from_start: true, count: 8, score_cp: 20 });
    });
}

#[test]
fn a_program_is_looked_up_where_its_runner_does() {
    let folder = tempfile::tempdir().unwrap();
    let [full, empty] = ["full", "empty"].map(|name| folder.path().join(name));
    for folder in [&full, &empty] {
        std::fs::create_dir(folder).unwrap();
    }
    std::fs::write(full.join("sh"), "").unwrap();
    let found = |dialect: Dialect, dir: &std::path::Path| {
        let dir = dir.to_str().unwrap().to_owned();
        plan::program(&EngineArgs { cmd: "sh".to_owned(), dir, ..EngineArgs::default() }, dialect).ok()
    };
    for dialect in [Dialect::Fastchess, Dialect::Cutechess] {
        assert_eq!(found(dialect, &full), Some(full.join("sh")), "{dialect:?}");
    }
    // A name that is not in the folder.
    assert_eq!(found(Dialect::Fastchess, &empty), None);
    let named = found(Dialect::Cutechess, &empty);
    assert!(named.as_ref().is_some_and(|file| file.ends_with("sh") && !file.starts_with(folder.path())), "{named:?}");
}

/// On Windows a name may lack `.exe`.
#[test]
fn a_program_is_found_without_its_ending() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join(format!("new{}", std::env::consts::EXE_SUFFIX));
    std::fs::write(&program, "").unwrap();
    let dir = folder.path().to_str().unwrap();
    for dialect in [Dialect::Fastchess, Dialect::Cutechess] {
        for (cmd, dir) in [("new".to_owned(), dir), (folder.path().join("new").to_str().unwrap().to_owned(), "")] {
            let engine = EngineArgs { cmd, dir: dir.to_owned(), ..EngineArgs::default() };
            assert_eq!(plan::program(&engine, dialect).unwrap(), program, "{dialect:?}");
        }
    }
}

#[test]
fn engines_of_one_name_get_numbers_that_no_other_has() {
    for (given, expected) in [
        (&["A", "A"][..], &["A", "A_2"][..]),
        (&["A", "A", "A_2"], &["A", "A_3", "A_2"]),
        (&["A_2", "A", "A", "A", "A_2"], &["A_2", "A", "A_3", "A_4", "A_2_2"]),
    ] {
        let engines: String = given.iter().map(|name| format!("-engine cmd=x name={name} tc=1 ")).collect();
        let Ok(RunnerAction::Play(invocation)) = parse(Dialect::Fastchess, engines.trim()) else { panic!("{engines}") };
        let names: Vec<&str> = invocation.engines.iter().map(|engine| engine.name.as_str()).collect();
        assert_eq!(names, expected);
    }
}
