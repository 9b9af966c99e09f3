//! JSON as far as the record needs it: objects whose members keep the order in which they are given.

use std::fmt::Write;

/// A text of JSON that is being written.
#[derive(Debug, Default)]
pub(crate) struct Json {
    text: String,
}

impl Json {
    /// Returns the text of one object.
    pub(crate) fn object(members: impl FnOnce(&mut Json)) -> String {
        let mut json = Json::default();
        json.braces('{', '}', members);
        json.text
    }

    fn braces(&mut self, open: char, close: char, inside: impl FnOnce(&mut Json)) {
        self.text.push(open);
        inside(self);
        self.text.push(close);
    }

    fn comma(&mut self) {
        if !self.text.ends_with(['{', '[', ':']) {
            self.text.push(',');
        }
    }

    fn key(&mut self, key: &str) {
        self.comma();
        self.quoted(key);
        self.text.push(':');
    }

    fn quoted(&mut self, text: &str) {
        self.text.push('"');
        for letter in text.chars() {
            match letter {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\n' => self.text.push_str("\\n"),
                control if control < ' ' => {
                    let _ = write!(self.text, "\\u{:04x}", u32::from(control));
                }
                other => self.text.push(other),
            }
        }
        self.text.push('"');
    }

    /// Adds a member whose value is a text.
    pub(crate) fn text(&mut self, key: &str, value: &str) {
        self.key(key);
        self.quoted(value);
    }

    /// Adds a member whose value is a number.
    pub(crate) fn number(&mut self, key: &str, value: impl Into<u64>) {
        self.key(key);
        let _ = write!(self.text, "{}", value.into());
    }

    /// Adds a member whose value is `true` or `false`.
    pub(crate) fn boolean(&mut self, key: &str, value: bool) {
        self.key(key);
        let _ = write!(self.text, "{value}");
    }

    /// Adds a member whose value is `null`.
    pub(crate) fn null(&mut self, key: &str) {
        self.key(key);
        self.text.push_str("null");
    }

    /// Adds a member whose value is a list of three numbers.
    pub(crate) fn triple(&mut self, key: &str, value: [u32; 3]) {
        self.key(key);
        let _ = write!(self.text, "[{},{},{}]", value[0], value[1], value[2]);
    }

    /// Adds a member whose value is a list of numbers.
    pub(crate) fn numbers(&mut self, key: &str, values: &[u64]) {
        self.key(key);
        self.braces('[', ']', |list| {
            for value in values {
                list.comma();
                let _ = write!(list.text, "{value}");
            }
        });
    }

    /// Adds a member whose value is a list of numbers with signs.
    pub(crate) fn signed(&mut self, key: &str, values: &[i64]) {
        self.key(key);
        self.braces('[', ']', |list| {
            for value in values {
                list.comma();
                let _ = write!(list.text, "{value}");
            }
        });
    }

    /// Adds a member whose value is a list of texts.
    pub(crate) fn texts<T: AsRef<str>>(&mut self, key: &str, values: impl IntoIterator<Item = T>) {
        self.key(key);
        self.braces('[', ']', |list| {
            for value in values {
                list.comma();
                list.quoted(value.as_ref());
            }
        });
    }

    /// Adds a member whose value is a list of objects.
    pub(crate) fn objects<T>(
        &mut self,
        key: &str,
        values: impl IntoIterator<Item = T>,
        mut members: impl FnMut(&mut Json, T),
    ) {
        self.key(key);
        self.braces('[', ']', |list| {
            for value in values {
                list.comma();
                list.braces('{', '}', |object| members(object, value));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn texts_are_escaped_and_members_keep_their_order() {
        let text = Json::object(|json| {
            json.text("b", "a \"quoted\" \\ line\nand \u{1}");
            json.triple("a", [1, 2, 3]);
            json.texts("none", [] as [&str; 0]);
            json.texts("two", ["x", "y"]);
            json.objects("objects", [1_u32, 2], |object, n| object.number("n", n));
            json.boolean("yes", true);
            json.null("nothing");
        });
        let expected = concat!(
            r#"{"b":"a \"quoted\" \\ line\nand \u0001","a":[1,2,3],"none":[],"two":["x","y"],"#,
            r#""objects":[{"n":1},{"n":2}],"yes":true,"nothing":null}"#
        );
        assert_eq!(text, expected);
    }
}
