//! The leading runner, to stand beside ours in the same run where it is installed.

use std::path::{Path, PathBuf};
use std::process::Command;

/// `fastchess` by the name in `QUINTAIN_LEADER`, else on the PATH.
pub fn find() -> Option<PathBuf> {
    let named = std::env::var_os("QUINTAIN_LEADER").map(PathBuf::from);
    let on_path = || {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|folder| folder.join("fastchess")).find(|program| program.is_file())
    };
    named.or_else(on_path)
}

/// A match of `engine` with two sets of arguments from the openings of `book.epd` in `folder`, each
/// played twice, into `games.pgn`.
pub fn command(
    program: &Path,
    folder: &Path,
    engine: &str,
    args: [&str; 2],
    limit: &str,
    pairs: u32,
    games: u32,
) -> Command {
    let mut command = Command::new(program);
    for (name, args) in ["a", "b"].into_iter().zip(args) {
        command.args(["-engine", &format!("cmd={engine}"), &format!("name={name}"), &format!("args={args}")]);
    }
    let [pairs, games] = [pairs, games].map(|number| number.to_string());
    command.args(["-each", limit, "-rounds", &pairs, "-repeat", "-concurrency", &games, "-force-concurrency"]);
    command.args(["-openings", "file=book.epd", "format=epd", "-maxmoves", "50"]);
    command.args(["-pgnout", "file=games.pgn", "nodes=true", "append=false", "-ratinginterval", "1000"]);
    command.current_dir(folder);
    command
}

/// The comments of a PGN, one for each ply.
pub fn comments(pgn: &str) -> Vec<String> {
    let text = pgn.replace('\n', " ");
    text.split('{').skip(1).filter_map(|part| Some(part.split('}').next()?.to_owned())).collect()
}
