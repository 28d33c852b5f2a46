mod rare;

use std::time::Duration;

use super::config::ConfigFile;
use super::grammar::SavedConfig;
use super::invocation::*;
use super::{cutechess, grammar, plan};
use crate::chess::Variant;
use crate::openings::order::Order;
use crate::plan::affinity::Affinity;
use crate::plan::rules::{DrawRule, ResignRule};
use crate::plan::time_control::{Limit, TimeControl};
use crate::plan::{Colors, Format, Plan, Test, Timeouts};
use crate::schedule::affinity::Topology;
use crate::stats::sprt::{Bounds, Model};
use crate::tournament::formats::gauntlet::Gauntlet;
use crate::tournament::formats::knockout::Knockout;

/// Splits a command line at spaces. A part in single quotes is one word.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let (mut quoted, mut any) = (false, false);
    for c in line.chars() {
        match c {
            '\'' => (quoted, any) = (!quoted, true),
            ' ' if !quoted => {
                if any {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            _ => {
                word.push(c);
                any = true;
            }
        }
    }
    if any {
        words.push(word);
    }
    words
}

fn saved(path: &std::path::Path) -> Result<SavedConfig, String> {
    match path.to_str() {
        Some("saved.json") => {
            let engines = vec![engine("x", "1+0.01"), engine("y", "1+0.01")];
            let mut settings = RunnerSettings::new(Dialect::Fastchess);
            settings.rounds = 77;
            settings.config_name = "saved.json".to_owned();
            settings.openings.file = Some("saved.epd".to_owned());
            Ok(SavedConfig { engines, settings })
        }
        _ => Err(format!("{}: cannot be read", path.display())),
    }
}

fn parse(dialect: Dialect, line: &str) -> Result<RunnerAction, String> {
    let words = words(line);
    let parsed = match dialect {
        Dialect::Fastchess => grammar::parse(&words, &saved),
        Dialect::Cutechess => cutechess::parse(&words, &saved, &|name| {
            let keys: &[(&str, &str)] = match name {
                "Known" => &[("cmd", "./known"), ("name", "Known")],
                "Loud" => &[("stderr", "2"), ("trust", "2"), ("debug", "2"), ("tscale", "2")],
                "Xboard" => &[("proto", "xboard")],
                _ => return Err(format!("no engine {name}")),
            };
            Ok(("engines.json".into(), keys.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()))
        }),
    };
    parsed.map_err(|error| error.to_string())
}

fn clock(text: &str) -> Option<TimeControl> {
    Some(text.parse().unwrap())
}

fn engine(name: &str, tc: &str) -> EngineArgs {
    let limit = Limit { clock: clock(tc), ..Limit::default() };
    EngineArgs { cmd: name.to_owned(), name: name.to_owned(), limit, ..EngineArgs::default() }
}

const NO_BOOK: &str = "Warning: no opening book: all games begin from the starting position";

/// Asserts that a line parses as two engines `a` and `b` at 1 s with defaults, changed by `change`.
fn reads(dialect: Dialect, options: &str, change: impl FnOnce(&mut Invocation)) {
    let line = format!("-engine cmd=a -engine cmd=b {options} -each tc=1");
    let mut expected = Invocation {
        dialect,
        engines: vec![engine("a", "1"), engine("b", "1")],
        settings: RunnerSettings::new(dialect),
        resume: None,
        notes: vec![NO_BOOK.to_owned()],
    };
    change(&mut expected);
    let read = parse(dialect, &line);
    assert_eq!(read, Ok(RunnerAction::Play(Box::new(expected))), "{line}");
}

fn fast(options: &str, change: impl FnOnce(&mut RunnerSettings)) {
    reads(Dialect::Fastchess, options, |invocation| change(&mut invocation.settings));
}

fn cute(options: &str, change: impl FnOnce(&mut RunnerSettings)) {
    reads(Dialect::Cutechess, options, |invocation| change(&mut invocation.settings));
}

#[test]
fn both_runners_options_of_one_name_are_read_alike() {
    let same = "-rounds 500 -games 2 -noswap -reverse -recover -wait 20 -seeds 2 -event a b -site c -tb /t -tbpieces 5 \
                -tbignore50 -variant standard -ratinginterval 0 -scoreinterval 7 -draw movenumber=1 movecount=2 \
                score=3 -resign movecount=4 score=5 twosided=true";
    let expect = |s: &mut RunnerSettings| {
        (s.rounds, s.games, s.seeds, s.wait) = (500, 2, 2, Duration::from_millis(20));
        (s.no_swap, s.reverse, s.recover) = (true, true, true);
        (s.event, s.site) = ("a b".to_owned(), "c".to_owned());
        (s.tb.paths, s.tb.pieces, s.tb.ignore_50) = (Some("/t".to_owned()), 5, true);
        (s.rating_interval, s.score_interval) = (None, Some(7));
        s.draw = Some(DrawArgs { number: 1, count: 2, score: 3 });
        s.resign = Some(ResignArgs { count: 4, score: 5, two_sided: true });
    };
    fast(same, expect);
    cute(same, expect);
}

#[test]
fn the_options_of_a_tournament() {
    fast("", |_| {});
    fast("-rounds 500 -games 2 -repeat", |s| (s.rounds, s.games) = (500, 2));
    fast("-rounds 500 -games 1 -report penta=true", |s| (s.rounds, s.games, s.penta) = (500, 1, false));
    // Rounds and games are often swapped.
    fast("-rounds 2 -games 1000", |s| (s.rounds, s.games) = (1000, 2));
    fast("-repeat 1 -rounds 9", |s| (s.rounds, s.games, s.penta) = (9, 1, false));
    fast("-games 1 -repeat", |s| s.games = 2);
    fast("-tournament gauntlet -seeds 2", |s| (s.tournament, s.seeds) = (Tournament::Gauntlet, 2));
    fast("-tournament roundrobin -noswap -reverse -recover", |s| {
        (s.no_swap, s.reverse, s.recover) = (true, true, true);
    });
    fast("-concurrency -2", |s| s.concurrency = -2);
    fast("-concurrency 64 -force-concurrency -wait 20", |s| {
        (s.concurrency, s.force_concurrency, s.wait) = (64, true, Duration::from_millis(20));
    });
    fast("-srand 18446744073709551615", |s| s.seed = Some(u64::MAX));
    fast("-ratinginterval 0 -scoreinterval 0 -autosaveinterval 0", |s| {
        (s.rating_interval, s.score_interval, s.autosave) = (None, None, None);
    });
    fast("-ratinginterval 1 -scoreinterval 5 -autosaveinterval 7", |s| {
        (s.rating_interval, s.score_interval, s.autosave) = (Some(1), Some(5), Some(7));
    });
    fast("-output format=cutechess", |s| (s.output, s.penta) = (OutputFormat::Cutechess, false));
    fast("-output format=fastchess -report penta=false", |s| s.penta = false);
    fast("-testEnv -strict -check-mate-pvs -show-latency", |s| {
        (s.test_env, s.strict, s.check_mate_pvs, s.show_latency) = (true, true, true, true);
    });
    fast("-use-affinity", |s| s.affinity = true);
    fast("-use-affinity 3,5,7-9", |s| (s.affinity, s.affinity_cpus) = (true, vec![3, 5, 7, 8, 9]));
    fast("-startup-ms 1 -ucinewgame-ms 2 -ping-ms 3", |s| {
        [s.startup, s.ucinewgame, s.ping] = [1, 2, 3].map(Duration::from_millis);
        s.pings = true;
    });
    fast("-event 'Batch 7: a vs b' -site https://example.org/x", |s| {
        (s.event, s.site) = ("Batch 7: a vs b".to_owned(), "https://example.org/x".to_owned());
    });
    fast("-event Two words", |s| s.event = "Two words".to_owned());
}

#[test]
fn the_options_of_a_game() {
    fast("-draw movenumber=34 movecount=8 score=20", |s| {
        s.draw = Some(DrawArgs { number: 34, count: 8, score: 20 });
    });
    fast("-draw score=5", |s| s.draw = Some(DrawArgs { number: 0, count: 1, score: 5 }));
    fast("-resign movecount=3 score=600 twosided=true", |s| {
        s.resign = Some(ResignArgs { count: 3, score: 600, two_sided: true });
    });
    fast("-maxmoves 150", |s| s.max_moves = Some(150));
    fast("-tb /a:/b -tbpieces 5 -tbignore50 -tbadjudicate WIN_LOSS", |s| {
        s.tb = TbArgs { paths: Some("/a:/b".to_owned()), pieces: 5, ignore_50: true, result: TbResult::WinLoss };
    });
    fast("-sprt elo0=-3 elo1=1.5 alpha=0.05 beta=0.1", |s| {
        s.sprt = Some(SprtValues { elo0: -3.0, elo1: 1.5, alpha: 0.05, beta: 0.1, model: Model::Normalized });
    });
    fast("-rounds 0 -sprt elo0=0 elo1=2 alpha=0.05 beta=0.05 model=logistic", |s| {
        s.rounds = 500_000;
        s.sprt = Some(SprtValues { elo0: 0.0, elo1: 2.0, alpha: 0.05, beta: 0.05, model: Model::Logistic });
    });
    reads(Dialect::Fastchess, "-openings file=uho.epd order=random start=17 plies=8", |invocation| {
        let file = Some("uho.epd".to_owned());
        invocation.settings.openings =
            OpeningArgs { file, format: Some(BookFormat::Epd), random: true, plies: Some(8), start: 17 };
        invocation.notes.clear();
    });
    reads(
        Dialect::Fastchess,
        "-variant fischerandom -openings file=b format=pgn plies=-1 policy=round",
        |invocation| {
            let file = Some("b".to_owned());
            invocation.settings.openings =
                OpeningArgs { file, format: Some(BookFormat::Pgn), ..OpeningArgs::default() };
            invocation.settings.chess960 = true;
            invocation.notes.clear();
        },
    );
    reads(Dialect::Fastchess, "-sprt elo0=0 elo1=2 alpha=.05 beta=.05 model=bayesian", |invocation| {
        invocation.settings.sprt =
            Some(SprtValues { elo0: 0.0, elo1: 2.0, alpha: 0.05, beta: 0.05, model: Model::Bayesian });
        invocation.settings.penta = false;
        invocation.notes.insert(0, "Warning; the bayesian model is one of games: pairs are not reported".to_owned());
    });
}

#[test]
fn the_files_of_a_tournament() {
    fast("-pgnout", |s| s.pgn = Some(PgnArgs::default()));
    fast("-pgnout file=PGNs/x.pgn seldepth=true nodes=true 'match_line=^info string pgncomment .*'", |s| {
        s.pgn = Some(PgnArgs {
            file: "PGNs/x.pgn".to_owned(),
            seldepth: true,
            nodes: true,
            match_lines: vec!["^info string pgncomment .*".to_owned()],
            ..PgnArgs::default()
        });
    });
    fast("-pgnout file=o.pgn append=false notation=uci min=true match_line=a match_line=b=c -crc32 pgn=true", |s| {
        s.pgn = Some(PgnArgs {
            file: "o.pgn".to_owned(),
            append: false,
            notation: CompatNotation::Uci,
            min: true,
            match_lines: vec!["a".to_owned(), "b=c".to_owned()],
            ..PgnArgs::default()
        });
        s.crc32 = true;
    });
    fast("-pgnout nps=true hashfull=true tbhits=true pv=true timeleft=true latency=true notation=lan", |s| {
        let on = true;
        let (nps, hashfull, tbhits, pv, timeleft, latency) = (on, on, on, on, on, on);
        let notation = CompatNotation::Lan;
        s.pgn = Some(PgnArgs { nps, hashfull, tbhits, pv, timeleft, latency, notation, ..PgnArgs::default() });
    });
    // Files without `file=`, as fastchess took them up to version 1.6.
    fast("-pgnout o.pgn min -epdout o.epd", |s| {
        s.pgn = Some(PgnArgs { file: "o.pgn".to_owned(), min: true, ..PgnArgs::default() });
        s.epd = Some(EpdArgs { file: "o.epd".to_owned(), append: true });
    });
    fast("-epdout file=o.epd append=false", |s| {
        s.epd = Some(EpdArgs { file: "o.epd".to_owned(), append: false });
    });
    fast("-log file=x.log level=trace append=false realtime=false engine=true", |s| {
        s.log = LogArgs {
            file: "x.log".to_owned(),
            level: LogLevel::Trace,
            append: false,
            realtime: false,
            engine: true,
            compress: false,
        };
    });
    fast("-config outname=other.json", |s| s.config_name = "other.json".to_owned());
}

#[test]
fn the_keys_of_an_engine() {
    let line = "-engine dir=Engines/ cmd=./a proto=uci tc=8.0+0.08 timemargin=250 option.Threads=1 option.Hash=16 name=A-dev \
                -engine 'cmd=my engine' 'args=--x y' 'option.Debug Log File=a b=c' option.Contempt=-5 st=0.1 restart=on \
                -engine cmd=/nowhere/c.exe tc=40/1:30+0.5s nodes=5000 depth=9 -engine cmd=d plies=7 tc=inf";
    let Ok(RunnerAction::Play(invocation)) = parse(Dialect::Fastchess, line) else { panic!("{line}") };
    let expected = [
        EngineArgs {
            dir: "Engines/".to_owned(),
            cmd: "./a".to_owned(),
            margin: Duration::from_millis(250),
            options: [("Threads", "1"), ("Hash", "16")].map(|(a, b)| (a.to_owned(), b.to_owned())).to_vec(),
            ..engine("A-dev", "8+0.08")
        },
        EngineArgs {
            cmd: "my engine".to_owned(),
            name: "my engine".to_owned(),
            args: "--x y".to_owned(),
            options: [("Debug Log File", "a b=c"), ("Contempt", "-5")]
                .map(|(a, b)| (a.to_owned(), b.to_owned()))
                .to_vec(),
            limit: Limit { movetime: Some(Duration::from_millis(100)), ..Limit::default() },
            restart: true,
            ..EngineArgs::default()
        },
        EngineArgs {
            cmd: "/nowhere/c.exe".to_owned(),
            limit: Limit { clock: clock("40/90+0.5"), nodes: Some(5000), depth: Some(9), movetime: None },
            ..engine("c", "1")
        },
        EngineArgs { limit: Limit { depth: Some(7), ..Limit::default() }, ..engine("d", "1") },
    ];
    assert_eq!(invocation.engines, expected);
}

#[test]
fn each_is_for_all_and_names_are_made_unlike() {
    let line =
        "-each tc=1 option.Hash=8 -engine cmd=x/e option.Hash=4 -engine cmd=y/e -engine cmd=e name=f -each nodes=5";
    let Ok(RunnerAction::Play(invocation)) = parse(Dialect::Fastchess, line) else { panic!("{line}") };
    let names: Vec<_> = invocation.engines.iter().map(|engine| engine.name.as_str()).collect();
    assert_eq!(names, ["e", "e_2", "f"]);
    for engine in &invocation.engines {
        assert_eq!((engine.limit.clock, engine.limit.nodes), (clock("1"), Some(5)));
        assert_eq!(engine.options.last(), Some(&("Hash".to_owned(), "8".to_owned())));
    }
}

#[test]
fn quick_settles_the_rest() {
    let Ok(RunnerAction::Play(invocation)) = parse(Dialect::Fastchess, "-quick cmd=e cmd=e book=b.epd") else {
        panic!()
    };
    let mut settings = RunnerSettings::new(Dialect::Fastchess);
    settings.openings = OpeningArgs {
        file: Some("b.epd".to_owned()),
        format: Some(BookFormat::Epd),
        random: true,
        ..OpeningArgs::default()
    };
    (settings.rounds, settings.concurrency, settings.recover) = (25_000, -2, true);
    settings.draw = Some(DrawArgs { number: 30, count: 8, score: 8 });
    (settings.output, settings.penta) = (OutputFormat::Cutechess, false);
    assert_eq!(invocation.settings, settings);
    let engines = ["e1", "e2"].map(|name| EngineArgs { cmd: "e".to_owned(), ..engine(name, "10+0.1") });
    assert_eq!(invocation.engines, engines);
}

#[test]
fn an_earlier_configuration_is_taken_up() {
    // (command line, true if it resumes from the file, rounds, engines, outname)
    let cases = [
        ("-config file=saved.json", true, 77, 2, "saved.json"),
        ("-config file=saved.json outname=new.json", true, 77, 2, "new.json"),
        ("-rounds 5 -config file=saved.json", true, 77, 2, "saved.json"),
        ("-config file=saved.json -rounds 5", true, 5, 2, "saved.json"),
        ("-config file=saved.json stats=false", false, 77, 2, "saved.json"),
        (
            "-engine cmd=a tc=1 -engine cmd=b tc=1 -engine cmd=c tc=1 -config file=saved.json discard=true",
            false,
            2,
            3,
            "config.json",
        ),
    ];
    for (line, resumes, rounds, engines, name) in cases {
        let Ok(RunnerAction::Play(invocation)) = parse(Dialect::Fastchess, line) else { panic!("{line}") };
        let read = (invocation.resume.is_some(), invocation.settings.rounds, invocation.engines.len());
        assert_eq!(read, (resumes, rounds, engines), "{line}");
        assert_eq!(invocation.settings.config_name, name, "{line}");
    }
}

#[test]
fn requests_that_are_no_tournament() {
    for line in ["-version", "--version", "-v", "--v"] {
        assert_eq!(parse(Dialect::Fastchess, line), Ok(RunnerAction::Version), "{line}");
    }
    for line in ["", "-help", "--help"] {
        assert_eq!(parse(Dialect::Fastchess, line), Ok(RunnerAction::Help), "{line}");
        assert_eq!(parse(Dialect::Cutechess, line), Ok(RunnerAction::Help), "{line}");
    }
    assert_eq!(parse(Dialect::Cutechess, "-version"), Ok(RunnerAction::Version));
    let command = vec!["./e".to_owned(), "-x".to_owned(), "two words".to_owned()];
    assert_eq!(parse(Dialect::Fastchess, "--compliance ./e -x 'two words'"), Ok(RunnerAction::Compliance(command)));
}

#[test]
fn what_cannot_be_played_is_refused() {
    let two = "-engine cmd=a tc=1 -engine cmd=b tc=1";
    // (options, the option in the message, its value, part of the reason)
    let options = [
        ("-round 5", "-round", "", "did you mean \"-rounds\"?"),
        ("--engine cmd=c", "--engine", "", "did you mean \"-engine\"?"),
        ("-zzzzzz", "-zzzzzz", "", "-help lists them"),
        ("-rounds", "-rounds", "", "exactly one value"),
        ("-rounds five", "-rounds", "five", "not a number"),
        ("-rounds -5", "-rounds", "-5", "not a number"),
        ("-rounds 5 6", "-rounds", "5 6", "exactly one value"),
        ("-recover now", "-recover", "now", "no value"),
        ("-openings", "-openings", "", "key=value"),
        ("-openings file=", "-openings", "file=", "not \"file=\""),
        ("-openings fil=x", "-openings", "fil=x", "did you mean \"file\"?"),
        ("-openings file=x.epd start=0", "-openings", "file=x.epd start=0", "from 1"),
        ("-openings order=odd", "-openings", "order=odd", "sequential nor random"),
        ("-openings policy=encounter", "-openings", "policy=encounter", "policy"),
        ("-engine cmd=c tc=hg1", "-engine", "cmd=c tc=hg1", "hourglass"),
        ("-engine cmd=c tc=x/5", "-engine", "cmd=c tc=x/5", "moves are a whole number"),
        ("-engine cmd=c tc=-1", "-engine", "cmd=c tc=-1", "negative"),
        ("-engine cmd=c tc=nan", "-engine", "cmd=c tc=nan", "not a number"),
        ("-engine cmd=c proto=xboard", "-engine", "cmd=c proto=xboard", "xboard"),
        ("-engine cmd=c restart=yes", "-engine", "cmd=c restart=yes", "neither on nor off"),
        ("-engine cmd=c timemargin=-1", "-engine", "cmd=c timemargin=-1", "not a number"),
        ("-engine cmd=c optoin.Hash=1", "-engine", "cmd=c optoin.Hash=1", "unknown key"),
        ("-each hash=1", "-each", "hash=1", "unknown key"),
        ("-draw score=-1", "-draw", "score=-1", "not a number"),
        ("-resign twosided=yes", "-resign", "twosided=yes", "neither true nor false"),
        ("-sprt elo0=x", "-sprt", "elo0=x", "not a number"),
        ("-sprt model=old", "-sprt", "model=old", "normalized, logistic, bayesian"),
        ("-tournament swiss", "-tournament", "swiss", "neither roundrobin nor gauntlet"),
        ("-variant atomic", "-variant", "atomic", "fischerandom"),
        ("-tbadjudicate ALL", "-tbadjudicate", "ALL", "WIN_LOSS"),
        ("-use-affinity 5-3", "-use-affinity", "5-3", "list of CPUs"),
        ("-use-affinity 0-99999999999", "-use-affinity", "0-99999999999", "list of CPUs"),
        ("-output format=json", "-output", "format=json", "neither fastchess nor cutechess"),
        ("-pgnout notation=x", "-pgnout", "notation=x", "san, lan, uci"),
        ("-pgnout o.pgn max", "-pgnout", "o.pgn max", "neither min nor fi"),
        ("-log level=loud", "-log", "level=loud", "trace"),
        ("-config file=gone.json", "-config", "file=gone.json", "gone.json: cannot be read"),
        ("-quick cmd=a book=b.epd", "-quick", "cmd=a book=b.epd", "exactly two"),
        ("-quick cmd=a cmd=b", "-quick", "cmd=a cmd=b", "book=FILE"),
        ("-debug", "-debug", "", "-log"),
    ];
    for (line, option, value, reason) in options {
        let error = parse(Dialect::Fastchess, &format!("{two} {line}")).expect_err(line);
        let head = format!("Error while reading option \"{option}\" with value \"{value}\"\nReason: ");
        assert!(error.starts_with(&head) && error.contains(reason), "{line}: {error}");
        assert_eq!(error.lines().count(), 2, "{error}");
    }
    let wholes = [
        ("-engine cmd=a tc=1", "at least two engines"),
        ("-engine cmd=a -engine cmd=b tc=1", "engine a has no time control"),
        ("-engine cmd=a tc=1 st=1 -engine cmd=b tc=1", "engine a has both"),
        ("-engine name=a tc=1 -engine cmd=b tc=1", "without cmd="),
        ("-engine cmd=a tc=1 -engine cmd=b tc=1 -games 3 -rounds 3", "at most two games"),
        ("-engine cmd=a tc=1 -engine cmd=b tc=1 -rounds 0", "nothing to play"),
        ("-engine cmd=a tc=1 -engine cmd=b tc=1 -sprt elo0=1 elo1=1 alpha=.1 beta=.1", "elo0 must be less"),
        ("-engine cmd=a tc=1 -engine cmd=b tc=1 -sprt elo0=0 elo1=1", "alpha and beta"),
        ("-engine cmd=a tc=1 -engine cmd=b tc=1 -sprt elo0=0 elo1=1 alpha=.5 beta=.5", "together"),
    ];
    for (line, reason) in wholes {
        let error = parse(Dialect::Fastchess, line).expect_err(line);
        assert!(error.starts_with("Error: ") && error.contains(reason), "{line}: {error}");
    }
}

#[test]
fn the_options_of_cutechess() {
    cute("", |_| {});
    cute("-games 2 -rounds 500 -repeat -recover", |s| {
        (s.games, s.rounds, s.repeat, s.recover) = (2, 500, Some(2), true);
    });
    cute("-rounds 100 -repeat 2 -noswap -reverse", |s| {
        (s.rounds, s.repeat, s.no_swap, s.reverse) = (100, Some(2), true, true);
    });
    for (name, tournament) in [
        ("round-robin", Tournament::RoundRobin),
        ("gauntlet", Tournament::Gauntlet),
        ("knockout", Tournament::Knockout),
        ("pyramid", Tournament::Pyramid),
    ] {
        cute(&format!("-tournament {name} -seeds 2"), |s| (s.tournament, s.seeds) = (tournament, 2));
    }
    cute("-sprt elo0=0 elo1=5 alpha=0.05 beta=0.1", |s| {
        s.sprt = Some(SprtValues { elo0: 0.0, elo1: 5.0, alpha: 0.05, beta: 0.1, model: Model::Logistic });
    });
    cute("-draw movenumber=40 movecount=8 score=8 -resign movecount=3 score=500 twosided=true -maxmoves 0", |s| {
        s.draw = Some(DrawArgs { number: 40, count: 8, score: 8 });
        s.resign = Some(ResignArgs { count: 3, score: 500, two_sided: true });
    });
    cute("-tb /syzygy -tbpieces 5 -tbignore50", |s| {
        s.tb = TbArgs { paths: Some("/syzygy".to_owned()), pieces: 5, ignore_50: true, result: TbResult::Both };
    });
    cute("-pgnout out.pgn min fi -epdout out.epd", |s| {
        s.pgn = Some(PgnArgs { file: "out.pgn".to_owned(), min: true, ..PgnArgs::default() });
        s.epd = Some(EpdArgs { file: "out.epd".to_owned(), append: true });
    });
    cute("-ratinginterval 10 -concurrency 4 -wait 100 -event My event -site here -srand 7", |s| {
        (s.rating_interval, s.concurrency) = (Some(10), 4);
        (s.wait, s.event, s.site, s.seed) = (Duration::from_millis(100), "My event".into(), "here".into(), Some(7));
    });
    cute("-debug", |s| {
        s.log = LogArgs { file: "-".into(), level: LogLevel::Trace, engine: true, ..LogArgs::default() };
    });
    reads(
        Dialect::Cutechess,
        "-variant fischerandom -openings file=b.pgn format=pgn order=random plies=16 start=3",
        |invocation| {
            let file = Some("b.pgn".to_owned());
            invocation.settings.openings =
                OpeningArgs { file, format: Some(BookFormat::Pgn), random: true, plies: Some(16), start: 3 };
            invocation.settings.chess960 = true;
            invocation.notes.clear();
        },
    );
    let line = "-engine cmd=a arg=-x 'arg=two words' dir=d proto=uci ponder option.SyzygyPath= -engine cmd=b \
                -each tc=40/60 timemargin=10 restart=auto";
    let Ok(RunnerAction::Play(invocation)) = parse(Dialect::Cutechess, line) else { panic!("{line}") };
    let first = EngineArgs {
        args: "-x 'two words'".to_owned(),
        dir: "d".to_owned(),
        ponder: true,
        margin: Duration::from_millis(10),
        options: vec![("SyzygyPath".to_owned(), String::new())],
        ..engine("a", "40/60")
    };
    assert_eq!(invocation.engines[0], first);
    let refused = [
        ("-engine conf=x -engine cmd=b tc=1", "no engine x"),
        ("-engine cmd=a tc=1 -engine cmd=b tc=1 -tournament ladder", "knockout, pyramid"),
        ("-engine cmd=a tc=1 -engine cmd=b tc=1 -openigns file=x", "did you mean \"-openings\"?"),
        ("-engine cmd=a tc=1 -engine cmd=b tc=1 -sprt elo0=3 elo1=1", "elo0 must be less"),
        ("-engine cmd=a tc=1 -engine cmd=b tc=1 -pgnout", "it takes a file"),
    ];
    for (line, reason) in refused {
        let error = parse(Dialect::Cutechess, line).expect_err(line);
        assert!(error.contains(reason), "{line}: {error}");
    }
}

/// Plan of `n` engines with these options, on a machine with enough CPUs.
fn plan_of(dialect: Dialect, engines: usize, options: &str) -> Plan {
    let line = format!("{} {options} -each tc=1", "-engine cmd=/bin/sh ".repeat(engines));
    let Ok(RunnerAction::Play(invocation)) = parse(dialect, &line) else { panic!("{line}") };
    let seed = invocation.settings.seed.unwrap_or(0);
    let (book, _) = plan::book(&invocation.settings, seed, std::path::Path::new("/run/startpos.epd")).unwrap();
    let options = invocation.engines.iter().map(|engine| engine.options.clone()).collect();
    plan::plan(&invocation, options, book, seed, &Topology::detect()).expect(&line)
}

/// Asserts that a command line's plan is that of a bare one, changed by `change`.
fn plans(dialect: Dialect, engines: usize, options: &str, change: impl FnOnce(&mut Plan)) {
    let mut expected = plan_of(dialect, engines, "");
    change(&mut expected);
    assert_eq!(plan_of(dialect, engines, options), expected, "{options}");
}

#[test]
fn a_bare_line_has_the_leaders_defaults() {
    let plan = plan_of(Dialect::Fastchess, 2, "");
    assert_eq!(
        (plan.format.name(), plan.max_pairs, plan.half_last, plan.opening_per_game),
        ("round-robin", Some(2), false, false)
    );
    assert_eq!((plan.colors, plan.concurrency, plan.test, plan.restart), (Colors::default(), 1, None, false));
    assert_eq!(
        (plan.rules.draw, plan.rules.resign, plan.rules.max_plies, plan.rules.ponder),
        (None, None, None, false)
    );
    assert_eq!((plan.book.order, plan.book.start, plan.book.openings), (Order::Sequential, 0, 1));
    let [first, second] = plan.players.as_slice() else { panic!("{plan:?}") };
    assert_eq!((first.name.as_str(), second.name.as_str()), ("sh", "sh_2"));
    assert_eq!((first.limit, first.margin), (Limit { clock: clock("1"), ..Limit::default() }, Some(Duration::ZERO)));
    let [start, ready, new_game] = [10, 60, 60].map(Duration::from_secs);
    assert_eq!(plan.timeouts, Timeouts { start, ready, new_game, ..Timeouts::default() });
}

#[test]
fn command_lines_become_plans() {
    let fast = Dialect::Fastchess;
    plans(fast, 2, "-rounds 500 -repeat", |plan| plan.max_pairs = Some(500));
    plans(fast, 2, "-rounds 5 -games 1", |plan| {
        (plan.max_pairs, plan.half_last, plan.opening_per_game) = (Some(3), true, true);
    });
    plans(fast, 2, "-noswap -reverse", |plan| plan.colors = Colors { swap: false, reverse: true });
    plans(fast, 4, "-tournament gauntlet -seeds 2 -rounds 3", |plan| {
        (plan.format, plan.max_pairs) = (Format::new(Gauntlet { heroes: 2 }), Some(3));
    });
    plans(fast, 3, "-tournament gauntlet -seeds 9", |plan| plan.format = Format::new(Gauntlet { heroes: 2 }));
    plans(fast, 2, "-sprt elo0=-1 elo1=3 alpha=0.05 beta=0.1 model=logistic", |plan| {
        let bounds = Bounds { elo0: -1.0, elo1: 3.0 };
        plan.test = Some(Test { bounds, model: Model::Logistic, alpha: 0.05, beta: 0.1 });
        plan.count_repeats = false;
    });
    plans(fast, 2, "-draw movenumber=34 movecount=8 score=20 -resign movecount=3 score=600 -maxmoves 100", |plan| {
        plan.rules.draw = Some(DrawRule { move_number: 34, from_start: false, count: 8, score_cp: 20 });
        plan.rules.resign = Some(ResignRule { count: 3, score_cp: 600, two_sided: false });
        plan.rules.max_plies = Some(200);
    });
    // A count or score of zero is raised to the least meaningful value.
    plans(fast, 2, "-draw movecount=0 -resign movecount=0", |plan| {
        plan.rules.draw = Some(DrawRule { move_number: 0, from_start: false, count: 1, score_cp: 0 });
        plan.rules.resign = Some(ResignRule { count: 1, score_cp: 1, two_sided: false });
    });
    plans(fast, 2, "-each timemargin=250 restart=on option.Hash=16 args=--x", |plan| {
        for player in &mut plan.players {
            player.margin = Some(Duration::from_millis(250));
            player.restart = true;
            player.options = vec![("Hash".to_owned(), "16".to_owned())];
            player.args = vec!["--x".to_owned()];
        }
    });
    plans(fast, 2, "-use-affinity -wait 20", |plan| {
        (plan.affinity, plan.pause) = (Affinity::Auto, Duration::from_millis(20));
    });
    plans(fast, 2, "-use-affinity 1,3", |plan| plan.affinity = Affinity::Cpus(vec![1, 3]));
    plans(fast, 2, "-concurrency 999 -force-concurrency", |plan| plan.concurrency = 999);
    plans(fast, 2, "-srand 7 -startup-ms 1 -ping-ms 2 -ucinewgame-ms 3", |plan| {
        plan.seed = 7;
        [plan.timeouts.start, plan.timeouts.ready, plan.timeouts.new_game] = [1, 2, 3].map(Duration::from_millis);
        plan.timeouts.ping = Some(Duration::from_millis(2));
    });
    plans(fast, 2, "-event My event -site here -pgnout pv=true match_line=^info", |plan| {
        plan.name = "My event".to_owned();
        (plan.recording.event, plan.recording.site) = (Some("My event".to_owned()), Some("here".to_owned()));
        plan.recording.record_pv = true;
        plan.recording.match_lines = vec!["^info".parse().unwrap()];
    });
    let cute = Dialect::Cutechess;
    plans(cute, 2, "", |plan| (plan.max_pairs, plan.half_last, plan.opening_per_game) = (Some(1), true, true));
    plans(cute, 2, "-games 2 -rounds 50 -repeat", |plan| {
        (plan.max_pairs, plan.half_last, plan.opening_per_game) = (Some(50), false, false);
    });
    plans(cute, 2, "-rounds 101 -repeat", |plan| {
        (plan.max_pairs, plan.half_last, plan.opening_per_game) = (Some(51), true, false);
    });
    plans(cute, 4, "-tournament knockout -games 2", |plan| {
        (plan.format, plan.half_last) = (Format::new(Knockout), false);
    });
    plans(cute, 2, "-each ponder", |plan| plan.rules.ponder = true);
    plans(cute, 2, "ponder", |plan| plan.players[1].ponder = true);
    plans(cute, 2, "-each whitepov", |plan| plan.players.iter_mut().for_each(|player| player.white_pov = true));
}

#[test]
fn books_become_references() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("frc.txt");
    let fens = [
        "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
        "2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 1 9",
    ];
    std::fs::write(&path, fens.join("\n")).unwrap();
    let options =
        format!("-variant fischerandom -openings file={} format=epd order=random start=2 -srand 5", path.display());
    let plan = plan_of(Dialect::Fastchess, 2, &options);
    let book = &plan.book;
    assert_eq!((book.openings, book.order, book.start, book.plies), (2, Order::Random { seed: 5 }, 1, None));
    assert_eq!(plan.rules.variant, Variant::Chess960);
    // Without a book, Chess960 begins from its 960 starts.
    let plan = plan_of(Dialect::Cutechess, 2, "-variant fischerandom -srand 5");
    assert_eq!((plan.book.openings, plan.book.order), (960, Order::Random { seed: 5 }));
}

#[test]
fn games_at_once_are_counted_from_the_cpus() {
    let settings = |concurrency, force| RunnerSettings {
        concurrency,
        force_concurrency: force,
        ..RunnerSettings::new(Dialect::Fastchess)
    };
    let cases = [
        (1, false, Some(1)),
        (8, false, Some(8)),
        (9, false, Some(8)),
        (9, true, Some(9)),
        (0, false, Some(8)),
        (-2, false, Some(6)),
        (-20, false, Some(1)),
        (70_000, true, None),
    ];
    for (concurrency, force, expected) in cases {
        assert_eq!(plan::concurrency(&settings(concurrency, force), 8).ok(), expected, "{concurrency} {force}");
    }
}

/// A saved configuration reads back unchanged; one written by fastchess reads as well.
#[test]
fn configurations_are_read_back() {
    let lines = [
        "",
        "-rounds 7 -games 1 -tournament gauntlet -seeds 2 -noswap -reverse -recover -wait 5 -concurrency -1 -force-concurrency",
        "-openings file=b.pgn order=random plies=6 start=9 -variant fischerandom -use-affinity 1,2 -strict -testEnv",
        "-sprt elo0=0 elo1=2.5 alpha=0.05 beta=0.1 model=logistic -draw movenumber=3 movecount=4 score=5 -resign score=9 twosided=true",
        "-maxmoves 80 -tb /a;/b -tbpieces 5 -tbignore50 -tbadjudicate DRAW -ratinginterval 0 -scoreinterval 3 -autosaveinterval 0",
        "-pgnout file=o.pgn append=false notation=lan nps=true match_line=x -crc32 pgn=true -epdout file=o.epd -event E -site S",
        "-output format=cutechess -log file=l level=err engine=true -startup-ms 5 -check-mate-pvs -show-latency -config outname=c.json",
        "-engine cmd=c tc=0.0005+0.08 st=0 nodes=5 depth=6 timemargin=9 restart=on dir=d args=-x option.A=b option.A=c",
    ];
    for line in lines {
        let line = format!("-engine cmd=a -engine cmd=b -each tc=1 {line} -srand 18446744073709551615");
        let Ok(RunnerAction::Play(invocation)) = parse(Dialect::Fastchess, &line) else { panic!("{line}") };
        let file = ConfigFile::new(&invocation.engines, &invocation.settings, Dialect::Fastchess, u64::MAX, "run");
        let read = ConfigFile::parse(&file.to_json()).expect(&line);
        assert_eq!(read, file, "{line}");
        let saved = read.saved().expect(&line);
        assert_eq!(saved.engines, invocation.engines, "{line}");
        let mut settings = invocation.settings;
        settings.openings.start = settings.openings.start.max(1);
        assert_eq!(saved.settings, settings, "{line}");
    }
    let theirs = r#"{"rounds": 3, "games": 2, "ratinginterval": 2147483647, "report_penta": true, "seed": 7, "opening": {"file": "", "format": 2, "order": 1, "plies": -1, "start": 1},
        "engines": [{"name": "A", "cmd": "a", "options": [["Hash", "8"]], "limit": {"tc": {"increment": 80, "fixed_time": 0, "time": 8000, "moves": 0, "timemargin": 5}, "nodes": 0, "plies": 0}}],
        "stats": {"A vs B": {"wins": 1, "losses": 0, "draws": 1, "penta_WD": 1}}}"#;
    let file = ConfigFile::parse(theirs).unwrap();
    assert!(file.has_games() && file.quintain.is_none());
    let saved = file.saved().unwrap();
    let margin = Duration::from_millis(5);
    let options = vec![("Hash".to_owned(), "8".to_owned())];
    assert_eq!(saved.engines, [EngineArgs { cmd: "a".to_owned(), margin, options, ..engine("A", "8+0.08") }]);
    assert_eq!((saved.settings.rounds, saved.settings.rating_interval, saved.settings.seed), (3, None, Some(7)));
    assert!(ConfigFile::parse("{").is_err());
}
