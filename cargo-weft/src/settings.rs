//! The launch as the command line states it. What is stated here overrides weft.toml.

use std::num::ParseIntError;

use clap::{Args, ValueEnum};
use weft_core::launch::{Arg, Atomics, BarrierDivergence, Buffer, Dim3, Launch, Schedule};
use weft_harness::config::Element;

/// Threads of a cta that any device takes.
const MOST_THREADS: u64 = 1024;
/// Ctas of a grid that any device takes.
const MOST_CTAS: u64 = 2_147_483_647;

/// Flags that say what a kernel is launched with.
#[derive(Clone, Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Launch")]
pub(crate) struct Settings {
    /// Threads of a cta
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = block)]
    block: Option<Dim3>,
    /// Ctas of the grid
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = grid)]
    grid: Option<Dim3>,
    /// Bytes of dynamic shared memory
    #[arg(long, value_name = "BYTES")]
    shared: Option<u32>,
    /// An argument by position: `2=1024`, `2=1.5`, `3=buffer`, or a buffer with contents `3=u64:4,4,1`
    #[arg(long = "arg", value_name = "POS=VALUE", value_parser = argument)]
    args: Vec<(usize, Arg)>,
    /// The lanes of a warp run in lock step
    #[arg(long)]
    warp_synchronous: bool,
    /// How results of atomics are understood
    #[arg(long, value_enum)]
    atomics: Option<AtomicsWord>,
    /// Which barrier divergence is a defect
    #[arg(long, value_enum)]
    barrier_divergence: Option<DivergenceWord>,
    /// Which warp runs next: `in-order` (the default), `reverse`, `in-turn`, `latest`, or `random=SEED`. The verdict does
    /// not depend on it
    #[arg(long, value_parser = schedule)]
    schedule: Option<Schedule>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AtomicsWord {
    /// As abstract; as unique where that settles more
    Auto,
    /// A result is an open value
    Abstract,
    /// Counters never repeat a value
    Unique,
    /// An atomic is a plain read and write
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DivergenceWord {
    /// All threads of the cta must reach the same barriers
    Cta,
    /// PTX's own rule
    Warp,
    /// None
    Off,
}

impl Settings {
    /// Puts what is stated in place of what `launch` says.
    pub(crate) fn apply(&self, launch: &mut Launch) {
        launch.block = self.block.or(launch.block);
        launch.grid = self.grid.or(launch.grid);
        launch.shared = self.shared.unwrap_or(launch.shared);
        launch.args.extend(self.args.iter().cloned());
        launch.options.warp_synchronous |= self.warp_synchronous;
        launch.options.schedule = self.schedule.unwrap_or(launch.options.schedule);
        if let Some(word) = self.atomics {
            launch.options.atomics = match word {
                AtomicsWord::Auto => Atomics::Auto,
                AtomicsWord::Abstract => Atomics::Abstract,
                AtomicsWord::Unique => Atomics::Unique,
                AtomicsWord::Off => Atomics::Off,
            };
        }
        if let Some(word) = self.barrier_divergence {
            launch.options.barrier_divergence = match word {
                DivergenceWord::Cta => BarrierDivergence::Cta,
                DivergenceWord::Warp => BarrierDivergence::Warp,
                DivergenceWord::Off => BarrierDivergence::Off,
            };
        }
    }
}

/// Why a word of the command line is no launch setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SettingError {
    #[error("expected one to three numbers, such as 256 or 16,16")]
    Extent(#[source] ParseIntError),
    #[error("expected one to three numbers, found {0}")]
    Dimensions(usize),
    #[error("a cta has 1 to 1024 threads, not {0}")]
    Block(u64),
    #[error("a launch has 1 to 2147483647 ctas, not {0}")]
    Grid(u64),
    #[error("expected POS=VALUE, such as 2=1024")]
    NoEquals,
    #[error("`{0}` is no position; arguments are counted from 0")]
    Position(String),
    #[error("`{0}` is no type of buffer contents; they are u8 to u64, i8 to i64, f32 and f64")]
    Type(String),
    #[error("`{value}` is no {ty}")]
    Element { value: String, ty: &'static str },
    #[error("`{0}` is neither a number nor `buffer` nor contents such as u64:4,4,1")]
    Value(String),
    #[error("`{0}` is no schedule; they are in-order, reverse, in-turn, latest, and random=SEED")]
    Schedule(String),
}

fn block(text: &str) -> Result<Dim3, SettingError> {
    let dim = extent(text)?;
    if (1..=MOST_THREADS).contains(&dim.count()) {
        Ok(dim)
    } else {
        Err(SettingError::Block(dim.count()))
    }
}

fn grid(text: &str) -> Result<Dim3, SettingError> {
    let dim = extent(text)?;
    if (1..=MOST_CTAS).contains(&dim.count()) {
        Ok(dim)
    } else {
        Err(SettingError::Grid(dim.count()))
    }
}

/// Extents whose product fits 64 bits, so that it can be judged.
fn extent(text: &str) -> Result<Dim3, SettingError> {
    let parts: Result<Vec<u32>, _> =
        text.split([',', 'x']).map(|part| part.trim().parse()).collect();
    let dim = match *parts.map_err(SettingError::Extent)? {
        [x] => Dim3::line(x),
        [x, y] => Dim3 { x, y, z: 1 },
        [x, y, z] => Dim3 { x, y, z },
        ref other => return Err(SettingError::Dimensions(other.len())),
    };
    let product =
        [dim.x, dim.y, dim.z].into_iter().map(u64::from).try_fold(1_u64, u64::checked_mul);
    product.map(|_| dim).ok_or(SettingError::Grid(u64::MAX))
}

fn schedule(text: &str) -> Result<Schedule, SettingError> {
    let random = || text.strip_prefix("random=")?.parse().ok().map(Schedule::Random);
    match text {
        "in-order" => Ok(Schedule::InOrder),
        "reverse" => Ok(Schedule::Reverse),
        "in-turn" => Ok(Schedule::InTurn),
        "latest" => Ok(Schedule::Latest),
        _ => random().ok_or_else(|| SettingError::Schedule(text.to_owned())),
    }
}

fn argument(text: &str) -> Result<(usize, Arg), SettingError> {
    let (position, value) = text.split_once('=').ok_or(SettingError::NoEquals)?;
    let position =
        position.trim().parse().map_err(|_| SettingError::Position(position.to_owned()))?;
    Ok((position, self::value(value.trim())?))
}

fn value(text: &str) -> Result<Arg, SettingError> {
    if text == "buffer" {
        return Ok(Arg::Buffer(Buffer::default()));
    }
    if let Some((ty, elements)) = text.split_once(':') {
        let contents = contents(ty.trim(), elements)?;
        return Ok(Arg::Buffer(Buffer { contents: Some(contents) }));
    }
    if let Some(integer) = integer(text) {
        return Ok(Arg::Integer(integer));
    }
    text.parse().map(Arg::Float).map_err(|_| SettingError::Value(text.to_owned()))
}

/// A whole number, decimal or `0x`, with an optional minus.
fn integer(text: &str) -> Option<i128> {
    let (minus, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let value = match digits.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if minus { -value } else { value })
}

/// The bytes of a list of numbers, little-endian.
fn contents(ty: &str, elements: &str) -> Result<Vec<u8>, SettingError> {
    let element = Element::from_name(ty).ok_or_else(|| SettingError::Type(ty.to_owned()))?;
    let mut bytes = Vec::new();
    for text in elements.split(',').map(str::trim) {
        let encoded = match integer(text) {
            Some(value) => element.encode_integer(value),
            None => text.parse().ok().and_then(|value| element.encode_float(value)),
        };
        bytes.extend(
            encoded.ok_or_else(|| SettingError::Element {
                value: text.to_owned(),
                ty: element.name(),
            })?,
        );
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_are_one_to_three_numbers_within_the_hardware() {
        assert_eq!(block("256"), Ok(Dim3::line(256)));
        assert_eq!(block("16,8,2"), Ok(Dim3 { x: 16, y: 8, z: 2 }));
        assert_eq!(block("16x16"), Ok(Dim3 { x: 16, y: 16, z: 1 }));
        assert_eq!(block("0"), Err(SettingError::Block(0)));
        assert_eq!(block("2000"), Err(SettingError::Block(2000)));
        assert_eq!(block("1,2,3,4"), Err(SettingError::Dimensions(4)));
        assert!(matches!(block("many"), Err(SettingError::Extent(_))));
        assert_eq!(grid("2147483647"), Ok(Dim3::line(2_147_483_647)));
        assert!(matches!(grid("4294967295,4294967295,4294967295"), Err(SettingError::Grid(_))));
    }

    #[test]
    fn arguments_are_numbers_or_buffers() {
        assert_eq!(argument("2=1024"), Ok((2, Arg::Integer(1024))));
        assert_eq!(argument("2=-1"), Ok((2, Arg::Integer(-1))));
        assert_eq!(argument("2=0xff"), Ok((2, Arg::Integer(255))));
        assert_eq!(argument("2=1.5"), Ok((2, Arg::Float(1.5))));
        assert_eq!(argument("3=buffer"), Ok((3, Arg::Buffer(Buffer::default()))));
        let four: Vec<u8> = [4_u64, 4, 1].iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!(argument("3=u64:4,4,1"), Ok((3, Arg::Buffer(Buffer { contents: Some(four) }))));
        assert_eq!(argument("3"), Err(SettingError::NoEquals));
        assert_eq!(argument("x=3"), Err(SettingError::Position("x".into())));
        assert_eq!(argument("3=u65:1"), Err(SettingError::Type("u65".into())));
        assert_eq!(
            argument("3=u8:256"),
            Err(SettingError::Element { value: "256".into(), ty: "u8" })
        );
        assert_eq!(argument("3=many"), Err(SettingError::Value("many".into())));
    }

    #[test]
    fn schedules_have_names_and_seeds() {
        assert_eq!(schedule("reverse"), Ok(Schedule::Reverse));
        assert_eq!(schedule("random=7"), Ok(Schedule::Random(7)));
        for wrong in ["random", "random=", "random=x", "backwards"] {
            assert_eq!(schedule(wrong), Err(SettingError::Schedule(wrong.into())));
        }
    }

    #[test]
    fn what_is_stated_overrides_and_the_rest_stays() {
        let mut launch = Launch { shared: 64, block: Some(Dim3::line(32)), ..Launch::default() };
        let stated = Settings {
            block: Some(Dim3::line(128)),
            args: vec![(1, Arg::Integer(7))],
            ..Settings::default()
        };
        stated.apply(&mut launch);
        assert_eq!((launch.block, launch.shared), (Some(Dim3::line(128)), 64));
        assert_eq!(launch.args[&1], Arg::Integer(7));
        assert_eq!(launch.options.atomics, Atomics::Auto);
    }
}
