//! Every key of a plan, for the plans that `quintain init` writes. A test holds the table to the keys that plans are read with.

use super::Kind;

/// Which plans have a key, and in which it is set from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum For {
    All,
    /// Tests.
    Sprt,
    /// Games of any number of engines.
    Games,
    /// Only `quintain match`: what a gauntlet does not have.
    Match,
    Gauntlet,
}

impl For {
    pub(super) fn has(self, kind: Kind) -> bool {
        match self {
            Self::All => true,
            Self::Sprt => kind == Kind::Sprt,
            Self::Games => kind != Kind::Sprt,
            Self::Match => kind == Kind::Match,
            Self::Gauntlet => kind == Kind::Gauntlet,
        }
    }
}

/// Keys that belong together.
pub(super) struct Group {
    pub(super) title: &'static str,
    pub(super) keys: &'static [Key],
}

/// A key.
pub(super) struct Key {
    pub(super) name: &'static str,
    /// As TOML: the default, or an example.
    pub(super) value: &'static str,
    /// One line, with the default where there is one.
    pub(super) help: &'static str,
    pub(super) plans: For,
    /// Set in a new plan; else commented out.
    pub(super) essential: bool,
}

impl Key {
    const fn new(name: &'static str, value: &'static str, help: &'static str) -> Self {
        Self { name, value, help, plans: For::All, essential: false }
    }

    const fn of(self, plans: For) -> Self {
        Self { plans, ..self }
    }

    const fn essential(self) -> Self {
        Self { essential: true, ..self }
    }
}

/// The keys of a plan in the order of the file, but for `players`, whose tables must come last.
pub(super) const GROUPS: &[Group] = &[
    Group {
        title: "Engines: `.` the working tree, git:REV, git:REV@PATH-OR-URL, a path, or a name of configs/engines.toml",
        keys: &[
            Key::new("new", "\".\"", "The tested engine [default: the working tree].").of(For::Sprt).essential(),
            Key::new("base", "\"git:main\"", "The reference [default: the newest commit with another program].")
                .of(For::Sprt),
            Key::new("new-name", "\"patch\"", "What to call `new` [default: its own name].").of(For::Sprt),
            Key::new("base-name", "\"main\"", "What to call `base` [default: its own name].").of(For::Sprt),
            Key::new("options", "{ Hash = 16 }", "UCI options of every engine [default: what its recipe says]."),
            Key::new("new-options", "{ Threads = 1 }", "UCI options of `new` alone.").of(For::Sprt),
            Key::new("base-options", "{ Threads = 1 }", "UCI options of `base` alone.").of(For::Sprt),
        ],
    },
    Group {
        title: "Who meets whom",
        keys: &[
            Key::new("format", "\"round-robin\"", "round-robin, gauntlet, swiss or knockout [default: round-robin].")
                .of(For::Match)
                .essential(),
            Key::new("format", "\"gauntlet\"", "Heroes meet everybody else.").of(For::Gauntlet).essential(),
            Key::new("pairs", "50", "Pairs that any two players who meet play [default: 50].")
                .of(For::Games)
                .essential(),
            Key::new(
                "heroes",
                "1",
                "How many players, from the first, a gauntlet is about [default: 1]; of no other format.",
            )
            .of(For::Match),
            Key::new("heroes", "1", "How many players, from the first, the gauntlet is about [default: 1].")
                .of(For::Gauntlet)
                .essential(),
            Key::new(
                "skip-missing",
                "false",
                "Play without engines that are not installed, except heroes [default: false].",
            )
            .of(For::Games),
            Key::new("rounds", "5", "Rounds of a Swiss [default: enough to know the first]; of no other format.")
                .of(For::Match),
        ],
    },
    Group {
        title: "The test",
        keys: &[
            Key::new("bounds", "[0.0, 5.0]", "The hypotheses, in Elo of the model [default: 0 and 5].")
                .of(For::Sprt)
                .essential(),
            Key::new("model", "\"normalized\"", "What the bounds are measured in: normalized, logistic or bayesian.")
                .of(For::Sprt),
            Key::new("alpha", "0.05", "Probability of accepting H1 where H0 is true [default: 0.05].").of(For::Sprt),
            Key::new("beta", "0.05", "Probability of accepting H0 where H1 is true [default: 0.05].").of(For::Sprt),
            Key::new("max-pairs", "20000", "Stop without a verdict after so many pairs [default: no limit].")
                .of(For::Sprt),
            Key::new(
                "budget",
                "\"8h\"",
                "Choose the upper bound so that the test is over in this time in 95 % of cases, and stop then.",
            )
            .of(For::Sprt),
            Key::new("allow-same", "false", "Play a program against itself [default: false].").of(For::Sprt),
        ],
    },
    Group {
        title: "Limits of a move: a clock, a fixed time, nodes, depth; nodes and depth may be added to a clock",
        keys: &[
            Key::new(
                "tc",
                "\"8+0.08\"",
                "Clock, [moves/]base+increment in seconds, min:sec allowed [default: 8+0.08].",
            )
            .essential(),
            Key::new("new-tc", "\"8+0.08\"", "Clock of `new` alone [default: as `tc`].").of(For::Sprt),
            Key::new("base-tc", "\"8+0.08\"", "Clock of `base` alone [default: as `tc`].").of(For::Sprt),
            Key::new("movetime", "0.1", "Seconds a move, instead of a clock [default: none]."),
            Key::new("nodes", "20000", "Nodes a move [default: no limit]."),
            Key::new("depth", "12", "Plies a move [default: no limit]."),
            Key::new("ponder", "true", "Engines think on their opponent's time too, under a clock [default: false]."),
            Key::new(
                "margin-ms",
                "10.0",
                "How far a move may overstep its time before it forfeits, in ms [default: 10].",
            ),
            Key::new(
                "stall-timeout",
                "60.0",
                "When a search without a clock counts as hanging, in seconds [default: 60].",
            ),
            Key::new("start-timeout", "10.0", "Seconds for `uciok`, and again for `readyok` [default: 10 and 30]."),
        ],
    },
    Group {
        title: "Openings",
        keys: &[
            Key::new(
                "book",
                "\"openings/quintain_8ply.epd.zst\"",
                "EPD, FEN list or PGN [default: the balanced book inside the program].",
            ),
            Key::new(
                "book-order",
                "\"random\"",
                "random (without replacement, from the seed) or sequential [default: random].",
            ),
            Key::new("book-plies", "8", "Plies taken from each PGN game [default: all]."),
            Key::new("book-start", "1", "The first opening taken, from 1 [default: 1]."),
            Key::new("chess960", "true", "Chess960 rules and castling; needs a book for it [default: false]."),
        ],
    },
    Group {
        title: "Adjudication",
        keys: &[
            Key::new(
                "draw",
                "\"move=34,count=8,score=20\"",
                "Draw rule: from this move, so many in a row within so many cp [default: none].",
            ),
            Key::new(
                "resign",
                "\"count=3,score=600,twosided\"",
                "Resign rule: so many moves in a row at so many cp lost [default: none].",
            ),
            Key::new("max-plies", "400", "A draw after so many plies of play [default: no limit]."),
            Key::new(
                "syzygy",
                "\"/path/to/syzygy\"",
                "Folders with Syzygy tables, joined as PATH is; `none` for none [default: none].",
            ),
            Key::new(
                "syzygy-pieces",
                "5",
                "Positions with more men are played on [default: whatever the tables have].",
            ),
            Key::new(
                "syzygy-ignore-50",
                "false",
                "Wins that the fifty-move rule would turn into draws are wins [default: false].",
            ),
            Key::new(
                "syzygy-adjudicate",
                "\"both\"",
                "Which endings are given: both, win-loss or draw [default: both].",
            ),
        ],
    },
    Group {
        title: "Running",
        keys: &[
            Key::new("concurrency", "2", "Games at once [default: physical cores]."),
            Key::new(
                "force-concurrency",
                "false",
                "Allow more games at once than one for each CPU under a clock, 64 without [default: false].",
            ),
            Key::new(
                "affinity",
                "false",
                "true to pin each slot to CPUs of its own, or a list of them, \"0,2,4\" [default: false].",
            ),
            Key::new("restart", "false", "Start the engines anew for each game [default: false]."),
            Key::new(
                "void-disturbed",
                "false",
                "Play a pair again if the machine made an engine lose on time [default: false].",
            ),
            Key::new(
                "max-time-losses",
                "\"10%\"",
                "Share of the games that may be lost on time before the run stops [default: 10%].",
            ),
            Key::new(
                "max-failures",
                "10",
                "Crashes, stalls and illegal moves after which the run stops [default: 10].",
            ),
            Key::new("max-time", "\"8h\"", "Stop after so long: 90s, 30m, 8h [default: no limit]."),
            Key::new(
                "until-width",
                "5",
                "Stop once the 95 % intervals reach no farther than so many Elo either way [default: play on].",
            ),
            Key::new("seed", "1", "Decides the order of openings [default: from the system]."),
        ],
    },
    Group {
        title: "Output",
        keys: &[
            Key::new("name", "\"my-test\"", "What to call the run [default: the command]."),
            Key::new("out", "\"results/runs/my-test\"", "The run's directory [default: results/runs/<date>-<name>]."),
            Key::new("pgn", "\"games.pgn\"", "Append the counted games to this PGN too [default: only the run's own]."),
            Key::new(
                "pgn-fields",
                "\"nodes,seldepth\"",
                "What its comments say more: all, none, or a list of fields [default: nodes].",
            ),
            Key::new("pgn-notation", "\"san\"", "How its moves are written: san, lan or uci [default: san]."),
            Key::new("pgn-min", "false", "Only the roster, where the game started, and the moves [default: false]."),
            Key::new(
                "pgn-tags",
                "\"engines,opening\"",
                "Tags besides: all, none, or some of engines, opening [default: none].",
            ),
            Key::new(
                "pgn-style",
                "\"export\"",
                "export (the standard's) or runner (as other runners write it) [default: export].",
            ),
            Key::new(
                "epd",
                "\"final.epd\"",
                "Append the final positions of the counted games to this file [default: none].",
            ),
            Key::new("event", "\"my-test\"", "The PGN's event [default: the run's name]."),
            Key::new("site", "\"?\"", "The PGN's site [default: ?]."),
            Key::new("record-pv", "false", "Keep each move's principal variation in the journal [default: false]."),
            Key::new(
                "match-line",
                "[\"^info string\"]",
                "Keep each move's last line of output that one of these matches [default: none].",
            ),
        ],
    },
];

/// The tables of players, which stand at the end.
pub(super) const PLAYERS: &str = "players";

/// The keys of a player, but for its spec.
pub(super) const PLAYER: &[Key] = &[
    Key::new("name", "\"mine\"", "What to call it [default: the engine's name]."),
    Key::new("options", "{ Hash = 16 }", "Its own UCI options, which win over those of all."),
    Key::new("tc", "\"8+0.08\"", "Its own limits, instead of those of all: a clock,"),
    Key::new("movetime", "0.1", "seconds a move,"),
    Key::new("nodes", "20000", "nodes a move,"),
    Key::new("depth", "12", "plies a move."),
];
