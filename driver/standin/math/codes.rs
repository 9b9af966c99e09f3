//! The error codes of the libraries, for those of the driver that calls are refused with.

use crate::foreign::Host;
use crate::status::Status;

/// An error: its number and its name, which ends with a NUL.
type Code = (i32, &'static str);

/// `cublasStatus_t`: numbers, names and what they mean.
const BLAS: [(i32, &str, &str); 10] = [
    (0, "CUBLAS_STATUS_SUCCESS\0", "the call succeeded\0"),
    (1, "CUBLAS_STATUS_NOT_INITIALIZED\0", "there is no such handle\0"),
    (3, "CUBLAS_STATUS_ALLOC_FAILED\0", "there is no memory left\0"),
    (7, "CUBLAS_STATUS_INVALID_VALUE\0", "a parameter has a value that it cannot have\0"),
    (8, "CUBLAS_STATUS_ARCH_MISMATCH\0", "the device cannot do it\0"),
    (11, "CUBLAS_STATUS_MAPPING_ERROR\0", "memory cannot be accessed\0"),
    (13, "CUBLAS_STATUS_EXECUTION_FAILED\0", "a kernel failed\0"),
    (14, "CUBLAS_STATUS_INTERNAL_ERROR\0", "the library failed\0"),
    (15, "CUBLAS_STATUS_NOT_SUPPORTED\0", "the operation is not supported\0"),
    (16, "CUBLAS_STATUS_LICENSE_ERROR\0", "there is no licence\0"),
];

fn cut((number, name, _): (i32, &'static str, &'static str)) -> Code {
    (number, name.trim_end_matches('\0'))
}

/// Returns the error of cuBLAS and cuBLASLt that stands for one of the driver.
pub(super) fn blas(status: Status) -> Code {
    cut(BLAS[match status {
        Status::Success => 0,
        Status::NotInitialized | Status::InvalidHandle | Status::InvalidContext => 1,
        Status::OutOfMemory => 2,
        Status::InvalidValue => 3,
        Status::LaunchFailed => 6,
        Status::NotSupported => 8,
        _ => 7,
    }])
}

/// Returns name and meaning of an error of cuBLAS.
pub(super) fn blas_texts(number: i32) -> (Host, Host) {
    let found = BLAS.iter().find(|(code, ..)| *code == number);
    let unknown = (-1, "unknown status\0", "there is no error with this number\0");
    let (_, name, meaning) = *found.unwrap_or(&unknown);
    (Host::function(name.as_ptr().cast()), Host::function(meaning.as_ptr().cast()))
}

/// Returns the error of cuRAND that stands for one of the driver. Those of the driver that the library has no like of stand for what only it
/// refuses: a call that is not permitted for this type of generator, and a number of results that does not go into pairs.
pub(super) fn random(status: Status) -> Code {
    match status {
        Status::Success => (0, "CURAND_STATUS_SUCCESS"),
        Status::NotInitialized | Status::InvalidHandle | Status::InvalidContext => {
            (101, "CURAND_STATUS_NOT_INITIALIZED")
        }
        Status::OutOfMemory => (102, "CURAND_STATUS_ALLOCATION_FAILED"),
        Status::NotPermitted => (103, "CURAND_STATUS_TYPE_ERROR"),
        Status::InvalidValue => (104, "CURAND_STATUS_OUT_OF_RANGE"),
        Status::MisalignedAddress => (105, "CURAND_STATUS_LENGTH_NOT_MULTIPLE"),
        Status::LaunchFailed => (201, "CURAND_STATUS_LAUNCH_FAILURE"),
        _ => (999, "CURAND_STATUS_INTERNAL_ERROR"),
    }
}
