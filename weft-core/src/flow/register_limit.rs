//! How many registers each thread of a kernel has when it starts, if the kernel's directives say so (PTX ISA §11.4): only
//! then does the assembler keep `setmaxnreg`.

use crate::ptx::Function;

/// Registers of a quarter of a multiprocessor, to which every fourth warp belongs.
const OF_A_QUARTER: u32 = 16 << 10;
const QUARTERS: u32 = 4;
const WARP: u32 = 32;

/// Registers are allocated to a thread so many at a time.
const STEP: u32 = 8;

/// The least and the most registers that a thread can have.
const RANGE: std::ops::RangeInclusive<u32> = 24..=256;

/// Returns the number of registers of a thread: as many as `.maxnreg` permits and, if `.minnctapersm` is there, as let so many
/// ctas of the largest size run on a multiprocessor. `None` if neither says it.
pub(super) fn registers(kernel: &Function) -> Option<u32> {
    let threads = kernel.reqntid.or(kernel.maxntid);
    let threads = threads.map(|sizes| sizes.into_iter().fold(1, u32::saturating_mul));
    let shared = threads.zip(kernel.minnctapersm).map(|(threads, ctas)| {
        let warps = threads.div_ceil(WARP).saturating_mul(ctas).div_ceil(QUARTERS).max(1);
        (OF_A_QUARTER / warps / WARP) / STEP * STEP
    });
    let stated = kernel.maxnreg.map(|most| most.max(*RANGE.start()).div_ceil(STEP) * STEP);
    let most = [shared, stated].into_iter().flatten().min()?;
    // The assembler ignores `setmaxnreg` if `.maxnreg` permits more than a thread can have.
    let is_possible = kernel.maxnreg.is_none_or(|most| most < *RANGE.end());
    (is_possible && most >= *RANGE.start()).then(|| most.min(*RANGE.end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx;

    fn of(directives: &str) -> Option<u32> {
        let text = format!(
            ".version 8.6\n.target sm_90a\n.address_size 64\n.entry k() {directives} {{ ret; }}\n"
        );
        let module = ptx::parse(&text);
        registers(module.kernel("k").expect("the text declares it"))
    }

    #[test]
    fn registers_are_as_many_as_the_assembler_says() {
        // What ptxas 13.0 prints for a kernel with `setmaxnreg`; 255 are allocated as 256.
        let cases = [
            (".maxntid 384, 1, 1 .minnctapersm 1", Some(168)),
            (".maxntid 160, 1, 1 .minnctapersm 2", Some(168)),
            (".maxntid 224, 1, 1 .minnctapersm 2", Some(128)),
            (".maxntid 416, 1, 1 .minnctapersm 1", Some(128)),
            (".reqntid 16, 8, 2 .minnctapersm 2", Some(128)),
            (".maxntid 128, 1, 1 .minnctapersm 1", Some(256)),
            (".maxntid 384, 1, 1 .minnctapersm 1 .maxnreg 128", Some(128)),
            (".maxntid 384, 1, 1 .minnctapersm 1 .maxnreg 200", Some(168)),
            (".maxnreg 100", Some(104)),
            (".maxnreg 256", None),
            (".maxntid 1024, 1, 1 .minnctapersm 3", None),
            (".maxntid 384, 1, 1", None),
            ("", None),
        ];
        for (directives, expected) in cases {
            assert_eq!(of(directives), expected, "{directives}");
        }
    }
}
