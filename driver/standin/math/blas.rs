//! cuBLAS: handles, and what they remember.

use crate::exports::VERSION;
use crate::foreign::{Host, Out};
use crate::math::codes;
use crate::status::{Refusal, Status, refuse};

/// The version of the library, as `CUBLAS_VERSION` counts: of the same CUDA as the driver.
pub(super) const LIBRARY_VERSION: i32 = VERSION * 10;

library! { codes::blas;
    "cublasCreate_v2" narrow (handle: Out<u64>) => |call| {
        let mut state = call.started()?;
        let fresh = state.handle();
        handle.give(fresh)?;
        state.library.add_blas(fresh);
        Ok(())
    };
    "cublasDestroy_v2" narrow (handle: u64) => |call| call.ready()?.library.destroy_blas(handle);
    "cublasGetVersion_v2" narrow (_handle: u64, version: Out<i32>) => |_call| version.give(LIBRARY_VERSION);
    "cublasGetProperty" narrow (property: Int, value: Out<i32>) => |_call| value.give(part(LIBRARY_VERSION, property)?);
    "cublasSetStream_v2" narrow (handle: u64, stream: u64) => |call| {
        let mut state = call.ready()?;
        state.library.blas(handle)?;
        state.streams.stream(stream)?;
        let own = state.library.blas(handle)?;
        own.stream = stream;
        // That of the library itself is used from here on.
        own.workspace = (0, 0);
        Ok(())
    };
    "cublasGetStream_v2" narrow (handle: u64, stream: Out<u64>) => |call| {
        stream.give(call.ready()?.library.blas(handle)?.stream)
    };
    "cublasSetPointerMode_v2" narrow (handle: u64, mode: Int) => |call| {
        if !matches!(mode, 0 | 1) {
            return Err(refuse(Status::InvalidValue, format!("there is no pointer mode {mode}")));
        }
        call.ready()?.library.blas(handle)?.on_device = mode == 1;
        Ok(())
    };
    "cublasGetPointerMode_v2" narrow (handle: u64, mode: Out<i32>) => |call| {
        mode.give(i32::from(call.ready()?.library.blas(handle)?.on_device))
    };
    "cublasSetWorkspace_v2" narrow (handle: u64, workspace: u64, bytes: usize) => |call| {
        call.ready()?.library.blas(handle)?.workspace = (workspace, bytes as u64);
        Ok(())
    };
    "cublasLoggerConfigure" narrow (_on: Int, _out: Int, _error: Int, _file: Host) => |_call| Ok(());
    "cublasSetLoggerCallback" narrow (_callback: Host) => |_call| Ok(());
    "cublasGetLoggerCallback" narrow (callback: Out<Host>) => |_call| callback.give(Host::at(0));
}

/// Makes a pair of functions that set and give a mode.
macro_rules! modes {
    ($($index:literal $set:literal $get:literal;)*) => {
        $(library! { codes::blas;
            $set narrow (handle: u64, mode: Int) => |call| {
                let mode = i32::try_from(mode).map_err(|_| Status::InvalidValue)?;
                call.ready()?.library.blas(handle)?.modes[$index] = mode;
                Ok(())
            };
            $get narrow (handle: u64, mode: Out<i32>) => |call| {
                mode.give(call.ready()?.library.blas(handle)?.modes[$index])
            };
        })*
    };
}
modes! {
    0 "cublasSetMathMode" "cublasGetMathMode";
    1 "cublasSetAtomicsMode" "cublasGetAtomicsMode";
    2 "cublasSetSmCountTarget" "cublasGetSmCountTarget";
    3 "cublasSetEmulationStrategy" "cublasGetEmulationStrategy";
}

/// Returns a part of a version of the form `major * 10000 + minor * 100 + patch` (`libraryPropertyType`).
pub(super) fn part(version: i32, property: i64) -> Result<i32, Refusal> {
    match property {
        0 => Ok(version / 10_000),
        1 => Ok(version / 100 % 100),
        2 => Ok(version % 100),
        _ => Err(refuse(Status::InvalidValue, format!("there is no property {property}"))),
    }
}

/// Makes functions that answer without an error.
macro_rules! plain {
    ($($symbol:literal ($($parameter:ident: $type:ty)?) -> $result:ty { $value:expr })*) => {
        $(const _: () = {
            // SAFETY: the symbol is one of the library's, whose place this one takes.
            #[unsafe(export_name = $symbol)]
            extern "C" fn function($($parameter: $type)?) -> $result {
                $value
            }
        };)*
    };
}
plain! {
    "cublasGetCudartVersion" () -> usize { usize::try_from(VERSION).unwrap_or(0) }
    "cublasLtGetCudartVersion" () -> usize { usize::try_from(VERSION).unwrap_or(0) }
    "cublasLtGetVersion" () -> usize { usize::try_from(LIBRARY_VERSION).unwrap_or(0) }
    "cublasGetStatusName" (number: i32) -> Host { codes::blas_texts(number).0 }
    "cublasGetStatusString" (number: i32) -> Host { codes::blas_texts(number).1 }
    "cublasLtGetStatusName" (number: i32) -> Host { codes::blas_texts(number).0 }
    "cublasLtGetStatusString" (number: i32) -> Host { codes::blas_texts(number).1 }
}
