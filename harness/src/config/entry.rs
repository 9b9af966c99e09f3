//! Parses the `[[kernel]]` tables and their `[[kernel.launch]]` tables.

use std::borrow::Cow;

use regex::Regex;
use toml::Spanned;

use super::allow::{self, Allow};
use super::keys::{AcceptanceKey, KernelKey, KeySet, LaunchKey, SettingKey};
use super::reader::Node;
use super::{ConfigError, ConfigPlace, Problem, Reader, Settings};

const ENTRY: &str = "tables, one for each kind of kernel: write `[[kernel]]`";
const LAUNCH: &str = "tables, one for each launch: write `[[kernel.launch]]`";
const SKIP: &str = "the reason for which the kernel is not checked, such as `\"needs textures\"`";
const LABEL: &str =
    "a word that names the test case, such as `\"one-warp\"`, without white space, `@` and `:`";

/// What one `[[kernel]]` table says about the kernels whose names it matches.
#[derive(Clone, Debug)]
pub struct KernelEntry {
    /// Regular expression on one of the forms of the name: mangled, demangled, or as reports show it.
    pub name: Regex,
    /// Position of the table's `name`.
    pub place: ConfigPlace,
    /// The settings of the table.
    pub settings: Settings,
    /// The findings that it accepts.
    pub allow: Vec<Allow>,
    /// The reason for which the kernel is not checked; `None`: it is checked.
    pub skip: Option<String>,
    /// The launches of the kernel; if empty, the kernel has one launch without a label.
    pub launches: Vec<LaunchEntry>,
}

/// One `[[kernel.launch]]` table.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchEntry {
    /// The label, which is part of the test case's name.
    pub label: String,
    /// Position of the label.
    pub place: ConfigPlace,
    /// Settings that override those of the kernel.
    pub settings: Settings,
    /// The findings that are accepted in this launch, in addition to those of the kernel.
    pub allow: Vec<Allow>,
    /// The reason for which this launch is not checked; `None`: it is, unless the kernel is not.
    pub skip: Option<String>,
}

/// Parses the value of the `kernel` key.
pub(super) fn kernels(
    reader: Reader<'_>,
    node: &Node<'_>,
) -> Result<Vec<KernelEntry>, ConfigError> {
    ConfigError::all(reader.array("kernel", ENTRY, node)?.iter().map(|entry| kernel(reader, entry)))
}

fn kernel(reader: Reader<'_>, node: &Node<'_>) -> Result<KernelEntry, ConfigError> {
    let (mut settings, mut accepted) = (Settings::default(), Acceptance::default());
    let (mut name, mut launches) = (None, Vec::new());
    for (key, value) in reader.table("kernel", ENTRY, node)? {
        if settings.set(reader, key, value)? || accepted.set(reader, key, value)? {
            continue;
        }
        match KernelKey::find(key.get_ref()) {
            Some(KernelKey::Name) => {
                let pattern = reader.string("name", "a regular expression", value)?;
                let regex = Regex::new(pattern).map_err(|error| {
                    let text = error.to_string();
                    let reason = text.lines().last().unwrap_or_default().trim();
                    let reason = reason.strip_prefix("error: ").unwrap_or(reason).to_owned();
                    reader.error(value.span(), Problem::Regex(reason))
                })?;
                name = Some((regex, reader.place(&key.span())));
            }
            Some(KernelKey::Launch) => launches = self::launches(reader, value)?,
            None => return Err(reader.unknown(key, &known::<KernelKey>())),
        }
    }
    let expected = "a regular expression on the kernel's name, such as `\"^reduce\"`";
    let missing = || reader.error(node.span(), Problem::Missing { key: "name", expected });
    let (name, place) = name.ok_or_else(missing)?;
    let Acceptance { allow, skip } = accepted;
    Ok(KernelEntry { name, place, settings, allow, skip, launches })
}

/// What a table accepts or leaves out.
#[derive(Debug, Default)]
struct Acceptance {
    allow: Vec<Allow>,
    skip: Option<String>,
}

impl Acceptance {
    /// Sets the value of one key; returns `false` if the key is none of these.
    fn set(
        &mut self,
        reader: Reader<'_>,
        key: &Spanned<Cow<'_, str>>,
        node: &Node<'_>,
    ) -> Result<bool, ConfigError> {
        match AcceptanceKey::find(key.get_ref()) {
            Some(AcceptanceKey::Allow) => self.allow = allow::list(reader, node)?,
            Some(AcceptanceKey::Skip) => self.skip = Some(skip(reader, node)?),
            None => return Ok(false),
        }
        Ok(true)
    }
}

/// Parses the value of `skip`, which is a reason.
fn skip(reader: Reader<'_>, node: &Node<'_>) -> Result<String, ConfigError> {
    let reason = reader.string("skip", SKIP, node)?.trim();
    if reason.is_empty() {
        return Err(reader.wrong("skip", SKIP, node));
    }
    Ok(reason.to_owned())
}

fn launches(reader: Reader<'_>, node: &Node<'_>) -> Result<Vec<LaunchEntry>, ConfigError> {
    let mut launches: Vec<LaunchEntry> = Vec::new();
    for table in reader.array("launch", LAUNCH, node)? {
        let (launch, label) = launch(reader, table)?;
        if let Some(same) = launches.iter().find(|other| other.label == launch.label) {
            let problem = Problem::DuplicateLabel { label: launch.label, line: same.place.line };
            return Err(reader.error(label, problem));
        }
        launches.push(launch);
    }
    Ok(launches)
}

fn launch(
    reader: Reader<'_>,
    node: &Node<'_>,
) -> Result<(LaunchEntry, std::ops::Range<usize>), ConfigError> {
    let (mut settings, mut accepted) = (Settings::default(), Acceptance::default());
    let mut label = None;
    for (key, value) in reader.table("launch", LAUNCH, node)? {
        if settings.set(reader, key, value)? || accepted.set(reader, key, value)? {
            continue;
        }
        match LaunchKey::find(key.get_ref()) {
            Some(LaunchKey::Label) => {
                let text = reader.string("label", LABEL, value)?;
                let is_odd = |c: char| c.is_whitespace() || c.is_control() || c == '@' || c == ':';
                if text.is_empty() || text.contains(is_odd) {
                    return Err(reader.wrong("label", LABEL, value));
                }
                label = Some((text.to_owned(), value.span()));
            }
            None => return Err(reader.unknown(key, &known::<LaunchKey>())),
        }
    }
    let missing = || reader.error(node.span(), Problem::Missing { key: "label", expected: LABEL });
    let (label, span) = label.ok_or_else(missing)?;
    let Acceptance { allow, skip } = accepted;
    Ok((LaunchEntry { label, place: reader.place(&span), settings, allow, skip }, span))
}

/// Returns the keys of a table that has settings, those of its own first.
fn known<K: KeySet>() -> Vec<&'static str> {
    [K::names(), AcceptanceKey::names(), SettingKey::names()].concat()
}
