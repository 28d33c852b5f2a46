//! Network embedded in the program, if there is one.

use super::network::Network;
use std::sync::{Arc, OnceLock};

/// File `engine/nets/destrier.nnue`, if the build script finds it.
#[cfg(embedded_net)]
static FILE: Option<&[u8]> = Some(include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/nets/destrier.nnue")));
#[cfg(not(embedded_net))]
static FILE: Option<&[u8]> = None;

/// Returns the embedded network; `None` if there was none at build time.
pub fn embedded() -> Option<Arc<Network>> {
    static NETWORK: OnceLock<Option<Arc<Network>>> = OnceLock::new();
    // The tests check its hash, so that no start has to.
    NETWORK.get_or_init(|| super::format::parse_unhashed(FILE?).ok().map(|(network, _)| Arc::new(network))).clone()
}

#[cfg(test)]
mod tests {
    use crate::nnue::{parse, sha256_hex};
    use std::path::Path;

    /// Networks of the folder, in the order of the model card's columns: the embedded one and the
    /// second choice.
    const FILES: [&str; 2] = ["destrier.nnue", "self-play.nnue"];

    /// Returns the value of a line `| key | value | value |` of the model card.
    fn entry<'a>(card: &'a str, key: &str, column: usize) -> &'a str {
        let rows = card.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
        let mut cells = rows.map(|row| row.split(" | ")).find_map(|mut row| (row.next() == Some(key)).then_some(row));
        cells.as_mut().and_then(|cells| cells.nth(column)).expect("a row and a column").trim_matches('`')
    }

    #[test]
    fn the_card_is_that_of_the_networks() {
        let nets = Path::new(env!("CARGO_MANIFEST_DIR")).join("nets");
        let card = std::fs::read_to_string(nets.join("README.md")).expect("the card");
        for (column, name) in FILES.into_iter().enumerate() {
            let hash = entry(&card, "sha256", column);
            match std::fs::read(nets.join(name)) {
                Ok(file) => {
                    let found = sha256_hex(&file);
                    assert_eq!(hash, found, "the card is of another {name}");
                    let network = parse(&file).expect("a good network");
                    assert_eq!(entry(&card, "shape", column), network.layout().describe(), "{name}");
                }
                Err(_) => assert_eq!(hash, "none", "the card speaks of {name}, which is not there"),
            }
        }
        assert_eq!(super::embedded().is_some(), nets.join(FILES[0]).exists());
        let mut files = std::fs::read_dir(&nets).expect("the folder").filter_map(Result::ok);
        assert!(files.all(|file| FILES.iter().chain(&["README.md"]).any(|name| file.file_name() == **name)));
    }
}
