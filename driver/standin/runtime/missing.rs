//! Functions of the runtime library, of CUDA 11 to 13, that the stand-in does not have. They are exported, since a program that is
//! linked to one might not start without it. Called, they answer that they are not supported, and are noted.
//!
//! They are declared without their parameters: on the platforms of CUDA the caller removes what it has passed.

use crate::runtime::functions;
use crate::status::Status;

fn unsupported(function: &'static str) -> i32 {
    functions::answer(function, &|call| {
        call.any().record.missing(call.function);
        Err(Status::NotSupported.into())
    })
}

/// Makes the functions of a list whose lines are those of [`runtime!`] without parameters and body.
macro_rules! missing {
    ($($symbol:ident $kind:ident;)*) => {
        $(missing_function!($symbol $kind);)*
    };
}

/// Makes one of them.
macro_rules! missing_function {
    ($symbol:ident one) => {
        missing_function!(@one stringify!($symbol));
    };
    ($symbol:ident ptds) => {
        missing_function!(@one stringify!($symbol));
        missing_function!(@one concat!(stringify!($symbol), "_ptds"));
    };
    ($symbol:ident ptsz) => {
        missing_function!(@one stringify!($symbol));
        missing_function!(@one concat!(stringify!($symbol), "_ptsz"));
    };
    (@one $symbol:expr) => {
        const _: () = {
            // SAFETY: the symbol is one of the runtime library's, whose place this library takes.
            #[unsafe(export_name = $symbol)]
            extern "C" fn function() -> i32 {
                unsupported($symbol)
            }
        };
    };
}

missing! {
    __cudaGetProcAddress one;
    __cudaRegisterHostVar one;
    __cudaRegisterSurface one;
    __cudaRegisterTexture one;
    __cudaRegisterUnifiedTable one;
    cudaArrayGetInfo one;
    cudaArrayGetMemoryRequirements one;
    cudaArrayGetPlane one;
    cudaArrayGetSparseProperties one;
    cudaBindSurfaceToArray one;
    cudaBindTexture one;
    cudaBindTexture2D one;
    cudaBindTextureToArray one;
    cudaBindTextureToMipmappedArray one;
    cudaCreateSurfaceObject one;
    cudaCreateTextureObject one;
    cudaCreateTextureObject_v2 one;
    cudaDestroyExternalMemory one;
    cudaDestroyExternalSemaphore one;
    cudaDestroySurfaceObject one;
    cudaDestroyTextureObject one;
    cudaDeviceGetGraphMemAttribute one;
    cudaDeviceGetHostAtomicCapabilities one;
    cudaDeviceGetNvSciSyncAttributes one;
    cudaDeviceGetP2PAtomicCapabilities one;
    cudaDeviceGraphMemTrim one;
    cudaDeviceRegisterAsyncNotification one;
    cudaDeviceSetGraphMemAttribute one;
    cudaDeviceUnregisterAsyncNotification one;
    cudaEGLStreamConsumerAcquireFrame one;
    cudaEGLStreamConsumerConnect one;
    cudaEGLStreamConsumerConnectWithFlags one;
    cudaEGLStreamConsumerDisconnect one;
    cudaEGLStreamConsumerReleaseFrame one;
    cudaEGLStreamProducerConnect one;
    cudaEGLStreamProducerDisconnect one;
    cudaEGLStreamProducerPresentFrame one;
    cudaEGLStreamProducerReturnFrame one;
    cudaEventCreateFromEGLSync one;
    cudaExternalMemoryGetMappedBuffer one;
    cudaExternalMemoryGetMappedMipmappedArray one;
    cudaFreeArray one;
    cudaFreeMipmappedArray one;
    cudaGLGetDevices one;
    cudaGLMapBufferObject one;
    cudaGLMapBufferObjectAsync one;
    cudaGLRegisterBufferObject one;
    cudaGLSetBufferObjectMapFlags one;
    cudaGLSetGLDevice one;
    cudaGLUnmapBufferObject one;
    cudaGLUnmapBufferObjectAsync one;
    cudaGLUnregisterBufferObject one;
    cudaGetChannelDesc one;
    cudaGetMipmappedArrayLevel one;
    cudaGetSurfaceObjectResourceDesc one;
    cudaGetSurfaceReference one;
    cudaGetTextureAlignmentOffset one;
    cudaGetTextureObjectResourceDesc one;
    cudaGetTextureObjectResourceViewDesc one;
    cudaGetTextureObjectTextureDesc one;
    cudaGetTextureObjectTextureDesc_v2 one;
    cudaGetTextureReference one;
    cudaGraphAddEventRecordNode one;
    cudaGraphAddEventWaitNode one;
    cudaGraphAddExternalSemaphoresSignalNode one;
    cudaGraphAddExternalSemaphoresWaitNode one;
    cudaGraphAddMemAllocNode one;
    cudaGraphAddMemFreeNode one;
    cudaGraphChildGraphNodeGetGraph one;
    cudaGraphConditionalHandleCreate one;
    cudaGraphDebugDotPrint one;
    cudaGraphDestroyNode one;
    cudaGraphEventRecordNodeGetEvent one;
    cudaGraphEventRecordNodeSetEvent one;
    cudaGraphEventWaitNodeGetEvent one;
    cudaGraphEventWaitNodeSetEvent one;
    cudaGraphExecChildGraphNodeSetParams one;
    cudaGraphExecEventRecordNodeSetEvent one;
    cudaGraphExecEventWaitNodeSetEvent one;
    cudaGraphExecExternalSemaphoresSignalNodeSetParams one;
    cudaGraphExecExternalSemaphoresWaitNodeSetParams one;
    cudaGraphExecGetFlags one;
    cudaGraphExecMemcpyNodeSetParamsFromSymbol one;
    cudaGraphExecMemcpyNodeSetParamsToSymbol one;
    cudaGraphExternalSemaphoresSignalNodeGetParams one;
    cudaGraphExternalSemaphoresSignalNodeSetParams one;
    cudaGraphExternalSemaphoresWaitNodeGetParams one;
    cudaGraphExternalSemaphoresWaitNodeSetParams one;
    cudaGraphGetEdges one;
    cudaGraphGetEdges_v2 one;
    cudaGraphGetRootNodes one;
    cudaGraphHostNodeGetParams one;
    cudaGraphHostNodeSetParams one;
    cudaGraphKernelNodeCopyAttributes one;
    cudaGraphKernelNodeGetAttribute one;
    cudaGraphKernelNodeGetParams one;
    cudaGraphKernelNodeSetAttribute one;
    cudaGraphMemAllocNodeGetParams one;
    cudaGraphMemFreeNodeGetParams one;
    cudaGraphMemcpyNodeGetParams one;
    cudaGraphMemcpyNodeSetParams one;
    cudaGraphMemcpyNodeSetParams1D one;
    cudaGraphMemcpyNodeSetParamsFromSymbol one;
    cudaGraphMemcpyNodeSetParamsToSymbol one;
    cudaGraphMemsetNodeGetParams one;
    cudaGraphMemsetNodeSetParams one;
    cudaGraphNodeFindInClone one;
    cudaGraphNodeGetDependencies one;
    cudaGraphNodeGetDependencies_v2 one;
    cudaGraphNodeGetDependentNodes one;
    cudaGraphNodeGetDependentNodes_v2 one;
    cudaGraphNodeGetEnabled one;
    cudaGraphNodeGetType one;
    cudaGraphNodeSetEnabled one;
    cudaGraphNodeSetParams one;
    cudaGraphReleaseUserObject one;
    cudaGraphRemoveDependencies one;
    cudaGraphRemoveDependencies_v2 one;
    cudaGraphRetainUserObject one;
    cudaGraphicsEGLRegisterImage one;
    cudaGraphicsGLRegisterBuffer one;
    cudaGraphicsGLRegisterImage one;
    cudaGraphicsMapResources one;
    cudaGraphicsResourceGetMappedEglFrame one;
    cudaGraphicsResourceGetMappedMipmappedArray one;
    cudaGraphicsResourceGetMappedPointer one;
    cudaGraphicsResourceSetMapFlags one;
    cudaGraphicsSubResourceGetMappedArray one;
    cudaGraphicsUnmapResources one;
    cudaGraphicsUnregisterResource one;
    cudaGraphicsVDPAURegisterOutputSurface one;
    cudaGraphicsVDPAURegisterVideoSurface one;
    cudaImportExternalMemory one;
    cudaImportExternalSemaphore one;
    cudaIpcCloseMemHandle one;
    cudaIpcGetEventHandle one;
    cudaIpcGetMemHandle one;
    cudaIpcOpenEventHandle one;
    cudaIpcOpenMemHandle one;
    cudaLaunchCooperativeKernelMultiDevice one;
    cudaLibraryGetUnifiedFunction one;
    cudaLogsCurrent one;
    cudaLogsDumpToFile one;
    cudaLogsDumpToMemory one;
    cudaLogsRegisterCallback one;
    cudaLogsUnregisterCallback one;
    cudaMalloc3DArray one;
    cudaMallocArray one;
    cudaMallocMipmappedArray one;
    cudaMemDiscardAndPrefetchBatchAsync ptsz;
    cudaMemDiscardBatchAsync ptsz;
    cudaMemPoolExportPointer one;
    cudaMemPoolExportToShareableHandle one;
    cudaMemPoolImportFromShareableHandle one;
    cudaMemPoolImportPointer one;
    cudaMemPrefetchBatchAsync ptsz;
    cudaMemRangeGetAttribute one;
    cudaMemRangeGetAttributes one;
    cudaMemcpy2DArrayToArray ptds;
    cudaMemcpy2DFromArray ptds;
    cudaMemcpy2DFromArrayAsync ptsz;
    cudaMemcpy2DToArray ptds;
    cudaMemcpy2DToArrayAsync ptsz;
    cudaMemcpy3DBatchAsync ptsz;
    cudaMemcpy3DPeer ptds;
    cudaMemcpy3DPeerAsync ptsz;
    cudaMemcpyArrayToArray ptds;
    cudaMemcpyBatchAsync ptsz;
    cudaMemcpyFromArray ptds;
    cudaMemcpyFromArrayAsync ptsz;
    cudaMemcpyToArray ptds;
    cudaMemcpyToArrayAsync ptsz;
    cudaMipmappedArrayGetMemoryRequirements one;
    cudaMipmappedArrayGetSparseProperties one;
    cudaSignalExternalSemaphoresAsync ptsz;
    cudaSignalExternalSemaphoresAsync_v2 ptsz;
    cudaStreamBeginCaptureToGraph ptsz;
    cudaStreamUpdateCaptureDependencies ptsz;
    cudaStreamUpdateCaptureDependencies_v2 ptsz;
    cudaUnbindTexture one;
    cudaUserObjectCreate one;
    cudaUserObjectRelease one;
    cudaUserObjectRetain one;
    cudaVDPAUGetDevice one;
    cudaVDPAUSetVDPAUDevice one;
    cudaWaitExternalSemaphoresAsync ptsz;
    cudaWaitExternalSemaphoresAsync_v2 ptsz;
}
