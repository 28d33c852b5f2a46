//! Claims of the fuzz target `wire`: bytes of another process are read or refused, and what is
//! read is written and read again alike. Nothing panics.

use serde::{Deserialize, Serialize};

use super::live::Live;
use super::registry::{RunEntry, WorkerEntry};
use super::wire::{self, Heartbeat, Hello, Offer, PairGames, Take, Welcome, WireOrders};
use crate::record::{ByColor, Leg, Opening, PairId, PlayerId};
use crate::tournament::events::PairTask;

/// Reads bytes as each kind of message that a coordinator or a worker receives, and as each kind of
/// list entry.
///
/// # Panics
/// If a message that was read is not read again alike.
pub fn fuzzed(bytes: &[u8]) {
    again::<Hello>(bytes);
    again::<Welcome>(bytes);
    again::<Take>(bytes);
    again::<Heartbeat>(bytes);
    again::<WireOrders>(bytes);
    again::<Live>(bytes);
    let _ = wire::from_bytes::<RunEntry>(bytes);
    let _ = wire::from_bytes::<WorkerEntry>(bytes);
    if let Some(Offer::Pair { pair, .. }) = again(bytes)
        && let Ok(task) = pair.task(2)
    {
        let sent = wire::to_bytes(&wire::WirePair::new(&task));
        let read = wire::from_bytes::<wire::WirePair>(&sent).and_then(|pair| pair.task(2));
        assert_eq!(read.ok().as_ref(), Some(&task));
    }
    if let Ok(live) = wire::from_bytes::<Live>(bytes) {
        let _ = live.moved("box-1", &task());
    }
    if let Ok(result) = PairGames::unpack(bytes) {
        let again = PairGames::unpack(&result.pack()).map(|result| result.games);
        assert_eq!(again.ok(), Some(result.games));
    }
    // The same before packing.
    if let Ok(result) = PairGames::unpack(&wire::packed(bytes)) {
        let again = PairGames::unpack(&result.pack()).map(|result| result.games);
        assert_eq!(again.ok(), Some(result.games));
    }
}

fn again<T: Serialize + for<'a> Deserialize<'a>>(bytes: &[u8]) -> Option<T> {
    let read: T = wire::from_bytes(bytes).ok()?;
    let written = wire::to_bytes(&read);
    let again: T = wire::from_bytes(&written).expect("what was written is read");
    assert_eq!(wire::to_bytes(&again), written);
    Some(read)
}

fn task() -> PairTask {
    let sides = ByColor { white: PlayerId(0), black: PlayerId(1) };
    let opening = || Opening { index: 0, fen: crate::chess::START_FEN.to_owned(), moves: Vec::new() };
    PairTask {
        pair: PairId(0),
        sides: [sides, ByColor { white: PlayerId(1), black: PlayerId(0) }],
        openings: [opening(), opening()],
        legs: Leg::BOTH.to_vec(),
        all_legs: &Leg::BOTH,
        options: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seeds of the fuzz target, whole and with a byte changed or cut off.
    #[test]
    fn seeds_of_the_fuzz_target_are_read_or_refused() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/wire");
        let result = std::fs::read(folder.join("result")).unwrap();
        assert_eq!(PairGames::unpack(&wire::packed(&result)).unwrap().games.len(), 2);
        let mut seeds = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            fuzzed(&bytes);
            for place in 0..bytes.len() {
                fuzzed(&bytes[..place]);
                for with in [b'0', b'9', b'"', b'-', 0xff] {
                    let mut changed = bytes.clone();
                    changed[place] = with;
                    fuzzed(&changed);
                }
            }
            seeds += 1;
        }
        assert!(seeds >= 6, "{seeds} seeds");
    }
}
