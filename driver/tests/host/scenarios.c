/* Host programs for the recorder: the first argument names one. A call that answers otherwise than expected ends the program
 * with its line; what they launch is compared by the test that starts them. */
#define _GNU_SOURCE
#include "driver.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define INVALID_VALUE 1
#define NOT_INITIALIZED 3
#define INVALID_CONTEXT 201
#define INVALID_PTX 218
#define INVALID_HANDLE 400
#define NOT_FOUND 500
#define COOPERATIVE_LAUNCH_TOO_LARGE 720
#define NOT_SUPPORTED 801
#define INVALID_CLUSTER_SIZE 912

static void expect(long is, long expected, int line, const char *text) {
    if (is != expected) {
        fprintf(stderr, "line %d: %s is %ld, not %ld\n", line, text, is, expected);
        exit(1);
    }
}
#define GIVES(expected, call) expect((call), (expected), __LINE__, #call)
#define OK(call) GIVES(0, call)
#define HOLDS(condition) expect(!!(condition), 1, __LINE__, #condition)

static const char *const PTX =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .const .align 4 .b8 table[8];\n"
    ".visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n{ ret; }\n"
    ".visible .entry whole(.param .align 8 .b8 s[24])\n{ ret; }\n"
    ".visible .entry none()\n{ ret; }\n"
    ".visible .entry two(.param .u64 x, .param .u64 y)\n{ ret; }\n"
    ".visible .entry mixed(.param .u8 flag, .param .u64 p, .param .u16 last)\n{ ret; }\n"
    ".visible .entry small(.param .u32 n) .maxntid 64\n{ .shared .b8 own[1024]; ret; }\n";

static Handle module;

static void start(void) {
    Handle context;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, PTX));
}

static Handle kernel(const char *name) {
    Handle found;
    OK(cuModuleGetFunction(&found, module, name));
    return found;
}

static Pointer allocate(size_t size) {
    Pointer found;
    OK(cuMemAlloc_v2(&found, size));
    return found;
}

static Result launch(Handle kernel, unsigned grid, unsigned block, void **arguments) {
    return cuLaunchKernel(kernel, grid, 1, 1, block, 1, 1, 0, 0, arguments, 0);
}

static void vector_add(void) {
    float one[4] = {1, 2, 3, 4}, two[4] = {0.5, 0, -1, 2}, back[4] = {9, 9, 9, 9};
    int n = 4;
    start();
    Pointer a = allocate(16), b = allocate(16), c = allocate(16);
    void *arguments[] = {&a, &b, &c, &n};
    OK(cuMemcpyHtoD_v2(a, one, 16));
    OK(cuMemcpyHtoD_v2(b, two, 16));
    OK(launch(kernel("add"), 1, 128, arguments));
    OK(launch(kernel("add"), 1, 128, arguments));
    OK(launch(kernel("add"), 1, 128, arguments));
    OK(cuMemcpyHtoD_v2(a, one, 16));
    OK(cuMemcpyHtoD_v2(b, two, 16));
    OK(launch(kernel("add"), 1, 128, arguments));
    OK(cuMemcpyDtoH_v2(back, b, 16));
    HOLDS(memcmp(back, two, 16) == 0);
    OK(cuCtxSynchronize());
}

static void structure(void) {
    struct {
        Pointer p;
        int n;
        double d;
    } s;
    memset(&s, 0, sizeof s);
    start();
    s.p = allocate(64) + 8;
    s.n = 7;
    s.d = 1;
    void *arguments[] = {&s};
    OK(launch(kernel("whole"), 1, 32, arguments));
}

/* Offsets within one allocation, its end, an address that is in none, and an argument behind one of a byte. */
static void offsets(void) {
    start();
    Pointer base = allocate(4096), x = base, y = base + 1024, end = base + 4096, none = base + 4097;
    unsigned char flag = 3;
    unsigned short last = 0x1234;
    OK(launch(kernel("two"), 1, 32, (void *[]){&x, &y}));
    OK(launch(kernel("two"), 1, 32, (void *[]){&end, &none}));
    OK(launch(kernel("mixed"), 1, 32, (void *[]){&flag, &y, &last}));
}

static void freed(void) {
    char bytes[16] = {0};
    start();
    Pointer a = allocate(16), b = allocate(16), inside = b + 8;
    OK(cuMemFree_v2(a));
    GIVES(INVALID_VALUE, cuMemFree_v2(a));
    GIVES(INVALID_VALUE, cuMemFree_v2(inside));
    GIVES(INVALID_VALUE, cuMemcpyHtoD_v2(a, bytes, 16));
    GIVES(INVALID_VALUE, cuMemcpyDtoH_v2(bytes, a, 16));
    GIVES(INVALID_VALUE, cuMemFree_v2(12345));
    OK(cuMemFree_v2(0));
    OK(launch(kernel("two"), 1, 32, (void *[]){&a, &b}));
}

static void past_the_end(void) {
    char bytes[64] = {0};
    start();
    Pointer a = allocate(16), b = allocate(32);
    GIVES(INVALID_VALUE, cuMemcpyHtoD_v2(a, bytes, 17));
    GIVES(INVALID_VALUE, cuMemcpyDtoH_v2(bytes, a + 8, 9));
    GIVES(INVALID_VALUE, cuMemcpyDtoD_v2(a, b, 32));
    GIVES(INVALID_VALUE, cuMemsetD32_v2(a, 1, 5));
    GIVES(INVALID_VALUE, cuMemsetD32_v2(a + 2, 1, 1));
    GIVES(INVALID_VALUE, cuMemcpyHtoD_v2(a + 16, bytes, 1));
    OK(cuMemcpyHtoD_v2(a + 16, bytes, 0));
}

static void sizes(void) {
    int n = 1, value = 0;
    void *arguments[] = {&n};
    start();
    Handle small = kernel("small"), none = kernel("none");
    GIVES(INVALID_VALUE, cuLaunchKernel(none, 0, 1, 1, 32, 1, 1, 0, 0, 0, 0));
    GIVES(INVALID_VALUE, cuLaunchKernel(none, 1, 65536, 1, 32, 1, 1, 0, 0, 0, 0));
    GIVES(INVALID_VALUE, cuLaunchKernel(none, 1, 1, 1, 32, 1, 65, 0, 0, 0, 0));
    GIVES(INVALID_VALUE, cuLaunchKernel(none, 1, 1, 1, 32, 33, 1, 0, 0, 0, 0));
    OK(cuLaunchKernel(none, 1, 1, 1, 32, 32, 1, 0, 0, 0, 0));
    GIVES(INVALID_VALUE, launch(small, 1, 65, arguments));
    /* 48 KB, of which the kernel has 1 KB itself; more after asking, up to 227 KB of the device. */
    OK(cuLaunchKernel(small, 1, 1, 1, 64, 1, 1, 47 << 10, 0, arguments, 0));
    GIVES(INVALID_VALUE, cuLaunchKernel(small, 1, 1, 1, 64, 1, 1, (47 << 10) + 1, 0, arguments, 0));
    GIVES(INVALID_VALUE, cuFuncSetAttribute(small, 8, (226 << 10) + 1));
    OK(cuFuncSetAttribute(small, 8, 226 << 10));
    OK(cuLaunchKernel(small, 1, 1, 1, 64, 1, 1, 226 << 10, 0, arguments, 0));
    OK(cuFuncGetAttribute(&value, 0, small));
    HOLDS(value == 64);
    OK(cuFuncGetAttribute(&value, 1, small));
    HOLDS(value == 1024);
    /* Arguments that are not there. */
    GIVES(INVALID_VALUE, launch(small, 1, 32, 0));
    GIVES(INVALID_VALUE, launch(small, 1, 32, (void *[]){0}));
    GIVES(NOT_FOUND, cuModuleGetFunction(&none, module, "absent"));
    GIVES(INVALID_PTX, cuModuleLoadData(&none, ".version 8.0\n.entry open("));
    OK(cuModuleUnload(module));
    GIVES(INVALID_HANDLE, launch(small, 1, 32, arguments));
}

static void buffer(void) {
    struct {
        unsigned char flag;
        Pointer p;
        unsigned short last;
    } values;
    memset(&values, 0, sizeof values);
    start();
    values.flag = 3;
    values.p = allocate(32) + 24;
    values.last = 0x1234;
    size_t size = 18, small = 17;
    void *extra[] = {(void *)1, &values, (void *)2, &size, 0};
    OK(cuLaunchKernel(kernel("mixed"), 2, 1, 1, 32, 1, 1, 0, 0, 0, extra));
    extra[3] = &small;
    GIVES(INVALID_VALUE, cuLaunchKernel(kernel("mixed"), 2, 1, 1, 32, 1, 1, 0, 0, 0, extra));
    GIVES(INVALID_VALUE, cuLaunchKernel(kernel("mixed"), 2, 1, 1, 32, 1, 1, 0, 0, extra, extra));
    OK(cuLaunchKernel(kernel("none"), 2, 1, 1, 32, 1, 1, 0, 0, 0, 0));
}

/* What is known of allocations, and what launches leave unknown. */
static void contents(void) {
    unsigned char bytes[40];
    for (int i = 0; i < 40; i++) bytes[i] = (unsigned char)i;
    start();
    Pointer a = allocate(40), list = allocate(16), b = allocate(8), copy = allocate(40), large = allocate(65537);
    OK(cuMemcpyHtoD_v2(a + 30, bytes + 30, 4));
    OK(cuMemsetD16_v2(a + 2, 0xabcd, 2));
    OK(cuMemsetD8_v2(b, 7, 8));
    OK(cuMemcpyHtoD_v2(list, &(Pointer[]){b + 4}, 8));
    OK(cuMemcpyDtoD_v2(copy, a, 40));
    OK(cuMemsetD8_v2(large, 1, 65537));
    OK(launch(kernel("two"), 1, 32, (void *[]){&copy, &list}));
    /* The kernel has reached `b` through `list`; a copy takes that along. */
    OK(cuMemcpyDtoD_v2(a, b, 8));
    OK(launch(kernel("two"), 2, 32, (void *[]){&a, &large}));
    /* Overwritten as a whole: nothing is left of the launches. */
    OK(cuMemcpyHtoD_v2(a, bytes, 40));
    OK(launch(kernel("two"), 3, 32, (void *[]){&a, &a}));
}

static void globals(void) {
    unsigned char bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    Pointer table;
    size_t size;
    start();
    OK(cuLaunchKernel(kernel("none"), 1, 1, 1, 32, 1, 1, 0, 0, 0, 0));
    OK(cuModuleGetGlobal_v2(&table, &size, module, "table"));
    HOLDS(size == 8);
    GIVES(NOT_FOUND, cuModuleGetGlobal_v2(&table, &size, module, "chair"));
    OK(cuMemcpyHtoD_v2(table, bytes, 8));
    OK(cuLaunchKernel(kernel("none"), 1, 1, 1, 32, 1, 1, 0, 0, 0, 0));
    OK(cuLaunchKernel(kernel("none"), 1, 1, 1, 32, 1, 1, 0, 0, 0, 0));
}

static void clusters(void) {
    start();
    Attribute attribute = {4, 0, {2, 1, 1}}, cooperative = {2, 0, {1}};
    Launch how = {{4, 1, 1}, {128, 1, 1}, 256, 0, &attribute, 1};
    OK(cuLaunchKernelEx(&how, kernel("none"), 0, 0));
    how.grid[0] = 5;
    GIVES(INVALID_CLUSTER_SIZE, cuLaunchKernelEx(&how, kernel("none"), 0, 0));
    how.attributes = &cooperative;
    OK(cuLaunchKernelEx(&how, kernel("none"), 0, 0));
    /* 132 multiprocessors with room for two blocks of 1024 threads each. */
    OK(cuLaunchCooperativeKernel(kernel("none"), 264, 1, 1, 1024, 1, 1, 0, 0, 0));
    GIVES(COOPERATIVE_LAUNCH_TOO_LARGE, cuLaunchCooperativeKernel(kernel("none"), 265, 1, 1, 1024, 1, 1, 0, 0, 0));
}

static void abortion(void) {
    start();
    OK(cuLaunchKernel(kernel("none"), 1, 1, 1, 32, 1, 1, 0, 0, 0, 0));
    abort();
}

static int child(void (*body)(void)) {
    int status;
    fflush(0);
    pid_t pid = fork();
    HOLDS(pid >= 0);
    if (pid == 0) {
        body();
        _exit(0);
    }
    HOLDS(waitpid(pid, &status, 0) == pid);
    HOLDS(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void launch_in_child(void) {
    start();
    OK(cuLaunchKernel(kernel("none"), 2, 1, 1, 32, 1, 1, 0, 0, 0, 0));
}

static void fail_in_child(void) {
    Pointer a;
    GIVES(NOT_INITIALIZED, cuMemAlloc_v2(&a, 16));
    GIVES(NOT_INITIALIZED, cuInit(0));
}

static void forks(void) {
    GIVES(0, child(launch_in_child));
    start();
    OK(cuLaunchKernel(kernel("none"), 1, 1, 1, 32, 1, 1, 0, 0, 0, 0));
    GIVES(0, child(fail_in_child));
    OK(cuLaunchKernel(kernel("none"), 3, 1, 1, 32, 1, 1, 0, 0, 0, 0));
}

static Handle shared_context;

static void *thread(void *argument) {
    unsigned own = (unsigned)(uintptr_t)argument;
    OK(cuCtxSetCurrent(shared_context));
    for (unsigned i = 1; i <= 50; i++) {
        Pointer p = allocate(64);
        OK(cuMemsetD32_v2(p, i, 16));
        OK(cuLaunchKernel(kernel("two"), own * 50 + i, 1, 1, 32, 1, 1, 0, 0, (void *[]){&p, &p}, 0));
        OK(cuMemFree_v2(p));
    }
    return 0;
}

static void threads(void) {
    pthread_t all[8];
    start();
    OK(cuCtxGetCurrent(&shared_context));
    for (uintptr_t i = 0; i < 8; i++) HOLDS(pthread_create(&all[i], 0, thread, (void *)i) == 0);
    for (int i = 0; i < 8; i++) pthread_join(all[i], 0);
}

/* Launches with a grid of the given size after this thread has read what a kernel might have changed. */
static void *reader(void *memory) {
    Pointer p = *(Pointer *)memory;
    char bytes[64];
    OK(cuCtxSetCurrent(shared_context));
    OK(cuMemcpyDtoH_v2(bytes, p, 64));
    OK(cuLaunchKernel(kernel("two"), 2, 1, 1, 32, 1, 1, 0, 0, (void *[]){&p, &p}, 0));
    OK(cuLaunchKernel(kernel("two"), 3, 1, 1, 32, 1, 1, 0, 0, (void *[]){&p, &p}, 0));
    GIVES(INVALID_VALUE, cuMemFree_v2(p + 1));
    return 0;
}

static void *sharer(void *unused) {
    Pointer p;
    (void)unused;
    OK(cuCtxSetCurrent(shared_context));
    OK(cuMemAllocManaged(&p, 64, 1));
    OK(cuLaunchKernel(kernel("none"), 1, 1, 1, 32, 1, 1, 0, 0, 0, 0));
    GIVES(INVALID_VALUE, cuMemFree_v2(p + 4));
    OK(cuLaunchKernel(kernel("two"), 4, 1, 1, 32, 1, 1, 0, 0, (void *[]){&p, &p}, 0));
    GIVES(INVALID_VALUE, cuMemFree_v2(p + 2));
    return 0;
}

static void in_thread(void *body(void *), void *argument) {
    pthread_t own;
    HOLDS(pthread_create(&own, 0, body, argument) == 0);
    pthread_join(own, 0);
}

/* What one thread reads says nothing of what another one does. */
static void doubts(void) {
    start();
    OK(cuCtxGetCurrent(&shared_context));
    Pointer p = allocate(64);
    OK(cuLaunchKernel(kernel("two"), 1, 1, 1, 32, 1, 1, 0, 0, (void *[]){&p, &p}, 0));
    in_thread(reader, &p);
    in_thread(sharer, 0);
    OK(cuLaunchKernel(kernel("two"), 3, 1, 1, 32, 1, 1, 0, 0, (void *[]){&p, &p}, 0));
    GIVES(INVALID_VALUE, cuMemFree_v2(p + 3));
}

static void *look_up(const char *name, int version, uint64_t flags, int expected) {
    void *found = (void *)1;
    int status = -1;
    OK(cuGetProcAddress_v2(name, &found, version, flags, &status));
    expect(status, expected, __LINE__, name);
    HOLDS((found == 0) == (expected != 0));
    return found;
}

/* Names, versions of CUDA and flags against symbols of the library. */
static void entries(void) {
    static const struct {
        const char *name;
        int version;
        uint64_t flags;
        const char *symbol;
    } all[] = {
        {"cuInit", 13000, 0, "cuInit"},
        {"cuMemAlloc", 13000, 0, "cuMemAlloc_v2"},
        {"cuMemAlloc", 3020, 0, "cuMemAlloc_v2"},
        {"cuMemAlloc", 3010, 0, "cuMemAlloc"},
        {"cuCtxCreate", 12040, 0, "cuCtxCreate_v3"},
        {"cuCtxCreate", 12050, 0, "cuCtxCreate_v4"},
        {"cuGetProcAddress", 13000, 0, "cuGetProcAddress_v2"},
        {"cuGetProcAddress", 11030, 0, "cuGetProcAddress"},
        {"cuLaunchKernel", 13000, 0, "cuLaunchKernel"},
        {"cuLaunchKernel", 13000, 1, "cuLaunchKernel"},
        {"cuLaunchKernel", 13000, 2, "cuLaunchKernel_ptsz"},
        {"cuMemcpyHtoD", 13000, 2, "cuMemcpyHtoD_v2_ptds"},
        {"cuMemFree", 13000, 2, "cuMemFree_v2"},
        {"cuDeviceGetUuid", 13000, 0, "cuDeviceGetUuid_v2"},
        {"cuTexRefCreate", 13000, 0, "cuTexRefCreate"},
    };
    void *library = dlopen("libcuda.so", RTLD_NOW);
    void *found;
    HOLDS(library != 0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        void *symbol = dlsym(library, all[i].symbol);
        HOLDS(symbol != 0);
        expect(look_up(all[i].name, all[i].version, all[i].flags, 0) == symbol, 1, __LINE__, all[i].symbol);
    }
    look_up("cuMemAllocAsync", 11010, 0, 2);
    look_up("cuMakeCoffee", 13000, 0, 1);
    look_up("cuMakeCoffee", 12000, 0, 1);
    look_up("", 13000, 0, 1);
    GIVES(INVALID_VALUE, cuGetProcAddress_v2("cuInit", &found, 99000, 0, 0));
    GIVES(NOT_FOUND, cuGetProcAddress("cuMemAllocAsync", &found, 11010, 0));
    OK(cuGetProcAddress("cuMemAllocAsync", &found, 11020, 0));
    Handle reference;
    GIVES(NOT_SUPPORTED, cuTexRefCreate(&reference));
    GIVES(NOT_SUPPORTED, cuTexRefCreate(&reference));
}

static void order(void) {
    Pointer p;
    Handle context, other, current;
    GIVES(NOT_INITIALIZED, cuMemAlloc_v2(&p, 16));
    OK(cuInit(0));
    GIVES(INVALID_CONTEXT, cuMemAlloc_v2(&p, 16));
    GIVES(101, cuDevicePrimaryCtxRetain(&context, 1));
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuCtxCreate_v2(&other, 0, 0));
    OK(cuCtxPopCurrent_v2(&current));
    HOLDS(current == other);
    OK(cuCtxGetCurrent(&current));
    HOLDS(current == context);
    OK(cuMemAlloc_v2(&p, 16));
    OK(cuCtxDestroy_v2(context));
    OK(cuCtxGetCurrent(&current));
    HOLDS(current == 0);
    GIVES(INVALID_CONTEXT, cuMemAlloc_v2(&p, 16));
    GIVES(INVALID_CONTEXT, cuCtxPushCurrent_v2(context));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuDevicePrimaryCtxRelease_v2(0));
    GIVES(709, cuMemAlloc_v2(&p, 16));
}

#include "links.h"
#include "queries.h"
#include "products.h"
#include "memories.h"
#include "places.h"
#include "ends.h"
#include "history.h"

static const struct {
    const char *name;
    void (*body)(void);
} SCENARIOS[] = {
    {"vector_add", vector_add}, {"structure", structure}, {"offsets", offsets}, {"freed", freed},
    {"past_the_end", past_the_end}, {"sizes", sizes}, {"buffer", buffer}, {"contents", contents},
    {"globals", globals}, {"clusters", clusters}, {"abortion", abortion}, {"forks", forks},
    {"threads", threads}, {"doubts", doubts}, {"entries", entries}, {"order", order}, {"queries", queries},
    {"streams", streams}, {"hosts_memory", hosts_memory}, {"libraries", libraries}, {"rows", rows}, {"graphs", graphs},
    {"fat_binary", fat_binary}, {"full_disk", full_disk}, {"ending", ending}, {"links", links}, {"named", named},
    {"unmapped", unmapped}, {"descriptors", descriptors},
    {"blas", blas}, {"batches", batches}, {"light", light}, {"numbers", numbers}, {"names", names},
    {"tensors", tensors}, {"regions", regions}, {"arrays", arrays},
    {"hidden", hidden}, {"registered_later", registered_later}, {"round_trip", round_trip},
    {"workspaces", workspaces}, {"closed", closed}, {"waiting", waiting}, {"handed_on", handed_on},
    {"ended", ended}, {"parts", parts}, {"updated", updated}, {"changing_words", changing_words},
    {"general_nodes", general_nodes}, {"allocated_in_graph", allocated_in_graph}, {"many_rows", many_rows},
    {"counted", counted}, {"followed", followed}, {"untouched", untouched}, {"registered_again", registered_again},
    {"registered_by_library", registered_by_library},
    {"stated_clusters", stated_clusters}, {"default_streams", default_streams}, {"access_again", access_again},
    {"hosts_addresses", hosts_addresses},
};

int main(int count, char **arguments) {
    for (size_t i = 0; count == 2 && i < sizeof SCENARIOS / sizeof *SCENARIOS; i++) {
        if (strcmp(arguments[1], SCENARIOS[i].name) == 0) {
            SCENARIOS[i].body();
            return 0;
        }
    }
    fprintf(stderr, "there is no such scenario\n");
    return 2;
}
