//! The launch settings on the command line. They override `weft.toml`.

use std::collections::BTreeMap;
use std::num::ParseIntError;

use clap::{Args, ValueEnum};
use weft_core::launch::requires::{self, Requirement};
use weft_core::launch::{
    Arg, Atomics, BarrierDivergence, Buffer, Dim3, Dimensions, Fields, Launch, Misfit, Schedule,
    TensorBox,
};
use weft_harness::config::{self, ArgKey, Element, LimitSettings};
use weft_harness::signature::ParameterNames;

/// The flags for launch settings.
#[derive(Clone, Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Launch")]
pub(crate) struct CommandSettings {
    /// Threads of a cta
    #[arg(long, value_name = "X[,Y[,Z]]|any", value_parser = block)]
    block: Option<Dimensions>,
    /// Ctas of the grid
    #[arg(long, value_name = "X[,Y[,Z]]|any", value_parser = grid)]
    grid: Option<Dimensions>,
    /// Ctas of a cluster
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = cluster)]
    cluster: Option<Dim3>,
    /// Bytes of dynamic shared memory
    #[arg(long, value_name = "BYTES")]
    shared: Option<u32>,
    /// An argument by name or position: `n=1024`, `2=1.5`, `3=buffer`, a buffer with contents `x=u64:4,4,1`, a tensor
    /// map by the bytes of its box `4=tensor:16384`, or a field of a structure at its first byte `4.16=buffer`
    #[arg(long = "arg", value_name = "ARG=VALUE", value_parser = argument)]
    args: Vec<(ArgKey, Arg)>,
    /// A condition that every launch that is meant fulfils, such as `n <= 1024`, `#1 % 16 == 0` or `pow2(block.x)`
    #[arg(long = "require", value_name = "CONDITION", value_parser = requires::parse)]
    requires: Vec<Requirement>,
    /// The lanes of a warp run in lock step
    #[arg(long)]
    warp_synchronous: bool,
    /// How the results of atomics are modelled
    #[arg(long, value_enum)]
    atomics: Option<AtomicsWord>,
    /// Which barrier divergence is a defect
    #[arg(long, value_enum)]
    barrier_divergence: Option<DivergenceWord>,
    /// The number of concrete inputs that an open verdict is tried with, to find races: a number, or `off`. 8 if
    /// nothing is stated
    #[arg(long, value_name = "N|off", value_parser = witness)]
    witness: Option<u32>,
    /// Which values the host might pass for the inputs that the launch leaves open
    #[arg(long, value_enum)]
    inputs: Option<InputsWord>,
    /// Which warp runs next: `in-order` (the default), `reverse`, `in-turn`, `latest`, or `random=SEED`. The verdict
    /// does not depend on it
    #[arg(long, value_parser = schedule)]
    schedule: Option<Schedule>,
    /// Maximum number of instructions that the check of a kernel runs in all ctas and passes, counted once a warp
    /// (536870912)
    #[arg(long, value_name = "INSTRUCTIONS", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
    /// Maximum memory that the check of a kernel takes, such as `512MiB` (1 GiB)
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    limit_memory: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AtomicsWord {
    /// First as abstract; as unique if that settles more
    Auto,
    /// The result of an atomic is an open value
    Abstract,
    /// A counter never returns the same value twice
    Unique,
    /// An atomic is a plain read and a plain write
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DivergenceWord {
    /// All threads of the cta must reach the same barriers
    Cta,
    /// The rule of PTX for aligned barriers
    Warp,
    /// No barrier divergence is reported
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum InputsWord {
    /// Every value: a race for one of them is a defect
    Any,
    /// Some values, which nothing states
    Some,
}

impl CommandSettings {
    /// Overrides the settings of a kernel's launch with those that are given here. `names`: the kernel's parameters.
    ///
    /// # Errors
    /// A name that no parameter of the kernel has.
    pub(crate) fn apply(
        &self,
        launch: &mut Launch,
        names: &ParameterNames,
    ) -> Result<(), NoParameter> {
        launch.block = self.block.or(launch.block);
        launch.grid = self.grid.or(launch.grid);
        launch.cluster = self.cluster.or(launch.cluster);
        launch.shared = self.shared.or(launch.shared);
        for (key, arg) in &self.args {
            let position = key.position(names).ok_or_else(|| NoParameter::of(key, names))?;
            let arg = arg.clone().over(launch.args.get(&position));
            launch.args.insert(position, arg);
        }
        launch.requires.extend_from_slice(&self.requires);
        launch.options.warp_synchronous |= self.warp_synchronous;
        launch.options.schedule = self.schedule.unwrap_or(launch.options.schedule);
        launch.options.witness = self.witness.unwrap_or(launch.options.witness);
        if let Some(word) = self.inputs {
            launch.options.any_inputs = word == InputsWord::Any;
        }
        let stated = LimitSettings { instructions: self.limit, memory: self.limit_memory };
        launch.limit = stated.over(launch.limit);
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
        Ok(())
    }
}

/// A name in `--arg` that no parameter of a kernel has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("--arg {name}: kernel `{kernel}` has no parameter `{name}`; {remedy}")]
pub(crate) struct NoParameter {
    name: String,
    kernel: String,
    remedy: String,
}

impl NoParameter {
    fn of(key: &ArgKey, names: &ParameterNames) -> Self {
        let name = key.to_string();
        let remedy = names.remedy(&name);
        Self { name, kernel: names.kernel.clone(), remedy }
    }
}

/// Why a word of the command line is not a valid setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SettingError {
    #[error("expected one to three numbers, such as 256 or 16,16, or `any`")]
    Extent(#[source] ParseIntError),
    #[error("expected one to three numbers, found {0}")]
    Dimensions(usize),
    #[error("a cta has 1 to 1024 threads, not {0}")]
    Block(u64),
    #[error("`{0}` is no size of memory, such as 512MiB")]
    Memory(String),
    #[error("a block of {0}")]
    BlockExtent(Misfit),
    #[error("a grid of {0}")]
    GridExtent(Misfit),
    #[error("a grid of {0} ctas: at most 4294967295 can be checked; choose a smaller grid")]
    Grid(u64),
    #[error("a cluster has 1 to 16 ctas, not {0}")]
    Cluster(u64),
    #[error("expected ARG=VALUE, such as n=1024 or 2=1024")]
    NoEquals,
    #[error(
        "`{0}` is neither a name nor a position; arguments are counted from 0, and 4.16 is the field at byte 16 of a structure"
    )]
    Position(String),
    #[error("`{0}` is no type of buffer contents; they are u8 to u64, i8 to i64, f32 and f64")]
    Type(String),
    #[error("`{value}` is no {ty}")]
    Element { value: String, ty: &'static str },
    #[error(
        "`{0}` is neither a number nor `buffer` nor contents such as u64:4,4,1 nor a tensor map such as tensor:16384"
    )]
    Value(String),
    #[error(
        "`{0}` states no box of a tensor map: its bytes are a multiple of 16 that fits shared memory, such as tensor:16384"
    )]
    Box(String),
    #[error("`{0}` is neither a number of inputs nor `off`")]
    Witness(String),
    #[error("`{0}` is no schedule; they are in-order, reverse, in-turn, latest, and random=SEED")]
    Schedule(String),
}

fn block(text: &str) -> Result<Dimensions, SettingError> {
    if text == Dimensions::ANY {
        return Ok(Dimensions::Any);
    }
    let dim = extent(text)?;
    match dim.misfit(Dim3::MAX_BLOCK) {
        _ if !(1..=Dim3::MAX_THREADS).contains(&dim.count()) => {
            Err(SettingError::Block(dim.count()))
        }
        Some(misfit) => Err(SettingError::BlockExtent(misfit)),
        None => Ok(Dimensions::Is(dim)),
    }
}

fn grid(text: &str) -> Result<Dimensions, SettingError> {
    if text == Dimensions::ANY {
        return Ok(Dimensions::Any);
    }
    let dim = extent(text)?;
    match dim.misfit(Dim3::MAX_GRID) {
        Some(misfit) => Err(SettingError::GridExtent(misfit)),
        None if dim.count() > Dim3::MAX_CTAS => Err(SettingError::Grid(dim.count())),
        None => Ok(Dimensions::Is(dim)),
    }
}

fn cluster(text: &str) -> Result<Dim3, SettingError> {
    let dim = extent(text)?;
    match dim.count() {
        1..=Dim3::MAX_CLUSTER => Ok(dim),
        count => Err(SettingError::Cluster(count)),
    }
}

fn extent(text: &str) -> Result<Dim3, SettingError> {
    let parts: Result<Vec<u32>, _> =
        text.split([',', 'x']).map(|part| part.trim().parse()).collect();
    match *parts.map_err(SettingError::Extent)? {
        [x] => Ok(Dim3::line(x)),
        [x, y] => Ok(Dim3 { x, y, z: 1 }),
        [x, y, z] => Ok(Dim3 { x, y, z }),
        ref other => Err(SettingError::Dimensions(other.len())),
    }
}

fn memory(text: &str) -> Result<u64, SettingError> {
    config::size(text).ok_or_else(|| SettingError::Memory(text.to_owned()))
}

fn witness(text: &str) -> Result<u32, SettingError> {
    match text {
        "off" => Ok(0),
        _ => text.parse().map_err(|_| SettingError::Witness(text.to_owned())),
    }
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

fn argument(text: &str) -> Result<(ArgKey, Arg), SettingError> {
    let (key, value) = text.split_once('=').ok_or(SettingError::NoEquals)?;
    let wrong = || SettingError::Position(key.to_owned());
    let value = self::value(value.trim())?;
    match key.trim().split_once('.') {
        Some((key, first)) => {
            let field = (first.parse().map_err(|_| wrong())?, value);
            let fields = Fields { bytes: None, fields: BTreeMap::from([field]) };
            Ok((ArgKey::parse(key).ok_or_else(wrong)?, Arg::Fields(fields)))
        }
        None => Ok((ArgKey::parse(key.trim()).ok_or_else(wrong)?, value)),
    }
}

fn value(text: &str) -> Result<Arg, SettingError> {
    if text == "buffer" {
        return Ok(Arg::Buffer(Buffer::default()));
    }
    if let Some(bytes) = text.strip_prefix("tensor:") {
        let tensor = bytes.trim().parse().ok().and_then(TensorBox::of);
        return tensor.map(Arg::Tensor).ok_or_else(|| SettingError::Box(text.to_owned()));
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

/// Parses an integer, decimal or with `0x`, with an optional minus sign.
fn integer(text: &str) -> Option<i128> {
    let (minus, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let value = match digits.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if minus { -value } else { value })
}

/// Returns the little-endian bytes of a list of numbers.
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
        let is = |x, y, z| Ok(Dimensions::Is(Dim3 { x, y, z }));
        assert_eq!(block("256"), is(256, 1, 1));
        assert_eq!(block("16,8,2"), is(16, 8, 2));
        assert_eq!(block("16x16"), is(16, 16, 1));
        assert_eq!((block("any"), grid("any")), (Ok(Dimensions::Any), Ok(Dimensions::Any)));
        assert_eq!(block("0"), Err(SettingError::Block(0)));
        assert_eq!(block("2000"), Err(SettingError::Block(2000)));
        assert_eq!(block("1,2,3,4"), Err(SettingError::Dimensions(4)));
        assert!(matches!(block("many"), Err(SettingError::Extent(_))));
        assert_eq!(grid("2147483647"), is(2_147_483_647, 1, 1));
        let misfit = |dimension, given, most| Misfit { dimension, given, most };
        assert_eq!(block("1,1,64"), is(1, 1, 64));
        assert_eq!(block("1,1,65"), Err(SettingError::BlockExtent(misfit("z", 65, 64))));
        assert_eq!(grid("1,65535"), is(1, 65535, 1));
        assert_eq!(grid("1,65536"), Err(SettingError::GridExtent(misfit("y", 65536, 65535))));
        assert_eq!(grid("1,0,1"), Err(SettingError::GridExtent(misfit("y", 0, 65535))));
        let many = misfit("x", 2_147_483_648, 2_147_483_647);
        assert_eq!(grid("2147483648"), Err(SettingError::GridExtent(many)));
        assert_eq!(grid("65535,65535"), is(65535, 65535, 1));
        assert!(matches!(grid("65538,65535"), Err(SettingError::Grid(_))));
    }

    #[test]
    fn arguments_are_numbers_or_buffers() {
        let at = ArgKey::Position;
        let name = |name: &str| ArgKey::Name(name.to_owned());
        assert_eq!(argument("n=1024"), Ok((name("n"), Arg::Integer(1024))));
        assert_eq!(argument("2=1024"), Ok((at(2), Arg::Integer(1024))));
        assert_eq!(argument("2=-1"), Ok((at(2), Arg::Integer(-1))));
        assert_eq!(argument("2=0xff"), Ok((at(2), Arg::Integer(255))));
        assert_eq!(argument("2=1.5"), Ok((at(2), Arg::Float(1.5))));
        assert_eq!(argument("3=buffer"), Ok((at(3), Arg::Buffer(Buffer::default()))));
        let four: Vec<u8> = [4_u64, 4, 1].iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!(
            argument("3=u64:4,4,1"),
            Ok((at(3), Arg::Buffer(Buffer { contents: Some(four) })))
        );
        assert_eq!(argument("3"), Err(SettingError::NoEquals));
        let tensor = Arg::Tensor(TensorBox { bytes: 16384 });
        assert_eq!(argument("3=tensor:16384"), Ok((at(3), tensor)));
        for wrong in ["0", "8", "16k", "262144"] {
            let wrong = format!("tensor:{wrong}");
            assert_eq!(argument(&format!("3={wrong}")), Err(SettingError::Box(wrong)));
        }
        let field = |first, arg| {
            Arg::Fields(Fields { bytes: None, fields: BTreeMap::from([(first, arg)]) })
        };
        assert_eq!(argument("4.24=7"), Ok((at(4), field(24, Arg::Integer(7)))));
        assert_eq!(argument("4.0=buffer"), Ok((at(4), field(0, Arg::Buffer(Buffer::default())))));
        for wrong in ["4.x=7", ".4=7", "4.1.2=7", "4.=7", "4.-1=7"] {
            assert!(matches!(argument(wrong), Err(SettingError::Position(_))), "{wrong}");
        }
        assert_eq!(
            argument("a.0=buffer"),
            Ok((name("a"), field(0, Arg::Buffer(Buffer::default()))))
        );
        for wrong in ["01=3", "+1=3", "=3", "a b=3", "1a=3"] {
            assert!(matches!(argument(wrong), Err(SettingError::Position(_))), "{wrong}");
        }
        assert_eq!(argument("3=u65:1"), Err(SettingError::Type("u65".into())));
        assert_eq!(
            argument("3=u8:256"),
            Err(SettingError::Element { value: "256".into(), ty: "u8" })
        );
        assert_eq!(argument("3=many"), Err(SettingError::Value("many".into())));
    }

    #[test]
    fn sizes_of_memory_have_units() {
        assert_eq!(memory("4096"), Ok(4096));
        assert_eq!(memory("512MiB"), Ok(512 << 20));
        assert_eq!(memory("2 GiB"), Ok(2 << 30));
        for wrong in ["", "MiB", "0", "5 MB", "-1", "99999999999 GiB", "1.5 GiB"] {
            assert_eq!(memory(wrong), Err(SettingError::Memory(wrong.into())));
        }
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
    fn witnesses_are_counted_or_off() {
        assert_eq!((witness("0"), witness("12"), witness("off")), (Ok(0), Ok(12), Ok(0)));
        for wrong in ["", "on", "-1", "1.5"] {
            assert_eq!(witness(wrong), Err(SettingError::Witness(wrong.into())));
        }
    }

    #[test]
    fn what_is_stated_overrides_and_the_rest_stays() {
        let mut launch =
            Launch { shared: Some(64), block: Some(Dim3::line(32).into()), ..Launch::default() };
        let stated = CommandSettings {
            block: Some(Dim3::line(128).into()),
            args: vec![
                (ArgKey::Position(1), Arg::Integer(7)),
                (ArgKey::Name("n".into()), Arg::Integer(8)),
            ],
            ..CommandSettings::default()
        };
        let names = ParameterNames { ptx: vec!["n".into()], ..ParameterNames::default() };
        stated.apply(&mut launch, &names).unwrap();
        assert!(stated.apply(&mut Launch::default(), &ParameterNames::default()).is_err());
        assert_eq!((launch.block, launch.shared), (Some(Dim3::line(128).into()), Some(64)));
        assert_eq!((&launch.args[&0], &launch.args[&1]), (&Arg::Integer(8), &Arg::Integer(7)));
        assert_eq!(launch.options.atomics, Atomics::Auto);
    }

    #[test]
    fn fields_of_a_structure_add_up() {
        let bytes = Arg::Buffer(Buffer { contents: Some(vec![0; 32]) });
        let mut launch = Launch { args: BTreeMap::from([(4, bytes)]), ..Launch::default() };
        let args = ["4.16=buffer", "4.24=7", "4.24=8"].map(|text| argument(text).unwrap());
        CommandSettings { args: args.into(), ..CommandSettings::default() }
            .apply(&mut launch, &ParameterNames::default())
            .unwrap();
        let fields = BTreeMap::from([(16, Arg::Buffer(Buffer::default())), (24, Arg::Integer(8))]);
        assert_eq!(launch.args[&4], Arg::Fields(Fields { bytes: Some(vec![0; 32]), fields }));
        let args = vec![argument("4=1").unwrap()];
        CommandSettings { args, ..CommandSettings::default() }
            .apply(&mut launch, &ParameterNames::default())
            .unwrap();
        assert_eq!(launch.args[&4], Arg::Integer(1));
    }
}
