/* Integer arithmetic (PTX ISA 9.7.1, 9.7.2). */
#include "operation.h"

#ifndef __CUDACC__
typedef __int128 wide;

/* The bits from `low` on of an exact result. */
static inline u64 from(wide value, int low) { return (u64)((unsigned __int128)value >> low); }

static inline wide clamp(wide value, wide least, wide greatest) {
    return value < least ? least : value > greatest ? greatest : value;
}
#define CLAMP_S32(value) ((u32)(s32)clamp(value, INT32_MIN, INT32_MAX))
#define DISTANCE(a, b) ((wide)(a) < (wide)(b) ? (wide)(b) - (a) : (wide)(a) - (b))
#define LESSER(T, a, b) ((T)(a) < (T)(b) ? (a) : (b))
#define GREATER(T, a, b) ((T)(a) < (T)(b) ? (b) : (a))
#define POSITIVE(T, a) ((T)(a) < 0 ? 0 : (a))

static inline wide low24(u32 value, int is_signed) {
    return is_signed ? (wide)((s32)(value << 8) >> 8) : (wide)(value & 0xffffff);
}

static inline u32 dot(u32 a, u32 b, u32 c, int parts, int first, int a_signed, int b_signed) {
    for (int i = 0; i < parts; i++) {
        int width = 32 / parts;
        u32 x = a >> (width * i), y = b >> (8 * (first + i));
        s64 p = parts == 4 ? (a_signed ? (s64)(s8)x : (s64)(u8)x) : (a_signed ? (s64)(s16)x : (s64)(u16)x);
        s64 q = b_signed ? (s64)(s8)y : (s64)(u8)y;
        c += (u32)(p * q);
    }
    return c;
}
#define ADD(i) ((a >> i) + (b >> i))
#define MIN_U(i) LESSER(u16, (u16)(a >> i), (u16)(b >> i))
#define MAX_U(i) GREATER(u16, (u16)(a >> i), (u16)(b >> i))
#define MIN_S(i) (u16)LESSER(s16, (u16)(a >> i), (u16)(b >> i))
#define MAX_S(i) (u16)GREATER(s16, (u16)(a >> i), (u16)(b >> i))
#define MIN_P(i) POSITIVE(s16, MIN_S(i))
#define MAX_P(i) POSITIVE(s16, MAX_S(i))
#endif

#define ALL(X) X(u16, 16) X(u32, 32) X(u64, 64) X(s16, 16) X(s32, 32) X(s64, 64)
#define SIGNED(X) X(s16, 16) X(s32, 32) X(s64, 64)

GROUP(sums)
#define X(T, w) BINARY("add." #T, w, w, w, a + b) BINARY("sub." #T, w, w, w, a - b)
ALL(X)
#undef X
BINARY("add.u16x2", 32, 32, 32, HALVES(ADD))
BINARY("add.s16x2", 32, 32, 32, HALVES(ADD))
BINARY("add.sat.s32", 32, 32, 32, CLAMP_S32((wide)(s32)a + (s32)b))
BINARY("sub.sat.s32", 32, 32, 32, CLAMP_S32((wide)(s32)a - (s32)b))
#define X(T, w) UNARY("abs." #T, w, w, (T)a < 0 ? -a : a) UNARY("neg." #T, w, w, -a)
SIGNED(X)
#undef X
#define X(T, w) TERNARY("sad." #T, w, w, w, w, from((wide)c + DISTANCE((T)a, (T)b), 0))
ALL(X)
#undef X
END

GROUP(products)
#define X(T, w)                                                                    \
    BINARY("mul.lo." #T, w, w, w, from((wide)(T)a * (T)b, 0))                      \
    BINARY("mul.hi." #T, w, w, w, from((wide)(T)a * (T)b, w))                      \
    TERNARY("mad.lo." #T, w, w, w, w, from((wide)(T)a * (T)b + c, 0))              \
    TERNARY("mad.hi." #T, w, w, w, w, from((wide)(T)a * (T)b, w) + c)
ALL(X)
#undef X
#define X(T, w, r)                                                                 \
    BINARY("mul.wide." #T, r, w, w, from((wide)(T)a * (T)b, 0))                    \
    TERNARY("mad.wide." #T, r, w, w, r, from((wide)(T)a * (T)b + c, 0))
X(u16, 16, 32) X(u32, 32, 64) X(s16, 16, 32) X(s32, 32, 64)
#undef X
TERNARY("mad.hi.sat.s32", 32, 32, 32, 32, CLAMP_S32(((wide)(s32)a * (s32)b >> 32) + (s32)c))
#define X(T, is_signed)                                                            \
    BINARY("mul24.lo." #T, 32, 32, 32, from(low24(a, is_signed) * low24(b, is_signed), 0))       \
    BINARY("mul24.hi." #T, 32, 32, 32, from(low24(a, is_signed) * low24(b, is_signed), 16))      \
    TERNARY("mad24.lo." #T, 32, 32, 32, 32, from(low24(a, is_signed) * low24(b, is_signed), 0) + c) \
    TERNARY("mad24.hi." #T, 32, 32, 32, 32, from(low24(a, is_signed) * low24(b, is_signed), 16) + c)
X(u32, 0) X(s32, 1)
#undef X
TERNARY("mad24.hi.sat.s32", 32, 32, 32, 32,
        CLAMP_S32((wide)(s32)(u32)from(low24(a, 1) * low24(b, 1), 16) + (s32)c))
#define X(A, as, B, bs)                                                            \
    TERNARY("dp4a." #A "." #B, 32, 32, 32, 32, dot(a, b, c, 4, 0, as, bs))         \
    TERNARY("dp2a.lo." #A "." #B, 32, 32, 32, 32, dot(a, b, c, 2, 0, as, bs))      \
    TERNARY("dp2a.hi." #A "." #B, 32, 32, 32, 32, dot(a, b, c, 2, 2, as, bs))
X(u32, 0, u32, 0) X(u32, 0, s32, 1) X(s32, 1, u32, 0) X(s32, 1, s32, 1)
#undef X
END

/* Division by zero gives an unspecified value; the least number by -1 wraps like a product. */
GROUP(quotients)
#define X(T, w)                                                                    \
    BINARY("div." #T, w, w, w, b == 0 ? UNDEFINED : from((wide)(T)a / (wide)(T)b, 0)) \
    BINARY("rem." #T, w, w, w, b == 0 ? UNDEFINED : from((wide)(T)a % (wide)(T)b, 0))
ALL(X)
#undef X
END

GROUP(extrema)
#define X(T, w)                                                                    \
    BINARY("min." #T, w, w, w, LESSER(T, a, b)) BINARY("max." #T, w, w, w, GREATER(T, a, b))
ALL(X)
#undef X
BINARY("min.relu.s32", 32, 32, 32, POSITIVE(s32, LESSER(s32, a, b)))
BINARY("max.relu.s32", 32, 32, 32, POSITIVE(s32, GREATER(s32, a, b)))
BINARY("min.u16x2", 32, 32, 32, HALVES(MIN_U))
BINARY("max.u16x2", 32, 32, 32, HALVES(MAX_U))
BINARY("min.s16x2", 32, 32, 32, HALVES(MIN_S))
BINARY("max.s16x2", 32, 32, 32, HALVES(MAX_S))
BINARY("min.relu.s16x2", 32, 32, 32, HALVES(MIN_P))
BINARY("max.relu.s16x2", 32, 32, 32, HALVES(MAX_P))
END

/* Chains: the carry of each link goes into the next; the last result is the carry itself. */
GROUP(carries)
#define X(T, w)                                                                    \
    TEXT2("add.cc." #T "+addc." #T, "{ .reg ." #T " x; add.cc." #T " x, %1, %2; addc." #T " %0, 0, 0; }", w, w, w, \
          from((wide)a + b, w))                                                    \
    TEXT4("add.cc." #T "+addc.cc." #T, "{ .reg ." #T " x, y, k; add.cc." #T " x, %1, %2; addc.cc." #T " y, %3, %4; "     \
          "addc." #T " k, 0, 0; shl.b" #w " k, k, 3; xor.b" #w " y, y, k; sub." #T " %0, y, x; }", w, w, w, w, w,        \
          (U##w)(((U##w)from((wide)c + d + (from((wide)a + b, w) & 1), 0) ^                                              \
                 (U##w)(from((wide)c + d + (from((wide)a + b, w) & 1), w) << 3)) - (U##w)(a + b)))                       \
    TEXT2("sub.cc." #T "+subc." #T, "{ .reg ." #T " x; sub.cc." #T " x, %1, %2; subc." #T " %0, 0, 0; }", w, w, w, \
          -(U##w)(a < b))                                                          \
    TEXT4("sub.cc." #T "+subc.cc." #T, "{ .reg ." #T " x, y, k; sub.cc." #T " x, %1, %2; subc.cc." #T " y, %3, %4; "     \
          "subc." #T " k, 0, 0; shl.b" #w " k, k, 3; xor.b" #w " y, y, k; sub." #T " %0, y, x; }", w, w, w, w, w,        \
          (U##w)(((U##w)(c - d - (a < b)) ^ (U##w)((-(U##w)((wide)c < (wide)d + (a < b))) << 3)) - (U##w)(a - b)))
X(u32, 32) X(s32, 32) X(u64, 64) X(s64, 64)
#undef X
END

#ifndef __CUDACC__
/* The product's half, plus c and a carry, with the carry out of it in a bit of its own. */
#define MAD(T, w, low) ((wide)(U##w)from((wide)(T)a * (T)b, low) + c)
#define MADC(T, w, low, carry) ((wide)(U##w)from((wide)(T)a * (T)c, low) + d + (carry))
#endif

GROUP(product_carries)
#define X(T, w)                                                                    \
    TEXT3("mad.lo.cc." #T, "{ .reg ." #T " x; mad.lo.cc." #T " x, %1, %2, %3; addc." #T " %0, x, x; }", w, w, w, w,      \
          2 * MAD(T, w, 0) + (MAD(T, w, 0) >> w))                                  \
    TEXT3("mad.hi.cc." #T, "{ .reg ." #T " x; mad.hi.cc." #T " x, %1, %2, %3; addc." #T " %0, x, x; }", w, w, w, w,      \
          2 * MAD(T, w, w) + (MAD(T, w, w) >> w))                                  \
    TEXT4("madc.lo." #T, "{ .reg ." #T " x; add.cc." #T " x, %1, %2; madc.lo." #T " %0, %1, %3, %4; }", w, w, w, w, w,   \
          MADC(T, w, 0, from((wide)a + b, w)))                                     \
    TEXT4("madc.hi." #T, "{ .reg ." #T " x; add.cc." #T " x, %1, %2; madc.hi." #T " %0, %1, %3, %4; }", w, w, w, w, w,   \
          MADC(T, w, w, from((wide)a + b, w)))                                     \
    TEXT4("madc.lo.cc." #T, "{ .reg ." #T " x; add.cc." #T " x, %1, %2; madc.lo.cc." #T " x, %1, %3, %4; addc." #T       \
          " %0, x, x; }", w, w, w, w, w,                                           \
          2 * MADC(T, w, 0, from((wide)a + b, w)) + (MADC(T, w, 0, from((wide)a + b, w)) >> w))                          \
    TEXT4("madc.hi.cc." #T, "{ .reg ." #T " x; add.cc." #T " x, %1, %2; madc.hi.cc." #T " x, %1, %3, %4; addc." #T       \
          " %0, x, x; }", w, w, w, w, w,                                           \
          2 * MADC(T, w, w, from((wide)a + b, w)) + (MADC(T, w, w, from((wide)a + b, w)) >> w))
X(u32, 32) X(s32, 32) X(u64, 64) X(s64, 64)
#undef X
END

#ifndef __CUDACC__
int main(void) {
    if (!read_inputs())
        return 1;
    sums(), products(), quotients(), extrema(), carries(), product_carries();
    return 0;
}
#endif
