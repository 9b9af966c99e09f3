//! Parses the values of settings: extents, choices, arguments and the contents of buffers.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::str::FromStr;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use weft_core::launch::{
    Arg, Atomics, BarrierDivergence, Buffer, Dim3, Dimensions, Fields, TensorBox, Within,
};

use super::keys::{BoxKey, KeySet, LimitKey, PointerKey, TensorKey};
use super::reader::{Node, float, integer};
use super::{ArgKey, ConfigError, LimitSettings, Problem, Reader, StatedArg, StatedArgs};

const EXTENT: &str =
    "a positive number, an array of one to three, such as `256` or `[16, 16]`, or `\"any\"`";
const LIMIT: &str = "a number of instructions, or a table such as `{ instructions = 100000000, memory = \"512 MiB\" }`";
const ARGS: &str = "a table from names or positions, counted from 0, to values, such as `{ n = 1024, 3 = \"buffer\" }`";
const ARG: &str = "a number, `\"buffer\"`, a buffer with contents such as `{ u64 = [4, 4] }`, a place in one of `buffers` such \
                   as `{ in = \"a\", offset = 16 }`, a tensor map such as `{ tensor = { box-bytes = 16384 } }`, or a structure's fields by their first bytes such as `{ 0 = 1024, 8 = \
                   \"buffer\" }`";
const FIELD: &str = "a number, `\"buffer\"`, a buffer with contents such as `{ u64 = [4, 4] }`, a place in one of `buffers` \
                     such as `{ in = \"a\", offset = 16 }`, or a tensor map such as `{ tensor = { box-bytes = 16384 } }`";
const BOX: &str = "the box that a copy moves, such as `{ box-bytes = 16384 }`";
const BOX_BYTES: &str = "a multiple of 16 bytes that fits shared memory, such as `16384`";
const OFFSET: &str = "a number of bytes, such as `16`";

/// Parses an extent: threads or ctas in x, y and z.
fn extent(reader: Reader<'_>, key: &str, node: &Node<'_>) -> Result<Dim3, ConfigError> {
    let one = |node: &Node<'_>| match reader.number(key, EXTENT, node)? {
        0 => Err(reader.wrong(key, EXTENT, node)),
        number => Ok(number),
    };
    let Some(array) = node.get_ref().as_array() else { return one(node).map(Dim3::line) };
    let mut extents = [1; 3];
    if array.is_empty() || array.len() > extents.len() {
        return Err(reader.wrong(key, EXTENT, node));
    }
    for (extent, item) in extents.iter_mut().zip(array) {
        *extent = one(item)?;
    }
    let [x, y, z] = extents;
    Ok(Dim3 { x, y, z })
}

/// Parses a block: `"any"`, or at most 1024 threads.
pub(super) fn block(reader: Reader<'_>, node: &Node<'_>) -> Result<Dimensions, ConfigError> {
    if is_any(node) {
        return Ok(Dimensions::Any);
    }
    if integer(node) == Some(0) {
        return Err(reader.error(node.span(), Problem::Block(0)));
    }
    let block = extent(reader, "block", node)?;
    if block.count() > Dim3::MAX_THREADS {
        return Err(reader.error(node.span(), Problem::Block(block.count())));
    }
    within(reader, "block", node, block, Dim3::MAX_BLOCK).map(Dimensions::Is)
}

fn is_any(node: &Node<'_>) -> bool {
    node.get_ref().as_str() == Some(Dimensions::ANY)
}

/// Parses a grid: `"any"`, or ctas within the limits of devices.
pub(super) fn grid(reader: Reader<'_>, node: &Node<'_>) -> Result<Dimensions, ConfigError> {
    if is_any(node) {
        return Ok(Dimensions::Any);
    }
    let grid = extent(reader, "grid", node)?;
    let grid = within(reader, "grid", node, grid, Dim3::MAX_GRID)?;
    if grid.count() > Dim3::MAX_CTAS {
        return Err(reader.error(node.span(), Problem::Grid(grid.count())));
    }
    Ok(Dimensions::Is(grid))
}

/// Parses the ctas of a cluster.
pub(super) fn cluster(reader: Reader<'_>, node: &Node<'_>) -> Result<Dim3, ConfigError> {
    let cluster = extent(reader, "cluster", node)?;
    if cluster.count() > Dim3::MAX_CLUSTER {
        return Err(reader.error(node.span(), Problem::Cluster(cluster.count())));
    }
    Ok(cluster)
}

fn within(
    reader: Reader<'_>,
    key: &'static str,
    node: &Node<'_>,
    given: Dim3,
    most: Dim3,
) -> Result<Dim3, ConfigError> {
    match given.misfit(most) {
        Some(misfit) => Err(reader.error(node.span(), Problem::Extent { key, misfit })),
        None => Ok(given),
    }
}

/// Parses the value of `atomics`.
pub(super) fn atomics(reader: Reader<'_>, node: &Node<'_>) -> Result<Atomics, ConfigError> {
    match node.get_ref().as_str() {
        Some("auto") => Ok(Atomics::Auto),
        Some("abstract") => Ok(Atomics::Abstract),
        Some("unique") => Ok(Atomics::Unique),
        Some("off") => Ok(Atomics::Off),
        _ => Err(reader.wrong(
            "atomics",
            "`\"auto\"`, `\"abstract\"`, `\"unique\"` or `\"off\"`",
            node,
        )),
    }
}

/// Parses the value of `barrier-divergence`.
pub(super) fn divergence(
    reader: Reader<'_>,
    node: &Node<'_>,
) -> Result<BarrierDivergence, ConfigError> {
    match node.get_ref().as_str() {
        Some("cta") => Ok(BarrierDivergence::Cta),
        Some("warp") => Ok(BarrierDivergence::Warp),
        Some("off") => Ok(BarrierDivergence::Off),
        _ => Err(reader.wrong("barrier-divergence", "`\"cta\"`, `\"warp\"` or `\"off\"`", node)),
    }
}

/// Parses the value of `witness`.
pub(super) fn witness(reader: Reader<'_>, node: &Node<'_>) -> Result<u32, ConfigError> {
    match node.get_ref().as_str() {
        Some("off") => Ok(0),
        _ => reader.number("witness", "a number of inputs, such as `8`, or `\"off\"`", node),
    }
}

/// Parses the value of `inputs`: whether the host might pass every input.
pub(super) fn inputs(reader: Reader<'_>, node: &Node<'_>) -> Result<bool, ConfigError> {
    match node.get_ref().as_str() {
        Some("any") => Ok(true),
        Some("some") => Ok(false),
        _ => Err(reader.wrong("inputs", "`\"any\"` or `\"some\"`", node)),
    }
}

/// Parses the value of `limit`.
pub(super) fn limit(reader: Reader<'_>, node: &Node<'_>) -> Result<LimitSettings, ConfigError> {
    let number = |node: &Node<'_>| {
        integer(node).and_then(|value| u64::try_from(value).ok()).filter(|value| *value > 0)
    };
    if node.get_ref().as_table().is_none() {
        let instructions = number(node).ok_or_else(|| reader.wrong("limit", LIMIT, node))?;
        return Ok(LimitSettings { instructions: Some(instructions), memory: None });
    }
    let mut limit = LimitSettings::default();
    for (key, item) in reader.table("limit", LIMIT, node)? {
        let (place, value) = match reader.key(key)? {
            LimitKey::Instructions => (&mut limit.instructions, number(item)),
            LimitKey::Memory => {
                let bytes = || item.get_ref().as_str().and_then(size);
                (&mut limit.memory, number(item).or_else(bytes))
            }
        };
        *place = Some(value.ok_or_else(|| reader.wrong("limit", LIMIT, item))?);
    }
    Ok(limit)
}

/// Parses a size such as `1048576`, `1024 KiB`, `1 MiB` or `2 GiB` and returns it in bytes; `None` if it is 0 or
/// malformed.
pub fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit: u64 = match text[digits..].trim_start() {
        "" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    text[..digits].parse::<u64>().ok()?.checked_mul(unit).filter(|bytes| *bytes > 0)
}

/// Parses the value of `args`.
pub(super) fn args(reader: Reader<'_>, node: &Node<'_>) -> Result<StatedArgs, ConfigError> {
    let mut args = Vec::new();
    for (key, item) in reader.table("args", ARGS, node)? {
        let name = key.get_ref();
        let stated = ArgKey::parse(name).ok_or_else(|| {
            let found = format!("the key {name:?}");
            reader
                .error(key.span(), Problem::Value { key: "args".to_owned(), expected: ARGS, found })
        })?;
        let (arg, place) = (arg(reader, name, item)?, reader.place(&key.span()));
        args.push(StatedArg { key: stated, arg, place });
    }
    Ok(StatedArgs::of_table(args))
}

/// Parses an offset. Rejects `+1` and `01`, which would be a second spelling of the same number.
pub(super) fn counted<T: FromStr + ToString>(name: &str) -> Option<T> {
    name.parse().ok().filter(|number: &T| number.to_string() == name)
}

fn arg(reader: Reader<'_>, key: &str, node: &Node<'_>) -> Result<Arg, ConfigError> {
    let Some(table) = node.get_ref().as_table() else {
        return plain(reader, &format!("args.{key}"), ARG, node);
    };
    if table.iter().any(|(name, _)| PointerKey::find(name.get_ref()).is_some()) {
        return pointer(reader, &format!("args.{key}"), ARG, node);
    }
    if is_tensor(table) {
        return tensor(reader, &format!("args.{key}"), ARG, node);
    }
    let mut bytes = None;
    let mut fields = BTreeMap::new();
    for (name, item) in table {
        if let Some(first) = counted::<u64>(name.get_ref()) {
            fields.insert(first, field(reader, &format!("args.{key}.{first}"), item)?);
            continue;
        }
        let contents = typed(reader, name, item, &PointerKey::names())?;
        if bytes.replace(contents).is_some() {
            return Err(reader.wrong(&format!("args.{key}"), ARG, node));
        }
    }
    match bytes {
        Some(_) if fields.is_empty() => Ok(Arg::Buffer(Buffer { contents: bytes })),
        None if fields.is_empty() => Err(reader.wrong(&format!("args.{key}"), ARG, node)),
        _ => Ok(Arg::Fields(Fields { bytes, fields })),
    }
}

fn field(reader: Reader<'_>, key: &str, node: &Node<'_>) -> Result<Arg, ConfigError> {
    match node.get_ref() {
        DeValue::Table(table) if is_tensor(table) => tensor(reader, key, FIELD, node),
        DeValue::Table(_) => in_table(reader, key, FIELD, node),
        _ => plain(reader, key, FIELD, node),
    }
}

/// Parses what a table states by itself: a place in a buffer, or contents of one type.
pub(super) fn in_table(
    reader: Reader<'_>,
    key: &str,
    expected: &'static str,
    node: &Node<'_>,
) -> Result<Arg, ConfigError> {
    let table = reader.table(key, expected, node)?;
    if table.iter().any(|(name, _)| PointerKey::find(name.get_ref()).is_some()) {
        return pointer(reader, key, expected, node);
    }
    let mut entries = table.iter();
    let (Some((name, items)), None) = (entries.next(), entries.next()) else {
        return Err(reader.wrong(key, expected, node));
    };
    let contents = Some(typed(reader, name, items, &PointerKey::names())?);
    Ok(Arg::Buffer(Buffer { contents }))
}

/// Parses a place in a buffer.
fn pointer(
    reader: Reader<'_>,
    path: &str,
    expected: &'static str,
    node: &Node<'_>,
) -> Result<Arg, ConfigError> {
    let (mut buffer, mut offset) = (None, 0);
    for (key, item) in reader.table(path, expected, node)? {
        match reader.key(key)? {
            PointerKey::In => {
                let name = reader.string(&format!("{path}.in"), "the name of a buffer", item)?;
                buffer = Some(name.to_owned());
            }
            PointerKey::Offset => {
                let bytes = integer(item).and_then(|bytes| u64::try_from(bytes).ok());
                let wrong = || reader.wrong(&format!("{path}.offset"), OFFSET, item);
                offset = bytes.ok_or_else(wrong)?;
            }
        }
    }
    let buffer = buffer.ok_or_else(|| reader.wrong(path, expected, node))?;
    Ok(Arg::Within(Within { buffer, offset }))
}

/// Whether a table states a tensor map.
fn is_tensor(table: &DeTable<'_>) -> bool {
    table.iter().any(|(name, _)| TensorKey::find(name.get_ref()).is_some())
}

/// Parses a tensor map.
fn tensor(
    reader: Reader<'_>,
    path: &str,
    expected: &'static str,
    node: &Node<'_>,
) -> Result<Arg, ConfigError> {
    let mut tensor = None;
    for (key, item) in reader.table(path, expected, node)? {
        let TensorKey::Tensor = reader.key(key)?;
        let path = format!("{path}.tensor");
        for (key, bytes) in reader.table(&path, BOX, item)? {
            let BoxKey::BoxBytes = reader.key(key)?;
            let own = integer(bytes).and_then(|own| u64::try_from(own).ok());
            let wrong = || reader.wrong(&format!("{path}.box-bytes"), BOX_BYTES, bytes);
            tensor = Some(own.and_then(TensorBox::of).ok_or_else(wrong)?);
        }
        tensor = Some(tensor.ok_or_else(|| reader.wrong(&path, BOX, item))?);
    }
    tensor.map(Arg::Tensor).ok_or_else(|| reader.wrong(path, expected, node))
}

/// Parses a number or `"buffer"`, a buffer with open contents.
fn plain(
    reader: Reader<'_>,
    key: &str,
    expected: &'static str,
    node: &Node<'_>,
) -> Result<Arg, ConfigError> {
    let arg = match node.get_ref() {
        DeValue::Integer(_) => integer(node).map(Arg::Integer),
        DeValue::Float(_) => float(node).map(Arg::Float),
        DeValue::String(text) if text == "buffer" => Some(Arg::Buffer(Buffer::default())),
        _ => None,
    };
    arg.ok_or_else(|| reader.wrong(key, expected, node))
}

/// Parses buffer contents given under the name of their element type. `others`: the keys that could stand there instead.
pub(super) fn typed(
    reader: Reader<'_>,
    name: &Spanned<Cow<'_, str>>,
    items: &Node<'_>,
    others: &[&'static str],
) -> Result<Vec<u8>, ConfigError> {
    let unknown = || reader.unknown(name, &known(others));
    let element = Element::from_name(name.get_ref()).ok_or_else(unknown)?;
    contents(reader, element, items)
}

/// Returns the names of element types and these keys.
pub(super) fn known(others: &[&'static str]) -> Vec<&'static str> {
    Element::ALL.iter().map(|element| element.name()).chain(others.iter().copied()).collect()
}

fn contents(reader: Reader<'_>, element: Element, node: &Node<'_>) -> Result<Vec<u8>, ConfigError> {
    let mut bytes = Vec::new();
    for item in reader.array(element.name(), "an array of numbers", node)? {
        let encoded = match (integer(item), float(item)) {
            (Some(value), _) => element.encode_integer(value),
            (None, Some(value)) => element.encode_float(value),
            (None, None) => return Err(reader.wrong(element.name(), "an array of numbers", item)),
        };
        let text = || match item.get_ref() {
            DeValue::Integer(number) => number.to_string(),
            DeValue::Float(number) => number.to_string(),
            _ => String::new(),
        };
        bytes.extend(encoded.ok_or_else(|| {
            reader.error(item.span(), Problem::Element { value: text(), element: element.name() })
        })?);
    }
    Ok(bytes)
}

/// The type of a buffer's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are Rust's own")]
pub enum Element {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
}

impl Element {
    /// All element types.
    pub const ALL: [Self; 10] = [
        Self::U8,
        Self::I8,
        Self::U16,
        Self::I16,
        Self::U32,
        Self::I32,
        Self::U64,
        Self::I64,
        Self::F32,
        Self::F64,
    ];

    /// Returns Rust's name of the type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::I8 => "i8",
            Self::U16 => "u16",
            Self::I16 => "i16",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::U64 => "u64",
            Self::I64 => "i64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// Returns the type with this name; `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|element| element.name() == name)
    }

    /// Returns the least and the greatest integer; `None` for a float type, which takes any number.
    pub(super) const fn bounds(self) -> Option<(i64, u64)> {
        Some(match self {
            Self::U8 => (0, u8::MAX as u64),
            Self::I8 => (i8::MIN as i64, i8::MAX as u64),
            Self::U16 => (0, u16::MAX as u64),
            Self::I16 => (i16::MIN as i64, i16::MAX as u64),
            Self::U32 => (0, u32::MAX as u64),
            Self::I32 => (i32::MIN as i64, i32::MAX as u64),
            Self::U64 => (0, u64::MAX),
            Self::I64 => (i64::MIN, i64::MAX as u64),
            Self::F32 | Self::F64 => return None,
        })
    }

    /// Returns the little-endian bytes of an integer; `None` if it is out of range. For a float type, the integer is
    /// rounded.
    pub fn encode_integer(self, value: i128) -> Option<Vec<u8>> {
        Some(match self {
            Self::U8 => u8::try_from(value).ok()?.to_le_bytes().to_vec(),
            Self::I8 => i8::try_from(value).ok()?.to_le_bytes().to_vec(),
            Self::U16 => u16::try_from(value).ok()?.to_le_bytes().to_vec(),
            Self::I16 => i16::try_from(value).ok()?.to_le_bytes().to_vec(),
            Self::U32 => u32::try_from(value).ok()?.to_le_bytes().to_vec(),
            Self::I32 => i32::try_from(value).ok()?.to_le_bytes().to_vec(),
            Self::U64 => u64::try_from(value).ok()?.to_le_bytes().to_vec(),
            Self::I64 => i64::try_from(value).ok()?.to_le_bytes().to_vec(),
            #[allow(
                clippy::cast_precision_loss,
                reason = "rounding to the nearest float is what is asked for"
            )]
            Self::F32 | Self::F64 => return self.encode_float(value as f64),
        })
    }

    /// Returns the little-endian bytes of a float, rounded to the type; `None` for an integer type.
    pub fn encode_float(self, value: f64) -> Option<Vec<u8>> {
        match self {
            #[allow(
                clippy::cast_possible_truncation,
                reason = "rounding to the nearest float is what is asked for"
            )]
            Self::F32 => Some((value as f32).to_le_bytes().to_vec()),
            Self::F64 => Some(value.to_le_bytes().to_vec()),
            _ => None,
        }
    }
}
