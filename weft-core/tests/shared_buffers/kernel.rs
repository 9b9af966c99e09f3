//! Random kernels that access a few buffers through several pointers, as a model and as PTX.

use std::collections::BTreeMap;
use std::fmt::Write;

use weft_core::launch::{Allocation, Arg, Dim3, Fields, Launch, Within};

/// A source of numbers.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.roll(of.len() as u64)).expect("lists are short")]
    }
}

/// How a kernel gets a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passing {
    /// As a parameter.
    Parameter,
    /// As a field of a structure.
    Field,
    /// In a buffer that it loads it from.
    Held,
}

/// A pointer into one of the buffers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pointer {
    pub(crate) buffer: usize,
    pub(crate) offset: u64,
    pub(crate) passing: Passing,
}

/// What all threads do, one step after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Barrier,
    Access(Access),
}

/// An access by the threads below `threads`, at `stride` times the thread's index plus `shift` bytes from a pointer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) pointer: usize,
    pub(crate) width: u64,
    pub(crate) stride: u64,
    pub(crate) shift: i64,
    pub(crate) threads: u64,
    /// Whether the index is that of the thread in the grid, not in its cta.
    pub(crate) is_of_grid: bool,
    pub(crate) is_store: bool,
}

/// A kernel and its launch.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub(crate) block: u64,
    pub(crate) grid: u64,
    /// The sizes of the buffers, if they are stated.
    pub(crate) sizes: Vec<Option<u64>>,
    pub(crate) pointers: Vec<Pointer>,
    pub(crate) steps: Vec<Step>,
}

const NAMES: [&str; 2] = ["a", "b"];

impl Kernel {
    pub(crate) fn random(dice: &mut Dice) -> Self {
        let sizes = (0..NAMES.len()).map(|_| (dice.roll(3) > 0).then(|| 64 + dice.roll(1024)));
        let sizes: Vec<_> = sizes.collect();
        let passing = [Passing::Parameter, Passing::Parameter, Passing::Field, Passing::Held];
        let count = 2 + dice.roll(2);
        let pointers = (0..count).map(|_| {
            let buffer = usize::from(dice.roll(5) == 0);
            // Mostly aligned, often the same.
            let unit = dice.pick(&[1, 4, 8, 16, 64]);
            let offset = unit * dice.roll(1 + 64 / unit);
            Pointer { buffer, offset, passing: dice.pick(&passing) }
        });
        let pointers: Vec<_> = pointers.collect();
        let (block, grid) = (dice.pick(&[1, 8, 32, 40]), 1 + dice.roll(2));
        let steps = (0..2 + dice.roll(4)).map(|_| Step::random(dice, pointers.len(), block));
        let steps = steps.collect();
        Self { block, grid, sizes, pointers, steps }
    }

    /// Returns the launch of the kernel, with all that decides something stated.
    pub(crate) fn launch(&self) -> Launch {
        let within = |pointer: &Pointer| Within {
            buffer: NAMES[pointer.buffer].to_owned(),
            offset: pointer.offset,
        };
        let mut launch = Launch::default();
        let dim = |extent: u64| Dim3::line(u32::try_from(extent).expect("extents are small"));
        (launch.block, launch.grid) = (Some(dim(self.block).into()), Some(dim(self.grid).into()));
        launch.options.past_findings = true;
        for (name, size) in NAMES.iter().zip(&self.sizes) {
            let buffer = Allocation { size: *size, ..Allocation::default() };
            launch.buffers.insert((*name).to_owned(), buffer);
        }
        let (mut fields, mut held) = (BTreeMap::new(), Allocation::default());
        for (at, pointer) in self.pointers.iter().enumerate() {
            let place = 8 * at as u64;
            match pointer.passing {
                Passing::Parameter => {
                    launch.args.insert(at, Arg::Within(within(pointer)));
                }
                Passing::Field => {
                    fields.insert(place, Arg::Within(within(pointer)));
                }
                Passing::Held => {
                    held.pointers.insert(place, within(pointer));
                }
            }
        }
        let count = self.pointers.len();
        launch.args.insert(count, Arg::Fields(Fields { bytes: None, fields }));
        held.size = Some(64);
        launch.buffers.insert("held".to_owned(), held);
        let first = Within { buffer: "held".to_owned(), offset: 0 };
        launch.args.insert(count + 1, Arg::Within(first));
        launch
    }

    /// Returns the kernel as PTX, and the line of each step.
    pub(crate) fn text(&self) -> (String, Vec<u32>) {
        let mut text = String::from(".version 7.0\n.target sm_80\n.address_size 64\n");
        let params = (0..self.pointers.len()).map(|at| format!(".param .u64 p{at}, "));
        let params: String = params.collect();
        let _ = write!(
            text,
            ".visible .entry k({params}.param .align 8 .b8 s[24], .param .u64 h)\n{{\n"
        );
        text.push_str(
            "    .reg .b32 %t, %g, %c, %n, %v;\n    .reg .b64 %h, %a, %i, %w;\n    .reg .pred %q;\n",
        );
        let _ = writeln!(text, "    .reg .b64 %p<{}>;", self.pointers.len());
        text.push_str(
            "    mov.u32 %t, %tid.x;\n    mov.u32 %c, %ctaid.x;\n    mov.u32 %n, %ntid.x;\n",
        );
        text.push_str("    mad.lo.u32 %g, %c, %n, %t;\n    ld.param.u64 %h, [h];\n");
        for (at, pointer) in self.pointers.iter().enumerate() {
            let place = 8 * at;
            let _ = match pointer.passing {
                Passing::Parameter => writeln!(text, "    ld.param.u64 %p{at}, [p{at}];"),
                Passing::Field => writeln!(text, "    ld.param.u64 %p{at}, [s+{place}];"),
                Passing::Held => writeln!(text, "    ld.global.u64 %p{at}, [%h+{place}];"),
            };
        }
        let mut lines = Vec::new();
        for (at, step) in self.steps.iter().enumerate() {
            step.write(at, &mut text);
            lines.push(u32::try_from(text.lines().count()).expect("texts are short"));
        }
        text.push_str("    ret;\n}\n");
        (text, lines)
    }
}

impl Step {
    fn random(dice: &mut Dice, pointers: usize, block: u64) -> Self {
        if dice.roll(4) == 0 {
            return Self::Barrier;
        }
        let width = dice.pick(&[1, 2, 4, 4, 8, 16]);
        let stride = width * dice.pick(&[0, 1, 1, 1, 2, 3]);
        let shift = i64::try_from(width * dice.roll(8)).expect("small");
        Self::Access(Access {
            pointer: usize::try_from(dice.roll(pointers as u64)).expect("few"),
            width,
            stride,
            shift: if dice.roll(6) == 0 { -shift } else { shift },
            threads: if dice.roll(2) == 0 { 64 } else { 1 + dice.roll(block) },
            is_of_grid: dice.roll(2) == 0,
            is_store: dice.roll(2) == 0,
        })
    }

    /// Writes the step; its access or barrier is in the last line.
    fn write(self, at: usize, text: &mut String) {
        let Self::Access(access) = self else {
            text.push_str("    bar.sync 0;\n");
            return;
        };
        let Access { pointer, width, stride, shift, threads, is_of_grid, is_store } = access;
        let index = if is_of_grid { "%g" } else { "%t" };
        let _ = writeln!(text, "    setp.lt.u32 %q, %t, {threads};");
        let _ = writeln!(text, "    mul.wide.u32 %i, {index}, {stride};");
        let _ = writeln!(text, "    add.u64 %a, %p{pointer}, %i;");
        // Threads and steps store different values, so that few races are benign.
        let _ = writeln!(text, "    mad.lo.u32 %v, %g, 8, {at};\n    cvt.u64.u32 %w, %v;");
        let (ty, value) = match width {
            8 => ("u64".to_owned(), "%w"),
            16 => ("v2.u64".to_owned(), "{%w, %w}"),
            _ => (format!("u{}", 8 * width), "%v"),
        };
        let _ = if is_store {
            writeln!(text, "    @%q st.global.{ty} [%a+{shift}], {value};")
        } else {
            writeln!(text, "    @%q ld.global.{ty} {value}, [%a+{shift}];")
        };
    }
}
