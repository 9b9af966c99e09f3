/* Scenarios about memory that is no plain allocation: tensor maps, reserved addresses, arrays and textures. Included by scenarios.c. */

typedef struct __attribute__((aligned(64))) {
    uint64_t words[16];
} Map;

Result cuTensorMapEncodeTiled(Map *, int, unsigned, void *, const uint64_t *, const uint64_t *, const unsigned *, const unsigned *, int, int, int, int);
Result cuTensorMapEncodeIm2col(Map *, int, unsigned, void *, const uint64_t *, const uint64_t *, const int *, const int *, unsigned, unsigned, const unsigned *, int, int, int, int);
Result cuTensorMapReplaceAddress(Map *, void *);

static const char *const MAPPED =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry boxes(.param .u32 n, .param .align 64 .b8 map[128])\n{ ret; }\n";

static void *host(Pointer p) { return (void *)(uintptr_t)p; }

/* A matrix of 64 x 32 halves in boxes of 64 x 8, whose rows are 128 bytes: what the manual asks for, and what it does not. */
static void tensors(void) {
    const uint64_t sizes[] = {64, 32}, strides[] = {128};
    const unsigned box[] = {64, 8}, wide[] = {128, 8}, narrow[] = {7, 8}, steps[] = {1, 1};
    const int lower[] = {-1}, upper[] = {1};
    const uint64_t image[] = {64, 32, 16}, image_strides[] = {128, 4096};
    const unsigned image_steps[] = {1, 1, 1};
    Handle boxes;
    Map map, copy;
    int n = 3;
    start();
    OK(cuModuleLoadData(&module, MAPPED));
    boxes = kernel("boxes");
    Pointer p = allocate(8192), other = allocate(64);
    OK(cuTensorMapEncodeTiled(&map, 6, 2, host(p + 32), sizes, strides, box, steps, 0, 3, 2, 0));
    OK(launch(boxes, 1, 32, (void *[]){&n, &map}));
    copy = map;
    OK(cuTensorMapReplaceAddress(&copy, host(other)));
    OK(launch(boxes, 2, 32, (void *[]){&n, &copy}));
    OK(cuMemFree_v2(other));
    OK(launch(boxes, 3, 32, (void *[]){&n, &copy}));
    OK(cuTensorMapEncodeIm2col(&map, 7, 3, host(p), image, image_strides, lower, upper, 32, 256, image_steps, 0, 0, 0, 1));
    OK(launch(boxes, 4, 32, (void *[]){&n, &map}));

    GIVES(INVALID_VALUE, cuTensorMapEncodeTiled(&map, 6, 2, host(p + 8), sizes, strides, box, steps, 0, 3, 2, 0));
    GIVES(INVALID_VALUE, cuTensorMapEncodeTiled(&map, 6, 6, host(p), sizes, strides, box, steps, 0, 3, 2, 0));
    GIVES(INVALID_VALUE, cuTensorMapEncodeTiled(&map, 6, 2, host(p), sizes, strides, wide, steps, 0, 3, 2, 0));
    GIVES(INVALID_VALUE, cuTensorMapEncodeTiled(&map, 6, 2, host(p), sizes, strides, narrow, steps, 0, 0, 0, 0));
    GIVES(INVALID_VALUE, cuTensorMapEncodeTiled((Map *)((char *)&map + 8), 6, 2, host(p), sizes, strides, box, steps, 0, 3, 2, 0));
    memset(&map, 0, sizeof map);
    GIVES(INVALID_VALUE, cuTensorMapReplaceAddress(&map, host(p)));
}

typedef struct {
    uint32_t type, handles, location;
    int32_t device;
    void *windows;
    uint64_t flags;
} Properties;

typedef struct {
    uint32_t location;
    int32_t device;
    uint32_t flags;
} Access;

Result cuMemAddressReserve(Pointer *, size_t, size_t, Pointer, unsigned long long);
Result cuMemAddressFree(Pointer, size_t);
Result cuMemCreate(unsigned long long *, size_t, const Properties *, unsigned long long);
Result cuMemRelease(unsigned long long);
Result cuMemMap(Pointer, size_t, size_t, unsigned long long, unsigned long long);
Result cuMemUnmap(Pointer, size_t);
Result cuMemSetAccess(Pointer, size_t, const Access *, size_t);
Result cuMemGetAccess(unsigned long long *, const uint32_t *, Pointer);
Result cuMemGetAllocationGranularity(size_t *, const Properties *, int);
Result cuMemRetainAllocationHandle(unsigned long long *, void *);

/* Two pieces of memory side by side are one to kernels and copies; a third one is not there. */
static void regions(void) {
    const Properties properties = {1, 0, 1, 0, 0, 0};
    const Access all = {1, 0, 3}, none = {1, 0, 0};
    const uint32_t device[] = {1, 0};
    unsigned long long first, second, again, flags;
    size_t unit, before, after, total;
    Pointer base;
    char byte = 1;
    start();
    OK(cuMemGetAllocationGranularity(&unit, &properties, 0));
    OK(cuMemGetInfo_v2(&before, &total));
    GIVES(INVALID_VALUE, cuMemAddressReserve(&base, unit + 1, 0, 0, 0));
    OK(cuMemAddressReserve(&base, 3 * unit, 0, 0, 0));
    HOLDS(base % unit == 0);
    OK(cuMemCreate(&first, unit, &properties, 0));
    OK(cuMemCreate(&second, unit, &properties, 0));
    OK(cuMemGetInfo_v2(&after, &total));
    HOLDS(before - after == 2 * unit);
    OK(cuMemMap(base, unit, 0, first, 0));
    /* Nobody may access it yet. */
    GIVES(INVALID_VALUE, cuMemsetD8_v2(base, 7, 16));
    OK(cuMemSetAccess(base, unit, &all, 1));
    OK(cuMemMap(base + unit, unit, 0, second, 0));
    OK(cuMemSetAccess(base + unit, unit, &all, 1));
    OK(cuMemGetAccess(&flags, device, base + unit));
    HOLDS(flags == 3);
    OK(cuMemsetD8_v2(base + unit - 8, 7, 16));
    show(base + 16);
    GIVES(INVALID_VALUE, cuMemsetD8_v2(base + 2 * unit - 8, 7, 16));
    GIVES(INVALID_VALUE, cuMemMap(base + unit, unit, 0, second, 0));
    GIVES(NOT_SUPPORTED, cuMemMap(base + 2 * unit, unit, 0, second, 0));
    GIVES(INVALID_VALUE, cuMemFree_v2(base));
    /* The second half goes; what is in the first one stays. */
    OK(cuMemRetainAllocationHandle(&again, host(base + unit + 5)));
    HOLDS(again == second);
    OK(cuMemUnmap(base + unit, unit));
    show(base);
    GIVES(INVALID_VALUE, cuMemcpyDtoH_v2(&byte, base + unit + 1, 1));
    OK(cuMemcpyDtoH_v2(&byte, base + unit - 1, 1));
    HOLDS(byte == 7);
    OK(cuMemRelease(second));
    OK(cuMemRelease(second));
    GIVES(INVALID_VALUE, cuMemRelease(second));
    OK(cuMemSetAccess(base, unit, &none, 1));
    GIVES(INVALID_VALUE, cuMemAddressFree(base, 3 * unit));
    OK(cuMemRelease(first));
    OK(cuMemUnmap(base, unit));
    OK(cuMemAddressFree(base, 3 * unit));
    OK(cuMemGetInfo_v2(&after, &total));
    HOLDS(before == after);
}

typedef struct {
    size_t width, height;
    unsigned format, channels;
} Flat;

typedef struct {
    size_t width, height, depth;
    unsigned format, channels, flags;
} Solid;

typedef struct {
    uint64_t words[18];
} Resource;

typedef struct {
    uint64_t words[13];
} Description;

Result cuArrayCreate_v2(Handle *, const Flat *);
Result cuArrayGetDescriptor_v2(Flat *, Handle);
Result cuArray3DCreate_v2(Handle *, const Solid *);
Result cuArray3DGetDescriptor_v2(Solid *, Handle);
Result cuArrayDestroy(Handle);
Result cuMemcpyHtoA_v2(Handle, size_t, const void *, size_t);
Result cuMemcpyAtoH_v2(void *, Handle, size_t, size_t);
Result cuMemcpyAtoD_v2(Pointer, Handle, size_t, size_t);
Result cuTexObjectCreate(unsigned long long *, const Resource *, const Description *, const void *);
Result cuTexObjectDestroy(unsigned long long);
Result cuTexObjectGetResourceDesc(Resource *, unsigned long long);
Result cuSurfObjectCreate(unsigned long long *, const Resource *);
Result cuSurfObjectDestroy(unsigned long long);

/* An array of 4 x 2 pairs of halves, 16 bytes a row; a kernel gets a texture of it, and then a surface. */
static void arrays(void) {
    const Flat flat = {4, 2, 0x10, 2}, none = {0, 2, 0x10, 2}, strange = {4, 2, 0xb0, 3};
    const Solid solid = {4, 2, 3, 0x20, 1, 2};
    const Description description = {{0}};
    unsigned char in[32], out[32] = {0};
    unsigned long long texture, surface;
    Handle array, other;
    Flat found;
    Solid whole;
    start();
    for (int i = 0; i < 32; i++) in[i] = (unsigned char)i;
    OK(cuArrayCreate_v2(&array, &flat));
    GIVES(INVALID_VALUE, cuArrayCreate_v2(&other, &none));
    GIVES(NOT_SUPPORTED, cuArrayCreate_v2(&other, &strange));
    OK(cuArrayGetDescriptor_v2(&found, array));
    HOLDS(found.width == 4 && found.height == 2 && found.format == 0x10 && found.channels == 2);
    OK(cuArray3DCreate_v2(&other, &solid));
    OK(cuArray3DGetDescriptor_v2(&whole, other));
    HOLDS(whole.depth == 3 && whole.flags == 2);
    OK(cuArrayDestroy(other));
    GIVES(INVALID_HANDLE, cuArrayDestroy(other));
    /* All of it in rows, then one row out, from its second element on. */
    Rows rows = {.from = {.kind = 1, .host = in, .pitch = 16}, .to = {.kind = 3, .array = array}, .width = 16, .height = 2};
    OK(cuMemcpy2D_v2(&rows));
    Rows part = {.from = {.kind = 3, .array = array, .x = 4, .y = 1}, .to = {.kind = 1, .host = out, .pitch = 16}, .width = 12, .height = 1};
    OK(cuMemcpy2D_v2(&part));
    HOLDS(out[0] == 20 && out[11] == 31 && out[12] == 0);
    part.from.x = 8;
    GIVES(INVALID_VALUE, cuMemcpy2D_v2(&part));
    OK(cuMemcpyHtoA_v2(array, 16, in, 4));
    OK(cuMemcpyAtoH_v2(out, array, 15, 3));
    HOLDS(out[0] == 15 && out[1] == 0 && out[2] == 1);
    GIVES(INVALID_VALUE, cuMemcpyAtoH_v2(out, array, 30, 3));

    Resource resource = {{0, (uint64_t)(uintptr_t)array}}, back;
    OK(cuTexObjectCreate(&texture, &resource, &description, 0));
    OK(cuTexObjectGetResourceDesc(&back, texture));
    HOLDS(memcmp(&resource, &back, sizeof back) == 0);
    Pointer p = allocate(64);
    OK(launch(kernel("two"), 1, 32, (void *[]){&texture, &p}));
    /* It was not written by a texture, so that all of it is known. */
    OK(cuMemcpyAtoD_v2(p, array, 0, 32));
    OK(launch(kernel("two"), 2, 32, (void *[]){&texture, &p}));
    OK(cuSurfObjectCreate(&surface, &resource));
    OK(launch(kernel("two"), 3, 32, (void *[]){&surface, &p}));
    OK(cuMemcpyAtoH_v2(out, array, 0, 32));
    OK(launch(kernel("two"), 4, 32, (void *[]){&surface, &p}));
    OK(cuSurfObjectDestroy(surface));
    GIVES(INVALID_VALUE, cuSurfObjectDestroy(surface));
    OK(cuTexObjectDestroy(texture));
    /* 64 bytes of single floats; then one more. */
    Resource linear = {{2, p, 0x20 | 1ull << 32, 64}};
    OK(cuTexObjectCreate(&texture, &linear, &description, 0));
    linear.words[3] = 65;
    GIVES(INVALID_VALUE, cuTexObjectCreate(&texture, &linear, &description, 0));
    GIVES(INVALID_VALUE, cuSurfObjectCreate(&surface, &linear));
    OK(cuArrayDestroy(array));
    GIVES(INVALID_HANDLE, cuTexObjectCreate(&texture, &resource, &description, 0));
}
