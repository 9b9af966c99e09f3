//! The lines of weft.toml that findings propose: arguments by their names, contents in elements as the kernel loads them.

use std::borrow::Cow;

use crate::flow::{Pc, Program, sources_of};
use crate::ptx::isa::{Decoded, Effect};

/// The type of the elements of a buffer's contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ElementType {
    /// 1, 2, 4 or 8.
    pub(crate) bytes: usize,
    /// Whether it is a floating-point number, of 4 or 8 bytes.
    pub(crate) is_float: bool,
}

impl ElementType {
    /// A word, for contents of which no load is known.
    const WORD: Self = Self { bytes: 4, is_float: false };

    /// Returns the type of the elements that an access has, if weft.toml has a name for it.
    pub(crate) fn of(decoded: &Decoded) -> Option<Self> {
        let ty = decoded.ty();
        let bytes =
            usize::try_from(ty.bytes()).ok().filter(|bytes| matches!(bytes, 1 | 2 | 4 | 8))?;
        Some(Self { bytes, is_float: ty.is_float() && !ty.is_packed() && bytes >= 4 })
    }

    /// Returns the name of the type in weft.toml.
    pub(super) fn name(self) -> String {
        format!("{}{}", if self.is_float { 'f' } else { 'u' }, self.bytes * 8)
    }

    /// Returns the little-endian bytes of a small number.
    pub(crate) fn encode(self, value: u8) -> Vec<u8> {
        match (self.is_float, self.bytes) {
            (true, 4) => f32::from(value).to_le_bytes().to_vec(),
            (true, _) => f64::from(value).to_le_bytes().to_vec(),
            (false, bytes) => u64::from(value).to_le_bytes()[..bytes].to_vec(),
        }
    }

    /// Whether the elements of a buffer are numbers as [`Self::encode`] takes them.
    pub(super) fn are_small(self, contents: &[u8]) -> bool {
        let is_small = |element: &[u8]| element.iter().skip(1).all(|byte| *byte == 0);
        self.is_float || contents.chunks_exact(self.bytes).all(is_small)
    }

    /// Returns the elements of a buffer as weft.toml has them.
    pub(super) fn list(self, contents: &[u8]) -> String {
        let text = |element: &[u8]| {
            let mut word = [0; 8];
            word[..self.bytes].copy_from_slice(element);
            let bits = u64::from_le_bytes(word);
            match (self.is_float, self.bytes) {
                (true, 4) => {
                    let [a, b, c, d, ..] = word;
                    f32::from_le_bytes([a, b, c, d]).to_string()
                }
                (true, _) => f64::from_bits(bits).to_string(),
                _ => bits.to_string(),
            }
        };
        let all: Vec<_> = contents.chunks_exact(self.bytes).map(text).collect();
        format!("{{ {} = [{}] }}", self.name(), all.join(", "))
    }
}

/// Returns the name of a parameter that is shown: that in the source, or else that in the PTX, unless it is only a number,
/// as nvcc and rustc give them.
pub(crate) fn shown_name(program: &Program, position: usize) -> Option<&str> {
    let param = program.params.get(position)?;
    let name = param.source_name.as_ref().unwrap_or(&param.name);
    let is_number = param.source_name.is_none() && name.ends_with(&format!("_param_{position}"));
    (!is_number && !name.is_empty()).then_some(name)
}

/// Returns the key of a parameter in `args`: its name as messages show it, or else its position.
fn key(program: &Program, position: usize) -> Cow<'_, str> {
    // A key of other characters would need quotes, and weft.toml takes no argument of that name.
    let is_bare = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let name = shown_name(program, position).filter(is_bare);
    name.map_or_else(|| Cow::Owned(position.to_string()), Cow::Borrowed)
}

/// Returns the value of an argument in `args`; `value`: as weft.toml has it.
pub(super) fn argument(program: &Program, position: usize, value: &str) -> String {
    format!("{} = {value}", key(program, position))
}

/// Returns the line that gives an argument, a field or a buffer that the launch states this value.
pub(super) fn line(program: &Program, position: usize, value: &str) -> String {
    if let Some(name) = program.buffers.name(position) {
        return format!("buffers = {{ {name} = {value} }}");
    }
    let stated = match program.field(position) {
        Some(field) => {
            let first = field.offset - program.params[field.param].offset;
            argument(program, field.param, &format!("{{ {first} = {value} }}"))
        }
        None => argument(program, position, value),
    };
    format!("args = {{ {stated} }}")
}

/// Returns an example of contents for what an argument, a field or a buffer of the launch points to: in the narrowest
/// elements that the kernel loads from it.
pub(super) fn contents(program: &Program, position: usize) -> String {
    let is_load = |pc: &Pc| program.code[pc.index()].effect() == Effect::Load;
    let loads: Vec<Pc> = (0..).map(Pc).take(program.code.len()).filter(is_load).collect();
    let slot = |at: &usize| match program.buffers.of_argument(*at) {
        Some(place) => place.buffer == position,
        None => *at == position,
    };
    let of_position = loads.iter().zip(sources_of(program, &loads));
    let elements = of_position
        .filter(|(_, sources)| sources.iter().any(slot))
        .filter_map(|(load, _)| ElementType::of(program.code[load.index()].decoded()?));
    let element = elements.min_by_key(|own| own.bytes).unwrap_or(ElementType::WORD);
    format!("{{ {} = [0, 1] }}", element.name())
}
