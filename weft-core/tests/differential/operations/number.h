/* The host's side: reads operands, prints results, and implements arithmetic that C has no operator for. */
#ifndef NUMBER_H
#define NUMBER_H

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static u64 inputs[COUNT][OPERANDS];
static int is_undefined;

#define UNDEFINED (is_undefined = 1, 0)

static void begin(const char *group, const char *name) { printf("\n%s\t%s\t", group, name); }

static void emit(u64 result) {
    if (is_undefined)
        printf(" -");
    else
        printf(" %llx", (unsigned long long)result);
}

/* Reads all operands, as hexadecimal words. */
static int read_inputs(void) {
    for (int lane = 0; lane < COUNT; lane++)
        for (int i = 0; i < OPERANDS; i++) {
            unsigned long long word;
            if (scanf("%llx", &word) != 1)
                return 0;
            inputs[lane][i] = word;
        }
    return 1;
}

/* Floating-point numbers. A double represents every number of the formats of 16 and 32 bits. */

enum { RN = FE_TONEAREST, RZ = FE_TOWARDZERO, RM = FE_DOWNWARD, RP = FE_UPWARD };

/* Precision in bits with the leading one, and the exponents of the least and the greatest normal number. */
typedef struct {
    int width, precision, least, greatest;
} format;

static const format F16 = {16, 11, -14, 15}, BF16 = {16, 8, -126, 127}, F32 = {32, 24, -126, 127},
                    F64 = {64, 53, -1022, 1023};

static inline double number(format f, u64 bits) {
    int fraction_bits = f.precision - 1;
    u64 fraction = bits & (((u64)1 << fraction_bits) - 1);
    u64 exponent = bits >> fraction_bits & (((u64)1 << (f.width - f.precision)) - 1);
    double magnitude;
    if (exponent == ((u64)1 << (f.width - f.precision)) - 1)
        magnitude = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        magnitude = ldexp((double)fraction, f.least - fraction_bits);
    else
        magnitude = ldexp((double)(fraction + ((u64)1 << fraction_bits)),
                          (int)exponent - 1 + f.least - fraction_bits);
    return bits >> (f.width - 1) & 1 ? -magnitude : magnitude;
}

/* Returns the bits of a number that the format can represent. */
static inline u64 encoded(format f, double value) {
    int fraction_bits = f.precision - 1;
    u64 sign = (u64)(signbit(value) != 0) << (f.width - 1);
    u64 infinite = (((u64)1 << (f.width - f.precision)) - 1) << fraction_bits;
    double magnitude = fabs(value);
    if (isnan(value))
        return UNDEFINED;
    if (isinf(value))
        return sign | infinite;
    if (magnitude < ldexp(1, f.least))
        return sign | (u64)ldexp(magnitude, fraction_bits - f.least);
    int exponent;
    double fraction = frexp(magnitude, &exponent);
    u64 scaled = (u64)ldexp(fraction, f.precision) - ((u64)1 << fraction_bits);
    return sign | (u64)(exponent - f.least) << fraction_bits | scaled;
}

/* Whether the last call of `rounded` was inexact. */
static int is_inexact;

static inline double whole(double value, int mode) {
    volatile double operand = value;
    fesetround(mode);
    volatile double result = nearbyint(operand);
    fesetround(FE_TONEAREST);
    return copysign(result, value);
}

/* Rounds a number to the format; returns it as a double. */
static inline double rounded(format f, double value, int mode) {
    is_inexact = 0;
    if (isnan(value) || isinf(value) || value == 0)
        return value;
    int exponent;
    frexp(value, &exponent);
    int unit = exponent - f.precision;
    if (unit < f.least - f.precision + 1)
        unit = f.least - f.precision + 1;
    double result = ldexp(whole(ldexp(value, -unit), mode), unit);
    is_inexact = result != value;
    double largest = ldexp(2 - ldexp(1, 1 - f.precision), f.greatest);
    if (fabs(result) <= largest)
        return result;
    is_inexact = 1;
    int is_outward = mode == RN || (mode == RP && value > 0) || (mode == RM && value < 0);
    return copysign(is_outward ? INFINITY : largest, value);
}

static inline double flushed(format f, double value) {
    return fabs(value) < ldexp(1, f.least) ? copysign(0, value) : value;
}

/* The modifiers that apply after rounding. */
enum { FTZ = 1, SAT = 2, RELU = 4, SATFINITE = 8, NAN_IS_CANONICAL = 16 };

static inline u64 canonical(format f) { return f.width == 16 ? 0x7fff : 0x7fffffff; }

static inline u64 finished(format f, double value, int flags) {
    if (flags & FTZ) {
        if (is_inexact && fabs(value) == ldexp(1, f.least))
            return UNDEFINED;
        value = flushed(f, value);
    }
    if (isnan(value)) {
        if (flags & SAT)
            return 0;
        return flags & (RELU | NAN_IS_CANONICAL) ? canonical(f) : UNDEFINED;
    }
    if (flags & (SAT | RELU) && signbit(value))
        return value == 0 ? (u64)UNDEFINED : 0;
    if (flags & SAT && value > 1)
        value = 1;
    if (flags & SATFINITE && isinf(value))
        value = copysign(ldexp(2 - ldexp(1, 1 - f.precision), f.greatest), value);
    return encoded(f, value);
}

/* Sums and products of f32 and f64 by the host's own arithmetic in each rounding. The operations:
 * + - * / are themselves, f is a * b + c, r is 1 / a, s is the square root. */
#define ARITHMETIC(name, type, fused, root)                                        \
    static inline type name(char operation, type a, type b, type c, int mode) {    \
        volatile type x = a, y = b, z = c, result = 0;                             \
        volatile type one = 1;                                                     \
        feclearexcept(FE_ALL_EXCEPT);                                              \
        fesetround(mode);                                                          \
        switch (operation) {                                                       \
        case '+': result = x + y; break;                                           \
        case '-': result = x - y; break;                                           \
        case '*': result = x * y; break;                                           \
        case '/': result = x / y; break;                                           \
        case 'f': result = fused(x, y, z); break;                                  \
        case 'r': result = one / x; break;                                         \
        case 's': result = root(x); break;                                         \
        }                                                                          \
        fesetround(FE_TONEAREST);                                                  \
        is_inexact = fetestexcept(FE_INEXACT) != 0;                                \
        return result;                                                             \
    }
ARITHMETIC(single, float, fmaf, sqrtf)
ARITHMETIC(twice, double, fma, sqrt)

static inline double operand(format f, u64 bits, int flags) {
    double value = number(f, bits);
    return flags & FTZ ? flushed(f, value) : value;
}

/* Returns a sum rounded to odd, which can be rounded again, correctly, to at most half the bits. */
static inline double odd_sum(double a, double b) {
    double sum = a + b;
    if (isnan(sum) || isinf(sum))
        return sum;
    double part = sum - a;
    double error = (a - (sum - part)) + (b - part);
    u64 bits;
    memcpy(&bits, &sum, 8);
    if (error == 0 || bits & 1)
        return sum;
    bits += (error > 0) == (sum > 0) ? 1 : -1;
    memcpy(&sum, &bits, 8);
    return sum;
}

static inline u64 arithmetic(format f, char operation, u64 a, u64 b, u64 c, int mode, int flags) {
    double x = operand(f, a, flags), y = operand(f, b, flags), z = operand(f, c, flags), result;
    if (f.width == 64) {
        result = twice(operation, x, y, z, mode);
    } else if (f.width == 32) {
        result = single(operation, (float)x, (float)y, (float)z, mode);
    } else {
        /* Sums, differences and products of 16 bits round to odd or are exact in a double. */
        double exact = operation == '*'   ? x * y
                       : operation == 'f' ? odd_sum(x * y, z)
                                          : odd_sum(x, operation == '-' ? -y : y);
        result = rounded(f, exact, mode);
    }
    return finished(f, result, flags);
}

/* Applies an operation to both halves of packed operands. */
#define HALVES(result) (packed_low = (result(0)) & 0xffff, packed_high = (result(16)) & 0xffff, packed_low | packed_high << 16)
static u64 packed_low, packed_high;

static inline int is_less(double x, double y) { return x == 0 && y == 0 ? signbit(x) && !signbit(y) : x < y; }

enum { ABSOLUTE = 32, XORSIGN = 64, PROPAGATES = 128 };

static inline double lesser(double x, double y, int is_max, int flags) {
    if (isnan(x) || isnan(y))
        return flags & PROPAGATES || (isnan(x) && isnan(y)) ? NAN : isnan(x) ? y : x;
    return is_less(x, y) != is_max ? x : y;
}

static inline u64 extremum(format f, u64 a, u64 b, int is_max, int flags) {
    double x = operand(f, a, flags), y = operand(f, b, flags);
    int sign = (a >> (f.width - 1) & 1) != (b >> (f.width - 1) & 1);
    if (flags & ABSOLUTE)
        x = fabs(x), y = fabs(y);
    double result = lesser(x, y, is_max, flags);
    if (isnan(result))
        return flags & PROPAGATES ? canonical(f) : UNDEFINED;
    return encoded(f, flags & XORSIGN ? (sign ? -fabs(result) : fabs(result)) : result);
}

static inline u64 extremum_of_three(format f, u64 a, u64 b, u64 c, int is_max, int flags) {
    double x = fabs(operand(f, a, flags)), y = fabs(operand(f, b, flags)), z = fabs(operand(f, c, flags));
    double result = lesser(lesser(x, y, is_max, flags), z, is_max, flags);
    if (isnan(result))
        return flags & PROPAGATES ? canonical(f) : UNDEFINED;
    return encoded(f, result);
}

#endif
