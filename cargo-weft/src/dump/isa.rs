//! `cargo weft dump isa`: prints the table of supported instructions, chapter by chapter, for a terminal or as
//! Markdown.

use std::fmt::Write;

use weft_core::emulate::{Support, Supported, support_table};

use crate::arguments::DumpIsa;
use crate::exit::{Exit, Failure};
use crate::print::{Printer, wrap};

/// Maximum columns of a line, unless a form cannot be broken.
const WIDTH: usize = 110;

/// The chapters of the PTX manual.
const CHAPTERS: [(&str, &str); 19] = [
    ("9.7.1", "Integer arithmetic"),
    ("9.7.2", "Extended-precision integer arithmetic"),
    ("9.7.3", "Floating point"),
    ("9.7.4", "Half precision floating point"),
    ("9.7.5", "Mixed precision floating point"),
    ("9.7.6", "Comparison and selection"),
    ("9.7.7", "Half precision comparison"),
    ("9.7.8", "Logic and shift"),
    ("9.7.9", "Data movement and conversion"),
    ("9.7.10", "Texture"),
    ("9.7.11", "Surface"),
    ("9.7.12", "Control flow"),
    ("9.7.13", "Parallel synchronization and communication"),
    ("9.7.14", "Warp level matrix multiply-accumulate"),
    ("9.7.15", "Asynchronous warpgroup level matrix multiply-accumulate"),
    ("9.7.16", "Tensor core, fifth generation"),
    ("9.7.17", "Stack manipulation"),
    ("9.7.18", "Video"),
    ("9.7.19", "Miscellaneous"),
];

const NOTATION: &str = "Forms are written as in the manual: {.a|.b} is one of these or nothing, (.a|.b) one of these. An \
     instruction that is written without choices stands for all that start with its words. `cp.async`, `ldmatrix` \
     and `stmatrix` of forms that are not listed are not modelled.";

const UNSPECIFIED: &str = "Where the manual leaves a result open, it is open here too: the bits of a NaN, unless they are \
     said to be canonical; quotients by zero; a sum or product without a rounding modifier, which the assembler may \
     contract.";

/// Prints the table.
pub(crate) fn run(arguments: DumpIsa, printer: &mut Printer) -> Result<Exit, Failure> {
    let table = support_table();
    printer.text(&if arguments.markdown { markdown(&table) } else { terminal(&table) })?;
    Ok(Exit::Clean)
}

fn terminal(table: &[Supported]) -> String {
    let mut text = String::new();
    for support in Support::ALL {
        let _ = writeln!(text, "{:<13}{}", support.word(), support.meaning());
    }
    for paragraph in [UNSPECIFIED, NOTATION] {
        let _ = write!(text, "\n{}\n", wrap(paragraph, WIDTH).join("\n"));
    }
    for (section, title) in CHAPTERS {
        let _ = write!(text, "\n{section} {title}\n\n{}", lines(table, section));
    }
    text
}

fn markdown(table: &[Supported]) -> String {
    let mut text = String::from(
        "# Instructions\n\nWhat cargo-weft does with each instruction of PTX. Sections are those of the PTX ISA manual, \
         version 9.1.\n`cargo weft dump isa` prints this page for a terminal; `cargo weft dump isa --markdown` makes \
         it.\n\n| Word | Meaning |\n|---|---|\n",
    );
    for support in Support::ALL {
        let _ = writeln!(text, "| {} | {} |", support.word(), support.meaning());
    }
    let _ = write!(text, "\n{}\n", wrap(UNSPECIFIED, WIDTH).join("\n"));
    let notation = NOTATION.replace("{.a|.b}", "`{.a|.b}`").replace("(.a|.b)", "`(.a|.b)`");
    let _ = write!(text, "\n{}\n", wrap(&notation, WIDTH).join("\n"));
    for (section, title) in CHAPTERS {
        let lines = lines(table, section);
        let _ = write!(text, "\n## {section} {title}\n\n```text\n{lines}```\n");
    }
    text
}

/// Returns the instructions of a chapter, one a line: section, support, form.
fn lines(table: &[Supported], chapter: &str) -> String {
    let is_in = |line: &&Supported| {
        line.section
            .strip_prefix(chapter)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let mut text = String::new();
    for line in table.iter().filter(is_in) {
        let head = format!("{:<15} {:<13}", line.section, line.support.word());
        let room = WIDTH - head.len();
        let parts = broken(line.pattern, room);
        for (at, part) in parts.iter().enumerate() {
            let start = if at == 0 { head.as_str() } else { "" };
            let indent = if at == 0 { 0 } else { head.len() + 4 };
            let _ = writeln!(text, "{:indent$}{start}{part}", "");
        }
    }
    text
}

/// Breaks a form before its choices into lines of at most `width` columns, as far as possible.
fn broken(pattern: &str, width: usize) -> Vec<&str> {
    let (mut lines, mut start) = (Vec::new(), 0);
    let breaks: Vec<usize> = pattern.match_indices(['{', '(']).map(|(at, _)| at).collect();
    for (at, here) in breaks.iter().enumerate() {
        let next = breaks.get(at + 1).copied().unwrap_or(pattern.len());
        if next - start > width && *here > start {
            lines.push(&pattern[start..*here]);
            start = *here;
        }
    }
    lines.push(&pattern[start..]);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_break_before_their_choices() {
        assert_eq!(broken("set(.a|.b){.c}.d(.e)", 12), ["set(.a|.b)", "{.c}.d(.e)"]);
        assert_eq!(broken("abcdefgh", 3), ["abcdefgh"]);
    }

    #[test]
    fn every_instruction_is_in_a_chapter() {
        let table = support_table();
        let count: usize = CHAPTERS
            .iter()
            .map(|(section, _)| {
                lines(&table, section).lines().filter(|line| line.starts_with('9')).count()
            })
            .sum();
        assert_eq!(count, table.len());
    }
}
