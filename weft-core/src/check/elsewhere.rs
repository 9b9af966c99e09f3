//! A second look at a kernel whose findings might depend on where its variables and buffers lie: with those in other
//! places, those in shared, local and constant memory where devices have them. What is not found in both is open.

use std::collections::{BTreeMap, BTreeSet};

use super::{FindingKey, key};
use crate::finding::{Alignment, Assumption, Check, Class, Code, Finding, Report};
use crate::flow::{Placement, Program, Symbol};
use crate::ptx::Space;
use crate::slice::Base;

/// By how many bytes buffers and global variables are moved: every other bit above those that alignments are about.
const MOVED: u64 = 0x1555_0000;

/// Where else the variables and buffers might lie whose places decide something.
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

/// The first report, with the findings and assumptions of the second one that it does not have. A defect that only one of
/// the two has is an open question.
pub(super) fn compared(mut report: Report, other: Report) -> Report {
    let seconds: BTreeMap<FindingKey, &Finding> =
        other.findings.iter().map(|finding| (what(finding), finding)).collect();
    let mut found = BTreeSet::new();
    for finding in &mut report.findings {
        found.insert(what(finding));
        match seconds.get(&what(finding)) {
            None => undecide(finding),
            // That the same is stored holds in one of the places alone.
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

/// The part of an assumption that the known ones do not state yet.
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

/// What a finding is about, the same for races that are benign and that are not.
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

/// Turns a defect into an open question: whether it is one depends on where something lies.
fn undecide(finding: &mut Finding) {
    if finding.code.class() == Class::Defect {
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
