//! Files with the pairs of the block `top-pairs`: two features of `piece` a line.

use destrier::nnue::sets::{FeaturePair, PairList, PairListError};
use std::io;
use std::path::{Path, PathBuf};

/// Error of a file of pairs.
#[derive(Debug, thiserror::Error)]
pub enum PairFileError {
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("{}: line {line}, `{text}`: write two different features of `piece`, 0 to 767, one of them below 384", path.display())]
    Line { path: PathBuf, line: usize, text: String },
    #[error("{}: {error}", path.display())]
    List { path: PathBuf, error: PairListError },
}

/// Reads a file of pairs. Empty lines and lines that begin with `#` are skipped.
///
/// # Errors
/// [`PairFileError`], with file and line.
pub fn read(path: &Path) -> Result<PairList, PairFileError> {
    let text = std::fs::read_to_string(path).map_err(|error| PairFileError::Io { path: path.to_owned(), error })?;
    let lines = (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty() && !text.starts_with('#'));
    let pair = |(line, text): (usize, &str)| {
        parse(text).ok_or_else(|| PairFileError::Line { path: path.to_owned(), line, text: text.to_owned() })
    };
    let pairs = lines.map(pair).collect::<Result<Vec<_>, _>>()?;
    PairList::new(pairs).map_err(|error| PairFileError::List { path: path.to_owned(), error })
}

fn parse(line: &str) -> Option<FeaturePair> {
    let mut words = line.split_whitespace().map(str::parse);
    match (words.next(), words.next(), words.next()) {
        (Some(Ok(a)), Some(Ok(b)), None) => FeaturePair::new(a, b),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().expect("a fresh folder");
        let path = folder.path().join("pairs.txt");
        let pairs: Vec<FeaturePair> = (0..9).filter_map(|n| FeaturePair::new(3 * n, 700 - n)).collect();
        let lines = pairs.iter().map(|pair| pair.features()).map(|[low, high]| format!("{high} {low}\n"));
        let text = format!("# pairs\n\n{}", lines.collect::<String>());
        std::fs::write(&path, text).expect("a file");
        assert_eq!(read(&path).expect("pairs").pairs(), pairs);
        for (text, says) in [
            ("1 2\n3 x\n", "line 2, `3 x`: write two"),
            ("1 2 3\n", "line 1, `1 2 3`"),
            ("400 500\n", "line 1"),
            ("", "0 pairs, expected 1 to 32768; add one"),
            ("1 2\n2 1\n", "pairs 0 and 1 are the same"),
        ] {
            std::fs::write(&path, text).expect("a file");
            let error = read(&path).expect_err(says).to_string();
            assert!(error.starts_with(&path.display().to_string()) && error.contains(says), "{error}");
        }
    }
}
