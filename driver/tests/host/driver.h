/* The part of the CUDA driver API that the scenarios use, as the manual describes it. */
#ifndef DRIVER_H
#define DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int Result;
typedef uint64_t Pointer;
typedef void *Handle;
typedef void (*HostFunction)(void *);

typedef struct {
    uint32_t id, unused;
    uint32_t value[16];
} Attribute;

typedef struct {
    uint32_t grid[3], block[3], shared;
    Handle stream;
    Attribute *attributes;
    uint32_t count;
} Launch;

typedef struct {
    size_t x, y;
    uint32_t kind;
    void *host;
    Pointer device;
    Handle array;
    size_t pitch;
} Side;

typedef struct {
    Side from, to;
    size_t width, height;
} Rows;

Result cuInit(unsigned);
Result cuDriverGetVersion(int *);
Result cuGetErrorName(Result, const char **);
Result cuGetErrorString(Result, const char **);
Result cuDeviceGet(int *, int);
Result cuDeviceGetCount(int *);
Result cuDeviceGetName(char *, int, int);
Result cuDeviceGetAttribute(int *, int, int);
Result cuDevicePrimaryCtxRetain(Handle *, int);
Result cuDevicePrimaryCtxRelease_v2(int);
Result cuCtxCreate_v2(Handle *, unsigned, int);
Result cuCtxDestroy_v2(Handle);
Result cuCtxPushCurrent_v2(Handle);
Result cuCtxPopCurrent_v2(Handle *);
Result cuCtxSetCurrent(Handle);
Result cuCtxGetCurrent(Handle *);
Result cuCtxSynchronize(void);
Result cuMemAlloc_v2(Pointer *, size_t);
Result cuMemAllocAsync(Pointer *, size_t, Handle);
Result cuMemAllocManaged(Pointer *, size_t, unsigned);
Result cuMemAllocHost_v2(void **, size_t);
Result cuMemFree_v2(Pointer);
Result cuMemFreeAsync(Pointer, Handle);
Result cuMemFreeHost(void *);
Result cuMemHostRegister_v2(void *, size_t, unsigned);
Result cuMemHostUnregister(void *);
Result cuMemGetInfo_v2(size_t *, size_t *);
Result cuMemGetAddressRange_v2(Pointer *, size_t *, Pointer);
Result cuPointerGetAttribute(void *, int, Pointer);
Result cuMemcpyHtoD_v2(Pointer, const void *, size_t);
Result cuMemcpyDtoH_v2(void *, Pointer, size_t);
Result cuMemcpyDtoD_v2(Pointer, Pointer, size_t);
Result cuMemcpy(Pointer, Pointer, size_t);
Result cuMemcpy2D_v2(const Rows *);
Result cuMemsetD8_v2(Pointer, unsigned char, size_t);
Result cuMemsetD16_v2(Pointer, unsigned short, size_t);
Result cuMemsetD32_v2(Pointer, unsigned, size_t);
Result cuModuleLoad(Handle *, const char *);
Result cuModuleLoadData(Handle *, const void *);
Result cuModuleLoadDataEx(Handle *, const void *, unsigned, int *, void **);
Result cuModuleUnload(Handle);
Result cuModuleGetFunction(Handle *, Handle, const char *);
Result cuModuleGetGlobal_v2(Pointer *, size_t *, Handle, const char *);
Result cuLibraryLoadData(Handle *, const void *, int *, void **, unsigned, int *, void **, unsigned);
Result cuLibraryGetKernel(Handle *, Handle, const char *);
Result cuKernelGetFunction(Handle *, Handle);
Result cuLinkCreate_v2(unsigned, int *, void **, Handle *);
Result cuLinkAddData_v2(Handle, int, void *, size_t, const char *, unsigned, int *, void **);
Result cuLinkAddFile_v2(Handle, int, const char *, unsigned, int *, void **);
Result cuLinkComplete(Handle, void **, size_t *);
Result cuLinkDestroy(Handle);
Result cuFuncGetAttribute(int *, int, Handle);
Result cuFuncSetAttribute(Handle, int, int);
Result cuFuncGetName(const char **, Handle);
Result cuFuncGetParamInfo(Handle, size_t, size_t *, size_t *);
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *, Handle, int, size_t);
Result cuOccupancyMaxPotentialBlockSize(int *, int *, Handle, size_t (*)(int), size_t, int);
Result cuLaunchKernel(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void **, void **);
Result cuLaunchCooperativeKernel(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void **);
Result cuLaunchKernelEx(const Launch *, Handle, void **, void **);
Result cuLaunchHostFunc(Handle, HostFunction, void *);
Result cuStreamCreate(Handle *, unsigned);
Result cuStreamDestroy_v2(Handle);
Result cuStreamSynchronize(Handle);
Result cuStreamWaitEvent(Handle, Handle, unsigned);
Result cuEventCreate(Handle *, unsigned);
Result cuEventRecord(Handle, Handle);
Result cuEventSynchronize(Handle);
Result cuEventElapsedTime(float *, Handle, Handle);
Result cuMemsetD32Async(Pointer, unsigned, size_t, Handle);
Result cuMemcpyDtoHAsync_v2(void *, Pointer, size_t, Handle);
Result cuStreamBeginCapture_v2(Handle, int);
Result cuStreamEndCapture(Handle, Handle *);
Result cuStreamIsCapturing(Handle, int *);
Result cuGraphInstantiateWithFlags(Handle *, Handle, unsigned long long);
Result cuGraphLaunch(Handle, Handle);
Result cuGraphExecDestroy(Handle);
Result cuGraphDestroy(Handle);
Result cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);
Result cuGetProcAddress(const char *, void **, int, uint64_t);
Result cuTexRefCreate(Handle *);

#endif
