//! Tables as text, for terminals and for Markdown.

use console::{measure_text_width, pad_str, truncate_str};

use crate::text::csv_field;

/// A table whose first column is a name and whose others are figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Title above the table.
    pub title: String,
    /// Headings of the columns.
    pub head: Vec<&'static str>,
    /// Rows, each with a cell per column.
    pub rows: Vec<Vec<String>>,
    /// Note below the table; empty for none.
    pub note: String,
}

impl Table {
    /// Table in lines of at most `width` columns, if the figures leave at least eight for names.
    /// Longer names are cut.
    #[must_use]
    pub fn text(&self, width: usize) -> String {
        let cells = |column: usize| self.rows.iter().filter_map(move |row| row.get(column)).map(String::as_str);
        let widths: Vec<usize> = (0..self.head.len())
            .map(|column| cells(column).chain([self.head[column]]).map(measure_text_width).max().unwrap_or(0))
            .collect();
        let figures: usize = widths.iter().skip(1).map(|width| width + 2).sum();
        let names = widths.first().copied().unwrap_or(0).min(width.saturating_sub(figures + 2).max(8));
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let mut line = String::new();
            for (column, cell) in cells.enumerate() {
                if column == 0 {
                    let cell = truncate_str(cell, names, "…");
                    line = format!("  {}", pad_str(&cell, names, console::Alignment::Left, None));
                } else {
                    line += "  ";
                    line += &pad_str(cell, widths[column], console::Alignment::Right, None);
                }
            }
            line.trim_end().to_owned() + "\n"
        };
        let mut text = format!("{}\n", self.title);
        text += &line(&mut self.head.iter().copied());
        for row in &self.rows {
            text += &line(&mut row.iter().map(String::as_str));
        }
        if !self.note.is_empty() {
            text += &wrapped(&self.note, width, "  ");
        }
        text
    }

    /// Markdown table (GitHub's) under a heading of the third level.
    #[must_use]
    pub fn markdown(&self) -> String {
        let row = |cells: &mut dyn Iterator<Item = String>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
        let mut text = format!("### {}\n\n", markdown(&self.title));
        text += &row(&mut self.head.iter().map(|cell| markdown(cell)));
        text += &row(&mut (0..self.head.len()).map(|column| if column == 0 { ":---" } else { "---:" }.to_owned()));
        for cells in &self.rows {
            text += &row(&mut cells.iter().map(|cell| markdown(cell)));
        }
        if !self.note.is_empty() {
            text += &format!("\n{}\n", markdown(&self.note));
        }
        text
    }
}

/// Text wrapped between words into lines of at most `width` columns, each after `indent`.
#[must_use]
pub fn wrapped(text: &str, width: usize, indent: &str) -> String {
    let mut lines = String::new();
    let mut line = indent.to_owned();
    for word in text.split_whitespace() {
        let is_first = line.len() == indent.len();
        if !is_first && measure_text_width(&line) + 1 + measure_text_width(word) > width {
            lines += &line;
            lines.push('\n');
            line = indent.to_owned();
        } else if !is_first {
            line.push(' ');
        }
        line += word;
    }
    if line.len() > indent.len() {
        lines += &line;
        lines.push('\n');
    }
    lines
}

/// Text with the special characters of Markdown and HTML escaped.
#[must_use]
pub fn markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in crate::text::printable(text).chars() {
        match c {
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '&' => escaped += "&amp;",
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' | '~' => escaped.extend(['\\', c]),
            _ => escaped.push(c),
        }
    }
    escaped
}

/// Cell in the syntax of RFC 4180. A leading quote keeps spreadsheets from reading a name as a
/// formula.
#[must_use]
pub fn csv(cell: &str) -> String {
    let guarded = if cell.starts_with(['=', '@', '+', '-', '\t']) && cell.parse::<f64>().is_err() {
        format!("'{cell}")
    } else {
        cell.to_owned()
    };
    csv_field(&guarded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_give_way_to_figures() {
        let table = Table {
            title: "by name".to_owned(),
            head: vec!["name", "games"],
            rows: vec![
                vec!["a name that is long".to_owned(), "12".to_owned()],
                vec!["b|<c>".to_owned(), "3".to_owned()],
            ],
            note: "said below it".to_owned(),
        };
        let text = "by name\n  name           games\n  a name that …     12\n  b|<c>              3\n  said below it\n";
        assert_eq!(table.text(22), text);
        let markdown = "### by name\n\n| name | games |\n| :--- | ---: |\n| a name that is long | 12 |\n\
                        | b\\|&lt;c&gt; | 3 |\n\nsaid below it\n";
        assert_eq!(table.markdown(), markdown);
    }

    #[test]
    fn cells_are_quoted_where_they_must() {
        for (cell, quoted) in [
            ("plain", "plain"),
            ("-12.5", "-12.5"),
            ("=1+2", "'=1+2"),
            ("-name", "'-name"),
            ("a,\"b\"", "\"a,\"\"b\"\"\""),
        ] {
            assert_eq!(csv(cell), quoted);
        }
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrapped("one two three", 8, " "), " one two\n three\n");
        assert_eq!(wrapped("", 8, " "), "");
    }
}
