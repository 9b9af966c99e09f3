/* One source for both sides. Compiled as CUDA C++, each operation is inline PTX in a kernel that loads its operands and
 * stores its result; compiled as C, it is an expression, by the manual's definition, that a host program evaluates and
 * prints.
 *
 * An operation: the mnemonic, the widths in bits of result and operands, and the expression over the operands a, b, c
 * and d. Operands are bit patterns, the low bits of 64 random bits. `UNDEFINED` in an expression: the manual leaves the
 * result for these operands open. */
#ifndef OPERATION_H
#define OPERATION_H

#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef u16 U16;
typedef u32 U32;
typedef u64 U64;

/* Operands of a run, and operands of an operation. */
#define COUNT 1024
#define OPERANDS 4

#ifdef __CUDACC__

#define C16 "h"
#define C32 "r"
#define C64 "l"

#define GROUP(name)                                                                \
    extern "C" __global__ void name(const u64 *in, u64 *out) {                     \
        const u32 lane = threadIdx.x;                                              \
        const u64 *own = in + OPERANDS * lane;                                     \
        const u64 a = own[0], b = own[1], c = own[2], d = own[3];                  \
        u32 at = 0;                                                                \
        (void)a, (void)b, (void)c, (void)d;
#define END }

#define OPERATION(r, text, ...)                                                    \
    {                                                                              \
        U##r result;                                                               \
        asm(text : "=" C##r(result) : __VA_ARGS__);                                \
        out[COUNT * at++ + lane] = result;                                         \
    }
#define IN(w, x) C##w((U##w)x)

#define TEXT1(name, text, r, wa, e) OPERATION(r, text, IN(wa, a))
#define TEXT2(name, text, r, wa, wb, e) OPERATION(r, text, IN(wa, a), IN(wb, b))
#define TEXT3(name, text, r, wa, wb, wc, e) OPERATION(r, text, IN(wa, a), IN(wb, b), IN(wc, c))
#define TEXT4(name, text, r, wa, wb, wc, wd, e)                                    \
    OPERATION(r, text, IN(wa, a), IN(wb, b), IN(wc, c), IN(wd, d))

#else

#include "number.h"

#define GROUP(name)                                                                \
    static void name(void) {                                                       \
        const char *group = #name;
#define END }

#define OPERATION(name, r, operands, e)                                            \
    begin(group, name);                                                            \
    for (int lane = 0; lane < COUNT; lane++) {                                     \
        operands;                                                                  \
        is_undefined = 0;                                                          \
        U##r result = (U##r)(e);                                                   \
        emit(result);                                                              \
    }
#define IN(w, x, i) U##w x = (U##w)inputs[lane][i]

#define TEXT1(name, text, r, wa, e) OPERATION(name, r, IN(wa, a, 0), e)
#define TEXT2(name, text, r, wa, wb, e) OPERATION(name, r, IN(wa, a, 0); IN(wb, b, 1), e)
#define TEXT3(name, text, r, wa, wb, wc, e)                                        \
    OPERATION(name, r, IN(wa, a, 0); IN(wb, b, 1); IN(wc, c, 2), e)
#define TEXT4(name, text, r, wa, wb, wc, wd, e)                                    \
    OPERATION(name, r, IN(wa, a, 0); IN(wb, b, 1); IN(wc, c, 2); IN(wd, d, 3), e)

#endif

#define UNARY(mnemonic, r, wa, e) TEXT1(mnemonic, mnemonic " %0, %1;", r, wa, e)
#define BINARY(mnemonic, r, wa, wb, e) TEXT2(mnemonic, mnemonic " %0, %1, %2;", r, wa, wb, e)
#define TERNARY(mnemonic, r, wa, wb, wc, e) TEXT3(mnemonic, mnemonic " %0, %1, %2, %3;", r, wa, wb, wc, e)
#define QUATERNARY(mnemonic, r, wa, wb, wc, wd, e)                                 \
    TEXT4(mnemonic, mnemonic " %0, %1, %2, %3, %4;", r, wa, wb, wc, wd, e)

/* A predicate as the result 0 or 1; and a register's low bit as the predicate q that an instruction reads. */
#define PREDICATE(body) "{ .reg .pred p; " body " selp.u32 %0, 1, 0, p; }"
#define PREDICATES(body) "{ .reg .pred p, t; .reg .u32 x, y; " body " selp.u32 x, 1, 0, p; selp.u32 y, 2, 0, t; or.b32 %0, x, y; }"
#define LOW_BIT(q, x) ".reg .pred " q "; .reg .u32 " q "x; and.b32 " q "x, " x ", 1; setp.ne.u32 " q ", " q "x, 0; "

#endif
