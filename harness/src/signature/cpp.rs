//! Kernels in CUDA C++: functions with `__global__` and a body.
//!
//! There is no preprocessor: what its lines contain is not seen, and what macros of the author might stand for leaves the
//! names in doubt.

use super::definition::{Definition, DefinitionShape, Parameter};
use super::group::{Code, words};
use super::tokens::{Kind, SourceToken};

/// Words that take parentheses and are not the function's name.
const ATTRIBUTES: [&str; 8] = [
    "__launch_bounds__",
    "__attribute__",
    "__declspec",
    "__maxnreg__",
    "__cluster_dims__",
    "__block_size__",
    "alignas",
    "decltype",
];
/// Words of a parameter that are neither its type nor its name.
const QUALIFIERS: [&str; 9] = [
    "const",
    "volatile",
    "register",
    "struct",
    "class",
    "union",
    "enum",
    "typename",
    "__grid_constant__",
];
/// Words of the fundamental types.
const FUNDAMENTAL: [&str; 10] =
    ["void", "bool", "char", "short", "int", "long", "signed", "unsigned", "float", "double"];

/// Returns the kernels of a file; `None` if there might be others: a `__global__` is not followed by a declaration or a
/// definition that is understood.
pub(super) fn definitions(code: &Code<'_>) -> Option<Vec<Definition>> {
    let kernels = code.tokens.iter().enumerate().filter(|(_, token)| token.text == "__global__");
    let mut found = Vec::new();
    for (at, _) in kernels {
        match declared(code, at)? {
            GlobalFunction::Only => {}
            GlobalFunction::Defined(definition) => found.push(definition),
        }
    }
    Some(found)
}

/// What follows a `__global__`.
enum GlobalFunction {
    /// A declaration without a body.
    Only,
    /// A definition.
    Defined(Definition),
}

/// Returns what follows the `__global__` at this position; `None` if it is not understood.
fn declared(code: &Code<'_>, global: usize) -> Option<GlobalFunction> {
    let (name, opening, is_specialized) = declarator(code, global + 1)?;
    let closing = code.close(opening)?;
    let behind = code.at(closing + 1)?;
    if behind.is(";") {
        return Some(GlobalFunction::Only);
    }
    let header = code.tokens.get(global..closing)?;
    if !behind.is("{") || header.iter().any(|token| token.kind == Kind::Directive) {
        return None;
    }
    code.close(closing + 1)?;
    Some(GlobalFunction::Defined(Definition {
        name: code.at(name)?.text.to_owned(),
        first: code.at(global)?.line,
        last: behind.line,
        parameters: if is_specialized { None } else { parameters(code, opening, closing) },
    }))
}

/// Returns the position of a function's name, that of the parenthesis before its parameters, and whether template
/// arguments are between them. `at`: the first token behind `__global__`.
fn declarator(code: &Code<'_>, mut at: usize) -> Option<(usize, usize, bool)> {
    loop {
        let (token, next) = (code.at(at)?, code.at(at + 1)?);
        let is_end = [";", "{", "}", "(", ")", "]", ","].into_iter().any(|sign| token.is(sign));
        if is_end || token.kind == Kind::Directive || token.text == "__global__" {
            return None;
        }
        at = if token.is("[") {
            code.close(at)? + 1
        } else if token.is_name() && next.is("(") {
            if !ATTRIBUTES.contains(&token.text) {
                return Some((at, at + 1, false));
            }
            code.close(at + 1)? + 1
        } else if token.is_name() && next.is("<") {
            let behind = code.close(at + 1)? + 1;
            if code.at(behind)?.is("(") {
                return Some((at, behind, true));
            }
            behind
        } else {
            at + 1
        };
    }
}

/// Returns the parameters between two parentheses; `None` in doubt.
fn parameters(code: &Code<'_>, opening: usize, closing: usize) -> Option<Vec<Parameter>> {
    if closing == opening + 2 && code.at(opening + 1)?.text == "void" {
        return Some(Vec::new());
    }
    let parts = code.parts(opening + 1, closing)?;
    let with_text = |own| Some(Parameter { declaration: words(own), ..parameter(own)? });
    parts.into_iter().map(with_text).collect()
}

/// Returns a parameter; `None` if its name is in doubt.
fn parameter(tokens: &[SourceToken<'_>]) -> Option<Parameter> {
    let end = tokens.iter().position(|token| token.is("=")).unwrap_or(tokens.len());
    let mut declared = &tokens[..end];
    // A macro in the default value could go on with further parameters.
    let is_value = |token: &SourceToken<'_>| {
        !token.is_name() || ["true", "false", "nullptr"].contains(&token.text)
    };
    if !tokens[end..].iter().all(is_value) {
        return None;
    }
    let mut is_array = false;
    while declared.last().is_some_and(|last| last.is("]")) {
        let opening = declared.iter().rposition(|token| token.is("["))?;
        declared = &declared[..opening];
        is_array = true;
    }
    // Parentheses are those of functions, of arrays by reference and of macros; dots are those of parameter packs.
    let is_odd = |token: &SourceToken<'_>| {
        matches!(token.kind, Kind::Directive | Kind::Literal)
            || ["(", "[", "{", "."].into_iter().any(|sign| token.is(sign))
    };
    if declared.iter().any(is_odd) {
        return None;
    }
    let words: Vec<&SourceToken<'_>> =
        declared.iter().filter(|token| !is_qualifier(token.text)).collect();
    let (name, ty) = words.split_last()?;
    let is_own = |token: &SourceToken<'_>| token.is_name() && !FUNDAMENTAL.contains(&token.text);
    if !is_own(name) || !is_type(ty) {
        return None;
    }
    let is_pointer = is_array || ty.iter().any(|token| token.is("*") || token.is("&"));
    let shape = if is_pointer { DefinitionShape::Pointer } else { shape(ty) };
    Some(Parameter { name: name.text.to_owned(), shape, declaration: String::new() })
}

fn is_qualifier(word: &str) -> bool {
    // `__restrict__`, `__restrict`, `restrict`, and the macros that projects have for them.
    QUALIFIERS.contains(&word) || word.to_lowercase().trim_matches('_').ends_with("restrict")
}

/// Whether tokens are a type without doubt: of two words beside each other, one might be a macro, so that only words of
/// fundamental types stand beside others.
fn is_type(tokens: &[&SourceToken<'_>]) -> bool {
    let Some(last) = tokens.last() else { return false };
    let is_word = |token: &SourceToken<'_>| token.kind == Kind::Word;
    let is_own = |token: &SourceToken<'_>| is_word(token) && !FUNDAMENTAL.contains(&token.text);
    let is_star = |token: &SourceToken<'_>| token.is("*") || token.is("&") || token.is(">");
    let is_end = is_word(last) || is_star(last);
    // In `T *x MACRO` and `T x MACRO`, the word before the last one would be the name.
    let is_before =
        |pair: &[&SourceToken<'_>]| (is_word(pair[0]) || is_star(pair[0])) && is_own(pair[1]);
    is_end && !tokens.windows(2).any(is_before)
}

/// Returns what is known of a type without `*` and `&`.
fn shape(tokens: &[&SourceToken<'_>]) -> DefinitionShape {
    let has = |word: &str| tokens.iter().any(|token| token.text == word);
    let longs = tokens.iter().filter(|token| token.text == "long").count();
    if let [only] = tokens
        && let Some(known) = DefinitionShape::of_word(only.text)
    {
        return known;
    }
    if !tokens.iter().all(|token| FUNDAMENTAL.contains(&token.text)) {
        return DefinitionShape::Other;
    }
    match longs {
        _ if has("double") || has("float") => DefinitionShape::Other,
        2 => DefinitionShape::Integer(&[8]),
        1 => DefinitionShape::Integer(&[4, 8]),
        _ if has("char") => DefinitionShape::Integer(&[1]),
        _ if has("short") => DefinitionShape::Integer(&[2]),
        _ => DefinitionShape::Integer(&[4]),
    }
}
