//! Finds the forms of instructions that the saved PTX does not contain.
//!
//! An operation is covered for each of its types, and for each modifier separately: `cvt.rni.ftz.s32.f32` covers
//! `cvt.s32.f32`, `cvt.rni.s32.f32` and `cvt.ftz.s32.f32`. Comparisons have too many modifiers for this: they are
//! covered for each compared type.

use std::collections::BTreeSet;

use weft_core::emulate::{Support, support_of_form};
use weft_core::ptx::isa::{self, FORMS, Family};
use weft_core::ptx::{self, Statement, Type};

/// Returns what an instruction covers.
fn units(mnemonic: &str) -> BTreeSet<String> {
    let Some(decoded) = isa::decode(mnemonic) else { return BTreeSet::new() };
    let mut words = mnemonic.split('.');
    let opcode = words.next().unwrap_or_default();
    let is_type = |word: &&str| Type::from_suffix(word).is_some();
    let (types, modifiers): (Vec<&str>, Vec<&str>) = words.partition(is_type);
    let all = types.join(".");
    let compared = match decoded.row.family {
        Family::Compare => types.last().copied().unwrap_or_default(),
        _ => all.as_str(),
    };
    let each = modifiers.iter().map(|modifier| format!("{opcode}.{modifier} of {compared}"));
    each.chain([format!("{opcode} of {all}")]).collect()
}

/// The instructions that translate addresses between the ctas of a cluster.
const OF_CLUSTERS: [&str; 2] = ["mapa", "getctarank"];

fn first_word(mnemonic: &str) -> &str {
    mnemonic.split('.').next().unwrap_or(mnemonic)
}

/// Returns what the forms that the machine computes need and no text covers.
pub(crate) fn missing(texts: &[String]) -> Vec<String> {
    let mut met = BTreeSet::new();
    for text in texts {
        let module = ptx::parse(text);
        for body in module.functions.iter().filter_map(|function| function.body.as_ref()) {
            for statement in &body.statements {
                if let Statement::Instruction(instruction) = statement {
                    met.extend(units(module.name(instruction.mnemonic)));
                }
            }
        }
    }
    let families =
        [Family::Arithmetic, Family::Bits, Family::Compare, Family::Convert, Family::Move];
    let computed = FORMS.iter().filter(|form| support_of_form(form) == Some(Support::Exact));
    let needed: BTreeSet<String> = computed
        .flat_map(isa::Form::mnemonics)
        .filter(|name| isa::decode(name).is_some_and(|own| families.contains(&own.row.family)))
        // Where the ctas of a cluster lie is not as on a device: `small_clusters` is about these.
        .filter(|name| !name.contains("cluster") && !OF_CLUSTERS.contains(&first_word(name)))
        .flat_map(|name| units(&name))
        .collect();
    needed.difference(&met).cloned().collect()
}
