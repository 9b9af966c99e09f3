//! Runs what pages show in consoles, and compares what is printed.
//!
//! Comments in front of a block say how: `in: PLACE` (see `enter`; without it, the block runs where the one before it did),
//! `exit status N` of the last command, `run at the end` of the page, and `not run: REASON`. `...` in an expected output stands
//! for any text, in a line of its own for any lines.

use regex::Regex;

use crate::page::{self, Fenced, Page};
use crate::scratch::Scratch;

/// A command and the lines that it prints, as a page has them.
type Shown<'b> = (&'b str, String);

/// Returns the commands of a block with the output that follows each.
fn commands(block: &Fenced) -> Vec<Shown<'_>> {
    let mut all: Vec<Shown<'_>> = Vec::new();
    for line in block.text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            all.push((command, String::new()));
        } else {
            let (_, output) = all.last_mut().expect("a console begins with a command");
            output.push_str(line);
            output.push('\n');
        }
    }
    all
}

/// Whether a text is one that a page describes.
fn fits(expected: &str, actual: &str) -> bool {
    let lines: Vec<String> = expected.trim_end().split('\n').map(pattern).collect();
    let pattern = format!("^(?s:{})$", lines.concat());
    Regex::new(&pattern).expect("the pattern is one").is_match(&format!("{}\n", actual.trim_end()))
}

/// Returns the pattern of a line and its end.
fn pattern(line: &str) -> String {
    let line = line.trim_end();
    if line == "..." {
        return "(?:[^\n]*\n)*?".to_owned();
    }
    let parts: Vec<_> = line.split("...").map(regex::escape).collect();
    format!("{}[ \t]*\n", parts.join("[^\n]*?"))
}

/// Returns the place that a comment names.
fn enter(place: &str) -> Scratch {
    match place {
        "the repository" => Scratch::repository(),
        "an empty folder" => Scratch::empty(),
        "a new crate" => Scratch::new_crate(),
        "the crate of the README" => {
            let scratch = Scratch::new_crate();
            page::read("README.md").blocks.iter().for_each(|block| scratch.write(block));
            scratch
        }
        folder => Scratch::copy(folder),
    }
}

/// Runs the commands of a block. Returns what is wrong.
fn run(page: &Page, block: &Fenced, scratch: &mut Scratch) -> Vec<String> {
    let (mut wrong, all) = (Vec::new(), commands(block));
    let last = all.len() - 1;
    let status = block.directive("exit status ").map_or(0, |code| code.parse().expect("a number"));
    for (at, (command, expected)) in all.into_iter().enumerate() {
        if let Some(folder) = command.strip_prefix("cd ") {
            scratch.enter(folder);
            continue;
        }
        let output = scratch.run(command);
        let (out, err) = (Scratch::as_read(&output.stdout), Scratch::as_read(&output.stderr));
        let place = format!("{}:{}: `{command}`", page.path, block.line);
        let code = if at == last { status } else { 0 };
        if output.status.code() != Some(code) {
            wrong.push(format!("{place}: {}, not {code}\n{out}\n{err}", output.status));
        } else if !expected.is_empty() && !fits(&expected, &out) {
            wrong.push(format!("{place} prints\n{out}\nnot\n{expected}"));
        }
    }
    wrong
}

/// Runs the consoles of a page. Returns what is wrong.
fn consoles(page: &Page) -> Vec<String> {
    let (mut wrong, mut later) = (Vec::new(), Vec::new());
    let mut scratch = (page.path == "README.md").then(|| enter("a new crate"));
    for block in &page.blocks {
        if let Some(place) = block.directive("in: ") {
            scratch = Some(enter(place));
        }
        let is_run = block.language == "console" && block.directive("not run: ").is_none();
        match &mut scratch {
            Some(scratch) => {
                scratch.write(block);
                match block.directive("run at the end") {
                    Some(_) => later.push(block),
                    None if is_run => wrong.extend(run(page, block, scratch)),
                    None => {}
                }
            }
            None if is_run => wrong.push(format!(
                "{}:{}: a comment in front of this block has to say where it runs, `in: PLACE`, or why it does not, \
                 `not run: REASON`",
                page.path, block.line
            )),
            None => {}
        }
    }
    if let Some(mut scratch) = scratch {
        wrong.extend(later.into_iter().flat_map(|block| run(page, block, &mut scratch)));
    }
    wrong
}

#[test]
fn consoles_show_what_commands_print() {
    let wrong: Vec<_> = page::pages().iter().flat_map(consoles).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn dots_stand_for_any_text() {
    assert!(fits("a\n...\nz 1.../x\n", "a\nb\nc\nz 12/x\n"));
    assert!(fits("a\n...\n", "a\n"));
    assert!(fits("...\nz", "z"));
    assert!(!fits("a\nz", "a\nb\nz"));
    assert!(!fits("a...z", "a\nz"));
    assert!(!fits("a", "ab"));
}
