//! Text and shapes of a picture: escaped, broken into lines, with coordinates in whole pixels.

use std::fmt::Write;

use crate::report::escape;

/// The height of a line of text.
pub(super) const LINE: i32 = 17;
/// The most characters of a text; a longer one is cut.
const MOST: usize = 300;

/// The class of bold text.
pub(super) const STRONG: &str = "weft-strong";

/// Returns about the most pixels that a text takes. Fonts differ, so that this is a little more than most take.
pub(super) fn width(classes: &str, text: &str) -> i32 {
    let letter = if classes.contains(STRONG) { 17 } else { 15 };
    let half_pixels: i32 = text.chars().map(|c| if c.is_ascii() { letter } else { 28 }).sum();
    half_pixels / 2 + half_pixels % 2
}

/// Returns a text without characters that change how it is shown, and not too long.
pub(super) fn safe(text: &str) -> String {
    let text = escape(text);
    if text.chars().count() <= MOST {
        return text.into_owned();
    }
    text.chars().take(MOST).chain(['…']).collect()
}

/// Breaks a text at spaces into lines of at most so many pixels; words that are longer are broken, too.
pub(super) fn wrap(classes: &str, text: &str, most: i32) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut last = 0;
    for word in safe(text).split_whitespace() {
        let space = if last == 0 { 0 } else { width(classes, " ") };
        if last > 0 && last + space + width(classes, word) > most {
            lines.push(String::new());
            last = 0;
        }
        if last > 0 {
            lines.last_mut().expect("there is one").push(' ');
            last += space;
        }
        for c in word.chars() {
            let own = width(classes, c.encode_utf8(&mut [0; 4]));
            if last + own > most {
                lines.push(String::new());
                last = 0;
            }
            lines.last_mut().expect("there is one").push(c);
            last += own;
        }
    }
    lines
}

/// Returns a text as the contents of an XML element. Characters that XML cannot have are replaced.
pub(in crate::report) fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in escape(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// What has been drawn.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    pub(super) out: String,
}

impl Canvas {
    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        writeln!(self.out, "{element}").expect("a string can be written to");
    }

    /// Writes text. `classes`: those beside that of all text.
    pub(super) fn text(&mut self, (x, y): (i32, i32), classes: &str, text: &str) {
        let (space, text) = (if classes.is_empty() { "" } else { " " }, xml(text));
        self.add(format_args!(
            "<text class=\"weft-text{space}{classes}\" x=\"{x}\" y=\"{y}\">{text}</text>"
        ));
    }

    pub(super) fn line(&mut self, class: &str, from: (i32, i32), to: (i32, i32)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.add(format_args!(
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"
        ));
    }

    pub(super) fn path(&mut self, class: &str, path: &str) {
        self.add(format_args!("<path class=\"{class}\" d=\"{path}\"/>"));
    }

    pub(super) fn circle(&mut self, class: &str, (x, y): (i32, i32), radius: i32) {
        self.add(format_args!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>"));
    }

    pub(super) fn rect(&mut self, class: &str, (x, y): (i32, i32), (width, height): (i32, i32)) {
        self.add(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"5\"/>"
        ));
    }

    /// Draws the head of an arrow that ends at `to` and comes from `from`.
    #[allow(clippy::cast_possible_truncation, reason = "pixels of a picture are small numbers")]
    pub(super) fn arrow_head(&mut self, from: (i32, i32), to: (i32, i32)) {
        let (dx, dy) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
        let length = dx.hypot(dy).max(1.0);
        let (ux, uy) = (dx / length, dy / length);
        let corner = |side: f64| {
            let x = f64::from(to.0) - 9.0 * ux - side * 4.5 * uy;
            let y = f64::from(to.1) - 9.0 * uy + side * 4.5 * ux;
            (x.round() as i32, y.round() as i32)
        };
        let ((ax, ay), (bx, by)) = (corner(1.0), corner(-1.0));
        let (x, y) = to;
        self.path("weft-dot", &format!("M{x} {y}L{ax} {ay}L{bx} {by}Z"));
    }
}

#[cfg(test)]
mod tests {
    use super::{safe, wrap, xml};

    #[test]
    fn text_is_broken_at_spaces_and_in_long_words() {
        // Seven and a half pixels a letter, and each rounded up for itself: 32 pixels hold four.
        assert_eq!(wrap("", "ab cd efghij k", 32), ["ab", "cd", "efgh", "ij k"]);
        assert_eq!(wrap("", "", 32), [""]);
    }

    #[test]
    fn text_is_harmless() {
        assert_eq!(
            xml("a<b>&\"\u{1b}\u{202e}\u{ffff}"),
            "a&lt;b&gt;&amp;&quot;\\u{1b}\\u{202e}\u{fffd}"
        );
        assert_eq!(safe(&"x".repeat(1000)).chars().count(), 301);
    }
}
