//! Prints the runs along one axis as a table.

use std::error::Error;
use std::fmt::Display;
use std::io::{Write as _, stdout};

use crate::process::Run;

pub(crate) struct Table {
    title: &'static str,
}

impl Table {
    /// Prints the head of a table whose first column is named after its axis.
    pub(crate) fn new(title: &'static str) -> Result<Self, Box<dyn Error>> {
        let (cost, found) = ("CPU s    ns/instr.  peak MiB", "generations  racing pairs");
        writeln!(stdout(), "\n{title:>22}  {cost}  warp instr.  thread commands  {found}")?;
        Ok(Self { title })
    }

    /// Prints the row of a kernel that has to be clean.
    pub(crate) fn clean(&mut self, at: impl Display, run: &Run) -> Result<(), Box<dyn Error>> {
        self.any(at, run, false)
    }

    /// Prints the row of a kernel that can race.
    pub(crate) fn any(
        &mut self,
        at: impl Display,
        run: &Run,
        races: bool,
    ) -> Result<(), Box<dyn Error>> {
        let expected = if races { "defect" } else { "clean" };
        if run.verdict != expected {
            let title = self.title;
            return Err(format!("{title}, {at}: {}, but it is {expected}", run.verdict).into());
        }
        let mut out = stdout();
        write!(out, "{:>22}  ", at.to_string())?;
        match run.usage {
            Some(usage) => {
                let (seconds, kib) = (usage.time.as_secs_f64(), usage.peak_kib);
                let each = usage.time.as_nanos() / u128::from(run.warp_instructions.max(1));
                write!(out, "{seconds:<7.3}  {each:>9}  {:>8}  ", kib.div_ceil(1024))?;
            }
            None => write!(out, "{:<7}  {:>9}  {:>8}  ", "?", "?", "?")?,
        }
        let Run { warp_instructions, thread_commands, generations, pairs, .. } = run;
        writeln!(
            out,
            "{warp_instructions:>11}  {thread_commands:>15}  {generations:>11}  {pairs:>12}"
        )?;
        Ok(())
    }
}
