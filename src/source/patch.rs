//! Writes tuned values into the sources: each into the only row that its name matches. Other counts
//! of rows are errors.

use regex::Regex;
use thiserror::Error;

/// Placeholder of a parameter's name in a row's expression.
const NAME: &str = "{name}";

/// File of a tree that holds values, and the expression that finds the row of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    file: String,
    row: String,
}

/// Sources in which a value cannot be written. One line each, with the remedy.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PatchError {
    /// An expression without a place for the name.
    #[error("`{row}` has no {NAME}: write it in the place of a parameter's name")]
    NoName {
        /// The expression.
        row: String,
    },
    /// An expression that does not parse, or does not have exactly one group.
    #[error("`{row}`: {reason}; write one group around the value, as in '^\\s*{NAME}: (-?\\d+),'")]
    Row {
        /// The expression.
        row: String,
        /// The fault.
        reason: String,
    },
    /// A name that matches no row, or several.
    #[error(
        "{file}: the `row` of quintain.toml finds {found} places of `{name}`, not one; correct the row or the file, or leave the parameter out with --skip"
    )]
    Matches {
        /// The file.
        file: String,
        /// The parameter.
        name: String,
        /// The places.
        found: usize,
    },
    /// Two names that match one place.
    #[error("{file}: the `row` of quintain.toml finds one place for `{name}` and another parameter; correct the row")]
    Overlap {
        /// The file.
        file: String,
        /// The second parameter.
        name: String,
    },
    /// A file that is missing or is not text.
    #[error("{file}: the `file` of quintain.toml's [tune] {reason}; correct it")]
    File {
        /// The file.
        file: String,
        /// The fault.
        reason: &'static str,
    },
}

impl Template {
    /// A template; `row` is a regular expression in which `{name}` stands for a parameter's name
    /// and whose one group is its value. `^` and `$` are the ends of a line.
    ///
    /// # Errors
    /// An expression of another form.
    pub fn new(file: String, row: String) -> Result<Self, PatchError> {
        if !row.contains(NAME) {
            return Err(PatchError::NoName { row });
        }
        let template = Self { file, row };
        template.expression("name")?;
        Ok(template)
    }

    /// The file, relative to the tree's root.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    fn expression(&self, name: &str) -> Result<Regex, PatchError> {
        let fault = |reason: String| PatchError::Row { row: self.row.clone(), reason };
        let text = format!("(?m:{})", self.row.replace(NAME, &regex::escape(name)));
        let expression = Regex::new(&text).map_err(|error| {
            fault(error.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned())
        })?;
        match expression.captures_len() {
            2 => Ok(expression),
            groups => Err(fault(format!("it has {} groups", groups - 1))),
        }
    }

    /// The text of the file with `values` (name and text) written into their rows.
    ///
    /// # Errors
    /// Returns an error for the first name that matches no row, several rows, or the row of another
    /// name.
    pub fn fill(&self, text: &str, values: &[(String, String)]) -> Result<String, PatchError> {
        let mut places = Vec::with_capacity(values.len());
        for (name, value) in values {
            let expression = self.expression(name)?;
            let found: Vec<_> = expression.captures_iter(text).filter_map(|row| Some(row.get(1)?.range())).collect();
            let [place] = found.as_slice() else {
                return Err(PatchError::Matches { file: self.file.clone(), name: name.clone(), found: found.len() });
            };
            places.push((place.clone(), name, value));
        }
        places.sort_by_key(|(place, ..)| place.start);
        let mut filled = String::with_capacity(text.len());
        let mut after = 0;
        for (place, name, value) in places {
            let Some(between) = text.get(after..place.start).filter(|_| after <= place.start) else {
                return Err(PatchError::Overlap { file: self.file.clone(), name: name.clone() });
            };
            filled.push_str(between);
            filled.push_str(value);
            after = place.end;
        }
        filled.push_str(&text[after..]);
        Ok(filled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "table {\n    /// A margin: 3, of Base: 9.\n    margin: 80, 20, 160;\n    base: -3, -9, 9;\n    base_2: 7, 0, 9;\n    twin: 1,\n    twin: 1,\n}\n";

    fn values(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn template() -> Template {
        Template::new("p.rs".to_owned(), r"^\s*{name}: (-?\d+),".to_owned()).unwrap()
    }

    #[test]
    fn values_go_into_their_own_rows_in_any_order() {
        let filled = template().fill(TEXT, &values(&[("base", "4"), ("margin", "1234"), ("base_2", "0")])).unwrap();
        let wanted = TEXT.replace("margin: 80,", "margin: 1234,").replace("base: -3,", "base: 4,");
        assert_eq!(filled, wanted.replace("base_2: 7,", "base_2: 0,"));
        assert_eq!(template().fill(TEXT, &[]).unwrap(), TEXT);
    }

    #[test]
    fn a_name_without_a_row_of_its_own_changes_nothing() {
        let cases = [
            (
                vec![("margin", "1"), ("gone", "2")],
                "p.rs: the `row` of quintain.toml finds 0 places of `gone`, not one",
            ),
            (vec![("twin", "2")], "p.rs: the `row` of quintain.toml finds 2 places of `twin`, not one"),
            // A name is not an expression.
            (vec![("b.se", "2")], "p.rs: the `row` of quintain.toml finds 0 places of `b.se`, not one"),
        ];
        for (all, start) in cases {
            let error = template().fill(TEXT, &values(&all)).unwrap_err().to_string();
            assert!(error.starts_with(start), "{error}");
        }
        let loose = Template::new("p.rs".to_owned(), "(?i:{name}): (80)".to_owned()).unwrap();
        let error = loose.fill(TEXT, &values(&[("margin", "1"), ("MARGIN", "2")])).unwrap_err();
        assert_eq!(error, PatchError::Overlap { file: "p.rs".to_owned(), name: "MARGIN".to_owned() });
    }

    #[test]
    fn an_expression_has_a_name_and_one_group() {
        for (row, words) in [
            ("margin: (1)", "has no {name}"),
            ("{name}: 1", "it has 0 groups"),
            ("({name}): (1)", "it has 2 groups"),
            ("{name}: (1", "unclosed group"),
        ] {
            let error = Template::new("p.rs".to_owned(), row.to_owned()).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
