//! The finding codes as the rules of SARIF.

use super::objects::{Configuration, Descriptor, Message, Properties};
use crate::finding::{Class, Code};

/// The page that has a table of the codes.
const HELP: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "#what-it-finds");

/// Returns all rules, in the order of [`Code::ALL`].
pub(super) fn all() -> Vec<Descriptor> {
    Code::ALL.iter().map(|code| rule(*code)).collect()
}

/// Returns the level of the findings of a code.
pub(super) const fn level(code: Code) -> &'static str {
    match code.class() {
        Class::Defect => "error",
        Class::Open => "warning",
        Class::Warning => "note",
    }
}

/// Returns a kind of notification.
pub(super) fn notification(id: &'static str, what: &str) -> Descriptor {
    Descriptor {
        id,
        short_description: Message::new(what),
        full_description: None,
        help: None,
        help_uri: None,
        default_configuration: None,
        properties: None,
    }
}

fn rule(code: Code) -> Descriptor {
    let tag = match code.class() {
        Class::Defect => "defect",
        Class::Open => "open",
        Class::Warning => "warning",
    };
    Descriptor {
        id: code.name(),
        short_description: Message::new(code.summary()),
        full_description: Some(Message::new(code.explanation())),
        help: Some(Message::new(code.page())),
        help_uri: Some(HELP),
        default_configuration: Some(Configuration { level: level(code) }),
        properties: Some(Properties { tags: vec!["gpu", tag] }),
    }
}
