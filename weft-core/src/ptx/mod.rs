//! Reads PTX text into a [`Module`]: tokens, a tree with spans, and the table of instructions.

mod clusters;
mod error;
mod index;
mod initial;
pub mod isa;
mod lexer;
mod literal;
mod parser;
mod space;
mod span;
mod tree;

pub use clusters::ClusterDirectives;
pub use error::{ReadError, ReadErrorKind};
pub use initial::{Initial, InitialAddress};
pub use parser::{parse, parse_shared};
pub use space::Space;
pub use span::{Position, Span};
pub use tree::{
    Body, Float, Function, GuardPredicate, Instruction, Loc, Module, ParsedOperand, Statement,
    Type, Variable,
};
