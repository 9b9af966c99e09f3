//! Compares the report of the check with the trace.

use std::collections::{BTreeMap, BTreeSet};

use weft_core::emulate::End;
use weft_core::finding::{Check, Code, Finding, Report, Role, ThreadPairs, Verdict};
use weft_core::flow::{Pc, Program};
use weft_core::ptx::Module;

use super::Run;
use super::races::Level;

fn line(module: &Module, program: &Program, pc: Pc) -> u32 {
    module.position(program.place(pc).span).line
}

fn of(report: &Report, code: Code) -> impl Iterator<Item = &Finding> {
    report.findings.iter().filter(move |finding| finding.code == code)
}

/// Compares deadlocks and unsafely recycled barriers: that both sides have them, and at which instructions.
pub(crate) fn barriers(
    module: &Module,
    program: &Program,
    report: &Report,
    run: &Run<'_>,
    name: &str,
) {
    let mut is_stuck = false;
    for (record, end) in run.records.iter().zip(&run.ends) {
        match end {
            End::Finished => assert!(record.has_ended() || record.has_trapped, "{name}"),
            End::Deadlock(_) => {
                assert!(!record.has_ended(), "{name}");
                is_stuck = true;
            }
            _ => {}
        }
    }
    // What waits for tensor memory in vain has the code of its misuse.
    let is_misused = run.ends.iter().any(|end| matches!(end, End::TensorMisuse { .. }));
    let is_told = of(report, Code::Deadlock)
        .chain(of(report, Code::WarpMask))
        .chain(of(report, Code::RegisterPool))
        .chain(of(report, Code::TensorMemory).filter(|_| !is_misused))
        .next()
        .is_some();
    assert!(!is_stuck || is_told, "{name} deadlocks");
    let is_mask = |end: &End| matches!(end, End::Mask { .. });
    assert!(is_stuck || !is_told || run.ends.iter().any(is_mask), "{name} does not deadlock");
    let line = |pc: &Pc| line(module, program, *pc);
    let recycled = run.records.iter().flat_map(|record| &record.barriers.recycled);
    let recycled: BTreeSet<(u32, u32)> =
        recycled.map(|(arrival, previous)| (line(arrival), line(previous))).collect();
    let site = |finding: &Finding, role: Role| {
        let site = finding.sites.iter().find(|site| site.role == role);
        site.expect("recycling has both sites").ptx.line
    };
    let told: BTreeSet<(u32, u32)> = of(report, Code::BarrierRecycling)
        .map(|finding| (site(finding, Role::Arrival), site(finding, Role::Previous)))
        .collect();
    let arrivals =
        |pairs: &BTreeSet<(u32, u32)>| pairs.iter().map(|pair| pair.0).collect::<BTreeSet<_>>();
    assert_eq!(arrivals(&told), arrivals(&recycled), "{name}: arrivals that come too early");
    assert!(told.is_subset(&recycled), "{name}: {told:?} of {recycled:?}");
}

/// A racing pair of lines: the memory, the level of the race, the lines.
type Key = (Check, Level, BTreeSet<u32>);

/// Takes out what cases decide. The trace takes both sides of an open branch, so that it knows a race behind one only to be
/// possible. The check decides such races if it has checked the cases of the branch one by one.
fn take_out_cases(
    told: &mut BTreeMap<Key, ThreadPairs>,
    seen: &mut BTreeMap<Key, Vec<ThreadPairs>>,
) {
    told.retain(|(check, level, lines), _| {
        let only_possible = (*check, Level::Possible, lines.clone());
        *level != Level::Race || seen.remove(&only_possible).is_none()
    });
    seen.retain(|key, _| key.1 != Level::Possible || told.contains_key(key));
}

/// Compares the racing pairs of instructions, the level of each race, and the numbers of racing pairs of threads.
pub(crate) fn races(
    module: &Module,
    program: &Program,
    report: &Report,
    run: &Run<'_>,
    name: &str,
) {
    let may_order = may_order(module, program) || are_grouped(module, program);
    let mut seen: BTreeMap<Key, Vec<ThreadPairs>> = BTreeMap::new();
    // The order of one run says nothing about races then. `tests/small_mbarriers` has an opinion of its own on phases.
    let is_unsettled = run.records.iter().any(|record| !record.barriers.recycled.is_empty())
        || of(report, Code::MbarrierPhase).next().is_some();
    for (pair, worst) in run.races.worst.iter().filter(|_| !is_unsettled) {
        let check = if pair.0 { Check::Global } else { Check::Shared };
        let lines = [pair.1, pair.2].map(|pc| line(module, program, pc)).into();
        let level = if may_order { Level::Possible } else { *worst };
        // A proof excludes what the trace only takes to be possible.
        if report.proved.is_some() && level == Level::Possible {
            continue;
        }
        seen.entry((check, level, lines)).or_default().push(run.races.pairs(pair));
    }
    let mut told: BTreeMap<Key, ThreadPairs> = BTreeMap::new();
    // The trace does not know the values of atomics, so it has no races that exist only in one order of the atomics.
    let is_of_one_order =
        |own: &Finding| own.notes.iter().any(|note| note.contains("in one order of what is drawn"));
    for finding in report.findings.iter().filter(|own| !is_of_one_order(own)) {
        let level = match finding.code {
            Code::SharedRace | Code::GlobalRace | Code::AsyncRace | Code::BenignRace => Level::Race,
            Code::UnorderedStrong => Level::Strong,
            Code::ProxyFence => Level::Unfenced,
            Code::PossibleRace => Level::Possible,
            Code::Unsupported if finding.pairs.is_some() => Level::Possible,
            _ => continue,
        };
        let sites = finding.sites.iter().filter(|site| site.role != Role::Here);
        let check = finding.check.expect("races are of memory");
        let pairs = finding.pairs.expect("races are of pairs");
        told.insert((check, level, sites.map(|site| site.ptx.line).collect()), pairs);
    }
    if run.has_open_branch && report.verdict() != Verdict::Open {
        take_out_cases(&mut told, &mut seen);
    }
    let told_keys: BTreeSet<&Key> = told.keys().collect();
    assert_eq!(told_keys, seen.keys().collect(), "{name}: told, and seen");
    // Instructions of one line count as one finding.
    for (key, told) in &told {
        if let [seen] = seen[key].as_slice() {
            let within_ctas = |pairs: &ThreadPairs| (pairs.within_warps, pairs.between_warps);
            assert_eq!(within_ctas(told), within_ctas(seen), "{name}: pairs of threads of {key:?}");
            // The report's number of pairs between ctas is a lower bound.
            let are_all = told.between_ctas <= seen.between_ctas;
            let is_any = (told.between_ctas > 0) == (seen.between_ctas > 0);
            assert!(are_all && is_any, "{name}: {told:?} of {seen:?} for {key:?}");
        }
    }
}

/// The text of each instruction.
fn instructions<'m>(module: &'m Module, program: &'m Program) -> impl Iterator<Item = &'m str> {
    let spans = program.code.iter().map(|instr| program.places[instr.place.0 as usize].span);
    spans.map(|span| module.name(span).trim_start())
}

/// Whether lanes synchronize in groups of which it is not known who is in them; the check reports races as
/// possible only.
fn are_grouped(module: &Module, program: &Program) -> bool {
    let has = |words: [&str; 2]| {
        instructions(module, program).any(|text| words.iter().all(|word| text.contains(word)))
    };
    let divides = has(["activemask", ""]) || has(["match.any", ""]);
    divides && has(["bar.warp.sync", "%"])
}

/// Whether the kernel has release, acquire or fence instructions by which threads can synchronize through memory; the
/// check reports its races as possible only.
fn may_order(module: &Module, program: &Program) -> bool {
    let names = instructions(module, program).map(|instruction| {
        let end = instruction.find(|c: char| c.is_whitespace() && !instruction.starts_with('@'));
        &instruction[..end.unwrap_or(instruction.len())]
    });
    // What synchronizes through mbarriers is followed, and fences between proxies and of products order nothing else.
    let of_others = ["mbarrier", ".proxy", "wgmma"];
    let is_other = |name: &&str| !of_others.iter().any(|own| name.contains(own));
    let names: BTreeSet<&str> = names.filter(is_other).collect();
    let has =
        |words: &[&str]| names.iter().any(|name| words.iter().any(|word| name.contains(word)));
    has(&[".acquire", ".release", ".acq_rel"])
        || has(&["fence", "membar"]) && has(&["atom.", "red.", ".volatile", ".relaxed"])
}
