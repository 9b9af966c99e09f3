//! Device management: all properties of the device at once, in a structure that has another layout in each major version.

use crate::call::Call;
use crate::device;
use crate::foreign::Host;
use crate::interface::devices;
use crate::runtime::generation::{self, RuntimeMajor};
use crate::status::{Answer, Status, refuse};

runtime! {
    cudaGetDeviceProperties(properties: Host, device: i32) one => properties;
    cudaGetDeviceProperties_v2(properties: Host, device: i32) one => properties_of_twelve;
}

/// Bytes of the structure.
fn size(of: RuntimeMajor) -> usize {
    match of {
        RuntimeMajor::Eleven => 728,
        RuntimeMajor::Twelve => 1032,
        RuntimeMajor::Thirteen => 1008,
    }
}

/// Where the name is, what identifies the device, and the bytes of its memory, in each version.
const NAME: usize = 0;
const UUID: usize = 256;
const MEMORY: usize = 288;

/// A field: the bytes of a number in it, the attributes of the device that its numbers are (`cudaDeviceAttr`), and where it is up to
/// CUDA 12, and from CUDA 13 on; 0 where it is not there. CUDA 11 has the fields of CUDA 12 up to its size.
struct PropertyField {
    width: usize,
    attributes: &'static [i32],
    old: usize,
    new: usize,
}

/// Makes the table. A line is `name width [attributes] old new;`.
macro_rules! fields {
    ($($name:ident $width:literal [$($attribute:literal),*] $old:literal $new:literal;)*) => {
        const FIELDS: &[PropertyField] =
            &[$(PropertyField { width: $width, attributes: &[$($attribute),*], old: $old, new: $new }),*];
    };
}

fields! {
    sharedMemPerBlock 8 [8] 296 296;
    regsPerBlock 4 [12] 304 304;
    warpSize 4 [10] 308 308;
    memPitch 8 [11] 312 312;
    maxThreadsPerBlock 4 [1] 320 320;
    maxThreadsDim 4 [2, 3, 4] 324 324;
    maxGridSize 4 [5, 6, 7] 336 336;
    clockRate 4 [13] 348 0;
    totalConstMem 8 [9] 352 352;
    major 4 [75] 360 360;
    minor 4 [76] 364 364;
    textureAlignment 8 [14] 368 368;
    texturePitchAlignment 8 [51] 376 376;
    deviceOverlap 4 [15] 384 0;
    multiProcessorCount 4 [16] 388 384;
    kernelExecTimeoutEnabled 4 [17] 392 0;
    integrated 4 [18] 396 388;
    canMapHostMemory 4 [19] 400 392;
    computeMode 4 [20] 404 0;
    maxTexture1D 4 [21] 408 396;
    maxTexture1DMipmap 4 [77] 412 400;
    maxTexture1DLinear 4 [69] 416 0;
    maxTexture2D 4 [22, 23] 420 404;
    maxTexture2DMipmap 4 [73, 74] 428 412;
    maxTexture2DLinear 4 [70, 71, 72] 436 420;
    maxTexture2DGather 4 [45, 46] 448 432;
    maxTexture3D 4 [24, 25, 26] 456 440;
    maxTexture3DAlt 4 [47, 48, 49] 468 452;
    maxTextureCubemap 4 [52] 480 464;
    maxTexture1DLayered 4 [42, 43] 484 468;
    maxTexture2DLayered 4 [27, 28, 29] 492 476;
    maxTextureCubemapLayered 4 [53, 54] 504 488;
    maxSurface1D 4 [55] 512 496;
    maxSurface2D 4 [56, 57] 516 500;
    maxSurface3D 4 [58, 59, 60] 524 508;
    maxSurface1DLayered 4 [61, 62] 536 520;
    maxSurface2DLayered 4 [63, 64, 65] 544 528;
    maxSurfaceCubemap 4 [66] 556 540;
    maxSurfaceCubemapLayered 4 [67, 68] 560 544;
    surfaceAlignment 8 [30] 568 552;
    concurrentKernels 4 [31] 576 560;
    ECCEnabled 4 [32] 580 564;
    pciBusID 4 [33] 584 568;
    pciDeviceID 4 [34] 588 572;
    pciDomainID 4 [50] 592 576;
    tccDriver 4 [35] 596 580;
    asyncEngineCount 4 [40] 600 584;
    unifiedAddressing 4 [41] 604 588;
    memoryClockRate 4 [36] 608 0;
    memoryBusWidth 4 [37] 612 592;
    l2CacheSize 4 [38] 616 596;
    persistingL2CacheMaxSize 4 [108] 620 600;
    maxThreadsPerMultiProcessor 4 [39] 624 604;
    streamPrioritiesSupported 4 [78] 628 608;
    globalL1CacheSupported 4 [79] 632 612;
    localL1CacheSupported 4 [80] 636 616;
    sharedMemPerMultiprocessor 8 [81] 640 624;
    regsPerMultiprocessor 4 [82] 648 632;
    managedMemory 4 [83] 652 636;
    isMultiGpuBoard 4 [84] 656 640;
    multiGpuBoardGroupID 4 [85] 660 644;
    hostNativeAtomicSupported 4 [86] 664 648;
    singleToDoublePrecisionPerfRatio 4 [87] 668 0;
    pageableMemoryAccess 4 [88] 672 652;
    concurrentManagedAccess 4 [89] 676 656;
    computePreemptionSupported 4 [90] 680 660;
    canUseHostPointerForRegisteredMem 4 [91] 684 664;
    cooperativeLaunch 4 [95] 688 668;
    cooperativeMultiDeviceLaunch 4 [96] 692 0;
    sharedMemPerBlockOptin 8 [97] 696 672;
    pageableMemoryAccessUsesHostPageTables 4 [100] 704 680;
    directManagedMemAccessFromHost 4 [101] 708 684;
    maxBlocksPerMultiProcessor 4 [106] 712 688;
    accessPolicyMaxWindowSize 4 [109] 716 692;
    reservedSharedMemPerBlock 8 [111] 720 696;
    hostRegisterSupported 4 [99] 728 704;
    sparseCudaArraySupported 4 [112] 732 708;
    hostRegisterReadOnlySupported 4 [113] 736 712;
    timelineSemaphoreInteropSupported 4 [114] 740 716;
    memoryPoolsSupported 4 [115] 744 720;
    gpuDirectRDMASupported 4 [116] 748 724;
    gpuDirectRDMAFlushWritesOptions 4 [117] 752 728;
    gpuDirectRDMAWritesOrdering 4 [118] 756 732;
    memoryPoolSupportedHandleTypes 4 [119] 760 736;
    clusterLaunch 4 [120] 772 748;
    deferredMappingCudaArraySupported 4 [121] 764 740;
    ipcEventSupported 4 [125] 768 744;
    unifiedFunctionPointers 4 [129] 776 752;
    deviceNumaConfig 4 [130] 0 756;
    deviceNumaId 4 [131] 0 760;
    mpsEnabled 4 [133] 0 764;
    hostNumaId 4 [134] 0 768;
}

fn properties(call: &Call, properties: Host, device: i32) -> Answer {
    // In CUDA 12, this name is for programs of CUDA 11.
    let layout = match generation::current() {
        RuntimeMajor::Twelve => RuntimeMajor::Eleven,
        other => other,
    };
    give(call, properties, device, layout)
}

fn properties_of_twelve(call: &Call, properties: Host, device: i32) -> Answer {
    give(call, properties, device, RuntimeMajor::Twelve)
}

fn give(call: &Call, properties: Host, device: i32, layout: RuntimeMajor) -> Answer {
    let own = devices::device(call, device)?;
    if properties.is_null() {
        return Err(refuse(Status::InvalidValue, "no place for the properties is given"));
    }
    let mut bytes = vec![0_u8; size(layout)];
    let mut put = |at: usize, value: &[u8]| {
        if let Some(place) = bytes.get_mut(at..at + value.len()) {
            place.copy_from_slice(value);
        }
    };
    put(NAME, device::NAME.as_bytes());
    put(UUID, &device::UUID);
    put(MEMORY, &device::MEMORY.to_le_bytes());
    for field in FIELDS {
        let at = if layout == RuntimeMajor::Thirteen { field.new } else { field.old };
        if at == 0 {
            continue;
        }
        for (index, attribute) in field.attributes.iter().enumerate() {
            let value = i64::from(own.attribute(*attribute).unwrap_or(0));
            put(at + index * field.width, &value.to_le_bytes()[..field.width]);
        }
    }
    properties.result().give_all(&bytes)
}

#[cfg(test)]
mod tests {
    use super::{FIELDS, MEMORY, RuntimeMajor, size};

    /// No two fields share a byte, and all are within the structure.
    #[test]
    fn fields_have_places_of_their_own() {
        for (layout, is_new) in [(RuntimeMajor::Twelve, false), (RuntimeMajor::Thirteen, true)] {
            let mut taken = vec![false; size(layout)];
            taken[..MEMORY + 8].fill(true);
            for field in FIELDS {
                let at = if is_new { field.new } else { field.old };
                if at == 0 {
                    continue;
                }
                assert_eq!(at % field.width, 0, "{at} is aligned");
                let bytes = at..at + field.width * field.attributes.len();
                for is_taken in &mut taken[bytes] {
                    assert!(!*is_taken, "{layout:?} has two fields at {at}");
                    *is_taken = true;
                }
            }
        }
    }
}
