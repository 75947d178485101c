//===- Exact.h - arithmetic with the same bits everywhere -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Results are compared for equality, between host and device, between methods
// and between compilers. So the programs compute with what IEEE 754 rounds
// exactly (+, -, *, /, fmaf, ieeeSqrt), are built without contraction
// (-fmad=false), and have their elementary functions here, made of just that.
// They are good to about six digits, which is what the programs need.
//
// Data are made from a hash of their index: in any order, by any thread.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_BENCH_LINK_EXACT_H
#define DRAGON_BENCH_LINK_EXACT_H

#include <cmath>
#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#include <cuda_runtime.h>
#define BENCH_BOTH __host__ __device__
#else
#define BENCH_BOTH
#endif

namespace bench {

/// splitmix64's mixing function (Steele, Lea and Flood, OOPSLA 2014).
BENCH_BOTH inline uint64_t mix(uint64_t index, uint64_t seed) {
  uint64_t z = (index + 1) * 0x9e3779b97f4a7c15u + seed * 0xd1342543de82ef95u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/// In [low, high), from a hash.
BENCH_BOTH inline float uniform(uint64_t bits, float low, float high) {
  return low + (high - low) * ((float)(uint32_t)(bits >> 40) * 0x1p-24f);
}

BENCH_BOTH inline float fromBits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}
BENCH_BOTH inline uint32_t toBits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// For |x| < 80: x = k ln 2 + r, e^r by its series.
BENCH_BOTH inline float exactExp(float x) {
  int k = (int)(x * 1.44269504f + (x < 0 ? -0.5f : 0.5f));
  float r = x - (float)k * 0.693359375f + (float)k * 2.12194440e-4f;
  float sum = 1.0f / 720;
  sum = sum * r + 1.0f / 120;
  sum = sum * r + 1.0f / 24;
  sum = sum * r + 1.0f / 6;
  sum = sum * r + 0.5f;
  sum = sum * r + 1.0f;
  sum = sum * r + 1.0f;
  return sum * fromBits((uint32_t)(k + 127) << 23);
}

/// For normal x > 0: x = 2^k m with m in [0.7, 1.4], log m by artanh's series.
BENCH_BOTH inline float exactLog(float x) {
  uint32_t bits = toBits(x) - 0x3f350000u;
  int k = (int)bits >> 23;
  float m = fromBits((bits & 0x7fffffu) + 0x3f350000u);
  float s = (m - 1) / (m + 1);
  float q = s * s;
  float sum = 2.0f / 3 + q * (2.0f / 5 + q * (2.0f / 7 + q * (2.0f / 9)));
  return (float)k * 0.693147181f + (2 * s + s * q * sum);
}

/// For normal x > 0: Newton's steps from a guess on the bits.
BENCH_BOTH inline float exactSqrt(float x) {
  float y = fromBits((toBits(x) >> 1) + 0x1fbd1df5u);
  y = 0.5f * (y + x / y);
  y = 0.5f * (y + x / y);
  return 0.5f * (y + x / y);
}

/// The square root as IEEE 754 rounds it. clang makes an approximation of sqrtf
/// in device code.
BENCH_BOTH inline float ieeeSqrt(float x) {
#ifdef __CUDA_ARCH__
  return __fsqrt_rn(x);
#else
  return std::sqrt(x);
#endif
}

} // namespace bench

#endif // DRAGON_BENCH_LINK_EXACT_H
