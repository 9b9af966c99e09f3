//! Buffers as a configuration states them: by names of their own, into which arguments point.

use std::collections::BTreeMap;

use toml::de::DeValue;
use weft_core::launch::allocation::MOST_GIVEN;
use weft_core::launch::{Allocation, Arg, BufferMisfit, Launch, Within};

use super::keys::{BufferKey, KeySet};
use super::reader::{Node, integer};
use super::{ConfigError, ConfigPlace, Element, Problem, Reader, value};

const BUFFERS: &str =
    "a table from names to buffers, such as `{ a = { size = 4096 }, b = { u32 = [1, 2] } }`";
const BUFFER: &str = "a table such as `{ size = 4096, u32 = [1, 2], 64 = { f32 = [0.5] } }`";
const PIECE: &str =
    "contents such as `{ f32 = [0.5] }`, or a pointer such as `{ in = \"b\", offset = 16 }`";
const SIZE: &str = "a number of bytes, or a size such as `\"64 KiB\"`";
const NAMES: &str = "names of letters, digits, `_` and `-`";

/// One buffer of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedBuffer {
    /// What is stated about it.
    pub allocation: Allocation,
    /// Where its name stands.
    pub place: ConfigPlace,
}

/// The buffers of several tables by name; those of later tables replace those of earlier ones.
pub(super) type NamedBuffers = BTreeMap<String, NamedBuffer>;

/// Parses the value of `buffers`.
pub(super) fn buffers(reader: Reader<'_>, node: &Node<'_>) -> Result<NamedBuffers, ConfigError> {
    let mut buffers = BTreeMap::new();
    for (key, item) in reader.table("buffers", BUFFERS, node)? {
        let name = key.get_ref().to_string();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if name.is_empty() || !name.chars().all(is_plain) {
            let (key_text, found) = ("buffers".to_owned(), format!("{name:?}"));
            let problem = Problem::Value { key: key_text, expected: NAMES, found };
            return Err(reader.error(key.span(), problem));
        }
        let (allocation, place) = (buffer(reader, &name, item)?, reader.place(&key.span()));
        buffers.insert(name, NamedBuffer { allocation, place });
    }
    Ok(buffers)
}

fn buffer(reader: Reader<'_>, name: &str, node: &Node<'_>) -> Result<Allocation, ConfigError> {
    let path = format!("buffers.{name}");
    let mut allocation = Allocation::default();
    let (mut first, mut pieces) = (None, Vec::new());
    for (key, item) in reader.table(&path, BUFFER, node)? {
        if BufferKey::find(key.get_ref()).is_some() {
            allocation.size =
                Some(size(item).ok_or_else(|| {
                    reader.wrong(&format!("{path}.{}", key.get_ref()), SIZE, item)
                })?);
        } else if let Some(at) = value::counted::<u64>(key.get_ref()) {
            pieces.push((at, key.span(), item));
        } else if Element::from_name(key.get_ref()).is_some() {
            if first.replace(value::typed(reader, key, item, &[])?).is_some() {
                return Err(reader.wrong(&path, BUFFER, node));
            }
        } else {
            return Err(reader.unknown(key, &value::known(&BufferKey::names())));
        }
    }
    if let Some(bytes) = first {
        allocation.size = allocation.size.or(Some(bytes.len() as u64));
        allocation.contents = bytes.into_iter().map(Some).collect();
    }
    for (at, span, item) in pieces {
        let problem = piece(reader, &format!("{path}.{at}"), at, item, &mut allocation)?;
        if let Some(misfit) = problem {
            let problem = Problem::Buffer { name: name.to_owned(), misfit };
            return Err(reader.error(span, problem));
        }
    }
    Ok(allocation)
}

/// Parses a size in bytes; `None` if it is none.
fn size(node: &Node<'_>) -> Option<u64> {
    match node.get_ref() {
        DeValue::String(text) => value::size(text),
        _ => integer(node).and_then(|bytes| u64::try_from(bytes).ok()),
    }
}

/// Adds a piece of a buffer that begins at byte `at`. Returns why it cannot be there, if it cannot.
fn piece(
    reader: Reader<'_>,
    path: &str,
    at: u64,
    node: &Node<'_>,
    allocation: &mut Allocation,
) -> Result<Option<BufferMisfit>, ConfigError> {
    match value::in_table(reader, path, PIECE, node)? {
        Arg::Within(within) => {
            allocation.pointers.insert(at, within);
            Ok(None)
        }
        Arg::Buffer(buffer) => {
            let bytes = buffer.contents.unwrap_or_default();
            let end = at.saturating_add(bytes.len() as u64);
            if end > MOST_GIVEN {
                return Ok(Some(BufferMisfit::Given(end)));
            }
            let first = usize::try_from(at).unwrap_or(usize::MAX);
            let count = allocation.contents.len().max(first + bytes.len());
            allocation.contents.resize(count, None);
            let there = allocation.contents.iter_mut().skip(first).zip(bytes);
            there.for_each(|(byte, own)| *byte = Some(own));
            Ok(None)
        }
        _ => Err(reader.wrong(path, PIECE, node)),
    }
}

/// Checks that each of these pointers leads into a buffer of the launch. `place`: where the argument is stated.
pub(super) fn lead_somewhere(
    arg: &Arg,
    place: &ConfigPlace,
    launch: &Launch,
) -> Result<(), ConfigError> {
    let check = |within: &Within| match within.misfit(&launch.buffers) {
        Some(misfit) => {
            let problem = Box::new(Problem::Pointer(misfit));
            Err(ConfigError::At { place: place.clone(), problem })
        }
        None => Ok(()),
    };
    match arg {
        Arg::Within(within) => check(within),
        Arg::Fields(fields) => {
            fields.fields.values().try_for_each(|field| lead_somewhere(field, place, launch))
        }
        Arg::Integer(_) | Arg::Float(_) | Arg::Buffer(_) | Arg::Tensor(_) => Ok(()),
    }
}

/// Checks the buffers of a launch.
pub(super) fn are_possible(buffers: &NamedBuffers, launch: &Launch) -> Result<(), ConfigError> {
    for (name, NamedBuffer { allocation, place }) in buffers {
        if let Some(misfit) = allocation.misfit(&launch.buffers) {
            let problem = Box::new(Problem::Buffer { name: name.clone(), misfit });
            return Err(ConfigError::At { place: place.clone(), problem });
        }
    }
    Ok(())
}

/// Checks that each buffer is used by one of the launches of a kernel. `all`: the buffers of each launch.
pub(super) fn are_used<'l>(
    all: impl Iterator<Item = (&'l NamedBuffers, &'l Launch)>,
) -> Result<(), ConfigError> {
    let mut unused: BTreeMap<ConfigPlace, Option<String>> = BTreeMap::new();
    for (buffers, launch) in all {
        let own = launch.unused_buffers();
        for (name, NamedBuffer { place, .. }) in buffers {
            let is_used = !own.contains(&name.as_str());
            let name = unused.entry(place.clone()).or_insert_with(|| Some(name.clone()));
            if is_used {
                *name = None;
            }
        }
    }
    match unused.into_iter().find_map(|(place, name)| Some((place, name?))) {
        Some((place, name)) => {
            Err(ConfigError::At { place, problem: Box::new(Problem::UnusedBuffer(name)) })
        }
        None => Ok(()),
    }
}
