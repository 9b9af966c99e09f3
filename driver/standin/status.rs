//! The error codes of the driver and of the runtime library, and how a call is refused.

/// What a call of the driver answers.
pub(crate) type Answer = Result<(), Refusal>;

/// Why a call was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The code that the caller gets.
    pub(crate) status: Status,
    /// What is wrong with the call, for the record. `None`: the call is no mistake of the program (`not ready`), or says nothing
    /// beyond its code.
    pub(crate) reason: Option<String>,
    /// The kernel that was to be launched.
    pub(crate) kernel: Option<String>,
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        Refusal { status, reason: None, kernel: None }
    }
}

/// Returns a refusal that is noted in the record.
pub(crate) fn refuse(status: Status, reason: impl Into<String>) -> Refusal {
    Refusal { status, reason: Some(reason.into()), kernel: None }
}

/// A code with its names and its sentence, as C texts.
struct NamedCode {
    number: i32,
    driver: &'static str,
    runtime: &'static str,
    text: &'static str,
}

macro_rules! statuses {
    ($($name:ident = $number:literal $driver:literal $runtime:literal $text:literal;)*) => {
        /// A result code (manuals, "Data types used by CUDA driver": `CUresult`; "Data types used by CUDA Runtime": `cudaError_t`). A code
        /// of both has the same number in both; the driver's name is empty for those that only the runtime library has.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(dead_code, reason = "the list is that of the manual; programs ask for the names of all codes")]
        pub(crate) enum Status { $(#[doc = $text] $name = $number,)* }

        /// The codes.
        const CODES: &[NamedCode] = &[$(NamedCode {
            number: $number,
            driver: concat!($driver, "\0"),
            runtime: concat!($runtime, "\0"),
            text: concat!($text, "\0"),
        },)*];
    };
}

statuses! {
    Success = 0 "CUDA_SUCCESS" "cudaSuccess" "no error";
    InvalidValue = 1 "CUDA_ERROR_INVALID_VALUE" "cudaErrorInvalidValue" "invalid argument";
    OutOfMemory = 2 "CUDA_ERROR_OUT_OF_MEMORY" "cudaErrorMemoryAllocation" "out of memory";
    NotInitialized = 3 "CUDA_ERROR_NOT_INITIALIZED" "cudaErrorInitializationError" "initialization error";
    Deinitialized = 4 "CUDA_ERROR_DEINITIALIZED" "cudaErrorCudartUnloading" "driver shutting down";
    ProfilerDisabled = 5 "CUDA_ERROR_PROFILER_DISABLED" "cudaErrorProfilerDisabled" "profiler disabled while using external profiling tool";
    InvalidConfiguration = 9 "" "cudaErrorInvalidConfiguration" "invalid configuration argument";
    InvalidPitchValue = 12 "" "cudaErrorInvalidPitchValue" "invalid pitch argument";
    InvalidSymbol = 13 "" "cudaErrorInvalidSymbol" "invalid device symbol";
    InvalidMemcpyDirection = 21 "" "cudaErrorInvalidMemcpyDirection" "invalid copy direction for memcpy";
    StubLibrary = 34 "CUDA_ERROR_STUB_LIBRARY" "cudaErrorStubLibrary" "CUDA driver is a stub library";
    CallRequiresNewerDriver = 36 "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER" "cudaErrorCallRequiresNewerDriver" "API call is not supported in the installed CUDA driver";
    DeviceUnavailable = 46 "CUDA_ERROR_DEVICE_UNAVAILABLE" "cudaErrorDevicesUnavailable" "CUDA-capable device(s) is/are busy or unavailable";
    MissingConfiguration = 52 "" "cudaErrorMissingConfiguration" "__global__ function call is not configured";
    InvalidDeviceFunction = 98 "" "cudaErrorInvalidDeviceFunction" "invalid device function";
    NoDevice = 100 "CUDA_ERROR_NO_DEVICE" "cudaErrorNoDevice" "no CUDA-capable device is detected";
    InvalidDevice = 101 "CUDA_ERROR_INVALID_DEVICE" "cudaErrorInvalidDevice" "invalid device ordinal";
    InvalidImage = 200 "CUDA_ERROR_INVALID_IMAGE" "cudaErrorInvalidKernelImage" "device kernel image is invalid";
    InvalidContext = 201 "CUDA_ERROR_INVALID_CONTEXT" "cudaErrorDeviceUninitialized" "invalid device context";
    MapFailed = 205 "CUDA_ERROR_MAP_FAILED" "cudaErrorMapBufferObjectFailed" "mapping of buffer object failed";
    UnmapFailed = 206 "CUDA_ERROR_UNMAP_FAILED" "cudaErrorUnmapBufferObjectFailed" "unmapping of buffer object failed";
    AlreadyMapped = 208 "CUDA_ERROR_ALREADY_MAPPED" "cudaErrorAlreadyMapped" "resource already mapped";
    NoBinaryForGpu = 209 "CUDA_ERROR_NO_BINARY_FOR_GPU" "cudaErrorNoKernelImageForDevice" "no kernel image is available for execution on the device";
    NotMapped = 211 "CUDA_ERROR_NOT_MAPPED" "cudaErrorNotMapped" "resource not mapped";
    EccUncorrectable = 214 "CUDA_ERROR_ECC_UNCORRECTABLE" "cudaErrorECCUncorrectable" "uncorrectable ECC error encountered";
    UnsupportedLimit = 215 "CUDA_ERROR_UNSUPPORTED_LIMIT" "cudaErrorUnsupportedLimit" "limit is not supported on this architecture";
    ContextAlreadyInUse = 216 "CUDA_ERROR_CONTEXT_ALREADY_IN_USE" "cudaErrorDeviceAlreadyInUse" "exclusive-thread device already in use by a different thread";
    PeerAccessUnsupported = 217 "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED" "cudaErrorPeerAccessUnsupported" "peer access is not supported between these two devices";
    InvalidPtx = 218 "CUDA_ERROR_INVALID_PTX" "cudaErrorInvalidPtx" "a PTX JIT compilation failed";
    JitCompilerNotFound = 221 "CUDA_ERROR_JIT_COMPILER_NOT_FOUND" "cudaErrorJitCompilerNotFound" "PTX JIT compiler library not found";
    UnsupportedPtxVersion = 222 "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" "cudaErrorUnsupportedPtxVersion" "the provided PTX was compiled with an unsupported toolchain.";
    UnsupportedExecAffinity = 224 "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY" "cudaErrorUnsupportedExecAffinity" "the provided execution affinity is not supported";
    InvalidSource = 300 "CUDA_ERROR_INVALID_SOURCE" "cudaErrorInvalidSource" "device kernel image is invalid";
    FileNotFound = 301 "CUDA_ERROR_FILE_NOT_FOUND" "cudaErrorFileNotFound" "file not found";
    SharedObjectSymbolNotFound = 302 "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND" "cudaErrorSharedObjectSymbolNotFound" "shared object symbol not found";
    SharedObjectInitFailed = 303 "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED" "cudaErrorSharedObjectInitFailed" "shared object initialization failed";
    OperatingSystem = 304 "CUDA_ERROR_OPERATING_SYSTEM" "cudaErrorOperatingSystem" "OS call failed or operation not supported on this OS";
    InvalidHandle = 400 "CUDA_ERROR_INVALID_HANDLE" "cudaErrorInvalidResourceHandle" "invalid resource handle";
    IllegalState = 401 "CUDA_ERROR_ILLEGAL_STATE" "cudaErrorIllegalState" "the operation cannot be performed in the present state";
    NotFound = 500 "CUDA_ERROR_NOT_FOUND" "cudaErrorSymbolNotFound" "named symbol not found";
    NotReady = 600 "CUDA_ERROR_NOT_READY" "cudaErrorNotReady" "device not ready";
    IllegalAddress = 700 "CUDA_ERROR_ILLEGAL_ADDRESS" "cudaErrorIllegalAddress" "an illegal memory access was encountered";
    LaunchOutOfResources = 701 "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES" "cudaErrorLaunchOutOfResources" "too many resources requested for launch";
    LaunchTimeout = 702 "CUDA_ERROR_LAUNCH_TIMEOUT" "cudaErrorLaunchTimeout" "the launch timed out and was terminated";
    PeerAccessAlreadyEnabled = 704 "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED" "cudaErrorPeerAccessAlreadyEnabled" "peer access is already enabled";
    PeerAccessNotEnabled = 705 "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED" "cudaErrorPeerAccessNotEnabled" "peer access has not been enabled";
    PrimaryContextActive = 708 "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE" "cudaErrorSetOnActiveProcess" "cannot set while device is active in this process";
    ContextIsDestroyed = 709 "CUDA_ERROR_CONTEXT_IS_DESTROYED" "cudaErrorContextIsDestroyed" "context is destroyed";
    Assert = 710 "CUDA_ERROR_ASSERT" "cudaErrorAssert" "device-side assert triggered";
    HostMemoryAlreadyRegistered = 712 "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED" "cudaErrorHostMemoryAlreadyRegistered" "part or all of the requested memory range is already mapped";
    HostMemoryNotRegistered = 713 "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED" "cudaErrorHostMemoryNotRegistered" "pointer does not correspond to a registered memory region";
    MisalignedAddress = 716 "CUDA_ERROR_MISALIGNED_ADDRESS" "cudaErrorMisalignedAddress" "misaligned address";
    LaunchFailed = 719 "CUDA_ERROR_LAUNCH_FAILED" "cudaErrorLaunchFailure" "unspecified launch failure";
    CooperativeLaunchTooLarge = 720 "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE" "cudaErrorCooperativeLaunchTooLarge" "too many blocks in cooperative launch";
    NotPermitted = 800 "CUDA_ERROR_NOT_PERMITTED" "cudaErrorNotPermitted" "operation not permitted";
    NotSupported = 801 "CUDA_ERROR_NOT_SUPPORTED" "cudaErrorNotSupported" "operation not supported";
    StreamCaptureUnsupported = 900 "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED" "cudaErrorStreamCaptureUnsupported" "operation not permitted when stream is capturing";
    StreamCaptureInvalidated = 901 "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED" "cudaErrorStreamCaptureInvalidated" "operation failed due to a previous error during capture";
    StreamCaptureUnmatched = 903 "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED" "cudaErrorStreamCaptureUnmatched" "capture was not initiated in this stream";
    Timeout = 909 "CUDA_ERROR_TIMEOUT" "cudaErrorTimeout" "wait operation timed out";
    GraphExecUpdateFailure = 910 "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE" "cudaErrorGraphExecUpdateFailure" "the graph cannot be updated";
    InvalidClusterSize = 912 "CUDA_ERROR_INVALID_CLUSTER_SIZE" "cudaErrorInvalidClusterSize" "cluster misconfiguration";
    FunctionNotLoaded = 913 "CUDA_ERROR_FUNCTION_NOT_LOADED" "cudaErrorFunctionNotLoaded" "function not loaded";
    Unknown = 999 "CUDA_ERROR_UNKNOWN" "cudaErrorUnknown" "unknown error";
}

impl Status {
    /// Returns the number that the caller gets.
    pub(crate) fn number(self) -> i32 {
        self as i32
    }

    /// Returns the name of the code for the driver, such as `CUDA_ERROR_INVALID_VALUE`.
    pub(crate) fn name(self) -> &'static str {
        name(self.number()).map_or("", |name| name.trim_end_matches('\0'))
    }

    /// Returns the name of the code for the runtime library, such as `cudaErrorInvalidValue`.
    pub(crate) fn runtime_name(self) -> &'static str {
        runtime_name(self.number()).map_or("", |name| name.trim_end_matches('\0'))
    }
}

fn code(number: i32) -> Option<&'static NamedCode> {
    CODES.iter().find(|code| code.number == number)
}

/// Returns the name of a code of the driver as a C text: it ends with a NUL.
pub(crate) fn name(number: i32) -> Option<&'static str> {
    code(number).map(|code| code.driver).filter(|name| *name != "\0")
}

/// Returns the name of a code of the runtime library as a C text.
pub(crate) fn runtime_name(number: i32) -> Option<&'static str> {
    code(number).map(|code| code.runtime)
}

/// Returns the sentence that explains a code as a C text.
pub(crate) fn sentence(number: i32) -> Option<&'static str> {
    code(number).map(|code| code.text)
}
