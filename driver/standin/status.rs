//! The error codes of the driver, and how a call is refused.

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

macro_rules! statuses {
    ($($name:ident = $number:literal $code:literal $text:literal;)*) => {
        /// A result code of the driver (manual, "Data types used by CUDA driver": `CUresult`).
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(dead_code, reason = "the list is that of the manual; programs ask for the names of all codes")]
        pub(crate) enum Status { $(#[doc = $text] $name = $number,)* }

        /// Number, name and sentence of each code, as C texts.
        const CODES: &[(i32, &str, &str)] = &[$(($number, concat!($code, "\0"), concat!($text, "\0")),)*];
    };
}

statuses! {
    Success = 0 "CUDA_SUCCESS" "no error";
    InvalidValue = 1 "CUDA_ERROR_INVALID_VALUE" "invalid argument";
    OutOfMemory = 2 "CUDA_ERROR_OUT_OF_MEMORY" "out of memory";
    NotInitialized = 3 "CUDA_ERROR_NOT_INITIALIZED" "initialization error";
    Deinitialized = 4 "CUDA_ERROR_DEINITIALIZED" "driver shutting down";
    ProfilerDisabled = 5 "CUDA_ERROR_PROFILER_DISABLED" "profiler disabled while using external profiling tool";
    StubLibrary = 34 "CUDA_ERROR_STUB_LIBRARY" "CUDA driver is a stub library";
    CallRequiresNewerDriver = 36 "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER" "API call is not supported in the installed CUDA driver";
    DeviceUnavailable = 46 "CUDA_ERROR_DEVICE_UNAVAILABLE" "CUDA-capable device(s) is/are busy or unavailable";
    NoDevice = 100 "CUDA_ERROR_NO_DEVICE" "no CUDA-capable device is detected";
    InvalidDevice = 101 "CUDA_ERROR_INVALID_DEVICE" "invalid device ordinal";
    InvalidImage = 200 "CUDA_ERROR_INVALID_IMAGE" "device kernel image is invalid";
    InvalidContext = 201 "CUDA_ERROR_INVALID_CONTEXT" "invalid device context";
    MapFailed = 205 "CUDA_ERROR_MAP_FAILED" "mapping of buffer object failed";
    UnmapFailed = 206 "CUDA_ERROR_UNMAP_FAILED" "unmapping of buffer object failed";
    AlreadyMapped = 208 "CUDA_ERROR_ALREADY_MAPPED" "resource already mapped";
    NoBinaryForGpu = 209 "CUDA_ERROR_NO_BINARY_FOR_GPU" "no kernel image is available for execution on the device";
    NotMapped = 211 "CUDA_ERROR_NOT_MAPPED" "resource not mapped";
    EccUncorrectable = 214 "CUDA_ERROR_ECC_UNCORRECTABLE" "uncorrectable ECC error encountered";
    UnsupportedLimit = 215 "CUDA_ERROR_UNSUPPORTED_LIMIT" "limit is not supported on this architecture";
    ContextAlreadyInUse = 216 "CUDA_ERROR_CONTEXT_ALREADY_IN_USE" "exclusive-thread device already in use by a different thread";
    PeerAccessUnsupported = 217 "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED" "peer access is not supported between these two devices";
    InvalidPtx = 218 "CUDA_ERROR_INVALID_PTX" "a PTX JIT compilation failed";
    JitCompilerNotFound = 221 "CUDA_ERROR_JIT_COMPILER_NOT_FOUND" "PTX JIT compiler library not found";
    UnsupportedPtxVersion = 222 "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" "the provided PTX was compiled with an unsupported toolchain.";
    UnsupportedExecAffinity = 224 "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY" "the provided execution affinity is not supported";
    InvalidSource = 300 "CUDA_ERROR_INVALID_SOURCE" "device kernel image is invalid";
    FileNotFound = 301 "CUDA_ERROR_FILE_NOT_FOUND" "file not found";
    SharedObjectSymbolNotFound = 302 "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND" "shared object symbol not found";
    SharedObjectInitFailed = 303 "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED" "shared object initialization failed";
    OperatingSystem = 304 "CUDA_ERROR_OPERATING_SYSTEM" "OS call failed or operation not supported on this OS";
    InvalidHandle = 400 "CUDA_ERROR_INVALID_HANDLE" "invalid resource handle";
    IllegalState = 401 "CUDA_ERROR_ILLEGAL_STATE" "the operation cannot be performed in the present state";
    NotFound = 500 "CUDA_ERROR_NOT_FOUND" "named symbol not found";
    NotReady = 600 "CUDA_ERROR_NOT_READY" "device not ready";
    IllegalAddress = 700 "CUDA_ERROR_ILLEGAL_ADDRESS" "an illegal memory access was encountered";
    LaunchOutOfResources = 701 "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES" "too many resources requested for launch";
    LaunchTimeout = 702 "CUDA_ERROR_LAUNCH_TIMEOUT" "the launch timed out and was terminated";
    PeerAccessAlreadyEnabled = 704 "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED" "peer access is already enabled";
    PeerAccessNotEnabled = 705 "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED" "peer access has not been enabled";
    PrimaryContextActive = 708 "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE" "cannot set while device is active in this process";
    ContextIsDestroyed = 709 "CUDA_ERROR_CONTEXT_IS_DESTROYED" "context is destroyed";
    Assert = 710 "CUDA_ERROR_ASSERT" "device-side assert triggered";
    HostMemoryAlreadyRegistered = 712 "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED" "part or all of the requested memory range is already mapped";
    HostMemoryNotRegistered = 713 "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED" "pointer does not correspond to a registered memory region";
    MisalignedAddress = 716 "CUDA_ERROR_MISALIGNED_ADDRESS" "misaligned address";
    LaunchFailed = 719 "CUDA_ERROR_LAUNCH_FAILED" "unspecified launch failure";
    CooperativeLaunchTooLarge = 720 "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE" "too many blocks in cooperative launch";
    NotPermitted = 800 "CUDA_ERROR_NOT_PERMITTED" "operation not permitted";
    NotSupported = 801 "CUDA_ERROR_NOT_SUPPORTED" "operation not supported";
    StreamCaptureUnsupported = 900 "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED" "operation not permitted when stream is capturing";
    StreamCaptureInvalidated = 901 "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED" "operation failed due to a previous error during capture";
    StreamCaptureUnmatched = 903 "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED" "capture was not initiated in this stream";
    Timeout = 909 "CUDA_ERROR_TIMEOUT" "wait operation timed out";
    InvalidClusterSize = 912 "CUDA_ERROR_INVALID_CLUSTER_SIZE" "cluster misconfiguration";
    FunctionNotLoaded = 913 "CUDA_ERROR_FUNCTION_NOT_LOADED" "function not loaded";
    Unknown = 999 "CUDA_ERROR_UNKNOWN" "unknown error";
}

impl Status {
    /// Returns the number that the caller gets.
    pub(crate) fn number(self) -> i32 {
        self as i32
    }

    /// Returns the name of the code, such as `CUDA_ERROR_INVALID_VALUE`.
    pub(crate) fn name(self) -> &'static str {
        name(self.number()).map_or("", |name| name.trim_end_matches('\0'))
    }
}

/// Returns the name of a code as a C text: it ends with a NUL.
pub(crate) fn name(number: i32) -> Option<&'static str> {
    CODES.iter().find(|(code, ..)| *code == number).map(|(_, name, _)| *name)
}

/// Returns the sentence that explains a code as a C text.
pub(crate) fn sentence(number: i32) -> Option<&'static str> {
    CODES.iter().find(|(code, ..)| *code == number).map(|(.., text)| *text)
}
