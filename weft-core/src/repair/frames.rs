//! The order of source lines that are innermost in functions which call each other.

use std::cmp::Ordering;

use crate::finding::SourceLine;

/// How two instructions lie in the innermost function that both are in.
pub(super) struct LineOrder<'l> {
    pub(super) ordering: Ordering,
    /// The lines of both in that function.
    pub(super) lines: [&'l SourceLine; 2],
    /// The calls around that function; empty for the kernel.
    pub(super) calls: &'l [SourceLine],
}

/// Compares the lines of two instructions in the innermost function that both are in. `one` and `other`: the lines of each,
/// innermost first, then those of the calls around it. `None`: without lines, or in a function whose text is in several files.
pub(super) fn order<'l>(one: &'l [SourceLine], other: &'l [SourceLine]) -> Option<LineOrder<'l>> {
    let calls = || one.iter().rev().zip(other.iter().rev());
    let depth = calls().position(|(one, other)| one != other);
    let depth = depth.or(calls().count().checked_sub(1))?;
    let (one_line, other_line) = calls().nth(depth)?;
    (one_line.file == other_line.file).then(|| LineOrder {
        ordering: one_line.line.cmp(&other_line.line),
        lines: [one_line, other_line],
        calls: &one[one.len() - depth..],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(of: &[(&str, u32)]) -> Vec<SourceLine> {
        let line =
            |&(file, line): &(&str, u32)| SourceLine { file: file.to_owned(), line, column: 1 };
        of.iter().map(line).collect()
    }

    #[test]
    fn lines_are_compared_in_the_function_that_both_are_in() {
        let ordered = |one: &[(&str, u32)], other: &[(&str, u32)]| {
            let (one, other) = (lines(one), lines(other));
            order(&one, &other).map(|own| (own.ordering, own.lines[1].line, own.calls.is_empty()))
        };
        let call = [("k.cu", 2), ("k.cu", 9)];
        assert_eq!(ordered(&call, &[("k.cu", 10)]), Some((Ordering::Less, 10, true)));
        assert_eq!(
            ordered(&call, &[("k.cu", 1), ("k.cu", 9)]),
            Some((Ordering::Greater, 1, false))
        );
        assert_eq!(ordered(&call, &[("k.cu", 9)]), Some((Ordering::Equal, 9, true)));
        assert_eq!(ordered(&call, &[("part.h", 3)]), None);
        assert_eq!(ordered(&call, &[]), None);
    }
}
