//! Makes small changes to saved inputs. The results are nearly valid, so that they get far into the checker.

use crate::dice::Dice;

/// Words that have a meaning in one of the input languages.
const WORDS: &[&str] = &[
    ";",
    ",",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ":",
    "@%p1 ",
    "@!%p1 ",
    "%r1",
    "%rd1",
    "%p1",
    ".shared",
    ".global",
    ".local",
    ".param",
    ".const",
    ".reg",
    ".b8",
    ".u32",
    ".f64",
    ".pred",
    ".v4",
    ".b128",
    "bra L;",
    "ret;",
    "exit;",
    "trap;",
    "bar.sync 0;",
    "barrier.cta.arrive 1, 32;",
    "L:",
    "call f;",
    "%tid.x",
    "%clock",
    "_",
    "-",
    "+",
    "|",
    "!",
    "\"",
    "/*",
    "//",
    "\n",
    ".extern ",
    ".func ",
    ".entry ",
    ".align ",
    ".maxntid ",
    ".reqntid ",
    ".loc 1 1 1",
    ".file 1 \"a\"",
    ".branchtargets ",
    ".calltargets ",
    ".callprototype ",
    "WARP_SZ",
    "0f7FC00000",
    "1e308",
    "0x",
    "[]",
    "=",
    "'",
    "#",
    "[[kernel]]",
    "[default]",
    "block",
    "grid",
    "args",
    "allow",
    "code",
    "name",
    "launch",
    "label",
    "reason",
    "true",
    "\"buffer\"",
    "{ u8 = [1, 2] }",
    "\u{202e}",
    "\0",
    "\u{1b}[31m",
];

/// Numbers at the ends of number ranges.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "7",
    "31",
    "32",
    "33",
    "63",
    "64",
    "127",
    "128",
    "255",
    "256",
    "1024",
    "1025",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "1099511627776",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "99999999999999999999999999",
];

/// Maximum length of a result in bytes.
const MOST: usize = 1 << 16;

/// Returns a changed copy of one input of `corpus`, which must not be empty.
pub fn mutate(corpus: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
    let mut text = dice.pick(corpus).clone();
    for _ in 0..=dice.below(6) {
        change(&mut text, corpus, dice);
    }
    text.truncate(MOST);
    text
}

fn change(text: &mut Vec<u8>, corpus: &[Vec<u8>], dice: &mut Dice) {
    let at = dice.below(text.len() + 1);
    let length = 1 << dice.below(8);
    let end = (at + dice.below(length)).min(text.len());
    match dice.below(9) {
        0 => drop(text.drain(at..end)),
        1 => {
            let copy = text[at..end].to_vec();
            let to = dice.below(text.len() + 1);
            text.splice(to..to, copy);
        }
        2 => drop(text.splice(at..at, dice.pick(WORDS).bytes())),
        3 => drop(text.splice(at..end, dice.pick(WORDS).bytes())),
        4 => number(text, at, dice),
        5 => {
            if let Some(byte) = text.get_mut(at) {
                *byte ^= 1 << dice.below(8);
            }
        }
        6 => lines(text, dice),
        7 => {
            let other = dice.pick(corpus);
            let from = dice.below(other.len() + 1);
            let to = (from + dice.below(2048)).min(other.len());
            text.splice(at..end, other[from..to].iter().copied());
        }
        _ => word(text, at, dice),
    }
}

/// Replaces the next number from `at` on by one of [`NUMBERS`].
fn number(text: &mut Vec<u8>, at: usize, dice: &mut Dice) {
    let Some(start) = (at..text.len()).find(|at| text[*at].is_ascii_digit()) else { return };
    let end = (start..text.len()).find(|at| !text[*at].is_ascii_alphanumeric());
    text.splice(start..end.unwrap_or(text.len()), dice.pick(NUMBERS).bytes());
}

/// Exchanges two random lines.
fn lines(text: &mut Vec<u8>, dice: &mut Dice) {
    let mut all: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let (a, b) = (dice.below(all.len()), dice.below(all.len()));
    all.swap(a, b);
    *text = all.join(&b'\n');
}

/// Replaces the next word from `at` on by another word of the text.
fn word(text: &mut Vec<u8>, at: usize, dice: &mut Dice) {
    let from = dice.below(text.len() + 1);
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"%_$.".contains(byte);
    let span = |at: usize| {
        let start = (at..text.len()).find(|at| is_word(&text[*at]))?;
        let end = (start..text.len()).find(|at| !is_word(&text[*at])).unwrap_or(text.len());
        Some(start..end)
    };
    if let (Some(to), Some(from)) = (span(at), span(from)) {
        let copy = text[from].to_vec();
        text.splice(to, copy);
    }
}
