//! The text of a source file, divided into lines once, however many findings quote it.

use std::ops::Range;

/// The text of a source file.
#[derive(Debug)]
pub struct SourceText {
    text: String,
    path: Option<String>,
    /// The bytes of each line, without its line break.
    lines: Vec<Range<usize>>,
}

impl From<String> for SourceText {
    fn from(text: String) -> Self {
        let mut start = 0;
        let lines = text.split_inclusive('\n').map(|line| {
            let own = line.strip_suffix('\n').unwrap_or(line);
            let own = own.strip_suffix('\r').filter(|_| own != line).unwrap_or(own);
            let range = start..start + own.len();
            start += line.len();
            range
        });
        let lines = lines.collect();
        Self { text, path: None, lines }
    }
}

impl SourceText {
    /// Returns the text with the path under which the file can be opened.
    #[must_use]
    pub fn at(self, path: String) -> Self {
        Self { path: Some(path), ..self }
    }

    /// Returns the path under which the file can be opened, if it is known.
    pub fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// Returns the whole text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns a line without its line break; lines count from 1.
    pub fn line(&self, number: u32) -> Option<&str> {
        self.text.get(self.range(number)?.clone())
    }

    /// Returns the byte at which a line begins; lines count from 1.
    pub fn line_start(&self, number: u32) -> Option<usize> {
        Some(self.range(number)?.start)
    }

    fn range(&self, number: u32) -> Option<&Range<usize>> {
        self.lines.get((number as usize).checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_standard_library() {
        for text in ["", "\n", "a", "a\n", "a\r\nb\rc\n\nd", "\r\n\r", "é\nü\r\n"] {
            let source = SourceText::from(text.to_owned());
            let lines: Vec<&str> = (1..).map_while(|number| source.line(number)).collect();
            assert_eq!(lines, text.lines().collect::<Vec<_>>(), "{text:?}");
            assert_eq!((source.line(0), source.as_str()), (None, text));
        }
    }
}
