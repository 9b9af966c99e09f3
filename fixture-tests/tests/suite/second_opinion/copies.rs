//! The asynchronous copies of a thread that it has not waited for.

use weft_core::emulate::CopyCommand;

use super::relation::Point;

/// The copies of one thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copies {
    /// Each copy with the number of its group, if it belongs to one.
    flying: Vec<(Option<u64>, Point)>,
    /// The number of groups that the thread has made.
    groups: u64,
}

impl Copies {
    /// Adds a copy.
    pub(crate) fn add(&mut self, copy: Point) {
        self.flying.push((None, copy));
    }

    /// Groups the copies, or waits for groups; returns the copies that are complete now.
    pub(crate) fn command(&mut self, command: CopyCommand) -> Vec<Point> {
        let CopyCommand::Wait(keep) = command else {
            self.flying.iter_mut().for_each(|(group, _)| *group = group.or(Some(self.groups)));
            self.groups += 1;
            return Vec::new();
        };
        let complete = |group: Option<u64>| group.is_some_and(|own| own + keep < self.groups);
        let (landed, flying) = self.flying.iter().partition(|(group, _)| complete(*group));
        self.flying = flying;
        let landed: Vec<(Option<u64>, Point)> = landed;
        landed.into_iter().map(|(_, copy)| copy).collect()
    }
}
