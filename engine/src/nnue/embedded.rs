//! The network that is built into the program, if there is one.

use super::network::Network;
use std::sync::{Arc, OnceLock};

/// `engine/nets/destrier.nnue`, which the build script looks for.
#[cfg(embedded_net)]
static FILE: Option<&[u8]> = Some(include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/nets/destrier.nnue")));
#[cfg(not(embedded_net))]
static FILE: Option<&[u8]> = None;

/// The network that was there when the program was built; none when there was none.
pub fn embedded() -> Option<Arc<Network>> {
    static NETWORK: OnceLock<Option<Arc<Network>>> = OnceLock::new();
    // Its hash is checked when the tests run, not at every start.
    NETWORK.get_or_init(|| super::format::parse_unhashed(FILE?).ok().map(|(network, _)| Arc::new(network))).clone()
}

#[cfg(test)]
mod tests {
    use crate::nnue::{parse, sha256};
    use std::path::Path;

    /// The value of a line `| key | value |` of the card.
    fn entry<'a>(card: &'a str, key: &str) -> Option<&'a str> {
        let mut rows = card.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
        rows.find(|(name, _)| *name == key).map(|(_, value)| value.trim_matches('`'))
    }

    #[test]
    fn the_card_is_that_of_the_network() {
        let nets = Path::new(env!("CARGO_MANIFEST_DIR")).join("nets");
        let card = std::fs::read_to_string(nets.join("README.md")).expect("the card");
        let hash = entry(&card, "sha256").expect("a row `sha256`");
        match std::fs::read(nets.join("destrier.nnue")) {
            Ok(file) => {
                let found: String = sha256(&file).iter().map(|byte| format!("{byte:02x}")).collect();
                assert_eq!(hash, found, "the card is of another file");
                let network = parse(&file).expect("a good network");
                assert_eq!(entry(&card, "shape"), Some(&*network.layout().describe()));
                assert!(super::embedded().is_some(), "it is built in");
            }
            Err(_) => {
                assert_eq!(hash, "none", "the card speaks of a network that is not there");
                assert!(super::embedded().is_none());
            }
        }
        let mut files = std::fs::read_dir(&nets).expect("the folder").filter_map(Result::ok);
        assert!(files.all(|file| ["README.md", "destrier.nnue"].iter().any(|name| file.file_name() == **name)));
    }
}
