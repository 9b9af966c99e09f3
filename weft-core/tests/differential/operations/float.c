/* Floating-point arithmetic (PTX ISA 9.7.3 to 9.7.5). */
#include "operation.h"

#define MODES(X, ...) X("rn", RN, __VA_ARGS__) X("rz", RZ, __VA_ARGS__) X("rm", RM, __VA_ARGS__) X("rp", RP, __VA_ARGS__)
#define NEAREST(X, ...) X("rn", RN, __VA_ARGS__)
#define SUMS(M, T, f, w, flags) M(BINARY_IN, "add", '+', T, f, w, flags) M(BINARY_IN, "sub", '-', T, f, w, flags)
#define PRODUCTS(M, T, f, w, flags) M(BINARY_IN, "mul", '*', T, f, w, flags) M(TERNARY_IN, "fma", 'f', T, f, w, flags)
#define UNARY_IN(name, mode, op, sign, T, f, w, flags)                             \
    UNARY(op "." name "." T, w, w, arithmetic(f, sign, a, a, a, mode, flags))
#define BINARY_IN(name, mode, op, sign, T, f, w, flags)                            \
    BINARY(op "." name "." T, w, w, w, arithmetic(f, sign, a, b, a, mode, flags))
#define TERNARY_IN(name, mode, op, sign, T, f, w, flags)                           \
    TERNARY(op "." name "." T, w, w, w, w, arithmetic(f, sign, a, b, c, mode, flags))

GROUP(single_precision)
#define ALL(T, flags)                                                              \
    SUMS(MODES, T, F32, 32, flags) PRODUCTS(MODES, T, F32, 32, flags) MODES(TERNARY_IN, "mad", 'f', T, F32, 32, flags)
ALL("f32", 0) ALL("ftz.f32", FTZ) ALL("sat.f32", SAT) ALL("ftz.sat.f32", FTZ | SAT)
#undef ALL
#define ALL(T, flags)                                                              \
    MODES(BINARY_IN, "div", '/', T, F32, 32, flags) MODES(UNARY_IN, "rcp", 'r', T, F32, 32, flags)                       \
    MODES(UNARY_IN, "sqrt", 's', T, F32, 32, flags)
ALL("f32", 0) ALL("ftz.f32", FTZ)
#undef ALL
END

GROUP(double_precision)
SUMS(MODES, "f64", F64, 64, 0) PRODUCTS(MODES, "f64", F64, 64, 0) MODES(TERNARY_IN, "mad", 'f', "f64", F64, 64, 0)
MODES(BINARY_IN, "div", '/', "f64", F64, 64, 0) MODES(UNARY_IN, "rcp", 'r', "f64", F64, 64, 0)
MODES(UNARY_IN, "sqrt", 's', "f64", F64, 64, 0)
END

GROUP(half_precision)
#define ALL(T, f, flags) SUMS(NEAREST, T, f, 16, flags) PRODUCTS(NEAREST, T, f, 16, flags)
ALL("f16", F16, 0) ALL("ftz.f16", F16, FTZ) ALL("sat.f16", F16, SAT) ALL("ftz.sat.f16", F16, FTZ | SAT) ALL("bf16", BF16, 0)
#undef ALL
NEAREST(TERNARY_IN, "fma", 'f', "relu.f16", F16, 16, RELU) NEAREST(TERNARY_IN, "fma", 'f', "ftz.relu.f16", F16, 16, FTZ | RELU)
NEAREST(TERNARY_IN, "fma", 'f', "relu.bf16", BF16, 16, RELU)
END

#ifndef __CUDACC__
/* The operation that the halves of packed operands go through. */
static struct { format f; char sign; int mode, flags; } each;
#define HALF(i) arithmetic(each.f, each.sign, a >> i, b >> i, c >> i, each.mode, each.flags)
#define WORD(i) ((u64)(u32)arithmetic(F32, each.sign, (u32)(a >> i), (u32)(b >> i), (u32)(c >> i), each.mode, each.flags))
#define EACH(format_, sign_, mode_, flags_) (each.f = format_, each.sign = sign_, each.mode = mode_, each.flags = flags_)
#endif

GROUP(packed_halves)
#define PACKED(name, mode, op, sign, T, f, flags)                                  \
    TERNARY(op "." name "." T, 32, 32, 32, 32, (EACH(f, sign, mode, flags), HALVES(HALF)))
#define PACKED2(name, mode, op, sign, T, f, flags)                                 \
    TEXT3(op "." name "." T, op "." name "." T " %0, %1, %2;", 32, 32, 32, 32, (EACH(f, sign, mode, flags), HALVES(HALF)))
#define ALL(T, f, flags)                                                           \
    NEAREST(PACKED2, "add", '+', T, f, flags) NEAREST(PACKED2, "sub", '-', T, f, flags) NEAREST(PACKED2, "mul", '*', T, f, flags) \
    NEAREST(PACKED, "fma", 'f', T, f, flags)
ALL("f16x2", F16, 0) ALL("ftz.f16x2", F16, FTZ) ALL("sat.f16x2", F16, SAT) ALL("ftz.sat.f16x2", F16, FTZ | SAT)
ALL("bf16x2", BF16, 0)
#undef ALL
NEAREST(PACKED, "fma", 'f', "relu.f16x2", F16, RELU) NEAREST(PACKED, "fma", 'f', "ftz.relu.f16x2", F16, FTZ | RELU)
NEAREST(PACKED, "fma", 'f', "relu.bf16x2", BF16, RELU)
END

GROUP(packed_singles)
#define PAIR3(name, mode, op, sign, T, flags)                                      \
    TEXT3(op "." name "." T, op "." name "." T " %0, %1, %2, %3;", 64, 64, 64, 64, (EACH(F32, sign, mode, flags), WORD(0) | WORD(32) << 32))
#define PAIR2(name, mode, op, sign, T, flags)                                      \
    TEXT3(op "." name "." T, op "." name "." T " %0, %1, %2;", 64, 64, 64, 64, (EACH(F32, sign, mode, flags), WORD(0) | WORD(32) << 32))
#define ALL(T, flags)                                                              \
    MODES(PAIR2, "add", '+', T, flags) MODES(PAIR2, "sub", '-', T, flags) MODES(PAIR2, "mul", '*', T, flags) MODES(PAIR3, "fma", 'f', T, flags)
ALL("f32x2", 0) ALL("ftz.f32x2", FTZ)
#undef ALL
END

GROUP(mixed_precision)
#define MIX2(name, mode, op, sign, T, f, flags)                                    \
    TEXT3(op "." name "." T, op "." name "." T " %0, %1, %2;", 32, 16, 32, 32,     \
          finished(F32, single(sign, (float)number(f, a), (float)number(F32, b), 0, mode), flags))
#define MIX3(name, mode, op, sign, T, f, flags)                                    \
    TEXT3(op "." name "." T, op "." name "." T " %0, %1, %2, %3;", 32, 16, 16, 32, \
          finished(F32, single(sign, (float)number(f, a), (float)number(f, b), (float)number(F32, c), mode), flags))
#define ALL(T, f, flags) MODES(MIX2, "add", '+', T, f, flags) MODES(MIX2, "sub", '-', T, f, flags) MODES(MIX3, "fma", 'f', T, f, flags)
ALL("f32.f16", F16, 0) ALL("f32.bf16", BF16, 0) ALL("sat.f32.f16", F16, SAT) ALL("sat.f32.bf16", BF16, SAT)
#undef ALL
END

#ifndef __CUDACC__
#define SIGN(f) ((u64)1 << (f.width - 1))
static inline u64 absolute(format f, u64 a, int flags) {
    return is_inexact = 0, finished(f, fabs(operand(f, a, flags)), flags);
}
static inline u64 negated(format f, u64 a, int flags) {
    return is_inexact = 0, finished(f, -operand(f, a, flags), flags);
}
#define IS_SUBNORMAL(f, a) (number(f, a) != 0 && fabs(number(f, a)) < ldexp(1, f.least))
#endif

GROUP(signs)
#define ALL(T, f, w, flags)                                                        \
    UNARY("abs." T, w, w, absolute(f, a, flags)) UNARY("neg." T, w, w, negated(f, a, flags))
ALL("f16", F16, 16, 0) ALL("ftz.f16", F16, 16, FTZ) ALL("bf16", BF16, 16, 0) ALL("f32", F32, 32, 0)
ALL("ftz.f32", F32, 32, FTZ) ALL("f64", F64, 64, 0)
#undef ALL
#ifdef __CUDACC__
#define PARTS(of, f, flags)
#else
#define PARTS(of, f, flags) (packed_low = of(f, a & 0xffff, flags), packed_high = of(f, a >> 16, flags), packed_low | packed_high << 16)
#endif
#define ALL(T, f, flags)                                                           \
    UNARY("abs." T, 32, 32, PARTS(absolute, f, flags)) UNARY("neg." T, 32, 32, PARTS(negated, f, flags))
ALL("f16x2", F16, 0) ALL("ftz.f16x2", F16, FTZ) ALL("bf16x2", BF16, 0)
#undef ALL
BINARY("copysign.f32", 32, 32, 32, (b & ~SIGN(F32)) | (a & SIGN(F32)))
BINARY("copysign.f64", 64, 64, 64, (b & ~SIGN(F64)) | (a & SIGN(F64)))
END

GROUP(properties)
#define TESTP(name, T, w, e) TEXT1("testp." name "." T, PREDICATE("testp." name "." T " p, %1;"), 32, w, (e) != 0)
#define ALL(T, f, w)                                                               \
    TESTP("finite", T, w, isfinite(number(f, a))) TESTP("infinite", T, w, isinf(number(f, a)))                           \
    TESTP("number", T, w, !isnan(number(f, a))) TESTP("notanumber", T, w, isnan(number(f, a)))                           \
    TESTP("normal", T, w, isfinite(number(f, a)) && !IS_SUBNORMAL(f, a)) TESTP("subnormal", T, w, IS_SUBNORMAL(f, a))
ALL("f32", F32, 32) ALL("f64", F64, 64)
#undef ALL
END

#ifndef __CUDACC__
static int pair_is_max, pair_flags;
static format pair_format;
#define PART(i) extremum(pair_format, a >> i & 0xffff, b >> i & 0xffff, pair_is_max, pair_flags)
#define PAIRS(f, is_max, flags) (pair_format = f, pair_is_max = is_max, pair_flags = flags, HALVES(PART))
#endif

GROUP(extrema)
#define BOTH(T, f, w, flags)                                                       \
    BINARY("min." T, w, w, w, extremum(f, a, b, 0, flags)) BINARY("max." T, w, w, w, extremum(f, a, b, 1, flags))
#define EVERY(X, T, ...)                                                           \
    X(T, __VA_ARGS__, 0) X("NaN." T, __VA_ARGS__, PROPAGATES) X("xorsign.abs." T, __VA_ARGS__, XORSIGN | ABSOLUTE)       \
    X("NaN.xorsign.abs." T, __VA_ARGS__, PROPAGATES | XORSIGN | ABSOLUTE)
EVERY(BOTH, "f32", F32, 32) EVERY(BOTH, "f16", F16, 16) EVERY(BOTH, "bf16", BF16, 16) BOTH("f64", F64, 64, 0)
BOTH("ftz.f32", F32, 32, FTZ) BOTH("ftz.f16", F16, 16, FTZ) BOTH("ftz.NaN.f32", F32, 32, FTZ | PROPAGATES)
#undef BOTH
#define BOTH(T, f, flags)                                                          \
    BINARY("min." T, 32, 32, 32, PAIRS(f, 0, flags)) BINARY("max." T, 32, 32, 32, PAIRS(f, 1, flags))
EVERY(BOTH, "f16x2", F16) EVERY(BOTH, "bf16x2", BF16) BOTH("ftz.f16x2", F16, FTZ)
#undef BOTH
#define BOTH(T, flags)                                                             \
    TERNARY("min." T, 32, 32, 32, 32, extremum_of_three(F32, a, b, c, 0, flags))   \
    TERNARY("max." T, 32, 32, 32, 32, extremum_of_three(F32, a, b, c, 1, flags))
BOTH("abs.f32", 0) BOTH("NaN.abs.f32", PROPAGATES) BOTH("ftz.abs.f32", FTZ)
#undef BOTH
END

#ifndef __CUDACC__
int main(void) {
    if (!read_inputs())
        return 1;
    single_precision(), double_precision(), half_precision(), packed_halves(), packed_singles(), mixed_precision();
    signs(), properties(), extrema();
    return 0;
}
#endif
