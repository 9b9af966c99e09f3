//! Parts of memory and their contents before the launch.

use std::sync::Arc;

use crate::emulate::value::origin::Origin;

/// A part of memory and its contents before the launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// First byte.
    pub(crate) start: u64,
    /// Number of bytes; accesses beyond it belong to no segment.
    pub(crate) size: u64,
    /// Known contents from the first byte on.
    pub(crate) contents: Arc<[u8]>,
    /// Ranges of `contents`, as positions of their first bytes and of the bytes after their last ones, that are open
    /// after all; ascending.
    pub(crate) gaps: Arc<[(u64, u64)]>,
    /// Whether zeros follow the known contents; otherwise what follows is open.
    pub(crate) zeros_follow: bool,
    /// Where open contents come from.
    pub(crate) origin: Origin,
}

impl Segment {
    /// Returns a segment of which these bytes are known from its first one on.
    pub(super) fn partly_known(
        start: u64,
        size: u64,
        bytes: &[Option<u8>],
        origin: Origin,
    ) -> Self {
        let mut gaps: Vec<(u64, u64)> = Vec::new();
        for (at, _) in (0_u64..).zip(bytes).filter(|(_, byte)| byte.is_none()) {
            match gaps.last_mut().filter(|(_, behind)| *behind == at) {
                Some((_, behind)) => *behind = at + 1,
                None => gaps.push((at, at + 1)),
            }
        }
        // A segment of which nothing is known is one without contents.
        let is_open = gaps.first() == Some(&(0, bytes.len() as u64));
        let contents: Arc<[u8]> = bytes.iter().map(|byte| byte.unwrap_or(0)).collect();
        let (contents, gaps) = if is_open { <_>::default() } else { (contents, gaps.into()) };
        Self { start, size, contents, gaps, zeros_follow: false, origin }
    }

    /// Returns the byte at an address, if it is known.
    pub(super) fn byte(&self, address: u64) -> Option<u8> {
        let at = address.checked_sub(self.start).filter(|at| *at < self.size)?;
        let given = usize::try_from(at).ok().and_then(|at| self.contents.get(at)).copied();
        given.filter(|_| !self.is_gap(at)).or(self.zeros_follow.then_some(0))
    }

    fn is_gap(&self, at: u64) -> bool {
        let behind = self.gaps.partition_point(|(first, _)| *first <= at);
        behind.checked_sub(1).is_some_and(|gap| at < self.gaps[gap].1)
    }

    /// Whether none of the bytes `from..to`, which lie in the segment, is known.
    pub(super) fn is_open(&self, from: u64, to: u64) -> bool {
        let (from, to) = (from - self.start, to - self.start);
        let end = to.min(self.contents.len() as u64);
        let is_gap = |(first, behind): &(u64, u64)| *first <= from && end <= *behind;
        !self.zeros_follow && (from >= end || self.gaps.iter().any(is_gap))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_bytes_and_gaps_are_told_apart() {
        let bytes = [None, Some(1), Some(2), None, None, Some(5), None];
        let segment = Segment::partly_known(100, 10, &bytes, Origin::Contents(0));
        let found: Vec<_> = (98..112).map(|at| segment.byte(at)).collect();
        let mut expected = vec![None; 14];
        (expected[3], expected[4], expected[7]) = (Some(1), Some(2), Some(5));
        assert_eq!(found, expected);
        for from in 100..110 {
            for to in from + 1..=110 {
                let is_open = (from..to).all(|at| segment.byte(at).is_none());
                assert_eq!(segment.is_open(from, to), is_open, "{from}..{to}");
            }
        }
    }

    #[test]
    fn a_segment_of_open_bytes_has_no_contents() {
        let segment = Segment::partly_known(0, 8, &[None; 8], Origin::Contents(0));
        assert!(segment.contents.is_empty() && segment.gaps.is_empty() && segment.is_open(0, 8));
    }
}
