//! Launches, as they are written down.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
use std::sync::Arc;

use crate::allocation::{Contents, Passed, Reach};
use crate::contents;
use crate::doubt;
use crate::json::Json;
use crate::limits::Configuration;
use crate::mapped;
use crate::memory::Memory;
use crate::modules::Kernel;
use crate::record::Record;
use crate::state::State;
use crate::tensor::{self, TensorMap};

/// What memory is aligned to, unless the record says otherwise.
const ALIGN: u64 = 256;

/// Allocations in the order in which they are numbered.
struct Numbering<'s> {
    memory: &'s mut Memory,
    record: &'s mut Record,
    bases: Vec<u64>,
    /// The numbers of the bases.
    numbers: HashMap<u64, usize>,
    contents: Vec<Arc<Contents>>,
}

/// A pointer in bytes: where it is, which allocation it points into, and how far.
struct Pointer {
    at: u64,
    allocation: usize,
    offset: u64,
}

/// An argument as it is written.
struct Argument {
    /// Zeros where pointers are.
    bytes: Vec<u8>,
    pointers: Vec<Pointer>,
    /// Where pointers to freed memory are.
    freed: Vec<u64>,
    /// Where addresses of the host are, in no memory that the device knows.
    hosts: Vec<u64>,
    maps: Vec<Map>,
}

/// A tensor map in an argument.
struct Map {
    at: u64,
    /// Where it leads, if that is live memory.
    pointer: Option<Pointer>,
    own: TensorMap,
}

impl Numbering<'_> {
    fn number(&mut self, base: u64) -> usize {
        *self.numbers.entry(base).or_insert_with(|| {
            self.bases.push(base);
            self.bases.len() - 1
        })
    }

    fn pointer(&mut self, at: u64, address: u64) -> Option<Pointer> {
        let base = self.memory.find(address)?.0;
        Some(Pointer { at, allocation: self.number(base), offset: address - base })
    }

    /// Returns the pointers within an argument, and the argument with zeros in their places.
    fn argument(&mut self, bytes: &[u8]) -> Argument {
        let (mut pointers, mut freed, mut hosts) = (Vec::new(), Vec::new(), Vec::new());
        let mut plain = bytes.to_vec();
        let maps = self.maps(&mut plain);
        let words = plain.clone();
        for (word, at) in words.chunks_exact(8).zip((0..).step_by(8)) {
            let address = word.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
            let found = self.memory.might_be_address(address).then(|| self.pointer(at, address));
            match found.flatten() {
                Some(pointer) => pointers.push(pointer),
                None if self.memory.is_freed(address) => freed.push(at),
                None if mapped::is_address(address) => hosts.push(at),
                None => continue,
            }
            let at = usize::try_from(at).unwrap_or(0);
            plain[at..at + 8].fill(0);
        }
        Argument { bytes: plain, pointers, freed, hosts, maps }
    }

    /// Returns whether arguments hold an address where no pointer is looked for: at no multiple of 8 bytes, or in two numbers.
    fn hides_address(&self, kernel: &Kernel, values: &[Argument]) -> bool {
        let Some(signature) = &kernel.signature else { return false };
        let mut all = Vec::new();
        for (parameter, argument) in signature.parameters.iter().zip(values) {
            all.resize(parameter.offset.max(all.len()), 0);
            all.extend(&argument.bytes);
        }
        let is_address =
            |word: u64| self.memory.might_be_address(word) && self.memory.find(word).is_some();
        all.windows(8).filter_map(<[u8]>::first_chunk).any(|word| {
            let word = u64::from_le_bytes(*word);
            is_address(word) || is_address(word.rotate_left(32))
        })
    }

    /// Returns the tensor maps within an argument, which become zeros there.
    fn maps(&mut self, bytes: &mut [u8]) -> Vec<Map> {
        let (mut found, mut at) = (Vec::new(), 0);
        while let Some(rest) = bytes.get(at..).filter(|rest| rest.len() >= tensor::SIZE) {
            let Some(own) = TensorMap::decode(rest) else {
                at += 8;
                continue;
            };
            bytes[at..at + tensor::SIZE].fill(0);
            let place = at as u64;
            found.push(Map { at: place, pointer: self.pointer(place, own.address), own });
            at += tensor::SIZE;
        }
        found
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
    let State { memory, record, launched, .. } = state;
    let before = launched.len() as u64;
    let (bases, numbers, contents) = (Vec::new(), HashMap::new(), Vec::new());
    let mut numbering = Numbering { memory, record, bases, numbers, contents };
    let values: Option<Vec<_>> =
        arguments.map(|list| list.iter().map(|bytes| numbering.argument(bytes)).collect());
    let (values, reason) = match values {
        // What the kernel makes of it, nobody knows.
        Some(values) if numbering.hides_address(kernel, &values) => {
            numbering.bases.clear();
            numbering.numbers.clear();
            (None, Some("an argument holds an address at no multiple of 8 bytes".to_owned()))
        }
        values => (values, reason),
    };
    let globals: Vec<_> =
        variables.into_iter().map(|(name, (base, _))| (name, numbering.number(base))).collect();
    numbering.follow(0);
    let line = Json::object(|json| {
        write_head(json, name.as_deref(), &kernel.name, launch);
        write_arguments(json, values.as_deref(), reason.as_deref());
        write_allocations(json, &mut numbering, before);
        if !globals.is_empty() {
            json.objects("globals", &globals, |json, (name, allocation)| {
                json.text("name", name);
                json.number("allocation", *allocation as u64);
            });
        }
    });
    let reached = reached(&mut numbering, values.as_deref(), &globals);
    state.record.launch(&line, doubt::own());
    // Which surfaces a kernel gets is not looked for.
    let surfaces = state.arrays.written().map(|base| (base, Reach::Unknown));
    let reached = reached.into_iter().chain(surfaces).collect();
    note_passed(&mut state.memory, name.as_deref(), &kernel.name, reached);
    state.memory.launches += 1;
    state.modules.launched(kernel.module, &kernel.name);
    state.launched.extend(name.map(|name| (name, kernel.name.clone())));
}

/// Writes what is launched, and how; `module`: the name of its module.
fn write_head(json: &mut Json, module: Option<&str>, kernel: &str, launch: &Configuration) {
    json.text("record", "launch");
    json.text("kernel", kernel);
    match module {
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
}

fn write_arguments(json: &mut Json, values: Option<&[Argument]>, reason: Option<&str>) {
    if let Some(values) = values {
        json.objects("args", values, |json, argument| {
            let bytes = argument.bytes.iter().fold(String::new(), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            });
            json.text("bytes", &bytes);
            json.objects("pointers", &argument.pointers, write_pointer);
            if !argument.freed.is_empty() {
                json.numbers("freed", &argument.freed);
            }
            if !argument.hosts.is_empty() {
                json.numbers("hosts", &argument.hosts);
            }
            if !argument.maps.is_empty() {
                json.objects("maps", &argument.maps, write_map);
            }
        });
    } else {
        json.null("args");
        json.text("reason", reason.unwrap_or("the parameters of the kernel are not known"));
    }
}

fn write_map(json: &mut Json, map: &Map) {
    json.number("at", map.at);
    if let Some(pointer) = &map.pointer {
        json.number("allocation", pointer.allocation as u64);
        json.number("offset", pointer.offset);
    }
    map.own.write(json);
}

fn write_pointer(json: &mut Json, pointer: &Pointer) {
    json.number("at", pointer.at);
    json.number("allocation", pointer.allocation as u64);
    json.number("offset", pointer.offset);
}

/// Writes the allocations; `before`: how many kernels were launched before.
fn write_allocations(json: &mut Json, numbering: &mut Numbering, before: u64) {
    let launches = numbering.memory.launches;
    json.objects("allocations", 0..numbering.bases.len(), |json, number| {
        let contents = Arc::clone(&numbering.contents[number]);
        let Some(own) = numbering.memory.at(numbering.bases[number]) else { return };
        json.number("size", own.size);
        // Only memory of the host might begin anywhere.
        let behind = numbering.bases[number] % ALIGN;
        if behind != 0 {
            json.number("behind", behind);
        }
        let Some(name) = &contents.name else { return };
        json.text("contents", name);
        let passed = own.passed.clone();
        let (is_old, is_hosts) = (own.since < launches, own.kind.is_hosts());
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
        if is_hosts {
            json.boolean("host", true);
        }
        if is_old && before > 0 {
            json.number("launched", before);
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
    values: Option<&[Argument]>,
    globals: &[(String, usize)],
) -> Vec<(u64, Reach)> {
    let Some(values) = values else {
        return numbering.memory.all().map(|(base, _)| (base, Reach::Unknown)).collect();
    };
    let arguments = values.iter().zip(0..).flat_map(|(argument, index)| {
        let maps = argument.maps.iter().filter_map(|map| map.pointer.as_ref());
        let pointers = argument.pointers.iter().chain(maps);
        pointers.map(move |pointer| (pointer.allocation, Reach::Argument(index)))
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
        own.was_passed = true;
        own.passed.insert(Passed {
            module: module.map(str::to_owned),
            kernel: kernel.to_owned(),
            reach,
        });
        // The host reads such memory without a call.
        doubt::share(own.kind.is_hosts());
    }
}
