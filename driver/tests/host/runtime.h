/* The part of the CUDA runtime API that the scenarios use, as the manual describes it, and what nvcc makes code call. A test reads
 * the names behind `Result`, to make libraries that the program is linked to. */
#ifndef RUNTIME_H
#define RUNTIME_H

#include <stddef.h>
#include <stdint.h>

typedef int Result;
typedef void *Handle;
typedef void (*HostFunction)(void *);

typedef struct {
    unsigned x, y, z;
} Dimensions;

typedef struct {
    Dimensions grid, block;
    size_t shared;
    Handle stream;
    void *attributes;
    unsigned count;
} LaunchConfiguration;

typedef struct {
    uint32_t id, unused;
    uint32_t value[16];
} Attribute;

typedef struct {
    void *address;
    size_t pitch, width, height;
} Pitched;

typedef struct {
    size_t width, height, depth;
} Extent;

typedef struct {
    void *from_array;
    size_t from_at[3];
    Pitched from;
    void *to_array;
    size_t to_at[3];
    Pitched to;
    Extent extent;
    int kind;
} PlanesCopy;

typedef struct {
    int kind, device;
    void *on_device, *on_host;
} PointerAttributes;

typedef struct {
    int bits[4], kind;
} Format;

typedef struct {
    const void *function;
    Dimensions grid, block;
    unsigned shared;
    void **arguments, **extra;
} KernelNode;

typedef struct {
    int kind, reserved[3];
    union {
        KernelNode kernel;
        long long bytes[29];
    };
    long long behind;
} GraphNode;

typedef struct {
    void *to;
    size_t pitch;
    unsigned value, size;
    size_t width, height;
} SetNode;

typedef struct {
    HostFunction function;
    void *data;
} HostNode;

enum { HOST_TO_HOST, IN, OUT, WITHIN, DEFAULT };

void **__cudaRegisterFatBinary(const void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, size_t, int, int);
char __cudaInitModule(void **);
unsigned __cudaPushCallConfiguration(Dimensions, Dimensions, size_t, Handle);
Result __cudaPopCallConfiguration(Dimensions *, Dimensions *, size_t *, Handle *);
Result __cudaGetKernel(Handle *, const void *);
Result __cudaLaunchKernel(Handle, Dimensions, Dimensions, void **, size_t, Handle);
Result cudaLaunchKernel(const void *, Dimensions, Dimensions, void **, size_t, Handle);
Result cudaLaunchKernel_ptsz(const void *, Dimensions, Dimensions, void **, size_t, Handle);
Result cudaLaunchCooperativeKernel(const void *, Dimensions, Dimensions, void **, size_t, Handle);
Result cudaLaunchKernelExC(const LaunchConfiguration *, const void *, void **);
Result cudaLaunchHostFunc(Handle, HostFunction, void *);
Result cudaFuncGetAttributes(void *, const void *);
Result cudaFuncSetAttribute(const void *, int, int);
Result cudaGetFuncBySymbol(Handle *, const void *);
Result cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *, const void *, int, size_t);
Result cudaGetLastError(void);
Result cudaPeekAtLastError(void);
const char *cudaGetErrorName(int);
const char *cudaGetErrorString(int);
Result cudaRuntimeGetVersion(int *);
Result cudaGetDeviceProperties(void *, int);
Result cudaSetDevice(int);
Result cudaDeviceSynchronize(void);
Result cudaDeviceReset(void);
Result cudaMalloc(void *, size_t);
Result cudaMallocManaged(void *, size_t, unsigned);
Result cudaMallocHost(void *, size_t);
Result cudaMallocAsync(void *, size_t, Handle);
Result cudaMallocPitch(void *, size_t *, size_t, size_t);
Result cudaMalloc3D(Pitched *, Extent);
Result cudaMallocArray(Handle *, const Format *, size_t, size_t, unsigned);
Result cudaFree(void *);
Result cudaFreeAsync(void *, Handle);
Result cudaFreeHost(void *);
Result cudaMemPrefetchAsync(const void *, size_t, uint64_t, uint64_t, Handle);
Result cudaMemcpy(void *, const void *, size_t, int);
Result cudaMemcpyAsync(void *, const void *, size_t, int, Handle);
Result cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int);
Result cudaMemcpy2DAsync(void *, size_t, const void *, size_t, size_t, size_t, int, Handle);
Result cudaMemcpy3D(const PlanesCopy *);
Result cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
Result cudaMemcpyFromSymbol(void *, const void *, size_t, size_t, int);
Result cudaGetSymbolAddress(void *, const void *);
Result cudaGetSymbolSize(size_t *, const void *);
Result cudaMemset(void *, int, size_t);
Result cudaMemset3D(Pitched, int, Extent);
Result cudaMemsetAsync(void *, int, size_t, Handle);
Result cudaPointerGetAttributes(PointerAttributes *, const void *);
Result cudaStreamCreate(Handle *);
Result cudaStreamSetAttribute(Handle, unsigned, const void *);
Result cudaStreamGetAttribute(Handle, unsigned, void *);
Result cudaStreamSynchronize(Handle);
Result cudaStreamBeginCapture(Handle, int);
Result cudaStreamEndCapture(Handle, Handle *);
Result cudaGraphInstantiate(Handle *, Handle, unsigned long long);
Result cudaGraphCreate(Handle *, unsigned);
Result cudaGraphClone(Handle *, Handle);
Result cudaGraphGetNodes(Handle, Handle *, size_t *);
Result cudaGraphAddKernelNode(Handle *, Handle, const Handle *, size_t, const KernelNode *);
Result cudaGraphAddNode(Handle *, Handle, const Handle *, const void *, size_t, const GraphNode *);
Result cudaGraphExecNodeSetParams(Handle, Handle, const GraphNode *);
Result cudaGraphKernelNodeSetParams(Handle, const KernelNode *);
Result cudaGraphAddMemcpyNode1D(Handle *, Handle, const Handle *, size_t, void *, const void *, size_t, int);
Result cudaGraphAddMemcpyNodeToSymbol(Handle *, Handle, const Handle *, size_t, const void *, const void *, size_t, size_t, int);
Result cudaGraphAddMemsetNode(Handle *, Handle, const Handle *, size_t, const SetNode *);
Result cudaGraphAddHostNode(Handle *, Handle, const Handle *, size_t, const HostNode *);
Result cudaGraphAddDependencies(Handle, const Handle *, const Handle *, const void *, size_t);
Result cudaGraphExecKernelNodeSetParams(Handle, Handle, const KernelNode *);
Result cudaGraphExecUpdate(Handle, Handle, void *);
Result cudaGraphLaunch(Handle, Handle);
Result cudaEventCreate(Handle *);
Result cudaEventRecord(Handle, Handle);
Result cudaEventElapsedTime(float *, Handle, Handle);
Format cudaCreateChannelDesc(int, int, int, int, int);

#endif
