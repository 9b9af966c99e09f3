/* Links of several texts, threads with names, and what programs do to memory and files that the library has. */

static const char CALLER[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".extern .func (.param .b32 r) twice(.param .b32 x);\n"
    ".extern .global .align 4 .b8 table[8];\n"
    ".visible .entry caller(.param .u64 to, .param .u32 n)\n{ ret; }\n";
static const char CALLEE[] =
    ".version 8.3\n.target sm_80\n.address_size 64\n"
    ".visible .global .align 4 .b8 table[8] = {1, 0, 0, 0, 2};\n"
    ".visible .func (.param .b32 r) twice(.param .b32 x)\n{ ret; }\n"
    ".visible .entry callee(.param .u32 n)\n{ ret; }\n";

Result cuLinkCreate(unsigned, int *, void **, Handle *);
Result cuLinkAddData(Handle, int, void *, size_t, const char *, unsigned, int *, void **);
Result cuLinkAddFile(Handle, int, const char *, unsigned, int *, void **);

static const char *write_callee(const char *path) {
    FILE *to = fopen(path, "w");
    HOLDS(to != 0 && fputs(CALLEE, to) > 0 && fclose(to) == 0);
    return path;
}

static void links(void) {
    Handle link, linked, found;
    void *image, *again;
    size_t size;
    uint32_t words[2];
    int n = 7;
    const char *file = "callee.ptx";
    start();
    Pointer p = allocate(64), table;
    /* The first version of the functions is in no header any more. */
    OK(cuLinkCreate(0, 0, 0, &link));
    OK(cuLinkAddData(link, 1, (void *)CALLER, sizeof CALLER, "a", 0, 0, 0));
    OK(cuLinkAddFile(link, 1, write_callee(file), 0, 0, 0));
    OK(cuLinkComplete(link, &image, &size));
    OK(cuLinkDestroy(link));
    OK(cuLinkCreate_v2(0, 0, 0, &link));
    GIVES(INVALID_VALUE, cuLinkComplete(link, &image, &size));
    OK(cuLinkAddData_v2(link, 1, (void *)CALLER, sizeof CALLER, "a", 0, 0, 0));
    OK(cuLinkAddFile_v2(link, 1, file, 0, 0, 0));
    /* What is refused leaves the link as it was. */
    GIVES(300, cuLinkAddFile_v2(link, 1, file, 0, 0, 0));
    GIVES(INVALID_PTX, cuLinkAddData_v2(link, 1, (void *)"none", 5, "b", 0, 0, 0));
    GIVES(801, cuLinkAddData_v2(link, 0, (void *)"\177ELF", 4, "c", 0, 0, 0));
    OK(cuLinkComplete(link, &image, &size));
    HOLDS(strlen(image) + 1 == size);
    OK(cuLinkComplete(link, &again, 0));
    HOLDS(strcmp(image, again) == 0);
    OK(cuModuleLoadData(&linked, image));
    OK(cuLinkDestroy(link));
    GIVES(INVALID_HANDLE, cuLinkComplete(link, &image, &size));
    OK(cuModuleGetFunction(&found, linked, "caller"));
    OK(cuLaunchKernel(found, 1, 1, 1, 32, 1, 1, 0, 0, (void *[]){&p, &n}, 0));
    OK(cuModuleGetFunction(&found, linked, "callee"));
    OK(cuLaunchKernel(found, 2, 1, 1, 32, 1, 1, 0, 0, (void *[]){&n}, 0));
    OK(cuModuleGetGlobal_v2(&table, &size, linked, "table"));
    OK(cuMemcpyDtoH_v2(words, table, 8));
    HOLDS(size == 8 && words[0] == 1 && words[1] == 2);
    HOLDS(remove(file) == 0);
}

static void *named_launches(void *unused) {
    HOLDS(pthread_setname_np(pthread_self(), "tests::\"one\"") == 0);
    start();
    OK(launch(kernel("none"), 1, 32, 0));
    OK(launch(kernel("none"), 2, 32, 0));
    return unused;
}

static void named(void) {
    pthread_t thread;
    start();
    OK(launch(kernel("none"), 1, 32, 0));
    HOLDS(pthread_create(&thread, 0, named_launches, 0) == 0 && pthread_join(thread, 0) == 0);
}

/* Memory that is registered and unmapped, which a kernel gets all the same. */
static void unmapped(void) {
    start();
    char *own = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    HOLDS(own != MAP_FAILED);
    memset(own, 7, 16);
    Pointer p = (Pointer)(uintptr_t)own;
    OK(cuMemHostRegister_v2(own, 16, 0));
    OK(launch(kernel("two"), 1, 32, (void *[]){&p, &p}));
    HOLDS(munmap(own, 4096) == 0);
    OK(launch(kernel("two"), 2, 32, (void *[]){&p, &p}));
    OK(cuMemHostUnregister(own));
}

/* A daemon closes what it did not open, and opens files of its own under the same numbers. */
static void descriptors(void) {
    start();
    OK(launch(kernel("none"), 1, 32, 0));
    for (int number = 3; number < 64; number++) close(number);
    for (int number = 3; number < 64; number++) {
        HOLDS(open("own.txt", O_CREAT | O_RDWR | O_APPEND, 0600) == number);
    }
    OK(launch(kernel("none"), 2, 32, 0));
    pid_t child = fork();
    if (child == 0) {
        Pointer none;
        GIVES(3, cuMemAlloc_v2(&none, 4));
        HOLDS(write(40, "own", 3) == 3);
        _exit(0);
    }
    int status = 1;
    HOLDS(waitpid(child, &status, 0) == child && status == 0);
    char bytes[8];
    HOLDS(pread(20, bytes, sizeof bytes, 0) == 3 && memcmp(bytes, "own", 3) == 0);
    HOLDS(remove("own.txt") == 0);
}
