// Launches kernels from PTX files as a list of cases says, and writes what became of each.
//
//     runner CASES RESULTS SECONDS LEVEL
//
// CASES has one statement a line (plan.py writes it), RESULTS gets `begin ID` and `end ID OUTCOME DETAIL` lines. SECONDS
// is the time after which a launch counts as a hang, LEVEL the optimization level of the PTX compiler in the driver. The
// exit status is 0 if all cases were run, 3 after a hang and 4 after an error that destroys the context: the cases that
// are left need another process. Needs no CUDA toolkit: the driver is loaded by its name.

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef int Result;
typedef unsigned long long Device;

static Result (*init)(unsigned);
static Result (*device_get)(int *, int);
static Result (*context_retain)(void **, int);
static Result (*context_current)(void *);
static Result (*context_wait)(void);
static Result (*load)(void **, const void *, unsigned, int *, void **);
static Result (*unload)(void *);
static Result (*find_kernel)(void **, void *, const char *);
static Result (*set_attribute)(void *, int, int);
static Result (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                        void **);
static Result (*allocate)(Device *, size_t);
static Result (*release)(Device);
static Result (*upload)(Device, const void *, size_t);
static Result (*fill)(Device, unsigned char, size_t);
static Result (*error_name)(Result, const char **);
static Result (*tiled)(void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *,
                       const uint32_t *, int, int, int, int);
static Result (*im2col)(void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const int *, const int *,
                        uint32_t, uint32_t, const uint32_t *, int, int, int, int);

enum { BUFFERS = 64, PARAMS = 4096, MOST_PARAMS = 128, MAP = 128, UINT32 = 2, MAX_DYNAMIC = 8 };

static FILE *results;
static int level;
static double seconds;
static volatile int is_over = 0;
static volatile double deadline = 0;
static char id[64];

static Device places[BUFFERS];
static size_t sizes[BUFFERS];
static char names[BUFFERS][32];
static int buffers;
static _Alignas(128) unsigned char params[PARAMS];
static void *param[MOST_PARAMS];
static int param_count;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static const char *name_of(Result result)
{
    const char *name = NULL;
    if (error_name(result, &name) != 0 || !name)
        return "unknown error";
    return name;
}

// A thread of its own, since a launch does not return under a tool that waits for the kernel.
static void *watch(void *unused)
{
    (void)unused;
    while (!is_over) {
        usleep(50000);
        double end = deadline;
        if (end > 0 && now() > end) {
            fprintf(results, "end\t%s\thang\t%.1f s\n", id, seconds);
            fflush(results);
            _exit(3);
        }
    }
    return NULL;
}

static int open_driver(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) {
        fprintf(stderr, "%s\n", dlerror());
        return 0;
    }
    struct { void *place; const char *name; } functions[] = {
        { &init, "cuInit" },
        { &device_get, "cuDeviceGet" },
        { &context_retain, "cuDevicePrimaryCtxRetain" },
        { &context_current, "cuCtxSetCurrent" },
        { &context_wait, "cuCtxSynchronize" },
        { &load, "cuModuleLoadDataEx" },
        { &unload, "cuModuleUnload" },
        { &find_kernel, "cuModuleGetFunction" },
        { &set_attribute, "cuFuncSetAttribute" },
        { &launch, "cuLaunchKernel" },
        { &allocate, "cuMemAlloc_v2" },
        { &release, "cuMemFree_v2" },
        { &upload, "cuMemcpyHtoD_v2" },
        { &fill, "cuMemsetD8_v2" },
        { &error_name, "cuGetErrorName" },
        { &tiled, "cuTensorMapEncodeTiled" },
        { &im2col, "cuTensorMapEncodeIm2col" },
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(driver, functions[i].name);
        if (!found) {
            fprintf(stderr, "the driver lacks %s\n", functions[i].name);
            return 0;
        }
        memcpy(functions[i].place, &found, sizeof found);
    }
    return 1;
}

static int buffer(const char *name)
{
    for (int i = 0; i < buffers; i++)
        if (!strcmp(names[i], name))
            return i;
    fprintf(stderr, "%s: no buffer %s\n", id, name);
    exit(2);
}

// Writes bytes into the parameters (`p`) or a buffer.
static Result put(const char *target, size_t offset, const void *bytes, size_t count)
{
    if (!strcmp(target, "p")) {
        if (offset + count > PARAMS)
            return 1;
        memcpy(params + offset, bytes, count);
        return 0;
    }
    int at = buffer(target);
    if (offset + count > sizes[at])
        return 1;
    return upload(places[at] + offset, bytes, count);
}

static Result put_hex(const char *target, size_t offset, const char *hex)
{
    size_t count = strlen(hex) / 2;
    unsigned char *bytes = malloc(count + 1);
    for (size_t i = 0; i < count; i++) {
        unsigned byte = 0;
        sscanf(hex + 2 * i, "%2x", &byte);
        bytes[i] = (unsigned char)byte;
    }
    Result result = put(target, offset, bytes, count);
    free(bytes);
    return result;
}

// A tensor of 32-bit numbers that fills 16 MiB, and a box of `box` bytes.
static Result put_tensor(const char *target, size_t offset, const char *in, unsigned rank, int is_im2col, unsigned box)
{
    static const uint64_t extents[] = { 256, 64, 16, 4, 4 };
    _Alignas(128) unsigned char map[MAP];
    uint64_t strides[5];
    uint32_t ones[] = { 1, 1, 1, 1, 1 }, boxes[] = { 1, 1, 1, 1, 1 };
    int zeros[] = { 0, 0, 0 };
    uint64_t bytes = 4;
    for (unsigned i = 0; i < rank; i++) {
        bytes *= extents[i];
        strides[i] = bytes;
    }
    Device place = places[buffer(in)];
    Result result;
    if (is_im2col) {
        uint32_t channels = 16;
        result = im2col(map, UINT32, rank, (void *)place, extents, strides, zeros, zeros, channels, box / 4 / channels,
                        ones, 0, 0, 0, 0);
    } else {
        uint32_t left = box / 4;
        for (unsigned i = 0; i < rank; i++) {
            uint32_t most = (uint32_t)extents[i];
            if (i == 0 && rank > 1 && most > 32)
                most = 32;
            boxes[i] = left < most ? left : most;
            left /= boxes[i];
        }
        result = tiled(map, UINT32, rank, (void *)place, extents, strides, boxes, ones, 0, 0, 0, 0);
    }
    return result ? result : put(target, offset, map, MAP);
}

static void end(const char *outcome, const char *detail)
{
    deadline = 0;
    fprintf(results, "end\t%s\t%s\t%s\n", id, outcome, detail);
    fflush(results);
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = calloc((size_t)size + 1, 1);
    if (fread(text, 1, (size_t)size, file) != (size_t)size) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

// Runs the kernel of a `run` statement. Returns 0 if the process can go on.
static int run(const char *path, const char *kernel, unsigned *grid, unsigned *block, unsigned shared)
{
    static char log[4096];
    char detail[600];
    char *text = read_file(path);
    if (!text) {
        end("unread", path);
        return 0;
    }
    int options[] = { 5, 6, 7 };    // error log, its size, optimization level
    log[0] = 0;
    void *values[] = { log, (void *)(uintptr_t)sizeof log, (void *)(uintptr_t)level };
    void *module = NULL, *function = NULL;
    Result result = load(&module, text, 3, options, values);
    free(text);
    if (result) {
        for (char *c = log; *c; c++)
            if (*c == '\n' || *c == '\t')
                *c = ' ';
        snprintf(detail, sizeof detail, "%s: %.500s", name_of(result), log);
        end("unloadable", detail);
        return 0;
    }
    result = find_kernel(&function, module, kernel);
    if (!result && shared > 48 * 1024)
        result = set_attribute(function, MAX_DYNAMIC, (int)shared);
    if (result) {
        end("unlaunchable", name_of(result));
        unload(module);
        return 0;
    }
    deadline = now() + seconds;
    result = launch(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared, NULL, param, NULL);
    if (result) {
        end("unlaunchable", name_of(result));
        Result after = context_wait();
        unload(module);
        return after ? 4 : 0;
    }
    result = context_wait();
    if (result) {
        end("error", name_of(result));
        return 4;
    }
    end("ends", "");
    deadline = now() + seconds;
    unload(module);
    deadline = 0;
    return 0;
}

static Result statement(char *line)
{
    char a[64], b[64];
    unsigned long long x, y;
    unsigned rank, is_im2col, box;
    if (sscanf(line, "case %63s", id) == 1) {
        fprintf(results, "begin\t%s\n", id);
        fflush(results);
        buffers = 0;
        memset(params, 0, sizeof params);
        param_count = 0;
        return 0;
    }
    if (sscanf(line, "param %llu", &x) == 1) {
        if (param_count == MOST_PARAMS || x >= PARAMS)
            return 1;
        param[param_count++] = params + x;
        return 0;
    }
    if (sscanf(line, "buffer %31s %llu", a, &x) == 2) {
        if (buffers == BUFFERS)
            return 1;
        strcpy(names[buffers], a);
        sizes[buffers] = x;
        Result result = allocate(&places[buffers], x);
        return result ? result : fill(places[buffers++], 0, x);
    }
    if (sscanf(line, "pointer %63s %llu %63s %llu", a, &x, b, &y) == 4) {
        Device pointer = places[buffer(b)] + y;
        return put(a, x, &pointer, sizeof pointer);
    }
    if (sscanf(line, "tensor %63s %llu %63s %u %u %u", a, &x, b, &rank, &is_im2col, &box) == 6)
        return put_tensor(a, x, b, rank, (int)is_im2col, box);
    int at = 0;
    if (sscanf(line, "bytes %63s %llu %n", a, &x, &at) == 2 && at > 0) {
        line[strcspn(line, "\n")] = 0;
        return put_hex(a, x, line + at);
    }
    fprintf(stderr, "what is this: %s", line);
    exit(2);
}

static int run_all(FILE *cases)
{
    static char line[1 << 20];
    Result problem = 0;
    while (fgets(line, sizeof line, cases)) {
        char path[512], kernel[256];
        unsigned g[3], b[3], shared;
        if (sscanf(line, "run %511s %255s %u %u %u %u %u %u %u", path, kernel, g, g + 1, g + 2, b, b + 1, b + 2,
                   &shared) != 9) {
            Result result = problem ? 0 : statement(line);
            problem = problem ? problem : result;
            continue;
        }
        int status = 0;
        if (problem)
            end("unprepared", name_of(problem));
        else
            status = run(path, kernel, g, b, shared);
        problem = 0;
        if (status)
            return status;
        for (int i = 0; i < buffers; i++)
            release(places[i]);
        buffers = 0;
    }
    return 0;
}

int main(int count, char **arguments)
{
    int device;
    void *context;
    pthread_t watcher;
    if (count != 5) {
        fprintf(stderr, "runner CASES RESULTS SECONDS LEVEL\n");
        return 2;
    }
    FILE *cases = fopen(arguments[1], "r");
    results = fopen(arguments[2], "a");
    seconds = atof(arguments[3]);
    level = atoi(arguments[4]);
    if (!cases || !results || !open_driver())
        return 2;
    if (init(0) || device_get(&device, 0) || context_retain(&context, device) || context_current(context)) {
        fprintf(stderr, "the device cannot be used\n");
        return 2;
    }
    pthread_create(&watcher, NULL, watch, NULL);
    int status = run_all(cases);
    fclose(results);
    is_over = 1;
    pthread_join(watcher, NULL);
    return status;
}
