//! The ctas of a launch, cluster by cluster, and how many of them are checked at a time.

use crate::emulate::Cta;
use crate::launch::Dim3;

/// The number of ctas that are checked first. If there are more and these are clean, `FIRST` times as many are checked,
/// and so on. If they are not clean, the other ctas are not run: further findings of the same kind would not help.
pub(super) const FIRST: u64 = 64;

/// How the ctas of a grid form clusters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clustering {
    pub(super) grid: Dim3,
    /// The ctas of a cluster.
    pub(super) cluster: Dim3,
}

impl Clustering {
    /// Returns the first cta of the cluster with this linear index.
    pub(super) fn first(self, number: u64) -> Cta {
        let Dim3 { x, y, z } = self.cluster;
        let clusters = Dim3 { x: self.grid.x / x, y: self.grid.y / y, z: self.grid.z / z };
        let [across, down, deep] = clusters.point(number);
        Cta::at(self.grid, [across * x, down * y, deep * z])
    }

    /// Returns the number of ctas of whole clusters that are at least so many ctas.
    pub(super) fn whole(self, ctas: u64) -> u64 {
        ctas.next_multiple_of(self.size())
    }

    /// Returns the number of ctas of a cluster.
    pub(super) fn size(self) -> u64 {
        self.cluster.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cta_is_in_one_cluster() {
        let (grid, cluster) = (Dim3 { x: 6, y: 4, z: 2 }, Dim3 { x: 3, y: 2, z: 1 });
        let clustering = Clustering { grid, cluster };
        let mut seen = Vec::new();
        for number in 0..grid.count() / clustering.size() {
            let first = clustering.first(number);
            for rank in 0..clustering.size() {
                let cta = crate::emulate::member(grid, cluster, first, rank);
                assert_eq!(grid.point(cta.index.into()), cta.at);
                seen.push(cta.index);
            }
        }
        seen.sort_unstable();
        assert!(seen.into_iter().map(u64::from).eq(0..grid.count()));
        assert_eq!((clustering.whole(64), clustering.whole(66)), (66, 66));
    }
}
