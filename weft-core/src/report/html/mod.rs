//! Renders a run as one HTML page that needs nothing beside it: no network, and scripts only for its filter.
//!
//! `page.html` is the page, whose larger parts are templates of their own: `table.html` with `filter.html`,
//! `kernel.html` with `excerpt.html`, `recorded.html` and `exceptions.html`. `view` prepares what they insert, `code` the excerpts. The page is also
//! well-formed XML, so that tests can parse it; `script.js` contains no `<` and no `&` for the same reason.

mod code;
mod view;

use std::fmt;

use askama::Template;
use askama::filters::Escaper;

use super::ReportContext;
use super::checked::RunProblem;
use super::json::Counts;
use super::svg::xml;
use crate::finding::{Chart, Finding, Report};
use view::PageView;

/// What a page tells.
#[derive(Debug)]
pub struct ReportPage<'a> {
    /// What was checked: the folder of a workspace, or files.
    pub subject: String,
    /// The counts in words.
    pub sentence: String,
    /// The counts.
    pub counts: Counts,
    /// The kernels and launches, in the order of the table.
    pub kernels: Vec<PageKernel<'a>>,
    /// What could not be checked and is no kernel.
    pub problems: Vec<RunProblem>,
    /// Where PTX and launches are from, as far as a reader of the verdicts must know it, a line for each.
    pub notes: Vec<String>,
    /// The calls of a recorded program that CUDA refuses, a line for each.
    pub invalid: Vec<String>,
    /// The kernels that were never launched while launches were recorded.
    pub unlaunched: Vec<String>,
    /// The assumptions of the clean verdicts, a line for each.
    pub assumptions: Vec<String>,
}

/// A kernel under a launch, or a file that cannot be read.
#[derive(Debug)]
pub struct PageKernel<'a> {
    /// Names and sources.
    pub context: ReportContext<'a>,
    /// The package and file, such as `PACKAGE::FILE`.
    pub suite: String,
    /// The label of the launch, if the kernel has several.
    pub label: Option<&'a str>,
    /// The verdict in a word: `clean`, `allowed`, `skipped`, `open`, `defect` or `unchecked`.
    pub verdict: &'static str,
    /// The launch in words.
    pub launch: String,
    /// What the verdict holds for, in words.
    pub holds_for: String,
    /// What came of it.
    pub result: PageResult<'a>,
}

/// What came of a kernel.
#[derive(Debug)]
pub enum PageResult<'a> {
    /// It was checked.
    Report(Box<PageReport<'a>>),
    /// The configuration says that it is not to be checked, for this reason.
    Skipped(String),
    /// It could not be checked, for this reason, which can have several lines.
    Unchecked(String),
}

/// The report of a kernel.
#[derive(Debug)]
pub struct PageReport<'a> {
    /// The report without the findings that are accepted.
    pub remaining: &'a Report,
    /// The findings of `remaining` to show, one of each cause.
    pub findings: Vec<Finding>,
    /// The number of its findings that have the cause of one that is shown with a kernel before.
    pub told_before: usize,
    /// The findings that are accepted, each with the reason.
    pub accepted: Vec<(&'a Finding, &'a str)>,
    /// The picture of the first of `findings`, or why there is none; `None` if none was asked for.
    pub picture: Option<Result<Chart, String>>,
}

/// Returns the page.
///
/// # Errors
/// None, in effect: those of writing to a string.
pub fn page(page: &ReportPage<'_>) -> Result<String, fmt::Error> {
    let mut out = String::new();
    PageView::of(page).render_into(&mut out).map_err(|_| fmt::Error)?;
    Ok(out)
}

/// Escapes text for elements and attributes in double quotes; control characters and characters that change the direction
/// of writing are spelled out.
#[derive(Clone, Copy, Debug)]
struct PageText;

impl Escaper for PageText {
    fn write_escaped_str<W: fmt::Write>(&self, mut out: W, text: &str) -> fmt::Result {
        out.write_str(&xml(text))
    }
}
