//! A recorded launch as one that is checked.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use weft_core::flow::Param;
use weft_core::launch::allocation::{MAX_BUFFER, MOST_GIVEN, POINTER};
use weft_core::launch::{Allocation, Arg, Dim3, Fields, Launch, TensorBox, Within};

use super::recorded::{
    RecordedAllocation, RecordedArg, RecordedLaunch, RecordedMap, RecordedPointer,
};

/// The most allocations that a launch is checked with, those nearest to its arguments: the checker has addresses for more, but not for any number.
const MOST_REACHED: usize = 2048;

/// The bytes that an allocation begins with; `None`: one that the host never gave.
pub(super) type GivenBytes = Vec<Option<u8>>;

impl RecordedLaunch {
    /// Returns this launch with the options and limits of `stated`: the arguments, sizes and contents are those of the record,
    /// nothing else is required of them. `params`: the parameters of the kernel that is checked; `variables`: those that kernels
    /// might have changed; `contents`: what the host put into memory, by name.
    pub(super) fn launch(
        &self,
        stated: &Launch,
        params: &[Param],
        variables: &[String],
        contents: &BTreeMap<String, GivenBytes>,
    ) -> Launch {
        let args = self.args.iter().flatten().zip(params).enumerate();
        let args = args.filter_map(|(at, (arg, param))| Some((at, self.value(arg, param)?)));
        Launch {
            block: Some(dim(self.block).into()),
            grid: Some(dim(self.grid).into()),
            cluster: self.cluster.map(dim),
            shared: Some(self.shared),
            args: args.collect(),
            buffers: self.reached(contents),
            changed: variables.iter().chain(&self.variables).cloned().collect(),
            requires: Vec::new(),
            ..stated.clone()
        }
    }

    /// Returns the value of an argument; `None` for one that is left open: a number of a kind that cannot be stated exactly, or a
    /// pointer to a variable.
    fn value(&self, arg: &RecordedArg, param: &Param) -> Option<Arg> {
        let pointer = |own: &RecordedPointer| self.within(own).map(Arg::Within);
        if !param.is_scalar {
            let fields = arg.pointers.iter().filter_map(|own| Some((own.at, pointer(own)?)));
            let mut fields: BTreeMap<u64, Arg> = fields.collect();
            let has_pointers = fields.len() == arg.pointers.len();
            // Maps elsewhere than where maps can be are none.
            let boxed = |own: &RecordedMap| {
                let is_placed = own.at.is_multiple_of(TensorBox::MAP_ALIGN);
                let tensor = own.tensor.filter(|_| is_placed)?;
                Some((own.at, Arg::Tensor(tensor)))
            };
            let maps: Vec<(u64, Arg)> = arg.maps.iter().filter_map(boxed).collect();
            // What a map is in bytes, nobody but the driver knows: the bytes of one that cannot be stated are open, and all others with them.
            let is_whole = has_pointers && maps.len() == arg.maps.len();
            fields.extend(maps);
            fields.extend(arg.freed.iter().map(|at| (*at, nowhere(FREED))));
            fields.extend(arg.hosts.iter().map(|at| (*at, nowhere(HOST))));
            let bytes = is_whole.then(|| arg.bytes.clone());
            return Some(Arg::Fields(Fields { bytes, fields }));
        }
        match (&arg.pointers[..], param.is_float) {
            ([own], _) => pointer(own),
            ([], _) if !arg.freed.is_empty() => Some(nowhere(FREED)),
            ([], _) if !arg.hosts.is_empty() => Some(nowhere(HOST)),
            ([], true) => number(&arg.bytes).filter(|own| !own.is_nan()).map(Arg::Float),
            ([], false) => integer(&arg.bytes, param.is_signed).map(Arg::Integer),
            _ => None,
        }
    }

    /// Returns where a pointer leads; `None` for one into a variable, which is no buffer: the kernel accesses it by its name as well.
    fn within(&self, pointer: &RecordedPointer) -> Option<Within> {
        let RecordedPointer { allocation, offset, .. } = *pointer;
        let own = &self.allocations[allocation];
        let offset = own.behind + offset;
        (!own.is_variable).then(|| Within { buffer: buffer_name(allocation), offset })
    }

    /// Returns the allocations into which arguments point, and those into which pointers in known contents lead from there.
    fn reached(&self, contents: &BTreeMap<String, GivenBytes>) -> BTreeMap<String, Allocation> {
        let of_args = self.args.iter().flatten().flat_map(|arg| &arg.pointers);
        let is_buffer = |at: &usize| !self.allocations[*at].is_variable;
        let mut reached: BTreeSet<usize> =
            of_args.map(|pointer| pointer.allocation).filter(is_buffer).collect();
        let mut open: VecDeque<usize> = reached.iter().copied().collect();
        while let Some(at) = open.pop_front() {
            let next = self.allocations[at].pointers.iter().map(|pointer| pointer.allocation);
            for next in next.filter(is_buffer) {
                if reached.len() < MOST_REACHED && reached.insert(next) {
                    open.push_back(next);
                }
            }
        }
        let given = |own: &RecordedAllocation| contents.get(own.contents.as_ref()?);
        let buffer = |at: usize| {
            let given = given(&self.allocations[at]).map_or(&[][..], Vec::as_slice);
            (buffer_name(at), self.allocation(at, given, &reached))
        };
        let none = |name: &str, has: fn(&RecordedArg) -> bool| {
            let none = Allocation { size: Some(0), ..Allocation::default() };
            self.args.iter().flatten().any(has).then(|| (name.to_owned(), none))
        };
        let freed = none(FREED, |arg| !arg.freed.is_empty());
        let hosts = none(HOST, |arg| !arg.hosts.is_empty());
        reached.iter().copied().map(buffer).chain(freed).chain(hosts).collect()
    }

    /// Returns an allocation as far as it can be stated: more is open. `given`: the bytes that it begins with. Buffers are aligned, so that
    /// one which begins behind a multiple of 256 is stated with the bytes in front of it, which are of the same page of the host. A pointer to
    /// what is not among the `reached` allocations is open.
    fn allocation(&self, at: usize, given: &[Option<u8>], reached: &BTreeSet<usize>) -> Allocation {
        let own = &self.allocations[at];
        let size = own.size.checked_add(own.behind).filter(|size| *size <= MAX_BUFFER);
        let most = usize::try_from(MOST_GIVEN).unwrap_or(usize::MAX);
        let front = if given.is_empty() { 0 } else { usize::try_from(own.behind).unwrap_or(0) };
        let front = std::iter::repeat_n(None, front);
        let mut contents: GivenBytes = front.chain(given.iter().copied()).take(most).collect();
        let mut pointers = BTreeMap::new();
        for pointer in &own.pointers {
            let place = own.behind + pointer.at;
            if place >= MOST_GIVEN {
                continue;
            }
            let is_stated = place.is_multiple_of(POINTER) && reached.contains(&pointer.allocation);
            let within = self.within(pointer).filter(|_| is_stated);
            if let Some(within) = within {
                pointers.insert(place, within);
            } else {
                let first = usize::try_from(place).unwrap_or(usize::MAX);
                contents.iter_mut().skip(first).take(8).for_each(|byte| *byte = None);
            }
        }
        Allocation { size, contents, pointers }
    }
}

/// The name of the memory, without a byte, that stands for all that was freed.
pub const FREED: &str = "freed";
/// The name of the memory, without a byte, that stands for that of the host, which the device cannot use.
pub const HOST: &str = "host";

/// Returns a pointer to memory without a byte.
fn nowhere(name: &str) -> Arg {
    Arg::Within(Within { buffer: name.to_owned(), offset: 0 })
}

fn dim([x, y, z]: [u32; 3]) -> Dim3 {
    Dim3 { x, y, z }
}

/// Returns the name of an allocation in reports: a letter, as far as they go.
fn buffer_name(at: usize) -> String {
    let letter = u8::try_from(at).ok().filter(|at| *at < 26).map(|at| char::from(b'a' + at));
    letter.map_or_else(|| format!("buffer{at}"), String::from)
}

/// Returns the floating-point number with these bytes, of the sizes that parameters have and that `f64` holds exactly.
fn number(bytes: &[u8]) -> Option<f64> {
    match bytes.len() {
        4 => Some(f64::from(f32::from_le_bytes(bytes.try_into().ok()?))),
        8 => Some(f64::from_le_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}

fn integer(bytes: &[u8], is_signed: bool) -> Option<i128> {
    let mut wide = [0; 16];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    let value = i128::from_le_bytes(wide);
    let bits = u32::try_from(bytes.len()).ok()?.checked_mul(8)?;
    let is_negative = is_signed && (1..128).contains(&bits) && value >> (bits - 1) & 1 == 1;
    Some(if is_negative { value - (1 << bits) } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_those_of_their_bytes() {
        assert_eq!(integer(&[0xfe, 0xff], false), Some(0xfffe));
        assert_eq!(integer(&[0xfe, 0xff], true), Some(-2));
        assert_eq!(integer(&[1, 0, 0, 0, 0, 0, 0, 0x80], true), Some(i128::from(i64::MIN) + 1));
        assert_eq!(integer(&[0xff; 16], true), Some(-1));
        assert_eq!(integer(&[0; 17], true), None);
    }

    #[test]
    fn numbers_are_those_of_their_bytes() {
        assert_eq!(number(&1.5_f32.to_le_bytes()), Some(1.5));
        assert_eq!(number(&(-0.1_f64).to_le_bytes()), Some(-0.1));
        assert_eq!(number(&[0, 0]), None);
    }
}
