//! The budgets of proofs.

/// What a proof can take before it is given up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProofBudget {
    /// The steps that the proofs of all pairs can take together.
    pub(super) effort: u32,
    /// The most questions that the solver leaves open: one is enough for an open verdict, the others are asked for candidates
    /// of a race.
    pub(super) questions: usize,
    /// After so many pairs that are not proved, no others are compared: they would not change the verdict.
    pub(super) gaps: usize,
    /// Whether launches are wanted with which two threads might access the same bytes.
    pub(super) wants_candidates: bool,
}

impl ProofBudget {
    /// The budget of a proof that decides a verdict.
    pub(crate) const VERDICT: Self =
        Self { effort: 600_000, questions: 3, gaps: 5, wants_candidates: true };

    /// The budget of a proof for every grid, where a run of one cta was clean: the proof ends at the first pair that is not
    /// proved.
    pub(crate) const AFTER_RUN: Self = Self { gaps: 1, wants_candidates: false, ..Self::VERDICT };

    /// The budget of one of several attempts, which ends at the first pair that is not proved. `effort`: the steps that it can
    /// take. `asks`: whether the solver is asked.
    pub(crate) fn attempt(effort: u32, asks: bool) -> Self {
        Self { effort, questions: asks.into(), gaps: 1, wants_candidates: false }
    }
}
