//! Launches: whether the driver would take one, and how it is written down.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use crate::contents::{self, Contents};
use crate::device::{self, Device};
use crate::foreign::{Host, In};
use crate::json::Json;
use crate::memory::{Kind, Memory, Passed, Reach};
use crate::modules::Kernel;
use crate::record::Record;
use crate::signature::Signature;
use crate::state::State;
use crate::status::{Answer, Refusal, Status, refuse};

/// How a kernel is launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Configuration {
    /// Blocks.
    pub(crate) grid: [u32; 3],
    /// Threads of a block.
    pub(crate) block: [u32; 3],
    /// Blocks of a cluster, if the launch states them.
    pub(crate) cluster: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory.
    pub(crate) shared: u32,
    /// Whether all blocks run at once.
    pub(crate) cooperative: bool,
}

/// Number of the attribute of a kernel that raises the limit of dynamic shared memory.
pub(crate) const DYNAMIC_SHARED: i32 = 8;
/// Number of the attribute that allows clusters of more than 8 blocks.
pub(crate) const LARGE_CLUSTERS: i32 = 14;
/// Blocks of a cluster that every device can run.
const PORTABLE_CLUSTER: u32 = 8;
/// Blocks of the largest cluster.
const LARGEST_CLUSTER: u32 = 16;

fn wrong(reason: String) -> Answer {
    Err(refuse(Status::InvalidValue, reason))
}

/// Refuses what the driver would (`cuLaunchKernel`; programming guide, "Technical specifications").
pub(crate) fn check(device: Device, kernel: &Kernel, launch: &Configuration) -> Answer {
    let none = Signature::default();
    let own = kernel.signature.as_deref().unwrap_or(&none);
    let done = check_sizes(launch)
        .and_then(|()| check_block(own, launch))
        .and_then(|()| check_shared(device, kernel, own, launch))
        .and_then(|()| check_cluster(device, kernel, own, launch))
        .and_then(|()| check_cooperative(device, own, launch));
    done.map_err(|refusal| Refusal { kernel: Some(kernel.name.clone()), ..refusal })
}

fn check_sizes(launch: &Configuration) -> Answer {
    let both = [("grid", launch.grid, device::GRID), ("block", launch.block, device::BLOCK)];
    for (what, sizes, most) in both {
        for (axis, (size, most)) in ["x", "y", "z"].into_iter().zip(sizes.into_iter().zip(most)) {
            if size == 0 {
                return wrong(format!("the {what} is 0 in {axis}"));
            }
            if size > most {
                return wrong(format!("the {what} is {size} in {axis}, of at most {most}"));
            }
        }
    }
    let threads = product(launch.block);
    if threads > u64::from(device::THREADS) {
        return wrong(format!("the block has {threads} threads, of at most {}", device::THREADS));
    }
    Ok(())
}

fn check_block(own: &Signature, launch: &Configuration) -> Answer {
    let threads = product(launch.block);
    if let Some(most) = own.most_threads.filter(|most| threads > u64::from(*most)) {
        return wrong(format!(
            "the block has {threads} threads, and the kernel is compiled for at most {most}"
        ));
    }
    if let Some(block) = own.block.filter(|block| *block != launch.block) {
        return wrong(format!(
            "the block is {:?}, and the kernel is compiled for {block:?}",
            launch.block
        ));
    }
    Ok(())
}

fn check_shared(
    device: Device,
    kernel: &Kernel,
    own: &Signature,
    launch: &Configuration,
) -> Answer {
    let dynamic = u64::from(launch.shared);
    let raised =
        kernel.attributes.get(&DYNAMIC_SHARED).and_then(|bytes| u64::try_from(*bytes).ok());
    let most = raised.unwrap_or(0).max(device::SHARED.saturating_sub(own.shared));
    if dynamic > most {
        let how = if raised.is_some() {
            "the attribute that is set"
        } else {
            "no attribute that raises it"
        };
        return wrong(format!(
            "{dynamic} bytes of dynamic shared memory, of at most {most} with {how}"
        ));
    }
    if dynamic + own.shared > device.most_shared() {
        let most = device.most_shared();
        return wrong(format!(
            "{} bytes of shared memory, of at most {most}",
            dynamic + own.shared
        ));
    }
    Ok(())
}

fn check_cluster(
    device: Device,
    kernel: &Kernel,
    own: &Signature,
    launch: &Configuration,
) -> Answer {
    let Some(cluster) = launch.cluster.or(own.cluster) else { return Ok(()) };
    let bad = |reason: String| Err(refuse(Status::InvalidClusterSize, reason));
    if !device.has_clusters() {
        return wrong("the device has no clusters".to_owned());
    }
    if let Some(required) = own.cluster.filter(|required| *required != cluster) {
        return bad(format!(
            "the cluster is {cluster:?}, and the kernel is compiled for {required:?}"
        ));
    }
    for (axis, (blocks, grid)) in
        ["x", "y", "z"].into_iter().zip(cluster.into_iter().zip(launch.grid))
    {
        if blocks == 0 {
            return bad(format!("the cluster is 0 in {axis}"));
        }
        if grid % blocks != 0 {
            return bad(format!(
                "the grid is {grid} in {axis}, no multiple of the cluster's {blocks}"
            ));
        }
    }
    let is_large = kernel.attributes.get(&LARGE_CLUSTERS).is_some_and(|value| *value != 0);
    let most = if is_large { LARGEST_CLUSTER } else { PORTABLE_CLUSTER };
    let blocks = product(cluster);
    if blocks > u64::from(most) {
        return bad(format!("the cluster has {blocks} blocks, of at most {most}"));
    }
    Ok(())
}

fn check_cooperative(device: Device, own: &Signature, launch: &Configuration) -> Answer {
    if !launch.cooperative {
        return Ok(());
    }
    let threads = u32::try_from(product(launch.block)).unwrap_or(u32::MAX);
    let resident = device.resident_blocks(threads, own.shared + u64::from(launch.shared));
    let (most, blocks) =
        (u64::from(resident) * u64::from(device.multiprocessors), product(launch.grid));
    if blocks > most {
        let reason =
            format!("a cooperative launch of {blocks} blocks, of at most {most} that run at once");
        return Err(refuse(Status::CooperativeLaunchTooLarge, reason));
    }
    Ok(())
}

fn product(sizes: [u32; 3]) -> u64 {
    sizes.into_iter().map(u64::from).fold(1, u64::saturating_mul)
}

/// Keys of the list `extra`: its end, the address of the buffer of parameters, the address of its size.
const END: u64 = 0;
const BUFFER: u64 = 1;
const BUFFER_SIZE: u64 = 2;

/// Reads the arguments of a launch: one address for each parameter, or one buffer for all. `None` where the parameters are not
/// known.
pub(crate) fn arguments(
    kernel: &Kernel,
    addresses: In<Host>,
    extra: In<Host>,
) -> Result<Option<Vec<Vec<u8>>>, Refusal> {
    let Some(own) = &kernel.signature else { return Ok(None) };
    let done = match (addresses.is_null(), extra.is_null()) {
        (false, false) => {
            Err(refuse(Status::InvalidValue, "both kernelParams and extra are given"))
        }
        (true, true) if own.parameters.is_empty() => Ok(Vec::new()),
        (true, true) => Err(refuse(
            Status::InvalidValue,
            "the kernel has parameters, and no arguments are given",
        )),
        (false, true) => one_by_one(own, addresses),
        (true, false) => from_buffer(own, extra),
    };
    done.map(Some).map_err(|refusal| Refusal { kernel: Some(kernel.name.clone()), ..refusal })
}

fn one_by_one(own: &Signature, addresses: In<Host>) -> Result<Vec<Vec<u8>>, Refusal> {
    let each = own.parameters.iter().enumerate().map(|(index, parameter)| {
        let at = addresses.at(index)?;
        if at.is_null() {
            return Err(refuse(
                Status::InvalidValue,
                format!("the address of argument {index} is null"),
            ));
        }
        at.read(parameter.size)
    });
    each.collect()
}

fn from_buffer(own: &Signature, extra: In<Host>) -> Result<Vec<Vec<u8>>, Refusal> {
    let (mut buffer, mut size) = (None, None);
    for pair in 0.. {
        match extra.at(2 * pair)?.number() {
            END => break,
            BUFFER => buffer = Some(extra.at(2 * pair + 1)?),
            BUFFER_SIZE => size = Some(extra.at(2 * pair + 1)?.values::<usize>().read()?),
            other => {
                return Err(refuse(
                    Status::InvalidValue,
                    format!("extra has the unknown key {other}"),
                ));
            }
        }
    }
    let (Some(buffer), Some(size)) = (buffer, size) else {
        return Err(refuse(Status::InvalidValue, "extra names no buffer or no size"));
    };
    if size < own.size() {
        let reason =
            format!("the buffer of arguments has {size} bytes, and the parameters {}", own.size());
        return Err(refuse(Status::InvalidValue, reason));
    }
    let each =
        own.parameters.iter().map(|parameter| buffer.offset(parameter.offset).read(parameter.size));
    each.collect()
}

/// Allocations in the order in which they are numbered.
struct Numbering<'s> {
    memory: &'s mut Memory,
    record: &'s mut Record,
    bases: Vec<u64>,
    contents: Vec<Arc<Contents>>,
}

/// A pointer in bytes: where it is, which allocation it points into, and how far.
struct Pointer {
    at: u64,
    allocation: usize,
    offset: u64,
}

impl Numbering<'_> {
    fn number(&mut self, base: u64) -> usize {
        self.bases.iter().position(|known| *known == base).unwrap_or_else(|| {
            self.bases.push(base);
            self.bases.len() - 1
        })
    }

    fn pointer(&mut self, at: u64, address: u64) -> Option<Pointer> {
        let base = self.memory.find(address)?.0;
        Some(Pointer { at, allocation: self.number(base), offset: address - base })
    }

    /// Returns the pointers within an argument, and the argument with zeros in their places.
    fn argument(&mut self, bytes: &[u8]) -> (String, Vec<Pointer>) {
        let (mut plain, mut pointers) = (bytes.to_vec(), Vec::new());
        for (index, word) in bytes.chunks_exact(8).enumerate() {
            let address = word.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
            if self.memory.might_be_address(address)
                && let Some(pointer) = self.pointer(index as u64 * 8, address)
            {
                plain[index * 8..index * 8 + 8].fill(0);
                pointers.push(pointer);
            }
        }
        let text = plain.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        (text, pointers)
    }

    /// Numbers all that the contents of numbered allocations point to, from number `first` on.
    fn follow(&mut self, first: usize) {
        let mut at = first;
        while let Some(base) = self.bases.get(at).copied() {
            let contents = contents::keep(self.memory, self.record, base);
            for (_, address) in &contents.pointers {
                self.pointer(0, *address);
            }
            self.contents.push(contents);
            at += 1;
        }
    }
}

/// Writes a launch down, and notes what its kernel might store into.
pub(crate) fn record(
    state: &mut State,
    kernel: &Kernel,
    launch: &Configuration,
    arguments: Option<&[Vec<u8>]>,
) {
    if !state.record.is_on() {
        return;
    }
    let module = state.modules.module(kernel.module).ok();
    let name = module.and_then(|module| module.name.clone());
    let reason = module.and_then(|module| module.opaque.clone());
    let variables: Vec<_> =
        module.into_iter().flat_map(|module| module.variables.clone()).collect();
    let State { memory, record, .. } = state;
    let mut numbering = Numbering { memory, record, bases: Vec::new(), contents: Vec::new() };
    let values: Option<Vec<_>> =
        arguments.map(|list| list.iter().map(|bytes| numbering.argument(bytes)).collect());
    let globals: Vec<_> =
        variables.into_iter().map(|(name, (base, _))| (name, numbering.number(base))).collect();
    numbering.follow(0);
    let line = Json::object(|json| {
        json.text("record", "launch");
        json.text("kernel", &kernel.name);
        match &name {
            Some(name) => json.text("module", name),
            None => json.null("module"),
        }
        json.triple("grid", launch.grid);
        json.triple("block", launch.block);
        if let Some(cluster) = launch.cluster {
            json.triple("cluster", cluster);
        }
        json.number("shared", launch.shared);
        json.boolean("cooperative", launch.cooperative);
        match &values {
            Some(values) => json.objects("args", values, |json, (bytes, pointers)| {
                json.text("bytes", bytes);
                json.objects("pointers", pointers, write_pointer);
            }),
            None => {
                json.null("args");
                json.text(
                    "reason",
                    reason.as_deref().unwrap_or("the parameters of the kernel are not known"),
                );
            }
        }
        write_allocations(json, &mut numbering);
        if !globals.is_empty() {
            json.objects("globals", &globals, |json, (name, allocation)| {
                json.text("name", name);
                json.number("allocation", *allocation as u64);
            });
        }
    });
    let reached = reached(&mut numbering, values.as_deref(), &globals);
    state.record.line(&line);
    note_passed(&mut state.memory, name.as_deref(), &kernel.name, reached);
}

fn write_pointer(json: &mut Json, pointer: &Pointer) {
    json.number("at", pointer.at);
    json.number("allocation", pointer.allocation as u64);
    json.number("offset", pointer.offset);
}

fn write_allocations(json: &mut Json, numbering: &mut Numbering) {
    json.objects("allocations", 0..numbering.bases.len(), |json, number| {
        let contents = Arc::clone(&numbering.contents[number]);
        let Some(own) = numbering.memory.at(numbering.bases[number]) else { return };
        json.number("size", own.size);
        let Some(name) = &contents.name else { return };
        json.text("contents", name);
        let passed = own.passed.clone();
        let pointers: Vec<_> = contents
            .pointers
            .iter()
            .filter_map(|(at, address)| numbering.pointer(*at, *address))
            .collect();
        if !pointers.is_empty() {
            json.objects("pointers", &pointers, write_pointer);
        }
        if !passed.is_empty() {
            json.objects("passed", &passed, write_passed);
        }
    });
}

fn write_passed(json: &mut Json, passed: &Passed) {
    match &passed.module {
        Some(module) => json.text("module", module),
        None => json.null("module"),
    }
    json.text("kernel", &passed.kernel);
    match &passed.reach {
        Reach::Argument(index) => json.number("arg", *index),
        Reach::Variable(name) => json.text("global", name),
        Reach::Unknown => json.null("arg"),
    }
}

/// Returns which allocations are within reach of the kernel, and by what.
fn reached(
    numbering: &mut Numbering,
    values: Option<&[(String, Vec<Pointer>)]>,
    globals: &[(String, usize)],
) -> Vec<(u64, Reach)> {
    let Some(values) = values else {
        return numbering.memory.all().map(|(base, _)| (base, Reach::Unknown)).collect();
    };
    let arguments = values.iter().zip(0..).flat_map(|((_, pointers), index)| {
        pointers.iter().map(move |pointer| (pointer.allocation, Reach::Argument(index)))
    });
    let globals = globals.iter().map(|(name, number)| (*number, Reach::Variable(name.clone())));
    let (mut waiting, mut found): (Vec<_>, BTreeSet<_>) =
        (arguments.chain(globals).collect(), BTreeSet::new());
    while let Some((number, reach)) = waiting.pop() {
        if found.insert((number, reach.clone())) {
            let contents = Arc::clone(&numbering.contents[number]);
            for (_, address) in &contents.pointers {
                let next = numbering.pointer(0, *address);
                waiting.extend(next.map(|pointer| (pointer.allocation, reach.clone())));
            }
        }
    }
    found.into_iter().map(|(number, reach)| (numbering.bases[number], reach)).collect()
}

fn note_passed(
    memory: &mut Memory,
    module: Option<&str>,
    kernel: &str,
    reached: Vec<(u64, Reach)>,
) {
    for (base, reach) in reached {
        let Some(own) = memory.at(base) else { continue };
        own.passed.insert(Passed {
            module: module.map(str::to_owned),
            kernel: kernel.to_owned(),
            reach,
        });
        let is_hosts =
            own.kind == Kind::Managed || own.kind == Kind::Pinned || own.kind == Kind::Registered;
        // The host reads such memory without a call.
        memory.was_read_back |= is_hosts;
    }
}
