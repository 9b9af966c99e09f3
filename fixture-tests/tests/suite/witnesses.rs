//! The input that a `race-for-input` finding names can be reproduced: with the table of weft.toml in the finding's help,
//! the check reports the same defect at the same sites.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use weft_core::finding::{Class, Code, Finding, Role};
use weft_core::ptx::{self, Span};
use weft_fixture_tests::files;
use weft_fixture_tests::language::Fixture;
use weft_harness::config::Config;
use weft_harness::signature::ParameterNames;

/// The sites of a finding.
fn sites(finding: &Finding) -> BTreeSet<(Span, Role)> {
    finding.sites.iter().map(|site| (site.span, site.role)).collect()
}

/// Returns the table of weft.toml in the help of a finding.
fn table(finding: &Finding) -> Option<&str> {
    let help = finding.help.as_deref()?;
    Some(&help[help.find("[[kernel]]")?..])
}

/// Returns the code that a finding states for its input.
fn code(finding: &Finding) -> Option<Code> {
    let after = |note: &String| {
        let (_, code) = note.strip_prefix("with this input it is ")?.split_once('`')?;
        Code::from_name(code.split('`').next()?)
    };
    finding.notes.iter().find_map(after)
}

#[test]
fn witnesses_can_be_reproduced() {
    let mut witnesses = 0;
    for path in files::fixtures().expect("the folder is part of the checkout") {
        let text = fs::read_to_string(&path).expect("fixtures are text");
        let fixture = Fixture::parse(&text, &path).expect("the header is right");
        let (module, launch) = (ptx::parse(&text), fixture.launch());
        for kernel in module.kernels() {
            let report = weft_core::check(&module, kernel, &launch).expect("the launch fits");
            let is_witness = |finding: &&Finding| finding.code == Code::RaceForInput;
            for finding in report.findings.iter().filter(is_witness) {
                let name = format!("{} in {}", report.kernel, path.display());
                let table = table(finding).expect("the help has a table");
                let config = Config::parse(table, Path::new("weft.toml")).expect("it is valid");
                let entry = config.kernels.first().expect("it has a table for the kernel");
                assert!(entry.name.is_match(&report.kernel), "{name}: {table}");
                let settings = fixture.settings.overridden_by(&entry.settings);
                let names = ParameterNames::new(&module, kernel, Vec::new());
                let launch = settings.launch(&names).expect("the table fits the kernel");
                let again = weft_core::check(&module, kernel, &launch).expect("the launch fits");
                let code = code(finding).expect("a note states the code");
                let is_it = |own: &Finding| own.code == code && sites(own) == sites(finding);
                assert_eq!(code.class(), Class::Defect, "{name}");
                assert!(again.findings.iter().any(is_it), "{name}: {table}\n{:?}", again.findings);
                witnesses += 1;
            }
        }
    }
    assert!(witnesses > 50, "{witnesses}");
}
