/* Logic, shifts, bit fields and permutes (PTX ISA 9.7.1, 9.7.8, 9.7.9.7). */
#include "operation.h"

#ifndef __CUDACC__
#define BIT(x, i) ((x) >> (i) & 1)

static inline u32 population(u64 a) {
    u32 count = 0;
    for (int i = 0; i < 64; i++)
        count += BIT(a, i);
    return count;
}

static inline u32 leading_zeros(u64 a, int width) {
    u32 count = 0;
    while ((int)count < width && !BIT(a, width - 1 - count))
        count++;
    return count;
}

static inline u64 reversed(u64 a, int width) {
    u64 result = 0;
    for (int i = 0; i < width; i++)
        result |= BIT(a, i) << (width - 1 - i);
    return result;
}

static inline u32 find(u64 a, int width, int is_signed, int is_shift) {
    if (is_signed && BIT(a, width - 1))
        a = ~a;
    for (int i = width - 1; i >= 0; i--)
        if (BIT(a, i))
            return is_shift ? width - 1 - i : i;
    return 0xffffffff;
}

static inline u32 find_nth(u32 mask, u32 base, s32 offset) {
    if (base > 31)
        return UNDEFINED;
    if (offset == 0)
        return BIT(mask, base) ? base : 0xffffffff;
    s64 position = base, count = (offset < 0 ? -(s64)offset : offset) - 1;
    for (; position >= 0 && position < 32; position += offset > 0 ? 1 : -1)
        if (BIT(mask, position) && count-- == 0)
            return (u32)position;
    return 0xffffffff;
}

static inline u64 extract(u64 a, u32 b, u32 c, int width, int is_signed) {
    u64 position = b & 0xff, length = c & 0xff, msb = width - 1;
    u64 last = position + length - 1 < msb ? position + length - 1 : msb;
    u64 sign = !is_signed || length == 0 ? 0 : BIT(a, last), result = 0;
    for (u64 i = 0; i <= msb; i++)
        result |= (i < length && position + i <= msb ? BIT(a, position + i) : sign) << i;
    return result;
}

static inline u64 insert(u64 a, u64 b, u32 c, u32 d, int width) {
    u64 position = c & 0xff, length = d & 0xff;
    for (u64 i = 0; i < length && position + i < (u64)width; i++)
        b = (b & ~((u64)1 << (position + i))) | BIT(a, i) << (position + i);
    return b;
}

static inline u32 extend(u32 a, u32 b, int is_signed, int is_clamp) {
    u32 count = b & 31;
    int is_large = b >= 32 && is_clamp;
    u32 mask = is_large ? 0 : ~(u32)0 << count;
    u32 sign = count == 0 || is_large || !is_signed ? 0 : BIT(a, (count - 1) & 31);
    return (a & ~mask) | (sign ? mask : 0);
}

static inline u32 bit_mask(u32 a, u32 b, int is_clamp) {
    u32 start = a & 31, width = b & 31, sum = start + width;
    u32 from = ~(u32)0 << start, beyond = sum < 32 ? ~(u32)0 << sum : 0;
    if (is_clamp && a >= 32)
        from = 0;
    if (sum >= 32 || (is_clamp && (a >= 32 || b >= 32)))
        beyond = 0;
    else if (width == 0)
        beyond = ~(u32)0;
    return from & ~beyond;
}

/* The table's columns: a is 0xf0, b is 0xcc, c is 0xaa. */
static inline u32 logic(u32 a, u32 b, u32 c, int table) {
    u32 result = 0;
    for (int i = 0; i < 32; i++)
        result |= (u32)BIT(table, BIT(a, i) << 2 | BIT(b, i) << 1 | BIT(c, i)) << i;
    return result;
}

static inline u32 funnel(u32 a, u32 b, u32 c, int is_left, int is_clamp) {
    u32 n = is_clamp ? (c < 32 ? c : 32) : c & 31;
    u64 both = (u64)b << 32 | a;
    return (u32)(is_left ? both << n >> 32 : both >> n);
}

/* Bytes of {b, a}, by rows of the manual's table. */
static inline u32 permute(u32 a, u32 b, u32 c, int mode) {
    static const u8 ROWS[6][4][4] = {
        /* f4e */ {{3, 2, 1, 0}, {4, 3, 2, 1}, {5, 4, 3, 2}, {6, 5, 4, 3}},
        /* b4e */ {{5, 6, 7, 0}, {6, 7, 0, 1}, {7, 0, 1, 2}, {0, 1, 2, 3}},
        /* rc8 */ {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}},
        /* ecl */ {{3, 2, 1, 0}, {3, 2, 1, 1}, {3, 2, 2, 2}, {3, 3, 3, 3}},
        /* ecr */ {{0, 0, 0, 0}, {1, 1, 1, 0}, {2, 2, 1, 0}, {3, 2, 1, 0}},
        /* rc16 */ {{1, 0, 1, 0}, {3, 2, 3, 2}, {1, 0, 1, 0}, {3, 2, 3, 2}},
    };
    u64 both = (u64)b << 32 | a;
    u32 result = 0;
    for (int i = 0; i < 4; i++) {
        u32 select = mode < 0 ? c >> (4 * i) & 15 : ROWS[mode][c & 3][3 - i];
        u32 byte = both >> (8 * (select & 7)) & 0xff;
        result |= (select & 8 ? (byte & 0x80 ? 0xffu : 0) : byte) << (8 * i);
    }
    return result;
}

#define SHL(w) (b >= w ? 0 : (u64)a << b)
#define SHR(T, w) (b >= w ? ((T)a < 0 ? ~(u64)0 : 0) : (u64)((T)a >> b))
#endif

GROUP(logic_operations)
#define X(w)                                                                       \
    BINARY("and.b" #w, w, w, w, a & b) BINARY("or.b" #w, w, w, w, a | b)           \
    BINARY("xor.b" #w, w, w, w, a ^ b) UNARY("not.b" #w, w, w, ~a) UNARY("cnot.b" #w, w, w, a == 0)
X(16) X(32) X(64)
#undef X
#define X(name, e)                                                                 \
    TEXT2(name ".pred", PREDICATE(LOW_BIT("q", "%1") LOW_BIT("s", "%2") name ".pred p, q, s;"), 32, 32, 32, e)
X("and", a & b & 1) X("or", (a | b) & 1) X("xor", (a ^ b) & 1)
#undef X
TEXT1("not.pred", PREDICATE(LOW_BIT("q", "%1") "not.pred p, q;"), 32, 32, ~a & 1)
#define X(table) TEXT3("lop3.b32", "lop3.b32 %0, %1, %2, %3, " #table ";", 32, 32, 32, 32, logic(a, b, c, table))
X(0) X(1) X(2) X(4) X(8) X(16) X(32) X(64) X(128) X(255) X(0x96) X(0xe8) X(0xca) X(0x1b)
#undef X
#define X(name, e)                                                                 \
    TEXT4(name, "{ .reg .pred p; .reg .u32 x; " LOW_BIT("q", "%4") name " x|p, %1, %2, %3, 0x80, q; "            \
          "selp.u32 %0, 1, 0, p; xor.b32 %0, %0, x; }", 32, 32, 32, 32, 32, (e) ^ (a & b & c))
X("lop3.and.b32", (a & b & c) != 0 && (d & 1)) X("lop3.or.b32", (a & b & c) != 0 || (d & 1))
#undef X
END

GROUP(shifts)
#define X(w) BINARY("shl.b" #w, w, w, 32, SHL(w)) BINARY("shr.b" #w, w, w, 32, SHR(u##w, w))
X(16) X(32) X(64)
#undef X
#define X(T, w) BINARY("shr." #T, w, w, 32, SHR(T, w))
X(u16, 16) X(u32, 32) X(u64, 64) X(s16, 16) X(s32, 32) X(s64, 64)
#undef X
TERNARY("shf.l.clamp.b32", 32, 32, 32, 32, funnel(a, b, c, 1, 1))
TERNARY("shf.l.wrap.b32", 32, 32, 32, 32, funnel(a, b, c, 1, 0))
TERNARY("shf.r.clamp.b32", 32, 32, 32, 32, funnel(a, b, c, 0, 1))
TERNARY("shf.r.wrap.b32", 32, 32, 32, 32, funnel(a, b, c, 0, 0))
/* Amounts that do not shift everything out. */
TEXT3("shf.l.wrap.b32", "{ .reg .u32 n; and.b32 n, %3, 63; shf.l.wrap.b32 %0, %1, %2, n; }", 32, 32, 32, 32, funnel(a, b, c & 63, 1, 0))
TEXT3("shf.r.clamp.b32", "{ .reg .u32 n; and.b32 n, %3, 63; shf.r.clamp.b32 %0, %1, %2, n; }", 32, 32, 32, 32, funnel(a, b, c & 63, 0, 1))
TEXT3("shf.l.clamp.b32", "{ .reg .u32 n; and.b32 n, %3, 63; shf.l.clamp.b32 %0, %1, %2, n; }", 32, 32, 32, 32, funnel(a, b, c & 63, 1, 1))
#define X(T, w) TEXT2("shr." #T, "{ .reg .u32 n; and.b32 n, %2, 127; shr." #T " %0, %1, n; }", w, w, 32, (b &= 127, SHR(T, w)))
X(u16, 16) X(u32, 32) X(u64, 64) X(s16, 16) X(s32, 32) X(s64, 64)
#undef X
END

GROUP(counts)
#define X(w)                                                                       \
    UNARY("popc.b" #w, 32, w, population(a)) UNARY("clz.b" #w, 32, w, leading_zeros(a, w))       \
    UNARY("brev.b" #w, w, w, reversed(a, w))
X(32) X(64)
#undef X
#define X(T, w, is_signed)                                                         \
    UNARY("bfind." #T, 32, w, find(a, w, is_signed, 0))                            \
    UNARY("bfind.shiftamt." #T, 32, w, find(a, w, is_signed, 1))
X(u32, 32, 0) X(u64, 64, 0) X(s32, 32, 1) X(s64, 64, 1)
#undef X
TERNARY("fns.b32", 32, 32, 32, 32, find_nth(a, b, (s32)c))
TEXT3("fns.b32", "{ .reg .u32 x; .reg .s32 n; and.b32 x, %2, 31; shr.s32 n, %3, 28; fns.b32 %0, %1, x, n; }", 32, 32, 32, 32,
      find_nth(a, b & 31, (s32)c >> 28))
END

GROUP(fields)
#define X(T, w, is_signed)                                                         \
    TERNARY("bfe." #T, w, w, 32, 32, extract(a, b, c, w, is_signed))               \
    TEXT3("bfe." #T, "{ .reg .u32 x, y; and.b32 x, %2, 0x3f; and.b32 y, %3, 0x3f; bfe." #T " %0, %1, x, y; }", w, w, 32, 32, \
          extract(a, b & 63, c & 63, w, is_signed))
X(u32, 32, 0) X(u64, 64, 0) X(s32, 32, 1) X(s64, 64, 1)
#undef X
#define X(w)                                                                       \
    QUATERNARY("bfi.b" #w, w, w, w, 32, 32, insert(a, b, c, d, w))                 \
    TEXT4("bfi.b" #w, "{ .reg .u32 x, y; and.b32 x, %3, 0x3f; and.b32 y, %4, 0x3f; bfi.b" #w " %0, %1, %2, x, y; }",     \
          w, w, w, 32, 32, insert(a, b, c & 63, d & 63, w))
X(32) X(64)
#undef X
#define X(T, is_signed)                                                            \
    BINARY("szext.clamp." #T, 32, 32, 32, extend(a, b, is_signed, 1))              \
    BINARY("szext.wrap." #T, 32, 32, 32, extend(a, b, is_signed, 0))               \
    TEXT2("szext.clamp." #T, "{ .reg .u32 n; and.b32 n, %2, 63; szext.clamp." #T " %0, %1, n; }", 32, 32, 32,            \
          extend(a, b & 63, is_signed, 1))
X(u32, 0) X(s32, 1)
#undef X
BINARY("bmsk.clamp.b32", 32, 32, 32, bit_mask(a, b, 1))
BINARY("bmsk.wrap.b32", 32, 32, 32, bit_mask(a, b, 0))
TEXT2("bmsk.clamp.b32", "{ .reg .u32 x, y; and.b32 x, %1, 63; and.b32 y, %2, 63; bmsk.clamp.b32 %0, x, y; }", 32, 32, 32,
      bit_mask(a & 63, b & 63, 1))
END

GROUP(permutes)
TERNARY("prmt.b32", 32, 32, 32, 32, permute(a, b, c, -1))
TERNARY("prmt.b32.f4e", 32, 32, 32, 32, permute(a, b, c, 0))
TERNARY("prmt.b32.b4e", 32, 32, 32, 32, permute(a, b, c, 1))
TERNARY("prmt.b32.rc8", 32, 32, 32, 32, permute(a, b, c, 2))
TERNARY("prmt.b32.ecl", 32, 32, 32, 32, permute(a, b, c, 3))
TERNARY("prmt.b32.ecr", 32, 32, 32, 32, permute(a, b, c, 4))
TERNARY("prmt.b32.rc16", 32, 32, 32, 32, permute(a, b, c, 5))
END

GROUP(moves)
#define X(T, w) UNARY("mov." #T, w, w, a)
X(b16, 16) X(u16, 16) X(s16, 16) X(b32, 32) X(u32, 32) X(s32, 32) X(b64, 64) X(u64, 64) X(s64, 64)
#undef X
TEXT1("mov.f32", "{ .reg .f32 x; mov.b32 x, %1; mov.f32 x, x; mov.b32 %0, x; }", 32, 32, a)
TEXT1("mov.f64", "{ .reg .f64 x; mov.b64 x, %1; mov.f64 x, x; mov.b64 %0, x; }", 64, 64, a)
TEXT1("mov.pred", PREDICATE(LOW_BIT("q", "%1") "mov.pred p, q;"), 32, 32, a & 1)
TEXT2("mov.b64 pack", "mov.b64 %0, {%1, %2};", 64, 32, 32, (u64)b << 32 | a)
TEXT1("mov.b64 unpack", "{ .reg .u32 x, y; mov.b64 {x, y}, %1; sub.u32 %0, x, y; }", 32, 64, (u32)a - (u32)(a >> 32))
TEXT2("mov.b32 pack", "mov.b32 %0, {%1, %2};", 32, 16, 16, (u32)b << 16 | a)
TEXT1("mov.b32 unpack", "{ .reg .u16 x, y; mov.b32 {x, y}, %1; sub.u16 %0, x, y; }", 16, 32, (u16)a - (u16)(a >> 16))
TEXT4("mov.b64 pack 4", "mov.b64 %0, {%1, %2, %3, %4};", 64, 16, 16, 16, 16, (u64)d << 48 | (u64)c << 32 | (u64)b << 16 | a)
TEXT2("mov.b16 pack", "{ .reg .u8 x, y; cvt.u8.u16 x, %1; cvt.u8.u16 y, %2; mov.b16 %0, {x, y}; }", 16, 16, 16,
      (b & 0xff) << 8 | (a & 0xff))
END

/* An address of a space as a generic one and back; the windows of the spaces do not overlap. */
GROUP(addresses)
#define X(T, w)                                                                    \
    TEXT1("cvta.to.shared." #T, "{ .reg .u" #w " x; and.b" #w " x, %1, 0xffc; cvta.shared." #T " x, x; cvta.to.shared." #T \
          " %0, x; }", w, w, a & 0xffc)                                            \
    TEXT1("cvta.to.shared::cta." #T, "{ .reg .u" #w " x; and.b" #w " x, %1, 0xffc; cvta.shared::cta." #T                  \
          " x, x; cvta.to.shared::cta." #T " %0, x; }", w, w, a & 0xffc)           \
    TEXT1("cvta.to.local." #T, "{ .reg .u" #w " x; and.b" #w " x, %1, 0xffc; cvta.local." #T " x, x; cvta.to.local." #T   \
          " %0, x; }", w, w, a & 0xffc)                                            \
    TEXT1("cvta.to.const." #T, "{ .reg .u" #w " x; and.b" #w " x, %1, 0xffc; cvta.const." #T " x, x; cvta.to.const." #T   \
          " %0, x; }", w, w, a & 0xffc)                                            \
    TEXT1("cvta.to.param." #T, "{ .reg .u" #w " x; and.b" #w " x, %1, 0xffc; cvta.param." #T " x, x; cvta.to.param." #T   \
          " %0, x; }", w, w, a & 0xffc)                                            \
    TEXT1("cvta.to.param::entry." #T, "{ .reg .u" #w " x; and.b" #w " x, %1, 0xffc; cvta.param::entry." #T               \
          " x, x; cvta.to.param::entry." #T " %0, x; }", w, w, a & 0xffc)          \
    TEXT1("cvta.to.global." #T, "{ .reg .u" #w " x; cvta.global." #T " x, %1; cvta.to.global." #T " %0, x; }", w, w, a)
X(u64, 64)
#undef X
#define X(space, expected)                                                         \
    TEXT1("isspacep." space, PREDICATE(".reg .u64 x; and.b64 x, %1, 0xffc; cvta.shared.u64 x, x; isspacep." space " p, x;"), \
          32, 64, expected)                                                        \
    TEXT1("isspacep." space, PREDICATE(".reg .u64 x; and.b64 x, %1, 0xffc; cvta.local.u64 x, x; isspacep." space " p, x;"),  \
          32, 64, space[0] == 'l')                                                 \
    TEXT1("isspacep." space, PREDICATE(".reg .u64 x; and.b64 x, %1, 0xffc; cvta.const.u64 x, x; isspacep." space " p, x;"),  \
          32, 64, space[0] == 'c')                                                 \
    TEXT1("isspacep." space, PREDICATE(".reg .u64 x; and.b64 x, %1, 0xffc; cvta.param.u64 x, x; isspacep." space " p, x;"),  \
          32, 64, space[0] == 'p')
X("shared", 1) X("shared::cta", 1) X("local", 0) X("const", 0) X("param", 0) X("param::entry", 0) X("global", 0)
#undef X
END

#ifndef __CUDACC__
int main(void) {
    if (!read_inputs())
        return 1;
    logic_operations(), shifts(), counts(), fields(), permutes(), moves(), addresses();
    return 0;
}
#endif
