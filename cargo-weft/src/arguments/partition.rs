//! `--partition`: the part of the kernels that one machine of several checks.

use std::str::FromStr;

/// A part of the kernels and launches: shard `shard` of `of`, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Partition {
    kind: PartitionKind,
    pub(crate) shard: u64,
    pub(crate) of: u64,
}

/// How kernels and launches are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartitionKind {
    /// By their names: what is added or removed moves nothing else.
    Hash,
    /// In turn.
    Count,
}

/// A text that is no partition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected `hash:M/N` or `count:M/N`, shard M of N, such as `hash:1/4` for the first of four"
)]
pub(crate) struct PartitionError;

impl FromStr for Partition {
    type Err = PartitionError;

    fn from_str(text: &str) -> Result<Self, PartitionError> {
        let (kind, part) = text.split_once(':').ok_or(PartitionError)?;
        let kind = match kind {
            "hash" => PartitionKind::Hash,
            "count" => PartitionKind::Count,
            _ => return Err(PartitionError),
        };
        let (shard, of) = part.split_once('/').ok_or(PartitionError)?;
        let number = |text: &str| text.parse::<u64>().map_err(|_| PartitionError);
        let (shard, of) = (number(shard)?, number(of)?);
        if (1..=of).contains(&shard) { Ok(Self { kind, shard, of }) } else { Err(PartitionError) }
    }
}

impl Partition {
    /// Whether a kernel and launch belongs to the shard. `name`: its name in reports; `index`: its place among all that are
    /// distributed, from 0.
    pub(crate) fn has(self, name: &str, index: usize) -> bool {
        let place = match self.kind {
            PartitionKind::Count => index as u64,
            PartitionKind::Hash => {
                let hash = blake3::hash(name.as_bytes());
                let first = hash.as_bytes().first_chunk().copied().unwrap_or_default();
                u64::from_le_bytes(first)
            }
        };
        place % self.of == self.shard - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partition(text: &str) -> Partition {
        text.parse().expect("it is a partition")
    }

    #[test]
    fn a_partition_is_a_shard_of_a_number() {
        for wrong in
            ["", "1/4", "hash:0/4", "hash:5/4", "hash:1/0", "slice:1/4", "hash:1", "count:a/b"]
        {
            assert_eq!(wrong.parse::<Partition>(), Err(PartitionError), "{wrong}");
        }
    }

    #[test]
    fn each_name_is_in_one_shard_whatever_the_others_are() {
        let names: Vec<String> = (0..1000).map(|at| format!("p::k.ptx::kernel_{at}")).collect();
        for kind in ["hash", "count"] {
            let shards: Vec<Partition> =
                (1..=4).map(|shard| partition(&format!("{kind}:{shard}/4"))).collect();
            let mut sizes = [0; 4];
            for (index, name) in names.iter().enumerate() {
                let having: Vec<usize> = (0..4).filter(|at| shards[*at].has(name, index)).collect();
                let [shard] = having[..] else { panic!("{name} is in {having:?}") };
                sizes[shard] += 1;
            }
            assert!(sizes.iter().all(|size| (200..=300).contains(size)), "{sizes:?}");
        }
        assert_eq!(partition("hash:1/4").has("a", 0), partition("hash:1/4").has("a", 1));
    }

    /// A shard has the same kernels on every machine and with every version of the program.
    #[test]
    fn the_hash_is_that_of_blake3() {
        // The first byte of BLAKE3 of the empty text is 0xaf, which is odd.
        assert!(partition("hash:2/2").has("", 0));
        assert!(!partition("hash:1/2").has("", 0));
    }
}
