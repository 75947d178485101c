// Lowered arithmetic, run and compared with the host's, bit by bit: directed
// rounding, conversions (saturating, NaN), integer and SIMD functions, half and
// bfloat16.
// RUN: %clang -x cuda %s --cuda-path=%cuda -Wno-unknown-cuda-version --cuda-gpu-arch=sm_90 --cuda-device-only -emit-llvm -c -O2 -Xclang -disable-llvm-passes -o %t.bc
// RUN: %dragon-opt-passes -passes='dragon-cpu-lower,verify' %t.bc -o %t.host.bc 2>&1 | count 0
// RUN: %clang -O2 -x ir -Wno-override-module -c %t.host.bc -o %t.o
// RUN: %clang -std=c++20 -O1 -frounding-math -I%S/../../.. -I%S/../../../include -I%S/Inputs -x c++ %s %S/../../../runtime/device/cpu/kernels/DeviceMath.cpp -x none %t.o -o %t
// RUN: %t | FileCheck %s
// CHECK: all right

#ifdef __CUDA__
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define INDEX                                                                  \
  int i = blockIdx.x * blockDim.x + threadIdx.x;                               \
  if (i >= n)                                                                  \
  return
#define ALL(FUNCTION, ...)                                                     \
  *o++ = FUNCTION##n(__VA_ARGS__);                                             \
  *o++ = FUNCTION##z(__VA_ARGS__);                                             \
  *o++ = FUNCTION##d(__VA_ARGS__);                                             \
  *o++ = FUNCTION##u(__VA_ARGS__);

extern "C" {
__global__ void floats(const float *a, const float *b, const float *c, float *o,
                       int n) {
  INDEX;
  o += i * 32;
  float x = a[i], y = b[i], z = c[i];
  ALL(__fadd_r, x, y)
  ALL(__fsub_r, x, y)
  ALL(__fmul_r, x, y)
  ALL(__fdiv_r, x, y)
  ALL(__fmaf_r, x, y, z)
  ALL(__fsqrt_r, x)
  ALL(__frcp_r, x)
  ALL(__double2float_r, (double)x * y)
}
__global__ void doubles(const double *a, const double *b, const double *c,
                        double *o, int n) {
  INDEX;
  o += i * 24;
  double x = a[i], y = b[i], z = c[i];
  ALL(__dadd_r, x, y)
  ALL(__dsub_r, x, y)
  ALL(__dmul_r, x, y)
  ALL(__ddiv_r, x, y)
  ALL(__fma_r, x, y, z)
  ALL(__dsqrt_r, x)
}
__global__ void toInts(const double *a, long long *o, int n) {
  INDEX;
  o += i * 32;
  double x = a[i];
  float f = x;
  ALL(__float2int_r, f)
  ALL(__float2uint_r, f)
  ALL(__float2ll_r, f)
  ALL(__float2ull_r, f)
  ALL(__double2int_r, x)
  ALL(__double2uint_r, x)
  ALL(__double2ll_r, x)
  ALL(__double2ull_r, x)
}
__global__ void fromInts(const long long *a, double *o, int n) {
  INDEX;
  o += i * 24;
  long long x = a[i];
  ALL(__int2float_r, (int)x)
  ALL(__uint2float_r, (unsigned)x)
  ALL(__ll2float_r, x)
  ALL(__ull2float_r, x)
  ALL(__ll2double_r, x)
  ALL(__ull2double_r, x)
}
__global__ void words(const unsigned *a, const unsigned *b, const unsigned *c,
                      unsigned *o, int n) {
  INDEX;
  o += i * 48;
  unsigned x = a[i], y = b[i], z = c[i], r;
  unsigned long long w = (unsigned long long)x << 32 | y;
  *o++ = __popc(x);
  *o++ = __clz(x);
  *o++ = __ffs(x);
  *o++ = __brev(x);
  *o++ = __popcll(w);
  *o++ = __clzll(w);
  *o++ = __ffsll(w);
  *o++ = __brevll(w) >> 7;
  *o++ = __umulhi(x, y);
  *o++ = __mulhi(x, y);
  *o++ = __umul64hi(w, w ^ z);
  *o++ = __mul64hi(w, w ^ z);
  *o++ = __umul24(x, y);
  *o++ = __mul24(x, y);
  *o++ = __usad(x, y, z);
  *o++ = __sad(x, y, z);
  *o++ = __byte_perm(x, y, z);
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z));
  *o++ = r;
  *o++ = __hadd(x, y);
  *o++ = __uhadd(x, y);
  *o++ = __rhadd(x, y);
  *o++ = __urhadd(x, y);
  *o++ = __funnelshift_l(x, y, z);
  *o++ = __funnelshift_r(x, y, z);
  *o++ = __funnelshift_lc(x, y, z);
  *o++ = __funnelshift_rc(x, y, z);
  *o++ = __vadd4(x, y);
  *o++ = __vabsdiffu4(x, y);
  *o++ = __vmaxs2(x, y);
  *o++ = __vcmpgtu4(x, y);
  *o++ = __vsadu4(x, y);
  *o++ = __vavgu4(x, y);
  *o++ = __vsubss2(x, y);
  *o++ = __dp4a((int)x, (int)y, (int)z);
  *o++ = __dp4a(x, y, z);
  *o++ = __dp2a_lo((int)x, (int)y, (int)z);
  *o++ = __dp2a_hi(x, y, z);
  asm("lop3.b32 %0, %1, %2, %3, 0xCA;" : "=r"(r) : "r"(x), "r"(y), "r"(z));
  *o++ = r;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y & 63), "r"(z & 63));
  *o++ = r;
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y & 63), "r"(z & 63));
  *o++ = r;
  asm("bfi.b32 %0, %1, %2, %3, %4;"
      : "=r"(r)
      : "r"(x), "r"(y), "r"(z & 63), "r"(y & 63));
  *o++ = r;
  asm("{.reg .u32 t; add.cc.u32 t, %1, %2; addc.u32 %0, %2, %3;}"
      : "=r"(r)
      : "r"(x), "r"(y), "r"(z));
  *o++ = r;
  asm("bfind.s32 %0, %1;" : "=r"(r) : "r"(x));
  *o++ = r;
  *o++ = __fns(x, y & 31, 2);
}
__global__ void narrow(const float *a, const float *b, float *o, int n) {
  INDEX;
  o += i * 24;
  __half x = __float2half(a[i]), y = __float2half(b[i]);
  __half2 h = __hfma2(__halves2half2(x, y), __halves2half2(y, x),
                      __halves2half2(x, x));
  *o++ = __half2float(x);
  *o++ = __half2float(x + y);
  *o++ = __half2float(x * y);
  *o++ = __half2float(__hfma(x, y, x));
  *o++ = __half2float(hsqrt(__habs(x)));
  *o++ = __hlt(x, y);
  *o++ = __half2float(__hmax(x, y));
  *o++ = __low2float(h);
  *o++ = __high2float(h);
  *o++ = __half2int_rn(x);
  *o++ = __half2float(__int2half_rn((int)a[i]));
  *o++ = __half2float(__float2half_rz(a[i]));
  *o++ = __half2float(__float2half_ru(a[i]));
  __nv_bfloat16 p = __float2bfloat16(a[i]), q = __float2bfloat16(b[i]);
  __nv_bfloat162 s = __halves2bfloat162(p, q);
  s = __hmul2(s, s);
  *o++ = __bfloat162float(p);
  *o++ = __bfloat162float(p + q);
  *o++ = __bfloat162float(__hfma(p, q, p));
  *o++ = __hgt(p, q);
  *o++ = __low2float(s);
  *o++ = __high2float(s);
  *o++ = __bfloat162float(__float2bfloat16_rz(a[i]));
}
}
#else
#include "KernelHarness.h"
#include <algorithm>
#include <bit>
#include <cfenv>
#include <random>

using namespace harness;

constexpr int N = 3000;
constexpr int Modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
std::mt19937_64 randomBits(3);

template <typename T> T anyFloat() {
  T value = static_cast<int>(randomBits() % 2000001) / 1000.0 - 1000;
  switch (randomBits() % 8) {
  case 0:
    return std::ldexp(value, static_cast<int>(randomBits() % 200) - 100);
  case 1:
    return std::trunc(value);
  case 2:
    if (sizeof(T) == 4)
      return std::bit_cast<float>(static_cast<uint32_t>(randomBits()));
    return value;
  default:
    return value;
  }
}

template <typename F> void forModes(F compare) {
  for (int mode = 0; mode < 4; ++mode)
    compare(mode);
}

/// The value of `f` when the processor rounds in the given way.
template <typename F> auto rounded(int mode, F f) {
  std::fesetround(Modes[mode]);
  volatile auto result = f();
  std::fesetround(FE_TONEAREST);
  return result;
}

template <typename T> void testFloats(const char *name, int perThread) {
  std::vector<T> a(N), b(N), c(N), o(N * perThread);
  for (int i = 0; i < N; i++) {
    a[i] = anyFloat<T>();
    b[i] = anyFloat<T>();
    c[i] = i % 7 ? anyFloat<T>() : -a[i] * b[i];
  }
  launch(name, {24}, {128}, 0, a.data(), b.data(), c.data(), o.data(), N);
  for (int i = 0; i < N; i++)
    forModes([&](int mode) {
      volatile T x = a[i], y = b[i], z = c[i];
      T *got = &o[i * perThread + mode];
      equal("add", i, got[0], rounded(mode, [&] { return x + y; }));
      equal("sub", i, got[4], rounded(mode, [&] { return x - y; }));
      equal("mul", i, got[8], rounded(mode, [&] { return x * y; }));
      equal("div", i, got[12], rounded(mode, [&] { return x / y; }));
      equal("fma", i, got[16], rounded(mode, [&] { return std::fma(x, y, z); }));
      equal("sqrt", i, got[20], rounded(mode, [&] { return std::sqrt(x); }));
      if (sizeof(T) == 4) {
        volatile double exact = (double)x * y;
        equal("rcp", i, got[24], rounded(mode, [&] { return T(1) / x; }));
        equal("double2float", i, got[28],
              rounded(mode, [&] { return (float)exact; }));
      }
    });
}

template <typename To> long long toInt(double x, int mode, bool isDouble) {
  if (std::isnan(x)) {
    // PTX: zero, or the highest bit where 64 bits are involved.
    if (!isDouble && sizeof(To) == 4)
      return 0;
    return (long long)(To)(1ull << (sizeof(To) * 8 - 1));
  }
  double r = mode == 0   ? std::nearbyint(x)
             : mode == 1 ? std::trunc(x)
             : mode == 2 ? std::floor(x)
                         : std::ceil(x);
  long double low = std::numeric_limits<To>::min();
  long double high = std::numeric_limits<To>::max();
  return (long long)(To)std::clamp<long double>(r, low, high);
}

void testConversions() {
  std::vector<double> a(N);
  std::vector<long long> o(N * 32);
  for (int i = 0; i < N; i++) {
    a[i] = anyFloat<double>();
    if (i % 6 == 0)
      a[i] *= 1e17;
    if (i % 6 == 1)
      a[i] = (int)(randomBits() % 100) / 2.0 - 25;
    if (i % 100 == 0)
      a[i] = NAN;
  }
  launch("toInts", {24}, {128}, 0, a.data(), o.data(), N);
  for (int i = 0; i < N; i++)
    forModes([&](int mode) {
      double x = a[i];
      float f = x;
      long long *got = &o[i * 32 + mode];
      equal("float2int", i, got[0], toInt<int>(f, mode, false));
      equal("float2uint", i, got[4], toInt<unsigned>(f, mode, false));
      equal("float2ll", i, got[8], toInt<long long>(f, mode, false));
      equal("float2ull", i, got[12], toInt<unsigned long long>(f, mode, false));
      equal("double2int", i, got[16], toInt<int>(x, mode, true));
      equal("double2uint", i, got[20], toInt<unsigned>(x, mode, true));
      equal("double2ll", i, got[24], toInt<long long>(x, mode, true));
      equal("double2ull", i, got[28], toInt<unsigned long long>(x, mode, true));
    });

  std::vector<long long> ints(N);
  std::vector<double> from(N * 24);
  for (int i = 0; i < N; i++)
    ints[i] = static_cast<long long>(randomBits()) >> i % 3 * 20;
  launch("fromInts", {24}, {128}, 0, ints.data(), from.data(), N);
  for (int i = 0; i < N; i++)
    forModes([&](int mode) {
      volatile long long x = ints[i];
      volatile int s = (int)x;
      volatile long double u = (unsigned)x;
      volatile long double v = (unsigned long long)x;
      double *got = &from[i * 24 + mode];
      equal("int2float", i, got[0], rounded(mode, [&] { return (float)s; }));
      equal("uint2float", i, got[4], rounded(mode, [&] { return (float)u; }));
      equal("ll2float", i, got[8], rounded(mode, [&] { return (float)x; }));
      equal("ull2float", i, got[12], rounded(mode, [&] { return (float)v; }));
      equal("ll2double", i, got[16], rounded(mode, [&] { return (double)x; }));
      equal("ull2double", i, got[20], rounded(mode, [&] { return (double)v; }));
    });
}

using Wide = unsigned long long;

Wide reversed(Wide v, int bits) {
  Wide r = 0;
  for (int k = 0; k < bits; k++)
    r |= (v >> k & 1) << (bits - 1 - k);
  return r;
}

unsigned permuted(unsigned x, unsigned y, unsigned selector, bool signs) {
  unsigned r = 0;
  for (int k = 0; k < 4; k++) {
    unsigned s = selector >> 4 * k & 15;
    unsigned byte = (((Wide)y << 32) | x) >> 8 * (s & 7) & 255;
    if (signs && s & 8)
      byte = byte & 128 ? 255 : 0;
    r |= byte << 8 * k;
  }
  return r;
}

template <typename F> unsigned perPart(int parts, unsigned x, unsigned y, F f) {
  unsigned r = 0, bits = 32 / parts, mask = (1u << bits) - 1;
  for (int k = 0; k < parts; k++)
    r |= ((unsigned)f(x >> k * bits & mask, y >> k * bits & mask) & mask)
         << k * bits;
  return r;
}

/// Bits [position, position + length) of x; beyond the word, its sign or 0.
unsigned extracted(unsigned x, unsigned position, unsigned length, bool sign) {
  unsigned r = 0;
  bool fill = length && sign &&
              x >> std::min(std::min(position + length, 32u) - 1, 31u) & 1;
  for (unsigned k = 0; k < 32; k++) {
    bool inside = k < length && position + k < 32;
    bool bit = inside ? x >> (position + k) & 1 : fill;
    r |= (unsigned)bit << k;
  }
  return r;
}

void testWords() {
  std::vector<unsigned> a(N), b(N), c(N), o(N * 48);
  for (int i = 0; i < N; i++) {
    a[i] = i % 9 ? randomBits() : 0;
    b[i] = randomBits();
    c[i] = i % 5 ? randomBits() : randomBits() % 34;
  }
  launch("words", {24}, {128}, 0, a.data(), b.data(), c.data(), o.data(), N);
  for (int i = 0; i < N; i++) {
    unsigned x = a[i], y = b[i], z = c[i];
    int sx = x, sy = y, sz = z;
    Wide w = (Wide)x << 32 | y, both = (Wide)y << 32 | x;
    int sad = 0, dot = sz, half = sz;
    unsigned udot = z, uhalf = z;
    for (int k = 0; k < 4; k++) {
      sad += std::abs((int)(x >> 8 * k & 255) - (int)(y >> 8 * k & 255));
      dot += (signed char)(x >> 8 * k) * (signed char)(y >> 8 * k);
      udot += (x >> 8 * k & 255) * (y >> 8 * k & 255);
    }
    for (int k = 0; k < 2; k++) {
      half += (short)(x >> 16 * k) * (signed char)(y >> 8 * k);
      uhalf += (x >> 16 * k & 65535) * (y >> (8 * k + 16) & 255);
    }
    unsigned clamped = std::min(z, 32u), position = z & 63, length = y & 63;
    unsigned field = length > 31 ? ~0u : (1u << length) - 1;
    field = position > 31 ? 0 : field << position;
    unsigned inserted = position > 31 ? 0 : x << position;
    int highest = -1;
    for (int k = 0; k < 32; k++)
      if ((x >> k & 1) != x >> 31)
        highest = k;
    unsigned nth = ~0u;
    for (unsigned k = y & 31, left = 2; k < 32 && left; k++)
      if (x >> k & 1 && --left == 0)
        nth = k;
    auto average = [](unsigned p, unsigned q) { return (p + q + 1) >> 1; };
    unsigned want[] = {
        (unsigned)std::popcount(x),
        (unsigned)std::countl_zero(x),
        (unsigned)__builtin_ffs(x),
        (unsigned)reversed(x, 32),
        (unsigned)std::popcount(w),
        (unsigned)std::countl_zero(w),
        (unsigned)__builtin_ffsll(w),
        (unsigned)(reversed(w, 64) >> 7),
        (unsigned)((Wide)x * y >> 32),
        (unsigned)((long long)sx * sy >> 32),
        (unsigned)((unsigned __int128)w * (w ^ z) >> 64),
        (unsigned)((__int128)(long long)w * (long long)(w ^ z) >> 64),
        (x & 0xffffff) * (y & 0xffffff),
        (unsigned)((long long)(sx << 8 >> 8) * (sy << 8 >> 8)),
        (x > y ? x - y : y - x) + z,
        (unsigned)std::llabs((long long)sx - sy) + z,
        permuted(x, y, z, false),
        permuted(x, y, z, true),
        (unsigned)(((long long)sx + sy) >> 1),
        (unsigned)(((Wide)x + y) >> 1),
        (unsigned)(((long long)sx + sy + 1) >> 1),
        (unsigned)(((Wide)x + y + 1) >> 1),
        (unsigned)(both << (z & 31) >> 32),
        (unsigned)(both >> (z & 31)),
        clamped == 32 ? x : (unsigned)(both << clamped >> 32),
        (unsigned)(both >> clamped),
        perPart(4, x, y, [](unsigned p, unsigned q) { return p + q; }),
        perPart(4, x, y,
                [](unsigned p, unsigned q) { return p > q ? p - q : q - p; }),
        perPart(2, x, y,
                [](unsigned p, unsigned q) {
                  return std::max((short)p, (short)q);
                }),
        perPart(4, x, y, [](unsigned p, unsigned q) { return p > q ? 255 : 0; }),
        (unsigned)sad,
        perPart(4, x, y, average),
        perPart(2, x, y,
                [](unsigned p, unsigned q) {
                  return std::clamp((short)p - (short)q, -32768, 32767);
                }),
        (unsigned)dot,
        udot,
        (unsigned)half,
        uhalf,
        (x & y) | (~x & z),
        extracted(x, length, position, false),
        extracted(x, length, position, true),
        (y & ~field) | (inserted & field),
        y + z + (x > ~y),
        (unsigned)highest,
        nth};
    for (size_t k = 0; k < std::size(want); k++)
      equal("words", i * 100 + k, o[i * 48 + k], want[k]);
  }
}

double toBfloat(double x) {
  int exponent;
  double mantissa = std::frexp(x, &exponent);
  if (x == 0 || !std::isfinite(x))
    return x;
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, 8)), exponent - 8);
}

void testNarrow() {
  std::vector<float> a(N), b(N), o(N * 24);
  for (int i = 0; i < N; i++) {
    a[i] = (int)(randomBits() % 200001) / 1000.f - 100;
    b[i] = (int)(randomBits() % 200001) / 1000.f - 100;
    if (i % 3 == 0)
      b[i] /= 100000;
  }
  launch("narrow", {24}, {128}, 0, a.data(), b.data(), o.data(), N);
  using Half = _Float16;
  for (int i = 0; i < N; i++) {
    double x = (Half)a[i], y = (Half)b[i];
    double p = toBfloat(a[i]), q = toBfloat(b[i]);
    double zero = rounded(1, [&] { return (Half)(volatile float &)a[i]; });
    double up = rounded(3, [&] { return (Half)(volatile float &)a[i]; });
    // Rounding of the library's conversion may not follow the mode.
    if (std::fabs(zero) > std::fabs(a[i]))
      zero = std::bit_cast<Half>((uint16_t)(std::bit_cast<uint16_t>((Half)zero) - 1));
    if (up < a[i])
      up = std::bit_cast<Half>((uint16_t)(std::bit_cast<uint16_t>((Half)up) + (up < 0 ? -1 : 1)));
    double want[] = {
        x,
        (double)(Half)(x + y),
        (double)(Half)(x * y),
        (double)(Half)(x * y + x),
        (double)(Half)std::sqrt(std::fabs(x)),
        (double)(x < y),
        std::max(x, y),
        (double)(Half)(x * y + x),
        (double)(Half)(x * y + x),
        std::nearbyint(x),
        (double)(Half)(float)(int)a[i],
        zero,
        up,
        p,
        toBfloat(p + q),
        toBfloat(p * q + p),
        (double)(p > q),
        toBfloat(p * p),
        toBfloat(q * q),
        (double)std::bit_cast<float>(std::bit_cast<uint32_t>(a[i]) & 0xffff0000),
    };
    for (size_t k = 0; k < std::size(want); k++)
      equal("narrow", i * 100 + k, o[i * 24 + k], want[k]);
  }
}

int main() {
  testFloats<float>("floats", 32);
  testFloats<double>("doubles", 24);
  testConversions();
  testWords();
  testNarrow();
  return finish();
}
#endif
