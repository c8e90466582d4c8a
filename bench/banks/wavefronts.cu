// SPDX-License-Identifier: Apache-2.0
//
// Runs each case of `patterns` as one launch of one warp that does one shared-memory access, for a
// profiler to count the wavefronts of:
//
//     wavefronts CASES
//
// There is a kernel for each instruction, named after it: ld_4, st_16, cp_async_8, ldmatrix_x4,
// stmatrix_x2_trans. Addresses come from global memory, so that the compiler knows nothing of them.
// Shared memory is never initialised: any other access to it would be counted too.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t error = (call);                                                          \
        if (error != cudaSuccess) {                                                                \
            fprintf(stderr, "wavefronts: %s: %s\n", #call, cudaGetErrorString(error));             \
            exit(4);                                                                               \
        }                                                                                          \
    } while (0)

constexpr int LANES = 32;
constexpr int SHARED_BYTES = 48 * 1024;
constexpr int SOURCE_BYTES = 64 * 1024;

// One case: what a lane reads before its access.
struct Case {
    uint32_t lanes;
    uint32_t address[LANES];
    uint32_t source[LANES]; // of cp.async, in bytes
};

extern __shared__ __align__(1024) unsigned char shared[];

// SHARED is the byte address of the lane's access, OUT where a lane leaves what it got, so that a
// load has a use.
#define KERNEL(name, access)                                                                       \
    extern "C" __global__ void name(const Case *c, uint32_t *out, const char *global)             \
    {                                                                                              \
        const int lane = threadIdx.x;                                                              \
        const uint32_t at =                                                                        \
            static_cast<uint32_t>(__cvta_generic_to_shared(shared)) + c->address[lane];            \
        uint32_t r[4] = {lane + 1u, lane + 2u, lane + 3u, lane + 4u};                              \
        if (c->lanes >> lane & 1) {                                                                \
            access;                                                                                \
        }                                                                                          \
        out[lane] = r[0] ^ r[1] ^ r[2] ^ r[3];                                                     \
    }

#define LOAD_1(type)                                                                               \
    asm volatile("ld.shared." type " %0, [%1];" : "=r"(r[0]) : "r"(at) : "memory")
#define STORE_1(type)                                                                              \
    asm volatile("st.shared." type " [%0], %1;" ::"r"(at), "r"(r[0]) : "memory")

KERNEL(ld_1, LOAD_1("u8"))
KERNEL(ld_2, LOAD_1("u16"))
KERNEL(ld_4, LOAD_1("b32"))
KERNEL(ld_8, asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
                          : "=r"(r[0]), "=r"(r[1])
                          : "r"(at)
                          : "memory"))
KERNEL(ld_16, asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                           : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                           : "r"(at)
                           : "memory"))
KERNEL(st_1, STORE_1("u8"))
KERNEL(st_2, STORE_1("u16"))
KERNEL(st_4, STORE_1("b32"))
KERNEL(st_8,
       asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(at), "r"(r[0]), "r"(r[1]) : "memory"))
KERNEL(st_16,
       asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(r[0]), "r"(r[1]),
                    "r"(r[2]), "r"(r[3])
                    : "memory"))

#define COPY(cache, bytes)                                                                         \
    asm volatile("cp.async." cache ".shared.global [%0], [%1], " bytes ";" ::"r"(at),              \
                 "l"(global + c->source[lane])                                                                \
                 : "memory");                                                                      \
    asm volatile("cp.async.wait_all;" ::: "memory")

KERNEL(cp_async_4, COPY("ca", "4"))
KERNEL(cp_async_8, COPY("ca", "8"))
KERNEL(cp_async_16, COPY("cg", "16"))

// Collective: every lane of the warp takes part, there is no branch around them.
#define MATRIX_KERNEL(name, access)                                                                \
    extern "C" __global__ void name(const Case *c, uint32_t *out, const char *)                   \
    {                                                                                              \
        const int lane = threadIdx.x;                                                              \
        const uint32_t at =                                                                        \
            static_cast<uint32_t>(__cvta_generic_to_shared(shared)) + c->address[lane];            \
        uint32_t r[4] = {lane + 1u, lane + 2u, lane + 3u, lane + 4u};                              \
        access;                                                                                    \
        out[lane] = r[0] ^ r[1] ^ r[2] ^ r[3];                                                     \
    }

#define LDMATRIX_1(trans)                                                                          \
    asm volatile("ldmatrix.sync.aligned.m8n8.x1" trans ".shared.b16 {%0}, [%1];"                   \
                 : "=r"(r[0])                                                                      \
                 : "r"(at)                                                                         \
                 : "memory")
#define LDMATRIX_2(trans)                                                                          \
    asm volatile("ldmatrix.sync.aligned.m8n8.x2" trans ".shared.b16 {%0, %1}, [%2];"               \
                 : "=r"(r[0]), "=r"(r[1])                                                          \
                 : "r"(at)                                                                         \
                 : "memory")
#define LDMATRIX_4(trans)                                                                          \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4" trans ".shared.b16 {%0, %1, %2, %3}, [%4];"       \
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])                                  \
                 : "r"(at)                                                                         \
                 : "memory")
#define STMATRIX_1(trans)                                                                          \
    asm volatile("stmatrix.sync.aligned.m8n8.x1" trans ".shared.b16 [%0], {%1};" ::"r"(at),        \
                 "r"(r[0])                                                                         \
                 : "memory")
#define STMATRIX_2(trans)                                                                          \
    asm volatile("stmatrix.sync.aligned.m8n8.x2" trans ".shared.b16 [%0], {%1, %2};" ::"r"(at),    \
                 "r"(r[0]), "r"(r[1])                                                              \
                 : "memory")
#define STMATRIX_4(trans)                                                                          \
    asm volatile("stmatrix.sync.aligned.m8n8.x4" trans                                             \
                 ".shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at),                                  \
                 "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])                                        \
                 : "memory")

MATRIX_KERNEL(ldmatrix_x1, LDMATRIX_1(""))
MATRIX_KERNEL(ldmatrix_x2, LDMATRIX_2(""))
MATRIX_KERNEL(ldmatrix_x4, LDMATRIX_4(""))
MATRIX_KERNEL(ldmatrix_x1_trans, LDMATRIX_1(".trans"))
MATRIX_KERNEL(ldmatrix_x2_trans, LDMATRIX_2(".trans"))
MATRIX_KERNEL(ldmatrix_x4_trans, LDMATRIX_4(".trans"))
MATRIX_KERNEL(stmatrix_x1, STMATRIX_1(""))
MATRIX_KERNEL(stmatrix_x2, STMATRIX_2(""))
MATRIX_KERNEL(stmatrix_x4, STMATRIX_4(""))
MATRIX_KERNEL(stmatrix_x1_trans, STMATRIX_1(".trans"))
MATRIX_KERNEL(stmatrix_x2_trans, STMATRIX_2(".trans"))
MATRIX_KERNEL(stmatrix_x4_trans, STMATRIX_4(".trans"))

using Kernel = void (*)(const Case *, uint32_t *, const char *);

static const struct {
    const char *access;
    Kernel kernel;
} kernels[] = {
    {"ld.1", ld_1},
    {"ld.2", ld_2},
    {"ld.4", ld_4},
    {"ld.8", ld_8},
    {"ld.16", ld_16},
    {"st.1", st_1},
    {"st.2", st_2},
    {"st.4", st_4},
    {"st.8", st_8},
    {"st.16", st_16},
    {"cp.async.4", cp_async_4},
    {"cp.async.8", cp_async_8},
    {"cp.async.16", cp_async_16},
    {"ldmatrix.x1", ldmatrix_x1},
    {"ldmatrix.x2", ldmatrix_x2},
    {"ldmatrix.x4", ldmatrix_x4},
    {"ldmatrix.x1.trans", ldmatrix_x1_trans},
    {"ldmatrix.x2.trans", ldmatrix_x2_trans},
    {"ldmatrix.x4.trans", ldmatrix_x4_trans},
    {"stmatrix.x1", stmatrix_x1},
    {"stmatrix.x2", stmatrix_x2},
    {"stmatrix.x4", stmatrix_x4},
    {"stmatrix.x1.trans", stmatrix_x1_trans},
    {"stmatrix.x2.trans", stmatrix_x2_trans},
    {"stmatrix.x4.trans", stmatrix_x4_trans},
};

static Kernel kernel_of(const char *access)
{
    for (const auto &row : kernels)
        if (strcmp(row.access, access) == 0)
            return row.kernel;
    return nullptr;
}

// Reads 32 numbers below a limit; NULL when there are fewer.
static const char *read_numbers(const char *text, uint32_t limit, uint32_t *out)
{
    for (int lane = 0; lane < LANES; lane++) {
        char *end;

        out[lane] = static_cast<uint32_t>(strtoul(text, &end, 10));
        if (end == text || out[lane] >= limit)
            return nullptr;
        text = end;
    }
    return text;
}

// "name <tab> access <tab> lanes <tab> 32 addresses <tab> 32 sources or -"
static bool read_case(const char *line, Case *out, Kernel *kernel)
{
    char access[32];
    const char *rest;
    int length = 0;

    if (sscanf(line, "%*[^\t]\t%31[^\t]\t%x\t%n", access, &out->lanes, &length) != 2 ||
        length == 0)
        return false;
    *kernel = kernel_of(access);
    rest = read_numbers(line + length, SHARED_BYTES, out->address);
    if (*kernel == nullptr || rest == nullptr || *rest != '\t')
        return false;
    if (rest[1] != '-')
        return read_numbers(rest + 1, SOURCE_BYTES, out->source) != nullptr;
    for (int lane = 0; lane < LANES; lane++) // cp.async.16: the width ends the name
        out->source[lane] =
            lane * (strncmp(access, "cp.async.", 9) == 0 ? atoi(access + 9) : 1);
    return true;
}

int main(int argc, char **argv)
{
    char line[2048];
    Case *device_case;
    uint32_t *out;
    char *global;
    FILE *const file = argc == 2 ? fopen(argv[1], "r") : nullptr;

    if (file == nullptr) {
        fprintf(stderr, "usage: wavefronts CASES\n");
        return 2;
    }
    CHECK(cudaMalloc(&device_case, sizeof(Case)));
    CHECK(cudaMalloc(&out, LANES * sizeof(*out)));
    CHECK(cudaMalloc(&global, SOURCE_BYTES));
    CHECK(cudaMemset(global, 0, SOURCE_BYTES));
    for (int number = 1; fgets(line, sizeof(line), file) != nullptr; number++) {
        Case host_case;
        Kernel kernel;

        if (!read_case(line, &host_case, &kernel)) {
            fprintf(stderr, "wavefronts: %s:%d: not a case\n", argv[1], number);
            return 3;
        }
        CHECK(cudaMemcpy(device_case, &host_case, sizeof(host_case), cudaMemcpyHostToDevice));
        kernel<<<1, LANES, SHARED_BYTES>>>(device_case, out, global);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
    }
    fclose(file);
    return 0;
}
