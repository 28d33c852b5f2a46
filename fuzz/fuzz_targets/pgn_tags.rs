//! Anyone's PGN as results to rate: no text stops the reader, no game is counted twice or lost, and what can be rated is rated in
//! finite numbers.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quintain::report::collection::Collection;
use quintain::report::pgn_tags;
use quintain::stats::rating::rate_by_opening;

fuzz_target!(|bytes: &[u8]| {
    let mut seen = 0;
    let read = pgn_tags::read(bytes, |_| seen += 1).expect("memory can be read");
    assert_eq!(read.games, seen);
    for is_mixed in [false, true] {
        let mut collection = Collection::new(is_mixed);
        collection.add_pgn(bytes).expect("memory can be read");
        let rated: u64 = collection.pools().map(|(_, results)| results.games()).sum();
        assert_eq!(rated + collection.skipped().games(), seen);
        assert_eq!(rated, collection.conditions().values().sum::<u64>());
        for (_, results) in collection.pools() {
            let (encounters, shared) = (results.encounters(), results.shared_openings());
            let ratings = rate_by_opening(results.names().len(), &encounters, &shared, &[]).expect("sound encounters");
            for rating in &ratings.players {
                assert!(rating.elo.is_finite() && rating.error95.is_none_or(f64::is_finite), "{rating:?}");
            }
        }
        // The same text again has nothing new.
        collection.add_pgn(bytes).expect("memory can be read");
        assert_eq!(collection.pools().map(|(_, results)| results.games()).sum::<u64>(), rated);
    }
});
