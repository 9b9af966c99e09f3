/* Scenarios about everything but launches: what the driver answers. Included by scenarios.c. */

static size_t shared_of(int block) { return (size_t)block * 8; }

static void queries(void) {
    int value, other;
    char name[8];
    const char *text;
    size_t free_bytes, total, offset, size;
    Pointer base;
    start();
    OK(cuDriverGetVersion(&value));
    HOLDS(value == 13000);
    OK(cuDeviceGetCount(&value));
    HOLDS(value == 1);
    OK(cuDeviceGet(&value, 0));
    HOLDS(value == 0);
    GIVES(101, cuDeviceGet(&value, 1));
    OK(cuDeviceGetName(name, sizeof name, 0));
    HOLDS(strlen(name) == 7);
    /* Compute capability and multiprocessors: those that the environment of the test names. */
    OK(cuDeviceGetAttribute(&value, 75, 0));
    OK(cuDeviceGetAttribute(&other, 76, 0));
    HOLDS(value == 8 && other == 6);
    OK(cuDeviceGetAttribute(&value, 16, 0));
    HOLDS(value == 84);
    OK(cuGetErrorName(700, &text));
    HOLDS(strcmp(text, "CUDA_ERROR_ILLEGAL_ADDRESS") == 0);
    OK(cuGetErrorString(1, &text));
    HOLDS(strcmp(text, "invalid argument") == 0);
    GIVES(INVALID_VALUE, cuGetErrorName(12345, &text));
    HOLDS(text == 0);

    OK(cuMemGetInfo_v2(&free_bytes, &total));
    HOLDS(free_bytes == total);
    Pointer p = allocate(1000);
    OK(cuMemGetInfo_v2(&free_bytes, &total));
    HOLDS(free_bytes == total - 1000);
    GIVES(2, cuMemAlloc_v2(&base, total));
    GIVES(INVALID_VALUE, cuMemAlloc_v2(&base, 0));
    OK(cuMemGetAddressRange_v2(&base, &size, p + 999));
    HOLDS(base == p && size == 1000);
    GIVES(NOT_FOUND, cuMemGetAddressRange_v2(&base, &size, p + 1000));
    OK(cuPointerGetAttribute(&value, 2, p));
    HOLDS(value == 2);
    GIVES(INVALID_VALUE, cuPointerGetAttribute(&value, 2, (Pointer)(uintptr_t)&value));

    OK(cuFuncGetName(&text, kernel("mixed")));
    HOLDS(strcmp(text, "mixed") == 0);
    OK(cuFuncGetParamInfo(kernel("mixed"), 2, &offset, &size));
    HOLDS(offset == 16 && size == 2);
    GIVES(INVALID_VALUE, cuFuncGetParamInfo(kernel("mixed"), 3, &offset, &size));
    /* sm_86: 1536 threads, 16 blocks and 100 KB of shared memory a multiprocessor. */
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, kernel("none"), 512, 0));
    HOLDS(value == 3);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, kernel("none"), 32, 0));
    HOLDS(value == 16);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, kernel("none"), 512, 40 << 10));
    HOLDS(value == 2);
    OK(cuOccupancyMaxPotentialBlockSize(&other, &value, kernel("none"), shared_of, 0, 0));
    /* 1536 threads are two blocks of 768, and 84 multiprocessors. */
    HOLDS(value == 768 && other == 168);
}

static int called;

static void host_function(void *data) {
    /* The driver can be called from here. */
    called = *(int *)data;
    cuDeviceGetCount(&called);
    called += *(int *)data;
}

static void streams(void) {
    Handle stream, first, second, untimed;
    float milliseconds = 0;
    int data = 41;
    Pointer p;
    start();
    OK(cuStreamCreate(&stream, 1));
    OK(cuEventCreate(&first, 0));
    OK(cuEventCreate(&second, 0));
    OK(cuEventCreate(&untimed, 2));
    GIVES(INVALID_HANDLE, cuEventElapsedTime(&milliseconds, first, second));
    OK(cuEventRecord(first, stream));
    OK(cuEventRecord(second, stream));
    OK(cuEventRecord(untimed, stream));
    OK(cuEventSynchronize(second));
    OK(cuEventElapsedTime(&milliseconds, first, second));
    HOLDS(milliseconds > 0);
    GIVES(INVALID_HANDLE, cuEventElapsedTime(&milliseconds, first, untimed));
    OK(cuStreamWaitEvent(stream, first, 0));
    OK(cuLaunchHostFunc(stream, host_function, &data));
    HOLDS(called == 42);
    OK(cuMemAllocAsync(&p, 64, stream));
    OK(cuLaunchKernel(kernel("two"), 1, 1, 1, 32, 1, 1, 0, stream, (void *[]){&p, &p}, 0));
    OK(cuMemFreeAsync(p, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuStreamDestroy_v2(stream));
    GIVES(INVALID_HANDLE, cuStreamDestroy_v2(stream));
    GIVES(INVALID_HANDLE, cuLaunchKernel(kernel("none"), 1, 1, 1, 32, 1, 1, 0, stream, 0, 0));
}

/* Nothing is done while a stream is captured; the graph does it at each launch, with the arguments of the capture. */
static void graphs(void) {
    Handle stream, second, event, graph, executable;
    int status = 0, data = 41;
    unsigned back[2] = {9, 9};
    start();
    OK(cuStreamCreate(&stream, 1));
    OK(cuStreamCreate(&second, 1));
    OK(cuEventCreate(&event, 2));
    Pointer p = allocate(8), q = allocate(8), argument = p;
    GIVES(900, cuStreamBeginCapture_v2(0, 0));
    GIVES(401, cuStreamEndCapture(stream, &graph));
    OK(cuStreamBeginCapture_v2(stream, 0));
    OK(cuStreamIsCapturing(stream, &status));
    HOLDS(status == 1);
    OK(cuMemsetD32Async(p, 7, 2, stream));
    OK(cuLaunchKernel(kernel("two"), 1, 1, 1, 32, 1, 1, 0, stream, (void *[]){&argument, &argument}, 0));
    argument = q;
    /* A second stream joins by an event. */
    OK(cuEventRecord(event, stream));
    OK(cuStreamWaitEvent(second, event, 0));
    OK(cuLaunchKernel(kernel("two"), 2, 1, 1, 32, 1, 1, 0, second, (void *[]){&argument, &argument}, 0));
    OK(cuLaunchHostFunc(second, host_function, &data));
    OK(cuMemcpyDtoHAsync_v2(back, p, 8, stream));
    GIVES(900, cuStreamSynchronize(stream));
    GIVES(903, cuStreamEndCapture(second, &graph));
    OK(cuStreamEndCapture(stream, &graph));
    HOLDS(called == 0 && back[0] == 9);
    OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
    OK(cuGraphDestroy(graph));
    OK(cuLaunchKernel(kernel("none"), 3, 1, 1, 32, 1, 1, 0, stream, 0, 0));
    OK(cuGraphLaunch(executable, stream));
    HOLDS(called == 42 && back[0] == 7 && back[1] == 7);
    OK(cuGraphLaunch(executable, stream));
    OK(cuGraphExecDestroy(executable));
    GIVES(INVALID_VALUE, cuGraphLaunch(executable, stream));
}

/* Memory that the host uses without calls. */
static void hosts_memory(void) {
    /* The 16 bytes begin 24 bytes behind a multiple of 256. */
    static unsigned char room[64] __attribute__((aligned(256)));
    unsigned char *own = room + 24;
    Pointer managed;
    void *pinned;
    unsigned char is_managed;
    start();
    OK(cuMemAllocManaged(&managed, 4, 1));
    OK(cuMemAllocHost_v2(&pinned, 2));
    OK(cuPointerGetAttribute(&is_managed, 8, managed));
    HOLDS(is_managed == 1);
    *(uint32_t *)(uintptr_t)managed = 0x04030201;
    memset(pinned, 0xee, 2);
    OK(launch(kernel("two"), 1, 32, (void *[]){&managed, &pinned}));
    void *address = own;
    memset(own, 5, 16);
    OK(launch(kernel("two"), 2, 32, (void *[]){&managed, &managed}));
    OK(cuMemHostRegister_v2(own, 16, 0));
    GIVES(712, cuMemHostRegister_v2(own + 8, 8, 0));
    OK(launch(kernel("two"), 3, 32, (void *[]){&address, &address}));
    OK(cuMemHostUnregister(own));
    GIVES(713, cuMemHostUnregister(own));
    OK(cuMemFree_v2(managed));
    OK(cuMemFreeHost(pinned));
}

static void libraries(void) {
    Handle library, found, function, link, linked;
    void *image;
    size_t size;
    char log[64] = "unwritten";
    int options[] = {5, 6};
    void *values[] = {log, (void *)sizeof log};
    start();
    OK(cuLibraryLoadData(&library, PTX, 0, 0, 0, 0, 0, 0));
    OK(cuLibraryGetKernel(&found, library, "none"));
    OK(cuKernelGetFunction(&function, found));
    OK(cuLaunchKernel(found, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0));
    OK(cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, 0, 0, 0));
    OK(cuLinkCreate_v2(0, 0, 0, &link));
    OK(cuLinkAddData_v2(link, 1, (void *)PTX, strlen(PTX) + 1, "a", 0, 0, 0));
    OK(cuLinkComplete(link, &image, &size));
    OK(cuModuleLoadData(&linked, image));
    OK(cuLinkDestroy(link));
    OK(cuModuleGetFunction(&function, linked, "none"));
    OK(cuLaunchKernel(function, 3, 1, 1, 32, 1, 1, 0, 0, 0, 0));
    GIVES(INVALID_PTX, cuModuleLoadDataEx(&linked, "nonsense", 2, options, values));
    HOLDS(strstr(log, ".version") != 0 && (size_t)values[1] == strlen(log));
    GIVES(301, cuModuleLoad(&linked, "/nonexistent/file.ptx"));
}

static void put(unsigned char *at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) at[i] = (unsigned char)(value >> (8 * i));
}

/* A fat binary with PTX as it is, by its address and by the structure that compiled programs have. */
static void fat_binary(void) {
    static unsigned char bytes[16 + 80 + 2048];
    struct {
        uint32_t magic, version;
        void *data, *unused;
    } wrapper = {0x466243b1, 1, bytes, 0};
    Handle fat, found;
    size_t size = (strlen(PTX) + 7) / 8 * 8;
    start();
    HOLDS(size <= 2048);
    put(bytes, 0xba55ed50, 4);
    put(bytes + 4, 1, 2);
    put(bytes + 6, 16, 2);
    put(bytes + 8, 80 + size, 8);
    put(bytes + 16, 1, 2);
    put(bytes + 20, 80, 4);
    put(bytes + 24, size, 8);
    put(bytes + 44, 90, 4);
    memcpy(bytes + 96, PTX, strlen(PTX));
    OK(cuModuleLoadData(&fat, bytes));
    OK(cuModuleGetFunction(&found, fat, "none"));
    OK(cuLaunchKernel(found, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0));
    OK(cuModuleLoadData(&fat, &wrapper));
    OK(cuModuleGetFunction(&found, fat, "none"));
    OK(cuLaunchKernel(found, 2, 1, 1, 32, 1, 1, 0, 0, 0, 0));
    /* Machine code: nothing is known of its kernels. */
    put(bytes + 16, 2, 2);
    OK(cuModuleLoadData(&fat, bytes));
    OK(cuModuleGetFunction(&found, fat, "any"));
    OK(cuLaunchKernel(found, 3, 1, 1, 32, 1, 1, 0, 0, 0, 0));
}

static Pointer left;

static void at_the_end(void) { OK(cuMemFree_v2(left)); }

/* What the program frees while it ends, as static objects of C++ do. */
static void ending(void) {
    start();
    left = allocate(64);
    HOLDS(atexit(at_the_end) == 0);
}

/* As on a full disk: no file can grow. */
static void full_disk(void) {
    struct rlimit none = {0, 0};
    signal(SIGXFSZ, SIG_IGN);
    HOLDS(setrlimit(RLIMIT_FSIZE, &none) == 0);
    vector_add();
}

/* Rows of three bytes of a picture whose rows are four bytes apart on the host and eight on the device. */
static void rows(void) {
    unsigned char picture[8] = {1, 2, 3, 0, 4, 5, 6, 0}, back[6] = {0};
    start();
    Pointer p = allocate(16);
    Rows in = {{0, 0, 1, picture, 0, 0, 4}, {1, 0, 2, 0, p, 0, 8}, 3, 2};
    OK(cuMemcpy2D_v2(&in));
    Rows out = {{1, 0, 2, 0, p, 0, 8}, {0, 0, 1, back, 0, 0, 3}, 3, 2};
    OK(cuMemcpy2D_v2(&out));
    HOLDS(memcmp(back, "\1\2\3\4\5\6", 6) == 0);
    OK(cuMemcpy((Pointer)(uintptr_t)back, p + 9, 3));
    HOLDS(memcmp(back, "\4\5\6\4\5\6", 6) == 0);
    OK(launch(kernel("two"), 1, 32, (void *[]){&p, &p}));
    in.height = 3;
    GIVES(INVALID_VALUE, cuMemcpy2D_v2(&in));
}
