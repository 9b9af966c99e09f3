//! Makes text from outside safe to print: escapes control characters and characters that change the writing direction.

use std::borrow::Cow;

/// Returns the text with control and invisible formatting characters replaced by `\u{..}`, and tabs by a space.
///
/// Names, paths and source lines come from files that anybody might have written; printed raw, they could move the
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

/// Does the same for JSON with JSON's escapes, so that parsing gives the original characters.
pub(super) fn escape_json(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        if is_unsafe(c) {
            let mut units = [0; 2];
            safe.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            safe.push(c);
        }
    }
    safe
}

fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::{escape, escape_json};

    #[test]
    fn control_and_direction_characters_are_spelled_out() {
        assert_eq!(escape("a\u{1b}[31mb\u{202e}c\u{9b}"), "a\\u{1b}[31mb\\u{202e}c\\u{9b}");
        assert_eq!(escape("st.shared\t[x]"), "st.shared [x]");
        assert_eq!(escape("naïve"), "naïve");
        assert_eq!(
            escape("a\0\u{7}\r\n\u{7f}\u{2066}b"),
            "a\\u{0}\\u{7}\\u{d}\\u{a}\\u{7f}\\u{2066}b"
        );
    }

    #[test]
    fn escaped_json_means_the_same() {
        let name = "a\u{1b}\u{202e}\u{9b}\u{feff}\"\\ï";
        let json = escape_json(&serde_json::to_string(name).unwrap());
        assert!(json.chars().all(|c| !super::is_unsafe(c)), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), name);
    }
}
