//! Tests of requirements: their language against random trees, plain arithmetic and brute force, and what they mean for a
//! check.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use weft_core::finding::{Assumption, Code, Report, Verdict};
use weft_core::launch::requires::{
    Arithmetic, Axis, Clause, Comparison, Contradiction, Interval, LaunchVariable, Quantity,
    Requirement, bounds, parse,
};
use weft_core::launch::{Arg, Buffer, Dim3, Dimensions, Launch};
use weft_core::{check, ptx};

/// Marsaglia's xorshift.
struct Bits(u64);

impl Bits {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % most
    }

    fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.below(all.len() as u64)).unwrap()].clone()
    }
}

fn named(name: &str) -> LaunchVariable {
    LaunchVariable::Named(name.to_owned())
}

/// The value of a variable, which stands for that of a launch.
fn value_of(variable: &LaunchVariable) -> i128 {
    match variable {
        LaunchVariable::Named(name) => i128::try_from(name.len()).unwrap() - 3,
        LaunchVariable::Argument(at) => i128::try_from(*at).unwrap(),
        LaunchVariable::Block(_) => 32,
        LaunchVariable::Grid(_) => 5,
    }
}

/// Returns a random quantity and its value by plain arithmetic; no value if it divides by zero.
fn quantity(bits: &mut Bits, depth: u32) -> (Quantity, Option<i128>) {
    let variables = [
        named("n"),
        named("_Z1kPfi_param_1"),
        named("$pow2"),
        named("block"),
        LaunchVariable::Argument(0),
        LaunchVariable::Argument(12),
        LaunchVariable::Block(Axis::X),
        LaunchVariable::Grid(Axis::Z),
    ];
    match bits.below(if depth == 0 { 2 } else { 6 }) {
        0 => {
            let number = bits.below(6);
            (Quantity::Number(number), Some(i128::from(number)))
        }
        1 => {
            let variable = bits.pick(&variables);
            let value = value_of(&variable);
            (Quantity::Variable(variable), Some(value))
        }
        2 => {
            let (inner, value) = quantity(bits, depth - 1);
            (Quantity::Negated(Box::new(inner)), value.map(|value| -value))
        }
        _ => {
            let (left, a) = quantity(bits, depth - 1);
            let (right, b) = quantity(bits, depth - 1);
            let (_, how) = bits.pick(&Arithmetic::ALL);
            let value = a.zip(b).and_then(|(a, b)| match how {
                Arithmetic::Add => Some(a + b),
                Arithmetic::Sub => Some(a - b),
                Arithmetic::Mul => Some(a * b),
                Arithmetic::Div => (b != 0).then(|| a / b),
                Arithmetic::Rem => (b != 0).then(|| a % b),
            });
            (Quantity::Combined(Box::new(left), how, Box::new(right)), value)
        }
    }
}

/// Returns a random clause and whether it holds.
fn clause(bits: &mut Bits) -> (Clause, Option<bool>) {
    let (left, a) = quantity(bits, 4);
    if bits.below(6) == 0 {
        let powers: Vec<i128> = (0..126).map(|exponent| 1 << exponent).collect();
        return (Clause::PowerOfTwo(left), a.map(|a| powers.contains(&a)));
    }
    let (right, b) = quantity(bits, 4);
    let (_, how) = bits.pick(&Comparison::ALL);
    let holds = a.zip(b).map(|(a, b)| match how {
        Comparison::Equal => a == b,
        Comparison::NotEqual => a != b,
        Comparison::Less => a < b,
        Comparison::LessOrEqual => a <= b,
        Comparison::Greater => a > b,
        Comparison::GreaterOrEqual => a >= b,
    });
    (Clause::Compare(left, how, right), holds)
}

#[test]
fn what_is_printed_reads_back_as_the_same_and_has_the_value_of_plain_arithmetic() {
    let mut bits = Bits(0x5eed);
    let (mut undefined, mut fulfilled) = (0, 0);
    for _ in 0..20_000 {
        let mut clauses: Vec<_> = (0..=bits.below(3)).map(|_| clause(&mut bits)).collect();
        let holds: Vec<Option<bool>> = clauses.iter().map(|(_, holds)| *holds).collect();
        let first = clauses.remove(0).0;
        let rest = clauses.into_iter().map(|(clause, _)| clause).collect();
        let requirement = Requirement { first, rest };
        let text = requirement.to_string();
        assert_eq!(parse(&text).as_ref(), Ok(&requirement), "{text}");
        let dense = text.replace(' ', "");
        assert_eq!(parse(&dense).as_ref(), Ok(&requirement), "{dense}");
        assert_eq!(parse(&format!("( {text} )")).as_ref(), Ok(&requirement), "{text}");
        let expected = if holds.contains(&Some(false)) {
            Some(false)
        } else {
            (!holds.contains(&None)).then_some(true)
        };
        assert_eq!(requirement.holds(&|variable| Some(value_of(variable))), expected, "{text}");
        undefined += usize::from(expected.is_none());
        fulfilled += usize::from(expected == Some(true));
    }
    assert!(undefined > 1000 && fulfilled > 1000, "{undefined} {fulfilled}");
}

#[test]
fn numbers_and_names_have_several_spellings() {
    let one = |text: &str| parse(text).unwrap().to_string();
    assert_eq!(one("n<=0x400"), "n <= 1024");
    assert_eq!(one(" n <= 1_024 "), "n <= 1024");
    assert_eq!(one("((n)) - ((2 * (m))) < -(-3)"), "n - 2 * m < --3");
    assert_eq!(one("a - (b - c) == (a - b) - c"), "a - (b - c) == a - b - c");
    assert_eq!(one("(n < 4 && pow2((n))) && (m > 3)"), "n < 4 && pow2(n) && m > 3");
    assert_eq!(one("18446744073709551615 >= #0"), "18446744073709551615 >= #0");
    // A parameter can be called like a function or a part of a name with a dot.
    assert_eq!(one("(pow2 + block) * 2 == grid"), "(pow2 + block) * 2 == grid");
}

#[test]
fn errors_have_a_position_and_a_remedy() {
    let cases = [
        ("n <= ", 5, "expected a number, a parameter's name, its position such as `#0`"),
        ("", 0, "found the end"),
        ("n = 4", 2, "for equality, write `==`"),
        ("n => 4", 2, "for `at least`, write `>=`"),
        ("n < 4 & m < 3", 6, "conditions are joined by `&&`"),
        ("n < 4 || n > 8", 6, "state each alternative as a launch of its own"),
        ("n < 4 and m < 3", 6, "expected `&&` or the end, found `and`"),
        ("!(n < 4)", 0, "compare with `!=`"),
        ("0 < n < 4", 6, "comparisons do not chain"),
        ("(0 < n < 4)", 7, "comparisons do not chain"),
        ("n + 4", 5, "compare it, as in `n <= 1024`"),
        ("(n", 2, "expected an operator or `)`, found the end"),
        ("(n < 4", 6, "expected `&&` or `)`, found the end"),
        ("n < 4)", 5, "expected `&&` or the end, found `)`"),
        ("n m < 4", 2, "expected an operator or a comparison, found `m`"),
        ("blockDim.x == 4", 0, "there is no `blockDim.x`; did you mean `block.x`?"),
        ("n < grid.w", 4, "did you mean `grid.x`?"),
        ("power2(n)", 0, "the only one is `pow2`"),
        ("n < 99999999999999999999", 4, "no number of up to 64 bits"),
        ("n < 12ab", 4, "`12ab` is no number"),
        ("n < 0x", 4, "`0x` is no number"),
        ("# < 4", 0, "expected `#` and a position"),
        ("#n < 4", 0, "found `#n`"),
        ("é < 4", 0, "expected a condition such as `n <= 1024`, found `\\u{e9}`"),
        ("n < 1.5", 4, "`1.5` is no number"),
    ];
    for (text, at, message) in cases {
        let error = parse(text).unwrap_err();
        assert_eq!(error.at, at, "{text}: {error}");
        assert!(error.to_string().contains(message), "{text}: {error}");
    }
    assert!(parse("é == n").unwrap_err().to_string().starts_with("character 1: "));
    assert!(parse("n ≤ 4").unwrap_err().to_string().starts_with("character 3: "));
}

#[test]
fn depth_and_length_are_bounded() {
    let nested = |depth| format!("{}n{} < 4", "(".repeat(depth), ")".repeat(depth));
    assert!(parse(&nested(64)).is_ok());
    assert!(parse(&nested(65)).unwrap_err().to_string().contains("more than 64 deep"));
    assert!(parse(&format!("{}n < 4", "-".repeat(4000))).is_err());
    assert!(parse(&format!("{}n < 4", "(".repeat(4000))).is_err());
    assert!(parse(&format!("n < 1{}", " + 1".repeat(1000))).is_ok());
    assert!(parse(&"n < 4 &&".repeat(1000)).unwrap_err().to_string().contains("4096 bytes"));
}

/// The values that each of two variables can have.
const DOMAIN: Interval = Interval { low: -4, high: 9 };

fn assignments() -> impl Iterator<Item = BTreeMap<LaunchVariable, i128>> {
    let values = || DOMAIN.low..=DOMAIN.high;
    values().flat_map(move |a| {
        values().map(move |b| BTreeMap::from([(named("a"), a), (named("b"), b)]))
    })
}

/// Returns a random comparison of a variable with a small number, and with the other variable if `relates`.
fn narrow_clause(bits: &mut Bits, relates: bool) -> Clause {
    let variable = Quantity::Variable(named(bits.pick(&["a", "b"])));
    if bits.below(8) == 0 {
        return Clause::PowerOfTwo(variable);
    }
    let number = Quantity::Number(bits.below(8));
    let number = if bits.below(3) == 0 { Quantity::Negated(Box::new(number)) } else { number };
    let (_, how) = bits.pick(&Comparison::ALL);
    let other = if relates && bits.below(2) == 0 {
        let other = Quantity::Variable(named(bits.pick(&["a", "b"])));
        let (_, how) = bits.pick(&Arithmetic::ALL);
        Quantity::Combined(Box::new(other), how, Box::new(number))
    } else {
        number
    };
    match bits.below(2) {
        0 => Clause::Compare(variable, how, other),
        _ => Clause::Compare(other, how, variable),
    }
}

#[test]
fn contradictions_and_ranges_agree_with_brute_force() {
    let mut bits = Bits(0xb0b);
    let (mut contradictions, mut missed) = (0, 0);
    for round in 0..20_000 {
        let relates = round % 2 == 0;
        let one =
            |bits: &mut Bits| Requirement { first: narrow_clause(bits, relates), rest: Vec::new() };
        let all: Vec<_> = (0..=bits.below(6)).map(|_| one(&mut bits)).collect();
        let holds = |at: &BTreeMap<_, i128>| {
            all.iter().all(|each| each.holds(&|variable| at.get(variable).copied()) == Some(true))
        };
        let solutions: Vec<_> = assignments().filter(holds).collect();
        let text: Vec<_> = all.iter().map(Requirement::to_string).collect();
        let found = match bounds(&all, &|_| DOMAIN) {
            Err(reason) => {
                assert!(solutions.is_empty(), "{text:?}: {reason:?}, but {:?}", solutions[0]);
                contradictions += 1;
                continue;
            }
            Ok(found) => found,
        };
        missed += usize::from(solutions.is_empty());
        assert!(relates || !solutions.is_empty(), "{text:?} has no solution");
        for (variable, range) in found.all() {
            let values = || solutions.iter().map(|solution| solution[variable]);
            let is_in = |value: &i128| (range.low..=range.high).contains(value);
            assert!(values().all(|value| is_in(&value)), "{text:?}: {variable}");
            if !relates {
                let tight =
                    Interval { low: values().min().unwrap(), high: values().max().unwrap() };
                assert_eq!(range, tight, "{text:?}: {variable}");
            }
        }
    }
    assert!(contradictions > 4000 && missed > 100, "{contradictions} {missed}");
}

#[test]
fn a_block_has_at_most_1024_threads() {
    let all = |text: &str| [parse(text).unwrap()];
    let domain = |variable: &LaunchVariable| Interval::of_extent(variable).unwrap();
    let of =
        |text: &str, axis| bounds(&all(text), &domain).unwrap().of(&LaunchVariable::Block(axis));
    assert_eq!(of("block.x >= 300", Axis::Y), Some(Interval { low: 1, high: 3 }));
    assert_eq!(of("block.x == 1024", Axis::Z), Some(Interval::point(1)));
    let reason = bounds(&all("block.x >= 512 && block.y > 2"), &domain).unwrap_err();
    assert_eq!(reason, Contradiction::Threads(512 * 3));
}

/// A kernel in which each thread below `n` stores to its own word. Thread 0 races with the other ctas if there are
/// several.
const KERNEL: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n, .param .s32 m, .param .f32 f, .param .b8 s[16])
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra DONE;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
DONE:
    ret;
}
";

fn launch(requires: &[&str]) -> Launch {
    let requires = requires.iter().map(|text| parse(text).unwrap()).collect();
    Launch { block: Some(Dim3::line(64).into()), requires, ..Launch::default() }
}

fn run(launch: &Launch) -> Result<Report, String> {
    run_with("", launch)
}

fn run_with(directive: &str, launch: &Launch) -> Result<Report, String> {
    let module = ptx::parse(&KERNEL.replacen("\n{", &format!("\n{directive}\n{{"), 1));
    assert!(module.errors.is_empty(), "{:?}", module.errors);
    check(&module, module.kernel("k").unwrap(), launch).map_err(|error| error.to_string())
}

#[test]
fn a_report_lists_what_is_required() {
    let launch = launch(&["n<=1024", "#2 % 0x10==0"]);
    let report = run(&launch).unwrap();
    assert_eq!(report.verdict(), Verdict::Clean);
    let required =
        Assumption::Required(vec!["n <= 1024".into(), "#2 % 16 == 0 (m is signed)".into()]);
    assert_eq!(report.assumptions[0], required);
    assert_eq!(report.launch, launch);
}

#[test]
fn names_and_kinds_are_those_of_the_kernel() {
    let cases = [
        ("nn < 4", "the kernel has no parameter `nn`; the nearest name is `n`"),
        ("#5 < 4", "the kernel has 5 parameters, numbered from 0: there is no #5"),
        ("out % 16 == 0", "`out` is a pointer; requirements are about integers"),
        ("f < 4", "`f` is a floating-point number"),
        ("#4 < 4", "`s` is a structure"),
        ("n < 0", "`n < 0` is required, but `n` has the values 0 to 4294967295 at most"),
        ("m > 0x7fffffff", "`m` has the values -2147483648 to 2147483647 at most"),
        ("1 == 2", "`1 == 2` is required, but it is false; correct"),
        ("block.x == 128", "`block.x == 128` is required, but it is false for block.x = 64;"),
        ("block.x * block.y > 64 + n - n", ""),
        // `n == 4` and `n == m` alone could be fulfilled.
        ("m == 5 && n == m && n == 4", "it is false for n = 5; correct"),
        ("n == 3 && m == n + 1 && m > 2 * n", "is required, but it is false for n = 3, m = 4"),
    ];
    for (text, message) in cases {
        let result = run(&launch(&[text]));
        if message.is_empty() {
            assert!(result.is_ok(), "{text}: {result:?}");
        } else {
            let error = result.unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
    let both = run(&launch(&["n < 4", "m != 2", "#1 > 8"])).unwrap_err();
    assert_eq!(both, "`n < 4` and `#1 > 8` are required, but they exclude each other");
    let given = |value| Launch { args: [(2, Arg::Integer(value))].into(), ..launch(&["m < 0"]) };
    assert!(run(&given(-1)).is_ok());
    // The same bits.
    assert!(run(&given(0xffff_ffff)).is_ok());
    let error = run(&given(7)).unwrap_err();
    assert_eq!(
        error,
        "`m < 0` is required, but it is false for m = 7; correct the launch or the requirement"
    );
    let buffer = Arg::Buffer(Buffer::default());
    let launch = Launch { args: [(0, buffer)].into(), ..launch(&["#0 > 4"]) };
    assert!(run(&launch).unwrap_err().contains("`out` is a pointer"));
}

#[test]
fn an_argument_with_one_value_left_is_given() {
    let open = run(&launch(&["n >= 1"])).unwrap();
    let none = run(&launch(&["n <= 0"])).unwrap();
    assert_eq!((open.coverage.reached, none.coverage.reached), (1, 0));
    let codes: Vec<Code> = none.findings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, [Code::Vacuous]);
    assert!(none.launch.args.is_empty(), "the report has the launch as given");
}

#[test]
fn a_block_is_known_if_all_its_extents_are() {
    let any = |requires: &[&str]| Launch { block: Some(Dimensions::Any), ..launch(requires) };
    let unstated = |requires: &[&str]| Launch { block: None, ..launch(requires) };
    let whole = ["block.x == 32", "block.y == 2 && block.z < 2"];
    let size = Some(Dim3 { x: 32, y: 2, z: 1 });
    for launch in [any(&whole), unstated(&whole)] {
        assert_eq!(run(&launch).unwrap().block, size);
    }
    assert_eq!(run(&unstated(&["block.x == 1024"])).unwrap().block, Some(Dim3::line(1024)));
    let open = ["block.x == 32", "block.y <= 2"];
    for launch in [any(&[]), any(&open), unstated(&open), unstated(&[])] {
        let report = run(&launch).unwrap();
        assert_eq!((report.proved.is_some(), report.block), (launch.requires.is_empty(), None));
    }
    // The kernel reads the index in x alone.
    for launch in [any(&["block.x == 32"]), unstated(&["block.x == 32"])] {
        assert_eq!(run(&launch).unwrap().block, Some(Dim3::line(32)));
    }
    // The kernel's own size is exact, its upper bound is not.
    assert_eq!(run_with(".reqntid 96", &any(&[])).unwrap().block, Some(Dim3::line(96)));
    let error = run_with(".reqntid 96", &any(&["block.x == 32"])).unwrap_err();
    assert!(error.contains("it is false for block.x = 96"), "{error}");
    assert_eq!(run_with(".maxntid 96", &any(&[])).unwrap().block, None);
    let bounded = run_with(".maxntid 96", &unstated(&[])).unwrap();
    assert_eq!((bounded.proved.is_some(), bounded.block), (true, None));
    assert_eq!(run_with(".maxntid 96", &unstated(&["pow2(block.x)"])).unwrap().block, None);
    let words = |launch: &Launch| run(launch).unwrap().block_in_words();
    assert_eq!((words(&any(&[])), words(&unstated(&[]))), ("any".into(), "unknown".into()));
}

#[test]
fn nothing_is_called_clean_for_any_grid() {
    let any = |requires: &[&str]| Launch { grid: Some(Dimensions::Any), ..launch(requires) };
    let unstated = run(&launch(&[])).unwrap();
    assert_eq!(unstated.verdict(), Verdict::Clean);
    // One cta is checked where it is one of the launches that are meant.
    for (requires, ctas) in
        [(&[][..], 1), (&["grid.x < 9"], 1), (&["grid.x > 1"], 0), (&["grid.x > n"], 0)]
    {
        let report = run(&any(requires)).unwrap();
        assert_eq!((report.verdict(), report.stats.ctas), (Verdict::Open, ctas), "{requires:?}");
        assert_eq!(report.findings[0].code, Code::NoLaunch);
        assert_eq!(report.grid_in_words(), "any");
    }
    let known = run(&any(&["grid.x == 2", "grid.y == 1", "grid.z == 1", "n == 64"])).unwrap();
    assert_eq!((known.verdict(), known.stats.ctas), (Verdict::Defect, 2));
    // A requirement on a grid that is not stated leaves it to be any.
    assert_eq!(run(&launch(&["grid.x > 1"])).unwrap().verdict(), Verdict::Open);
    // A kernel that accesses nothing is clean for any launch.
    let module = ptx::parse(".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }\n");
    let launch = Launch { block: Some(Dimensions::Any), ..any(&[]) };
    let report = check(&module, module.kernel("k").unwrap(), &launch).unwrap();
    assert_eq!(report.verdict(), Verdict::Clean);
}

/// A kernel that uses `n`, declared as `.u32`, in this way.
fn using(line: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .visible .entry k(.param .u64 out, .param .u32 n)\n{{\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n\
         .reg .f32 %f<2>;\n.reg .pred %p<2>;\nld.param.u64 %rd1, [out];\nld.param.u32 %r1, [n];\n\
         mov.u32 %r2, %tid.x;\n{line}\nmad.wide.u32 %rd2, %r2, 4, %rd1;\nst.global.u32 [%rd2], %r2;\nret;\n}}\n"
    )
}

#[test]
fn a_number_is_signed_if_a_use_depends_on_its_sign() {
    let says_signed = |line: &str| {
        let module = ptx::parse(&using(line));
        assert!(module.errors.is_empty(), "{line}: {:?}", module.errors);
        let report = check(&module, module.kernel("k").unwrap(), &launch(&["n != 7"])).unwrap();
        report.assumptions[0] == Assumption::Required(vec!["n != 7 (n is signed)".into()])
    };
    let signed = [
        "setp.lt.s32 %p1, %r2, %r1;",
        "max.s32 %r3, %r1, %r2;",
        "div.s32 %r3, %r2, %r1;",
        "shr.s32 %r3, %r1, 2;",
        "mul.wide.s32 %rd3, %r1, 4;",
        "cvt.s64.s32 %rd3, %r1;",
        "cvt.rn.f32.s32 %f1, %r1;",
        // Of a sum, of a product, and of a copy.
        "add.s32 %r3, %r2, %r1;\nmul.lo.s32 %r4, %r3, %r2;\nmov.u32 %r5, %r4;\nsetp.ge.s32 %p1, %r5, %r2;",
        // The half, rounded towards zero.
        "shr.u32 %r3, %r1, 31;\nadd.s32 %r4, %r1, %r3;\nshr.u32 %r5, %r4, 1;",
    ];
    for line in signed {
        assert!(says_signed(line), "{line}");
    }
    let others = [
        "add.s32 %r3, %r2, %r1;",
        "setp.eq.s32 %p1, %r2, %r1;",
        "setp.lt.u32 %p1, %r2, %r1;",
        "shr.u32 %r3, %r1, 31;",
        "mul.wide.u32 %rd3, %r1, 4;\nsetp.lt.s64 %p1, %rd3, 0;",
        // An order of something else that depends on it.
        "and.b32 %r3, %r1, 3;\nsetp.lt.s32 %p1, %r3, %r2;",
    ];
    for line in others {
        assert!(!says_signed(line), "{line}");
    }
}
