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
