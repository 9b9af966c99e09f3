//! What the source says of a function: its name, its lines and its parameters.

use weft_core::ptx::{Type, Variable};

/// A function with a body in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Definition {
    /// Its name, without the names of namespaces and modules.
    pub(super) name: String,
    /// The line in which it begins, from 1.
    pub(super) first: u32,
    /// The line in which its body begins.
    pub(super) last: u32,
    /// Its parameters; `None` if they, or their names, are in doubt.
    pub(super) parameters: Option<Vec<Parameter>>,
}

/// A parameter in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// What is known of its type.
    pub shape: DefinitionShape,
    /// Its declaration as written, such as `const float *x`, in one line.
    pub declaration: String,
}

/// What is known of a parameter's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinitionShape {
    /// An address.
    Pointer,
    /// An integer or a truth value with one of these sizes in bytes, which depend on the platform.
    Integer(&'static [u32]),
    /// A floating-point number of this size in bytes.
    Float(u32),
    /// A type that is defined elsewhere.
    Other,
}

impl DefinitionShape {
    /// Returns the shape of a type that has this name in C++ or Rust; `None` for other names.
    pub(super) fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            "bool" | "i8" | "u8" | "int8_t" | "uint8_t" => Self::Integer(&[1]),
            "i16" | "u16" | "int16_t" | "uint16_t" => Self::Integer(&[2]),
            "i32" | "u32" | "int32_t" | "uint32_t" | "uint" => Self::Integer(&[4]),
            "i64" | "u64" | "int64_t" | "uint64_t" => Self::Integer(&[8]),
            "isize" | "usize" | "size_t" | "ptrdiff_t" | "intptr_t" | "uintptr_t" => {
                Self::Integer(&[4, 8])
            }
            "float" | "f32" => Self::Float(4),
            "double" | "f64" => Self::Float(8),
            _ => return None,
        })
    }

    /// Whether a parameter of this shape can be this one of the PTX; `address`: the size of an address in bytes.
    pub(super) fn fits(self, param: &Variable, address: u32) -> bool {
        let (bytes, is_float) = (param.ty.bytes(), param.ty.is_float());
        let is_scalar = !param.is_array && param.vector == 1;
        let is_untyped = matches!(param.ty, Type::B32 | Type::B64);
        match self {
            Self::Pointer => is_scalar && !is_float && bytes == address,
            Self::Integer(sizes) => is_scalar && !is_float && sizes.contains(&bytes),
            Self::Float(size) => is_scalar && bytes == size && (is_float || is_untyped),
            Self::Other => true,
        }
    }
}
