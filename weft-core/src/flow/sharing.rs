//! Decides which functions are linked in once for all their calls, from the calls of a kernel and the amount of code
//! they lead to.
//!
//! Inlining is exact and costs code. A function that is linked in once has one set of registers: analyses that
//! distinguish only registers (the slice, the values that registers hold) see them written by all callers. So functions
//! are inlined as long as the kernel does not grow too much. A function is inlined at each call also if not all its
//! calls can share its parameters.

use std::cell::LazyCell;

use foldhash::{HashMap, HashSet};

use super::call_site::{Call, Functions, instructions};
use super::error::MAX_LINES;
use super::indirect::{Definitions, FunctionNames};
use super::parameters;
use super::scope::{Scope, Scopes};
use crate::ptx::{Function, Module};

/// The deepest nesting of calls that are linked in.
pub(super) const MAX_CALLS: usize = 64;

/// The size up to which inlining can enlarge a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    /// As a multiple of the statements of the kernel and all its functions.
    times: u64,
    /// The number of statements up to which any kernel is inlined.
    free: u64,
}

impl Growth {
    /// Growth up to tenfold, or to a size that costs nothing.
    pub(crate) const DEFAULT: Self = Self { times: 10, free: 1000 };
    /// No growth.
    #[cfg(test)]
    pub(crate) const NONE: Self = Self { times: 0, free: 0 };
}

/// The functions that are linked in once, and the calls that are recursive.
#[derive(Debug)]
pub(super) struct Sharing<'m> {
    shared: HashSet<&'m str>,
    /// Pairs of caller and callee: calls that lead back to a function that is already being called.
    recursive: HashSet<(&'m str, &'m str)>,
}

impl<'m> Sharing<'m> {
    /// Computes the size of a kernel with all calls inlined; `None` if that is not too large. `taken`: the functions
    /// whose addresses the kernel might find somewhere.
    pub(super) fn plan(
        (module, functions): (&'m Module, Functions<'m>),
        taken: &[&'m str],
        kernel: &'m Function,
        growth: Growth,
    ) -> Option<Self> {
        let graph = CallGraph::of((module, functions), taken, kernel);
        let is_large = graph.inlined > growth.free
            && graph.inlined > graph.statements.saturating_mul(growth.times);
        if !is_large || graph.height > MAX_CALLS {
            return None;
        }
        let is_shared = |(_, (count, fits)): &(&&str, &(u32, bool))| *count > 1 && *fits;
        let shared = graph.calls.iter().filter(is_shared).map(|(name, _)| *name).collect();
        Some(Self { shared, recursive: graph.recursive })
    }

    pub(super) fn is_shared(&self, callee: &str) -> bool {
        self.shared.contains(callee)
    }

    pub(super) fn is_recursive(&self, caller: &'m str, callee: &'m str) -> bool {
        self.recursive.contains(&(caller, callee))
    }
}

/// The calls that a kernel can make.
#[derive(Debug, Default)]
struct CallGraph<'m> {
    /// For each callee, the number of its calls in the text, and whether all of them can share its parameters.
    calls: HashMap<&'m str, (u32, bool)>,
    recursive: HashSet<(&'m str, &'m str)>,
    /// Statements in the text of all functions; `inlined` counts them with all calls inlined.
    statements: u64,
    inlined: u64,
    /// The deepest nesting of calls, the kernel included.
    height: usize,
}

/// A function on the stack of the search.
struct Visit<'m> {
    name: &'m str,
    callees: Vec<&'m str>,
    next: usize,
    /// Statements of the function with the calls visited so far inlined.
    inlined: u64,
    height: usize,
}

impl<'m> CallGraph<'m> {
    fn of(
        (module, functions): (&'m Module, Functions<'m>),
        taken: &[&'m str],
        kernel: &'m Function,
    ) -> Self {
        let mut graph = Self::default();
        let mut done: HashMap<&str, (u64, usize)> = HashMap::default();
        let mut stack = vec![graph.visit((module, functions), taken, kernel)];
        let mut open = HashSet::from_iter([module.name(kernel.name)]);
        while let Some(visit) = stack.last_mut() {
            let Some(&callee) = visit.callees.get(visit.next) else {
                let (name, inlined, height) = (visit.name, visit.inlined, visit.height);
                (graph.inlined, graph.height) = (inlined, height);
                done.insert(name, (inlined, height));
                open.remove(name);
                stack.pop();
                continue;
            };
            if let Some(&(inlined, height)) = done.get(callee) {
                visit.inlined = visit.inlined.saturating_add(inlined);
                visit.height = visit.height.max(height + 1);
                visit.next += 1;
            } else if open.contains(callee) {
                graph.recursive.insert((visit.name, callee));
                visit.next += 1;
            } else if let Some(function) = functions.get(callee) {
                open.insert(callee);
                let visit = graph.visit((module, functions), taken, function);
                stack.push(visit);
            }
        }
        graph
    }

    fn visit(
        &mut self,
        (module, functions): (&'m Module, Functions<'m>),
        taken: &[&'m str],
        function: &'m Function,
    ) -> Visit<'m> {
        let mut callees = Vec::new();
        let mut size = 1;
        if let Some(body) = &function.body {
            size += body.statements.len() as u64;
            let scopes = Scopes::collect(module, &body.statements);
            let names = FunctionNames { module, body, scopes: &scopes, functions, taken };
            let definitions = Definitions::of(names);
            // Computed on demand, because most functions call nothing.
            let uses = LazyCell::new(|| parameters::uses(names, function));
            for (scope, instruction) in instructions(body) {
                let Some(call) = Call::of(module, body, instruction) else { continue };
                // A function with more calls exceeds the limit of linked lines: each callee is at least one line.
                if callees.len() > MAX_LINES {
                    break;
                }
                for callee in entered_by(&call, names, &definitions, scope) {
                    let calls = self.calls.entry(callee).or_insert((0, true));
                    calls.0 += 1;
                    calls.1 &= parameters::fit(names, scope, &call, callee, &uses);
                    callees.push(callee);
                }
            }
        }
        self.statements += size;
        Visit { name: module.name(function.name), callees, next: 0, inlined: size, height: 1 }
    }
}

/// Returns the functions with a body that a call might enter.
fn entered_by<'m>(
    call: &Call<'m>,
    names: FunctionNames<'_, 'm>,
    definitions: &Definitions<'m>,
    scope: Scope,
) -> Vec<&'m str> {
    let direct = call.callee.name().map(|callee| names.module.name(callee));
    let callees = match direct.and_then(|callee| names.functions.name(callee)) {
        Some(name) => vec![name],
        None => definitions.targets(names, scope, call).functions,
    };
    let has_body =
        |name: &&str| names.functions.get(name).is_some_and(|function| function.body.is_some());
    callees.into_iter().filter(has_body).collect()
}
