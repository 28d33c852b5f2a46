//! Anyone's PGN as results to rate: no text stops the reader, no game is counted twice or lost, and
//! what can be rated is rated in finite numbers.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quintain::report::collection::Collection;
use quintain::report::pgn_tags;
use quintain::stats::rating::{EncounterCounts, rate};

fuzz_target!(|bytes: &[u8]| {
    let mut seen = 0;
    let read = pgn_tags::read(bytes, |_| seen += 1).expect("memory can be read");
    assert_eq!(read.games, seen);
    let mut collection = Collection::new(true);
    collection.add_pgn(bytes).expect("memory can be read");
    let pooled: u64 = collection
        .pools()
        .map(|(_, results)| {
            let encounters = results.encounters();
            let ratings = rate(results.names().len(), &encounters, &[]).expect("sound encounters");
            for rating in &ratings.players {
                assert!(rating.elo.is_finite() && rating.error95.is_none_or(f64::is_finite), "{rating:?}");
            }
            encounters.iter().map(EncounterCounts::games).sum::<u64>()
        })
        .sum();
    assert_eq!(pooled + collection.skipped().games(), seen);
});
