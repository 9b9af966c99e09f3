//! A recorded launch as one that is checked.

use std::collections::{BTreeMap, BTreeSet};

use weft_core::flow::Param;
use weft_core::launch::{Allocation, Arg, Dim3, Fields, Launch, Within};

use super::recorded::{RecordedAllocation, RecordedArg, RecordedLaunch, RecordedPointer};
use super::writers::Writers;

impl RecordedLaunch {
    /// Returns this launch with the options and limits of `stated`: the arguments, sizes and contents are those of the record,
    /// nothing else is required of them. `params`: the parameters of the kernel that is checked; `writers`: what kernels might
    /// have written before.
    pub(super) fn launch(
        &self,
        stated: &Launch,
        params: &[Param],
        writers: &mut Writers<'_>,
    ) -> Launch {
        let known: Vec<bool> = self
            .allocations
            .iter()
            .map(|own| own.passed.iter().all(|by| !writers.might_write(by)))
            .collect();
        let args = self.args.iter().flatten().zip(params).enumerate();
        let args: BTreeMap<usize, Arg> =
            args.filter_map(|(at, (arg, param))| Some((at, value(arg, param)?))).collect();
        Launch {
            block: Some(dim(self.block).into()),
            grid: Some(dim(self.grid).into()),
            shared: Some(self.shared),
            args,
            buffers: self.reached(&known),
            requires: Vec::new(),
            ..stated.clone()
        }
    }

    /// Returns the allocations into which arguments point, and those into which pointers in known contents lead from there.
    /// `known`: whether the contents of each are what the host gave.
    fn reached(&self, known: &[bool]) -> BTreeMap<String, Allocation> {
        let of_args = self.args.iter().flatten().flat_map(|arg| &arg.pointers);
        let mut open: Vec<usize> = of_args.map(|pointer| pointer.allocation).collect();
        let mut reached = BTreeSet::new();
        while let Some(at) = open.pop() {
            if reached.insert(at) && known[at] {
                open.extend(self.allocations[at].pointers.iter().map(|pointer| pointer.allocation));
            }
        }
        let buffer = |at: usize| (buffer_name(at), allocation(&self.allocations[at], known[at]));
        reached.into_iter().map(buffer).collect()
    }
}

fn allocation(own: &RecordedAllocation, is_known: bool) -> Allocation {
    let size = Some(own.size);
    if !is_known {
        return Allocation { size, ..Allocation::default() };
    }
    let pointers = own.pointers.iter().map(|pointer| (pointer.at, within(pointer)));
    Allocation { size, contents: own.contents.clone(), pointers: pointers.collect() }
}

fn dim([x, y, z]: [u32; 3]) -> Dim3 {
    Dim3 { x, y, z }
}

/// Returns the name of an allocation in reports: a letter, as far as they go.
fn buffer_name(at: usize) -> String {
    let letter = u8::try_from(at).ok().filter(|at| *at < 26).map(|at| char::from(b'a' + at));
    letter.map_or_else(|| format!("buffer{at}"), String::from)
}

fn within(pointer: &RecordedPointer) -> Within {
    Within { buffer: buffer_name(pointer.allocation), offset: pointer.offset }
}

/// Returns the value of an argument; `None` for one that is left open: a number of a kind that cannot be stated exactly.
fn value(arg: &RecordedArg, param: &Param) -> Option<Arg> {
    if !param.is_scalar {
        let fields = arg.pointers.iter().map(|own| (own.at, Arg::Within(within(own)))).collect();
        return Some(Arg::Fields(Fields { bytes: Some(arg.bytes.clone()), fields }));
    }
    if let [pointer] = &arg.pointers[..] {
        return Some(Arg::Within(within(pointer)));
    }
    match (param.is_float, &arg.bytes[..]) {
        (true, bytes) => number(bytes).filter(|own| !own.is_nan()).map(Arg::Float),
        (false, bytes) => Some(Arg::Integer(integer(bytes, param.is_signed)?)),
    }
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
