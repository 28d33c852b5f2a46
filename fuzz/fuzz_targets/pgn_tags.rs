//! Anyone's PGN as results to rate: no text stops the reader, no game is counted twice or lost, and what can be rated is rated in
//! finite numbers.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quintain::report::pgn_tags;
use quintain::report::results::Results;
use quintain::stats::rating::{Encounter, rate};

fuzz_target!(|bytes: &[u8]| {
    let mut seen = 0;
    let read = pgn_tags::read(bytes, |_| seen += 1).expect("memory can be read");
    assert_eq!(read.games, seen);
    let mut results = Results::new();
    results.add_pgn(bytes).expect("memory can be read");
    let encounters = results.encounters();
    let rated: u64 = encounters.iter().map(Encounter::games).sum();
    assert_eq!(rated + results.skipped().games(), seen);
    let ratings = rate(results.names().len(), &encounters, &[]).expect("sound encounters");
    for rating in &ratings.players {
        assert!(rating.elo.is_finite() && rating.error95.is_none_or(f64::is_finite), "{rating:?}");
    }
});
