//! Kernels in Rust. Which functions are kernels is not looked at: a kernel's name and lines tell.
//!
//! The compiler passes a slice as two parameters and a type without size as none, so only parameters that are certain to
//! be one are understood: numbers, pointers, and references to numbers and arrays.

use super::definition::{Definition, DefinitionShape, Parameter};
use super::group::{Code, words};
use super::tokens::SourceToken;

/// Returns the functions of a file that have a body.
pub(super) fn definitions(code: &Code<'_>) -> Vec<Definition> {
    let macros = macro_calls(code);
    let functions = code.tokens.iter().enumerate().filter(|(_, token)| token.text == "fn");
    functions
        .filter_map(|(at, _)| {
            let found = definition(code, at)?;
            // What a macro makes of its tokens is not known.
            let is_in_macro = macros.iter().any(|(open, close)| (*open..*close).contains(&at));
            let parameters = if is_in_macro { None } else { found.parameters };
            Some(Definition { parameters, ..found })
        })
        .collect()
}

/// Returns the outermost groups of tokens that are passed to macros.
fn macro_calls(code: &Code<'_>) -> Vec<(usize, usize)> {
    let mut calls: Vec<(usize, usize)> = Vec::new();
    for (at, pair) in code.tokens.windows(2).enumerate() {
        let is_inside = calls.last().is_some_and(|(_, close)| at < *close);
        if is_inside || !pair[0].is_name() || !pair[1].is("!") {
            continue;
        }
        // `name! { ... }`, or `macro_rules! name { ... }`.
        let open = [at + 2, at + 3].into_iter().find(|open| code.close(*open).is_some());
        calls.extend(open.and_then(|open| Some((open, code.close(open)?))));
    }
    calls
}

fn definition(code: &Code<'_>, function: usize) -> Option<Definition> {
    let name = code.at(function + 1).filter(|token| token.is_name())?;
    let mut opening = function + 2;
    if code.at(opening)?.is("<") {
        opening = code.close(opening)? + 1;
    }
    if !code.at(opening)?.is("(") {
        return None;
    }
    let closing = code.close(opening)?;
    let body = code.body(closing + 1)?;
    code.close(body)?;
    let list = code.parts(opening + 1, closing);
    let with_text = |own| Some(Parameter { declaration: words(own), ..parameter(own)? });
    Some(Definition {
        name: name.text.to_owned(),
        first: code.at(function)?.line,
        last: code.at(body)?.line,
        parameters: list.and_then(|list| list.into_iter().map(with_text).collect()),
    })
}

/// Returns a parameter; `None` if its name is in doubt, or how many parameters of the PTX it becomes.
fn parameter(tokens: &[SourceToken<'_>]) -> Option<Parameter> {
    let tokens = match tokens {
        [first, rest @ ..] if first.text == "mut" => rest,
        all => all,
    };
    let [name, colon, ty @ ..] = tokens else { return None };
    let is_name = name.is_name() && name.text != "_" && name.text != "self";
    if !is_name || !colon.is(":") {
        return None;
    }
    Some(Parameter { name: name.text.to_owned(), shape: shape(ty)?, declaration: String::new() })
}

/// Returns the shape of a type that becomes one parameter; `None` for other types.
fn shape(ty: &[SourceToken<'_>]) -> Option<DefinitionShape> {
    let (first, rest) = ty.split_first()?;
    if rest.is_empty() {
        return DefinitionShape::of_word(first.text);
    }
    let pointee = if first.is("*") {
        rest.split_first().filter(|(word, _)| ["const", "mut"].contains(&word.text))?.1
    } else if first.is("&") {
        let rest = rest
            .split_first()
            .filter(|(own, _)| own.text.starts_with('\''))
            .map_or(rest, |own| own.1);
        rest.split_first().filter(|(own, _)| own.text == "mut").map_or(rest, |own| own.1)
    } else {
        return None;
    };
    is_sized(pointee).then_some(DefinitionShape::Pointer)
}

/// Whether a pointer to this type is one address: not to a slice, a `str` or a `dyn Trait`. Names of types that are not
/// built in might be other names of those.
fn is_sized(ty: &[SourceToken<'_>]) -> bool {
    match ty {
        [only] => DefinitionShape::of_word(only.text).is_some(),
        [open, .., close] if open.is("[") && close.is("]") => {
            ty.iter().any(|token| token.is(";")) && !ty.iter().any(|token| token.text == "dyn")
        }
        [star, word, rest @ ..] if star.is("*") && ["const", "mut"].contains(&word.text) => {
            is_sized(rest)
        }
        _ => false,
    }
}
