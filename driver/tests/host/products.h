/* Scenarios about cuBLAS, cuBLASLt and cuRAND. Included by scenarios.c. */

enum { BLAS_NOT_INITIALIZED = 1, BLAS_INVALID_VALUE = 7, BLAS_EXECUTION_FAILED = 13 };
enum { RANDOM_NOT_INITIALIZED = 101, RANDOM_TYPE_ERROR = 103, RANDOM_LENGTH_NOT_MULTIPLE = 105, RANDOM_LAUNCH_FAILURE = 201 };

int cublasCreate_v2(Handle *);
int cublasDestroy_v2(Handle);
int cublasSetStream_v2(Handle, Handle);
int cublasGetStream_v2(Handle, Handle *);
int cublasSetPointerMode_v2(Handle, int);
int cublasSetMathMode(Handle, int);
int cublasGetMathMode(Handle, int *);
int cublasGetVersion_v2(Handle, int *);
const char *cublasGetStatusName(int);
int cublasSgemm_v2(Handle, int, int, int, int, int, const float *, Pointer, int, Pointer, int, const float *, Pointer, int);
int cublasSgemm_v2_64(Handle, int, int, int64_t, int64_t, int64_t, const float *, Pointer, int64_t, Pointer, int64_t, const float *, Pointer, int64_t);
int cublasGemmEx(Handle, int, int, int, int, int, const void *, Pointer, int, int, Pointer, int, int, const void *, Pointer, int, int, int, int);
int cublasSgemmStridedBatched(Handle, int, int, int, int, int, const float *, Pointer, int, long long, Pointer, int, long long, const float *, Pointer, int, long long, int);
int cublasSgemmBatched(Handle, int, int, int, int, int, const float *, Pointer, int, Pointer, int, const float *, Pointer, int, int);
int cublasSscal_v2(Handle, int, const float *, Pointer, int);
int cublasDdot_v2(Handle, int, Pointer, int, Pointer, int, double *);
int cublasIsamax_v2(Handle, int, Pointer, int, int *);
int cublasSetVector(int, int, const void *, int, Pointer, int);
int cublasLtCreate(Handle *);
int cublasLtDestroy(Handle);
int cublasLtMatmulDescCreate(Handle *, int, int);
int cublasLtMatmulDescDestroy(Handle);
int cublasLtMatmulDescSetAttribute(Handle, int, const void *, size_t);
int cublasLtMatmulDescGetAttribute(Handle, int, void *, size_t, size_t *);
int cublasLtMatrixLayoutCreate(Handle *, int, uint64_t, uint64_t, int64_t);
int cublasLtMatrixLayoutInit_internal(void *, size_t, int, uint64_t, uint64_t, int64_t);
int cublasLtMatrixLayoutSetAttribute(void *, int, const void *, size_t);
int cublasLtMatmulPreferenceCreate(Handle *);
int cublasLtMatmulAlgoGetHeuristic(Handle, Handle, void *, void *, void *, void *, Handle, int, void *, int *);
int cublasLtMatmul(Handle, Handle, const void *, Pointer, void *, Pointer, void *, const void *, Pointer, void *, Pointer, void *, const void *, Pointer, size_t, Handle);
int curandCreateGenerator(Handle *, int);
int curandDestroyGenerator(Handle);
int curandSetStream(Handle, Handle);
int curandSetPseudoRandomGeneratorSeed(Handle, unsigned long long);
int curandSetQuasiRandomGeneratorDimensions(Handle, unsigned);
int curandGenerateUniform(Handle, Pointer, size_t);
int curandGenerateNormalDouble(Handle, Pointer, size_t, double, double);
int curandGeneratePoisson(Handle, Pointer, size_t, double);

static const float ONE = 1, ZERO = 0;

/* An allocation of sevens. */
static Pointer sevens(size_t size) {
    Pointer found = allocate(size);
    OK(cuMemsetD8_v2(found, 7, size));
    return found;
}

static void show(Pointer p) { OK(launch(kernel("two"), 1, 32, (void *[]){&p, &p})); }

/* The handle is the first thing that the program asks for. */
static void blas(void) {
    Handle handle, other, stream;
    int value;
    OK(cublasCreate_v2(&handle));
    OK(cuCtxGetCurrent(&other));
    HOLDS(other != 0);
    start();
    OK(cublasGetVersion_v2(handle, &value));
    HOLDS(value == 130000);
    OK(cublasSetMathMode(handle, 3));
    OK(cublasGetMathMode(handle, &value));
    HOLDS(value == 3);
    HOLDS(strcmp(cublasGetStatusName(7), "CUBLAS_STATUS_INVALID_VALUE") == 0);
    OK(cuStreamCreate(&stream, 0));
    OK(cublasSetStream_v2(handle, stream));
    OK(cublasGetStream_v2(handle, &other));
    HOLDS(other == stream);

    /* Two columns of 2 floats, 3 apart: bytes 0 to 8 and 12 to 20. */
    Pointer c = sevens(24);
    GIVES(BLAS_NOT_INITIALIZED, cublasSgemm_v2(0, 0, 0, 2, 2, 1, &ONE, c, 2, c, 1, &ZERO, c, 3));
    GIVES(BLAS_INVALID_VALUE, cublasSgemm_v2(handle, 0, 0, 2, 2, 1, &ONE, c, 1, c, 1, &ZERO, c, 3));
    GIVES(BLAS_EXECUTION_FAILED, cublasSgemm_v2(handle, 0, 0, 2, 2, 1, &ONE, c, 2, c, 1, &ZERO, c + 8, 3));
    show(c);
    OK(cublasSgemm_v2(handle, 0, 0, 2, 2, 1, &ONE, c, 2, c, 1, &ZERO, c, 3));
    show(c);
    /* What the host sets is known again, and halves of 2 x 1 at 4 are not. */
    OK(cublasSetVector(3, 8, "012345670123456701234567", 1, c, 1));
    OK(cublasGemmEx(handle, 1, 0, 2, 1, 1, &ONE, c, 2, 1, c, 2, 1, &ZERO, c + 4, 2, 2, 68, -1));
    show(c);
    OK(cublasDestroy_v2(handle));
    GIVES(BLAS_NOT_INITIALIZED, cublasDestroy_v2(handle));
}

/* Batches, vectors and numbers, in a graph too. */
static void batches(void) {
    Handle handle, stream, graph, executable;
    double dot = 9;
    int index = 9;
    start();
    OK(cublasCreate_v2(&handle));
    OK(cuStreamCreate(&stream, 0));
    /* One float every 16 bytes. */
    Pointer c = sevens(32);
    OK(cublasSgemmStridedBatched(handle, 0, 0, 1, 1, 1, &ONE, c, 1, 0, c, 1, 0, &ZERO, c, 1, 4, 2));
    show(c);
    /* Every third float from the first one on; the step is negative. */
    Pointer x = sevens(32);
    OK(cublasSscal_v2(handle, 3, &ONE, x, -3));
    show(x);
    /* Two matrices, whose places the host has put into an array, then nobody knows where. */
    Pointer target = sevens(16), places = allocate(16), list[2] = {target, target + 12};
    OK(cuMemcpyHtoD_v2(places, list, 16));
    OK(cublasSgemmBatched(handle, 0, 0, 1, 1, 1, &ONE, places, 1, places, 1, &ZERO, places, 1, 2));
    show(target);
    /* A captured call writes when the graph is launched. */
    Pointer late = sevens(8);
    OK(cublasSetStream_v2(handle, stream));
    OK(cuStreamBeginCapture_v2(stream, 0));
    OK(cublasSscal_v2(handle, 1, &ONE, late, 1));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
    show(late);
    OK(cuGraphLaunch(executable, stream));
    show(late);
    /* A number on the device is unknown; one of the host is zero, and what follows might rest on it. */
    Pointer number = sevens(8);
    OK(cublasSetPointerMode_v2(handle, 1));
    OK(cublasDdot_v2(handle, 1, x, 1, x, 1, (double *)(uintptr_t)number));
    show(number);
    GIVES(INVALID_VALUE, cuMemFree_v2(number + 1));
    OK(cublasSetPointerMode_v2(handle, 0));
    OK(cublasDdot_v2(handle, 1, x, 1, x, 1, &dot));
    HOLDS(dot == 0);
    OK(cublasIsamax_v2(handle, 4, x, 1, &index));
    HOLDS(index == 1);
    GIVES(INVALID_VALUE, cuMemFree_v2(number + 2));
    /* Nobody knows what is in the array any more. */
    OK(cublasSscal_v2(handle, 1, &ONE, places, 1));
    OK(cublasSgemmBatched(handle, 0, 0, 1, 1, 1, &ONE, places, 1, places, 1, &ZERO, places, 1, 2));
    show(late);
}

/* D of 4 x 2 floats, by rows: each row has 2, and they are 3 apart. */
static void light(void) {
    Handle handle, operation, a, b, preference;
    uint64_t d[8], result[12] = {0};
    int32_t found = 0, by_rows = 1, value = 0, transposed = 1;
    size_t size;
    start();
    OK(cublasLtCreate(&handle));
    OK(cublasLtMatmulDescCreate(&operation, 68, 0));
    OK(cublasLtMatmulDescSetAttribute(operation, 3, &transposed, 4));
    OK(cublasLtMatmulDescGetAttribute(operation, 0, &value, 4, &size));
    HOLDS(value == 68 && size == 4);
    OK(cublasLtMatrixLayoutCreate(&a, 0, 5, 4, 5));
    OK(cublasLtMatrixLayoutCreate(&b, 0, 5, 2, 5));
    OK(cublasLtMatrixLayoutInit_internal(d, sizeof d, 0, 4, 2, 3));
    OK(cublasLtMatrixLayoutSetAttribute(d, 1, &by_rows, 4));
    OK(cublasLtMatmulPreferenceCreate(&preference));
    OK(cublasLtMatmulAlgoGetHeuristic(handle, operation, a, b, d, d, preference, 3, result, &found));
    HOLDS(found == 1 && result[8] == 0);
    Pointer c = sevens(48);
    OK(cublasLtMatmul(handle, operation, &ONE, c, a, c, b, &ZERO, c, d, c, d, result, 0, 0, 0));
    show(c);
    /* 4 x 2 is not the product of 5 x 4 and 5 x 2 if nothing is transposed. */
    transposed = 0;
    OK(cublasLtMatmulDescSetAttribute(operation, 3, &transposed, 4));
    GIVES(BLAS_INVALID_VALUE, cublasLtMatmul(handle, operation, &ONE, c, a, c, b, &ZERO, c, d, c, d, result, 0, 0, 0));
    OK(cublasLtMatmulDescDestroy(operation));
    GIVES(BLAS_INVALID_VALUE, cublasLtMatmulDescDestroy(operation));
    OK(cublasLtDestroy(handle));
}

static void numbers(void) {
    Handle generator, quasi;
    start();
    OK(curandCreateGenerator(&generator, 100));
    OK(curandSetPseudoRandomGeneratorSeed(generator, 42));
    Pointer p = sevens(40);
    OK(curandGenerateUniform(generator, p, 2));
    OK(curandGenerateNormalDouble(generator, p + 16, 2, 0.0, 1.0));
    show(p);
    GIVES(RANDOM_LENGTH_NOT_MULTIPLE, curandGenerateNormalDouble(generator, p, 3, 0.0, 1.0));
    GIVES(RANDOM_LAUNCH_FAILURE, curandGeneratePoisson(generator, p, 11, 3.0));
    OK(curandCreateGenerator(&quasi, 201));
    OK(curandSetQuasiRandomGeneratorDimensions(quasi, 3));
    GIVES(RANDOM_TYPE_ERROR, curandSetPseudoRandomGeneratorSeed(quasi, 1));
    OK(curandDestroyGenerator(generator));
    GIVES(RANDOM_NOT_INITIALIZED, curandGenerateUniform(generator, p, 2));
}

/* All names are one library, and a function that it does not have is not found. */
static void names(void) {
    static const char *const all[] = {"libcublas.so", "libcublas.so.11", "libcublas.so.12", "libcublas.so.13", "libcublasLt.so.12", "libcurand.so.10"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        void *library = dlopen(all[i], RTLD_NOW | RTLD_LOCAL);
        HOLDS(library != 0);
        HOLDS(dlsym(library, "cuInit") == (void *)cuInit);
        HOLDS(dlsym(library, "cublasZtrsm_v2_64") != 0);
        HOLDS(dlsym(library, "cublasLtGroupedMatrixLayoutCreate") == 0);
        HOLDS(dlsym(library, "curandCreateGeneratorHost") == 0);
    }
}
