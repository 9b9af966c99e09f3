//! Measures how time and memory of a whole `cargo weft check` process grow along one axis at a time, on generated
//! kernels.
//!
//! `cargo bench -p cargo-weft --bench growth` prints a table for each axis; `-- NAME` prints only the tables whose
//! title contains the name. Time is user and system CPU time, so that other work on the machine disturbs it little. CPU
//! time and peak memory come from the kernel's accounting of the process and are available only on Linux.

mod kernels;
mod process;
mod table;

use std::error::Error;
use std::path::Path;

use kernels::{Exchange, Pattern};
use process::Run;
use table::Table;

const WARPS: [u32; 6] = [1, 2, 4, 8, 16, 32];

type Outcome = Result<(), Box<dyn Error>>;

/// Runs the kernels of one axis and prints their table.
type Axis = fn(&mut Table) -> Outcome;

fn main() -> Outcome {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [first, arguments @ ..] = words.as_slice()
        && first == process::MEASURE
    {
        return process::measure(arguments);
    }
    let axes: [(&str, Axis); 15] = [
        ("warps", warps),
        ("barrier generations", generations),
        ("accesses", accesses),
        ("loop rounds", rounds),
        ("words accessed", footprint),
        ("regularity of accesses", regularity),
        ("racing threads", racing_threads),
        ("racing rounds", racing_rounds),
        ("ctas", ctas),
        ("ctas of a large grid", large_grids),
        ("racing ctas", racing_ctas),
        ("equal racing stores", equal_stores),
        ("racing identical ctas", identical_ctas),
        ("open addresses", open_addresses),
        ("nested open loops", open_loops),
    ];
    // cargo itself passes `--bench`.
    let wanted: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    for (title, fill) in axes {
        if wanted.is_empty() || wanted.iter().any(|word| title.contains(word.as_str())) {
            let mut table = Table::new(title)?;
            fill(&mut table)?;
        }
    }
    Ok(())
}

/// Checks the generated kernel `text` with `grid` ctas.
fn check(text: &str, grid: u32) -> Result<Run, Box<dyn Error>> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("growth.ptx");
    std::fs::write(&path, text)?;
    process::check(&path, grid)
}

/// The same accesses, divided among more warps.
fn warps(table: &mut Table) -> Outcome {
    for warps in WARPS {
        let kernel = Exchange { warps, generations: 256, rounds: 1024 / warps };
        table.clean(warps, &check(&kernel.text(), 1)?)?;
    }
    Ok(())
}

/// The same accesses, with more barriers between them.
fn generations(table: &mut Table) -> Outcome {
    for generations in [10, 100, 1000, 10_000, 100_000] {
        let kernel = Exchange { warps: 8, generations, rounds: 100_000 / generations };
        table.clean(generations, &check(&kernel.text(), 1)?)?;
    }
    Ok(())
}

fn accesses(table: &mut Table) -> Outcome {
    for rounds in [2, 20, 200, 2000, 20_000] {
        let kernel = Exchange { warps: 8, generations: 10, rounds };
        let warp_accesses = 8 * 10 * 2 * rounds;
        table.clean(warp_accesses, &check(&kernel.text(), 1)?)?;
    }
    Ok(())
}

/// A pipeline of producer and consumer warps with more iterations.
fn rounds(table: &mut Table) -> Outcome {
    for rounds in [500, 1000, 2000, 4000, 8000, 16_000, 32_000] {
        table.clean(rounds, &check(&kernels::pipeline(rounds), 1)?)?;
    }
    Ok(())
}

/// The same accesses, spread over more memory.
fn footprint(table: &mut Table) -> Outcome {
    for exponent in [10, 12, 14, 16, 18, 20, 22] {
        let words = 1 << exponent;
        table.clean(words, &check(&kernels::footprint(words), 1)?)?;
    }
    Ok(())
}

/// The same number of accesses, with ever less regular addresses of the lanes.
fn regularity(table: &mut Table) -> Outcome {
    for (name, pattern) in Pattern::ALL {
        for (word, writes) in [("load", false), ("store", true)] {
            // Lanes that store to one address race.
            if writes && pattern == Pattern::Uniform {
                continue;
            }
            let run = check(&kernels::patterned(pattern, writes), 1)?;
            table.clean(format!("{name} {word}"), &run)?;
        }
    }
    Ok(())
}

/// The same accesses, with ever more warps that store to the same words.
fn racing_threads(table: &mut Table) -> Outcome {
    for sharing in WARPS {
        let run = check(&kernels::racing(sharing, 64), 1)?;
        table.any(format!("{sharing} warps a word"), &run, sharing > 1)?;
    }
    Ok(())
}

/// Warps that race on all words, in ever more iterations.
fn racing_rounds(table: &mut Table) -> Outcome {
    for rounds in [16, 64, 256, 1024, 4096] {
        table.any(rounds, &check(&kernels::racing(32, rounds), 1)?, true)?;
    }
    Ok(())
}

/// The same work in each of more ctas.
fn ctas(table: &mut Table) -> Outcome {
    for ctas in [1, 2, 4, 8, 16, 32, 64] {
        table.clean(ctas, &check(&kernels::ctas(1), ctas)?)?;
    }
    Ok(())
}

/// Ever more ctas of a kernel that does little.
fn large_grids(table: &mut Table) -> Outcome {
    for ctas in [64, 1024, 4096, 16_384, 65_536, 262_144] {
        table.clean(ctas, &check(&kernels::sum(), ctas)?)?;
    }
    Ok(())
}

/// The same work in each cta, with ever more ctas that use the same words.
fn racing_ctas(table: &mut Table) -> Outcome {
    for sharing in [1, 4, 16, 64] {
        let run = check(&kernels::ctas(sharing), 64)?;
        table.any(format!("{sharing} ctas a word"), &run, sharing > 1)?;
    }
    Ok(())
}

/// Ever more warps that store the same computed values to the same words.
fn equal_stores(table: &mut Table) -> Outcome {
    for warps in WARPS {
        table.any(warps, &check(&kernels::equal_stores(warps), 1)?, true)?;
    }
    Ok(())
}

/// Ever more ctas that race alike, each within itself.
fn identical_ctas(table: &mut Table) -> Outcome {
    for ctas in [1, 4, 16, 64] {
        table.any(ctas, &check(&kernels::equal_stores(8), ctas)?, true)?;
    }
    Ok(())
}

/// Ever more stores at addresses that an argument decides.
fn open_addresses(table: &mut Table) -> Outcome {
    for rounds in [10, 100, 1000, 10_000] {
        table.clean(rounds, &check(&kernels::open_addresses(rounds), 1)?)?;
    }
    Ok(())
}

/// Loops around barriers whose trip counts are open, ever more of them one in the other, in two ctas.
fn open_loops(table: &mut Table) -> Outcome {
    for depth in [1, 2, 3, 4] {
        table.clean(depth, &check(&kernels::open_loops(depth), 2)?)?;
    }
    Ok(())
}
