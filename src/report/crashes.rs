//! `crashes/` of a run: for each game lost by an engine's fault, what a bug report needs.

use std::fs;
use std::path::PathBuf;

use crate::record::GameRecord;
use crate::schedule::events::{Failure, Observer, RunEvent};

/// Writes `crashes/game-N/` with the transcript and a summary.
pub struct Crashes {
    folder: PathBuf,
    names: Vec<String>,
}

impl Crashes {
    /// Will write under `folder`, which is made when the first engine fails. `names` are the players' in plan order.
    #[must_use]
    pub const fn new(folder: PathBuf, names: Vec<String>) -> Self {
        Self { folder, names }
    }

    fn write(&self, record: &GameRecord, failure: &Failure) -> std::io::Result<()> {
        let folder = self.folder.join(format!("game-{}", failure.game.number()));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("transcript.txt"), &failure.transcript)?;
        let engine = self.names.get(usize::from(failure.player.0)).map_or("?", String::as_str);
        let moves: Vec<_> = record.opening.moves.iter().chain(record.moves.iter().map(|ply| &ply.uci)).collect();
        let evidence = record.overstep.map_or_else(String::new, |overstep| {
            let answered = overstep.answered.map_or_else(|| "never".to_owned(), |at| format!("after {at:?}"));
            format!("allowed: {:?}\nanswered: {answered}\nmachine: {}\n", overstep.allowed, overstep.load)
        });
        let about = format!(
            "game: {}\nengine: {engine}\ntermination: {}\ndetail: {}\n{evidence}fen: {}\nmoves: {}\n",
            failure.game.number(),
            record.ending.termination.name(),
            record.ending.detail,
            record.opening.fen,
            moves.iter().map(|text| text.as_str()).collect::<Vec<_>>().join(" "),
        );
        fs::write(folder.join("about.txt"), about)
    }
}

impl Observer for Crashes {
    fn observe(&mut self, event: RunEvent<'_>) {
        if let RunEvent::GameEnded { record, failure: Some(failure) } = event
            && let Err(error) = self.write(record, failure)
        {
            tracing::warn!(
                "{}: {error}; the transcript of game {} is lost",
                self.folder.display(),
                failure.game.number()
            );
        }
    }
}
