/* Functions in plain C, from which nvcc chooses the instructions; the host's compiler compiles the same text. */
#include "operation.h"

#ifdef __CUDACC__
#define FUNCTION static __device__ __forceinline__
#define PLAIN(name, r, e)                                                          \
    {                                                                              \
        const U##r result = (U##r)(e);                                             \
        out[COUNT * at++ + lane] = result;                                         \
    }
#else
#define FUNCTION static inline
#define IN64(x, i) u64 x = inputs[lane][i]
#define PLAIN(name, r, e) OPERATION(name, r, IN64(a, 0); IN64(b, 1); IN64(c, 2); IN64(d, 3), e)
#endif

FUNCTION u32 mixed(u32 hash, u32 word) {
    word *= 0xcc9e2d51u;
    word = word << 15 | word >> 17;
    hash ^= word * 0x1b873593u;
    hash = hash << 13 | hash >> 19;
    return hash * 5 + 0xe6546b64u;
}

FUNCTION u32 swapped(u32 x) { return x >> 24 | (x >> 8 & 0xff00) | (x << 8 & 0xff0000) | x << 24; }

FUNCTION u32 greatest_common_divisor(u32 x, u32 y) {
    while (y != 0) {
        u32 rest = x % y;
        x = y;
        y = rest;
    }
    return x;
}

FUNCTION u32 digits(u64 x) {
    u32 count = 1;
    while (x >= 10)
        x /= 10, count++;
    return count;
}

FUNCTION u64 power(u64 base, u32 exponent) {
    u64 result = 1;
    for (; exponent != 0; exponent >>= 1, base *= base)
        if (exponent & 1)
            result *= base;
    return result;
}

FUNCTION s32 median(s32 x, s32 y, s32 z) {
    s32 low = x < y ? x : y, high = x < y ? y : x;
    return z < low ? low : z > high ? high : z;
}

FUNCTION u32 letters(u64 text) {
    u32 count = 0;
    for (u32 i = 0; i < 8; i++) {
        u8 letter = (u8)(text >> (8 * i)) | 32;
        count += letter >= 'a' && letter <= 'z';
    }
    return count;
}

GROUP(integers)
PLAIN("64-bit sum and difference", 64, a + b - (c << 3))
PLAIN("64-bit product", 64, a * b + c)
PLAIN("signed product of words", 64, (s64)(s32)a * (s32)b - (s64)c)
PLAIN("64-bit quotient", 64, a / (b | 1))
PLAIN("64-bit signed remainder", 64, (s64)a % ((s64)(b >> 1) | 1))
PLAIN("quotients by constants", 64, a / 10 + (u32)b / 7 + (u64)((s32)c / 100) + (u64)((s16)d / 3))
PLAIN("remainders by constants", 32, (u32)a % 1000 + (u32)((s32)b % 17) + (u16)c % 24)
PLAIN("narrow arithmetic", 16, (u8)((u8)a + (u8)b) * (s8)c - (s16)d)
PLAIN("shifts", 64, (a << (b & 63)) ^ (u64)((s64)c >> (d & 63)) ^ ((u32)a >> (b & 31)))
PLAIN("rotation of 64 bits", 64, a << 13 | a >> 51)
PLAIN("rotation of 32 bits", 32, (u32)a << (b & 31) | (u32)a >> (-b & 31))
PLAIN("bit logic", 64, (a & ~b) | (c ^ d) | (~a & (b | c)))
PLAIN("bit field", 32, (u32)a >> 5 & 0x7f)
PLAIN("signed bit field", 32, (s32)((u32)a << 9) >> 20)
PLAIN("comparisons", 32, (a < b) + 2 * ((s64)a < (s64)b) + 4 * ((u32)a == (u32)b) + 8 * ((s16)c >= (s16)d))
PLAIN("hash", 32, mixed(mixed(mixed(0, (u32)a), (u32)b), (u32)(c >> 32)))
PLAIN("bytes swapped", 32, swapped((u32)a))
PLAIN("greatest common divisor", 32, greatest_common_divisor((u32)a, (u32)b))
PLAIN("decimal digits", 32, digits(a))
PLAIN("power", 64, power(a | 1, (u32)b))
PLAIN("median", 32, median((s32)a, (s32)b, (s32)c))
PLAIN("letters", 32, letters(a))
PLAIN("absolute difference", 32, (s32)a > (s32)b ? (u32)a - (u32)b : (u32)b - (u32)a)
END

/* Words that are integers as floats: results are numbers. */
GROUP(numbers)
PLAIN("float of an integer", 64, (u64)(s64)(float)(s32)a)
PLAIN("double of an integer", 64, (u64)(s64)((double)(s64)a * 0.0001220703125))
PLAIN("integer of a quotient", 32, (s32)((float)(s16)a / ((float)(u16)b + 1)))
PLAIN("integer of a product", 32, (u32)((double)(u32)a * 0.3))
PLAIN("rounded", 64, (u64)(s64)rint((double)(s32)a / 8))
PLAIN("floor and ceiling", 32, (s32)floorf((float)(s16)a / 16) ^ (s32)ceilf((float)(s16)b / 16))
PLAIN("root", 32, (u32)sqrtf((float)(u32)a))
PLAIN("root of a double", 32, (u32)sqrt((double)(u32)a))
PLAIN("fused", 64, (u64)(s64)fma((double)(s32)a, (double)(s32)b, (double)(s32)c))
PLAIN("comparison of floats", 32, (float)(s32)a < (float)(s32)b)
PLAIN("extrema", 32, (s32)fminf(fmaxf((float)(s16)a, (float)(s16)b), (float)(s16)c))
END

#ifndef __CUDACC__
int main(void) {
    if (!read_inputs())
        return 1;
    integers(), numbers();
    return 0;
}
#endif
