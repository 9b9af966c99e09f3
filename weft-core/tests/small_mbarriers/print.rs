//! Prints kernels as PTX, in one of several forms.

use std::fmt::Write;

use crate::dice::Dice;
use crate::kernel::{
    Arrival, Command, Group, Kernel, MAX_AGENTS, MAX_COMMANDS, OBJECTS, Place, Target, Word,
    peek_of,
};

/// The text, and for each line (from 1) the command that it prints.
#[derive(Clone, Debug, Default)]
pub(crate) struct Printed {
    pub(crate) text: String,
    pub(crate) places: Vec<Option<Place>>,
}

const HEAD: &str = "\
.version 8.6
.target sm_90
.address_size 64

.visible .entry small(.param .u64 input)
{
    .reg .u64 %state<2>, %input, %generic;
    .reg .u32 %thread, %own, %bars, %value, %parity;
    .reg .pred %p, %done, %tested, %skips;
    .reg .u32 %peeked<40>;
    .shared .align 8 .b8 bars[16];
    .shared .align 4 .b8 words[8];
    mov.u32 %thread, %tid.x;
    and.b32 %own, %thread, 1;
    shl.b32 %own, %own, 2;
    mov.u32 %value, words;
    add.u32 %own, %own, %value;
    mov.u32 %bars, bars;
    cvt.u64.u32 %generic, %bars;
    cvta.shared.u64 %generic, %generic;
    ld.param.u64 %input, [input];
    mad.wide.u32 %input, %thread, 4, %input;
    setp.ne.u32 %p, %thread, 0;
    @%p bra READY;
";

/// Prints a kernel. The dice decide between equivalent forms.
pub(crate) fn print(kernel: &Kernel, dice: &mut Dice) -> Printed {
    let mut printer = Printer { printed: Printed::default(), dice, labels: 0 };
    printer.printed.places.push(None);
    for line in HEAD.lines() {
        printer.line(None, line);
    }
    for (object, count) in kernel.counts.iter().enumerate() {
        printer.instr(None, &format!("mbarrier.init.shared.b64 [bars+{}], {count};", 8 * object));
    }
    printer.instr(None, "st.shared.u32 [words], 0;");
    printer.instr(None, "st.shared.u32 [words+4], 0;");
    printer.line(None, "READY:");
    printer.instr(None, "bar.sync 0;");
    if printer.dice.chance(50) {
        printer.one_after_the_other(kernel);
    } else {
        printer.apart(kernel);
    }
    printer.line(None, "END:");
    printer.instr(None, "ret;");
    printer.line(None, "}");
    printer.printed
}

struct Printer<'d> {
    printed: Printed,
    dice: &'d mut Dice,
    labels: usize,
}

impl Printer<'_> {
    fn line(&mut self, place: Option<Place>, line: &str) {
        writeln!(self.printed.text, "{line}").expect("strings take all");
        self.printed.places.push(place);
    }

    fn instr(&mut self, place: Option<Place>, text: &str) {
        self.line(place, &format!("    {text}"));
    }

    fn label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }

    /// Sets the predicate to whether the thread belongs to the group.
    fn belongs(&mut self, group: &Group) {
        if group.lanes == 1 {
            self.instr(None, &format!("setp.eq.u32 %p, %thread, {};", group.first));
        } else {
            self.instr(None, &format!("sub.u32 %value, %thread, {};", group.first));
            self.instr(None, &format!("setp.lt.u32 %p, %value, {};", group.lanes));
        }
    }

    /// Prints `if (group 0) { .. } if (group 1) { .. }`.
    fn one_after_the_other(&mut self, kernel: &Kernel) {
        for (number, group) in kernel.groups.iter().enumerate() {
            self.belongs(group);
            self.instr(None, &format!("@!%p bra PAST{number};"));
            self.commands(number, group);
            self.line(None, &format!("PAST{number}:"));
        }
    }

    /// Prints `if (group 0) { .. } else if (group 1) { .. }`.
    fn apart(&mut self, kernel: &Kernel) {
        for (number, group) in kernel.groups.iter().enumerate() {
            self.belongs(group);
            self.instr(None, &format!("@%p bra GROUP{number};"));
        }
        self.instr(None, "bra END;");
        for (number, group) in kernel.groups.iter().enumerate() {
            self.line(None, &format!("GROUP{number}:"));
            self.commands(number, group);
            self.instr(None, "bra END;");
        }
    }

    fn commands(&mut self, number: usize, group: &Group) {
        for (at, command) in group.commands.iter().enumerate() {
            self.command((number, at), group, *command);
        }
    }

    fn command(&mut self, place: Place, group: &Group, command: Command) {
        let at = Some(place);
        match command {
            Command::Arrive(arrival) => {
                let is_needed = needs_state(&group.commands[place.1 + 1..], arrival.object);
                let text = self.arrival(arrival, is_needed);
                self.instr(at, &text);
            }
            Command::Expect { object, bytes } => {
                let (bar, space) = (self.bar(object), self.space());
                self.instr(
                    at,
                    &format!("mbarrier.expect_tx.relaxed.cta{space}.b64 {bar}, {bytes};"),
                );
            }
            Command::Complete { object, bytes } => {
                let (bar, space) = (self.bar(object), self.space());
                self.instr(
                    at,
                    &format!("mbarrier.complete_tx.relaxed.cta{space}.b64 {bar}, {bytes};"),
                );
            }
            Command::Wait { object, target, acquires } => {
                let peek = peek_of(&group.commands, place.1);
                let past = peek.map(|peek| self.skip(at, (place.0, peek)));
                self.wait(at, object, target, acquires);
                if let Some(past) = past {
                    self.line(at, &format!("PAST_WAIT{past}:"));
                }
            }
            Command::Peek { object, target, acquires } => {
                self.test(at, "%tested", (object, target, acquires));
                self.instr(at, &format!("selp.u32 %peeked{}, 1, 0, %tested;", number(place)));
            }
            Command::Read(word) => {
                self.instr(at, &format!("ld.shared.u32 %value, {};", address(word)));
            }
            Command::Write(word) => {
                // No two commands store the same value, so that no race is benign.
                let own = 100 * (place.0 + 1) + 2 * place.1;
                self.instr(at, &format!("add.u32 %value, %thread, {};", 1000 * own));
                self.instr(at, &format!("st.shared.u32 {}, %value;", address(word)));
            }
            Command::Copy(_) | Command::Follow { .. } | Command::WaitCopies => {
                self.copy(place, command);
            }
            Command::WarpSync => {
                let mask = ((1_u32 << group.lanes) - 1) << (group.first % 32);
                self.instr(at, &format!("bar.warp.sync {mask:#x};"));
            }
        }
    }

    /// Prints a command about asynchronous copies.
    fn copy(&mut self, place: Place, command: Command) {
        let at = Some(place);
        match command {
            Command::Copy(word) => {
                let (to, from) = (address(word), 256 * number(place));
                self.instr(at, &format!("cp.async.ca.shared.global {to}, [%input+{from}], 4;"));
            }
            Command::Follow { object, is_expected } => {
                let form = if is_expected { ".noinc" } else { "" };
                let (space, bar) = match self.dice.roll(3) {
                    0 => ("", format!("[%generic+{}]", 8 * object)),
                    _ => (self.space(), self.bar(object)),
                };
                self.instr(at, &format!("cp.async.mbarrier.arrive{form}{space}.b64 {bar};"));
            }
            _ if self.dice.chance(50) => self.instr(at, "cp.async.wait_all;"),
            _ => {
                self.instr(at, "cp.async.commit_group;");
                self.instr(at, "cp.async.wait_group 0;");
            }
        }
    }

    /// Returns the address operand of an mbarrier.
    fn bar(&mut self, object: usize) -> String {
        let base = self.dice.pick(&["bars", "%bars"]);
        format!("[{base}+{}]", 8 * object)
    }

    /// Returns one of the two names of the cta's own shared memory.
    fn space(&mut self) -> &'static str {
        self.dice.pick(&[".shared::cta", ".shared"])
    }

    fn arrival(&mut self, arrival: Arrival, needs_state: bool) -> String {
        let Arrival { object, count, expects, drops, releases } = arrival;
        let name = if drops { "arrive_drop" } else { "arrive" };
        let form = if expects.is_some() { ".expect_tx" } else { "" };
        let order = match (releases, self.dice.roll(2)) {
            (false, _) => ".relaxed.cta",
            (_, 0) => ".release.cta",
            _ => "",
        };
        let state = if needs_state || self.dice.chance(50) {
            format!("%state{object}")
        } else {
            "_".to_owned()
        };
        let bar = self.bar(object);
        let operand = match (expects, count) {
            (Some(bytes), _) => format!(", {bytes}"),
            (None, 1) => String::new(),
            (None, count) => format!(", {count}"),
        };
        let space = self.space();
        format!("mbarrier.{name}{form}{order}{space}.b64 {state}, {bar}{operand};")
    }

    /// Prints a loop that ends when the wait succeeds.
    fn wait(&mut self, place: Option<Place>, object: usize, target: Target, acquires: bool) {
        let label = self.label();
        self.line(place, &format!("WAIT{label}:"));
        self.test(place, "%done", (object, target, acquires));
        if self.dice.chance(50) {
            self.instr(place, &format!("@!%done bra WAIT{label};"));
        } else {
            self.instr(place, &format!("@%done bra DONE{label};"));
            self.instr(place, &format!("bra WAIT{label};"));
            self.line(place, &format!("DONE{label}:"));
        }
    }

    /// Prints a branch past a wait if a peek has succeeded. Returns the number of its label.
    fn skip(&mut self, place: Option<Place>, peek: Place) -> usize {
        let past = self.label();
        let number = number(peek);
        if self.dice.chance(50) {
            self.instr(place, &format!("setp.ne.u32 %skips, %peeked{number}, 0;"));
            self.instr(place, &format!("@%skips bra PAST_WAIT{past};"));
        } else {
            self.instr(place, &format!("setp.eq.u32 %skips, %peeked{number}, 0;"));
            self.instr(place, &format!("@!%skips bra PAST_WAIT{past};"));
        }
        past
    }

    /// Prints a test for a phase.
    fn test(
        &mut self,
        place: Option<Place>,
        result: &str,
        (object, target, acquires): (usize, Target, bool),
    ) {
        let name = self.dice.pick(&["try_wait", "try_wait", "test_wait"]);
        let order = match (acquires, self.dice.roll(2)) {
            (false, _) => ".relaxed.cta",
            (_, 0) => ".acquire.cta",
            _ => "",
        };
        let bar = self.bar(object);
        let (form, operand) = match target {
            Target::Token => ("", format!("%state{object}")),
            Target::Parity(parity) if self.dice.chance(50) => {
                self.instr(place, &format!("mov.u32 %parity, {parity};"));
                (".parity", "%parity".to_owned())
            }
            Target::Parity(parity) => (".parity", parity.to_string()),
        };
        let hint = if name == "try_wait" && self.dice.chance(25) { ", 1000" } else { "" };
        let space = self.space();
        self.instr(
            place,
            &format!("mbarrier.{name}{form}{order}{space}.b64 {result}, {bar}, {operand}{hint};"),
        );
    }
}

/// Whether a wait or peek for the token of an arrival follows before the next arrival at the mbarrier.
fn needs_state(rest: &[Command], object: usize) -> bool {
    let is_next = |command: &&Command| match command {
        Command::Arrive(arrival) => arrival.object == object,
        Command::Wait { object: own, target: Target::Token, .. }
        | Command::Peek { object: own, target: Target::Token, .. } => *own == object,
        _ => false,
    };
    matches!(rest.iter().find(is_next), Some(Command::Wait { .. } | Command::Peek { .. }))
}

/// A number that no other command has.
const fn number((group, at): Place) -> usize {
    group * MAX_COMMANDS + at
}

fn address(word: Word) -> String {
    match word {
        Word::Is(index) => format!("[words+{}]", 4 * index),
        Word::OfLane => "[%own]".to_owned(),
    }
}

const _: () = assert!(MAX_AGENTS * MAX_COMMANDS == 40, "the text has as many registers");
const _: () = assert!(OBJECTS == 2, "the text has two mbarriers");
