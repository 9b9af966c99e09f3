//! Tensor maps: 128 bytes that the driver makes of an address, sizes and modes, and kernels get by value (`CUtensorMap`).
//!
//! What NVIDIA's driver puts into them is not documented. Here they hold all that they were made of, behind a mark by which a map is known
//! wherever the program copies it.

use crate::json::Json;

/// Bytes of a map.
pub(crate) const SIZE: usize = 128;
/// What a map begins with.
const MARK: [u8; 8] = *b"weft-map";
/// Dimensions of the largest tensor.
pub(crate) const RANK: usize = 5;

/// How boxes of the tensor are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As they are: elements along each dimension.
    Tiled([u16; RANK]),
    /// Columns of pixels: both corners of the box of pixels in each dimension between the first and the last, then channels and pixels.
    Columns { lower: [i16; RANK - 2], upper: [i16; RANK - 2], channels: u16, pixels: u16 },
    /// The same for wide images: corners in the width alone, and the mode.
    Wide { lower: i16, upper: i16, channels: u16, pixels: u16, mode: u8 },
}

/// What a map was made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TensorMap {
    /// Address of the first element.
    pub(crate) address: u64,
    /// Number of the type of elements (`CUtensorMapDataType`).
    pub(crate) element: u8,
    /// Number of dimensions, of at most [`RANK`]: only so many of the lists are meant.
    pub(crate) rank: usize,
    /// Elements in each dimension, less one: 2^32 is the most.
    pub(crate) last: [u32; RANK],
    /// Bytes from one element to the next in each dimension but the first.
    pub(crate) strides: [u64; RANK - 1],
    /// Steps in each dimension, in elements.
    pub(crate) steps: [u8; RANK],
    /// Numbers of the modes of interleaving, swizzling, promotion and filling.
    pub(crate) modes: [u8; 4],
    /// Which boxes are taken.
    pub(crate) mode: Mode,
}

/// Names of the types of elements, as instructions of PTX name them, with their bits.
pub(crate) const ELEMENTS: [(&str, u64); 16] = [
    ("u8", 8),
    ("u16", 16),
    ("u32", 32),
    ("s32", 32),
    ("u64", 64),
    ("s64", 64),
    ("f16", 16),
    ("f32", 32),
    ("f64", 64),
    ("bf16", 16),
    ("f32.ftz", 32),
    ("tf32", 32),
    ("tf32.ftz", 32),
    ("b4x16", 4),
    ("b4x16_p64", 4),
    ("b6x16_p32", 6),
];

/// Bytes in the order in which they are written and read.
struct Bytes {
    all: [u8; SIZE],
    at: usize,
}

impl Bytes {
    fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        if let Some(place) = self.all.get_mut(self.at..self.at + N) {
            place.copy_from_slice(&bytes);
        }
        self.at += N;
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        let found = self.all.get(self.at..self.at + N).and_then(|bytes| bytes.try_into().ok());
        self.at += N;
        found.unwrap_or([0; N])
    }

    fn number(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    fn signed(&mut self) -> i16 {
        i16::from_le_bytes(self.take())
    }
}

impl TensorMap {
    /// Returns the bytes of the map. The address is a word of its own, so that it is found as a pointer where maps lie in memory.
    pub(crate) fn encode(&self) -> [u8; SIZE] {
        let mut to = Bytes { all: [0; SIZE], at: 0 };
        to.put(MARK);
        to.put(self.address.to_le_bytes());
        to.put([self.element, u8::try_from(self.rank).unwrap_or(0)]);
        self.last.iter().for_each(|last| to.put(last.to_le_bytes()));
        self.strides.iter().for_each(|stride| to.put(stride.to_le_bytes()));
        to.put(self.steps);
        to.put(self.modes);
        match self.mode {
            Mode::Tiled(sizes) => {
                to.put([0]);
                for size in sizes {
                    to.put(size.to_le_bytes());
                }
            }
            Mode::Columns { lower, upper, channels, pixels } => {
                to.put([1]);
                lower.iter().chain(&upper).for_each(|corner| to.put(corner.to_le_bytes()));
                to.put(channels.to_le_bytes());
                to.put(pixels.to_le_bytes());
            }
            Mode::Wide { lower, upper, channels, pixels, mode } => {
                to.put([2, mode]);
                to.put(lower.to_le_bytes());
                to.put(upper.to_le_bytes());
                to.put(channels.to_le_bytes());
                to.put(pixels.to_le_bytes());
            }
        }
        to.all
    }

    /// Returns the map that these bytes begin with; `None` for other bytes.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let all: [u8; SIZE] = bytes.get(..SIZE)?.try_into().ok()?;
        let mut from = Bytes { all, at: 0 };
        if from.take::<8>() != MARK {
            return None;
        }
        let address = u64::from_le_bytes(from.take());
        let [element, rank] = from.take();
        let last = std::array::from_fn(|_| u32::from_le_bytes(from.take()));
        let strides = std::array::from_fn(|_| u64::from_le_bytes(from.take()));
        let (steps, modes) = (from.take(), from.take());
        let mode = match from.take() {
            [0] => Mode::Tiled(std::array::from_fn(|_| from.number())),
            [1] => Mode::Columns {
                lower: std::array::from_fn(|_| from.signed()),
                upper: std::array::from_fn(|_| from.signed()),
                channels: from.number(),
                pixels: from.number(),
            },
            [2] => {
                let [mode] = from.take();
                let (lower, upper) = (from.signed(), from.signed());
                Mode::Wide { lower, upper, channels: from.number(), pixels: from.number(), mode }
            }
            _ => return None,
        };
        let rank = usize::from(rank).min(RANK);
        Some(TensorMap { address, element, rank, last, strides, steps, modes, mode })
    }

    /// Writes what the map says as members of an object.
    pub(crate) fn write(&self, json: &mut Json) {
        let rank = self.rank;
        let mode = match self.mode {
            Mode::Tiled(_) => "tiled",
            Mode::Columns { .. } => "im2col",
            Mode::Wide { .. } => "im2col-wide",
        };
        json.text("mode", mode);
        json.text("element", ELEMENTS.get(usize::from(self.element)).map_or("", |own| own.0));
        let sizes: Vec<u64> = self.last.iter().map(|last| u64::from(*last) + 1).collect();
        json.numbers("dims", &sizes[..rank]);
        json.numbers("strides", &self.strides[..rank.saturating_sub(1)]);
        match self.mode {
            Mode::Tiled(sizes) => json.numbers("box", &sizes[..rank].map_all(u64::from)),
            Mode::Columns { lower, upper, channels, pixels } => {
                let corners = rank.saturating_sub(2);
                json.signed("lower", &lower[..corners].map_all(i64::from));
                json.signed("upper", &upper[..corners].map_all(i64::from));
                json.number("channels", channels);
                json.number("pixels", pixels);
            }
            Mode::Wide { lower, upper, channels, pixels, mode } => {
                json.signed("lower", &[lower.into()]);
                json.signed("upper", &[upper.into()]);
                json.number("channels", channels);
                json.number("pixels", pixels);
                json.number("wide", mode);
            }
        }
        json.numbers("steps", &self.steps[..rank].map_all(u64::from));
        let names = ["interleave", "swizzle", "promotion", "fill"];
        for (name, value) in names.into_iter().zip(self.modes) {
            json.number(name, value);
        }
    }
}

/// A list with each value changed.
trait MapAll<T> {
    fn map_all<U>(&self, change: impl Fn(T) -> U) -> Vec<U>;
}

impl<T: Copy> MapAll<T> for [T] {
    fn map_all<U>(&self, change: impl Fn(T) -> U) -> Vec<U> {
        self.iter().copied().map(change).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Mode, TensorMap};
    use crate::json::Json;

    fn map(mode: Mode) -> TensorMap {
        TensorMap {
            address: 0x3b5d_2c00_0040,
            element: 6,
            rank: 4,
            last: [63, 31, 7, u32::MAX, 0],
            strides: [128, 4096, 32768, 0],
            steps: [1, 1, 2, 8, 0],
            modes: [0, 3, 2, 1],
            mode,
        }
    }

    #[test]
    fn maps_come_back_from_their_bytes() {
        let (channels, pixels) = (64, 1024);
        let all = [
            Mode::Tiled([64, 256, 1, 1, 0]),
            Mode::Columns { lower: [-1, -128, 0], upper: [1, 127, 0], channels, pixels },
            Mode::Wide { lower: -32768, upper: 32767, channels, pixels, mode: 1 },
        ];
        for mode in all {
            let bytes = map(mode).encode();
            assert_eq!(TensorMap::decode(&bytes), Some(map(mode)));
            assert_eq!(TensorMap::decode(&bytes[..127]), None);
            // The last byte is not needed, so that all before it fit.
            assert_eq!(bytes[127], 0);
        }
        assert_eq!(TensorMap::decode(&[0; 128]), None);
    }

    #[test]
    fn maps_are_written_as_the_record_documents() {
        let text = |mode| Json::object(|json| map(mode).write(json));
        assert_eq!(
            text(Mode::Tiled([64, 256, 1, 1, 0])),
            r#"{"mode":"tiled","element":"f16","dims":[64,32,8,4294967296],"strides":[128,4096,32768],"box":[64,256,1,1],"steps":[1,1,2,8],"interleave":0,"swizzle":3,"promotion":2,"fill":1}"#
        );
        let columns =
            Mode::Columns { lower: [-1, 2, 9], upper: [1, -2, 9], channels: 64, pixels: 8 };
        assert!(text(columns).contains(
            r#""strides":[128,4096,32768],"lower":[-1,2],"upper":[1,-2],"channels":64,"pixels":8,"steps""#
        ));
    }
}
