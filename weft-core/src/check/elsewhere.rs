//! The second check of a kernel whose findings might depend on where its variables and buffers lie: it places them
//! elsewhere, variables in shared, local and constant memory where devices have them. A defect that only one of the two
//! checks finds is open.

use std::collections::{BTreeMap, BTreeSet};

use super::{FindingKey, key};
use crate::finding::{Alignment, Assumption, Check, Class, Code, Finding, Report};
use crate::flow::{Placement, Program, Symbol};
use crate::ptx::Space;
use crate::slice::Base;

/// The number of bytes that buffers and global variables are moved by: every other bit above the bits that alignments
/// concern.
const MOVED: u64 = 0x1555_0000;

/// Returns another placement for the variables and buffers whose addresses decide something.
pub(super) fn placement(program: &Program, decides: &BTreeSet<Base>) -> Placement {
    let mut placement = program.placement.clone();
    for base in decides {
        match *base {
            Base::Pointer(at) => {
                let param = program.params.get(at);
                if param.is_some_and(|declared_param| declared_param.object.is_some()) {
                    bring_near(&mut placement, program);
                } else {
                    placement.arguments.insert(at, MOVED);
                }
            }
            Base::Variable(at) => {
                let symbol = &program.symbols[at];
                match symbol.space {
                    Space::Shared | Space::Local | Space::Const => {
                        bring_near(&mut placement, program);
                    }
                    Space::Global => drop(placement.variables.insert(symbol.name.clone(), MOVED)),
                    _ => {}
                }
            }
            Base::Parameter(_) | Base::Window(_) => {}
        }
    }
    placement
}

fn bring_near(placement: &mut Placement, program: &Program) {
    placement.is_near = true;
    let is_narrow = |variable: &&Symbol| variable.space != Space::Global;
    for symbol in program.symbols.iter().filter(is_narrow) {
        placement.variables.remove(&symbol.name);
    }
}

/// Returns the first report with the findings and assumptions added that only the second one has. A defect that only
/// one of the two has is made open.
pub(super) fn compared(mut report: Report, other: Report) -> Report {
    let seconds: BTreeMap<FindingKey, &Finding> =
        other.findings.iter().map(|finding| (what(finding), finding)).collect();
    let mut found = BTreeSet::new();
    for finding in &mut report.findings {
        found.insert(what(finding));
        match seconds.get(&what(finding)) {
            None => undecide(finding),
            // Stored values might be equal under one placement only, so that the race is benign only there.
            Some(second) if finding.code == Code::BenignRace => *finding = (*second).clone(),
            Some(_) => {}
        }
    }
    let more = other.findings.iter().filter(|finding| !found.contains(&what(finding)));
    for finding in more {
        let mut finding = finding.clone();
        undecide(&mut finding);
        report.findings.push(finding);
    }
    for assumption in other.assumptions {
        report.assumptions.extend(beyond(&report.assumptions, assumption));
    }
    report
}

/// Returns the part of an assumption that the known ones do not state.
fn beyond(known: &[Assumption], more: Assumption) -> Option<Assumption> {
    match more {
        Assumption::Aligned(mut all) => {
            all.retain(|aligned| {
                !known.iter().any(|other| aligns(other, aligned) || places(other, &aligned.0))
            });
            (!all.is_empty()).then_some(Assumption::Aligned(all))
        }
        Assumption::Places(mut names) => {
            names.retain(|name| !known.iter().any(|other| places(other, name)));
            (!names.is_empty()).then_some(Assumption::Places(names))
        }
        _ => (!known.contains(&more)).then_some(more),
    }
}

/// Returns the key of a finding, which is the same for a benign race as for a harmful one.
fn what(finding: &Finding) -> FindingKey {
    let (code, check, sites) = key(finding);
    let code = match (code, check) {
        (Code::BenignRace, Some(Check::Shared)) => Code::SharedRace,
        (Code::BenignRace, _) => Code::GlobalRace,
        _ => code,
    };
    (code, check, sites)
}

fn aligns(known: &Assumption, (name, to, ..): &Alignment) -> bool {
    let Assumption::Aligned(all) = known else { return false };
    all.iter().any(|(own, multiple, ..)| own == name && multiple >= to)
}

fn places(known: &Assumption, name: &String) -> bool {
    matches!(known, Assumption::Places(names) if names.contains(name))
}

/// Turns a defect, be it for a chosen input, into an open finding, because it depends on where variables and buffers lie.
fn undecide(finding: &mut Finding) {
    if finding.code.class() == Class::Defect || finding.code == Code::RaceForInput {
        let note =
            format!("that this is `{}` depends on where variables and buffers lie", finding.code);
        finding.notes.push(note);
        finding.help = Some(
            "compute with the index, and add it to the address of the variable or buffer last"
                .to_owned(),
        );
        finding.code = Code::DependsOnInput;
    }
}
