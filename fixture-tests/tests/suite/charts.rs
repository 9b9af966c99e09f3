//! Properties of the charts of all fixtures and their findings: there is one, it is small, it shows a race as one, and its
//! picture is well-formed and readable.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;

use weft_core::finding::{Chart, ChartRow, Code, Disorder, GenerationFate};
use weft_core::ptx;
use weft_core::report::svg;
use weft_core::{ChartError, ChartedKernel};
use weft_fixture_tests::files;
use weft_fixture_tests::language::Fixture;

/// The most rows of a chart: 36 generations for each of two ctas, with the arrivals of their warps, and what lies between.
const MOST_ROWS: usize = 1000;

/// Returns the rows that happen before a row, as far as the chart shows: those of the same lane above it, and of each
/// generation that a lane waited for, the arrivals and what they follow.
fn before(chart: &Chart, row: usize) -> BTreeSet<usize> {
    let lanes = |row: usize| -> Vec<usize> {
        match &chart.rows[row] {
            ChartRow::Arrival { lane } | ChartRow::End { lane } => vec![*lane],
            ChartRow::Mark(mark) => vec![mark.lane],
            ChartRow::Stop(stop) => stop.lanes.clone(),
            // What follows a generation is ordered after it in the lanes that wait.
            ChartRow::Generation(generation) => {
                let waiting = generation.participants.iter().filter(|own| own.waits);
                waiting.map(|own| own.lane).collect()
            }
            ChartRow::Fold(_) => Vec::new(),
        }
    };
    let (mut found, mut next) = (BTreeSet::new(), vec![row]);
    while let Some(row) = next.pop() {
        let own = lanes(row);
        let earlier =
            (0..row).filter(|earlier| lanes(*earlier).iter().any(|lane| own.contains(lane)));
        let arrivals: Vec<usize> = match &chart.rows[row] {
            ChartRow::Generation(generation) => {
                generation.participants.iter().filter_map(|own| own.arrival).collect()
            }
            _ => Vec::new(),
        };
        for other in earlier.chain(arrivals) {
            if found.insert(other) {
                next.push(other);
            }
        }
    }
    found
}

/// Asserts that nothing in a chart orders marks that are said to be unordered. Returns whether there are such.
fn marks_are_unordered(name: &str, chart: &Chart) -> bool {
    let is_mark = |row: &usize| matches!(chart.rows[*row], ChartRow::Mark(_));
    let marks: Vec<usize> = (0..chart.rows.len()).filter(is_mark).collect();
    let mark = |row: usize| match &chart.rows[row] {
        ChartRow::Mark(mark) => mark,
        other => panic!("{name}: {other:?} is no mark"),
    };
    let is_unordered = matches!(
        chart.disorder,
        Some(
            Disorder::Unordered
                | Disorder::BetweenCtas
                | Disorder::Tolerated
                | Disorder::MaybeRacing
        )
    );
    let [one, two] = marks.as_slice() else { return false };
    if !is_unordered {
        return false;
    }
    // The barriers of a warp order nothing that its ended threads did.
    if mark(*one).lane != mark(*two).lane && !mark(*one).ends_early {
        assert!(!before(chart, *two).contains(one), "{name}: {chart:#?}");
    }
    true
}

/// A text of a picture: where it begins and ends, and where its line is.
type PlacedText = (i32, i32, i32);

fn is_readable(name: &str, picture: &str) {
    let document =
        roxmltree::Document::parse(picture).unwrap_or_else(|error| panic!("{name}: {error}"));
    let number = |node: &roxmltree::Node<'_, '_>, key| -> i32 {
        node.attribute(key)
            .and_then(|text| text.parse().ok())
            .unwrap_or_else(|| panic!("{name}: {key}"))
    };
    let root = document.root_element();
    let (width, height) = (number(&root, "width"), number(&root, "height"));
    let texts: Vec<PlacedText> = document
        .descendants()
        .filter(|node| node.has_tag_name("text"))
        .map(|node| {
            let (x, y) = (number(&node, "x"), number(&node, "y"));
            // Most letters are narrower.
            let wide = i32::try_from(node.text().unwrap_or("").chars().count()).expect("short") * 7;
            let class = node.attribute("class").unwrap_or("");
            let is_middle = class.contains("weft-middle") || class.contains("weft-number");
            let from = if is_middle { x - wide / 2 } else { x };
            (from, from + wide, y)
        })
        .collect();
    for (at, (from, to, y)) in texts.iter().enumerate() {
        assert!(
            (0..width).contains(from) && *to <= width && *y < height,
            "{name}: {from} {to} {y}"
        );
        for (other_from, other_to, other_y) in &texts[..at] {
            let is_beside = to <= other_from || other_to <= from || (y - other_y).abs() >= 12;
            assert!(is_beside, "{name}: text at {from},{y} and {other_from},{other_y}");
        }
    }
}

/// Whether the report says that threads wait at a barrier for ever.
fn shows_deadlock(chart: &Chart) -> bool {
    chart.rows.iter().any(|row| match row {
        ChartRow::Generation(generation) => matches!(generation.fate, GenerationFate::Stuck(_)),
        ChartRow::Stop(stop) => stop.is_defect,
        _ => false,
    })
}

#[test]
fn every_finding_has_a_chart() {
    let (mut charts, mut races, mut deadlocks, mut clusters) = (0, 0, 0, 0);
    for path in files::fixtures().expect("the folder is part of the checkout") {
        let text = fs::read_to_string(&path).expect("fixtures are text");
        let fixture = Fixture::parse(&text, &path).expect("the header is right");
        let (module, launch) = (ptx::parse(&text), fixture.launch());
        for kernel in module.kernels() {
            let charted = ChartedKernel::new(&module, kernel, &launch).expect("the launch fits");
            let told: Vec<_> = charted.report().told().collect();
            for number in (0..=told.len()).map(|number| (number > 0).then_some(number)) {
                let kernel = &charted.report().kernel;
                let name = format!("{kernel} in {}, {number:?}", path.display());
                let chart = match charted.chart(number) {
                    Err(ChartError::Clusters) => {
                        clusters += 1;
                        continue;
                    }
                    chart => chart.unwrap_or_else(|error| panic!("{name}: {error}")),
                };
                assert!(!chart.lanes.is_empty() && chart.rows.len() <= MOST_ROWS, "{name}");
                is_readable(&name, &svg::chart(&chart));
                charts += 1;
                let Some(finding) = number.map(|number| told[number - 1]) else { continue };
                let are_unordered = marks_are_unordered(&name, &chart);
                if matches!(finding.code, Code::SharedRace | Code::GlobalRace) {
                    assert!(are_unordered, "{name}: {chart:#?}");
                    races += 1;
                }
                if finding.code == Code::Deadlock {
                    assert!(shows_deadlock(&chart), "{name}: {chart:#?}");
                    deadlocks += 1;
                }
            }
            let missing = charted.chart(Some(told.len() + 1));
            assert!(matches!(missing, Err(ChartError::NoFinding { .. })), "{missing:?}");
        }
    }
    // Of kernels of clusters there are no charts.
    let is_enough = charts > 1500 && races > 100 && deadlocks > 6 && clusters * 10 < charts;
    assert!(is_enough, "{charts}, {races}, {deadlocks}, {clusters}");
}
