//! Tests of the fixture language: what it parses, what it rejects, and that matching is exact.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use weft_core::finding::{Check, Code, Coverage, Finding, Report, Role, Site, Stats};
use weft_core::launch::{Arg, Dim3, Launch};
use weft_core::ptx::{self, Position, Span};
use weft_fixture_tests::language::Fixture;

const TEXT: &str = "\
//@ block = 64
//@ args = { 0 = \"buffer\", 1 = 64 }
.version 8.0
    st.shared.u32 [%r1], %r1;  //~ shared-race#a write \"4-byte\" shared-race#b write
    ld.shared.u32 %r2, [%r1];  //~ shared-race#a read
    ld.shared.u32 %r2, [%r1];  //~ shared-race#b read //~ unsupported here
";

fn fixture(text: &str) -> Fixture {
    Fixture::parse(text, Path::new("f.ptx")).unwrap()
}

fn finding(code: Code, message: &str, sites: &[(u32, Role)]) -> Finding {
    let site = |&(line, role): &(u32, Role)| Site {
        role,
        ptx: Position { line, column: 5 },
        span: Span::default(),
        source: Vec::new(),
        threads: Vec::new(),
        label: String::new(),
    };
    let sites = sites.iter().map(site).collect();
    Finding {
        code,
        check: Some(Check::Shared),
        message: message.to_owned(),
        sites,
        notes: vec![],
        help: None,
        pairs: None,
    }
}

fn expected() -> Vec<Finding> {
    vec![
        finding(Code::SharedRace, "a 4-byte race", &[(4, Role::Write), (5, Role::Read)]),
        finding(
            Code::SharedRace,
            "another",
            &[(6, Role::Read), (4, Role::Write), (4, Role::Write)],
        ),
        finding(Code::Unsupported, "what", &[(6, Role::Here)]),
    ]
}

fn mismatches(text: &str, findings: Vec<Finding>) -> Vec<String> {
    let report = Report {
        kernel: "k".to_owned(),
        launch: Launch::default(),
        block: None,
        grid: Dim3::line(1),
        findings,
        proved: None,
        assumptions: Vec::new(),
        coverage: Coverage::default(),
        unreached: Vec::new(),
        stats: Stats::default(),
        shown_with: None,
    };
    fixture(text).compare(&ptx::parse(text), &[report]).iter().map(ToString::to_string).collect()
}

#[test]
fn the_header_is_a_launch() {
    let launch = fixture(TEXT).launch();
    assert_eq!(launch.block, Some(Dim3::line(64).into()));
    assert_eq!(launch.args[&1], Arg::Integer(64));
}

#[test]
fn all_annotated_is_no_mismatch() {
    assert_eq!(mismatches(TEXT, expected()), [] as [&str; 0]);
}

#[test]
fn what_is_annotated_must_be_found() {
    let mut findings = expected();
    findings.remove(1);
    assert_eq!(
        mismatches(TEXT, findings),
        [
            "f.ptx:4: missing: shared-race#b (write in line 4, read in line 6) is annotated but not found"
        ]
    );
}

#[test]
fn what_is_found_must_be_annotated() {
    let mut findings = expected();
    findings.push(finding(Code::Limit, "too long", &[(5, Role::Here)]));
    findings.push(finding(Code::Unsupported, "what", &[(6, Role::Here)]));
    assert_eq!(
        mismatches(TEXT, findings),
        [
            "f.ptx:5: unexpected: limit (here in line 5) is found but not annotated: too long",
            "f.ptx:6: unexpected: unsupported (here in line 6) is found but not annotated: what"
        ]
    );
}

#[test]
fn ids_roles_codes_and_texts_matter() {
    let swapped = vec![
        finding(
            Code::SharedRace,
            "a 4-byte race",
            &[(4, Role::Write), (5, Role::Read), (6, Role::Read)],
        ),
        finding(Code::Unsupported, "what", &[(6, Role::Here)]),
    ];
    assert_eq!(mismatches(TEXT, swapped).len(), 3, "one finding does not meet two ids");
    let mut role = expected();
    role[0].sites[1].role = Role::Atomic;
    assert_eq!(mismatches(TEXT, role).len(), 2);
    let mut code = expected();
    code[2].code = Code::Limit;
    assert_eq!(mismatches(TEXT, code).len(), 2);
    let mut text = expected();
    text[0].message = "a race".to_owned();
    assert_eq!(
        mismatches(TEXT, text),
        [
            "f.ptx:4: missing: shared-race (write in line 4, read in line 5) does not say \"4-byte\": a race"
        ]
    );
}

#[test]
fn a_finding_without_sites_is_never_overlooked() {
    let found =
        mismatches("//@ block = 1\n.version 8.0\n", vec![finding(Code::NoLaunch, "no block", &[])]);
    assert_eq!(
        found,
        ["f.ptx:1: unexpected: no-launch (no site) is found but not annotated: no block"]
    );
}

#[test]
fn mistakes_are_refused() {
    let cases = [
        ("//@ blok = 1", "f.ptx:1:5: unknown key `blok`"),
        ("\n//@ block = 0", "f.ptx:2:13: a block of 0 threads"),
        (" //@ block = 1", "f.ptx:1: `//@` must stand at the start"),
        ("x //~ shared-rac write", "f.ptx:1: there is no code `shared-rac`"),
        ("x //~ shared-race#a writes", "f.ptx:1: there is no role `writes`"),
        ("x //~ shared-race#a", "f.ptx:1: the role is missing"),
        ("x //~ shared-race# write", "f.ptx:1: the id behind `#` is empty"),
        ("x //~ shared-race write \"a", "f.ptx:1: the text has no closing"),
        ("x //~", "f.ptx:1: the annotation is empty"),
        ("x //~ limit#a here limit#a here", "f.ptx:1: `limit#a here` stands twice"),
    ];
    for (text, expected) in cases {
        let error = Fixture::parse(text, Path::new("f.ptx")).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{text:?} gives {error:?} instead of {expected:?}");
    }
}
