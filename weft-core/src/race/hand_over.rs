//! Which accesses release and acquire patterns might order (PTX ISA §8.8): such a pattern orders an access before another one
//! only if it releases behind the first and acquires in front of the second.

use crate::emulate::{Nearness, Ordering, access_kind, fence_order};
use crate::flow::{BlockId, Instr, Pc, Program};
use crate::ptx::isa::Effect;

/// What the paths of a program through each instruction might contain, for threads that are as near to each other.
#[derive(Clone, Debug)]
pub struct HandOvers {
    /// For each instruction: whether an acquire pattern might come before it.
    acquires_before: Vec<bool>,
    /// Whether a release pattern might come after it.
    releases_after: Vec<bool>,
}

/// What a thread might have done on one side of a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    /// The part of a pattern that is next to the other thread: a strong read before, or a strong write after.
    has_access: bool,
    is_complete: bool,
}

impl Seen {
    const fn or(self, other: Self) -> Self {
        Self {
            has_access: self.has_access || other.has_access,
            is_complete: self.is_complete || other.is_complete,
        }
    }
}

/// The direction in which the paths are followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PathDirection {
    /// To what comes before.
    Back,
    /// To what comes after.
    Ahead,
}

impl HandOvers {
    /// Follows all paths of a program. A thread can hand over to a far one through others that are near: a pattern of any scope
    /// might be a step of that, if the program has patterns whose scopes include the far thread at all.
    pub fn of(program: &Program, nearness: Nearness) -> Self {
        if program.blocks.iter().any(|block| block.traps) {
            // That a thread goes on might depend on what others have not done.
            return Self::unknown(program);
        }
        let follow = |nearness, direction| Follower { program, nearness, direction }.all();
        let [acquires, releases] =
            [PathDirection::Back, PathDirection::Ahead].map(|way| follow(nearness, way));
        if acquires.has_pattern && releases.has_pattern {
            let [acquires_before, releases_after] = [PathDirection::Back, PathDirection::Ahead]
                .map(|way| follow(Nearness::Cta, way).at);
            return Self { acquires_before, releases_after };
        }
        Self { acquires_before: acquires.at, releases_after: releases.at }
    }

    /// Patterns that are not looked for: they might order everything.
    pub fn unknown(program: &Program) -> Self {
        let all = vec![true; program.code.len()];
        Self { acquires_before: all.clone(), releases_after: all }
    }

    /// Whether patterns might order accesses of two instructions by different threads.
    pub fn might_order(&self, a: Pc, b: Pc) -> bool {
        let is_before =
            |a: Pc, b: Pc| self.releases_after[a.index()] && self.acquires_before[b.index()];
        is_before(a, b) || is_before(b, a)
    }
}

/// The patterns in one direction.
struct FoundPatterns {
    /// For each instruction, whether one might be there.
    at: Vec<bool>,
    /// Whether there is a complete one.
    has_pattern: bool,
}

struct Follower<'p> {
    program: &'p Program,
    nearness: Nearness,
    direction: PathDirection,
}

impl Follower<'_> {
    /// Follows all paths in the direction.
    fn all(&self) -> FoundPatterns {
        let blocks = self.program.blocks.len();
        let mut next = vec![Vec::new(); blocks];
        for (at, block) in self.program.blocks.iter().enumerate() {
            for successor in block.terminator.successors() {
                match self.direction {
                    PathDirection::Back => next[at].push(successor.index()),
                    PathDirection::Ahead => next[successor.index()].push(at),
                }
            }
        }
        let mut known = vec![Seen::default(); blocks];
        let (mut found, mut has_pattern) = (vec![false; self.program.code.len()], false);
        let mut work: Vec<usize> = (0..blocks).collect();
        while let Some(at) = work.pop() {
            let seen = self.run(BlockId::at(at), known[at], &mut found);
            has_pattern |= seen.is_complete;
            for other in &next[at] {
                let all = known[*other].or(seen);
                if all != std::mem::replace(&mut known[*other], all) {
                    work.push(*other);
                }
            }
        }
        FoundPatterns { at: found, has_pattern }
    }

    /// Runs through a block, and notes at which instructions a pattern is complete.
    fn run(&self, block: BlockId, mut seen: Seen, found: &mut [bool]) -> Seen {
        let mut step = |(pc, instr): (Pc, &Instr)| {
            // A strong access might be a part of a pattern itself.
            found[pc.index()] |= seen.is_complete || self.strong_part(instr).is_some();
            self.step(instr, &mut seen);
        };
        let all: Vec<(Pc, &Instr)> = self.program.instructions(block).collect();
        match self.direction {
            PathDirection::Back => all.into_iter().for_each(&mut step),
            PathDirection::Ahead => all.into_iter().rev().for_each(&mut step),
        }
        seen
    }

    fn step(&self, instr: &Instr, seen: &mut Seen) {
        if let Some(decoded) = instr.decoded().filter(|own| own.is_memory_fence()) {
            let order = fence_order(decoded);
            let is_wide = order.scope().holds(self.nearness);
            seen.is_complete |= seen.has_access && is_wide && self.has_part(order.ordering());
        } else if let Some(ordering) = self.strong_part(instr) {
            seen.has_access = true;
            seen.is_complete |= self.has_part(ordering);
        } else if orders_otherwise(instr) {
            // Another thread might have the pattern.
            seen.is_complete = true;
        }
    }

    /// The ordering of a strong read or write that a pattern of the direction can consist of.
    fn strong_part(&self, instr: &Instr) -> Option<Ordering> {
        let is_access = matches!(instr.effect(), Effect::Load | Effect::Store | Effect::Atomic);
        let decoded = instr.decoded().filter(|own| is_access && !own.is_asynchronous)?;
        let kind = access_kind(decoded);
        let is_here = match self.direction {
            PathDirection::Back => !kind.writes || kind.is_atomic(),
            PathDirection::Ahead => kind.writes,
        };
        let is_strong = kind.is_strong() && kind.order.scope().holds(self.nearness);
        (is_here && is_strong).then_some(kind.order.ordering())
    }

    /// Whether an ordering has the part of the direction.
    const fn has_part(&self, ordering: Ordering) -> bool {
        match self.direction {
            PathDirection::Back => ordering.acquires(),
            PathDirection::Ahead => ordering.releases(),
        }
    }
}

/// Whether an instruction might order threads of a cta or a cluster by other means than strong accesses.
fn orders_otherwise(instr: &Instr) -> bool {
    use Effect::{
        Atomic, Branch, Compute, Exit, Load, MemoryFence, Nothing, Opaque, ProxyFence, Return,
        Store,
    };
    let is_plain = matches!(
        instr.effect(),
        Compute
            | Opaque
            | Load
            | Store
            | Atomic
            | MemoryFence
            | ProxyFence
            | Branch
            | Return
            | Exit
            | Nothing
    );
    let is_apart = instr.effect() == Effect::Exchange && !instr.waits();
    !(is_plain || is_apart) || instr.decoded().is_none_or(|decoded| decoded.is_asynchronous)
}
