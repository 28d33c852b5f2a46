//! Lines beyond the protocol that a caller waits for.

/// Last line that begins with given words, since it was taken. Blanks before the words do not
/// count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listener {
    words: Vec<u8>,
    line: Option<Vec<u8>>,
}

impl Listener {
    /// Maximum size of a kept line in bytes; its end is cut off.
    const LONGEST: usize = 256;

    /// Creates a listener for lines that begin with these words.
    pub(crate) fn new(words: &str) -> Listener {
        Listener { words: words.trim().as_bytes().to_vec(), line: None }
    }

    /// Keeps a line that begins with the words, in place of an earlier one.
    pub(crate) fn hear(&mut self, line: &[u8]) {
        let line = line.trim_ascii();
        if line.starts_with(&self.words) {
            self.line = Some(line[..line.len().min(Self::LONGEST)].to_vec());
        }
    }

    /// Takes the kept line.
    pub(crate) fn take(&mut self) -> Option<Vec<u8>> {
        self.line.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_that_fits_is_kept_and_cut() {
        let mut listener = Listener::new(" sum ");
        for line in ["sum 1", "  sum 2", "a sum 3", ""] {
            listener.hear(line.as_bytes());
        }
        assert_eq!(listener.take(), Some(b"sum 2".to_vec()));
        assert_eq!(listener.take(), None);
        listener.hear(&[b"sum ".as_slice(), &[b'1'; 1000]].concat());
        assert_eq!(listener.take().unwrap().len(), Listener::LONGEST);
    }
}
