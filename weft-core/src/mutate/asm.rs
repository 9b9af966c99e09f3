//! Converts an instruction into text and its parts, so that variants of it can be written.

use crate::ptx::isa::{Decoded, decode};
use crate::ptx::{Body, Float, Instruction, Module, ParsedOperand, Span, Type};

/// An instruction as text.
pub(super) struct Asm<'m> {
    /// `@%p1 ` or `@!%p1 `; empty without a guard.
    pub(super) guard: String,
    /// The mnemonic as written, with all modifiers.
    pub(super) mnemonic: &'m str,
    /// The decoded mnemonic.
    pub(super) decoded: Decoded,
    /// The operands as written, with literals in one form.
    pub(super) operands: Vec<String>,
}

impl<'m> Asm<'m> {
    /// Converts `instruction` into text; `None` if the table does not know it, or if it has an operand of a form that
    /// barriers and atomics do not take.
    pub(super) fn of(module: &'m Module, body: &Body, instruction: &Instruction) -> Option<Self> {
        let mnemonic = module.name(instruction.mnemonic);
        let operands = body.operands(&instruction.operands);
        let guard = instruction.guard.map_or_else(String::new, |guard| {
            let not = if guard.negated { "!" } else { "" };
            format!("@{not}{} ", module.name(guard.register))
        });
        Some(Self {
            guard,
            mnemonic,
            decoded: decode(mnemonic).filter(|decoded| !decoded.is_strange)?,
            operands: operands
                .iter()
                .map(|written| operand(module, written))
                .collect::<Option<_>>()?,
        })
    }

    /// Returns the same instruction with another operand at index `at`.
    pub(super) fn with(&self, at: usize, operand: &str) -> String {
        let mut operands = self.operands.clone();
        if let Some(known) = operands.get_mut(at) {
            operand.clone_into(known);
        }
        self.line(self.mnemonic, &operands)
    }

    /// Returns the same instruction without the operand at index `at`.
    pub(super) fn without(&self, at: usize) -> String {
        let mut operands = self.operands.clone();
        operands.remove(at);
        self.line(self.mnemonic, &operands)
    }

    /// Returns another instruction with the same guard.
    pub(super) fn line(&self, mnemonic: &str, operands: &[String]) -> String {
        let space = if operands.is_empty() { "" } else { " " };
        format!("{}{mnemonic}{space}{};", self.guard, operands.join(", "))
    }

    /// Returns the same instruction with the scope of the cta; `None` if it states no wider scope.
    pub(super) fn narrow(&self) -> Option<String> {
        const WIDER: [&str; 4] = ["cluster", "gpu", "gl", "sys"];
        let words: Vec<&str> = self.mnemonic.split('.').collect();
        let at = words.iter().position(|word| WIDER.contains(word))?;
        let told = words.iter().enumerate().map(|(own, word)| if own == at { "cta" } else { word });
        Some(self.line(&told.collect::<Vec<_>>().join("."), &self.operands))
    }

    /// Returns the first type as written, without its dot; `None` if there is none.
    pub(super) fn type_word(&self) -> Option<&'m str> {
        self.mnemonic.split('.').find(|word| Type::from_suffix(word).is_some())
    }

    /// Returns the operand at index `at` if it is a whole number.
    pub(super) fn literal(&self, at: usize) -> Option<i64> {
        self.operands.get(at)?.parse().ok()
    }
}

fn operand(module: &Module, operand: &ParsedOperand) -> Option<String> {
    let name = |span: Span| module.name(span);
    Some(match operand {
        ParsedOperand::Name(span) => name(*span).to_owned(),
        ParsedOperand::Not(span) => format!("!{}", name(*span)),
        ParsedOperand::Integer(value) => value.cast_signed().to_string(),
        ParsedOperand::Float(Float::Single(bits)) => format!("0f{bits:08X}"),
        ParsedOperand::Float(Float::Double(value)) => format!("0d{:016X}", value.to_bits()),
        ParsedOperand::Address { base: Some(base), offset: 0 } => format!("[{}]", name(*base)),
        ParsedOperand::Address { base: Some(base), offset } => {
            format!("[{}+{offset}]", name(*base))
        }
        ParsedOperand::Address { base: None, offset } => format!("[{offset}]"),
        ParsedOperand::Offset(base, offset) => format!("{}+{offset}", name(*base)),
        ParsedOperand::Part(base, part) => {
            format!("{}.{}", name(*base), ["x", "y", "z", "w"].get(usize::from(*part))?)
        }
        ParsedOperand::Sink => "_".to_owned(),
        ParsedOperand::Selected(_)
        | ParsedOperand::Vector(_)
        | ParsedOperand::List(_)
        | ParsedOperand::Pair(_)
        | ParsedOperand::Opaque(_) => return None,
    })
}
