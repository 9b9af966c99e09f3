//! Finds registers and words of local memory that code might read, after a function is called or a block in braces is
//! entered, before it writes them: they hold nothing from an earlier time (PTX ISA §7.1), so they are made open at the
//! entry. Neither does the condition-code register keep its value across a call.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::{HashMap, HashSet};

use super::call::{moved, stored};
use super::entry::{Passing, ScopeEntry, Storage};
use super::error::LinkError;
use super::linker::{Bound, Frame, Label, LinkedFunction, LinkedLine, Linker, RoutineId};
use super::operands::{CARRY, CARRY_NAME};
use super::program::{Address, Condition, Instr, Operand, PlaceId, Reg};
use super::scope::Scope;
use crate::ptx::isa::Effect;
use crate::ptx::{Function, Space, Span, Variable};

/// Replaces entries by instructions that make open what is new there and might be read before it is written. `ret`: the
/// label for the return to the caller, if this is not the kernel. `passing`: for each routine that the lines call, the
/// storage that calls pass values in. `register`: makes a new register.
pub(super) fn forget(
    lines: Vec<LinkedLine>,
    entries: &[ScopeEntry],
    ret: Option<Label>,
    passing: &HashMap<RoutineId, Passing>,
    mut register: impl FnMut() -> Reg,
) -> Vec<LinkedLine> {
    if !lines.iter().any(|line| matches!(line, LinkedLine::Enter(_))) {
        return lines;
    }
    let mut unset = LineGraph::of(&lines, ret).unset(&lines, entries, passing);
    let mut kept = Vec::with_capacity(lines.len());
    for line in lines {
        let LinkedLine::Enter(at) = line else {
            kept.push(line);
            continue;
        };
        let place = entries[at].place;
        for storage in unset.remove(&at).unwrap_or_default() {
            match storage {
                Storage::Register(dest) => {
                    kept.push(LinkedLine::Instr(moved(dest, Operand::Unset, place)));
                }
                Storage::Memory(first, bytes) => {
                    let unset = register();
                    for (offset, store) in words(first, bytes) {
                        let at = Address { space: Space::Local, base: None, offset };
                        kept.push(LinkedLine::Instr(moved(unset, Operand::Unset, place)));
                        kept.push(LinkedLine::Instr(stored(store, at, unset, place)));
                    }
                }
            }
        }
    }
    kept
}

/// Returns the aligned words that make up a range of bytes, each with the mnemonic that stores it.
fn words(first: u64, bytes: u64) -> impl Iterator<Item = (u64, &'static str)> {
    const STORES: [(u64, &str); 4] =
        [(8, "st.local.b64"), (4, "st.local.b32"), (2, "st.local.b16"), (1, "st.local.b8")];
    let end = first.saturating_add(bytes);
    let mut at = first;
    std::iter::from_fn(move || {
        let fits = |size: u64| at.is_multiple_of(size) && size <= end - at;
        let (size, store) = STORES.into_iter().find(|(size, _)| fits(*size))?;
        at += size;
        Some((at - size, store))
    })
}

/// The control flow of lines, cut into blocks at labels, behind jumps, and before entries.
struct LineGraph {
    /// The first line of each block, and the number of lines.
    firsts: Vec<usize>,
    predecessors: Vec<Vec<usize>>,
    /// Blocks that return to the caller.
    returning: Vec<usize>,
}

impl LineGraph {
    fn of(lines: &[LinkedLine], ret: Option<Label>) -> Self {
        let mut firsts = vec![0];
        let mut labels = HashMap::default();
        for (at, line) in lines.iter().enumerate() {
            let starts = matches!(line, LinkedLine::Label(_) | LinkedLine::Enter(_));
            let is_cut =
                at > 0 && !matches!(lines[at - 1], LinkedLine::Instr(_) | LinkedLine::Label(_));
            if (starts || is_cut) && firsts.last() != Some(&at) {
                firsts.push(at);
            }
            if let LinkedLine::Label(label) = line {
                labels.insert(*label, firsts.len() - 1);
            }
        }
        let count = firsts.len();
        firsts.push(lines.len());
        let mut graph =
            Self { firsts, predecessors: vec![Vec::new(); count], returning: Vec::new() };
        for at in 0..count {
            let (targets, goes_on): (&[Label], bool) = match &lines[graph.firsts[at + 1] - 1] {
                LinkedLine::Jump { condition, target, .. } => {
                    (std::slice::from_ref(target), condition.is_some())
                }
                LinkedLine::Switch { targets, .. } => (targets, false),
                LinkedLine::Exit { condition, .. } => (&[], condition.is_some()),
                _ => (&[], true),
            };
            for target in targets {
                match labels.get(target) {
                    Some(&next) => graph.predecessors[next].push(at),
                    None if ret == Some(*target) => graph.returning.push(at),
                    None => {}
                }
            }
            if goes_on && at + 1 < count {
                graph.predecessors[at + 1].push(at);
            }
        }
        graph
    }

    /// Returns for each entry the storage that might be read before it is written.
    fn unset(
        &self,
        lines: &[LinkedLine],
        entries: &[ScopeEntry],
        passing: &HashMap<RoutineId, Passing>,
    ) -> HashMap<usize, Vec<Storage>> {
        let of = Owners::of(lines, entries);
        let mut blocks = Vec::with_capacity(self.predecessors.len());
        for at in 0..self.predecessors.len() {
            blocks.push(BlockUse::of(&lines[self.firsts[at]..self.firsts[at + 1]], &of, passing));
        }
        let entered: Vec<usize> =
            blocks.iter().filter_map(|line_block| line_block.entered).collect();
        for &at in &self.returning {
            for &entry in &entered {
                for result in &entries[entry].returns {
                    blocks[at].add_read(*result);
                }
            }
        }
        let mut unset: HashMap<usize, Vec<Storage>> = HashMap::default();
        let mut known = HashSet::default();
        for (at, block) in blocks.iter().enumerate() {
            for storage in &block.read {
                for entry in self.reached(*storage, at, &blocks, &of) {
                    if known.insert((entry, *storage)) {
                        unset.entry(entry).or_default().push(*storage);
                    }
                }
            }
        }
        unset
    }

    /// Returns the entries that make `what` new and from which some path leads to the block `at` without writing it.
    fn reached(&self, what: Storage, at: usize, blocks: &[BlockUse], of: &Owners) -> Vec<usize> {
        let entries = of.entries(what);
        let mut found = Vec::new();
        let mut seen = HashSet::from_iter([at]);
        let mut work = vec![at];
        while let Some(at) = work.pop() {
            if let Some(entry) = blocks[at].entered.filter(|entry| entries.contains(entry)) {
                found.push(entry);
                continue;
            }
            let before = self.predecessors[at].iter().copied();
            work.extend(
                before.filter(|earlier| !blocks[*earlier].writes(what) && seen.insert(*earlier)),
            );
        }
        found
    }
}

/// How a block uses the storage that is new at some entry.
#[derive(Default)]
struct BlockUse {
    /// The entry that it begins with.
    entered: Option<usize>,
    /// The storage that it reads before it writes it.
    read: BTreeSet<Storage>,
    /// The registers that it writes.
    registers: HashSet<Reg>,
    /// First bytes and sizes of the local memory that it writes.
    memory: Vec<(u64, u64)>,
}

impl BlockUse {
    fn of(lines: &[LinkedLine], of: &Owners, passing: &HashMap<RoutineId, Passing>) -> Self {
        let mut block = Self::default();
        for line in lines {
            if let LinkedLine::Enter(entry) = line {
                block.entered = Some(*entry);
            }
            let (read, written) = match line {
                LinkedLine::Call { routine, .. } => {
                    let Passing { params, returns } =
                        passing.get(routine).expect("a routine is linked before its calls");
                    (params.clone(), returns.clone())
                }
                _ => (read_by(line), written_by(line)),
            };
            for read in read.into_iter().filter(|storage| of.has(*storage)) {
                block.add_read(read);
            }
            for written in written.into_iter().filter(|stored| of.has(*stored)) {
                match written {
                    Storage::Register(register) => drop(block.registers.insert(register)),
                    Storage::Memory(first, bytes) => block.memory.push((first, bytes)),
                }
            }
        }
        block
    }

    /// Whether the block overwrites all of this storage.
    fn writes(&self, what: Storage) -> bool {
        match what {
            Storage::Register(register) => self.registers.contains(&register),
            Storage::Memory(at, bytes) => self.memory.iter().any(|&(first, size)| {
                first <= at && at.saturating_add(bytes) <= first.saturating_add(size)
            }),
        }
    }

    /// Records a read behind the lines so far; of memory, only the parts that those lines do not write.
    fn add_read(&mut self, what: Storage) {
        let Storage::Memory(first, bytes) = what else {
            self.read.extend((!self.writes(what)).then_some(what));
            return;
        };
        let mut written = self.memory.clone();
        written.sort_unstable();
        let end = first.saturating_add(bytes);
        let mut at = first;
        for (byte, size) in written.into_iter().chain([(end, 0)]) {
            let next = byte.min(end);
            if at < next {
                self.read.insert(Storage::Memory(at, next - at));
            }
            at = at.max(byte.saturating_add(size));
        }
    }
}

/// The entries at which registers and memory are new.
struct Owners {
    registers: HashMap<Reg, Vec<usize>>,
    /// First byte, size and entry, ascending.
    memory: Vec<(u64, u64, usize)>,
}

impl Owners {
    fn of(lines: &[LinkedLine], entries: &[ScopeEntry]) -> Self {
        let mut owners = Self { registers: HashMap::default(), memory: Vec::new() };
        for line in lines {
            let LinkedLine::Enter(at) = line else { continue };
            for register in &entries[*at].registers {
                owners.registers.entry(*register).or_default().push(*at);
            }
            owners
                .memory
                .extend(entries[*at].memory.iter().map(|(first, size)| (*first, *size, *at)));
        }
        owners.memory.sort_unstable();
        owners
    }

    /// Returns the entries at which storage is new. Callees leave their results in a variable of the caller, so that it
    /// is new where each of them is entered; the condition-code register is new behind every call.
    fn entries(&self, what: Storage) -> Vec<usize> {
        match what {
            Storage::Register(register) => {
                self.registers.get(&register).cloned().unwrap_or_default()
            }
            Storage::Memory(first, bytes) => {
                let at = self.memory.partition_point(|(start_before, ..)| *start_before <= first);
                let start = at.checked_sub(1).map_or(0, |last| self.memory[last].0);
                let same = self.memory[..at]
                    .iter()
                    .rev()
                    .take_while(|(other_start, ..)| *other_start == start);
                let holds = |size: u64| bytes.saturating_add(first - start) <= size;
                same.filter(|(_, size, _)| holds(*size)).map(|(.., entry)| *entry).collect()
            }
        }
    }

    fn has(&self, what: Storage) -> bool {
        !self.entries(what).is_empty()
    }
}

/// Returns the local memory that an instruction accesses at a known address.
fn accessed(instr: &Instr) -> Option<Storage> {
    let (decoded, address) = (instr.decoded()?, instr.address?);
    let bytes = u64::from(decoded.ty().bytes() * u32::from(decoded.vector()));
    Some(Storage::Memory(address.named_local()?, bytes))
}

/// Returns the storage that a line might read.
fn read_by(line: &LinkedLine) -> Vec<Storage> {
    let condition =
        |guard: &Option<Condition>| guard.iter().map(|predicate| predicate.register).collect();
    let registers: Vec<Reg> = match line {
        LinkedLine::Instr(instr) => {
            let loaded = accessed(instr).filter(|_| instr.effect() != Effect::Store);
            return instr.reads().map(Storage::Register).chain(loaded).collect();
        }
        LinkedLine::Jump { condition: own, .. } | LinkedLine::Exit { condition: own, .. } => {
            condition(own)
        }
        LinkedLine::Switch { index: Operand::Register(register), .. } => vec![*register],
        _ => Vec::new(),
    };
    registers.into_iter().map(Storage::Register).collect()
}

/// Returns the storage that a line certainly writes.
fn written_by(line: &LinkedLine) -> Vec<Storage> {
    let LinkedLine::Instr(instr) = line else { return Vec::new() };
    if instr.guard.is_some() {
        return Vec::new();
    }
    let stored = accessed(instr).filter(|_| instr.effect() == Effect::Store);
    instr
        .dests
        .iter()
        .flatten()
        .map(|register| Storage::Register(*register))
        .chain(stored)
        .collect()
}

impl<'m> Linker<'m> {
    /// Emits the entry of a function or of a block in braces; `note_new` adds what is new there. `returns`: where the
    /// function's results lie, with their sizes in bytes.
    pub(super) fn enter(
        &mut self,
        frame: &mut Frame<'m>,
        function: &'m Function,
        returns: &[(Bound, u64)],
    ) -> Result<usize, LinkError> {
        let place = self.place_id(frame, function.name);
        let mut entry =
            ScopeEntry { place, registers: Vec::new(), memory: Vec::new(), returns: Vec::new() };
        for &(bound, size) in returns {
            match bound {
                Bound::Register(register) => {
                    entry.registers.push(register);
                    entry.returns.push(Storage::Register(register));
                }
                Bound::Memory(_, first) => {
                    entry.memory.push((first, size));
                    entry.returns.push(Storage::Memory(first, size));
                }
            }
        }
        self.entries.push(entry);
        let at = self.entries.len() - 1;
        self.push(LinkedLine::Enter(at), function.name)?;
        Ok(at)
    }

    /// Emits an entry behind a call if the caller uses the condition-code register, which the call does not preserve.
    pub(super) fn behind_call(
        &mut self,
        frame: &mut Frame<'m>,
        place: PlaceId,
        span: Span,
    ) -> Result<(), LinkError> {
        if !frame.uses_carry {
            return Ok(());
        }
        let (registers, memory, returns) = (Vec::new(), Vec::new(), Vec::new());
        self.entries.push(ScopeEntry { place, registers, memory, returns });
        let at = self.entries.len() - 1;
        frame.after_calls.push(at);
        self.push(LinkedLine::Enter(at), span)
    }

    /// Returns where the results of a function lie, with their sizes in bytes.
    pub(super) fn returned(&self, function: &Function, frame: &Frame<'m>) -> Vec<(Bound, u64)> {
        let bound = |variable: &Variable| {
            frame.bound.get(self.module.name(variable.name)).map(|bound| (*bound, variable.size()))
        };
        function.returns.iter().filter_map(bound).collect()
    }

    /// Adds to the entries what is new there, once all names of a function are known. `entries`: by scope. `variables`:
    /// the variables that the scopes declare.
    pub(super) fn note_new(
        &mut self,
        frame: &Frame<'m>,
        entries: &[Option<usize>],
        variables: &[(Scope, &Variable)],
    ) {
        let entry = |scope: Scope| entries.get(scope).copied().flatten();
        let new = frame.registers.iter().filter_map(|((of, _), dest)| Some((*dest, entry(*of)?)));
        for (register, at) in new.collect::<BTreeMap<_, _>>() {
            self.entries[at].registers.push(register);
        }
        if let Some(&code) = frame.registers.get(&(CARRY, CARRY_NAME)) {
            for &at in entries[0].iter().chain(&frame.after_calls) {
                self.entries[at].registers.push(code);
            }
        }
        for (scope, variable) in variables {
            let is_own = matches!(variable.space, Space::Local | Space::Param);
            if let (Some(at), Some(&first), true) =
                (entry(*scope), frame.variables.get(&variable.name), is_own)
            {
                self.entries[at].memory.push((first, variable.size()));
            }
        }
    }

    /// Adds the routine whose lines are complete to the linked functions.
    pub(super) fn finish(&mut self, ret: Option<Label>) {
        let lines = std::mem::take(&mut self.lines);
        let entries = std::mem::take(&mut self.entries);
        let passing = std::mem::take(&mut self.passing);
        let lines = forget(lines, &entries, ret, &passing, || self.new_register());
        self.entries = entries;
        self.passing = passing;
        self.linked.functions.push(LinkedFunction { lines, ret });
    }
}
