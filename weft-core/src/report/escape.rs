//! Makes text from outside safe to print: no control character and no change of writing direction gets through.

use std::borrow::Cow;

/// Replaces control characters and invisible formatting characters by `\u{..}`, and tabs by a space.
///
/// Names, paths and source lines come from files that anybody may have written; printed raw they could move the
/// cursor or reorder what the reader sees.
pub fn escape(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\t' => safe.push(' '),
            c if is_unsafe(c) => safe.extend(c.escape_unicode()),
            c => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn control_and_direction_characters_are_spelled_out() {
        assert_eq!(escape("a\u{1b}[31mb\u{202e}c\u{9b}"), "a\\u{1b}[31mb\\u{202e}c\\u{9b}");
        assert_eq!(escape("st.shared\t[x]"), "st.shared [x]");
        assert_eq!(escape("naïve"), "naïve");
    }
}
