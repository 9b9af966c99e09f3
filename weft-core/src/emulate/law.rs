//! A test of symbolic values by brute force: random expressions over open atoms are computed symbolically once, and
//! with plain numbers under many assignments of the atoms. What the symbolic values claim must hold under every
//! assignment: known bits, equality, differences, congruences, multiples of powers of two, and that addresses do not
//! overlap.

mod world;

use std::collections::HashMap;

use crate::emulate::facts::alias::Representative;
use crate::emulate::memory::region::MemoryRegion;
use crate::emulate::value::lane::{Lane, SymbolId, WARP, signed, truncate};
use crate::flow::addresses::{argument_of, buffer};
use world::{LawLanes, LawRandom, World};

/// Numbers of claims, so that a test that claims nothing is noticed.
#[derive(Debug, Default)]
struct Claims {
    known: u64,
    equal: u64,
    distance: u64,
    overlapping: u64,
}

/// Checks that known bits are right, and that lanes with one symbolic value differ as it claims.
fn values_hold(world: &World, actual: &[LawLanes], claims: &mut Claims) {
    let actual_wraps = world.wraps(actual);
    let mut first: HashMap<(SymbolId, u32), (u64, u64, usize)> = HashMap::new();
    for (at, register) in world.registers.iter().enumerate() {
        for lane in 0..WARP {
            let (value, Some(actual)) = (register.value.whole(lane), actual[at][lane]) else {
                continue;
            };
            let Some(symbol) = value.symbol else {
                assert_eq!(value.bits, actual, "known, lane {lane}:\n{}", world.describe(at));
                claims.known += 1;
                continue;
            };
            let bits = world.facts.symbolics.bits(symbol);
            // Bits above the width of a register are never read.
            let read = bits.min(register.bits);
            assert!(
                bits >= register.bits || truncate(actual, bits) == actual,
                "zeros above {bits} bits, lane {lane}: {actual:x}\n{}",
                world.describe(at)
            );
            let zeros = world.facts.symbolics.zeros(symbol);
            let rest = actual.wrapping_sub(value.bits);
            assert!(
                truncate(rest, zeros.min(bits)) == 0,
                "{zeros} zeros, lane {lane}: {actual:x}\n{}",
                world.describe(at)
            );
            let &mut (other, there, from) =
                first.entry((symbol, read)).or_insert((value.bits, actual, at));
            let said = value.bits.wrapping_sub(other);
            let wrong = truncate(actual.wrapping_sub(there).wrapping_sub(said), read);
            let wrong = signed(wrong, read).unsigned_abs();
            let modulus = match world.facts.symbolics.modulus(symbol) {
                _ if world.facts.symbolics.is_stable(symbol) => 0,
                // Sums known modulo a number are assumed not to wrap around: where they do, only the power of two in
                // the modulus holds.
                own if actual_wraps || read < 32 => own & own.wrapping_neg(),
                own => own,
            };
            let holds = if modulus == 0 { wrong == 0 } else { wrong.is_multiple_of(modulus) };
            assert!(
                holds,
                "r{at} and r{from}, lane {lane}, {read} bits, modulus {modulus}: {actual:x} against {there:x}, off by {wrong:x}\n{}",
                world.describe(at.max(from))
            );
            claims.equal += u64::from(modulus != 1 && from != at);
        }
    }
}

/// The representatives of lanes as addresses in the first argument's buffer.
fn representatives(world: &mut World) -> Vec<(usize, usize, Representative)> {
    let region = MemoryRegion { is_global: true, base: Some(0) };
    let mut all = Vec::new();
    // Moduli that one iteration finds are known to the next.
    for _ in 0..8 {
        all.clear();
        for (at, register) in world.registers.iter().enumerate() {
            if register.bits != 64 {
                continue;
            }
            for lane in 0..WARP {
                let Lane { bits, symbol: Some(atom) } = register.value.whole(lane) else {
                    continue;
                };
                let Some(layout) = world.facts.alias_frame(region, atom) else { continue };
                let address = buffer(0).wrapping_add(bits);
                if argument_of(address) != Some(0) {
                    continue;
                }
                if let Some(representative) = world.facts.representative(&layout, address, BYTES) {
                    all.push((at, lane, representative));
                }
            }
        }
        if world.facts.settle(true) {
            break;
        }
    }
    all
}

/// Size in bytes of the accesses.
const BYTES: u32 = 4;

const fn overlap(a: u64, b: u64) -> bool {
    a.wrapping_sub(b) < BYTES as u64 || b.wrapping_sub(a) < BYTES as u64
}

/// Checks that pairs of lanes whose representatives are disjoint never overlap.
fn addresses_hold(
    world: &World,
    representative: &[(usize, usize, Representative)],
    actual: &[LawLanes],
    claims: &mut Claims,
) {
    for (index, (a, a_lane, a_at)) in representative.iter().enumerate() {
        // Neighbours and a few others, because all pairs would take too long.
        for (b, b_lane, b_at) in representative[..index].iter().rev().step_by(3) {
            if a_at.class != b_at.class {
                continue;
            }
            let (Some(x), Some(y)) = (actual[*a][*a_lane], actual[*b][*b_lane]) else { continue };
            let meets = meets(a_at, b_at);
            claims.distance += u64::from(!meets);
            claims.overlapping += u64::from(meets);
            assert!(
                meets || !overlap(x, y),
                "r{a} lane {a_lane} at {x:x} and r{b} lane {b_lane} at {y:x}: {a_at:x?} {b_at:x?}\n{}",
                world.describe(*a.max(b))
            );
        }
    }
}

/// Pairs of lanes whose representatives claim that they surely overlap.
fn overlapping<'a>(
    representative: &'a [(usize, usize, Representative)],
) -> Vec<[&'a (usize, usize, Representative); 2]> {
    let pairs = |(index, a): (usize, &'a (usize, usize, Representative))| {
        let is_certain = |b: &&(usize, usize, Representative)| {
            a.2.class == b.2.class && !a.2.is_congruent && !b.2.is_congruent && meets(&a.2, &b.2)
        };
        let others = representative[..index].iter().rev().step_by(5).filter(is_certain);
        others.map(move |b| [a, b]).collect::<Vec<_>>()
    };
    representative.iter().enumerate().flat_map(pairs).take(500).collect()
}

/// Whether two lanes of one class might overlap, as shadows compare them.
fn meets(a: &Representative, b: &Representative) -> bool {
    match (a.is_congruent, b.is_congruent) {
        (false, false) | (true, true) => overlap(a.address, b.address),
        (true, false) => b.shadow_copy.is_none_or(|copy| overlap(a.address, copy)),
        (false, true) => a.shadow_copy.is_none_or(|shadow_copy| overlap(shadow_copy, b.address)),
    }
}

/// Checks the claims about random expressions: `worlds` sets of them, each under `assignments` assignments.
fn hold(seed: u64, worlds: u32, assignments: u32) -> Claims {
    let mut random = LawRandom(seed);
    let mut claims = Claims::default();
    for _ in 0..worlds {
        let mut world = World::new(&mut random);
        let represented = representatives(&mut world);
        let mut unclaimed = overlapping(&represented);
        for at in 0..assignments {
            let actual = world.actual(&mut random, at % 8 == 0);
            values_hold(&world, &actual, &mut claims);
            addresses_hold(&world, &represented, &actual, &mut claims);
            let overlaps = |representative: &&(usize, usize, Representative),
                            other: &&(usize, usize, Representative)| {
                let at = |own: &(usize, usize, Representative)| actual[own.0][own.1];
                at(representative).zip(at(other)).is_none_or(|(x, y)| overlap(x, y))
            };
            unclaimed.retain(|[a, b]| !overlaps(a, b));
        }
        assert!(
            unclaimed.is_empty(),
            "never met: {:x?}\n{}",
            unclaimed[0],
            world.describe(unclaimed[0][0].0.max(unclaimed[0][1].0))
        );
    }
    claims
}

#[test]
fn symbolic_values_hold_under_every_assignment() {
    let claims = hold(0x9e37_79b9_7f4a_7c15, 2500, 40);
    let Claims { known, equal, distance: disjoint, overlapping: number } = claims;
    assert!(known > 1_000_000 && equal > 100_000, "{claims:?}");
    assert!(disjoint > 100_000 && number > 10_000, "{claims:?}");
}
