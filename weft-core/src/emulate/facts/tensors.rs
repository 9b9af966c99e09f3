//! Tensor maps, by their generic addresses: the boxes that copies move with them, and how they are used.
//!
//! PTX does not state the boxes. Where the launch does not either, they follow from the bytes that a phase of an mbarrier
//! object expects, if all copies of the phase whose boxes are not known move boxes of one tensor map.

use std::collections::BTreeMap;

use crate::flow::PlaceId;

/// How a copy uses the tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum TensorUse {
    /// It reads it.
    Load,
    /// It writes it.
    Store,
    /// It updates it element by element.
    Reduce,
}

/// How tensor maps are used, and where at first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TensorUses(BTreeMap<u64, BTreeMap<TensorUse, PlaceId>>);

impl TensorUses {
    /// Records a use of a tensor map.
    pub(crate) fn add(&mut self, map: u64, how: TensorUse, place: PlaceId) {
        self.0.entry(map).or_default().entry(how).or_insert(place);
    }

    /// Adds what other runs of the check did.
    pub(crate) fn join(&mut self, other: Self) {
        for (map, uses) in other.0 {
            for (how, place) in uses {
                self.add(map, how, place);
            }
        }
    }

    /// Whether some copy uses its tensor so.
    pub(crate) fn has(&self, how: TensorUse) -> bool {
        self.0.values().any(|uses| uses.contains_key(&how))
    }

    /// The tensor maps that are used in several ways of which one changes the tensor, each with the places of two uses.
    pub(crate) fn mixed(&self) -> impl Iterator<Item = (u64, [PlaceId; 2])> {
        self.0.iter().filter_map(|(map, uses)| {
            let mut places = uses.values().rev();
            Some((*map, [*places.next()?, *places.next()?]))
        })
    }
}

/// The tensor maps of a check.
#[derive(Debug, Default)]
pub(crate) struct Tensors {
    /// Bytes of boxes that follow from what phases expect; `None` if what follows from one phase contradicts another.
    boxes: BTreeMap<u64, Option<u64>>,
    has_news: bool,
    /// How the copies so far use them.
    pub(crate) uses: TensorUses,
}

impl Tensors {
    /// The bytes of a box, if they follow from what phases expect.
    pub(crate) fn box_of(&self, map: u64) -> Option<u64> {
        self.boxes.get(&map).copied().flatten()
    }

    /// The boxes that follow from what phases expect.
    pub(crate) fn derived(&self) -> impl Iterator<Item = (u64, u64)> {
        self.boxes.iter().filter_map(|(map, bytes)| Some((*map, (*bytes)?)))
    }

    /// Records that the box of a tensor map has so many bytes. What two phases contradict each other about stays open.
    pub(crate) fn derive(&mut self, map: u64, bytes: u64) {
        let is_known = self.boxes.contains_key(&map);
        if !is_known {
            self.boxes.insert(map, Some(bytes));
            self.has_news = true;
        } else if self.box_of(map).is_some_and(|own| own != bytes) {
            self.contradict(map);
        }
    }

    /// Records that what was derived about a box cannot be.
    pub(crate) fn contradict(&mut self, map: u64) {
        self.has_news |= self.boxes.insert(map, None) != Some(None);
    }

    /// Whether boxes were found that the pass should have known from its start.
    pub(crate) const fn has_news(&self) -> bool {
        self.has_news
    }

    /// Ends a pass. Returns whether it knew all boxes from its start.
    pub(super) fn settle(&mut self) -> bool {
        !std::mem::take(&mut self.has_news)
    }

    /// What a cta that runs by itself starts with.
    pub(super) fn fork(&self) -> Self {
        Self { boxes: self.boxes.clone(), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_that_contradict_each_other_stay_open() {
        let mut tensors = Tensors::default();
        tensors.derive(64, 1024);
        assert!(!tensors.settle());
        tensors.derive(64, 1024);
        assert!(tensors.settle());
        assert_eq!(tensors.box_of(64), Some(1024));
        tensors.derive(64, 2048);
        assert!(!tensors.settle());
        tensors.derive(64, 1024);
        assert_eq!((tensors.box_of(64), tensors.settle()), (None, true));
        assert_eq!(tensors.derived().count(), 0);
    }

    #[test]
    fn a_map_is_mixed_if_it_is_used_in_several_ways() {
        let mut uses = TensorUses::default();
        for (map, how, place) in [
            (0, TensorUse::Load, 1),
            (0, TensorUse::Load, 2),
            (64, TensorUse::Load, 3),
            (64, TensorUse::Store, 4),
            (128, TensorUse::Reduce, 5),
        ] {
            uses.add(map, how, PlaceId(place));
        }
        let mixed: Vec<_> = uses.mixed().collect();
        assert_eq!(mixed, [(64, [PlaceId(4), PlaceId(3)])]);
    }
}
