/* Conversions (PTX ISA 9.7.9.21, 9.7.9.22). */
#include "operation.h"

#ifndef __CUDACC__
static inline __int128 limited(__int128 value, int width, int is_signed) {
    __int128 one = 1, least = is_signed ? -(one << (width - 1)) : 0;
    __int128 greatest = is_signed ? (one << (width - 1)) - 1 : (one << width) - 1;
    return value < least ? least : value > greatest ? greatest : value;
}

/* The whole number of a float that is rounded, as an integer in the range of the result. */
static inline u64 to_integer(format f, u64 bits, int width, int is_signed, int mode, int flags) {
    double value = operand(f, bits, flags);
    if (isnan(value)) {
        /* The manual's rule for narrow results of an f64 contradicts what it says of clamping. */
        if (f.width == 64 && width < 32)
            return UNDEFINED;
        return f.width == 64 || width == 64 ? (u64)1 << (width - 1) : 0;
    }
    value = whole(value, mode);
    if (value >= 0x1p100 || value <= -0x1p100)
        value = copysign(0x1p100, value);
    return (u64)limited((__int128)value, width, is_signed);
}

static inline u64 extended(u64 bits, int width, int is_signed) {
    bits <<= 64 - width;
    return is_signed ? (u64)((s64)bits >> (64 - width)) : bits >> (64 - width);
}

/* An integer as a float: exact in pieces of 32 bits, so rounded once. */
static inline u64 from_integer(format f, u64 value, int is_negative, int mode, int flags) {
    double magnitude;
    if (f.width == 64) {
        /* The host's own conversion, in the mirrored mode for negative numbers. */
        volatile u64 source = value;
        fesetround(!is_negative ? mode : mode == RM ? RP : mode == RP ? RM : mode);
        volatile double high = (double)(u32)(source >> 32), low = (double)(u32)source;
        volatile double sum = high * 0x1p32 + low;
        magnitude = sum;
        fesetround(RN);
        is_inexact = 0;
        return finished(f, is_negative ? -magnitude : magnitude, flags);
    }
    magnitude = odd_sum((double)(value >> 32) * 0x1p32, (double)(u32)value);
    return finished(f, rounded(f, is_negative ? -magnitude : magnitude, mode), flags);
}
#define FROM(T, x, f, mode, flags)                                                 \
    from_integer(f, (T)(x) < 0 ? -(u64)(s64)(T)(x) : (u64)(T)(x), (T)(x) < 0, mode, flags)

static inline u64 reformatted(format to, format from, u64 bits, int mode, int flags, int from_flags, int to_flags) {
    double value = operand(from, bits, from_flags);
    is_inexact = 0;
    return finished(to, to.width == 64 ? value : rounded(to, value, mode), flags | to_flags);
}

static inline u64 integral(format f, u64 bits, int mode, int flags) {
    is_inexact = 0;
    return finished(f, whole(operand(f, bits, flags), mode), flags & ~FTZ);
}

static inline u32 packed(s32 a, s32 b, u32 c, int width, int is_signed) {
    u64 mask = ((u64)1 << width) - 1;
    u64 both = ((u64)limited(a, width, is_signed) & mask) << width | ((u64)limited(b, width, is_signed) & mask);
    return (u32)(width == 16 ? both : (u64)c << (2 * width) | both);
}
#endif

/* Registers are at least 16 bits wide, or of the type's width. */
#define FOR_INTEGERS(X, ...)                                                       \
    X(u8, 16, 8, 0, __VA_ARGS__) X(u16, 16, 16, 0, __VA_ARGS__) X(u32, 32, 32, 0, __VA_ARGS__) X(u64, 64, 64, 0, __VA_ARGS__) \
    X(s8, 16, 8, 1, __VA_ARGS__) X(s16, 16, 16, 1, __VA_ARGS__) X(s32, 32, 32, 1, __VA_ARGS__) X(s64, 64, 64, 1, __VA_ARGS__)
#define EACH_INTEGER(X, ...)                                                       \
    X(u8, 16, 8, 0, __VA_ARGS__) X(u16, 16, 16, 0, __VA_ARGS__) X(u32, 32, 32, 0, __VA_ARGS__) X(u64, 64, 64, 0, __VA_ARGS__) \
    X(s8, 16, 8, 1, __VA_ARGS__) X(s16, 16, 16, 1, __VA_ARGS__) X(s32, 32, 32, 1, __VA_ARGS__) X(s64, 64, 64, 1, __VA_ARGS__)
/* With bf16 no register may be wider than its type. */
#define FOR_WIDE_INTEGERS(X, ...)                                                  \
    X(u16, 16, 16, 0, __VA_ARGS__) X(u32, 32, 32, 0, __VA_ARGS__) X(u64, 64, 64, 0, __VA_ARGS__)                         \
    X(s16, 16, 16, 1, __VA_ARGS__) X(s32, 32, 32, 1, __VA_ARGS__) X(s64, 64, 64, 1, __VA_ARGS__)

/* A register wider than the type: signs extend. */
GROUP(between_integers)
#define FROM_TYPE(F, fw, fb, fs, T, tw) UNARY("cvt." #T "." #F, tw, fw, (s64)(T)(F)a)
#define TO_TYPE(T, tw, tb, ts, dummy) EACH_INTEGER(FROM_TYPE, T, tw)
FOR_INTEGERS(TO_TYPE, 0)
#undef TO_TYPE
#undef FROM_TYPE
TEXT1("cvt.s32.s8 wide", "{ .reg .s64 x; cvt.s8.s32 x, %1; mov.b64 %0, x; }", 64, 32, (s64)(s8)a)
TEXT1("cvt.u16.u32 wide", "{ .reg .u64 x; cvt.u16.u32 x, %1; mov.b64 %0, x; }", 64, 32, (u16)a)
END

GROUP(saturated_integers)
#define S(T, tw, tb, ts, F, fw) UNARY("cvt.sat." #T "." #F, tw, fw, (s64)(T)limited((F)a, tb, ts))
#define U8(F, w) S(u8, 32, 8, 0, F, w)
#define S8(F, w) S(s8, 32, 8, 1, F, w)
U8(u16, 16) U8(u32, 32) U8(u64, 64) U8(s8, 32) U8(s16, 16) U8(s32, 32) U8(s64, 64)
S8(u8, 32) S8(u16, 16) S8(u32, 32) S8(u64, 64) S8(s16, 16) S8(s32, 32) S8(s64, 64)
S(u16, 16, 16, 0, u32, 32) S(u16, 16, 16, 0, u64, 64) S(u16, 16, 16, 0, s8, 32) S(u16, 16, 16, 0, s16, 16)
S(u16, 16, 16, 0, s32, 32) S(u16, 16, 16, 0, s64, 64)
S(s16, 16, 16, 1, u16, 16) S(s16, 16, 16, 1, u32, 32) S(s16, 16, 16, 1, u64, 64) S(s16, 16, 16, 1, s32, 32)
S(s16, 16, 16, 1, s64, 64)
S(u32, 32, 32, 0, u64, 64) S(u32, 32, 32, 0, s8, 32) S(u32, 32, 32, 0, s16, 16) S(u32, 32, 32, 0, s32, 32)
S(u32, 32, 32, 0, s64, 64)
S(s32, 32, 32, 1, u32, 32) S(s32, 32, 32, 1, u64, 64) S(s32, 32, 32, 1, s64, 64)
S(u64, 64, 64, 0, s8, 32) S(u64, 64, 64, 0, s16, 16) S(u64, 64, 64, 0, s32, 32) S(u64, 64, 64, 0, s64, 64)
S(s64, 64, 64, 1, u64, 64)
#undef U8
#undef S8
#undef S
BINARY("cvt.pack.sat.u16.s32", 32, 32, 32, packed(a, b, 0, 16, 0))
BINARY("cvt.pack.sat.s16.s32", 32, 32, 32, packed(a, b, 0, 16, 1))
#define P(T, w, s) TERNARY("cvt.pack.sat." #T ".s32.b32", 32, 32, 32, 32, packed(a, b, c, w, s))
P(u8, 8, 0) P(s8, 8, 1) P(u4, 4, 0) P(s4, 4, 1) P(u2, 2, 0) P(s2, 2, 1)
#undef P
END

#define WHOLE_MODES(X, ...) X("rni", RN, __VA_ARGS__) X("rzi", RZ, __VA_ARGS__) X("rmi", RM, __VA_ARGS__) X("rpi", RP, __VA_ARGS__)
#define MODES(X, ...) X("rn", RN, __VA_ARGS__) X("rz", RZ, __VA_ARGS__) X("rm", RM, __VA_ARGS__) X("rp", RP, __VA_ARGS__)

GROUP(integers_from_floats)
#define C(name, mode, F, f, fw, T, tw, tb, ts, flags)                              \
    UNARY("cvt." name "." T "." F, tw, fw, (s64)extended(to_integer(f, a, tb, ts, mode, flags), tb, ts))
#define TO_TYPE(T, tw, tb, ts, F, f, fw) WHOLE_MODES(C, F, f, fw, #T, tw, tb, ts, 0)
FOR_INTEGERS(TO_TYPE, "f16", F16, 16)
FOR_WIDE_INTEGERS(TO_TYPE, "bf16", BF16, 16)
FOR_INTEGERS(TO_TYPE, "f32", F32, 32)
FOR_INTEGERS(TO_TYPE, "f64", F64, 64)
#undef TO_TYPE
#define TO_TYPE(T, tw, tb, ts, F, f, fw) C("rpi", RP, F, f, fw, "ftz." #T, tw, tb, ts, FTZ) C("rmi", RM, F, f, fw, "ftz." #T, tw, tb, ts, FTZ)
FOR_INTEGERS(TO_TYPE, "f32", F32, 32)
#undef TO_TYPE
#undef C
#define C(name, mode, T, to, ts)                                                   \
    TEXT1("cvt." name "." #T ".bf16", "{ .reg ." #T " x; cvt." name "." #T ".bf16 x, %1; cvt." to "." #T " %0, x; }", 16, 16, \
          (s64)(T)to_integer(BF16, a, 8, ts, mode, 0))
WHOLE_MODES(C, u8, "u16", 0) WHOLE_MODES(C, s8, "s16", 1)
#undef C
END

GROUP(floats_from_integers)
#define C(name, mode, F, f, fw, t, T, tw, flags) UNARY("cvt." name "." F "." T, fw, tw, FROM(t, a, f, mode, flags))
#define FROM_TYPE(T, tw, tb, ts, F, f, fw) MODES(C, F, f, fw, T, #T, tw, 0)
FOR_INTEGERS(FROM_TYPE, "f16", F16, 16)
FOR_WIDE_INTEGERS(FROM_TYPE, "bf16", BF16, 16)
FOR_INTEGERS(FROM_TYPE, "f32", F32, 32)
FOR_INTEGERS(FROM_TYPE, "f64", F64, 64)
#undef FROM_TYPE
#define FROM_TYPE(T, tw, tb, ts, F, f, fw) C("rn", RN, F, f, fw, T, #T, tw, SAT)
FOR_INTEGERS(FROM_TYPE, "sat.f16", F16, 16)
FOR_INTEGERS(FROM_TYPE, "sat.f32", F32, 32)
FOR_INTEGERS(FROM_TYPE, "sat.f64", F64, 64)
#undef FROM_TYPE
#undef C
#define C(name, mode, T)                                                           \
    TEXT1("cvt." name ".bf16." #T, "{ .reg ." #T " x; cvt." #T ".u16 x, %1; cvt." name ".bf16." #T " %0, x; }", 16, 16,   \
          FROM(T, a, BF16, mode, 0))
MODES(C, u8) MODES(C, s8)
#undef C
END

GROUP(same_floats)
#define C(name, mode, F, f, w, flags) UNARY("cvt." name "." F, w, w, integral(f, a, mode, flags))
WHOLE_MODES(C, "f16.f16", F16, 16, 0) WHOLE_MODES(C, "bf16.bf16", BF16, 16, 0)
WHOLE_MODES(C, "f32.f32", F32, 32, 0) WHOLE_MODES(C, "f64.f64", F64, 64, 0)
WHOLE_MODES(C, "ftz.f32.f32", F32, 32, FTZ) WHOLE_MODES(C, "sat.f32.f32", F32, 32, SAT)
WHOLE_MODES(C, "ftz.sat.f32.f32", F32, 32, FTZ | SAT) WHOLE_MODES(C, "sat.f16.f16", F16, 16, SAT)
WHOLE_MODES(C, "sat.f64.f64", F64, 64, SAT)
#undef C
#define C(name, f, w, flags) UNARY("cvt." name, w, w, (is_inexact = 0, finished(f, operand(f, a, flags), flags)))
C("f32.f32", F32, 32, 0) C("ftz.f32.f32", F32, 32, FTZ) C("sat.f32.f32", F32, 32, SAT)
C("ftz.sat.f32.f32", F32, 32, FTZ | SAT) C("f64.f64", F64, 64, 0) C("sat.f64.f64", F64, 64, SAT)
C("f16.f16", F16, 16, 0) C("sat.f16.f16", F16, 16, SAT)
#undef C
END

GROUP(wider_floats)
#define C(name, to, tw, from, fw, flags, ff, tf) UNARY("cvt." name, tw, fw, reformatted(to, from, a, RN, flags, ff, tf))
C("f32.f16", F32, 32, F16, 16, 0, 0, 0) C("ftz.f32.f16", F32, 32, F16, 16, 0, 0, FTZ)
C("sat.f32.f16", F32, 32, F16, 16, SAT, 0, 0) C("f64.f16", F64, 64, F16, 16, 0, 0, 0)
C("sat.f64.f16", F64, 64, F16, 16, SAT, 0, 0) C("f64.f32", F64, 64, F32, 32, 0, 0, 0)
C("ftz.f64.f32", F64, 64, F32, 32, 0, FTZ, 0) C("sat.f64.f32", F64, 64, F32, 32, SAT, 0, 0)
C("f32.bf16", F32, 32, BF16, 16, 0, 0, 0) C("ftz.f32.bf16", F32, 32, BF16, 16, 0, 0, FTZ)
C("f64.bf16", F64, 64, BF16, 16, 0, 0, 0)
#undef C
END

#ifndef __CUDACC__
#define CONVERTED(i) reformatted(pair_format, F32, i ? a : b, pair_mode, pair_flags, 0, 0)
static format pair_format;
static int pair_mode, pair_flags;
#endif

GROUP(narrower_floats)
#define C(mode_name, mode, name, to, tw, from, fw, flags, ff, tf)                  \
    UNARY("cvt." mode_name "." name, tw, fw, reformatted(to, from, a, mode, flags, ff, tf))
MODES(C, "f16.f32", F16, 16, F32, 32, 0, 0, 0) MODES(C, "ftz.f16.f32", F16, 16, F32, 32, 0, FTZ, 0)
MODES(C, "sat.f16.f32", F16, 16, F32, 32, SAT, 0, 0) MODES(C, "f16.f64", F16, 16, F64, 64, 0, 0, 0)
MODES(C, "sat.f16.f64", F16, 16, F64, 64, SAT, 0, 0) MODES(C, "f32.f64", F32, 32, F64, 64, 0, 0, 0)
MODES(C, "ftz.f32.f64", F32, 32, F64, 64, 0, 0, FTZ) MODES(C, "sat.f32.f64", F32, 32, F64, 64, SAT, 0, 0)
MODES(C, "bf16.f16", BF16, 16, F16, 16, 0, 0, 0) MODES(C, "bf16.f64", BF16, 16, F64, 64, 0, 0, 0)
MODES(C, "f16.bf16", F16, 16, BF16, 16, 0, 0, 0)
#define TWO(X, ...) X("rn", RN, __VA_ARGS__) X("rz", RZ, __VA_ARGS__)
TWO(C, "bf16.f32", BF16, 16, F32, 32, 0, 0, 0)
TWO(C, "relu.f16.f32", F16, 16, F32, 32, RELU, 0, 0) TWO(C, "relu.bf16.f32", BF16, 16, F32, 32, RELU, 0, 0)
TWO(C, "satfinite.f16.f32", F16, 16, F32, 32, SATFINITE, 0, 0)
TWO(C, "satfinite.bf16.f32", BF16, 16, F32, 32, SATFINITE, 0, 0)
TWO(C, "relu.satfinite.f16.f32", F16, 16, F32, 32, RELU | SATFINITE, 0, 0)
TWO(C, "relu.satfinite.bf16.f32", BF16, 16, F32, 32, RELU | SATFINITE, 0, 0)
#undef C
#define C(mode_name, mode, name, f, flags)                                         \
    BINARY("cvt." mode_name "." name ".f32", 32, 32, 32,                           \
           (pair_format = f, pair_mode = mode, pair_flags = flags, HALVES(CONVERTED)))
TWO(C, "f16x2", F16, 0) TWO(C, "bf16x2", BF16, 0) TWO(C, "relu.f16x2", F16, RELU) TWO(C, "relu.bf16x2", BF16, RELU)
TWO(C, "satfinite.f16x2", F16, SATFINITE) TWO(C, "satfinite.bf16x2", BF16, SATFINITE)
TWO(C, "relu.satfinite.f16x2", F16, RELU | SATFINITE) TWO(C, "relu.satfinite.bf16x2", BF16, RELU | SATFINITE)
#undef C
END

#ifndef __CUDACC__
int main(void) {
    if (!read_inputs())
        return 1;
    between_integers(), saturated_integers(), integers_from_floats(), floats_from_integers(), same_floats();
    wider_floats(), narrower_floats();
    return 0;
}
#endif
