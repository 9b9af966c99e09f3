//! The ctas of a launch, cluster by cluster.

use crate::launch::Dim3;

/// A cta of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cta {
    /// Coordinates in the grid.
    pub at: [u32; 3],
    /// Linear index in the grid.
    pub index: u32,
}

impl Cta {
    /// Returns the cta with these coordinates in a grid.
    pub fn at(grid: Dim3, at: [u32; 3]) -> Self {
        Self { at, index: u32::try_from(grid.index(at)).unwrap_or(u32::MAX) }
    }
}

/// Returns the cta of this rank in the cluster that begins with `first`.
pub fn member(grid: Dim3, cluster: Dim3, first: Cta, rank: u64) -> Cta {
    if rank == 0 {
        return first;
    }
    let within = cluster.point(rank);
    Cta::at(grid, std::array::from_fn(|part| first.at[part].saturating_add(within[part])))
}

/// How the ctas of a grid form clusters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clustering {
    pub(crate) grid: Dim3,
    /// The ctas of a cluster.
    pub(crate) cluster: Dim3,
}

impl Clustering {
    /// The clusters along each dimension of the grid.
    fn across(self) -> Dim3 {
        let Dim3 { x, y, z } = self.cluster;
        Dim3 { x: self.grid.x / x, y: self.grid.y / y, z: self.grid.z / z }
    }

    /// Returns the first cta of the cluster with this linear index.
    pub(crate) fn first(self, number: u64) -> Cta {
        let Dim3 { x, y, z } = self.cluster;
        let [across, down, deep] = self.across().point(number);
        Cta::at(self.grid, [across * x, down * y, deep * z])
    }

    /// Returns the linear index of the cluster of a cta.
    pub(crate) fn number(self, cta: Cta) -> u64 {
        let Dim3 { x, y, z } = self.cluster;
        let [column, row, layer] = cta.at;
        self.across().index([column / x, row / y, layer / z])
    }

    /// Returns the number of clusters.
    pub(crate) fn count(self) -> u64 {
        self.across().count()
    }

    /// Returns the number of ctas of whole clusters that are at least so many ctas.
    pub(crate) fn whole(self, ctas: u64) -> u64 {
        ctas.next_multiple_of(self.size())
    }

    /// Returns the number of ctas of a cluster.
    pub(crate) fn size(self) -> u64 {
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
        for number in 0..clustering.count() {
            let first = clustering.first(number);
            for rank in 0..clustering.size() {
                let cta = member(grid, cluster, first, rank);
                assert_eq!(clustering.number(cta), number);
                assert_eq!(grid.point(cta.index.into()), cta.at);
                seen.push(cta.index);
            }
        }
        seen.sort_unstable();
        assert!(seen.into_iter().map(u64::from).eq(0..grid.count()));
        assert_eq!((clustering.whole(64), clustering.whole(66)), (66, 66));
    }
}
