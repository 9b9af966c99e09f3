//! The values of the trials, ordinary ones first: sizes around the number of threads, distinct strides and small
//! numbers; then equal and extreme ones, and after the table random ones. They are the same in every search.

use std::collections::BTreeMap;

use super::open::{OpenContents, OpenInputs, OpenNumber};
use super::roles::NumberRole;
use crate::explain::setting::ElementType;
use crate::explain::witness::{ChosenInput, ChosenValue};

/// The bytes of a buffer with chosen contents.
const BUFFER: usize = 1 << 16;
/// Chosen elements are less than this.
const ELEMENTS: u64 = 8;
/// A bound of which there are several: a number of dimensions, for instance. Even, so that words stay aligned.
const FEW: u64 = 4;
/// The binary logarithm of a divisor that comes as a reciprocal and a shift.
const SHIFT: u32 = 2;
/// The innermost stride of several, and how many times as large the next one is: aligned for most accesses, and small enough
/// that indices stay within buffers with chosen contents.
const INNERMOST: u64 = 8;
const STEP: u64 = 4;
/// Tensors have up to so many dimensions: after that many strides, those of another one begin.
const DIMENSIONS: u32 = 4;
/// The largest number that is chosen: the largest of 32 bits with a sign.
const LARGEST: u64 = i32::MAX as u64;

/// The values for bounds.
#[derive(Clone, Copy)]
enum BoundValues {
    /// The number of threads for the first bound, which is often the number of elements, and small numbers for others.
    FirstThreads,
    /// The number of threads.
    Threads,
    /// A few less.
    Fewer,
    /// A few more.
    More,
    Small,
}

/// The values for factors.
#[derive(Clone, Copy)]
enum Factors {
    /// As the strides of shapes, the innermost dimension last.
    Descending,
    /// As the strides of shapes, the innermost dimension first.
    Ascending,
    /// All have this value.
    All(u64),
}

/// The contents of buffers that decide something.
#[derive(Clone, Copy)]
enum BufferContents {
    Open,
    /// From 1 on, as extents and strides are.
    Positive,
    /// From 0 on, as indices and flags are.
    Small,
    /// One half are numbers that the kernel compares elements with, the other half small numbers from 0 on; all are small if it
    /// compares them with none.
    Compared,
    Zero,
}

const TABLE: [(BoundValues, Factors, BufferContents); 8] = [
    (BoundValues::FirstThreads, Factors::Descending, BufferContents::Positive),
    (BoundValues::Small, Factors::Descending, BufferContents::Small),
    (BoundValues::Fewer, Factors::Ascending, BufferContents::Compared),
    (BoundValues::Threads, Factors::Descending, BufferContents::Positive),
    (BoundValues::More, Factors::All(1), BufferContents::Positive),
    (BoundValues::FirstThreads, Factors::All(0), BufferContents::Open),
    (BoundValues::Small, Factors::All(0), BufferContents::Zero),
    (BoundValues::Threads, Factors::All(LARGEST), BufferContents::Zero),
];

/// Returns the input of the trial with this number.
pub(super) fn choose(open: &OpenInputs, number: u32) -> ChosenInput {
    let row = TABLE.get(number as usize).copied();
    let mut dice = RandomChoices(u64::from(number));
    let (bounds, factors, contents) = row.unwrap_or_else(|| dice.row());
    let factor_count = open.numbers.iter().filter(|open| open.role == NumberRole::Factor).count();
    let block = open.blocks.map(|blocks| blocks[number as usize % blocks.len()]);
    let threads = open.threads(block);
    let mut values = BTreeMap::new();
    let (mut factor, mut is_first) = (0, true);
    for (index, open_number) in (0_u64..).zip(&open.numbers) {
        let value = match open_number.role {
            NumberRole::Bound => {
                let is_first = std::mem::take(&mut is_first);
                bound(bounds, is_first, threads)
            }
            NumberRole::Trips => bound(bounds, false, threads),
            // The extents of a shape: small, distinct, and never zero.
            NumberRole::Divisor => 4 + index % 8,
            // At least twice as large as what divides it.
            NumberRole::Dividend => 24,
            NumberRole::Reciprocal => 1,
            NumberRole::Shift => SHIFT.into(),
            NumberRole::ShiftDivisor => 1 << SHIFT,
            NumberRole::Factor => {
                let before = factor;
                factor += 1;
                factor_value(factors, before, factor_count, threads)
            }
            NumberRole::Element => 1 + index % (ELEMENTS - 1),
            // Numbers that are used for nothing known are equal only if they are small.
            NumberRole::Unknown => match factors {
                Factors::All(value) if value <= 1 => value,
                _ => 1 + index % 8,
            },
        };
        values.insert(open_number.at, fitting(open_number, value));
    }
    for (at, own) in &open.contents {
        let bytes = match contents {
            BufferContents::Open => continue,
            BufferContents::Zero => vec![0; BUFFER],
            BufferContents::Positive => dice.elements(own.element, 1),
            BufferContents::Small => dice.elements(own.element, 0),
            BufferContents::Compared => dice.compared_elements(own),
        };
        values.insert(*at, ChosenValue::Contents(own.element, bytes));
    }
    ChosenInput { block, grid: open.grid, values }
}

fn bound(bounds: BoundValues, is_first: bool, threads: u64) -> u64 {
    match bounds {
        BoundValues::FirstThreads if !is_first => FEW,
        BoundValues::FirstThreads | BoundValues::Threads => threads,
        BoundValues::Fewer => threads.saturating_sub(3).max(1),
        BoundValues::More => threads.saturating_add(5),
        BoundValues::Small => ELEMENTS,
    }
}

/// Returns the value of one of several factors. A single one is taken to be the length of a row.
fn factor_value(factors: Factors, index: u32, count: usize, threads: u64) -> u64 {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    let row = threads.next_power_of_two();
    let (index, of) = (index % DIMENSIONS, count.min(DIMENSIONS));
    let power = |exponent: u32| match of {
        0..DIMENSIONS => row.saturating_pow(exponent),
        _ => INNERMOST * STEP.pow(exponent),
    };
    match factors {
        Factors::All(value) => value,
        Factors::Descending if count == 1 => row,
        Factors::Descending => power((of - 1).saturating_sub(index)),
        Factors::Ascending => power(index),
    }
}

/// Returns a value as a number of the parameter's type.
fn fitting(number: &OpenNumber, value: u64) -> ChosenValue {
    let value = value.min(LARGEST);
    if number.is_float {
        let float = u16::try_from(value).map_or(1.0, f64::from);
        return ChosenValue::Float(float);
    }
    let largest = if number.bytes < 4 { (1 << (number.bytes * 8 - 1)) - 1 } else { LARGEST };
    ChosenValue::Integer(value.min(largest).into())
}

/// A source of numbers (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
struct RandomChoices(u64);

impl RandomChoices {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % below
    }

    fn row(&mut self) -> (BoundValues, Factors, BufferContents) {
        let bounds = [
            BoundValues::FirstThreads,
            BoundValues::Threads,
            BoundValues::Fewer,
            BoundValues::More,
            BoundValues::Small,
        ];
        let contents = [
            BufferContents::Open,
            BufferContents::Positive,
            BufferContents::Compared,
            BufferContents::Zero,
        ];
        let factors = Factors::All(self.roll(256));
        (bounds[self.index(bounds.len())], factors, contents[self.index(contents.len())])
    }

    /// Returns a number below `count`.
    fn index(&mut self, count: usize) -> usize {
        usize::try_from(self.roll(count as u64)).unwrap_or(0)
    }

    fn compared_elements(&mut self, own: &OpenContents) -> Vec<u8> {
        let OpenContents { element, compared } = own;
        if compared.is_empty() {
            return self.elements(*element, 0);
        }
        let count = BUFFER / element.bytes;
        let mut one = || {
            let value = match self.roll(2) {
                0 => self.roll(ELEMENTS),
                _ => compared[self.index(compared.len())],
            };
            value.to_le_bytes()
        };
        (0..count).flat_map(|_| one().into_iter().take(element.bytes)).collect()
    }

    fn elements(&mut self, element: ElementType, least: u64) -> Vec<u8> {
        let count = BUFFER / element.bytes;
        let mut one = || u8::try_from(least + self.roll(ELEMENTS - least)).unwrap_or(0);
        (0..count).flat_map(|_| element.encode(one())).collect()
    }
}
