//! Laws of systems, by brute force over all values of a few unknowns: what is refuted has no solution, what is said to be
//! positive is so in every solution of the conditions, and a counterexample is one. What is a sum of facts is found to be
//! positive.

use super::expr::Exprs;
use super::poly::{Poly, Var};
use super::split_mix::SplitMix;
use super::system::{Conditions, Division, Flip, System, ValueCases};
use super::var_bounds::VarBounds;

/// The unknowns of a system.
const UNKNOWNS: u32 = 4;

/// A random system, and all points that its bounds permit.
struct RandomSystem {
    random: SplitMix,
    system: System,
    points: Vec<Vec<i128>>,
}

impl RandomSystem {
    fn new(seed: u64) -> Self {
        let (mut random, mut system) = (SplitMix(seed), System::default());
        let mut points = vec![Vec::new()];
        for _ in 0..UNKNOWNS {
            let least = i128::from(random.below(4)) - 2;
            let most = least + i128::from(random.below(4));
            system.var(VarBounds { least: Some(least), most: Some(most) });
            let longer = |point: &Vec<i128>| {
                let point = point.clone();
                (least..=most).map(move |value| point.iter().copied().chain([value]).collect())
            };
            points = points.iter().flat_map(longer).collect();
        }
        Self { random, system, points }
    }

    fn poly(&mut self) -> Poly {
        let terms = 1 + self.random.below(4);
        (0..terms).fold(Poly::default(), |sum, _| {
            let degree = self.random.below(3);
            let mut monomial: Vec<Var> = (0..degree)
                .map(|_| Var(u32::try_from(self.random.below(UNKNOWNS.into())).unwrap()))
                .collect();
            monomial.sort_unstable();
            let coefficient = i128::from(self.random.below(9)) - 4;
            sum.plus(&Poly::term(monomial.into_iter().collect(), coefficient)).unwrap()
        })
    }

    fn polys(&mut self, most: u64) -> Vec<Poly> {
        (0..self.random.below(most + 1)).map(|_| self.poly()).collect()
    }

    fn conditions(&mut self, most: u64) -> Conditions {
        let (positive, zero) = (self.polys(most), self.polys(most.div_ceil(2)));
        Conditions { positive, zero, nonzero: self.polys(1) }
    }

    /// Divides one unknown by another or by a number; two more unknowns are the results.
    fn divide(&mut self) {
        let mut unknown = || Poly::var(Var(u32::try_from(self.random.below(4)).unwrap()));
        let (dividend, by) = (unknown(), unknown());
        let divisor = if self.random.below(2) == 0 { by } else { Poly::constant(2) };
        let (quotient, remainder) = (Poly::var(Var(2)), Poly::var(Var(3)));
        self.system.divisions.push(Division { dividend, divisor, quotient, remainder });
    }

    /// One unknown has one of two values.
    fn choose(&mut self) {
        let cases = (0..2).map(|_| (self.poly(), self.conditions(1))).collect();
        self.system.alternatives.push(ValueCases { var: Var(0), cases, is_extreme: false });
    }
}

fn value(of: &Poly, point: &[i128]) -> i128 {
    let term = |(monomial, coefficient): (&_, i128)| {
        let factors: &super::poly::Monomial = monomial;
        factors.iter().fold(coefficient, |product, var| product * point[var.0 as usize])
    };
    of.terms().map(term).sum()
}

fn hold(conditions: &Conditions, point: &[i128]) -> bool {
    let Conditions { positive, zero, nonzero } = conditions;
    positive.iter().all(|own| value(own, point) >= 0)
        && zero.iter().all(|own| value(own, point) == 0)
        && nonzero.iter().all(|own| value(own, point) != 0)
}

fn solves(system: &System, point: &[i128]) -> bool {
    let divides = |division: &Division| {
        let Division { dividend, divisor, quotient, remainder } = division;
        let [dividend, divisor, quotient, remainder] =
            [dividend, divisor, quotient, remainder].map(|part| value(part, point));
        (0..divisor).contains(&remainder) && dividend == divisor * quotient + remainder
    };
    let is_case = |cases: &ValueCases| {
        let own = point[cases.var.0 as usize];
        cases.cases.iter().any(|(case, when)| value(case, point) == own && hold(when, point))
    };
    let is_distinct = system.distinct.is_empty()
        || system.distinct.iter().any(|difference| value(difference, point) != 0);
    hold(&system.conditions, point)
        && system.divisions.iter().all(divides)
        && system.alternatives.iter().all(is_case)
        && is_distinct
}

#[test]
fn what_is_refuted_has_no_solution() {
    let mut refuted = 0;
    for seed in 0..6000 {
        let mut random = RandomSystem::new(seed);
        random.system.conditions = random.conditions(3);
        random.system.distinct = random.polys(2);
        if random.random.below(3) == 0 {
            random.divide();
        }
        if random.random.below(3) == 0 {
            random.choose();
        }
        let solution = random.points.iter().find(|point| solves(&random.system, point));
        random.system.has_large_digits_first = random.random.below(2) == 0;
        let asked = random.system.clone();
        if random.system.is_refuted(&mut 2000) {
            assert_eq!(solution, None, "seed {seed}: {asked:#?}");
            refuted += 1;
        }
    }
    assert!(refuted > 1000, "{refuted}");
}

/// Two numbers, and both with the same bits flipped.
#[test]
fn flipped_numbers_that_are_told_apart_are() {
    let (mut refuted, mut needed, mut solved) = (0, 0, 0);
    for seed in 0..6000 {
        let mut random = RandomSystem::new(seed);
        let mask = random.random.below(4);
        let number = Exprs::default().constant(mask, 32);
        let var = |at: u32| Poly::var(Var(at));
        let flip = |at: u32| Flip { mask: number, value: var(at), flipped: var(at + 1) };
        random.system.conditions = random.conditions(3);
        random.system.distinct = random.polys(2);
        let without = random.system.is_refuted(&mut 2000);
        let is_signed = usize::from(random.random.below(2) == 0);
        random.system.flips[is_signed] = vec![flip(0), flip(2)];
        let is_flipped = |point: &&Vec<i128>| {
            point[0] ^ i128::from(mask) == point[1] && point[2] ^ i128::from(mask) == point[3]
        };
        let mut points = random.points.iter().filter(is_flipped);
        let solution = points.find(|point| solves(&random.system, point));
        solved += usize::from(solution.is_some());
        if random.system.is_refuted(&mut 2000) {
            assert_eq!(solution, None, "seed {seed}, mask {mask}: {:#?}", random.system);
            refuted += 1;
            needed += usize::from(!without);
        }
    }
    assert!(refuted > 1000 && needed > 20 && solved > 200, "{refuted} {needed} {solved}");
}

/// Rows `x` and `y` of `w + p` elements, and what is left of the distance of two elements.
#[test]
fn padded_rows_that_are_told_apart_are() {
    let (mut refuted, mut solved) = (0, 0);
    for seed in 0..4000 {
        let mut random = RandomSystem::new(seed);
        let [x, y, w, z] = [0, 1, 2, 3].map(|at| Poly::var(Var(at)));
        let padding = i128::from(random.random.below(4));
        let rows = x.minus(&y).unwrap();
        let width = w.plus(&Poly::constant(padding)).unwrap();
        let low = z.plus_times(&random.poly(), i128::from(random.random.below(2))).unwrap();
        let equation = rows.product(&width).and_then(|high| high.plus(&low)).unwrap();
        random.system.conditions = random.conditions(2);
        random.system.conditions.zero = vec![equation];
        random.system.distinct = vec![rows];
        // The rest is often less than a row.
        let room = w.minus(&z).unwrap();
        random.system.conditions.positive.extend((random.random.below(4) > 0).then_some(room));
        let solution = random.points.iter().find(|point| solves(&random.system, point));
        solved += usize::from(solution.is_some());
        let asked = random.system.clone();
        if random.system.is_refuted(&mut 2000) {
            assert_eq!(solution, None, "seed {seed}: {asked:#?}");
            refuted += 1;
        }
    }
    assert!(refuted > 500 && solved > 500, "{refuted} {solved}");
}

#[test]
fn what_is_positive_is_so_everywhere() {
    let (mut positive, mut negative) = (0, 0);
    for seed in 0..6000 {
        let mut random = RandomSystem::new(seed);
        random.system.conditions.positive = random.polys(3);
        for _ in 0..3 {
            let asked = random.poly();
            let permits = |point: &&Vec<i128>| hold(&random.system.conditions, point);
            let least =
                random.points.iter().filter(permits).map(|point| value(&asked, point)).min();
            let told = || format!("seed {seed}: {asked:?} in {:?}", random.system);
            if random.system.is_positive(&asked, &mut 2000) {
                assert!(least.is_none_or(|least| least >= 0), "{}", told());
                positive += 1;
            }
            if random.system.has_counterexample(&asked) {
                assert!(least.is_some_and(|least| least < 0), "{}", told());
                negative += 1;
            }
        }
    }
    assert!(positive > 1000 && negative > 1000, "{positive} {negative}");
}

#[test]
fn sums_of_facts_are_positive() {
    for seed in 0..3000 {
        let mut random = RandomSystem::new(seed);
        let mut facts = random.polys(5);
        facts.retain(|fact| fact.as_constant().is_none());
        random.system.conditions.positive.clone_from(&facts);
        let mut sum = Poly::constant(i128::from(random.random.below(3)));
        for fact in &facts {
            let weight = i128::from(random.random.below(4));
            sum = sum.plus_times(fact, weight).unwrap();
        }
        assert!(
            random.system.is_positive(&sum, &mut 2000),
            "seed {seed}: {sum:?} in {:?}",
            random.system
        );
    }
}

/// Threads `x` and `y` access the elements `x / 3 * 5 + x % 3` and `y / 3 * 5 + y % 3` of a cta's part of a buffer.
#[test]
fn an_index_of_quotient_and_remainder_is_one_thread_s() {
    let mut system = System::default();
    let mut below =
        |most: i128| Poly::var(system.var(VarBounds { least: Some(0), most: Some(most) }));
    let [x, y, quotient_x, quotient_y] = [1023, 1023, 1 << 32, 1 << 32].map(&mut below);
    let [rest_x, rest_y, first] = [2, 2, 1 << 31].map(&mut below);
    let element = |thread: &Poly, quotient: &Poly| thread.plus_times(quotient, 2).unwrap();
    let difference = element(&x, &quotient_x).minus(&element(&y, &quotient_y)).unwrap();
    system.conditions.zero.push(difference);
    system.distinct.push(x.minus(&y).unwrap());
    for (thread, quotient, remainder) in [(x, quotient_x, rest_x), (y, quotient_y, rest_y)] {
        let dividend = first.plus(&thread).unwrap();
        system.divisions.push(Division {
            dividend,
            divisor: Poly::constant(3),
            quotient,
            remainder,
        });
    }
    assert!(system.is_refuted(&mut 1000));
}
