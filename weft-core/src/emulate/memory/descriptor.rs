//! Descriptors of matrices in shared memory (PTX ISA §9.7.15.5.1.2): which bytes a matrix has. `None` for layouts of which
//! the manual does not say where each element is: nothing is said about their bytes.
//!
//! A matrix consists of units of 16 bytes. If it is K-major, a unit holds successive elements of a row of A or of a column
//! of B; if it is MN-major, successive elements of a column of A or of a row of B.

/// Bytes of a unit.
pub(crate) const UNIT: u64 = 16;

/// Units that lie together, and rows of swizzled units after which the pattern of the swizzle is repeated.
const GROUP: u64 = 8;

/// The fields of a descriptor, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MatrixDescriptor {
    start: u64,
    /// The leading-dimension byte offset.
    leading: u64,
    /// The stride-dimension byte offset.
    stride: u64,
    /// Units of a row within which units are swizzled: 2, 4 or 8; 1 if none are.
    width: u64,
}

/// The part of a matrix that an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MatrixExtent {
    /// Rows of A or columns of B, a multiple of 8.
    pub(crate) lines: u64,
    /// Bytes of each of these, a multiple of 16.
    pub(crate) bytes: u64,
    /// Whether it is MN-major. Its elements then have 2 bytes.
    pub(crate) is_transposed: bool,
}

impl MatrixDescriptor {
    /// Reads a descriptor; `None` if its swizzle does not begin at a multiple of the pattern.
    fn of(bits: u64) -> Option<Self> {
        let offset = |from: u32| (bits >> from & 0x3fff) * UNIT;
        let base_offset = bits >> 49 & 7;
        let width = match bits >> 62 {
            0 => 1,
            1 => 8,
            2 => 4,
            _ => 2,
        };
        let own = Self { start: offset(0), leading: offset(16), stride: offset(32), width };
        (base_offset == 0).then_some(own)
    }

    /// Where the unit is that would be at this address without the swizzle: in the place that the number of its 128 bytes
    /// gives it.
    const fn swizzled(self, address: u64) -> u64 {
        address ^ (address >> 7 & (self.width - 1)) << 4
    }

    /// Whether so many units from the start on are in one row of swizzled units.
    const fn is_in_a_row(self, units: u64) -> bool {
        self.start / UNIT % self.width + units <= self.width
    }

    /// The addresses of the units of a K-major matrix.
    fn rows(self, extent: MatrixExtent) -> Option<Vec<u64>> {
        let Self { start, leading, stride, width } = self;
        let units = extent.bytes / UNIT;
        // Where the third unit of a line is that has no swizzle, or of a row that has no place for it, is not said.
        let is_told = if width == 1 { units <= 2 } else { self.is_in_a_row(units) };
        let along = if width == 1 { leading } else { UNIT };
        let address = |line: u64, unit: u64| {
            start + line / GROUP * stride + line % GROUP * width * UNIT + unit * along
        };
        let all =
            (0..extent.lines).flat_map(|line| (0..units).map(move |unit| address(line, unit)));
        is_told.then(|| all.collect())
    }

    /// The addresses of the units of an MN-major matrix.
    fn columns(self, extent: MatrixExtent) -> Option<Vec<u64>> {
        let Self { start, leading, stride, width } = self;
        let units = extent.lines / (UNIT / 2);
        let is_told = width == 1 || self.is_in_a_row(units.min(width));
        let (across, down) = if width == 1 { (stride, leading) } else { (leading, stride) };
        let address = |unit: u64, line: u64| {
            start
                + unit / width * across
                + unit % width * UNIT
                + line / GROUP * down
                + line % GROUP * width * UNIT
        };
        let lines = extent.bytes / 2;
        let all = (0..units).flat_map(|unit| (0..lines).map(move |line| address(unit, line)));
        is_told.then(|| all.collect())
    }
}

/// Returns the addresses in shared memory of the units of a matrix that a descriptor names, in ascending order; `None` if
/// they do not follow from the manual.
pub(crate) fn units(descriptor: u64, extent: MatrixExtent) -> Option<Vec<u64>> {
    let own = MatrixDescriptor::of(descriptor)?;
    let mut all = if extent.is_transposed { own.columns(extent)? } else { own.rows(extent)? };
    for address in &mut all {
        *address = own.swizzled(*address);
    }
    all.sort_unstable();
    all.dedup();
    Some(all)
}

/// As `units`, for a descriptor of an instruction of tensor memory (PTX ISA §9.7.16.4.1).
pub(crate) fn tensor_units(descriptor: u64, extent: MatrixExtent) -> Option<Vec<u64>> {
    // Units are swizzled as other descriptors say in the two highest bits, and offsets are no addresses.
    let is_alike = descriptor >> 61 & 1 == 0 && descriptor >> 52 & 1 == 0;
    if is_alike { units(descriptor, extent) } else { None }
}

#[cfg(test)]
mod tests;
