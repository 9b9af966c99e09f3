//! cuBLASLt: handles, products, and the one algorithm that there is for each.

use crate::call::Call;
use crate::foreign::{Host, Out, Plain};
use crate::handles::{Handles, Subject};
use crate::math::blas::{LIBRARY_VERSION, part};
use crate::math::codes;
use crate::math::descriptors::{self, Layout, layout, number};
use crate::math::elements::Element;
use crate::math::own;
use crate::memory::Memory;
use crate::results::{Results, Runs};
use crate::status::{Answer, Refusal, Status, refuse};

/// `cublasLtMatmulAlgo_t`.
type Algorithm = [u64; 8];

/// `cublasLtMatmulHeuristicResult_t`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Proposal {
    algorithm: Algorithm,
    workspace: usize,
    status: i32,
    waves: f32,
    reserved: [i32; 4],
}

// SAFETY: numbers alone, without padding.
unsafe impl Plain for Proposal {}

/// The one algorithm, which needs no workspace. Its number is any that says in a memory dump what it is.
const ONLY: Algorithm = [0x7765_6674, 0, 0, 0, 0, 0, 0, 0];
const PROPOSAL: Proposal =
    Proposal { algorithm: ONLY, workspace: 0, status: 0, waves: 1.0, reserved: [0; 4] };

/// What a call is about: the handle, and the descriptors of the operation, of A, B, C and D.
type Operands = (u64, u64, [u64; 4]);

library! { codes::blas;
    "cublasLtCreate" narrow (handle: Out<u64>) => |call| {
        let mut state = call.started()?;
        let fresh = state.handle();
        handle.give(fresh)?;
        state.library.describe(fresh, Subject::Library, std::collections::BTreeMap::new());
        Ok(())
    };
    "cublasLtDestroy" narrow (handle: u64) => |call| call.ready()?.library.forget(handle, Subject::Library);
    "cublasLtGetProperty" narrow (property: i32, value: Out<i32>) => |_call| value.give(part(LIBRARY_VERSION, property)?);
    "cublasLtMatmul" narrow (handle: u64, operation: u64, _alpha: u64, _a: u64, a: u64, _b: u64, b: u64, _beta: u64, _c: u64, c: u64, to: u64, d: u64, _algorithm: u64, workspace: u64, bytes: usize, stream: u64) => |call| {
        multiply(call, (handle, operation, [a, b, c, d]), to, (workspace, bytes as u64), stream)
    };
    "cublasLtMatrixTransform" narrow (handle: u64, transform: u64, _alpha: u64, _a: u64, a: u64, _beta: u64, _b: u64, b: u64, to: u64, c: u64, stream: u64) => |call| {
        change(call, (handle, transform), [a, b, c], to, stream)
    };
    "cublasLtMatmulAlgoGetHeuristic" narrow (handle: u64, operation: u64, a: u64, b: u64, c: u64, d: u64, preference: u64, most: i32, results: Out<Proposal>, count: Out<i32>) => |call| {
        call.ready()?.library.descriptor(preference, Subject::Preference)?;
        check(&mut call.ready()?.library, (handle, operation, [a, b, c, d]))?;
        if most < 1 {
            return Err(refuse(Status::InvalidValue, format!("asks for {most} algorithms")));
        }
        results.give(PROPOSAL)?;
        count.give(1)
    };
    "cublasLtMatmulAlgoCheck" narrow (handle: u64, operation: u64, a: u64, b: u64, c: u64, d: u64, _algorithm: u64, result: Out<Proposal>) => |call| {
        check(&mut call.ready()?.library, (handle, operation, [a, b, c, d]))?;
        result.give(PROPOSAL)
    };
    "cublasLtMatmulAlgoGetIds" narrow (handle: u64, _compute: i32, _scale: i32, _a: i32, _b: i32, _c: i32, _d: i32, most: i32, ids: Out<i32>, count: Out<i32>) => |call| {
        call.ready()?.library.library(handle)?;
        if most < 1 {
            return Err(refuse(Status::InvalidValue, format!("asks for {most} algorithms")));
        }
        ids.give(0)?;
        count.give_if_wanted(1);
        Ok(())
    };
    "cublasLtMatmulAlgoInit" narrow (handle: u64, _compute: i32, _scale: i32, _a: i32, _b: i32, _c: i32, _d: i32, id: i32, algorithm: Out<Algorithm>) => |call| {
        call.ready()?.library.library(handle)?;
        if id != 0 {
            return Err(refuse(Status::InvalidValue, format!("there is no algorithm {id}")));
        }
        algorithm.give(ONLY)
    };
    "cublasLtHeuristicsCacheGetCapacity" narrow (capacity: Out<usize>) => |_call| capacity.give(0);
    "cublasLtHeuristicsCacheSetCapacity" narrow (_capacity: usize) => |_call| Ok(());
    "cublasLtLoggerSetCallback" narrow (_callback: Host) => |_call| Ok(());
    "cublasLtLoggerSetFile" narrow (_file: Host) => |_call| Ok(());
    "cublasLtLoggerOpenFile" narrow (_file: Host) => |_call| Ok(());
    "cublasLtLoggerSetLevel" narrow (_level: i32) => |_call| Ok(());
    "cublasLtLoggerSetMask" narrow (_mask: i32) => |_call| Ok(());
    "cublasLtLoggerForceDisable" narrow () => |_call| Ok(());
}

/// Attributes of an operation: how factors are transposed, what follows the product, and the addresses of what else is written.
const TRANSPOSE_A: i32 = 3;
const TRANSPOSE_B: i32 = 4;
const EPILOGUE: i32 = 7;
const BIAS: i32 = 8;
const AUXILIARY: i32 = 11;
const LARGEST: i32 = 21;
const LARGEST_AUXILIARY: i32 = 24;
const SYNCHRONIZATION_IN: i32 = 29;
const SYNCHRONIZATION_OUT: i32 = 30;
const RESULT_SCALE: i32 = 36;

/// Refuses what the manual says of `cublasLtMatmul`: sizes that do not fit.
fn check(handles: &mut Handles, (handle, operation, all): Operands) -> Result<Layout, Refusal> {
    handles.library(handle)?;
    let own = handles.descriptor(operation, Subject::Product)?;
    let (ta, tb) = (number(own, TRANSPOSE_A), number(own, TRANSPOSE_B));
    let [first, second, added, result] = all.map(|descriptor| layout(handles, descriptor));
    let (added, result) = (added?, result?);
    let turned = |own: Layout, operation| match operation {
        0 => (own.rows, own.columns),
        _ => (own.columns, own.rows),
    };
    let ((rows, summed), (inner, columns)) = (turned(first?, ta), turned(second?, tb));
    let fits = summed == inner
        && [added, result].iter().all(|own| (own.rows, own.columns) == (rows, columns));
    if !fits {
        let reason = format!(
            "the product of matrices of {rows} x {summed} and {inner} x {columns} is not of {} x {}",
            result.rows, result.columns
        );
        return Err(refuse(Status::InvalidValue, reason));
    }
    Ok(result)
}

/// Returns the runs of all matrices of a batch; `None` for those of tiles, whose places in memory are not followed.
fn runs(own: Layout, to: u64) -> Result<Option<Vec<Runs>>, Refusal> {
    let element = Element::of(own.kind)?;
    let (rows, columns) = match own.order {
        0 => (own.rows, own.columns),
        1 => (own.columns, own.rows),
        _ => return Ok(None),
    };
    if own.leading < rows || rows < 0 || columns < 0 {
        let reason =
            format!("a matrix of {} x {}, {} elements apart", own.rows, own.columns, own.leading);
        return Err(refuse(Status::InvalidValue, reason));
    }
    let one = element.matrix(to, rows, columns, own.leading);
    Ok(Some(one.batch(element.bytes(own.stride), own.batch.max(0).unsigned_abs())))
}

/// Returns a run of all that is in the allocation of an address; `None` for one that is in none.
fn whole(memory: &Memory, address: u64) -> Option<Runs> {
    let (base, own) = memory.inside(address)?;
    Some(Runs::one(base, own.size))
}

fn matrix(memory: &Memory, own: Layout, to: u64) -> Result<Vec<Runs>, Refusal> {
    let found = runs(own, to)?;
    let outside = || Refusal {
        status: Status::LaunchFailed,
        ..refuse(Status::InvalidValue, "writes to an address that is in no allocation")
    };
    match found {
        Some(found) => Ok(found),
        None => whole(memory, to).map(|all| vec![all]).ok_or_else(outside),
    }
}

fn multiply(
    call: &Call,
    operands: Operands,
    to: u64,
    workspace: (u64, u64),
    stream: u64,
) -> Answer {
    let mut state = call.ready()?;
    let layout = check(&mut state.library, operands)?;
    let own = state.library.descriptor(operands.1, Subject::Product)?.clone();
    let mut all = matrix(&state.memory, layout, to)?;
    all.extend(own::scratch(&state.memory, workspace));
    // What an epilogue writes beside the result: gradients of a bias, and the input of an activation for its gradient.
    let epilogue = number(&own, EPILOGUE);
    let is_gradient = epilogue & (8 | 64) != 0;
    let has_bias_gradient = epilogue & (16 | 256 | 512) != 0;
    let beside = [
        (BIAS, has_bias_gradient),
        (AUXILIARY, epilogue & 128 != 0 && !is_gradient),
        (LARGEST, true),
        (LARGEST_AUXILIARY, true),
        (SYNCHRONIZATION_IN, true),
        (SYNCHRONIZATION_OUT, true),
        (RESULT_SCALE, true),
    ];
    for (attribute, _) in beside.into_iter().filter(|(_, is_written)| *is_written) {
        // An attribute that is not an address, in another version, is in no allocation.
        all.extend(whole(&state.memory, number(&own, attribute).cast_unsigned()));
    }
    drop(state);
    own::submit(call, stream, Results::Runs(all))
}

fn change(
    call: &Call,
    (handle, transform): (u64, u64),
    [a, b, c]: [u64; 3],
    to: u64,
    stream: u64,
) -> Answer {
    let mut state = call.ready()?;
    state.library.library(handle)?;
    state.library.descriptor(transform, Subject::Transform)?;
    descriptors::layout(&mut state.library, a)?;
    // B might be left out.
    if b != 0 {
        descriptors::layout(&mut state.library, b)?;
    }
    let layout = descriptors::layout(&mut state.library, c)?;
    let all = matrix(&state.memory, layout, to)?;
    drop(state);
    own::submit(call, stream, Results::Runs(all))
}
