//! A call of cuBLAS with a live handle: what it writes becomes unknown, in the order of its stream.

use crate::call::Call;
use crate::doubt;
use crate::foreign::Host;
use crate::handles::BlasHandle;
use crate::math::checks::{self, Product};
use crate::math::elements::Element;
use crate::memory::Memory;
use crate::order;
use crate::results::{Results, Runs};
use crate::status::{Answer, Refusal};
use crate::work::Work;

/// A call with a live handle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Own<'c> {
    /// The call.
    pub(super) call: &'c Call,
    handle: BlasHandle,
    /// The type in its name.
    pub(super) element: Element,
}

/// Returns a run of memory that a call might use for what it likes: none if it is not live.
pub(super) fn scratch(memory: &Memory, (start, bytes): (u64, u64)) -> Option<Runs> {
    let (base, own) = memory.inside(start)?;
    Some(Runs::one(start, bytes.min(base + own.size - start)))
}

/// Gives results to the stream that they are computed in.
pub(super) fn submit(call: &Call, stream: u64, results: Results) -> Answer {
    let mut state = call.ready()?;
    results.check(&state.memory)?;
    order::submit(&mut state, stream, Work::Compute { function: call.function, results })
}

impl<'c> Own<'c> {
    /// Refuses a handle that is not live.
    pub(super) fn of(call: &'c Call, handle: u64, element: Element) -> Result<Self, Refusal> {
        let handle = *call.ready()?.library.blas(handle)?;
        Ok(Own { call, handle, element })
    }

    /// Returns the same call for elements of another type.
    pub(super) fn with(self, element: Element) -> Self {
        Own { element, ..self }
    }

    /// Notes that these runs are written.
    pub(super) fn writes(self, runs: impl IntoIterator<Item = Runs>) -> Answer {
        self.results(Results::Runs(runs.into_iter().collect()))
    }

    /// Notes results.
    pub(super) fn results(self, results: Results) -> Answer {
        let results = self.with_workspace(results)?;
        submit(self.call, self.handle.stream, results)
    }

    /// Returns results with the workspace of the handle, as far as it is live memory.
    fn with_workspace(self, results: Results) -> Result<Results, Refusal> {
        let Results::Runs(mut all) = results else { return Ok(results) };
        let state = self.call.ready()?;
        all.extend(scratch(&state.memory, self.handle.workspace));
        Ok(Results::Runs(all))
    }

    /// Notes that a vector is written.
    pub(super) fn vector(self, start: u64, count: i64, step: i64) -> Answer {
        self.writes([self.element.vector(start, count, step)])
    }

    /// Notes that a matrix is written.
    pub(super) fn matrix(self, start: u64, rows: i64, columns: i64, leading: i64) -> Answer {
        self.writes([self.element.matrix(start, rows, columns, leading)])
    }

    /// Notes that a product is written.
    pub(super) fn product(self, to: u64, product: Product) -> Answer {
        product.check()?;
        let (rows, columns, _) = product.sizes;
        self.matrix(to, rows, columns, product.leading.2)
    }

    /// Notes that the product of a matrix of m x n and a vector is written into one.
    pub(super) fn rows(
        self,
        operation: i64,
        (m, n): (i64, i64),
        (lda, rows): (i64, i64),
        incx: i64,
        (y, incy): (u64, i64),
    ) -> Answer {
        checks::operations(&[("trans", operation)])?;
        checks::sizes(&[("m", m), ("n", n)])?;
        checks::columns(&[("lda", lda, rows)])?;
        checks::steps(&[("incx", incx), ("incy", incy)])?;
        self.vector(y, if matches!(operation, 0 | 3) { m } else { n }, incy)
    }

    /// Gives a number of a few bytes, where the program wants such numbers. In memory of the host it is `instead`: what the program does
    /// from then on might rest on it.
    pub(super) fn number(self, to: u64, instead: &[u8]) -> Answer {
        if self.handle.on_device {
            return self.writes([Runs::one(to, instead.len() as u64)]);
        }
        Host::at(to).result::<u8>().give_all(instead)?;
        drop(self.call.ready()?);
        doubt::read(true);
        Ok(())
    }

    /// Gives a number of zeros.
    pub(super) fn zero(self, to: u64, bytes: u64) -> Answer {
        let most = 16;
        let bytes = usize::try_from(bytes.min(most)).unwrap_or(0);
        self.number(to, &[0; 16][..bytes])
    }
}
