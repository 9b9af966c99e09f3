/* Scenarios about what ends with what: the memory and modules of contexts, and ranges of the host's memory. Included by scenarios.c. */

typedef struct {
    Handle function;
    unsigned grid[3], block[3], shared;
    void **arguments, **extra;
    Handle kernel, context;
} KernelNode;

Result cuDevicePrimaryCtxReset_v2(int);
Result cuGraphCreate(Handle *, unsigned);
Result cuGraphAddKernelNode_v2(Handle *, Handle, const Handle *, size_t, const KernelNode *);
Result cuGraphExecKernelNodeSetParams_v2(Handle, Handle, const KernelNode *);
Result cuGraphExecUpdate_v2(Handle, Handle, void *);

Result cuMemsetD2D8_v2(Pointer, size_t, unsigned char, size_t, size_t);
Result cuGraphAddNode(Handle *, Handle, const Handle *, size_t, const void *);
Result cuGraphAddNode_v2(Handle *, Handle, const Handle *, const void *, size_t, const void *);
Result cuGraphExecNodeSetParams(Handle, Handle, const void *);
Result cuGraphKernelNodeSetParams_v2(Handle, const KernelNode *);

typedef struct {
    int kind, reserved[3];
    union {
        KernelNode kernel;
        struct { Pointer to; size_t pitch; unsigned value, size; size_t width, height; } set;
        struct { int flags, reserved; Handle context; struct {
            struct { size_t x, y, z, level; unsigned kind; const void *host; Pointer device; Handle array, none; size_t pitch, height; } from, to;
            size_t width, height, depth;
        } copy; } copy;
        struct { HostFunction function; void *data; } host;
        Handle child;
        long long bytes[29];
    };
    long long behind;
} GraphNode;

static int done;

static void count_up(void *unused) {
    (void)unused;
    done++;
}

/* Nodes of all kinds by one function; one in a graph and one in an executable graph get other work. */
static void general_nodes(void) {
    Handle graph, whole, executable, set, copy, own, call, inner, empty;
    uint16_t half = 0x0203;
    start();
    Pointer p = allocate(8);
    GraphNode sets = {.kind = 2, .set = {p, 0, 7, 4, 2, 1}}, calls = {.kind = 3, .host = {count_up, 0}};
    GraphNode copies = {.kind = 1, .copy.copy = {{.kind = 1, .host = &half}, {.kind = 2, .device = p, .x = 6}, 2, 1, 1}};
    GraphNode launches = {.kind = 0, .kernel = {kernel("two"), {1, 1, 1}, {32, 1, 1}, 0, (void *[]){&p, &p}, 0, 0, 0}};
    GraphNode none = {.kind = 5}, unknown = {.kind = 12};
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddNode(&set, graph, 0, 0, &sets));
    OK(cuGraphAddNode(&empty, graph, &set, 1, &none));
    OK(cuGraphAddNode_v2(&copy, graph, &empty, 0, 1, &copies));
    OK(cuGraphAddNode_v2(&own, graph, &copy, 0, 1, &launches));
    OK(cuGraphAddNode(&call, graph, &own, 1, &calls));
    GIVES(NOT_SUPPORTED, cuGraphAddNode(&call, graph, 0, 0, &unknown));
    launches.kernel.grid[0] = 2;
    OK(cuGraphKernelNodeSetParams_v2(own, &launches.kernel));
    GIVES(INVALID_VALUE, cuGraphKernelNodeSetParams_v2(graph, &launches.kernel));
    OK(cuGraphCreate(&whole, 0));
    OK(cuGraphAddNode(&inner, whole, 0, 0, &(GraphNode){.kind = 4, .child = graph}));
    OK(cuGraphInstantiateWithFlags(&executable, whole, 0));
    OK(cuGraphLaunch(executable, 0));
    HOLDS(done == 1);
    OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
    launches.kernel.grid[0] = 3;
    OK(cuGraphExecNodeSetParams(executable, own, &launches));
    OK(cuGraphLaunch(executable, 0));
    HOLDS(done == 2);
}

/* Memory that a graph allocates is new at each of its launches. */
static void allocated_in_graph(void) {
    Handle stream, graph, executable;
    Pointer p;
    start();
    OK(cuStreamCreate(&stream, 1));
    OK(cuStreamBeginCapture_v2(stream, 0));
    OK(cuMemAllocAsync(&p, 8, stream));
    OK(cuLaunchKernel(kernel("two"), 1, 1, 1, 32, 1, 1, 0, stream, (void *[]){&p, &p}, 0));
    OK(cuMemsetD32Async(p, 7, 2, stream));
    OK(cuLaunchKernel(kernel("two"), 2, 1, 1, 32, 1, 1, 0, stream, (void *[]){&p, &p}, 0));
    OK(cuMemFreeAsync(p, stream));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
    OK(cuGraphLaunch(executable, stream));
    OK(cuGraphLaunch(executable, stream));
}

/* A context takes along what was made in it, and nothing else. */
static void ended(void) {
    Handle context, stale, other;
    void *pinned;
    static char own[64];
    start();
    Pointer stays = allocate(16), gone, pooled;
    OK(cuCtxCreate_v2(&context, 0, 0));
    gone = allocate(16);
    OK(cuMemAllocAsync(&pooled, 16, 0));
    OK(cuMemAllocHost_v2(&pinned, 16));
    OK(cuMemHostRegister_v2(own, 64, 0));
    OK(cuModuleLoadData(&other, PTX));
    OK(cuModuleGetFunction(&stale, other, "two"));
    OK(launch(stale, 1, 32, (void *[]){&gone, &pinned}));
    OK(cuCtxDestroy_v2(context));
    OK(launch(kernel("two"), 2, 32, (void *[]){&gone, &stays}));
    OK(launch(kernel("two"), 3, 32, (void *[]){&pooled, &stays}));
    OK(launch(kernel("two"), 4, 32, (void *[]){&pinned, &stays}));
    GIVES(INVALID_HANDLE, launch(stale, 9, 32, (void *[]){&stays, &stays}));
    GIVES(INVALID_VALUE, cuMemFree_v2(gone));
    /* It can be registered anew. */
    OK(cuMemHostRegister_v2(own, 64, 0));
    /* All of the device. */
    OK(cuDevicePrimaryCtxReset_v2(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuModuleLoadData(&module, PTX));
    OK(launch(kernel("two"), 5, 32, (void *[]){&stays, &pooled}));
    OK(cuMemHostRegister_v2(own, 64, 0));
}

/* Copies that go past the end of memory that the device knows too, or begin in front of it. */
static void parts(void) {
    static char room[256] __attribute__((aligned(256)));
    void *pinned, *freed;
    start();
    Pointer p = allocate(256);
    OK(cuMemAllocHost_v2(&pinned, 16));
    OK(cuMemAllocHost_v2(&freed, 256));
    OK(cuMemFreeHost(freed));
    OK(cuMemHostRegister_v2(room + 64, 64, 0));
    OK(cuMemcpyHtoD_v2(p, pinned, 16));
    OK(cuMemcpyHtoD_v2(p, room + 64, 64));
    OK(cuMemcpyHtoD_v2(p, room, 64));
    GIVES(INVALID_VALUE, cuMemcpyHtoD_v2(p, pinned, 17));
    GIVES(INVALID_VALUE, cuMemcpyHtoD_v2(p, freed, 16));
    GIVES(INVALID_VALUE, cuMemcpyDtoH_v2(pinned, p, 17));
    GIVES(INVALID_VALUE, cuMemcpyDtoH_v2(room, p, 65));
    GIVES(INVALID_VALUE, cuMemcpyHtoD_v2(p, room + 127, 2));
}

/* An executable graph that is updated by another one still has its nodes. */
static void updated(void) {
    Handle graph, other, node, second, executable;
    uint64_t result[3] = {9, 9, 9};
    start();
    Pointer p = allocate(16), q = allocate(16);
    KernelNode own = {0, {1, 1, 1}, {32, 1, 1}, 0, (void *[]){&p, &p}, 0, 0, 0};
    own.function = kernel("two");
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddKernelNode_v2(&node, graph, 0, 0, &own));
    OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
    OK(cuGraphLaunch(executable, 0));
    own.grid[0] = 2;
    own.arguments = (void *[]){&p, &q};
    OK(cuGraphCreate(&other, 0));
    OK(cuGraphAddKernelNode_v2(&second, other, 0, 0, &own));
    OK(cuGraphExecUpdate_v2(executable, other, result));
    HOLDS((uint32_t)result[0] == 0);
    OK(cuGraphLaunch(executable, 0));
    own.grid[0] = 3;
    OK(cuGraphExecKernelNodeSetParams_v2(executable, node, &own));
    OK(cuGraphLaunch(executable, 0));
    OK(cuGraphAddKernelNode_v2(&second, other, 0, 0, &own));
    GIVES(910, cuGraphExecUpdate_v2(executable, other, result));
    HOLDS((uint32_t)result[0] == 2);
}

/* Numbers of rows that no memory has, and rows of no bytes: each is answered at once. */
static void many_rows(void) {
    char bytes[16] = {0};
    start();
    Pointer p = allocate(64);
    Rows rows = {.from = {.kind = 1, .host = bytes, .pitch = 16}, .to = {.kind = 2, .device = p, .pitch = 16}, .width = 16, .height = 1ull << 40};
    GIVES(INVALID_VALUE, cuMemcpy2D_v2(&rows));
    rows.height = 5;
    GIVES(INVALID_VALUE, cuMemcpy2D_v2(&rows));
    rows.height = (size_t)-1;
    GIVES(INVALID_VALUE, cuMemcpy2D_v2(&rows));
    rows.width = 0;
    OK(cuMemcpy2D_v2(&rows));
    GIVES(INVALID_VALUE, cuMemsetD2D8_v2(p, 16, 1, 16, 1ull << 40));
    GIVES(INVALID_VALUE, cuMemsetD2D8_v2(p, 16, 1, 16, 5));
    OK(cuMemsetD2D8_v2(p, 16, 1, 0, 1ull << 40));
    OK(cuMemsetD2D8_v2(p, 16, 7, 2, 4));
    OK(launch(kernel("two"), 1, 32, (void *[]){&p, &p}));
}
