//! Every fixture under several schedules.

use std::fs;
use std::path::{Path, PathBuf};

use weft_core::launch::Schedule;
use weft_core::ptx;
use weft_harness::fixture::Fixture;

#[test]
fn probe() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/ptx");
    let mut paths: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    for path in paths.iter().filter(|p| p.extension().is_some_and(|e| e == "ptx")) {
        let text = fs::read_to_string(path).unwrap();
        let fixture = Fixture::parse(&text, path).unwrap();
        let module = ptx::parse(&text);
        for kernel in module.kernels() {
            let said = |schedule| {
                let mut launch = fixture.launch();
                launch.options.schedule = schedule;
                let start = std::time::Instant::now();
                let report = weft_core::check(&module, kernel, &launch).unwrap();
                if start.elapsed().as_millis() > 300 {
                    println!("{} {schedule:?} {:?}", path.display(), start.elapsed());
                }
                let mut f: Vec<_> = report
                    .findings
                    .iter()
                    .map(|f| {
                        (
                            f.code,
                            f.sites.iter().map(|s| (s.ptx.line, s.role)).collect::<Vec<_>>(),
                            f.pairs,
                        )
                    })
                    .collect();
                f.sort();
                (report.verdict(), f, format!("{:?} {:?}", report.coverage, report.stats))
            };
            let first = said(Schedule::InOrder);
            for schedule in [
                Schedule::Reverse,
                Schedule::InTurn,
                Schedule::Latest,
                Schedule::Random(1),
                Schedule::Random(2),
            ] {
                let other = said(schedule);
                if other != first {
                    println!(
                        "{} {} {schedule:?}\n   {first:?}\n   {other:?}",
                        path.file_name().unwrap().display(),
                        if other.0 != first.0 {
                            "VERDICT"
                        } else if other.1 != first.1 {
                            "FINDINGS"
                        } else {
                            "STATS"
                        }
                    );
                }
            }
        }
    }
}
