//! Options that are not parameters.

const RESOURCE: &str = "more of it is better, and both sides have the same; set it for both as an option of the engine";
const LAG: &str = "it depends on the machine and not on the opponent; measure it with `quintain calibrate`";
const HANDICAP: &str = "it weakens the engine on purpose";
const MODE: &str = "it changes what the engine is asked for, not how well it plays";
const TABLES: &str = "it depends on the tables and the disk; set it for both as an option of the engine";

/// Options that no games between equals can tune, in lower case without blanks, each with a hint.
const REFUSED: &[(&str, &str)] = &[
    ("hash", RESOURCE),
    ("threads", RESOURCE),
    ("numberofthreads", RESOURCE),
    ("cores", RESOURCE),
    ("evalhash", RESOURCE),
    ("pawnhash", RESOURCE),
    ("nnuehash", RESOURCE),
    ("moveoverhead", LAG),
    ("overhead", LAG),
    ("lag", LAG),
    ("nodestime", MODE),
    ("multipv", MODE),
    ("ponder", MODE),
    ("searchdepth", MODE),
    ("searchtime", MODE),
    ("ownbook", MODE),
    ("skilllevel", HANDICAP),
    ("skill", HANDICAP),
    ("strength", HANDICAP),
    ("uci_elo", HANDICAP),
    ("syzygyprobedepth", TABLES),
    ("syzygyprobelimit", TABLES),
    ("syzygy50moverule", TABLES),
];

/// Reason why an option cannot be tuned by games, if it cannot.
#[must_use]
pub fn refusal(name: &str) -> Option<&'static str> {
    let name: String = name.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect();
    let listed = REFUSED.iter().find(|(refused, _)| *refused == name).map(|(_, hint)| *hint);
    listed.or_else(|| name.starts_with("uci_").then_some(MODE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_games_cannot_tune_are_refused_however_they_are_written() {
        for name in [
            "Hash",
            "hash",
            "THREADS",
            "Number of Threads",
            "Search Depth",
            "Move Overhead",
            "MoveOverhead",
            "UCI_Elo",
            "UCI_LimitStrength",
            "MultiPV",
            "Own Book",
        ] {
            assert!(refusal(name).is_some(), "{name}");
        }
        for name in ["HashMargin", "Slow Mover", "lmr_base", "Contempt"] {
            assert_eq!(refusal(name), None, "{name}");
        }
    }
}
