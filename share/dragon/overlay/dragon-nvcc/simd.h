//===- simd.h - arithmetic on the parts of a word ---------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CUDA's SIMD intrinsics (__vadd4, __vcmpgts2 and the like: two or four lanes
// in 32 bits). Clang has them as the video instructions of PTX, which no GPU
// since Kepler has: ptxas makes 15 to 40 instructions of each, nvcc 1 to 11.
// Here they are plain arithmetic. Lanes are kept apart by their highest bits,
// which are added on their own: H. S. Warren, "Hacker's Delight", chapter 2-18.
//
// A function with enable_if is preferred to clang's of the same name.
// __vabsdiffu4 and __vsadu4 stay clang's: GPUs have them.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_NVCC_SIMD_H
#define DRAGON_NVCC_SIMD_H

#ifdef __CUDA_ARCH__

#define DRAGON_LANE static __device__ __attribute__((always_inline)) unsigned

/// Lanes of Bits bits. The highest bit of each lane is its sign; "flags" are
/// words of which these bits alone count.
template <unsigned Bits> struct dragonLanes {
  enum : unsigned {
    Low = Bits == 8 ? 0x01010101u : 0x00010001u,
    High = Low << (Bits - 1),
    Rest = ~High
  };
  // Two lanes are added and compared by one instruction each from sm_90 on.
  typedef unsigned short Unsigned2 __attribute__((ext_vector_type(2)));
  typedef short Signed2 __attribute__((ext_vector_type(2)));
  enum { Vectors = Bits == 16 && __CUDA_ARCH__ >= 900 };

  template <class T> static __device__ T to(unsigned a) {
    return __builtin_bit_cast(T, a);
  }
  template <class T> DRAGON_LANE from(T a) {
    return __builtin_bit_cast(unsigned, a);
  }

  /// All bits of a lane are its flag.
  DRAGON_LANE mask(unsigned flags) {
    return __nvvm_prmt(flags, 0, Bits == 8 ? 0xba98 : 0xbb99);
  }
  DRAGON_LANE bit(unsigned flags) { return (flags >> (Bits - 1)) & Low; }
  DRAGON_LANE select(unsigned mask, unsigned a, unsigned b) {
    return (a & mask) | (b & ~mask);
  }

  DRAGON_LANE add(unsigned a, unsigned b) {
    if (Vectors)
      return from(to<Unsigned2>(a) + to<Unsigned2>(b));
    return ((a & Rest) + (b & Rest)) ^ ((a ^ b) & High);
  }
  DRAGON_LANE sub(unsigned a, unsigned b) {
    if (Vectors)
      return add(a, add(~b, Low));
    return ((a | High) - (b & Rest)) ^ (~(a ^ b) & High);
  }
  /// (a + b) / 2, rounded down and up.
  DRAGON_LANE haddu(unsigned a, unsigned b) {
    return (a & b) + (((a ^ b) >> 1) & Rest);
  }
  DRAGON_LANE avgu(unsigned a, unsigned b) {
    return (a | b) - (((a ^ b) >> 1) & Rest);
  }

  /// Flags: where the highest bits are the same, the rest of a is larger than
  /// that of b, by the carry of a + ~b.
  DRAGON_LANE largerRest(unsigned a, unsigned b) {
    return ~(a ^ b) & ((a & Rest) + (~b & Rest));
  }
  DRAGON_LANE gtu(unsigned a, unsigned b) {
    return (a & ~b) | largerRest(a, b);
  }
  DRAGON_LANE geu(unsigned a, unsigned b) { return ~gtu(b, a); }
  DRAGON_LANE gts(unsigned a, unsigned b) {
    return (~a & b) | largerRest(a, b);
  }
  DRAGON_LANE ges(unsigned a, unsigned b) { return ~gts(b, a); }
  DRAGON_LANE ne(unsigned a, unsigned b) {
    const unsigned x = a ^ b;
    return ((x & Rest) + Rest) | x;
  }
  DRAGON_LANE eq(unsigned a, unsigned b) {
    const unsigned x = a ^ b;
    return ((Low << Bits) - (x | High)) & ~x;
  }
  DRAGON_LANE ltu(unsigned a, unsigned b) { return gtu(b, a); }
  DRAGON_LANE leu(unsigned a, unsigned b) { return geu(b, a); }
  DRAGON_LANE lts(unsigned a, unsigned b) { return gts(b, a); }
  DRAGON_LANE les(unsigned a, unsigned b) { return ges(b, a); }

  DRAGON_LANE maxu(unsigned a, unsigned b) {
    if (Vectors)
      return from(
          __builtin_elementwise_max(to<Unsigned2>(a), to<Unsigned2>(b)));
    return select(mask(gtu(a, b)), a, b);
  }
  DRAGON_LANE minu(unsigned a, unsigned b) {
    if (Vectors)
      return from(
          __builtin_elementwise_min(to<Unsigned2>(a), to<Unsigned2>(b)));
    return select(mask(gtu(a, b)), b, a);
  }
  DRAGON_LANE maxs(unsigned a, unsigned b) {
    if (Vectors)
      return from(__builtin_elementwise_max(to<Signed2>(a), to<Signed2>(b)));
    return select(mask(gts(a, b)), a, b);
  }
  DRAGON_LANE mins(unsigned a, unsigned b) {
    if (Vectors)
      return from(__builtin_elementwise_min(to<Signed2>(a), to<Signed2>(b)));
    return select(mask(gts(a, b)), b, a);
  }

  /// With saturation: a sum that is not what it should be becomes the limit on
  /// the side of a.
  DRAGON_LANE saturate(unsigned a, unsigned sum, unsigned over) {
    return select(mask(over), mask(a) ^ Rest, sum);
  }
  DRAGON_LANE addss(unsigned a, unsigned b) {
    const unsigned sum = add(a, b);
    return saturate(a, sum, ~(a ^ b) & (a ^ sum));
  }
  DRAGON_LANE subss(unsigned a, unsigned b) {
    const unsigned difference = sub(a, b);
    return saturate(a, difference, (a ^ b) & (a ^ difference));
  }
  DRAGON_LANE addus(unsigned a, unsigned b) {
    if (Vectors)
      return add(minu(a, ~b), b);
    return add(a, b) | mask(gtu(a, ~b));
  }
  DRAGON_LANE subus(unsigned a, unsigned b) {
    if (Vectors)
      return sub(maxu(a, b), b);
    // The highest bit of each lane says whether the rest of a is no less than
    // that of b.
    const unsigned kept = (a | High) - (b & Rest);
    const unsigned same = ~(a ^ b);
    return (kept ^ (same & High)) & mask((a & ~b) | (same & kept));
  }

  DRAGON_LANE abs(unsigned a) {
    const unsigned sign = mask(a);
    return (a ^ sign) + (sign & Low);
  }
  DRAGON_LANE absss(unsigned a) {
    const unsigned value = abs(a);
    return value - bit(value);
  }
  DRAGON_LANE neg(unsigned a) { return sub(0, a); }
  DRAGON_LANE negss(unsigned a) { return subss(0, a); }
  // The larger less the smaller one of each lane takes nothing from the next.
  DRAGON_LANE absdiffu(unsigned a, unsigned b) {
    if (Bits == 8)
      return __vabsdiffu4(a, b);
    return maxu(a, b) - minu(a, b);
  }
  DRAGON_LANE absdiffs(unsigned a, unsigned b) {
    return absdiffu(a ^ High, b ^ High);
  }

  /// Halves go away from zero.
  DRAGON_LANE avgs(unsigned a, unsigned b) {
    const unsigned down = haddu(a ^ High, b ^ High) ^ High;
    return down + ((a ^ b) & Low & ~(down >> (Bits - 1)));
  }

  DRAGON_LANE total(unsigned a) {
    if (Bits == 16)
      return (a & 0xffffu) + (a >> 16);
    const unsigned pairs = (a & 0x00ff00ffu) + ((a >> 8) & 0x00ff00ffu);
    return (pairs & 0x1ffu) + (pairs >> 16);
  }
  DRAGON_LANE sadu(unsigned a, unsigned b) { return total(absdiffu(a, b)); }
  DRAGON_LANE sads(unsigned a, unsigned b) { return total(absdiffs(a, b)); }
};

#define DRAGON_SIMD(name)                                                      \
  static __device__                                                            \
      __attribute__((always_inline, enable_if(true, ""))) unsigned name
#define DRAGON_SIMD_UNARY(name)                                                \
  DRAGON_SIMD(__v##name##2)(unsigned a) { return dragonLanes<16>::name(a); }   \
  DRAGON_SIMD(__v##name##4)(unsigned a) { return dragonLanes<8>::name(a); }
#define DRAGON_SIMD_2(name)                                                    \
  DRAGON_SIMD(__v##name##2)(unsigned a, unsigned b) {                          \
    return dragonLanes<16>::name(a, b);                                        \
  }
#define DRAGON_SIMD_BINARY(name)                                               \
  DRAGON_SIMD_2(name)                                                          \
  DRAGON_SIMD(__v##name##4)(unsigned a, unsigned b) {                          \
    return dragonLanes<8>::name(a, b);                                         \
  }
#define DRAGON_SIMD_COMPARE_LANES(name, lanes, bits)                           \
  DRAGON_SIMD(__vcmp##name##lanes)(unsigned a, unsigned b) {                   \
    return dragonLanes<bits>::mask(dragonLanes<bits>::name(a, b));             \
  }                                                                            \
  DRAGON_SIMD(__vset##name##lanes)(unsigned a, unsigned b) {                   \
    return dragonLanes<bits>::bit(dragonLanes<bits>::name(a, b));              \
  }
#define DRAGON_SIMD_COMPARE(name)                                              \
  DRAGON_SIMD_COMPARE_LANES(name, 2, 16)                                       \
  DRAGON_SIMD_COMPARE_LANES(name, 4, 8)

DRAGON_SIMD_UNARY(abs)
DRAGON_SIMD_UNARY(absss)
DRAGON_SIMD_UNARY(neg)
DRAGON_SIMD_UNARY(negss)
DRAGON_SIMD_BINARY(add)
DRAGON_SIMD_BINARY(addss)
DRAGON_SIMD_BINARY(addus)
DRAGON_SIMD_BINARY(sub)
DRAGON_SIMD_BINARY(subss)
DRAGON_SIMD_BINARY(subus)
DRAGON_SIMD_BINARY(avgs)
DRAGON_SIMD_BINARY(avgu)
DRAGON_SIMD_BINARY(haddu)
DRAGON_SIMD_BINARY(maxs)
DRAGON_SIMD_BINARY(maxu)
DRAGON_SIMD_BINARY(mins)
DRAGON_SIMD_BINARY(minu)
DRAGON_SIMD_BINARY(absdiffs)
DRAGON_SIMD_BINARY(sads)
DRAGON_SIMD_2(absdiffu)
DRAGON_SIMD_2(sadu)
DRAGON_SIMD_COMPARE(eq)
DRAGON_SIMD_COMPARE(ne)
DRAGON_SIMD_COMPARE(gts)
DRAGON_SIMD_COMPARE(gtu)
DRAGON_SIMD_COMPARE(ges)
DRAGON_SIMD_COMPARE(geu)
DRAGON_SIMD_COMPARE(lts)
DRAGON_SIMD_COMPARE(ltu)
DRAGON_SIMD_COMPARE(les)
DRAGON_SIMD_COMPARE(leu)

#undef DRAGON_SIMD_COMPARE
#undef DRAGON_SIMD_COMPARE_LANES
#undef DRAGON_SIMD_BINARY
#undef DRAGON_SIMD_2
#undef DRAGON_SIMD_UNARY
#undef DRAGON_SIMD
#undef DRAGON_LANE

#endif // __CUDA_ARCH__

#endif // DRAGON_NVCC_SIMD_H
