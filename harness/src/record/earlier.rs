//! Which kernels a process had launched before, in the order in which it did so first.

use std::collections::{BTreeMap, BTreeSet};

/// The kernels that were launched before some point. Equal lists have the same number, in whatever processes they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EarlierKernels(usize);

/// A kernel: the name of its module, and its own.
pub(super) type LaunchedName = (String, String);

/// Returns what stands for a kernel whose name cannot be read, in the line at `place`: it is of no module, so that nothing is known of what
/// it writes.
pub(super) fn unknown(place: &str) -> LaunchedName {
    (String::new(), place.to_owned())
}

/// Lists of kernels, each a shorter list and one more kernel. The number 0 is the empty list; a list has a greater number than
/// the shorter one.
#[derive(Clone, Debug, Default)]
pub(super) struct EarlierLists {
    lists: Vec<(EarlierKernels, LaunchedName)>,
    numbers: BTreeMap<(EarlierKernels, LaunchedName), EarlierKernels>,
}

/// The lists of one process, from the empty one on, each with one more kernel.
#[derive(Debug)]
pub(super) struct ProcessKernels {
    lists: Vec<EarlierKernels>,
    known: BTreeSet<LaunchedName>,
}

impl Default for ProcessKernels {
    fn default() -> Self {
        Self { lists: vec![EarlierKernels::default()], known: BTreeSet::new() }
    }
}

impl ProcessKernels {
    /// Adds a kernel, if it is new.
    pub(super) fn add(&mut self, kernel: LaunchedName, all: &mut EarlierLists) {
        if let Some(last) = self.lists.last().copied()
            && self.known.insert(kernel.clone())
        {
            self.lists.push(all.longer(last, kernel));
        }
    }

    /// Returns the list of the first kernels; `None` if there are not so many.
    pub(super) fn first(&self, count: usize) -> Option<EarlierKernels> {
        self.lists.get(count).copied()
    }
}

impl EarlierLists {
    fn longer(&mut self, list: EarlierKernels, kernel: LaunchedName) -> EarlierKernels {
        let lists = &mut self.lists;
        *self.numbers.entry((list, kernel)).or_insert_with_key(|key| {
            lists.push(key.clone());
            EarlierKernels(lists.len())
        })
    }

    /// Returns whether the test holds for a kernel of a list. `known`: the answers for the lists with the first numbers.
    pub(super) fn any(
        &self,
        list: EarlierKernels,
        known: &mut Vec<bool>,
        mut test: impl FnMut(&LaunchedName) -> bool,
    ) -> bool {
        if known.is_empty() {
            known.push(false);
        }
        while known.len() <= list.0 {
            let Some((shorter, kernel)) = self.lists.get(known.len() - 1) else { return true };
            let answer = known[shorter.0] || test(kernel);
            known.push(answer);
        }
        known[list.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_shared_and_end_where_they_ended() {
        let kernel = |name: &str| ("m".to_owned(), name.to_owned());
        let mut all = EarlierLists::default();
        let mut processes = [ProcessKernels::default(), ProcessKernels::default()];
        for process in &mut processes {
            for name in ["a", "b", "a"] {
                process.add(kernel(name), &mut all);
            }
        }
        processes[1].add(kernel("c"), &mut all);
        let [first, second] = processes;
        assert_eq!((first.first(2), first.first(3)), (second.first(2), None));
        assert!(second.first(3) > second.first(2));
        let mut known = Vec::new();
        let mut has_b = |list| all.any(list, &mut known, |(_, name)| name == "b");
        let answers = [2, 1, 3, 0].map(|count| has_b(second.first(count).unwrap()));
        assert_eq!(answers, [true, false, true, false]);
    }
}
