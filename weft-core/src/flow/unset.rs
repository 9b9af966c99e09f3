//! Registers and words of local memory that code might read before it writes them, since a function was called or a block
//! in braces was entered: they hold nothing of an earlier time (PTX ISA §7.1). Nor does the condition-code register behind
//! a call.

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

/// Replaces entries by instructions that leave what is new there open, as far as it might be read before it is written.
/// `ret`: what the way back to the caller is called, if the caller has lines of its own. `passing`: by routine that the lines
/// call. `register`: makes a new one.
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
                    kept.push(LinkedLine::Instr(moved(dest, Operand::Unset, place)))
                }
                Storage::Memory(first, bytes) => {
                    let other_register = register();
                    for (offset, store) in words(first, bytes) {
                        let at = Address { space: Space::Local, base: None, offset };
                        kept.push(LinkedLine::Instr(moved(other_register, Operand::Unset, place)));
                        kept.push(LinkedLine::Instr(stored(store, at, other_register, place)));
                    }
                }
            }
        }
    }
    kept
}

/// The aligned words that make up a range of bytes, each with the instruction that stores it.
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

/// Lines cut where jumps lead to, and behind jumps and before entries.
struct LineGraph {
    /// First lines, and the end.
    firsts: Vec<usize>,
    predecessors: Vec<Vec<usize>>,
    /// Blocks that go back to the caller.
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

    /// By entry: what might be read before it is written.
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

    /// The entries where something is new from which some way leads to a block and writes it nowhere.
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

/// What a block does with what is new somewhere.
#[derive(Default)]
struct BlockUse {
    /// The entry that it begins with.
    entered: Option<usize>,
    /// What it reads before it writes it.
    read: BTreeSet<Storage>,
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

    /// Whether nothing is left of what was there before the block.
    fn writes(&self, what: Storage) -> bool {
        match what {
            Storage::Register(register) => self.registers.contains(&register),
            Storage::Memory(at, bytes) => self.memory.iter().any(|&(first, size)| {
                first <= at && at.saturating_add(bytes) <= first.saturating_add(size)
            }),
        }
    }

    /// Takes in a read behind the lines so far: of memory, the parts that they do not write.
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

/// Where registers and memory are new.
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

    /// Where it is new. A variable of a caller is where its callees leave results, so that it is new where each of them is
    /// entered; the condition-code register is new behind every call.
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

/// The local memory that an access at a known address touches.
fn accessed(instr: &Instr) -> Option<Storage> {
    let (decoded, address) = (instr.decoded()?, instr.address?);
    let bytes = u64::from(decoded.ty().bytes() * u32::from(decoded.vector()));
    Some(Storage::Memory(address.named_local()?, bytes))
}

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

/// What a line surely writes.
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
    /// A function is entered, or a block in braces of it. What is new there is told later. `returns`: where its results lie.
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

    /// Behind a call the condition-code register holds nothing, if the function that calls uses it.
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

    /// Where the results of a function lie, with their bytes.
    pub(super) fn returned(&self, function: &Function, frame: &Frame<'m>) -> Vec<(Bound, u64)> {
        let bound = |variable: &Variable| {
            frame.bound.get(self.module.name(variable.name)).map(|bound| (*bound, variable.size()))
        };
        function.returns.iter().filter_map(bound).collect()
    }

    /// All names of a function are known. `entries`: by scope. `variables`: those that its scopes declare.
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

    /// The lines of a routine are complete.
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
