//! Counterexamples: inputs with which some placement failed. A later placement that is not proved clean is run with them before
//! other inputs are searched. One run with such an input costs little, and shows all pairs that race with it.

use super::request::CheckDepth;
use crate::finding::{Report, Verdict};
use crate::launch::{Launch, Options};

/// The launches, with chosen inputs, that some form of a kernel was defective under.
#[derive(Clone, Debug, Default)]
pub struct Counterexamples(Vec<Launch>);

impl Counterexamples {
    /// Checks a changed form of a kernel under `launch`. Once a form was defective, unless a whole check is asked for, the
    /// form is first checked without a search for inputs, which proves most clean ones, and then under the launches that
    /// earlier forms were defective under. Returns the report of the first launch that it is defective under, or else
    /// the last one. An input that a changed form is not meant for is passed by.
    ///
    /// # Errors
    /// Those of `check`.
    pub fn check<E>(
        &mut self,
        launch: &Launch,
        depth: CheckDepth,
        check: impl Fn(&Launch) -> Result<Report, E>,
    ) -> Result<Report, E> {
        if depth == CheckDepth::FirstDefect && !self.0.is_empty() {
            let report = check(&without_search(launch))?;
            if report.verdict() == Verdict::Clean {
                return Ok(report);
            }
            for known in &self.0 {
                let report = check(&Launch { options: launch.options, ..known.clone() })?;
                if report.verdict() == Verdict::Defect && !report.is_unfit() {
                    return Ok(report);
                }
            }
        }
        let report = check(launch)?;
        self.0.extend(report.shown_with.clone());
        Ok(report)
    }
}

fn without_search(launch: &Launch) -> Launch {
    Launch { options: Options { witness: 0, ..launch.options }, ..launch.clone() }
}
