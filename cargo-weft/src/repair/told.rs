//! Prints repairs: a line for each kernel, then the changes in full.

use std::io;

use weft_core::finding::Advice;
use weft_core::repair::{Action, BarrierKind, Change, Mend, Obstacle, RepairOutcome};
use weft_core::report::json::{self, RepairCounts, RepairResult};
use weft_core::report::{human, short};
use weft_harness::case::{Job, Surroundings};

use super::Repaired;
use crate::formats;
use crate::options::{Format, Verbosity};
use crate::print::{self, Printer};

/// Prints what came of a kernel as soon as it is known. The JSON of a kernel has its diff, which depends on other kernels: it
/// is printed at the end.
pub(super) fn line(
    launches: &[&Job],
    one: &Repaired,
    format: Format,
    printer: &mut Printer,
) -> io::Result<()> {
    let job = launches[0];
    let advice = advice(one);
    if let Err(error) = &one.result
        && format != Format::Json
    {
        printer.error(&name(launches), error);
    }
    match format {
        Format::Json => Ok(()),
        Format::Short => {
            let surroundings = Surroundings::of(job);
            let context = surroundings.context(false);
            advice.iter().try_for_each(|own| printer.line(&short::advice(context, own)))?;
            one.obstacles().iter().try_for_each(|own| printer.line(&short::finding(context, own)))
        }
        Format::Human => {
            let (word, what) = words(one);
            let is_news = word != "clean ";
            if printer.verbosity == Verbosity::Quiet && !is_news {
                return Ok(());
            }
            printer.line(&format!("{}  {}{what}", print::repair_word(word), name(launches)))
        }
    }
}

/// Prints what came of a kernel as JSON.
pub(super) fn json(launches: &[&Job], one: &Repaired, printer: &mut Printer) -> io::Result<()> {
    let (job, advice, notes) = (launches[0], advice(one), error_notes(one));
    let path = job.file.path.to_string_lossy();
    printer.line(&json::repair(
        &job.kernel.mangled,
        formats::json::subject(job, &path),
        &result(launches, one, &advice, &notes),
    ))
}

/// Returns the kernel's name, without the label of a launch.
fn name(launches: &[&Job]) -> String {
    let name = launches[0].short_name();
    let label = launches[0].label.as_ref().map(|label| format!("@{label}")).unwrap_or_default();
    name.strip_suffix(&label).unwrap_or(&name).to_owned()
}

fn advice(one: &Repaired) -> Vec<Advice> {
    let superfluous = one.result.iter().flat_map(|repair| &repair.superfluous);
    let changes = one.mend().into_iter().flat_map(|mend| &mend.changes);
    changes.chain(superfluous).map(Change::advice).collect()
}

fn error_notes(one: &Repaired) -> Vec<String> {
    let error = one.result.as_ref().err().map(ToString::to_string);
    one.notes.iter().cloned().chain(error).collect()
}

fn result<'a>(
    launches: &'a [&'a Job],
    one: &'a Repaired,
    changes: &'a [Advice],
    notes: &'a [String],
) -> RepairResult<'a> {
    let mend = one.mend();
    RepairResult {
        outcome: if one.result.is_err() { "unchecked" } else { words(one).0.trim() },
        changes,
        costs: mend.map(|mend| [mend.cost_before, mend.cost]),
        is_least: mend.map(|mend| mend.is_least),
        checks: one.result.as_ref().map_or(0, |repair| repair.checks),
        launches: launches.iter().map(|job| job.label.as_deref()).collect(),
        obstacles: one.obstacles(),
        diff: Some(one.diff.as_str()).filter(|diff| !diff.is_empty()),
        notes,
    }
}

/// Returns the outcome in a word of six columns, and what it came to in brackets.
fn words(one: &Repaired) -> (&'static str, String) {
    let Ok(repair) = &one.result else { return ("ERROR ", String::new()) };
    let checks = match repair.checks {
        0 => String::new(),
        1 => "; 1 check".to_owned(),
        count => format!("; {count} checks"),
    };
    let (word, what) = match &repair.outcome {
        RepairOutcome::Unchanged { .. } if repair.checks == 0 => return ("clean ", String::new()),
        RepairOutcome::Unchanged { is_least: true } => {
            ("clean ", "no cheaper barriers are clean".to_owned())
        }
        RepairOutcome::Unchanged { is_least: false } => {
            ("clean ", "no cheaper barriers were found".to_owned())
        }
        RepairOutcome::Mended(mend) => ("mended", mended(mend)),
        RepairOutcome::Refused(Obstacle::Findings(_)) if repair.checks == 0 => {
            ("refused", "it is not clean".to_owned())
        }
        RepairOutcome::Refused(Obstacle::Findings(findings)) => (
            "refused",
            match findings.len() {
                1 => "1 finding remains with barriers".to_owned(),
                count => format!("{count} findings remain with barriers"),
            },
        ),
        RepairOutcome::Refused(Obstacle::Points(points)) => {
            ("refused", format!("{points} places for barriers are too many"))
        }
        RepairOutcome::Refused(Obstacle::Checks) => {
            ("refused", "no placement was found".to_owned())
        }
    };
    let superfluous = match repair.superfluous.len() {
        0 => String::new(),
        number => format!("; {number} uses of named barriers can go"),
    };
    (word, format!("  ({what}{superfluous}{checks})"))
}

fn mended(mend: &Mend) -> String {
    let number = |is_it: fn(&Action) -> bool| {
        mend.changes.iter().filter(|change| is_it(&change.action)).count()
    };
    let counted = [
        (number(|own| matches!(own, Action::Insert(BarrierKind::Cta, _))), "barrier", "inserted"),
        (
            number(|own| matches!(own, Action::Insert(BarrierKind::Warp, _))),
            "warp barrier",
            "inserted",
        ),
        (number(|own| matches!(own, Action::Remove)), "barrier", "removed"),
        (number(|own| matches!(own, Action::Replace(_))), "barrier", "replaced"),
    ];
    let parts = counted.iter().filter(|(number, ..)| *number > 0);
    let parts: Vec<String> =
        parts.map(|(number, what, done)| format!("{} {done}", count(*number, what))).collect();
    let cost = match (mend.cost_before > 0.0, mend.is_least) {
        (true, true) => format!("cost {} instead of {}, the least", mend.cost, mend.cost_before),
        (true, false) => format!("cost {} instead of {}", mend.cost, mend.cost_before),
        (false, true) => format!("cost {}, the least", mend.cost),
        (false, false) => format!("cost {}, which might not be the least", mend.cost),
    };
    format!("{}; {cost}", parts.join(", "))
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// Prints the changes of a kernel, or what stands in the way. `is_new`: whether no kernel before has the same diff.
pub(super) fn detail(
    launches: &[&Job],
    one: &Repaired,
    is_new: bool,
    printer: &mut Printer,
) -> io::Result<()> {
    let (job, obstacles) = (launches[0], one.obstacles());
    let advice = advice(one);
    if advice.is_empty() && obstacles.is_empty() {
        return Ok(());
    }
    printer.line(&format!("\n---- {} ----", name(launches)))?;
    let surroundings = Surroundings::of(job);
    let context = surroundings.context(printer.styled);
    for own in &advice {
        let text = human::change(context, own);
        printer.line(&text)?;
    }
    let is_tried = one.result.as_ref().is_ok_and(|repair| repair.checks > 0);
    if !obstacles.is_empty() && is_tried {
        printer.line("no barriers that were tried make it clean; these findings remain:\n")?;
    }
    for finding in obstacles {
        let text = human::finding(context, finding);
        printer.line(&text)?;
    }
    match (one.diff.is_empty(), is_new) {
        (true, _) => {}
        (false, true) => printer.line(&one.diff)?,
        (false, false) => printer.line("the change of the source is the one above\n")?,
    }
    one.notes.iter().try_for_each(|note| printer.line(&format!("note: {note}")))?;
    let assumptions = one.mend().into_iter().flat_map(|mend| &mend.assumptions);
    for assumption in assumptions {
        printer.line(&format!("assumed: {}", assumption.sentence()))?;
    }
    Ok(())
}

/// Returns the last line.
pub(super) fn sentence(counts: RepairCounts) -> String {
    let RepairCounts { clean, mended, refused, unchecked } = counts;
    let unchecked = match unchecked {
        0 => String::new(),
        number => format!(", {number} could not be checked"),
    };
    format!(
        "weft: {}: {clean} clean, {mended} mended, {refused} refused{unchecked}",
        count(clean + mended + refused, "kernel")
    )
}
