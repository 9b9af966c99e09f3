//! What the templates insert: texts and lists, with no decisions left to the templates.

use std::collections::BTreeSet;

use askama::Template;

use super::super::excerpt::excerpts;
use super::super::{ReportContext, escape, human, short, svg};
use super::code::ExcerptView;
use super::{PageKernel, PageReport, PageResult, ReportPage};
use crate::finding::{Class, Code, Finding};

/// The whole page.
#[derive(Template)]
#[template(path = "page.html", config = "src/report/html/askama.toml")]
pub(super) struct PageView<'a> {
    page: &'a ReportPage<'a>,
    totals: Vec<TotalView>,
    kernels: Vec<KernelView<'a>>,
    /// The codes that the page names.
    codes: Vec<CodeView>,
    /// The kernels of which the page shows findings.
    count_of_details: usize,
    has_accepted: bool,
    has_skipped: bool,
    has_unchecked: bool,
}

struct TotalView {
    word: &'static str,
    count: usize,
}

struct KernelView<'a> {
    /// Its number on the page, from 1.
    number: usize,
    kernel: &'a PageKernel<'a>,
    /// The kernel's name with the label of its launch.
    title: String,
    /// The sites that were reached, such as `8 of 8`.
    sites: String,
    findings: Vec<FindingView>,
    /// What to say of the findings that are shown elsewhere.
    told_before: String,
    /// What the verdict holds for, a fact a line; none if no finding is shown.
    facts: Vec<String>,
    accepted: Vec<AcceptedView>,
    /// The reason for which it is skipped.
    skipped: Option<&'a str>,
    /// Why it could not be checked, in lines.
    unchecked: Vec<&'a str>,
}

struct FindingView {
    class: &'static str,
    code: Code,
    message: String,
    excerpts: Vec<ExcerptView>,
    notes: Vec<String>,
    help: Vec<String>,
    /// An SVG element.
    picture: Option<String>,
    no_picture: Option<String>,
}

struct AcceptedView {
    code: Code,
    place: String,
    reason: String,
}

struct CodeView {
    code: Code,
    class: &'static str,
}

impl<'a> PageView<'a> {
    const STYLE: &'static str = include_str!("style.css");
    const SCRIPT: &'static str = include_str!("script.js");
    const PICTURE_STYLE: &'static str = svg::STYLE;
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    /// Prepares a page.
    pub(super) fn of(page: &'a ReportPage<'a>) -> Self {
        let kernels = page.kernels.iter().zip(1..);
        let kernels: Vec<_> =
            kernels.map(|(kernel, number)| KernelView::of(kernel, number)).collect();
        let findings = kernels.iter().flat_map(|own| own.findings.iter().map(|own| own.code));
        let accepted = kernels.iter().flat_map(|own| own.accepted.iter().map(|own| own.code));
        let codes: BTreeSet<&str> = findings.chain(accepted).map(Code::name).collect();
        let codes = Code::ALL.iter().filter(|code| codes.contains(code.name()));
        let has = |is_so: fn(&KernelView<'_>) -> bool| kernels.iter().any(is_so);
        Self {
            page,
            totals: totals(page),
            codes: codes
                .map(|code| CodeView { code: *code, class: code.class().in_words() })
                .collect(),
            count_of_details: kernels.iter().filter(|own| own.has_details()).count(),
            has_accepted: has(|own| !own.accepted.is_empty()),
            has_skipped: has(|own| own.skipped.is_some()),
            has_unchecked: has(|own| !own.unchecked.is_empty()) || !page.problems.is_empty(),
            kernels,
        }
    }
}

/// Returns the counts that are not zero, and always those of the three verdicts, the worst first.
fn totals(page: &ReportPage<'_>) -> Vec<TotalView> {
    let counts = page.counts;
    let all = [
        ("unchecked", counts.unchecked),
        ("defect", counts.defect),
        ("open", counts.open),
        ("skipped", counts.skipped),
        ("allowed", counts.allowed),
        ("clean", counts.clean),
    ];
    let is_shown = |own: &(&str, usize)| own.1 > 0 || matches!(own.0, "clean" | "open" | "defect");
    let shown = all.into_iter().filter(is_shown);
    shown.map(|(word, count)| TotalView { word, count }).collect()
}

impl<'a> KernelView<'a> {
    fn of(kernel: &'a PageKernel<'a>, number: usize) -> Self {
        let context = kernel.context;
        let label = kernel.label.map(|label| format!("@{label}")).unwrap_or_default();
        let mut view = Self {
            number,
            kernel,
            title: format!("{}{label}", context.kernel),
            sites: String::new(),
            findings: Vec::new(),
            told_before: String::new(),
            facts: Vec::new(),
            accepted: Vec::new(),
            skipped: None,
            unchecked: Vec::new(),
        };
        match &kernel.result {
            PageResult::Report(report) => view.tell(context, report),
            PageResult::Skipped(reason) => view.skipped = Some(reason),
            PageResult::Unchecked(error) => view.unchecked = error.lines().collect(),
        }
        view
    }

    fn tell(&mut self, context: ReportContext<'_>, report: &PageReport<'_>) {
        let PageReport { remaining, findings, told_before, accepted, picture } = report;
        if remaining.block.is_some() || remaining.proved.is_some() {
            let coverage = remaining.coverage;
            self.sites = format!("{} of {}", coverage.reached, coverage.sites);
        }
        self.findings = findings.iter().map(|finding| FindingView::of(context, finding)).collect();
        match (self.findings.first_mut(), picture) {
            (Some(first), Some(Ok(chart))) => {
                first.picture = Some(svg::element(chart, &format!("picture-{}", self.number)));
            }
            (Some(first), Some(Err(reason))) => first.no_picture = Some(reason.clone()),
            _ => {}
        }
        self.told_before = match told_before {
            0 => String::new(),
            1 => "1 finding has the same cause as one of a kernel above".to_owned(),
            count => format!("{count} findings have the same causes as those of kernels above"),
        };
        if self.has_details() {
            self.facts = human::facts(remaining, context.is_allowed);
        }
        let view = |(finding, reason): &(&Finding, &str)| AcceptedView {
            code: finding.code,
            place: place(context, finding),
            reason: (*reason).to_owned(),
        };
        self.accepted = accepted.iter().map(view).collect();
    }

    /// Whether the page has a section for the findings of this kernel.
    fn has_details(&self) -> bool {
        !self.findings.is_empty() || !self.told_before.is_empty()
    }

    /// Returns where the page says more of this kernel, if it does.
    fn target(&self) -> Option<String> {
        if self.has_details() {
            return Some(format!("kernel-{}", self.number));
        }
        let section = match (self.accepted.as_slice(), self.skipped, self.unchecked.as_slice()) {
            ([_, ..], ..) => "accepted",
            (_, Some(_), _) => "skipped",
            (.., [_, ..]) => "unchecked",
            _ => return None,
        };
        Some(section.to_owned())
    }
}

impl FindingView {
    fn of(context: ReportContext<'_>, finding: &Finding) -> Self {
        let excerpts = excerpts(context, &finding.sites);
        let mut notes = excerpts.notes;
        notes.extend(finding.notes.iter().cloned());
        Self {
            class: word(finding.code),
            code: finding.code,
            message: finding.message.clone(),
            excerpts: excerpts.shown.iter().map(ExcerptView::of).collect(),
            notes,
            help: finding.help.iter().flat_map(|help| help.lines()).map(str::to_owned).collect(),
            picture: None,
            no_picture: None,
        }
    }
}

/// Returns place, code and message of a finding, without the name of its kernel.
fn place(context: ReportContext<'_>, finding: &Finding) -> String {
    let line = short::finding(context, finding);
    let name = format!(" [{}]", escape(context.name));
    line.strip_suffix(&name).unwrap_or(&line).to_owned()
}

/// Returns the class of a code in a word.
fn word(code: Code) -> &'static str {
    match code.class() {
        Class::Defect => "defect",
        Class::Open => "open",
        Class::Warning => "warning",
    }
}
