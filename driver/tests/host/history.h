/* Scenarios about what kernels might have stored before, where nobody has told the device of it. Included by scenarios.c. */

static const char *const STORES =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .global .align 4 .u32 count = 3;\n"
    ".visible .entry counts()\n{ .reg .b32 %r<2>; mov.u32 %r1, 64; st.global.u32 [count], %r1; ret; }\n"
    ".visible .entry keeps(.param .u64 p, .param .u64 q)\n"
    "{ .reg .b64 %rd<3>; ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; st.global.u64 [%rd1], %rd2; ret; }\n"
    ".visible .entry follows(.param .u64 p)\n"
    "{ .reg .b64 %rd<3>; .reg .b32 %r<2>; ld.param.u64 %rd1, [p]; ld.global.u64 %rd2, [%rd1]; mov.u32 %r1, 64; st.global.u32 [%rd2], %r1; ret; }\n"
    ".visible .entry reads(.param .u64 p)\n{ ret; }\n";

static void load_stores(void) {
    start();
    OK(cuModuleLoadData(&module, STORES));
}

/* A variable that a kernel has counted in before the host asks for it. */
static void counted(void) {
    Pointer variable, copy;
    size_t size;
    uint32_t count;
    load_stores();
    OK(launch(kernel("counts"), 1, 1, 0));
    OK(cuModuleGetGlobal_v2(&variable, &size, module, "count"));
    copy = allocate(4);
    OK(cuMemcpyDtoD_v2(copy, variable, 4));
    OK(launch(kernel("reads"), 2, 1, (void *[]){&copy}));
    OK(cuMemcpyDtoH_v2(&count, variable, 4));
    OK(launch(kernel("reads"), count, 1, (void *[]){&copy}));
    GIVES(INVALID_VALUE, launch(kernel("reads"), 0, 1, (void *[]){&copy}));
}

/* A kernel that finds, in memory, where another one was to store. */
static void followed(void) {
    uint32_t found;
    load_stores();
    Pointer p = allocate(8), q = allocate(4);
    OK(launch(kernel("keeps"), 1, 1, (void *[]){&p, &q}));
    OK(cuMemsetD32_v2(q, 0, 1));
    OK(launch(kernel("follows"), 2, 1, (void *[]){&p}));
    OK(cuMemcpyDtoH_v2(&found, q, 4));
    GIVES(INVALID_VALUE, launch(kernel("reads"), found, 1, (void *[]){&p}));
}

/* Memory that was never given to a kernel is what the host put there. */
static void untouched(void) {
    uint32_t found;
    load_stores();
    Pointer p = allocate(8), q = allocate(4);
    OK(cuMemsetD32_v2(q, 0, 1));
    OK(launch(kernel("reads"), 1, 1, (void *[]){&p}));
    OK(cuMemcpyDtoH_v2(&found, q, 4));
    GIVES(INVALID_VALUE, launch(kernel("reads"), found, 1, (void *[]){&p}));
}

/* Memory of the host that is made known a second time. */
static void registered_again(void) {
    static uint32_t own[1024] __attribute__((aligned(4096)));
    Pointer p = (Pointer)(uintptr_t)own, half = p + 2048;
    load_stores();
    OK(cuMemHostRegister_v2(own, sizeof own, 0));
    OK(launch(kernel("reads"), 1, 1, (void *[]){&p}));
    OK(cuMemHostUnregister(own));
    OK(cuMemHostRegister_v2((char *)own + 2048, 2048, 0));
    OK(launch(kernel("reads"), 2, 1, (void *[]){&half}));
}

/* Memory of the host that no launch had, when a function of the host is still to write there. */
static void registered_by_library(void) {
    static uint32_t own[1024] __attribute__((aligned(4096)));
    Pointer p = (Pointer)(uintptr_t)own, through;
    load_stores();
    through = allocate(8);
    OK(cuMemHostRegister_v2(own, sizeof own, 0));
    OK(cuMemHostUnregister(own));
    /* Kernels that were launched in between might have had its address from elsewhere. */
    OK(launch(kernel("follows"), 1, 1, (void *[]){&through}));
    OK(cuMemHostRegister_v2(own, sizeof own, 0));
    OK(launch(kernel("follows"), 2, 1, (void *[]){&through}));
    OK(cuMemHostUnregister(own));
    OK(cuMemHostRegister_v2(own, sizeof own, 0));
    OK(launch(kernel("reads"), 3, 1, (void *[]){&p}));
}

/* A cluster that the kernel's attributes state, and one that the device is to prefer. */
static void stated_clusters(void) {
    load_stores();
    Attribute both[] = {{4, 0, {1, 1, 1}}, {11, 0, {2, 1, 1}}};
    Launch how = {{4, 1, 1}, {1, 1, 1}, 0, 0, both, 2};
    Handle counts = kernel("counts");
    GIVES(NOT_SUPPORTED, cuLaunchKernelEx(&how, counts, 0, 0));
    OK(cuFuncSetAttribute(counts, 11, 2));
    OK(launch(counts, 4, 1, 0));
    GIVES(INVALID_CLUSTER_SIZE, launch(counts, 5, 1, 0));
    how.count = 1;
    OK(cuLaunchKernelEx(&how, counts, 0, 0));
}

/* The default stream of a thread can be captured, that of all threads cannot. */
static void default_streams(void) {
    Handle graph, executable;
    load_stores();
    GIVES(900, cuStreamBeginCapture_v2(0, 0));
    GIVES(900, cuStreamBeginCapture_v2((Handle)1, 0));
    OK(cuStreamBeginCapture_v2((Handle)2, 0));
    OK(cuLaunchKernel(kernel("counts"), 7, 1, 1, 1, 1, 1, 0, (Handle)2, 0, 0));
    OK(cuStreamEndCapture((Handle)2, &graph));
    OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
    OK(cuGraphLaunch(executable, 0));
}

/* What is in memory whose access is taken away for a while, nobody here knows. */
static void access_again(void) {
    const Properties properties = {1, 0, 1, 0, 0, 0};
    const Access all = {1, 0, 3}, none = {1, 0, 0};
    unsigned long long handle;
    size_t unit;
    uint32_t found;
    Pointer p;
    load_stores();
    OK(cuMemGetAllocationGranularity(&unit, &properties, 0));
    OK(cuMemAddressReserve(&p, unit, 0, 0, 0));
    OK(cuMemCreate(&handle, unit, &properties, 0));
    OK(cuMemMap(p, unit, 0, handle, 0));
    OK(cuMemSetAccess(p, unit, &all, 1));
    OK(cuMemsetD32_v2(p, 64, 1));
    OK(cuMemSetAccess(p, unit, &none, 1));
    OK(cuMemSetAccess(p, unit, &all, 1));
    OK(cuMemcpyDtoH_v2(&found, p, 4));
    OK(launch(kernel("reads"), 3, 1, (void *[]){&p}));
}

/* Addresses of the host, which differ each time, as an argument and in a structure. */
static void hosts_addresses(void) {
    int own;
    struct { Pointer first; void *second; uint64_t third; } whole = {0, &own, 1};
    void *address = &own;
    load_stores();
    OK(launch(kernel("reads"), 1, 1, (void *[]){&address}));
    OK(cuModuleLoadData(&module, PTX));
    OK(launch(kernel("whole"), 2, 1, (void *[]){&whole}));
}
