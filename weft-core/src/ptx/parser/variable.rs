//! Parses declarations of variables and their initialisers (PTX ISA §5.4).

use std::sync::Arc;

use super::super::ReadErrorKind;
use super::super::initial::{Initial, InitialAddress};
use super::super::space::Space;
use super::super::tree::{Type, Variable};
use super::constant::Constant;
use super::{Parser, Read, TokenKind};

/// The attributes in front of a variable's name.
#[derive(Clone, Copy)]
pub(super) struct Attributes {
    space: Option<Space>,
    ty: Type,
    vector: u8,
    align: u32,
    pub(super) is_extern: bool,
    pointee: Option<Space>,
    pointee_align: Option<u32>,
}

/// The alignment in bytes that `.ptr` states if it names none (PTX ISA §5.1.6.1.1).
const DEFAULT_POINTEE: u32 = 4;

pub(super) fn space(word: &str) -> Option<Space> {
    Some(match word {
        ".reg" | ".sreg" => Space::Register,
        ".const" => Space::Const,
        ".global" => Space::Global,
        ".local" => Space::Local,
        ".param" => Space::Param,
        ".shared" => Space::Shared,
        ".tex" => Space::Texture,
        _ => return None,
    })
}

/// Records a space or a type. Behind `.ptr`, a space is the one that the parameter points to.
fn attribute(word: &str, seen: &mut Attributes) {
    if let Some(space) = space(word) {
        if seen.space.is_none() {
            seen.space = Some(space);
        } else if seen.pointee.is_some() {
            seen.pointee = Some(space);
        }
    } else if let Some(ty) = Type::from_suffix(word.trim_start_matches('.')) {
        seen.ty = ty;
    } else if matches!(word, ".texref" | ".samplerref" | ".surfref") {
        seen.ty = Type::B64;
    }
}

impl Parser<'_> {
    /// Reads the attributes up to the name.
    pub(super) fn attributes(&mut self, is_extern: bool) -> Read<Attributes> {
        let mut seen = Attributes {
            space: None,
            ty: Type::B8,
            vector: 1,
            align: 0,
            is_extern,
            pointee: None,
            pointee_align: None,
        };
        while self.token.kind == TokenKind::Dot {
            let word = self.word();
            self.advance();
            match word {
                // Behind `.ptr`, the alignment is that of the memory that the parameter points to.
                ".align" if seen.pointee.is_some() => {
                    seen.pointee_align = Some(self.alignment()?);
                }
                ".align" => seen.align = self.alignment()?,
                ".v2" => seen.vector = 2,
                ".v4" => seen.vector = 4,
                ".v8" => seen.vector = 8,
                ".ptr" => {
                    (seen.pointee, seen.pointee_align) =
                        (Some(Space::Global), Some(DEFAULT_POINTEE));
                }
                ".extern" => seen.is_extern = true,
                ".attribute" => self.attribute_list()?,
                _ => attribute(word, &mut seen),
            }
        }
        Ok(seen)
    }

    pub(super) fn attribute_list(&mut self) -> Read<()> {
        self.expect(b'(', "`(` of an attribute")?;
        while !self.eat(b')') {
            if self.token.kind == TokenKind::End {
                return Err(self.unexpected("an attribute"));
            }
            self.advance();
        }
        Ok(())
    }

    /// Reads `name`, `name<10>`, `name[4][2]` or `name[] = {...}`, and combines it with the attributes before it.
    pub(super) fn declarator(&mut self, attributes: Attributes, default: Space) -> Read<Variable> {
        let name = self.expect_word("a variable's name")?;
        let mut variable = Variable {
            space: attributes.space.unwrap_or(default),
            ty: attributes.ty,
            vector: attributes.vector,
            name,
            range: None,
            elements: 1,
            is_array: false,
            align: attributes.align,
            is_extern: attributes.is_extern,
            pointee: attributes.pointee,
            pointee_align: attributes.pointee_align,
            init: None,
        };
        if self.eat(b'<') {
            variable.range = Some(self.small()?);
            self.expect(b'>', "`>` of a register range")?;
        }
        let mut unsized_dimension = false;
        while self.eat(b'[') {
            variable.is_array = true;
            if self.is_punct(b']') {
                unsized_dimension = true;
            } else {
                variable.elements = variable.elements.saturating_mul(self.dimension()?);
            }
            self.expect(b']', "`]` of an array")?;
        }
        if self.eat(b'=') {
            variable.init = Some(self.initialiser(variable.ty)?);
        }
        if unsized_dimension {
            let values = variable.init.as_ref().map_or(0, |init| init.values);
            variable.elements = values / u64::from(variable.vector.max(1));
        }
        Ok(variable)
    }

    fn alignment(&mut self) -> Read<u32> {
        let span = self.token.span;
        let value = self.whole_constant()?;
        u32::try_from(value).map_err(|_| self.error(ReadErrorKind::Number(value.to_string()), span))
    }

    fn dimension(&mut self) -> Read<u64> {
        let span = self.token.span;
        let value = self.whole_constant()?;
        u64::try_from(value).map_err(|_| self.error(ReadErrorKind::Number(value.to_string()), span))
    }

    fn initialiser(&mut self, ty: Type) -> Read<Initial> {
        let (mut depth, mut values) = (0_u64, 0);
        let mut bytes = Some(Vec::new());
        let mut addresses = Vec::new();
        loop {
            match self.token.kind {
                TokenKind::Punct(b'{') => depth += 1,
                TokenKind::Punct(b'}') if depth > 0 => depth -= 1,
                TokenKind::Punct(b',') if depth > 0 => {}
                _ => {
                    values += 1;
                    match (self.initial(ty)?, &mut bytes) {
                        (InitialValue::Bits(bits), Some(bytes)) if depth < 2 => {
                            append(bytes, bits, ty);
                        }
                        (InitialValue::Address(address), Some(bytes)) if depth < 2 => {
                            addresses.push(InitialAddress { at: bytes.len() as u64, ..address });
                            append(bytes, 0, ty);
                        }
                        _ => bytes = None,
                    }
                    if depth == 0 {
                        break;
                    }
                    continue;
                }
            }
            self.advance();
            if depth == 0 {
                break;
            }
        }
        Ok(Initial { values, bytes: bytes.map(Arc::from), addresses: addresses.into() })
    }

    /// Reads one value.
    fn initial(&mut self, ty: Type) -> Read<InitialValue> {
        if self.token.kind == TokenKind::Word && !self.is_warp_size() {
            return self.initial_address().map(InitialValue::Address);
        }
        let value = self.constant()?;
        if self.eat(b'(') {
            self.initial_address()?;
            self.expect(b')', "`)` behind a symbol")?;
            return Ok(InitialValue::Byte);
        }
        Ok(InitialValue::Bits(match value {
            Constant::Float(float) => float.bits(ty),
            Constant::Signed(_) | Constant::Unsigned(_) => value.bits().unwrap_or(0),
        }))
    }

    fn initial_address(&mut self) -> Read<InitialAddress> {
        let mut name = self.token.span;
        self.advance();
        let is_generic = self.eat(b'(');
        let mut offset = 0;
        if is_generic {
            name = self.expect_word("a symbol")?;
            offset = self.symbol_offset()?;
            self.expect(b')', "`)` behind a symbol")?;
        }
        offset = offset.wrapping_add(self.symbol_offset()?);
        Ok(InitialAddress { at: 0, name, offset, is_generic })
    }

    /// Reads an optional `+4` or `-4`, or another constant behind the sign; 0 if there is none.
    pub(super) fn symbol_offset(&mut self) -> Read<i64> {
        if self.eat(b'+') || self.is_punct(b'-') { self.whole_constant() } else { Ok(0) }
    }
}

/// A value of an initialiser.
enum InitialValue {
    /// A number, as the bits of its type.
    Bits(u64),
    Address(InitialAddress),
    /// A byte of an address: `0xff(symbol)`.
    Byte,
}

/// Appends a number as the bytes of its type, little-endian.
fn append(bytes: &mut Vec<u8>, bits: u64, ty: Type) {
    let (bits, width) = (bits.to_le_bytes(), ty.bytes() as usize);
    match bits.get(..width) {
        Some(text) => bytes.extend_from_slice(text),
        None => bytes.extend(bits.iter().cycle().take(width)),
    }
}
