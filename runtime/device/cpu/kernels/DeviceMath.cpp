//===- DeviceMath.cpp - arithmetic of device code -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/kernels/DeviceMath.h"

#include <bit>
#include <cfenv>
#include <cmath>

#define DRAGON_EXPORT extern "C" __attribute__((visibility("default")))

#pragma STDC FENV_ACCESS ON

namespace {

enum Mode : uint32_t { Nearest = 0, Zero = 1, Down = 2, Up = 3 };

/// Rounds as asked while it lives.
class RoundingScope {
public:
  explicit RoundingScope(uint32_t mode) : Before(std::fegetround()) {
    static constexpr int Modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
                                    FE_UPWARD};
    std::fesetround(Modes[mode & 3]);
  }
  ~RoundingScope() { std::fesetround(Before); }

private:
  int Before;
};

/// Compilers may move arithmetic over calls; not over this.
template <typename T> T pinned(T value) {
  asm volatile("" : "+x"(value));
  return value;
}
int64_t pinned(int64_t value) {
  asm volatile("" : "+r"(value));
  return value;
}

template <typename To> To fromUnsigned(uint64_t x, uint32_t mode) {
  RoundingScope scope(mode);
  if (static_cast<int64_t>(x) >= 0)
    return pinned(static_cast<To>(pinned(static_cast<int64_t>(x))));
  // Halved, with the lost bit kept as a sticky one; doubling is exact.
  int64_t half = static_cast<int64_t>(x >> 1 | (x & 1));
  return pinned(2 * pinned(static_cast<To>(pinned(half))));
}

template <typename To> To fromSigned(int64_t x, uint32_t mode) {
  RoundingScope scope(mode);
  return pinned(static_cast<To>(pinned(x)));
}

} // namespace

DRAGON_EXPORT double dragon_cpu_math_add_f64(double x, double y,
                                             uint32_t mode) {
  RoundingScope scope(mode);
  return pinned(pinned(x) + pinned(y));
}

DRAGON_EXPORT double dragon_cpu_math_mul_f64(double x, double y,
                                             uint32_t mode) {
  RoundingScope scope(mode);
  return pinned(pinned(x) * pinned(y));
}

DRAGON_EXPORT double dragon_cpu_math_div_f64(double x, double y,
                                             uint32_t mode) {
  RoundingScope scope(mode);
  return pinned(pinned(x) / pinned(y));
}

DRAGON_EXPORT double dragon_cpu_math_fma_f64(double x, double y, double z,
                                             uint32_t mode) {
  RoundingScope scope(mode);
  return pinned(std::fma(pinned(x), pinned(y), pinned(z)));
}

DRAGON_EXPORT double dragon_cpu_math_sqrt_f64(double x, uint32_t mode) {
  RoundingScope scope(mode);
  return pinned(std::sqrt(pinned(x)));
}

DRAGON_EXPORT uint16_t dragon_cpu_math_f32_to_f16(float x, uint32_t mode) {
  uint32_t bits = std::bit_cast<uint32_t>(x);
  uint32_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return 0x7fff;
  if (magnitude == 0x7f800000)
    return static_cast<uint16_t>(sign | 0x7c00);
  // The kept bits, and whether anything is lost below them.
  int exponent = static_cast<int>(magnitude >> 23) - 127;
  uint32_t mantissa = magnitude >> 23 ? (magnitude & 0x7fffff) | 0x800000
                                      : magnitude & 0x7fffff;
  if (magnitude >> 23 == 0)
    exponent = -126;
  uint32_t kept, lost, half;
  if (exponent >= -14) {
    kept = (static_cast<uint32_t>(exponent + 15) << 10) +
           ((mantissa >> 13) & 0x3ff);
    lost = mantissa & 0x1fff;
    half = 0x1000;
  } else {
    int shift = -14 - exponent + 13;
    kept = shift < 32 ? mantissa >> shift : 0;
    lost = shift < 32 ? mantissa & ((1u << shift) - 1) : mantissa;
    half = shift < 32 ? 1u << (shift - 1) : ~0u;
  }
  bool up = false;
  if (mode == Nearest)
    up = lost > half || (lost == half && (kept & 1));
  else if (mode == Down)
    up = lost != 0 && sign;
  else if (mode == Up)
    up = lost != 0 && !sign;
  kept += up;
  if (exponent > 15 || kept >= 0x7c00) {
    // Overflow: infinity, or the largest number where that is the wrong way.
    bool stays =
        mode == Zero || (mode == Down && !sign) || (mode == Up && sign);
    kept = stays ? 0x7bff : 0x7c00;
  }
  return static_cast<uint16_t>(sign | kept);
}

DRAGON_EXPORT float dragon_cpu_math_i64_to_f32(int64_t x, uint32_t mode) {
  return fromSigned<float>(x, mode);
}

DRAGON_EXPORT float dragon_cpu_math_u64_to_f32(uint64_t x, uint32_t mode) {
  return fromUnsigned<float>(x, mode);
}

DRAGON_EXPORT double dragon_cpu_math_i64_to_f64(int64_t x, uint32_t mode) {
  return fromSigned<double>(x, mode);
}

DRAGON_EXPORT double dragon_cpu_math_u64_to_f64(uint64_t x, uint32_t mode) {
  return fromUnsigned<double>(x, mode);
}

// In integers: clang would call these very functions for a cast.
DRAGON_EXPORT __bf16 dragon_cpu_math_f32_to_bf16(float x) {
  auto bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7fffffff) > 0x7f800000)
    bits |= 0x400000; // a quiet NaN, and no infinity
  else
    bits += 0x7fff + (bits >> 16 & 1);
  return std::bit_cast<__bf16>(static_cast<uint16_t>(bits >> 16));
}

DRAGON_EXPORT __bf16 dragon_cpu_math_f64_to_bf16(double x) {
  // Rounded to odd in between, so that it is rounded once.
  const auto near = static_cast<float>(x);
  auto bits = std::bit_cast<uint32_t>(near);
  if (x == x && near != x && !(bits & 1))
    bits += std::fabs(static_cast<double>(near)) < std::fabs(x) ? 1 : ~0u;
  return dragon_cpu_math_f32_to_bf16(std::bit_cast<float>(bits));
}

DRAGON_EXPORT uint32_t dragon_cpu_math_fns(uint32_t mask, uint32_t base,
                                           int32_t offset) {
  if (base > 31)
    return ~0u;
  if (offset == 0)
    return mask >> base & 1 ? base : ~0u;
  int step = offset > 0 ? 1 : -1;
  int left = offset > 0 ? offset : -offset;
  for (int bit = static_cast<int>(base); bit >= 0 && bit < 32; bit += step)
    if ((mask >> bit & 1) && --left == 0)
      return static_cast<uint32_t>(bit);
  return ~0u;
}
