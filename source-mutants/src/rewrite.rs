//! Combines a source file and its mutants into one text. Each changed expression becomes `(if crate::mutant::is_on(7) {
//! CHANGED } else { ORIGINAL })`; the rest of the text stays the same.

use std::ops::Range;

use crate::site::Mutant;

/// The module that is added to the rewritten crate; `is_on` tells whether a mutant is active.
pub(crate) const SWITCH: &str = r#"//! Which mutant is on.

static ON: std::sync::OnceLock<usize> = std::sync::OnceLock::new();

#[inline]
pub(crate) fn is_on(number: usize) -> bool {
    let read = || std::env::var("WEFT_MUTANT").ok().and_then(|own| own.parse().ok());
    *ON.get_or_init(|| read().unwrap_or(usize::MAX)) == number
}
"#;

/// The rewritten text, with the mutants that its parts belong to.
#[derive(Debug, Default)]
pub(crate) struct Rewritten {
    pub(crate) text: String,
    /// Byte ranges of the text and their mutants: changed expressions, and the whole expressions that contain them.
    parts: Vec<(Range<usize>, Vec<usize>)>,
}

impl Rewritten {
    /// Returns the mutants that a compiler error at `span` belongs to: those of the smallest expression around the
    /// span, or, if there is none, all within it.
    pub(crate) fn mutants_at(&self, span: &Range<usize>) -> Vec<usize> {
        let around = |part: &Range<usize>| part.start <= span.start && span.end <= part.end;
        let smallest =
            self.parts.iter().filter(|(part, _)| around(part)).min_by_key(|(part, _)| part.len());
        if let Some((_, mutants)) = smallest {
            return mutants.clone();
        }
        let within = |part: &Range<usize>| span.start <= part.start && part.end <= span.end;
        let parts = self.parts.iter().filter(|(part, _)| within(part));
        parts.flat_map(|(_, mutants)| mutants.clone()).collect()
    }
}

/// Writes the mutants of one file into its text. The mutants are numbered, and in the order in which they were found.
pub(crate) fn rewrite(source: &str, mutants: &[(usize, &Mutant)]) -> Rewritten {
    let mut writer = Writer { source, left: mutants, out: Rewritten::default() };
    writer.copy(0..source.len());
    writer.out
}

struct Writer<'a> {
    source: &'a str,
    left: &'a [(usize, &'a Mutant)],
    out: Rewritten,
}

impl<'a> Writer<'a> {
    /// Copies a part of the source, with the mutants in it.
    fn copy(&mut self, part: Range<usize>) {
        let mut done = part.start;
        while let Some((_, first)) = self.left.first().filter(|(_, own)| own.site.start < part.end)
        {
            let count = self.left.iter().take_while(|(_, own)| own.site == first.site).count();
            let (here, left) = self.left.split_at(count);
            self.left = left;
            self.out.text += &self.source[done..first.site.start];
            self.choice(&first.site, here);
            done = first.site.end;
        }
        self.out.text += &self.source[done..part.end];
    }

    fn write(&mut self, parts: &[&str]) {
        self.out.text.extend(parts.iter().copied());
    }

    /// Writes a choice between all mutants of one expression and the expression itself. Mutants within the expression
    /// are written into the original only, because at most one mutant is active.
    fn choice(&mut self, site: &Range<usize>, here: &'a [(usize, &'a Mutant)]) {
        let start = self.out.text.len();
        let end = if here.iter().any(|(_, own)| own.is_statement) { "; }" } else { " }" };
        self.out.text += "(";
        for (number, mutant) in here {
            self.write(&["if crate::mutant::is_on(", &number.to_string(), ") { "]);
            let start = self.out.text.len();
            self.out.text += &mutant.text;
            self.out.parts.push((start..self.out.text.len(), vec![*number]));
            self.write(&[end, " else "]);
        }
        self.out.text += "{ ";
        self.copy(site.clone());
        self.write(&[end, ")"]);
        let numbers = here.iter().map(|(number, _)| *number).collect();
        self.out.parts.push((start..self.out.text.len(), numbers));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::find;

    const SOURCE: &str = r"
const LIMIT: usize = 1 + 2;

const fn twice(x: u32) -> u32 { x + x }

/// A comment of 1 + 1.
fn clamp(xs: &mut Vec<u32>, low: u32) -> bool {
    let [_, ..] = [0; 4] else { return false };
    if let Some(x) = xs.first() && *x < low {
        xs.push(low.min(7));
    }
    match xs.len() {
        1 if !xs.is_empty() => assert!(1 == 1),
        _ => {}
    }
    xs.iter().any(|x| x & 1 == 0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn one() { assert_eq!(1 + 1, 2); }
}
";

    fn changes() -> Vec<String> {
        let mutants = find("a.rs", SOURCE).expect("the snippet parses");
        mutants.iter().map(|own| format!("{}:{} {}", own.line, own.column, own.change)).collect()
    }

    #[test]
    fn sites_of_a_snippet() {
        let expected = [
            "8:20 `0` becomes `1`",
            "8:40 `false` becomes `true`",
            "9:36 `*x < low` becomes `true`",
            "9:36 `*x < low` becomes `false`",
            "9:39 `<` becomes `<=`",
            "9:39 `<` becomes `>=`",
            "10:9 `xs.push(low.min(7))` becomes nothing",
            "10:21 `min` becomes `max`",
            "10:25 `7` becomes `8`",
            "13:14 `!xs.is_empty()` becomes `true`",
            "13:14 `!xs.is_empty()` becomes `false`",
            "13:14 `!` becomes nothing",
            "16:5 `xs.iter().any(|x| x & 1 == 0)` becomes `!(xs.iter().any(|x| x & 1 == 0))`",
            "16:5 `xs.iter().any(|x| x & 1 == 0)` becomes `true`",
            "16:5 `xs.iter().any(|x| x & 1 == 0)` becomes `false`",
            "16:15 `any` becomes `all`",
            "16:23 `x & 1 == 0` becomes `true`",
            "16:23 `x & 1 == 0` becomes `false`",
            "16:29 `==` becomes `!=`",
            "16:25 `&` becomes `|`",
            "16:27 `1` becomes `0`",
            "16:32 `0` becomes `1`",
        ];
        assert_eq!(changes(), expected);
    }

    #[test]
    fn the_rewritten_text_parses_and_holds_every_mutant() {
        let mutants = find("a.rs", SOURCE).expect("the snippet parses");
        let numbered: Vec<_> = mutants.iter().enumerate().collect();
        let rewritten = rewrite(SOURCE, &numbered);
        syn::parse_file(&rewritten.text).expect("the rewritten text parses");
        for (number, mutant) in numbered {
            let switch = format!("is_on({number}) {{ {}", mutant.text);
            assert_eq!(rewritten.text.matches(&switch).count(), 1, "{switch}");
        }
    }

    #[test]
    fn one_mutant_of_a_line() {
        let source = "fn f(a: u8) -> u8 { a + 2 }";
        let mutants = find("a.rs", source).expect("the snippet parses");
        let sum = [(5, &mutants[0])];
        let text = rewrite(source, &sum).text;
        assert_eq!(
            text,
            "fn f(a: u8) -> u8 { (if crate::mutant::is_on(5) { a - 2 } else { a + 2 }) }"
        );
        assert_eq!(rewrite(source, &[]).text, source);
    }

    #[test]
    fn a_statement_gives_no_value() {
        let source = "fn f(a: &mut Vec<u8>) { a.pop(); }";
        let mutants = find("a.rs", source).expect("the snippet parses");
        let text = rewrite(source, &[(0, &mutants[0])]).text;
        assert!(text.contains("(if crate::mutant::is_on(0) { ; } else { a.pop(); });"), "{text}");
    }

    #[test]
    fn the_compiler_is_understood() {
        let source = "fn f(a: u8) -> u8 { a + 2 }";
        let mutants = find("a.rs", source).expect("the snippet parses");
        let numbered: Vec<_> = mutants.iter().enumerate().collect();
        let rewritten = rewrite(source, &numbered);
        let at = |part: &str| {
            let start = rewritten.text.find(part).expect("the text has it");
            rewritten.mutants_at(&(start..start + part.len()))
        };
        // A span in the changed sum, in the changed number within the unchanged sum, and around both.
        assert_eq!((at("a - 2"), at("3"), at("a + (")), (vec![0], vec![1], vec![0]));
        assert_eq!(rewritten.mutants_at(&(0..rewritten.text.len())), [0, 1, 1, 0]);
    }
}
