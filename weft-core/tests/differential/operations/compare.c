/* Comparison and selection (PTX ISA 9.7.6, 9.7.7). */
#include "operation.h"

#ifndef __CUDACC__
/* Comparisons by name. Ordered ones are false and unordered ones true where an operand is NaN. */
#define eq(x, y) ((x) == (y))
#define ne(x, y) ((x) != (y) && IS_NUMBER(x, y))
#define lt(x, y) ((x) < (y))
#define le(x, y) ((x) <= (y))
#define gt(x, y) ((x) > (y))
#define ge(x, y) ((x) >= (y))
#define lo(x, y) lt(x, y)
#define ls(x, y) le(x, y)
#define hi(x, y) gt(x, y)
#define hs(x, y) ge(x, y)
#define equ(x, y) (!ne(x, y))
#define neu(x, y) (!eq(x, y))
#define ltu(x, y) (!ge(x, y))
#define leu(x, y) (!gt(x, y))
#define gtu(x, y) (!le(x, y))
#define geu(x, y) (!lt(x, y))
#define num(x, y) IS_NUMBER(x, y)
#define nan_(x, y) (!IS_NUMBER(x, y))
#define IS_NUMBER(x, y) ((x) == (x) && (y) == (y))
#endif

/* p in bit 0, q in bit 1. */
#define SETP(op, T, w, e)                                                          \
    TEXT2("setp." op "." T, PREDICATES("setp." op "." T " p|t, %1, %2;"), 32, w, w, (e) ? 1 : 2)
#define SETP_WITH(op, with, T, w, e, combine)                                      \
    TEXT3("setp." op "." with "." T, PREDICATES(LOW_BIT("q", "%3") "setp." op "." with "." T " p|t, %1, %2, q;"), 32, w, w, 32, \
          ((e)combine(c & 1)) | ((!(e))combine(c & 1)) << 1)
/* Without q. */
#define SETP_P(op, T, w, e) TEXT2("setp." op "." T, PREDICATE("setp." op "." T " p, %1, %2;"), 32, w, w, e)
#define SETP_P_WITH(op, with, T, w, e, combine)                                    \
    TEXT3("setp." op "." with "." T, PREDICATE(LOW_BIT("q", "%3") "setp." op "." with "." T " p, %1, %2, q;"), 32, w, w, 32, \
          (e)combine(c & 1))
#define SET(op, D, r, T, w, one, e) BINARY("set." op "." D "." T, r, w, w, (e) ? (one) : 0)
#define SET_WITH(op, with, D, r, T, w, one, e, combine)                            \
    TEXT3("set." op "." with "." D "." T, "{ " LOW_BIT("q", "%3") "set." op "." with "." D "." T " %0, %1, %2, q; }", r, w, w, \
          32, ((e)combine(c & 1)) ? (one) : 0)

#define EQUALITIES(X, ...) X(eq, __VA_ARGS__) X(ne, __VA_ARGS__)
#define ORDERS(X, ...)                                                             \
    EQUALITIES(X, __VA_ARGS__) X(lt, __VA_ARGS__) X(le, __VA_ARGS__) X(gt, __VA_ARGS__) X(ge, __VA_ARGS__)
#define UNSIGNED_ORDERS(X, ...)                                                    \
    ORDERS(X, __VA_ARGS__) X(lo, __VA_ARGS__) X(ls, __VA_ARGS__) X(hi, __VA_ARGS__) X(hs, __VA_ARGS__)
#define FLOAT_ORDERS(X, ...)                                                       \
    ORDERS(X, __VA_ARGS__) X(equ, __VA_ARGS__) X(neu, __VA_ARGS__) X(ltu, __VA_ARGS__) X(leu, __VA_ARGS__)               \
    X(gtu, __VA_ARGS__) X(geu, __VA_ARGS__) X(num, __VA_ARGS__) X(nan_, __VA_ARGS__)
#define ONE_F32 0x3f800000
#define COMBINED(X, ...) X("and", &&, __VA_ARGS__) X("or", ||, __VA_ARGS__) X("xor", !=, __VA_ARGS__)

GROUP(integer_predicates)
#define P(op, T, t, w) SETP(#op, #T, w, op((t)a, (t)b))
EQUALITIES(P, b16, u16, 16) EQUALITIES(P, b32, u32, 32) EQUALITIES(P, b64, u64, 64)
ORDERS(P, s16, s16, 16) ORDERS(P, s32, s32, 32) ORDERS(P, s64, s64, 64)
UNSIGNED_ORDERS(P, u16, u16, 16) UNSIGNED_ORDERS(P, u32, u32, 32) UNSIGNED_ORDERS(P, u64, u64, 64)
#undef P
#define P(with, combine, op, T, t, w) SETP_WITH(#op, with, #T, w, op((t)a, (t)b), combine)
COMBINED(P, eq, b16, u16, 16) COMBINED(P, ne, b32, u32, 32) COMBINED(P, eq, b64, u64, 64)
COMBINED(P, lt, s16, s16, 16) COMBINED(P, le, s32, s32, 32) COMBINED(P, gt, s64, s64, 64)
COMBINED(P, lo, u16, u16, 16) COMBINED(P, ls, u32, u32, 32) COMBINED(P, hi, u64, u64, 64)
#undef P
END

GROUP(integer_sets)
#define P(op, T, t, w) SET(#op, "u32", 32, #T, w, 0xffffffff, op((t)a, (t)b))
EQUALITIES(P, b16, u16, 16) EQUALITIES(P, b32, u32, 32) EQUALITIES(P, b64, u64, 64)
ORDERS(P, s16, s16, 16) ORDERS(P, s32, s32, 32) ORDERS(P, s64, s64, 64)
UNSIGNED_ORDERS(P, u16, u16, 16) UNSIGNED_ORDERS(P, u32, u32, 32) UNSIGNED_ORDERS(P, u64, u64, 64)
#undef P
#define P(T, t, w)                                                                 \
    SET("ne", "s32", 32, #T, w, 0xffffffff, (t)a != (t)b) SET("eq", "f32", 32, #T, w, ONE_F32, (t)a == (t)b)             \
    SET_WITH("eq", "and", "u32", 32, #T, w, 0xffffffff, (t)a == (t)b, &&)          \
    SET_WITH("ne", "or", "s32", 32, #T, w, 0xffffffff, (t)a != (t)b, ||)           \
    SET_WITH("ne", "xor", "f32", 32, #T, w, ONE_F32, (t)a != (t)b, !=)
P(b16, u16, 16) P(b32, u32, 32) P(b64, u64, 64) P(s16, s16, 16) P(s32, s32, 32) P(s64, s64, 64)
P(u16, u16, 16) P(u32, u32, 32) P(u64, u64, 64)
#undef P
#define P(T, t, w)                                                                 \
    SET("eq", "f16", 16, #T, w, 0x3c00, (t)a == (t)b) SET("ne", "bf16", 16, #T, w, 0x3f80, (t)a != (t)b)
P(b16, u16, 16) P(b32, u32, 32) P(b64, u64, 64) P(s16, s16, 16) P(s32, s32, 32) P(s64, s64, 64)
P(u16, u16, 16) P(u32, u32, 32) P(u64, u64, 64)
#undef P
END

#ifndef __CUDACC__
#define N(f, flags, i, op) op(operand(f, a >> i, flags), operand(f, b >> i, flags))
#endif
/* The names of comparisons in PTX; `nan` is a function of C. */
#define PTX_eq "eq"
#define PTX_ne "ne"
#define PTX_lt "lt"
#define PTX_le "le"
#define PTX_gt "gt"
#define PTX_ge "ge"
#define PTX_equ "equ"
#define PTX_neu "neu"
#define PTX_ltu "ltu"
#define PTX_leu "leu"
#define PTX_gtu "gtu"
#define PTX_geu "geu"
#define PTX_num "num"
#define PTX_nan_ "nan"

GROUP(float_predicates)
#define P(op, T, f, w, flags) SETP(PTX_##op, T, w, N(f, flags, 0, op))
FLOAT_ORDERS(P, "f32", F32, 32, 0) FLOAT_ORDERS(P, "f64", F64, 64, 0)
#undef P
#define P(op, T, f, w, flags) SETP_P(PTX_##op, T, w, N(f, flags, 0, op))
FLOAT_ORDERS(P, "f16", F16, 16, 0) FLOAT_ORDERS(P, "bf16", BF16, 16, 0)
EQUALITIES(P, "ftz.f32", F32, 32, FTZ) EQUALITIES(P, "ftz.f16", F16, 16, FTZ)
#undef P
#define P(with, combine, op, T, f, w, flags) SETP_WITH(PTX_##op, with, T, w, N(f, flags, 0, op), combine)
COMBINED(P, lt, "f32", F32, 32, 0) COMBINED(P, leu, "ftz.f32", F32, 32, FTZ) COMBINED(P, ne, "f64", F64, 64, 0)
#undef P
#define P(with, combine, op, T, f, w, flags) SETP_P_WITH(PTX_##op, with, T, w, N(f, flags, 0, op), combine)
COMBINED(P, gtu, "f16", F16, 16, 0) COMBINED(P, ge, "bf16", BF16, 16, 0)
#undef P
/* Packed: p is of the low half, q of the high one. */
#define P(op, T, f, flags)                                                         \
    TEXT2("setp." PTX_##op "." T, PREDICATES("setp." PTX_##op "." T " p|t, %1, %2;"), 32, 32, 32,                        \
          N(f, flags, 0, op) | N(f, flags, 16, op) << 1)
FLOAT_ORDERS(P, "f16x2", F16, 0) FLOAT_ORDERS(P, "bf16x2", BF16, 0) EQUALITIES(P, "ftz.f16x2", F16, FTZ)
#undef P
#define P(with, combine, op, T, f)                                                 \
    TEXT3("setp." PTX_##op "." with "." T, PREDICATES(LOW_BIT("q", "%3") "setp." PTX_##op "." with "." T                \
          " p|t, %1, %2, q;"), 32, 32, 32, 32, (N(f, 0, 0, op) combine(c & 1)) | (N(f, 0, 16, op) combine(c & 1)) << 1)
COMBINED(P, lt, "f16x2", F16) COMBINED(P, geu, "bf16x2", BF16)
#undef P
END

GROUP(float_sets)
#define P(op, T, f, w, D, r, one, flags) SET(PTX_##op, D, r, T, w, one, N(f, flags, 0, op))
FLOAT_ORDERS(P, "f32", F32, 32, "u32", 32, 0xffffffff, 0) FLOAT_ORDERS(P, "f64", F64, 64, "s32", 32, 0xffffffff, 0)
FLOAT_ORDERS(P, "f16", F16, 16, "f16", 16, 0x3c00, 0) FLOAT_ORDERS(P, "bf16", BF16, 16, "bf16", 16, 0x3f80, 0)
EQUALITIES(P, "f32", F32, 32, "s32", 32, 0xffffffff, 0) EQUALITIES(P, "f32", F32, 32, "f32", 32, ONE_F32, 0)
EQUALITIES(P, "f64", F64, 64, "u32", 32, 0xffffffff, 0) EQUALITIES(P, "f64", F64, 64, "f32", 32, ONE_F32, 0)
EQUALITIES(P, "f16", F16, 16, "u16", 16, 0xffff, 0) EQUALITIES(P, "f16", F16, 16, "s16", 16, 0xffff, 0)
EQUALITIES(P, "f16", F16, 16, "u32", 32, 0xffffffff, 0) EQUALITIES(P, "f16", F16, 16, "s32", 32, 0xffffffff, 0)
P(lt, "f32", F32, 32, "f16", 16, 0x3c00, 0) P(geu, "f32", F32, 32, "bf16", 16, 0x3f80, 0)
P(le, "f64", F64, 64, "f16", 16, 0x3c00, 0) P(num, "f64", F64, 64, "bf16", 16, 0x3f80, 0)
P(gt, "f16", F16, 16, "bf16", 16, 0x3f80, 0)
/* The manual's text and its semantics disagree on integers from bf16. */
BINARY("set.lt.u32.bf16", 32, 16, 16, UNDEFINED)
EQUALITIES(P, "f32", F32, 32, "ftz.u32", 32, 0xffffffff, FTZ) EQUALITIES(P, "f16", F16, 16, "ftz.f16", 16, 0x3c00, FTZ)
#undef P
#define P(with, combine, op, T, f, w, D, r, one) SET_WITH(PTX_##op, with, D, r, T, w, one, N(f, 0, 0, op), combine)
COMBINED(P, lt, "f32", F32, 32, "u32", 32, 0xffffffff) COMBINED(P, geu, "f64", F64, 64, "f32", 32, ONE_F32)
COMBINED(P, ne, "f16", F16, 16, "f16", 16, 0x3c00) COMBINED(P, neu, "bf16", BF16, 16, "bf16", 16, 0x3f80)
#undef P
#define P(op, T, f, D, one, flags)                                                 \
    BINARY("set." PTX_##op "." D "." T, 32, 32, 32, (u32)(N(f, flags, 0, op) ? one : 0) | (u32)(N(f, flags, 16, op) ? one : 0) << 16)
FLOAT_ORDERS(P, "f16x2", F16, "f16x2", 0x3c00, 0) FLOAT_ORDERS(P, "bf16x2", BF16, "bf16x2", 0x3f80, 0)
EQUALITIES(P, "f16x2", F16, "u32", 0xffff, 0) EQUALITIES(P, "f16x2", F16, "s32", 0xffff, 0)
EQUALITIES(P, "f16x2", F16, "ftz.f16x2", 0x3c00, FTZ)
#undef P
#define P(with, combine, op, T, f, one)                                            \
    TEXT3("set." PTX_##op "." with "." T "." T, "{ " LOW_BIT("q", "%3") "set." PTX_##op "." with "." T "." T             \
          " %0, %1, %2, q; }", 32, 32, 32, 32,                                     \
          (u32)(N(f, 0, 0, op) combine(c & 1) ? one : 0) | (u32)(N(f, 0, 16, op) combine(c & 1) ? one : 0) << 16)
COMBINED(P, lt, "f16x2", F16, 0x3c00) COMBINED(P, geu, "bf16x2", BF16, 0x3f80)
#undef P
END

GROUP(selections)
#define X(T, w) TEXT3("selp." #T, "{ " LOW_BIT("q", "%3") "selp." #T " %0, %1, %2, q; }", w, w, w, 32, c & 1 ? a : b)
X(b16, 16) X(b32, 32) X(b64, 64) X(u16, 16) X(u32, 32) X(u64, 64) X(s16, 16) X(s32, 32) X(s64, 64) X(f32, 32)
#undef X
TEXT3("selp.f64", "{ .reg .f64 x, y; " LOW_BIT("q", "%3") "mov.b64 x, %1; mov.b64 y, %2; selp.f64 x, x, y, q; mov.b64 %0, x; }",
      64, 64, 64, 32, c & 1 ? a : b)
#define X(T, w)                                                                    \
    TERNARY("slct." #T ".s32", w, w, w, 32, (s32)c >= 0 ? a : b)                   \
    TERNARY("slct." #T ".f32", w, w, w, 32, number(F32, c) >= 0 ? a : b)           \
    TERNARY("slct.ftz." #T ".f32", w, w, w, 32, operand(F32, c, FTZ) >= 0 ? a : b)
X(b16, 16) X(b32, 32) X(b64, 64) X(u16, 16) X(u32, 32) X(u64, 64) X(s16, 16) X(s32, 32) X(s64, 64) X(f32, 32) X(f64, 64)
#undef X
TEXT2("slct.u32.f32 by a literal", "slct.u32.f32 %0, %1, %2, 1.5;", 32, 32, 32, a)
TEXT2("slct.u32.f32 by a literal", "slct.u32.f32 %0, %1, %2, 0fBF800000;", 32, 32, 32, b)
END

#ifndef __CUDACC__
int main(void) {
    if (!read_inputs())
        return 1;
    integer_predicates(), integer_sets(), float_predicates(), float_sets(), selections();
    return 0;
}
#endif
