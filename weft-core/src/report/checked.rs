//! What the formats for CI and editors are told of a run: kernels with their results, and problems that concern no kernel.

use std::fmt;
use std::rc::Rc;

use super::json::{Counts, Subject};
use super::{ReportContext, SourceFiles, SourceText};
use crate::finding::{Finding, Report};
use crate::ptx::Module;

/// What a call is named in reports that CUDA refuses. It is no code: a finding with a code is about a kernel.
pub const INVALID_LAUNCH: &str = "invalid-launch";

/// A kernel under a launch, or a PTX file that cannot be read, with what came of it.
#[derive(Clone)]
pub struct Checked<'a> {
    /// Its name in reports, such as `PACKAGE::FILE::KERNEL@LAUNCH`.
    pub name: &'a str,
    /// The part of the name that its file has in common: `PACKAGE::FILE`, or `FILE`.
    pub suite: &'a str,
    /// Its package, kernel and launch. The file is the path to show: relative to the root that all paths of the output
    /// are relative to if it is below it, with `/` as separator; absolute otherwise.
    pub subject: Subject<'a>,
    /// The name of the kernel in the PTX; empty for a file that cannot be read.
    pub kernel: &'a str,
    /// The name of the kernel that reports show.
    pub title: &'a str,
    /// The module of the kernel.
    pub module: &'a Module,
    /// What came of it.
    pub result: CheckResult<'a>,
    /// Returns the source file that the PTX calls by this name; `None` if it is not at hand.
    pub source: &'a dyn Fn(&str) -> Option<SourceFile>,
}

impl SourceFiles for Checked<'_> {
    fn text(&self, name: &str) -> Option<Rc<SourceText>> {
        Some((self.source)(name)?.text)
    }
}

impl Checked<'_> {
    /// Returns the names and texts for reports without colour.
    pub(super) fn context(&self) -> ReportContext<'_> {
        let Self { module, title, name, .. } = self;
        let ptx = self.subject.file;
        ReportContext {
            module,
            ptx,
            kernel: title,
            name,
            sources: self,
            is_allowed: false,
            color: false,
        }
    }
}

impl fmt::Debug for Checked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, result, .. } = self;
        f.debug_struct("Checked")
            .field("name", name)
            .field("result", result)
            .finish_non_exhaustive()
    }
}

/// What came of a kernel.
#[derive(Clone, Debug)]
pub enum CheckResult<'a> {
    /// It was checked.
    Report {
        /// The report without the findings that are accepted.
        remaining: &'a Report,
        /// The findings that are accepted, each with the reason.
        accepted: Vec<(&'a Finding, &'a str)>,
    },
    /// The configuration says that it is not to be checked, for this reason.
    Skipped(&'a str),
    /// It could not be checked, for this reason.
    Unchecked(&'a str),
}

impl<'a> CheckResult<'a> {
    /// Returns the findings that a reader is told ([`Report::told`]), then those that are accepted, with the reasons.
    pub(super) fn findings(&self) -> impl Iterator<Item = (&'a Finding, Option<&'a str>)> {
        let (remaining, accepted) = match self {
            Self::Report { remaining, accepted } => (Some(*remaining), accepted.as_slice()),
            _ => (None, [].as_slice()),
        };
        let told = remaining.into_iter().flat_map(Report::told).map(|finding| (finding, None));
        let accepted: Vec<_> =
            accepted.iter().map(|(finding, reason)| (*finding, Some(*reason))).collect();
        told.chain(accepted)
    }
}

/// A source file that a report can quote.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The path to show, as that of [`Checked::subject`].
    pub path: String,
    /// Its text.
    pub text: Rc<SourceText>,
}

/// A problem that concerns no kernel, such as a package that does not build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunProblem {
    /// Whether it is a defect of the program that launches kernels, and not something that could not be checked.
    pub is_defect: bool,
    /// What it concerns, in the form of a test case's name.
    pub name: String,
    /// The message, which can have several lines.
    pub message: String,
}

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunEnd {
    /// The verdicts of all kernels.
    pub counts: Counts,
    /// The exit code of the process.
    pub exit_code: u8,
}
