//! Checks every fixture without clusters with its ctas in clusters of two: a verdict must be that of ctas by themselves, or open.
//! So nothing that the check keeps for a cta is mixed up with what it keeps for another one of the cluster.
//!
//! Then the ctas of a cluster also meet wherever those of the fixture meet. That orders accesses to global memory, and no others.

use std::collections::BTreeSet;
use std::fs;

use weft_core::finding::{Check, Class, Code, Finding, Report, Role, Verdict};
use weft_core::launch::{Dim3, Dimensions, Launch, Options};
use weft_core::ptx;
use weft_fixture_tests::files;
use weft_fixture_tests::language::Fixture;

/// What makes a kernel depend on its clusters, and changes nothing.
const READS_RANK: &str = " .reg .u32 %of_cluster; mov.u32 %of_cluster, %cluster_ctarank;";

const MEET: &str = "bar.sync 0;";
const MEET_IN_CLUSTER: &str = "barrier.cluster.arrive; barrier.cluster.wait; bar.sync 0;";

/// Returns a text in which each kernel reads the rank of its cta, in the same lines.
fn reading_ranks(text: &str) -> String {
    let mut parts = text.split(".entry");
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let body = part.find('{').map_or(part.len(), |at| at + 1);
        for piece in [".entry", &part[..body], READS_RANK, &part[body..]] {
            result.push_str(piece);
        }
    }
    result
}

/// Returns a text in which the ctas of a cluster meet wherever all threads of a cta do, in the same lines.
fn meeting(text: &str) -> String {
    let line = |own: &str| {
        let is_guarded = own.trim_start().starts_with('@');
        if is_guarded { own.to_owned() } else { own.replace(MEET, MEET_IN_CLUSTER) }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the launch with an even number of ctas across its grid.
fn even(launch: &Launch) -> Launch {
    let grid = launch.grid.and_then(Dimensions::known).unwrap_or(Dim3::line(2));
    let grid = Dim3 { x: grid.x.next_multiple_of(2), ..grid };
    let options = Options { witness: 0, ..launch.options };
    Launch { grid: Some(grid.into()), options, ..launch.clone() }
}

fn defects(report: &Report) -> impl Iterator<Item = &Finding> {
    report.findings.iter().filter(|finding| finding.code.class() == Class::Defect)
}

/// The kinds and sites of the defects. Races between ctas of a cluster have the codes of those within a cta, which tell copies
/// apart; and writes might store the same value in fewer schedules if the threads of another cta run beside theirs.
fn kinds(report: &Report) -> BTreeSet<(Code, Vec<(u32, Role)>)> {
    let kind = |code: Code| match code {
        Code::AsyncRace | Code::BenignRace => Code::GlobalRace,
        code => code,
    };
    let sites = |finding: &Finding| -> Vec<(u32, Role)> {
        let sites: BTreeSet<_> =
            finding.sites.iter().map(|site| (site.ptx.line, site.role)).collect();
        sites.into_iter().collect()
    };
    defects(report).map(|finding| (kind(finding.code), sites(finding))).collect()
}

/// Whether a defect of barriers ends the run: the schedule then decides which of several comes first.
fn is_broken(report: &Report) -> bool {
    defects(report).any(|finding| finding.check == Some(Check::Barriers))
}

#[derive(Debug, Default)]
struct Tally {
    clean: u32,
    defective: u32,
    open: u32,
    met: u32,
    refused: u32,
}

impl Tally {
    /// Compares the reports of ctas in clusters with that of ctas by themselves.
    fn compare(&mut self, name: &str, alone: &Report, paired: &Report, met: &Report) {
        match paired.verdict() {
            Verdict::Open => self.open += 1,
            verdict => {
                assert_eq!(verdict, alone.verdict(), "{name}: {:?}", kinds(paired));
                self.clean += u32::from(verdict == Verdict::Clean);
                self.defective += u32::from(verdict == Verdict::Defect);
            }
        }
        if paired.verdict() == Verdict::Defect && !is_broken(alone) {
            assert_eq!(kinds(paired), kinds(alone), "{name}");
        }
        if met.verdict() == Verdict::Clean {
            let is_global = |finding: &Finding| finding.check == Some(Check::Global);
            assert!(defects(alone).all(is_global), "{name}, if the ctas meet: {:?}", kinds(alone));
            self.met += 1;
        }
    }
}

#[test]
fn ctas_of_a_cluster_are_judged_as_by_themselves() {
    let mut tally = Tally::default();
    for path in files::fixtures().expect("the folder is part of the checkout") {
        let text = fs::read_to_string(&path).expect("fixtures are text");
        if text.contains("cluster") {
            continue;
        }
        let fixture = Fixture::parse(&text, &path).expect("the header is right");
        let launch = even(&fixture.launch());
        let paired = Launch { cluster: Some(Dim3::line(2)), ..launch.clone() };
        let module = ptx::parse(&text);
        let ranked = ptx::parse(&reading_ranks(&text));
        let meeting = ptx::parse(&meeting(&text));
        let clustered = ranked.kernels().zip(meeting.kernels());
        for (kernel, (ranked_kernel, meeting_kernel)) in module.kernels().zip(clustered) {
            let name = format!("{} of {}", module.name(kernel.name), path.display());
            let Ok(alone) = weft_core::check(&module, kernel, &launch) else { continue };
            let reports = [
                weft_core::check(&ranked, ranked_kernel, &paired),
                weft_core::check(&meeting, meeting_kernel, &paired),
            ];
            match reports {
                [Ok(paired), Ok(met)] => tally.compare(&name, &alone, &paired, &met),
                // Pointers to shared memory cannot be given in clusters of several ctas.
                _ => tally.refused += 1,
            }
        }
    }
    let Tally { clean, defective, open, met, refused } = tally;
    assert!(clean > 300 && defective > 350 && open < 680 && met > 300 && refused < 4, "{tally:?}");
}
