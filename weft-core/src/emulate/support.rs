//! How the machine treats each instruction of the table. The answers come from the machine's own code, so that the
//! published table is true.

use crate::emulate::machine::exchange;
use crate::emulate::ops;
use crate::ptx::isa::{
    self, Decoded, Effect, FORMS, Form, InstructionRow, Modifier, Opcode, TABLE,
};

/// How the machine treats an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Support {
    /// The result is known, bit by bit, where the operands are known and the manual defines it.
    Exact,
    /// The result is open.
    Open,
    /// An access to memory, which is emitted with its lanes and addresses. A load gives what memory is known to hold,
    /// an atomic gives an open value.
    Access,
    /// Barriers and jumps: which threads wait for each other, and where a thread continues.
    Control,
    /// The instruction does nothing that is examined.
    Nothing,
    /// Not modelled: the verdict is open if a thread reaches it.
    Unmodelled,
}

impl Support {
    /// All variants.
    pub const ALL: [Self; 6] =
        [Self::Exact, Self::Open, Self::Access, Self::Control, Self::Nothing, Self::Unmodelled];

    /// The word for it in the table.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Open => "open",
            Self::Access => "access",
            Self::Control => "control",
            Self::Nothing => "nothing",
            Self::Unmodelled => "not modelled",
        }
    }

    /// A sentence that explains the word.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Exact => {
                "the result is known to the bit where the operands are known and the manual defines it"
            }
            Self::Open => "the result is an open value",
            Self::Access => {
                "an access to memory is examined; a load reads what the memory is known to hold, an atomic returns an \
                 open value"
            }
            Self::Control => "decides which threads go where and who waits for whom",
            Self::Nothing => "runs without an effect that is examined",
            Self::Unmodelled => "the verdict is open if a thread reaches it",
        }
    }
}

/// A row of the support table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Supported {
    /// Section of the PTX ISA manual, version 9.1.
    pub section: &'static str,
    /// The instruction: a form with its alternatives, or the words that its mnemonics start with.
    pub pattern: &'static str,
    /// How the machine treats it.
    pub support: Support,
}

/// The support of every instruction of the table, in the order of the manual. Instructions that compute are listed by
/// form, the others by the first words of their mnemonics.
pub fn support_table() -> Vec<Supported> {
    let of_form = |form: &Form| {
        let (section, pattern) = (form.section, form.pattern);
        support_of_form(form).map(|support| Supported { section, pattern, support })
    };
    let has_forms = |row: &InstructionRow| {
        let mut first = FORMS.iter().filter_map(|form| isa::decode(form.mnemonics().first()?));
        first.any(|decoded| decoded.row == row)
    };
    let of_row = |row: &InstructionRow| Supported {
        section: row.section,
        pattern: row.pattern,
        support: support_of_row(row),
    };
    let mut all: Vec<_> = FORMS.iter().filter_map(of_form).collect();
    all.extend(TABLE.iter().filter(|row| !has_forms(row)).map(of_row));
    let order = |section: &str| -> Vec<u32> {
        section.split('.').filter_map(|number| number.parse().ok()).collect()
    };
    all.sort_by_key(|line| order(line.section));
    all
}

fn support_of_row(row: &InstructionRow) -> Support {
    match row.effect {
        Effect::Compute | Effect::Exchange => Support::Exact,
        Effect::Opaque => Support::Open,
        Effect::Load
        | Effect::Store
        | Effect::Atomic
        | Effect::BulkCopy
        | Effect::Multiply
        | Effect::TensorMemory
        | Effect::TakeOver => Support::Access,
        Effect::Answer
        | Effect::Barrier
        | Effect::ClusterBarrier
        | Effect::WarpBarrier
        | Effect::CopyGroup
        | Effect::Mbarrier
        | Effect::MbarrierWait
        | Effect::RegisterCount
        | Effect::ProxyFence
        | Effect::Branch
        | Effect::Call
        | Effect::Return
        | Effect::Exit => Support::Control,
        Effect::MemoryFence | Effect::Nothing => Support::Nothing,
        Effect::Asynchronous => Support::Unmodelled,
    }
}

/// How the machine treats all instructions of a form; `None` if it treats them differently, or one is not in the table.
pub fn support_of_form(form: &Form) -> Option<Support> {
    let all: Option<Vec<Support>> = form
        .mnemonics()
        .iter()
        .map(|mnemonic| isa::decode(mnemonic).map(|decoded| of(&decoded)))
        .collect();
    let all = all?;
    all.first().copied().filter(|first| all.iter().all(|support| support == first))
}

fn of(decoded: &Decoded) -> Support {
    let is_computed = match decoded.row.effect {
        Effect::Compute if decoded.is_strange => return Support::Unmodelled,
        Effect::Compute => ops::is_computed(decoded),
        // Without `.sync`, the lanes that take part are those that happen to be active.
        Effect::Exchange => exchange::is_computed(decoded) && decoded.modifiers.has(Modifier::Sync),
        // The linker translates these.
        _ if matches!(decoded.row.opcode, Opcode::Mapa | Opcode::Getctarank) => {
            return Support::Exact;
        }
        _ if decoded.matrix_rows().is_some() || decoded.is_copy() => return Support::Access,
        _ => return support_of_row(decoded.row),
    };
    if is_computed { Support::Exact } else { Support::Open }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_of_one_kind() {
        for form in FORMS {
            let kinds: Vec<_> = form
                .mnemonics()
                .iter()
                .map(|mnemonic| {
                    (mnemonic.clone(), isa::decode(mnemonic).map(|decoded| of(&decoded)))
                })
                .collect();
            assert!(support_of_form(form).is_some(), "{}: {kinds:?}", form.pattern);
        }
    }

    #[test]
    fn what_computes_is_listed_by_its_forms() {
        for line in support_table() {
            let is_row = TABLE.iter().any(|row| row.pattern == line.pattern);
            let is_form = FORMS.iter().any(|form| form.pattern == line.pattern);
            assert!(is_form || (is_row && line.support != Support::Exact), "{line:?}");
        }
    }
}
