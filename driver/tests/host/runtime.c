/* Host programs for the runtime library, in the shape of what nvcc makes of CUDA C++: the first argument names one. A call that
 * answers otherwise than expected ends the program with its line; what they launch is compared by the test that starts them. */
#include "runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INVALID_VALUE 1
#define INVALID_CONFIGURATION 9
#define INVALID_PITCH 12
#define INVALID_SYMBOL 13
#define INVALID_DIRECTION 21
#define MISSING_CONFIGURATION 52
#define INVALID_FUNCTION 98
#define INVALID_DEVICE 101
#define NOT_SUPPORTED 801

static void expect(long is, long expected, int line, const char *text) {
    if (is != expected) {
        fprintf(stderr, "line %d: %s is %ld, not %ld\n", line, text, is, expected);
        exit(1);
    }
}
#define GIVES(expected, call) expect((call), (expected), __LINE__, #call)
#define OK(call) GIVES(0, call)
#define HOLDS(condition) expect(!!(condition), 1, __LINE__, #condition)

static const char PTX[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .const .align 4 .b8 table[16];\n"
    ".visible .global .attribute(.managed) .align 4 .u32 count = 5;\n"
    ".visible .entry scale(.param .u64 to, .param .f32 factor, .param .u32 n)\n{ ret; }\n"
    ".visible .entry none() .maxntid 128\n{ .shared .b8 own[1024]; ret; }\n";
static const char OTHER[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .global .align 4 .u32 word;\n"
    ".visible .entry other(.param .u32 n)\n{ ret; }\n";

/* The functions and variables of the host that stand for those of the device. */
static void scale(void) {}
static void none(void) {}
static void other(void) {}
static char table[16], word[4];
static void *count;

typedef struct {
    uint32_t magic, version;
    const void *data, *linked;
} Wrapper;

static void put(unsigned char *at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) at[i] = (unsigned char)(value >> (8 * i));
}

/* A fat binary with one entry: PTX (1), or machine code (2). */
static const void *container(int kind, const char *text) {
    size_t size = (strlen(text) + 7) / 8 * 8;
    unsigned char *bytes = calloc(1, 96 + size + 8);
    HOLDS(bytes != 0);
    put(bytes, 0xba55ed50, 4);
    put(bytes + 4, 1, 2);
    put(bytes + 6, 16, 2);
    put(bytes + 8, 80 + size, 8);
    put(bytes + 16, kind, 2);
    put(bytes + 20, 80, 4);
    put(bytes + 24, size, 8);
    put(bytes + 44, 80, 4);
    memcpy(bytes + 96, text, strlen(text));
    return bytes;
}

static Wrapper wrapper = {0x466243b1, 1, 0, 0};
static void **binary;

static void unregister(void) { __cudaUnregisterFatBinary(binary); }

static void register_function(void (*function)(void), const char *name) {
    __cudaRegisterFunction(binary, (const char *)function, (char *)name, name, -1, 0, 0, 0, 0, 0);
}

__attribute__((constructor)) static void register_all(void) {
    wrapper.data = container(1, PTX);
    binary = __cudaRegisterFatBinary(&wrapper);
    register_function(scale, "scale");
    register_function(none, "none");
    __cudaRegisterVar(binary, table, "table", "table", 0, 16, 1, 0);
    __cudaRegisterFatBinaryEnd(binary);
    atexit(unregister);
}

static Dimensions line(unsigned x) { return (Dimensions){x, 1, 1}; }

/* `scale<<<grid, block, shared, stream>>>(to, factor, n)`, as nvcc up to CUDA 12 compiles it. */
static Result call_scale(void *to, float factor, int n) {
    Dimensions grid, block;
    size_t shared;
    Handle stream;
    void *arguments[] = {&to, &factor, &n};
    Result result = __cudaPopCallConfiguration(&grid, &block, &shared, &stream);
    return result ? result : cudaLaunchKernel((const void *)scale, grid, block, arguments, shared, stream);
}

/* The same as from CUDA 13 on. */
static Result call_none(void) {
    static Handle kernel;
    Dimensions grid, block;
    size_t shared;
    Handle stream;
    void *arguments[1];
    Result result = __cudaGetKernel(&kernel, (const void *)none);
    if (result == 0) result = __cudaPopCallConfiguration(&grid, &block, &shared, &stream);
    return result ? result : __cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

static void launches(void) {
    float values[4] = {1, 2, 3, 4};
    char *to;
    OK(cudaMalloc(&to, 16));
    OK(cudaMemcpy(to, values, 16, IN));
    OK(__cudaPushCallConfiguration(line(2), line(64), 16, 0));
    OK(call_scale(to + 4, 2, 3));
    OK(__cudaPushCallConfiguration(line(3), line(32), 0, 0));
    OK(call_none());
    /* A function of the host stands for its kernel wherever one is asked for, and so does the kernel. */
    Handle kernel;
    Attribute cluster = {4, 0, {2, 1, 1}};
    LaunchConfiguration how = {line(4), line(32), 0, 0, &cluster, 1};
    OK(cudaGetFuncBySymbol(&kernel, (const void *)none));
    OK(cudaLaunchKernelExC(&how, kernel, 0));
    OK(cudaLaunchCooperativeKernel((const void *)none, line(5), line(32), 0, 0, 0));
    OK(cudaLaunchKernel_ptsz((const void *)none, line(6), line(32), 0, 0, 0));
    OK(cudaDeviceSynchronize());
    OK(cudaGetLastError());
}

static void refused(void) {
    char *p, *q;
    void *arguments[] = {&p, &p, &p};
    OK(cudaMalloc(&p, 16));
    OK(cudaMalloc(&q, 0));
    HOLDS(q == 0);
    OK(cudaFree(0));
    GIVES(INVALID_CONFIGURATION, cudaLaunchKernel((const void *)none, line(1), line(2048), 0, 0, 0));
    GIVES(INVALID_CONFIGURATION, cudaPeekAtLastError());
    OK(cudaMemset(p, 0, 16));
    GIVES(INVALID_CONFIGURATION, cudaGetLastError());
    OK(cudaGetLastError());
    GIVES(INVALID_CONFIGURATION, cudaLaunchKernel((const void *)scale, line(0), line(32), arguments, 0, 0));
    GIVES(INVALID_VALUE, cudaLaunchKernel((const void *)none, line(1), line(256), 0, 0, 0));
    GIVES(INVALID_FUNCTION, cudaLaunchKernel((const void *)other, line(1), line(32), 0, 0, 0));
    GIVES(MISSING_CONFIGURATION, call_scale(p, 1, 1));
    GIVES(INVALID_VALUE, cudaMemcpy(p, PTX, 17, IN));
    GIVES(INVALID_VALUE, cudaMemcpy(table, PTX, 1, IN));
    GIVES(INVALID_DIRECTION, cudaMemcpy(p, PTX, 1, 5));
    GIVES(INVALID_PITCH, cudaMemcpy2D(p, 3, PTX, 4, 4, 2, IN));
    GIVES(INVALID_SYMBOL, cudaMemcpyToSymbol(word, PTX, 4, 0, IN));
    GIVES(INVALID_VALUE, cudaMemcpyToSymbol(table, PTX, 8, 9, IN));
    GIVES(INVALID_DIRECTION, cudaMemcpyToSymbol(table, PTX, 8, 0, OUT));
    GIVES(INVALID_DEVICE, cudaSetDevice(1));
    OK(cudaFree(p));
    GIVES(INVALID_VALUE, cudaFree(p));
    HOLDS(strcmp(cudaGetErrorName(9), "cudaErrorInvalidConfiguration") == 0);
    HOLDS(strcmp(cudaGetErrorString(9), "invalid configuration argument") == 0);
    HOLDS(strcmp(cudaGetErrorName(12345), "unrecognized error code") == 0);
}

static void *last_of_thread(void *unused) {
    OK(cudaGetLastError());
    GIVES(INVALID_DEVICE, cudaSetDevice(7));
    GIVES(INVALID_DEVICE, cudaPeekAtLastError());
    return unused;
}

static void last_errors(void) {
    pthread_t thread;
    GIVES(INVALID_VALUE, cudaFree(table));
    HOLDS(pthread_create(&thread, 0, last_of_thread, 0) == 0);
    pthread_join(thread, 0);
    GIVES(INVALID_VALUE, cudaGetLastError());
}

static void symbols(void) {
    int values[4] = {1, 2, 3, 4}, back = 0;
    char *at;
    size_t size;
    /* Before the first use of its module, as always. */
    __cudaRegisterManagedVar(binary, &count, "count", "count", 0, 4, 0, 0);
    OK(cudaMemcpyToSymbol(table, values, 12, 4, IN));
    OK(cudaMemcpyFromSymbol(&back, table, 4, 8, OUT));
    HOLDS(back == 2);
    OK(cudaGetSymbolAddress(&at, table));
    OK(cudaGetSymbolSize(&size, table));
    HOLDS(size == 16);
    OK(cudaMemcpy(at, values + 3, 4, DEFAULT));
    /* A managed variable is the host's too. */
    HOLDS(__cudaInitModule(binary));
    HOLDS(*(int *)count == 5);
    *(int *)count = 6;
    OK(cudaGetSymbolSize(&size, count));
    HOLDS(size == 4);
    OK(__cudaPushCallConfiguration(line(1), line(32), 0, 0));
    OK(call_none());
}

/* What `-rdc=true` makes: machine code of all, and the PTX of each translation unit. */
static void linked(void) {
    const void *list[] = {container(1, OTHER), container(1, PTX), 0};
    static Wrapper all = {0x466243b1, 2, 0, 0};
    int n = 7;
    all.data = container(2, "\177ELF");
    all.linked = list;
    unregister();
    binary = __cudaRegisterFatBinary(&all);
    register_function(other, "other");
    register_function(none, "none");
    register_function(scale, "absent");
    __cudaRegisterVar(binary, word, "word", "word", 0, 4, 0, 0);
    OK(cudaLaunchKernel((const void *)other, line(1), line(32), (void *[]){&n}, 0, 0));
    OK(cudaLaunchKernel((const void *)none, line(2), line(32), 0, 0, 0));
    OK(cudaMemcpyToSymbol(word, &n, 4, 0, IN));
    GIVES(INVALID_FUNCTION, cudaLaunchKernel((const void *)scale, line(3), line(32), 0, 0, 0));
}

/* Texts that cannot be linked: their kernels are found in their own. */
static void not_linked(void) {
    const char *twice = ".version 8.0\n.target sm_80\n.visible .global .align 4 .u32 word;\n.visible .entry again()\n{ ret; }\n";
    const void *list[] = {container(1, OTHER), container(1, twice), 0};
    static Wrapper all = {0x466243b1, 2, 0, 0};
    all.data = container(2, "\177ELF");
    all.linked = list;
    unregister();
    binary = __cudaRegisterFatBinary(&all);
    register_function(none, "again");
    OK(cudaLaunchKernel((const void *)none, line(1), line(32), 0, 0, 0));
}

/* Nothing is known of the kernels of machine code; they are launched all the same. */
static void machine_code(void) {
    unregister();
    wrapper.data = container(2, "\177ELF");
    binary = __cudaRegisterFatBinary(&wrapper);
    register_function(none, "none");
    __cudaRegisterVar(binary, word, "word", "word", 0, 4, 0, 0);
    OK(cudaLaunchKernel((const void *)none, line(1), line(32), 0, 0, 0));
    GIVES(INVALID_SYMBOL, cudaMemcpyToSymbol(word, PTX, 4, 0, IN));
}

static void unused(void) { HOLDS(cudaGetErrorString(0) != 0); }

static void memory(void) {
    char bytes[64], back[64] = {0}, *rows, *pinned, *managed;
    size_t pitch;
    Pitched planes;
    PointerAttributes of;
    for (int i = 0; i < 64; i++) bytes[i] = (char)i;
    /* Two rows of 3 bytes out of rows of 5, and back. */
    OK(cudaMallocPitch(&rows, &pitch, 3, 2));
    HOLDS(pitch == 512);
    OK(cudaMemcpy2D(rows, pitch, bytes, 5, 3, 2, IN));
    OK(cudaMemcpy2D(back, 4, rows, pitch, 3, 2, OUT));
    HOLDS(memcmp(back, "\0\1\2\0\5\6\7\0", 8) == 0);
    /* The second of two planes of two rows. */
    OK(cudaMalloc3D(&planes, (Extent){4, 2, 2}));
    HOLDS(planes.pitch == 512 && planes.width == 4 && planes.height == 2);
    OK(cudaMemset3D(planes, 9, (Extent){4, 2, 2}));
    PlanesCopy copy = {0, {0, 0, 0}, {bytes, 4, 4, 2}, 0, {0, 0, 1}, planes, {4, 2, 1}, IN};
    OK(cudaMemcpy3D(&copy));
    OK(cudaMemcpy(back, (char *)planes.address + 512, 4, DEFAULT));
    HOLDS(memcmp(back, "\11\11\11\11", 4) == 0);
    OK(cudaMemcpy(back, (char *)planes.address + 3 * 512, 4, DEFAULT));
    HOLDS(memcmp(back, "\4\5\6\7", 4) == 0);
    /* Pinned memory is the host's and the device's. */
    OK(cudaMallocHost(&pinned, 16));
    memcpy(pinned, bytes, 16);
    OK(cudaMallocManaged(&managed, 16, 1));
    OK(cudaMemcpy(managed, pinned, 16, IN));
    OK(cudaMemcpy(pinned, managed + 8, 8, OUT));
    HOLDS(pinned[0] == 8);
    OK(cudaPointerGetAttributes(&of, pinned + 1));
    HOLDS(of.kind == 1 && of.device == 0 && of.on_device == pinned + 1 && of.on_host == pinned + 1);
    OK(cudaPointerGetAttributes(&of, rows));
    HOLDS(of.kind == 2 && of.on_device == rows && of.on_host == 0);
    OK(cudaPointerGetAttributes(&of, managed));
    HOLDS(of.kind == 3);
    OK(cudaPointerGetAttributes(&of, bytes));
    HOLDS(of.kind == 0 && of.device == -2 && of.on_host == bytes);
    OK(cudaFreeHost(pinned));
    OK(cudaFreeHost(0));
    Format format = cudaCreateChannelDesc(8, 16, 32, 0, 2);
    HOLDS(format.bits[1] == 16 && format.bits[2] == 32 && format.kind == 2);
    Handle array;
    GIVES(NOT_SUPPORTED, cudaMallocArray(&array, &format, 4, 4, 0));
}

static void called(void *count) { ++*(int *)count; }

/* A graph that gets other arguments, and one that is another graph. */
static void updates(void) {
    uint64_t result[3];
    Handle stream, graph, executable;
    OK(cudaStreamCreate(&stream));
    for (unsigned n = 1; n <= 3; n++) {
        OK(cudaStreamBeginCapture(stream, 0));
        OK(cudaLaunchKernel((const void *)none, line(n), line(32), 0, 0, stream));
        if (n == 3) OK(cudaLaunchKernel((const void *)none, line(n), line(32), 0, 0, stream));
        OK(cudaStreamEndCapture(stream, &graph));
        if (n == 1) OK(cudaGraphInstantiate(&executable, graph, 0));
        GIVES(n == 3 ? 910 : 0, cudaGraphExecUpdate(executable, graph, result));
        HOLDS(*(uint32_t *)result == (n == 3 ? 2 : 0));
        OK(cudaGraphLaunch(executable, stream));
    }
}

/* A graph with copies of rows in it. */
static void graphs(void) {
    char bytes[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, *to;
    int calls = 0, n = 4;
    float factor = 1, milliseconds;
    Handle stream, graph, executable, start, end;
    OK(cudaStreamCreate(&stream));
    OK(cudaMallocAsync(&to, 8, stream));
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&end));
    OK(cudaEventRecord(start, stream));
    OK(cudaStreamBeginCapture(stream, 0));
    OK(cudaMemsetAsync(to, 7, 8, stream));
    OK(cudaMemcpy2DAsync(to, 4, bytes, 5, 2, 2, IN, stream));
    OK(cudaLaunchKernel((const void *)scale, line(1), line(32), (void *[]){&to, &factor, &n}, 0, stream));
    OK(cudaLaunchHostFunc(stream, called, &calls));
    OK(cudaStreamEndCapture(stream, &graph));
    HOLDS(calls == 0);
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaGraphLaunch(executable, stream));
    OK(cudaGraphLaunch(executable, stream));
    HOLDS(calls == 2);
    OK(cudaEventRecord(end, stream));
    OK(cudaEventElapsedTime(&milliseconds, start, end));
    HOLDS(milliseconds > 0);
    uint64_t attribute[5] = {[4] = 1};
    OK(cudaStreamSetAttribute(stream, 1, attribute));
    OK(cudaStreamGetAttribute(stream, 1, attribute));
    HOLDS(attribute[4] == 1);
    GIVES(INVALID_VALUE, cudaStreamSetAttribute(stream, 1, 0));
    OK(cudaFreeAsync(to, stream));
    OK(cudaStreamSynchronize(stream));
}

/* A graph that is made node by node: words set to 7, of which the second gets 1 copied, then a launch, then a call. */
static void nodes(void) {
    char *to;
    int calls = 0, one = 1, n = 2, values[4] = {1, 2, 3, 4};
    float factor = 1;
    size_t count = 8;
    Handle stream, graph, executable, copy, set, launch, call, constant, all[8];
    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc(&to, 8));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemcpyNode1D(&copy, graph, 0, 0, to + 4, &one, 4, IN));
    OK(cudaGraphAddMemsetNode(&set, graph, 0, 0, &(SetNode){to, 0, 7, 4, 2, 1}));
    /* Added in front of it afterwards. */
    OK(cudaGraphAddDependencies(graph, &set, &copy, 0, 1));
    KernelNode how = {(const void *)scale, line(1), line(32), 0, (void *[]){&to, &factor, &n}, 0};
    OK(cudaGraphAddKernelNode(&launch, graph, &copy, 1, &how));
    OK(cudaGraphAddHostNode(&call, graph, &launch, 1, &(HostNode){called, &calls}));
    OK(cudaGraphAddMemcpyNodeToSymbol(&constant, graph, &call, 1, table, values, 16, 0, IN));
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaGraphLaunch(executable, stream));
    HOLDS(calls == 1);
    how.grid = line(2);
    OK(cudaGraphExecKernelNodeSetParams(executable, launch, &how));
    OK(cudaGraphLaunch(executable, stream));
    HOLDS(calls == 2);
    how.block = line(4096);
    GIVES(INVALID_CONFIGURATION, cudaGraphExecKernelNodeSetParams(executable, launch, &how));
    OK(cudaGraphClone(&graph, graph));
    OK(cudaGraphGetNodes(graph, all, &count));
    HOLDS(count == 5 && all[0] == copy && all[4] == constant);
    GIVES(INVALID_VALUE, cudaGraphAddHostNode(&call, graph, &stream, 1, &(HostNode){called, &calls}));
    /* One of any kind, behind properties of its edges: with other work before and after it is in an executable graph. */
    how.block = line(32);
    GraphNode any = {0, {0}, {.kernel = how}, 0};
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemsetNode(&set, graph, 0, 0, &(SetNode){to, 0, 9, 4, 2, 1}));
    OK(cudaGraphAddNode(&launch, graph, &set, 0, 1, &any));
    how.grid = line(3);
    OK(cudaGraphKernelNodeSetParams(launch, &how));
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaGraphLaunch(executable, stream));
    any.kernel.grid = line(4);
    OK(cudaGraphExecNodeSetParams(executable, launch, &any));
    OK(cudaGraphLaunch(executable, stream));
}

static void resets(void) {
    void *p;
    int blocks;
    OK(cudaMalloc(&p, 16));
    OK(cudaDeviceReset());
    OK(cudaMalloc(&p, 16));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)none, 128, 0));
    HOLDS(blocks == 12);
    /* 99 KB of a block, of which the kernel has 1 KB itself. */
    OK(cudaFuncSetAttribute((const void *)none, 8, 98 << 10));
    GIVES(INVALID_VALUE, cudaFuncSetAttribute((const void *)none, 8, (98 << 10) + 1));
    OK(cudaLaunchKernel((const void *)none, line(1), line(32), 0, 98 << 10, 0));
}

/* What differs between the versions of the library: the second argument is the version that the program is linked to. */
static void versions(int major) {
    static const size_t SIZES[] = {728, 728, 1008}, ATTRIBUTES[] = {52, 76, 76}, CORES[] = {388, 388, 384};
    unsigned char bytes[2048];
    int version, at = major - 11, number;
    void *managed;
    OK(cudaRuntimeGetVersion(&version));
    HOLDS(version / 1000 == major);
    memset(bytes, 0xa5, sizeof bytes);
    OK(cudaGetDeviceProperties(bytes, 0));
    HOLDS(strcmp((char *)bytes, "weft recording device") == 0);
    memcpy(&number, bytes + CORES[at], 4);
    HOLDS(number == 84);
    /* The first byte behind the structure is as it was, and the last of it is not. */
    HOLDS(bytes[SIZES[at]] == 0xa5 && bytes[SIZES[at] - 1] != 0xa5);
    memset(bytes, 0xa5, sizeof bytes);
    OK(cudaFuncGetAttributes(bytes, (const void *)none));
    memcpy(&number, bytes + 24, 4);
    HOLDS(bytes[0] == 0 && bytes[1] == 4 && number == 128);
    HOLDS(bytes[ATTRIBUTES[at]] == 0xa5 && bytes[ATTRIBUTES[at] - 1] != 0xa5);
    /* From CUDA 13 on, the fourth parameter is a number of flags; before, the stream, of which there is no such. */
    OK(cudaMallocManaged(&managed, 16, 1));
    GIVES(major == 13 ? 0 : 400, cudaMemPrefetchAsync(managed, 16, 0, 0x7777, 0));
}

static const struct {
    const char *name;
    void (*body)(void);
} SCENARIOS[] = {
    {"launches", launches}, {"refused", refused}, {"last_errors", last_errors}, {"symbols", symbols}, {"linked", linked}, {"not_linked", not_linked},
    {"machine_code", machine_code}, {"unused", unused}, {"memory", memory}, {"graphs", graphs}, {"updates", updates}, {"nodes", nodes}, {"resets", resets},
};

int main(int count, char **arguments) {
    if (count == 3 && strcmp(arguments[1], "versions") == 0) {
        versions(atoi(arguments[2]));
        return 0;
    }
    for (size_t i = 0; count >= 2 && i < sizeof SCENARIOS / sizeof *SCENARIOS; i++) {
        if (strcmp(arguments[1], SCENARIOS[i].name) == 0) {
            SCENARIOS[i].body();
            return 0;
        }
    }
    fprintf(stderr, "there is no such scenario\n");
    return 2;
}
