//! Arguments of recorded launches that are addresses in no allocation of the program.
//!
//! A record does not say which words are meant as addresses: one that leads nowhere is a number like any other, until the check finds that the
//! kernel accesses memory there.

use std::collections::BTreeMap;

use weft_core::finding::{Code, Report};
use weft_core::launch::{Allocation, Arg, Fields, Launch, Within};
use weft_core::report::escape;

use super::Job;
use crate::record::{FREED, HOST};

/// What the help for an access beyond a buffer says of a launch that is stated.
const STATED: &str = "correct the buffer that the launch states";
/// The name of the memory that stands for what is in no allocation: it has no byte.
const OUTSIDE: &str = "outside";

/// Returns a launch with the arguments that are the number `address` as pointers into memory without a byte; `None` if no argument is.
pub(super) fn moved(launch: &Launch, address: i128) -> Option<Launch> {
    let outside = || Arg::Within(Within { buffer: OUTSIDE.to_owned(), offset: 0 });
    let is_it = |arg: &Arg| matches!(arg, Arg::Integer(value) if *value == address);
    if launch.buffers.contains_key(OUTSIDE) && !has_outside(launch)
        || !launch.args.values().any(is_it)
    {
        return None;
    }
    let arg = |(at, own): (&usize, &Arg)| (*at, if is_it(own) { outside() } else { own.clone() });
    let args: BTreeMap<usize, Arg> = launch.args.iter().map(arg).collect();
    let mut buffers = launch.buffers.clone();
    buffers.insert(OUTSIDE.to_owned(), Allocation { size: Some(0), ..Allocation::default() });
    Some(Launch { args, buffers, ..launch.clone() })
}

/// Returns a launch with the words open that are addresses of freed memory or of the host: a kernel which accesses nothing there might compute
/// with them. `None` if there are none.
pub(super) fn opened(launch: &Launch) -> Option<Launch> {
    let is_nowhere =
        |arg: &Arg| matches!(arg, Arg::Within(own) if [FREED, HOST].contains(&own.buffer.as_str()));
    let opened = |(at, arg): (&usize, &Arg)| match arg {
        Arg::Fields(own) if own.fields.values().any(is_nowhere) => {
            let fields = own.fields.iter().filter(|(_, field)| !is_nowhere(field));
            let fields = fields.map(|(at, field)| (*at, field.clone())).collect();
            Some((*at, Arg::Fields(Fields { bytes: None, fields })))
        }
        own if is_nowhere(own) => None,
        own => Some((*at, own.clone())),
    };
    let args: BTreeMap<usize, Arg> = launch.args.iter().filter_map(opened).collect();
    (args != launch.args).then(|| Launch { args, ..launch.clone() })
}

fn has_outside(launch: &Launch) -> bool {
    launch.args.values().any(|arg| matches!(arg, Arg::Within(own) if own.buffer == OUTSIDE))
}

/// Returns the name of a parameter in the PTX, unless it is made of the kernel's.
fn parameter(job: &Job, at: usize) -> String {
    let own = job.module.kernel(&job.kernel.mangled);
    let name = own.and_then(|own| own.params.get(at)).map_or("", |own| job.module.name(own.name));
    if name.contains("_param_") { String::new() } else { name.to_owned() }
}

/// Adds to the accesses out of bounds of a report which arguments of its job are such addresses.
pub(super) fn note(report: &mut Report, job: &Job) {
    let told = report.launch.args.iter().filter_map(|(at, arg)| {
        let Arg::Within(Within { buffer, .. }) = arg else { return None };
        let known = job.launch.names.get(*at).filter(|name| !name.is_empty());
        let known = known.map_or_else(|| parameter(job, *at), Clone::clone);
        let name =
            if known.is_empty() { String::new() } else { format!(" (`{}`)", escape(&known)) };
        let what = match (buffer.as_str(), job.launch.args.get(at)) {
            (OUTSIDE, Some(Arg::Integer(address))) => {
                format!("is the address {address:#x}, which is in no allocation of the device")
            }
            (FREED, _) if job.recorded.is_some() => {
                "points to memory that the program had freed".to_owned()
            }
            (HOST, _) if job.recorded.is_some() => {
                "points to memory of the host, which the program has not made known to the device"
                    .to_owned()
            }
            _ => return None,
        };
        Some(format!("argument {at}{name} {what}: `{buffer}` stands for it"))
    });
    let told: Vec<String> = told.collect();
    for finding in report.findings.iter_mut().filter(|own| own.code == Code::OutOfBounds) {
        finding.notes.extend(told.iter().cloned());
        if job.recorded.is_some()
            && let Some(help) = &mut finding.help
        {
            *help = help.replace(STATED, "correct what the program allocates or passes");
        }
    }
}
