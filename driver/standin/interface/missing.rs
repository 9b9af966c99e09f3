//! Functions of the driver that the stand-in does not have. They are exported, since a program that is linked to one would
//! not start without it, and some look up all at once. Called, they answer that they are not supported, and are noted.
//!
//! They are declared without their parameters: on the platforms of the driver the caller removes what it has passed.

use crate::call;
use crate::exports::{Address, Export};
use crate::status::Status;

fn unsupported(function: &'static str) -> i32 {
    call::answer(function, &|call| {
        call.any().record.missing(call.function);
        Err(Status::NotSupported.into())
    })
}

/// Makes the functions of a list whose lines are those of [`exports!`] without parameters and body.
macro_rules! missing {
    ($($symbol:ident since $since:literal $kind:ident;)*) => {
        /// The functions that are missing.
        pub(crate) static EXPORTS: &[Export] = &[$(one!($symbol $since $kind)),*];
    };
}

/// Makes one of them.
macro_rules! one {
    ($symbol:ident $since:literal one) => {{
        // SAFETY: the symbol is one of the driver's, whose place this library takes.
        #[unsafe(no_mangle)]
        extern "C" fn $symbol() -> i32 {
            unsupported(stringify!($symbol))
        }
        let address = Address($symbol as *const ());
        Export { symbol: stringify!($symbol), since: $since, address, per_thread: None }
    }};
    ($symbol:ident $since:literal ptds) => {
        one!(@both $symbol $since "_ptds")
    };
    ($symbol:ident $since:literal ptsz) => {
        one!(@both $symbol $since "_ptsz")
    };
    (@both $symbol:ident $since:literal $ending:literal) => {{
        // SAFETY: the symbol is one of the driver's, whose place this library takes.
        #[unsafe(export_name = concat!(stringify!($symbol), $ending))]
        extern "C" fn per_thread() -> i32 {
            unsupported(concat!(stringify!($symbol), $ending))
        }
        Export { per_thread: Some(Address(per_thread as *const ())), ..one!($symbol $since one) }
    }};
}

missing! {
    cuArray3DCreate since 2000 one;
    cuArray3DGetDescriptor since 2000 one;
    cuArrayCreate since 2000 one;
    cuArrayGetDescriptor since 2000 one;
    cuArrayGetMemoryRequirements since 11060 one;
    cuArrayGetPlane since 11020 one;
    cuArrayGetSparseProperties since 11010 one;
    cuCheckpointProcessCheckpoint since 12080 one;
    cuCheckpointProcessGetRestoreThreadId since 12080 one;
    cuCheckpointProcessGetState since 12080 one;
    cuCheckpointProcessLock since 12080 one;
    cuCheckpointProcessRestore since 12080 one;
    cuCheckpointProcessUnlock since 12080 one;
    cuCoredumpGetAttribute since 12010 one;
    cuCoredumpGetAttributeGlobal since 12010 one;
    cuCoredumpSetAttribute since 12010 one;
    cuCoredumpSetAttributeGlobal since 12010 one;
    cuCtxAttach since 2000 one;
    cuCtxCreate since 2000 one;
    cuCtxDestroy since 2000 one;
    cuCtxDetach since 2000 one;
    cuCtxFromGreenCtx since 12040 one;
    cuCtxGetDevResource since 12040 one;
    cuCtxGetExecAffinity since 11040 one;
    cuCtxPopCurrent since 2000 one;
    cuCtxPushCurrent since 2000 one;
    cuDestroyExternalMemory since 10000 one;
    cuDestroyExternalSemaphore since 10000 one;
    cuDevResourceGenerateDesc since 12040 one;
    cuDevSmResourceSplitByCount since 12040 one;
    cuDeviceGetDevResource since 12040 one;
    cuDeviceGetGraphMemAttribute since 11040 one;
    cuDeviceGetHostAtomicCapabilities since 13000 one;
    cuDeviceGetLuid since 10000 one;
    cuDeviceGetNvSciSyncAttributes since 10020 one;
    cuDeviceGetP2PAtomicCapabilities since 13000 one;
    cuDeviceGetTexture1DLinearMaxWidth since 11010 one;
    cuDeviceGraphMemTrim since 11040 one;
    cuDeviceRegisterAsyncNotification since 12040 one;
    cuDeviceSetGraphMemAttribute since 11040 one;
    cuDeviceTotalMem since 2000 one;
    cuDeviceUnregisterAsyncNotification since 12040 one;
    cuEventDestroy since 2000 one;
    cuExternalMemoryGetMappedBuffer since 10000 one;
    cuExternalMemoryGetMappedMipmappedArray since 10000 one;
    cuFuncSetBlockShape since 2000 one;
    cuFuncSetSharedSize since 2000 one;
    cuGraphAddBatchMemOpNode since 11070 one;
    cuGraphAddEventRecordNode since 11010 one;
    cuGraphAddEventWaitNode since 11010 one;
    cuGraphAddExternalSemaphoresSignalNode since 11020 one;
    cuGraphAddExternalSemaphoresWaitNode since 11020 one;
    cuGraphAddMemAllocNode since 11040 one;
    cuGraphAddMemFreeNode since 11040 one;
    cuGraphBatchMemOpNodeGetParams since 11070 one;
    cuGraphBatchMemOpNodeSetParams since 11070 one;
    cuGraphChildGraphNodeGetGraph since 10000 one;
    cuGraphConditionalHandleCreate since 12030 one;
    cuGraphDebugDotPrint since 11030 one;
    cuGraphDestroyNode since 10000 one;
    cuGraphEventRecordNodeGetEvent since 11010 one;
    cuGraphEventRecordNodeSetEvent since 11010 one;
    cuGraphEventWaitNodeGetEvent since 11010 one;
    cuGraphEventWaitNodeSetEvent since 11010 one;
    cuGraphExecBatchMemOpNodeSetParams since 11070 one;
    cuGraphExecChildGraphNodeSetParams since 11010 one;
    cuGraphExecEventRecordNodeSetEvent since 11010 one;
    cuGraphExecEventWaitNodeSetEvent since 11010 one;
    cuGraphExecExternalSemaphoresSignalNodeSetParams since 11020 one;
    cuGraphExecExternalSemaphoresWaitNodeSetParams since 11020 one;
    cuGraphExecGetFlags since 12000 one;
    cuGraphExternalSemaphoresSignalNodeGetParams since 11020 one;
    cuGraphExternalSemaphoresSignalNodeSetParams since 11020 one;
    cuGraphExternalSemaphoresWaitNodeGetParams since 11020 one;
    cuGraphExternalSemaphoresWaitNodeSetParams since 11020 one;
    cuGraphGetEdges since 10000 one;
    cuGraphGetEdges_v2 since 12030 one;
    cuGraphGetRootNodes since 10000 one;
    cuGraphHostNodeGetParams since 10000 one;
    cuGraphHostNodeSetParams since 10000 one;
    cuGraphInstantiate since 10000 one;
    cuGraphKernelNodeCopyAttributes since 11000 one;
    cuGraphKernelNodeGetAttribute since 11000 one;
    cuGraphKernelNodeGetParams since 10000 one;
    cuGraphKernelNodeGetParams_v2 since 12000 one;
    cuGraphKernelNodeSetAttribute since 11000 one;
    cuGraphMemAllocNodeGetParams since 11040 one;
    cuGraphMemFreeNodeGetParams since 11040 one;
    cuGraphMemcpyNodeGetParams since 10000 one;
    cuGraphMemcpyNodeSetParams since 10000 one;
    cuGraphMemsetNodeGetParams since 10000 one;
    cuGraphMemsetNodeSetParams since 10000 one;
    cuGraphNodeFindInClone since 10000 one;
    cuGraphNodeGetDependencies since 10000 one;
    cuGraphNodeGetDependencies_v2 since 12030 one;
    cuGraphNodeGetDependentNodes since 10000 one;
    cuGraphNodeGetDependentNodes_v2 since 12030 one;
    cuGraphNodeGetEnabled since 11060 one;
    cuGraphNodeGetType since 10000 one;
    cuGraphNodeSetEnabled since 11060 one;
    cuGraphNodeSetParams since 12020 one;
    cuGraphReleaseUserObject since 11030 one;
    cuGraphRemoveDependencies since 10000 one;
    cuGraphRemoveDependencies_v2 since 12030 one;
    cuGraphRetainUserObject since 11030 one;
    cuGraphicsMapResources since 3000 ptsz;
    cuGraphicsResourceGetMappedMipmappedArray since 5000 one;
    cuGraphicsResourceGetMappedPointer since 3000 one;
    cuGraphicsResourceGetMappedPointer_v2 since 3020 one;
    cuGraphicsResourceSetMapFlags since 3000 one;
    cuGraphicsResourceSetMapFlags_v2 since 6050 one;
    cuGraphicsSubResourceGetMappedArray since 3000 one;
    cuGraphicsUnmapResources since 3000 ptsz;
    cuGraphicsUnregisterResource since 3000 one;
    cuGreenCtxCreate since 12040 one;
    cuGreenCtxDestroy since 12040 one;
    cuGreenCtxGetDevResource since 12040 one;
    cuGreenCtxGetId since 12090 one;
    cuGreenCtxRecordEvent since 12040 one;
    cuGreenCtxStreamCreate since 12050 one;
    cuGreenCtxWaitEvent since 12040 one;
    cuImportExternalMemory since 10000 one;
    cuImportExternalSemaphore since 10000 one;
    cuIpcCloseMemHandle since 4010 one;
    cuIpcGetEventHandle since 4010 one;
    cuIpcGetMemHandle since 4010 one;
    cuIpcOpenEventHandle since 4010 one;
    cuIpcOpenMemHandle since 4010 one;
    cuIpcOpenMemHandle_v2 since 11000 one;
    cuLaunch since 2000 one;
    cuLaunchCooperativeKernelMultiDevice since 9000 one;
    cuLaunchGrid since 2000 one;
    cuLaunchGridAsync since 2000 one;
    cuLibraryGetUnifiedFunction since 12000 one;
    cuLogsCurrent since 12090 one;
    cuLogsDumpToFile since 12090 one;
    cuLogsDumpToMemory since 12090 one;
    cuLogsRegisterCallback since 12090 one;
    cuLogsUnregisterCallback since 12090 one;
    cuMemAlloc since 2000 one;
    cuMemAllocHost since 2000 one;
    cuMemAllocPitch since 2000 one;
    cuMemBatchDecompressAsync since 12060 ptsz;
    cuMemDiscardAndPrefetchBatchAsync since 13000 ptsz;
    cuMemDiscardBatchAsync since 13000 ptsz;
    cuMemExportToShareableHandle since 10020 one;
    cuMemFree since 2000 one;
    cuMemGetAddressRange since 2000 one;
    cuMemGetDefaultMemPool since 13000 one;
    cuMemGetHandleForAddressRange since 11070 one;
    cuMemGetInfo since 2000 one;
    cuMemGetMemPool since 13000 one;
    cuMemHostGetDevicePointer since 2020 one;
    cuMemHostRegister since 4000 one;
    cuMemImportFromShareableHandle since 10020 one;
    cuMemMapArrayAsync since 11010 ptsz;
    cuMemPoolExportPointer since 11020 one;
    cuMemPoolExportToShareableHandle since 11020 one;
    cuMemPoolImportFromShareableHandle since 11020 one;
    cuMemPoolImportPointer since 11020 one;
    cuMemPrefetchBatchAsync since 13000 ptsz;
    cuMemRangeGetAttribute since 8000 one;
    cuMemRangeGetAttributes since 8000 one;
    cuMemSetMemPool since 13000 one;
    cuMemcpy2D since 2000 one;
    cuMemcpy2DAsync since 2000 one;
    cuMemcpy2DUnaligned since 2000 one;
    cuMemcpy3D since 2000 one;
    cuMemcpy3DAsync since 2000 one;
    cuMemcpy3DBatchAsync since 12080 ptsz;
    cuMemcpy3DBatchAsync_v2 since 13000 ptsz;
    cuMemcpy3DPeer since 4000 ptds;
    cuMemcpy3DPeerAsync since 4000 ptsz;
    cuMemcpyAtoA since 2000 one;
    cuMemcpyAtoD since 2000 one;
    cuMemcpyAtoH since 2000 one;
    cuMemcpyAtoHAsync since 2000 one;
    cuMemcpyBatchAsync since 12080 ptsz;
    cuMemcpyBatchAsync_v2 since 13000 ptsz;
    cuMemcpyDtoA since 2000 one;
    cuMemcpyDtoD since 2000 one;
    cuMemcpyDtoDAsync since 3000 one;
    cuMemcpyDtoH since 2000 one;
    cuMemcpyDtoHAsync since 2000 one;
    cuMemcpyHtoA since 2000 one;
    cuMemcpyHtoAAsync since 2000 one;
    cuMemcpyHtoD since 2000 one;
    cuMemcpyHtoDAsync since 2000 one;
    cuMemsetD16 since 2000 one;
    cuMemsetD2D16 since 2000 one;
    cuMemsetD2D32 since 2000 one;
    cuMemsetD2D8 since 2000 one;
    cuMemsetD32 since 2000 one;
    cuMemsetD8 since 2000 one;
    cuMipmappedArrayCreate since 5000 one;
    cuMipmappedArrayDestroy since 5000 one;
    cuMipmappedArrayGetLevel since 5000 one;
    cuMipmappedArrayGetMemoryRequirements since 11060 one;
    cuMipmappedArrayGetSparseProperties since 11010 one;
    cuModuleGetGlobal since 2000 one;
    cuModuleGetSurfRef since 3000 one;
    cuModuleGetTexRef since 2000 one;
    cuMulticastAddDevice since 12010 one;
    cuMulticastBindAddr since 12010 one;
    cuMulticastBindMem since 12010 one;
    cuMulticastCreate since 12010 one;
    cuMulticastGetGranularity since 12010 one;
    cuMulticastUnbind since 12010 one;
    cuParamSetSize since 2000 one;
    cuParamSetTexRef since 2000 one;
    cuParamSetf since 2000 one;
    cuParamSeti since 2000 one;
    cuParamSetv since 2000 one;
    cuSignalExternalSemaphoresAsync since 10000 ptsz;
    cuStreamBatchMemOp since 8000 ptsz;
    cuStreamBatchMemOp_v2 since 11070 ptsz;
    cuStreamBeginCapture since 10000 ptsz;
    cuStreamBeginCaptureToGraph since 12030 ptsz;
    cuStreamDestroy since 2000 one;
    cuStreamGetCaptureInfo since 10010 ptsz;
    cuStreamGetGreenCtx since 12040 one;
    cuStreamUpdateCaptureDependencies since 11030 ptsz;
    cuStreamUpdateCaptureDependencies_v2 since 12030 ptsz;
    cuStreamWaitValue32 since 8000 ptsz;
    cuStreamWaitValue32_v2 since 11070 ptsz;
    cuStreamWaitValue64 since 9000 ptsz;
    cuStreamWaitValue64_v2 since 11070 ptsz;
    cuStreamWriteValue32 since 8000 ptsz;
    cuStreamWriteValue32_v2 since 11070 ptsz;
    cuStreamWriteValue64 since 9000 ptsz;
    cuStreamWriteValue64_v2 since 11070 ptsz;
    cuSurfRefGetArray since 3000 one;
    cuSurfRefSetArray since 3000 one;
    cuTexRefCreate since 2000 one;
    cuTexRefDestroy since 2000 one;
    cuTexRefGetAddress since 2000 one;
    cuTexRefGetAddress_v2 since 3020 one;
    cuTexRefGetAddressMode since 2000 one;
    cuTexRefGetArray since 2000 one;
    cuTexRefGetBorderColor since 8000 one;
    cuTexRefGetFilterMode since 2000 one;
    cuTexRefGetFlags since 2000 one;
    cuTexRefGetFormat since 2000 one;
    cuTexRefGetMaxAnisotropy since 5000 one;
    cuTexRefGetMipmapFilterMode since 5000 one;
    cuTexRefGetMipmapLevelBias since 5000 one;
    cuTexRefGetMipmapLevelClamp since 5000 one;
    cuTexRefGetMipmappedArray since 5000 one;
    cuTexRefSetAddress since 2000 one;
    cuTexRefSetAddress_v2 since 3020 one;
    cuTexRefSetAddress2D since 2020 one;
    cuTexRefSetAddress2D_v2 since 3020 one;
    cuTexRefSetAddress2D_v3 since 4010 one;
    cuTexRefSetAddressMode since 2000 one;
    cuTexRefSetArray since 2000 one;
    cuTexRefSetBorderColor since 8000 one;
    cuTexRefSetFilterMode since 2000 one;
    cuTexRefSetFlags since 2000 one;
    cuTexRefSetFormat since 2000 one;
    cuTexRefSetMaxAnisotropy since 5000 one;
    cuTexRefSetMipmapFilterMode since 5000 one;
    cuTexRefSetMipmapLevelBias since 5000 one;
    cuTexRefSetMipmapLevelClamp since 5000 one;
    cuTexRefSetMipmappedArray since 5000 one;
    cuUserObjectCreate since 11030 one;
    cuUserObjectRelease since 11030 one;
    cuUserObjectRetain since 11030 one;
    cuWaitExternalSemaphoresAsync since 10000 ptsz;
}
