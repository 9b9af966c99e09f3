//! Computes the key of a kept report: a hash of everything that the report depends on, which is the checker, the PTX,
//! the kernel and the launch.

use std::collections::BTreeMap;

use blake3::{Hash, Hasher};
use weft_core::launch::{
    Allocation, Arg, Atomics, BarrierDivergence, Buffer, Dim3, Dimensions, Fields, Launch, Limit,
    Options, Schedule, TensorBox, Within,
};

/// Separates these hashes from all other uses of BLAKE3 (its key derivation context).
const CONTEXT: &str = "cargo-weft 2026 verdict of a kernel under a launch";

/// Returns the key of a kernel's report. `checker` is the hash of the program, `text` that of the PTX.
pub(super) fn of(checker: &Hash, text: &Hash, kernel: &str, launch: &Launch) -> Hash {
    let mut key = Key(Hasher::new_derive_key(CONTEXT));
    key.0.update(checker.as_bytes());
    key.0.update(text.as_bytes());
    key.bytes(kernel.as_bytes());
    key.launch(launch);
    key.0.finalize()
}

/// Hashes values so that different sequences of values give different input: numbers have a fixed width, lists and
/// texts are preceded by their length, variants by a number. Every struct is destructured with all its fields, so that
/// a new field cannot be forgotten.
struct Key(Hasher);

impl Key {
    fn number(&mut self, value: impl Into<u64>) {
        self.0.update(&value.into().to_le_bytes());
    }

    fn count(&mut self, count: usize) {
        self.number(count as u64);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.0.update(bytes);
    }

    fn option<T>(&mut self, value: Option<T>, some: impl FnOnce(&mut Self, T)) {
        self.number(value.is_some());
        if let Some(value) = value {
            some(self, value);
        }
    }

    fn launch(&mut self, launch: &Launch) {
        let Launch {
            block,
            grid,
            cluster,
            shared,
            args,
            buffers,
            changed,
            names,
            requires,
            options,
            limit,
        } = launch;
        let Limit { instructions, memory } = limit;
        self.option(*block, Self::dimensions);
        self.option(*grid, Self::dimensions);
        self.option(*cluster, Self::dim);
        self.option(*shared, Self::number);
        self.args(args);
        self.count(buffers.len());
        for (name, buffer) in buffers {
            self.bytes(name.as_bytes());
            self.buffer(buffer);
        }
        self.count(changed.len());
        for name in changed {
            self.bytes(name.as_bytes());
        }
        self.count(names.len());
        for name in names {
            self.bytes(name.as_bytes());
        }
        self.count(requires.len());
        for requirement in requires {
            self.bytes(requirement.to_string().as_bytes());
        }
        self.options(*options);
        self.number(*instructions);
        self.number(*memory);
    }

    fn dimensions(&mut self, dimensions: Dimensions) {
        self.option(dimensions.known(), Self::dim);
    }

    fn dim(&mut self, Dim3 { x, y, z }: Dim3) {
        for extent in [x, y, z] {
            self.number(extent);
        }
    }

    fn args(&mut self, args: &BTreeMap<usize, Arg>) {
        self.count(args.len());
        for (&position, arg) in args {
            self.count(position);
            self.arg(arg);
        }
    }

    fn buffer(&mut self, Allocation { size, contents, pointers }: &Allocation) {
        self.option(*size, Self::number);
        self.count(contents.len());
        let known: Vec<u8> = contents.iter().map(|byte| u8::from(byte.is_some())).collect();
        let bytes: Vec<u8> = contents.iter().map(|byte| byte.unwrap_or(0)).collect();
        self.bytes(&known);
        self.bytes(&bytes);
        self.count(pointers.len());
        for (&first, pointer) in pointers {
            self.number(first);
            self.within(pointer);
        }
    }

    fn within(&mut self, Within { buffer, offset }: &Within) {
        self.bytes(buffer.as_bytes());
        self.number(*offset);
    }

    fn arg(&mut self, arg: &Arg) {
        match arg {
            Arg::Integer(value) => {
                self.number(0_u8);
                self.0.update(&value.to_le_bytes());
            }
            Arg::Float(value) => {
                self.number(1_u8);
                self.number(value.to_bits());
            }
            Arg::Buffer(Buffer { contents }) => {
                self.number(2_u8);
                self.option(contents.as_deref(), Self::bytes);
            }
            Arg::Within(within) => {
                self.number(4_u8);
                self.within(within);
            }
            Arg::Tensor(TensorBox { bytes }) => {
                self.number(5_u8);
                self.number(u64::from(*bytes));
            }
            Arg::Fields(Fields { bytes, fields }) => {
                self.number(3_u8);
                self.option(bytes.as_deref(), Self::bytes);
                self.count(fields.len());
                for (&first, field) in fields {
                    self.number(first);
                    self.arg(field);
                }
            }
        }
    }

    fn options(&mut self, options: Options) {
        let Options {
            warp_synchronous,
            atomics,
            barrier_divergence,
            schedule,
            past_findings,
            witness,
            any_inputs,
        } = options;
        self.number(warp_synchronous);
        self.number(past_findings);
        self.number(witness);
        self.number(any_inputs);
        self.number(match atomics {
            Atomics::Auto => 0_u8,
            Atomics::Abstract => 1,
            Atomics::Unique => 2,
            Atomics::Off => 3,
        });
        self.number(match barrier_divergence {
            BarrierDivergence::Cta => 0_u8,
            BarrierDivergence::Warp => 1,
            BarrierDivergence::Off => 2,
        });
        match schedule {
            Schedule::InOrder => self.number(0_u8),
            Schedule::Reverse => self.number(1_u8),
            Schedule::InTurn => self.number(2_u8),
            Schedule::Latest => self.number(3_u8),
            Schedule::Random(seed) => {
                self.number(4_u8);
                self.number(seed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use weft_core::launch::requires;

    use super::*;

    fn hash(text: &str) -> Hash {
        blake3::hash(text.as_bytes())
    }

    /// Returns launches that each differ from the others in an argument.
    fn with_arguments() -> Vec<Launch> {
        let args = |args: &[(usize, Arg)]| Launch {
            args: args.iter().cloned().collect(),
            ..Launch::default()
        };
        let buffer = |contents: Option<&[u8]>| {
            Arg::Buffer(Buffer { contents: contents.map(<[u8]>::to_vec) })
        };
        let fields = |bytes: Option<&[u8]>, fields: &[(u64, Arg)]| {
            let bytes = bytes.map(<[u8]>::to_vec);
            Arg::Fields(Fields { bytes, fields: fields.iter().cloned().collect() })
        };
        vec![
            args(&[(0, Arg::Integer(1))]),
            args(&[(0, Arg::Integer(-1))]),
            args(&[(0, Arg::Integer(1 << 64))]),
            args(&[(1, Arg::Integer(1))]),
            args(&[(0, Arg::Tensor(TensorBox { bytes: 16 }))]),
            args(&[(0, Arg::Tensor(TensorBox { bytes: 32 }))]),
            args(&[(0, Arg::Float(0.0))]),
            args(&[(0, Arg::Float(-0.0))]),
            args(&[(0, buffer(None))]),
            args(&[(0, buffer(Some(&[])))]),
            args(&[(0, buffer(Some(&[0])))]),
            args(&[(0, buffer(Some(&[0, 0])))]),
            args(&[(0, buffer(None)), (1, buffer(None))]),
            args(&[(0, fields(None, &[]))]),
            args(&[(0, fields(Some(&[0]), &[]))]),
            args(&[(0, fields(None, &[(0, buffer(None))]))]),
            args(&[(0, fields(None, &[(8, buffer(None))]))]),
            args(&[(0, fields(None, &[(8, Arg::Integer(1))]))]),
        ]
    }

    /// Returns launches that each differ from the others in one setting.
    fn launches() -> Vec<Launch> {
        let plain = Launch::default;
        let with = |options| Launch { options, ..plain() };
        let mut all = vec![
            plain(),
            Launch { block: Some(Dim3::line(64).into()), ..plain() },
            Launch { block: Some(Dim3 { x: 1, y: 64, z: 1 }.into()), ..plain() },
            Launch { grid: Some(Dim3::line(64).into()), ..plain() },
            Launch { block: Some(Dimensions::Any), ..plain() },
            Launch { grid: Some(Dimensions::Any), ..plain() },
            Launch { cluster: Some(Dim3::line(64)), ..plain() },
            Launch { shared: Some(64), ..plain() },
            Launch { shared: Some(0), ..plain() },
            Launch { limit: Limit { instructions: 64, ..Limit::default() }, ..plain() },
            Launch { limit: Limit { memory: 64, ..Limit::default() }, ..plain() },
            with(Options { past_findings: true, ..Options::default() }),
            with(Options { witness: 1, ..Options::default() }),
            with(Options { any_inputs: true, ..Options::default() }),
            Launch { names: vec!["n".to_owned()], ..plain() },
            Launch { changed: ["n".to_owned()].into(), ..plain() },
            with(Options { warp_synchronous: true, ..Options::default() }),
            with(Options { atomics: Atomics::Abstract, ..Options::default() }),
            with(Options { atomics: Atomics::Unique, ..Options::default() }),
            with(Options { atomics: Atomics::Off, ..Options::default() }),
            with(Options { barrier_divergence: BarrierDivergence::Cta, ..Options::default() }),
            with(Options { barrier_divergence: BarrierDivergence::Off, ..Options::default() }),
            with(Options { schedule: Schedule::Reverse, ..Options::default() }),
            with(Options { schedule: Schedule::InTurn, ..Options::default() }),
            with(Options { schedule: Schedule::Latest, ..Options::default() }),
            with(Options { schedule: Schedule::Random(0), ..Options::default() }),
            with(Options { schedule: Schedule::Random(1), ..Options::default() }),
        ];
        all.extend(with_arguments());
        all
    }

    /// Returns launches that differ only in their buffers, and in what points into them.
    fn with_buffers() -> Vec<Launch> {
        let within = |name: &str, offset: u64| Within { buffer: name.to_owned(), offset };
        let size = |size: u64| Allocation { size: Some(size), ..Allocation::default() };
        let known = |contents: &[Option<u8>]| Allocation { contents: contents.to_vec(), ..size(8) };
        let holds =
            |at: u64, pointer: Within| Allocation { pointers: [(at, pointer)].into(), ..size(8) };
        let buffers = [
            Allocation::default(),
            size(0),
            size(8),
            known(&[None]),
            known(&[Some(0)]),
            known(&[Some(1)]),
            known(&[Some(0), None]),
            known(&[None, Some(0)]),
            holds(0, within("a", 0)),
            holds(0, within("a", 8)),
            holds(8, within("a", 0)),
        ];
        let args = [within("a", 0), within("a", 8), within("b", 0)].map(Arg::Within);
        let named = |name: &str, buffer: Allocation| Launch {
            buffers: [(name.to_owned(), buffer)].into(),
            ..Launch::default()
        };
        let of_args = |arg: Arg| Launch { args: [(0, arg)].into(), ..Launch::default() };
        let all = buffers.into_iter().map(|buffer| named("a", buffer));
        all.chain([named("b", size(8))]).chain(args.into_iter().map(of_args)).collect()
    }

    /// Returns launches that differ only in what they require.
    fn required() -> Vec<Launch> {
        let all: [&[&str]; 4] = [&["n < 4"], &["n < 5"], &["n < 4", "m < 4"], &["n < 4 && m < 4"]];
        let parse = |text: &&str| requires::parse(text).expect("is one");
        let launch = |all: &[&str]| Launch {
            requires: all.iter().map(parse).collect(),
            ..Launch::default()
        };
        all.map(launch).into()
    }

    #[test]
    fn whatever_a_report_depends_on_changes_the_key() {
        let (checker, text, mut launches) = (hash("checker"), hash("ptx"), launches());
        launches.extend(required());
        launches.extend(with_buffers());
        let mut keys: Vec<Hash> =
            launches.iter().map(|launch| of(&checker, &text, "k", launch)).collect();
        keys.push(of(&hash("other"), &text, "k", &launches[0]));
        keys.push(of(&checker, &hash("other"), "k", &launches[0]));
        keys.push(of(&checker, &text, "l", &launches[0]));
        let distinct: BTreeSet<[u8; 32]> = keys.iter().map(|key| *key.as_bytes()).collect();
        assert_eq!(distinct.len(), launches.len() + 3);
        assert_eq!(of(&checker, &text, "k", &launches[4]), keys[4]);
    }
}
