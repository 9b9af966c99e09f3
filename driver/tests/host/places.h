/* Scenarios about addresses at places where no pointer is looked for, and about memory of the host that copies lead to. Included by
   scenarios.c. */

#include <fcntl.h>
#include <unistd.h>

int cublasSetWorkspace_v2(Handle, Pointer, size_t);

static const char *const PLACES =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry halves(.param .u32 high, .param .u32 low)\n{ ret; }\n"
    ".visible .entry packed(.param .align 1 .b8 s[12])\n{ ret; }\n"
    ".visible .entry two(.param .u64 a, .param .u64 b)\n{ ret; }\n";

/* A pointer in two numbers, one behind four bytes of a structure, and one behind four bytes of an array. */
static void hidden(void) {
    struct __attribute__((packed)) { uint32_t n; Pointer p; } own;
    start();
    OK(cuModuleLoadData(&module, PLACES));
    Pointer p = allocate(16), list = allocate(16);
    OK(cuMemsetD8_v2(list, 7, 16));
    uint32_t low = (uint32_t)p, high = (uint32_t)(p >> 32);
    OK(launch(kernel("halves"), 1, 32, (void *[]){&high, &low}));
    OK(launch(kernel("halves"), 2, 32, (void *[]){&low, &high}));
    OK(launch(kernel("halves"), 3, 32, (void *[]){&low, &low}));
    own.n = 1;
    own.p = p + 16;
    OK(launch(kernel("packed"), 4, 32, (void *[]){&own}));
    OK(cuMemcpyHtoD_v2(list + 4, &p, 8));
    OK(launch(kernel("two"), 5, 32, (void *[]){&list, &list}));
    /* Nothing is there any more, so that it is a number. */
    OK(cuMemFree_v2(p));
    OK(launch(kernel("two"), 6, 32, (void *[]){&list, &list}));
}

/* What is copied in is a number until the memory at it is known to the device. */
static void registered_later(void) {
    static uint64_t memory[64];
    void *place = memory;
    start();
    Pointer list = allocate(8);
    OK(cuMemcpyHtoD_v2(list, &place, 8));
    OK(launch(kernel("two"), 1, 32, (void *[]){&list, &list}));
    OK(cuMemHostRegister_v2(memory, sizeof memory, 0));
    OK(launch(kernel("two"), 2, 32, (void *[]){&list, &list}));
}

/* A word is an address again and again, and is not in between. */
static void changing_words(void) {
    void *pinned;
    start();
    Pointer p = allocate(64), other = allocate(64), list = allocate(24), fresh = allocate(8), high;
    OK(cuMemAllocHost_v2(&pinned, 16));
    high = p >> 32;
    OK(cuMemsetD8_v2(list, 1, 24));
    OK(cuMemcpyHtoD_v2(list + 8, &p, 8));
    OK(launch(kernel("two"), 1, 32, (void *[]){&list, &list}));
    /* Its upper half is another number, and then what it was. */
    OK(cuMemsetD8_v2(list + 14, 1, 4));
    OK(launch(kernel("two"), 2, 32, (void *[]){&list, &list}));
    OK(cuMemcpyHtoD_v2(list + 12, &high, 4));
    OK(launch(kernel("two"), 3, 32, (void *[]){&list, &list}));
    /* Its first byte is not known. */
    OK(cuMemcpyDtoD_v2(list + 8, fresh, 1));
    OK(launch(kernel("two"), 4, 32, (void *[]){&list, &list}));
    OK(cuMemcpyHtoD_v2(list + 8, &other, 8));
    OK(cuMemcpyHtoD_v2(list + 16, &p, 8));
    OK(launch(kernel("two"), 5, 32, (void *[]){&list, &list}));
    /* Memory that the host changes without a call. */
    memset(pinned, 1, 16);
    OK(launch(kernel("two"), 6, 32, (void *[]){&pinned, &pinned}));
    memcpy((char *)pinned + 8, &p, 8);
    OK(launch(kernel("two"), 7, 32, (void *[]){&pinned, &pinned}));
}

/* Memory of the device is copied to that of the host, and back, by the functions for memory that the device does not know. */
static void round_trip(void) {
    void *pinned, *other;
    start();
    Pointer p = allocate(8), q = allocate(8), fresh = allocate(8);
    OK(cuMemAllocHost_v2(&pinned, 8));
    OK(cuMemAllocHost_v2(&other, 8));
    OK(cuMemsetD8_v2(p, 7, 8));
    OK(launch(kernel("two"), 1, 32, (void *[]){&p, &p}));
    OK(cuMemcpyDtoHAsync_v2(pinned, p, 8, 0));
    OK(launch(kernel("two"), 2, 32, (void *[]){&pinned, &pinned}));
    OK(cuMemcpyHtoD_v2(q, pinned, 8));
    OK(launch(kernel("two"), 3, 32, (void *[]){&q, &q}));
    /* Nobody knows what was in fresh memory. */
    OK(cuMemcpyDtoH_v2(other, fresh, 8));
    OK(launch(kernel("two"), 4, 32, (void *[]){&other, &other}));
}

/* Calls write into their workspace, until another stream is set. */
static void workspaces(void) {
    Handle handle, stream;
    start();
    Pointer p = sevens(8), c = sevens(4);
    OK(cuStreamCreate(&stream, 0));
    OK(cublasCreate_v2(&handle));
    OK(cublasSetWorkspace_v2(handle, p + 4, 1 << 20));
    show(p);
    OK(cublasSscal_v2(handle, 1, &ONE, c, 1));
    show(p);
    OK(cuMemsetD8_v2(p, 7, 8));
    OK(cublasSetStream_v2(handle, stream));
    OK(cublasSscal_v2(handle, 1, &ONE, c, 1));
    OK(launch(kernel("two"), 2, 32, (void *[]){&p, &p}));
}

/* A program without standard streams that prints. */
static void closed(void) {
    close(0);
    close(1);
    close(2);
    start();
    OK(cuLaunchKernel(kernel("none"), 1, 1, 1, 32, 1, 1, 0, 0, 0, 0));
    for (int number = 0; number < 3; number++) HOLDS(write(number, "text\n", 5) == -1);
    OK(cuLaunchKernel(kernel("none"), 2, 1, 1, 32, 1, 1, 0, 0, 0, 0));
}

static volatile int is_released;

static void wait_for_release(void *data) {
    while (!__atomic_load_n(&is_released, __ATOMIC_ACQUIRE)) usleep(1000);
    *(int *)data = 1;
}

/* A function of a stream waits for what the program does behind the call. */
static void waiting(void) {
    void *pinned;
    int own = 0x01010101;
    start();
    OK(cuMemAllocHost_v2(&pinned, 4));
    OK(cuLaunchKernel(kernel("two"), 1, 1, 1, 32, 1, 1, 0, 0, (void *[]){&pinned, &pinned}, 0));
    OK(cuLaunchHostFunc(0, wait_for_release, pinned));
    OK(cuLaunchKernel(kernel("two"), 2, 1, 1, 32, 1, 1, 0, 0, (void *[]){&pinned, &pinned}, 0));
    /* On a device, these copies come behind the function, which might write what they read. */
    Pointer p = allocate(8);
    OK(cuMemsetD8_v2(p, 7, 8));
    OK(cuMemcpyHtoD_v2(p, &own, 4));
    OK(cuLaunchKernel(kernel("two"), 3, 1, 1, 32, 1, 1, 0, 0, (void *[]){&p, &p}, 0));
    __atomic_store_n(&is_released, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n((int *)pinned, __ATOMIC_ACQUIRE)) usleep(1000);
    usleep(200000);
    OK(cuMemcpyHtoD_v2(p, &own, 4));
    OK(cuLaunchKernel(kernel("two"), 4, 1, 1, 32, 1, 1, 0, 0, (void *[]){&p, &p}, 0));
}

static void launch_two(void *data) {
    OK(cuLaunchKernel(kernel("two"), 2, 1, 1, 32, 1, 1, 0, 0, (void *[]){data, data}, 0));
}

static void read_eight(void *data) {
    char bytes[8];
    launch_two(data);
    OK(cuMemcpyDtoH_v2(bytes, *(Pointer *)data, 8));
}

/* A function of a stream rests on what its caller has read, and the caller on what the function has. */
static void handed_on(void) {
    start();
    Pointer p = allocate(8), q = allocate(16);
    OK(launch(kernel("two"), 1, 32, (void *[]){&p, &p}));
    OK(cuLaunchHostFunc(0, read_eight, &p));
    OK(launch(kernel("two"), 3, 32, (void *[]){&p, &p}));
    OK(cuLaunchHostFunc(0, launch_two, &q));
}
