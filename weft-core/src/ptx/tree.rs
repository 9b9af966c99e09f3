//! The syntax tree of a PTX module. Names are spans into the text, so that reading copies nothing.
//!
//! Later stages rely on these rules: the operands of a statement lie in the `operands` of its body; nested braces
//! appear as `Statement::Open` and `Statement::Close`, balanced; instructions that the table does not know appear like
//! any other.

use std::ops::Range;
use std::sync::Arc;

use super::clusters::ClusterDirectives;
use super::index::Index;
use super::initial::Initial;
use super::isa::Decoded;
use super::lexer::{Lexer, Token, TokenKind};
use super::space::Space;
use super::{Position, ReadError, Span};

/// A module as read. It exists for every text; see `errors` for what could not be read.
#[derive(Clone, Debug)]
pub struct Module {
    pub(super) text: Arc<str>,
    /// Byte offset at which each line starts.
    pub(super) lines: Vec<u32>,
    /// `.version`, such as `(8, 7)`; `None` if it is missing.
    pub version: Option<(u32, u32)>,
    /// `.target`, such as `sm_80`.
    pub target: Option<Span>,
    /// `.address_size`: 32 or 64.
    pub address_size: u32,
    /// Variables at module scope.
    pub variables: Vec<Variable>,
    /// Functions and kernels, prototypes included.
    pub functions: Vec<Function>,
    /// `.file` entries: index and path.
    pub files: Vec<(u32, String)>,
    /// The parts of the text that could not be read.
    pub errors: Vec<ReadError>,
    /// The decoded mnemonics of instructions, each once; `None` for a mnemonic that no row of the table fits.
    pub(super) mnemonics: Vec<Option<Arc<Decoded>>>,
    /// The index of names as of the end of reading: the look-ups below do not see later changes to the lists.
    pub(super) index: Index,
}

impl Module {
    /// Returns the whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text of a span.
    pub fn name(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// Returns line and column of the start of a span.
    pub fn position(&self, span: Span) -> Position {
        let line = self.lines.partition_point(|&start| start <= span.start).max(1);
        let start = self.lines.get(line - 1).copied().unwrap_or(0);
        Position {
            line: u32::try_from(line).expect("texts have at most 4 GiB"),
            column: span.start - start + 1,
        }
    }

    /// Returns the mnemonic of the instruction in a span, skipping the guard.
    pub fn mnemonic_in(&self, span: Span) -> &str {
        let text = self.name(span);
        let mut lexer = Lexer::new(text);
        let mut token = Token::START;
        let mut next = || {
            lexer.next(&mut token);
            (token, lexer.mnemonic(token.span))
        };
        let (mut first, mut mnemonic) = next();
        if first.kind == TokenKind::Punct(b'@') {
            // The sign is followed by an optional `!` and the predicate.
            while first.kind != TokenKind::Word && first.kind != TokenKind::End {
                (first, _) = next();
            }
            (_, mnemonic) = next();
        }
        text.get(mnemonic.range()).unwrap_or("")
    }

    /// Returns the decoded mnemonic of an instruction of this module; `None` if no row of the table fits.
    pub fn decoded(&self, instruction: &Instruction) -> Option<&Arc<Decoded>> {
        self.mnemonics.get(instruction.decoded as usize)?.as_ref()
    }

    /// Returns the kernels that have a body, in the order of the text.
    pub fn kernels(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|function| function.is_kernel && function.body.is_some())
    }

    /// Returns the kernel with this name, if it has a body.
    pub fn kernel(&self, name: &str) -> Option<&Function> {
        self.function(name).filter(|function| function.is_kernel && function.body.is_some())
    }

    /// Returns the function or kernel with this name; of several declarations the first with a body.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.get(self.index.function(name)?)
    }

    /// Returns the variable at module scope with this name; of several declarations the last.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.get(self.index.variable(name)?)
    }

    /// Returns a line of the text, counted from 1, without its line break; `None` behind the last line.
    pub fn line(&self, line: u32) -> Option<&str> {
        let at = (line as usize).checked_sub(1)?;
        let start = *self.lines.get(at)? as usize;
        let end = self.lines.get(at + 1).map_or(self.text.len(), |next| *next as usize);
        let line = self.text.get(start..end)?;
        let line = line.strip_suffix('\n').unwrap_or(line);
        Some(line.strip_suffix('\r').unwrap_or(line))
    }

    /// Returns the path of the `.file` entry with this index.
    pub fn file(&self, index: u32) -> Option<&str> {
        self.files.get(self.index.file(index)?).map(|(_, path)| path.as_str())
    }
}

/// A fundamental type (PTX ISA §5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the manual's")]
pub enum Type {
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F64,
    U16x2,
    S16x2,
    F32x2,
    U4,
    S4,
    U2,
    S2,
    Pred,
    /// A type that only matrix, texture and conversion instructions use.
    Other,
}

impl Type {
    /// Returns the type with this suffix, which is given without its dot.
    pub fn from_suffix(word: &str) -> Option<Self> {
        Some(match word {
            "b8" => Self::B8,
            "b16" => Self::B16,
            "b32" => Self::B32,
            "b64" => Self::B64,
            "b128" => Self::B128,
            "u8" => Self::U8,
            "u16" => Self::U16,
            "u32" => Self::U32,
            "u64" => Self::U64,
            "s8" => Self::S8,
            "s16" => Self::S16,
            "s32" => Self::S32,
            "s64" => Self::S64,
            "f16" => Self::F16,
            "f16x2" => Self::F16x2,
            "bf16" => Self::Bf16,
            "bf16x2" => Self::Bf16x2,
            "f32" => Self::F32,
            "f64" => Self::F64,
            "u16x2" => Self::U16x2,
            "s16x2" => Self::S16x2,
            "f32x2" => Self::F32x2,
            "u4" => Self::U4,
            "s4" => Self::S4,
            "u2" => Self::U2,
            "s2" => Self::S2,
            "pred" => Self::Pred,
            "tf32" | "e4m3" | "e5m2" | "e4m3x2" | "e5m2x2" | "e4m3x4" | "e5m2x4" | "b1"
            | "e2m1" | "e2m3" | "e3m2" | "e2m1x2" | "e2m3x2" | "e3m2x2" | "e2m1x4" | "e2m3x4"
            | "e3m2x4" | "ue8m0x2" | "s2f6x2" => Self::Other,
            _ => return None,
        })
    }

    /// Returns the size in bytes; predicates and fields of less than a byte count as 1.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::B8
            | Self::U8
            | Self::S8
            | Self::U4
            | Self::S4
            | Self::U2
            | Self::S2
            | Self::Pred => 1,
            Self::B16 | Self::U16 | Self::S16 | Self::F16 | Self::Bf16 => 2,
            Self::B64 | Self::U64 | Self::S64 | Self::F64 | Self::F32x2 | Self::Other => 8,
            Self::B128 => 16,
            Self::B32
            | Self::U32
            | Self::S32
            | Self::F32
            | Self::F16x2
            | Self::Bf16x2
            | Self::U16x2
            | Self::S16x2 => 4,
        }
    }

    /// Returns the size of an element in bytes. A packed type holds two elements, and an access to it is two accesses
    /// (PTX ISA §8.2.5).
    pub const fn element_bytes(self) -> u32 {
        match self {
            Self::F16x2 | Self::Bf16x2 | Self::U16x2 | Self::S16x2 | Self::F32x2 => {
                self.bytes() / 2
            }
            whole => whole.bytes(),
        }
    }

    /// Whether a value consists of two elements that are computed independently.
    pub const fn is_packed(self) -> bool {
        self.element_bytes() < self.bytes()
    }

    /// Returns the size in bits, at most 64.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Pred => 1,
            Self::B128 => 64,
            other => other.bytes() * 8,
        }
    }

    /// Whether values are two's complement.
    pub const fn is_signed(self) -> bool {
        matches!(
            self,
            Self::S2 | Self::S4 | Self::S8 | Self::S16 | Self::S32 | Self::S64 | Self::S16x2
        )
    }

    /// Whether values are IEEE numbers, packed ones included.
    pub const fn is_float(self) -> bool {
        matches!(
            self,
            Self::F16
                | Self::F16x2
                | Self::Bf16
                | Self::Bf16x2
                | Self::F32
                | Self::F32x2
                | Self::F64
        )
    }
}

impl Float {
    /// Returns the bits of this literal as a value of type `ty`.
    pub fn bits(self, ty: Type) -> u64 {
        #[allow(clippy::cast_possible_truncation, reason = "a literal of an f32 is rounded to f32")]
        match (self, ty) {
            (Self::Single(bits), Type::F64) => f64::from(f32::from_bits(bits)).to_bits(),
            (Self::Single(bits), _) => u64::from(bits),
            (Self::Double(value), Type::F32) => u64::from((value as f32).to_bits()),
            (Self::Double(value), _) => value.to_bits(),
        }
    }

    /// Returns the same number with the opposite sign.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Single(bits) => Self::Single(bits ^ 0x8000_0000),
            Self::Double(value) => Self::Double(-value),
        }
    }
}

/// A declared variable, register range or parameter.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The state space that it lies in.
    pub space: Space,
    /// Element type.
    pub ty: Type,
    /// 1, 2, 4 or 8 elements in a vector.
    pub vector: u8,
    /// Its name; without the range of `%r<10>`.
    pub name: Span,
    /// `Some(10)` for `%r<10>`: the registers `%r0` to `%r9`.
    pub range: Option<u32>,
    /// Elements, the product of all dimensions; 1 for a scalar, 0 for `[]`.
    pub elements: u64,
    /// Whether it was declared as an array.
    pub is_array: bool,
    /// Alignment in bytes; 0: natural.
    pub align: u32,
    /// Whether it is declared `.extern`.
    pub is_extern: bool,
    /// `.ptr`: the parameter holds an address in this space; global if `.ptr` names none. `None` without `.ptr`.
    pub pointee: Option<Space>,
    /// The alignment that `.ptr` states for the memory that the parameter points to, in bytes; `None` without `.ptr`.
    pub pointee_align: Option<u32>,
    /// Its initialiser.
    pub init: Option<Initial>,
}

impl Variable {
    /// Returns the bytes that it occupies.
    pub fn size(&self) -> u64 {
        self.elements.saturating_mul(u64::from(self.ty.bytes()) * u64::from(self.vector))
    }

    /// Returns the alignment in bytes; the natural one where none is stated.
    pub fn alignment(&self) -> u32 {
        if self.align > 0 { self.align } else { self.ty.bytes() * u32::from(self.vector) }
    }
}

/// A `.entry` or `.func`.
#[derive(Clone, Debug)]
pub struct Function {
    /// `.entry`.
    pub is_kernel: bool,
    /// Its name.
    pub name: Span,
    /// The directive up to the closing parenthesis of the parameters.
    pub span: Span,
    /// Parameters in order.
    pub params: Vec<Variable>,
    /// Return parameters of a `.func`.
    pub returns: Vec<Variable>,
    /// `.reqntid`.
    pub reqntid: Option<[u32; 3]>,
    /// `.maxntid`.
    pub maxntid: Option<[u32; 3]>,
    /// What it states of clusters.
    pub clusters: ClusterDirectives,
    /// `.minnctapersm`.
    pub minnctapersm: Option<u32>,
    /// `.maxnreg`.
    pub maxnreg: Option<u32>,
    /// `None`: a prototype.
    pub body: Option<Body>,
}

/// The statements of a function.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// In the order of the text.
    pub statements: Vec<Statement>,
    /// The operands of all instructions.
    pub operands: Vec<ParsedOperand>,
}

impl Body {
    /// Returns the operands of an instruction or of a nested group.
    pub fn operands(&self, range: &Range<u32>) -> &[ParsedOperand] {
        self.operands.get(range.start as usize..range.end as usize).unwrap_or(&[])
    }
}

/// One statement of a body.
#[derive(Clone, Debug)]
pub enum Statement {
    /// `name:`
    Label(Span),
    /// An instruction.
    Instruction(Instruction),
    /// `.reg`, `.local`, `.shared`, `.param`, ... with one variable each.
    Variable(Box<Variable>),
    /// `.loc`.
    Loc(Loc),
    /// `{`
    Open,
    /// `}`
    Close,
    /// `name: .branchtargets a, b, c;` or `.calltargets`: the label and its list.
    Targets(Span, Vec<Span>),
    /// `name: .callprototype ...;`
    Prototype(Span),
}

/// `.loc file line column [, function_name label, inlined_at file line column]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loc {
    /// Index of a `.file`.
    pub file: u32,
    /// Line, from 1; 0: no line.
    pub line: u32,
    /// Column.
    pub column: u32,
    /// The call site that this line was inlined at.
    pub inlined_at: Option<(u32, u32, u32)>,
}

/// `@!p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuardPredicate {
    /// The predicate.
    pub register: Span,
    /// `!`.
    pub negated: bool,
}

/// An instruction as written.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Its predicate.
    pub guard: Option<GuardPredicate>,
    /// Opcode with all its modifiers, `ld.shared.u32`.
    pub mnemonic: Span,
    /// Index of its decoded mnemonic in `Module::mnemonics`.
    pub(super) decoded: u32,
    /// Its operands in `Body::operands`.
    pub operands: Range<u32>,
    /// From the guard to the semicolon.
    pub span: Span,
}

/// An operand as written.
#[derive(Clone, Debug, PartialEq)]
pub enum ParsedOperand {
    /// A register, variable, label, function or special register: resolved later.
    Name(Span),
    /// A `.x`, `.y`, `.z` or `.w` (also `.r`, `.g`, `.b`, `.a`) part of a name, 0 to 3.
    Part(Span, u8),
    /// Bytes or halves of a register, such as `%r1.b0`, as video instructions take them.
    Selected(Span),
    /// An integer constant as 64 bits in two's complement.
    Integer(u64),
    /// `0f3F800000` or `1.0`.
    Float(Float),
    /// `[base+offset]`.
    Address {
        /// Register or variable; `None` for an absolute address.
        base: Option<Span>,
        /// Added to the base, in bytes.
        offset: i64,
    },
    /// `name+offset` outside brackets.
    Offset(Span, i64),
    /// `{a, b}`: a range of `Body::operands`.
    Vector(Range<u32>),
    /// `(a, b)`: arguments or results of a call.
    List(Range<u32>),
    /// `d|p`: two destinations, a range of two of `Body::operands`.
    Pair(Range<u32>),
    /// `!p`.
    Not(Span),
    /// `_`.
    Sink,
    /// A form that the parser does not break down, such as a texture address or a negated register.
    Opaque(Span),
}

impl ParsedOperand {
    /// Returns the name in a plain or offset operand, or the base of an address.
    pub fn name(&self) -> Option<Span> {
        match self {
            Self::Name(name) | Self::Offset(name, _) => Some(*name),
            Self::Address { base, .. } => *base,
            _ => None,
        }
    }
}

/// A floating-point literal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Float {
    /// `0f...`: the bits of an f32.
    Single(u32),
    /// `0d...` or decimal: an f64.
    Double(f64),
}
