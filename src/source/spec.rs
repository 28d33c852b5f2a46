//! Engine specs as the user types them.

use std::path::Path;

use crate::os;
use crate::source::error::SourceError;

/// An engine as typed, before it is looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spec {
    /// `.`: the working tree, uncommitted changes included.
    Tree,
    /// `git:REV` or `git:REV@PATH-OR-URL`.
    Git {
        /// A commit, branch or tag.
        rev: String,
        /// Another repository than the current one.
        repository: Option<String>,
    },
    /// A name or a path, perhaps with arguments; only the file system and the registry decide
    /// which.
    Program(String),
}

impl Spec {
    /// Reads a spec.
    ///
    /// # Errors
    /// Returns an error if the text is empty or `git:` lacks its revision.
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        let refuse = |reason: &str| SourceError::Spec { spec: text.to_owned(), reason: reason.to_owned() };
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(refuse("write `.`, `git:REV`, a path or a name"));
        }
        if trimmed == "." {
            return Ok(Self::Tree);
        }
        let Some(rest) = trimmed.strip_prefix("git:") else { return Ok(Self::Program(trimmed.to_owned())) };
        let (rev, repository) = match separator(rest) {
            Some(at) => (&rest[..at], Some(&rest[at + 1..])),
            None => (rest, None),
        };
        if rev.is_empty() || rev.starts_with('-') || rev.contains(char::is_whitespace) {
            return Err(refuse("write `git:REV` with a commit, branch or tag"));
        }
        match repository {
            Some("") => Err(refuse("write a path or URL after `@`")),
            Some(place) if place.starts_with('-') => Err(refuse("a path or URL cannot begin with `-`")),
            place => Ok(Self::Git { rev: rev.to_owned(), repository: place.map(str::to_owned) }),
        }
    }
}

/// The first `@` that is not part of the revision: not Git's own `@` for HEAD, nor that of
/// `HEAD@{1}`.
fn separator(text: &str) -> Option<usize> {
    text.match_indices('@').map(|(at, _)| at).find(|&at| at > 0 && !text[at + 1..].starts_with('{'))
}

/// Splits a command line as a shell would: blanks, single and double quotes, backslash; no
/// expansion. On Windows a backslash is a letter like any other, because paths have it.
///
/// # Errors
/// Returns an error if a quote is not closed.
pub fn split_words(text: &str) -> Result<Vec<String>, SourceError> {
    split(text, os::BACKSLASH_ESCAPES)
}

fn split(text: &str, backslash_escapes: bool) -> Result<Vec<String>, SourceError> {
    let unclosed =
        |what: &str| SourceError::Spec { spec: text.to_owned(), reason: format!("close the {what} in its arguments") };
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') if backslash_escapes => {
                let escaped = letters.next().ok_or_else(|| unclosed("backslash"))?;
                let word = word.get_or_insert_default();
                if quote.is_some() && !matches!(escaped, '"' | '\\' | '$' | '`') {
                    word.push('\\');
                }
                word.push(escaped);
            }
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    if quote.is_some() {
        return Err(unclosed("quote"));
    }
    words.extend(word);
    Ok(words)
}

/// Returns true for `scheme://...` and for `host:path`, by Git's rule that distinguishes them from
/// paths. A path with the letter of a drive is absolute.
pub(super) fn is_url(place: &str) -> bool {
    let has_host = || place.split_once(':').is_some_and(|(host, _)| !host.contains('/'));
    place.contains("://") || !Path::new(place).is_absolute() && has_host()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_are_told_apart() {
        let git = |rev: &str, repository: Option<&str>| Spec::Git {
            rev: rev.to_owned(),
            repository: repository.map(str::to_owned),
        };
        assert_eq!(Spec::parse(".").unwrap(), Spec::Tree);
        assert_eq!(Spec::parse("git:main").unwrap(), git("main", None));
        assert_eq!(Spec::parse("git:@").unwrap(), git("@", None));
        assert_eq!(Spec::parse("git:HEAD@{1}").unwrap(), git("HEAD@{1}", None));
        assert_eq!(Spec::parse("git:v1@../other").unwrap(), git("v1", Some("../other")));
        assert_eq!(Spec::parse("git:v1@git@host:a/b").unwrap(), git("v1", Some("git@host:a/b")));
        assert_eq!(Spec::parse("stockfish").unwrap(), Spec::Program("stockfish".into()));
        for wrong in ["", " ", "git:", "git:--all", "git:a b", "git:v1@", "git:v1@--upload-pack=x"] {
            assert!(Spec::parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn words_split_like_a_shells() {
        let split = |text: &str| split(text, true).unwrap();
        assert_eq!(split("a  b\tc"), ["a", "b", "c"]);
        assert_eq!(split(r#"'a b' "c \"d" e\ f "" g'h'"#), ["a b", "c \"d", "e f", "", "gh"]);
        assert_eq!(split(r#""a\n" 'b\'"#), ["a\\n", "b\\"]);
        assert!(split_words("a 'b").is_err());
        assert!(super::split("a\\", true).is_err());
    }

    #[test]
    fn a_backslash_is_a_letter_of_windows_paths() {
        let split = |text: &str| split(text, false).unwrap();
        assert_eq!(split(r"C:\a\b.exe --tables \\host\t\"), [r"C:\a\b.exe", "--tables", r"\\host\t\"]);
        assert_eq!(split(r#""C:\a b\" 'd:\c d'"#), [r"C:\a b\", r"d:\c d"]);
        assert!(super::split("\"a\\", false).is_err());
    }

    #[test]
    fn urls_are_told_from_paths() {
        for url in ["https://host/a", "git@host:a/b", "host:a"] {
            assert!(is_url(url), "{url}");
        }
        for path in ["../a", "a", "./host:a", "/a:b"] {
            assert!(!is_url(path), "{path}");
        }
    }
}
