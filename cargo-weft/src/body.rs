//! The text of a kernel's body.

use weft_core::ptx::{Function, Span, Statement};

/// Returns the text from the first to the last instruction of a function; `None` if it has none.
pub(crate) fn span(function: &Function) -> Option<Span> {
    let statements = &function.body.as_ref()?.statements;
    let mut spans = statements.iter().filter_map(|statement| match statement {
        Statement::Instruction(instruction) => Some(instruction.span),
        _ => None,
    });
    let first = spans.next()?;
    Some(first.to(spans.next_back().unwrap_or(first)))
}
