//===- EvalInput.h - what an evaluation is of -------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A summary's arrays, a launch's numbers, a box of its blocks and iterations,
// and what is known of the memory that it looks into. Owned by the caller.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_DETAIL_EVALINPUT_H
#define DRAGON_DETAIL_EVALINPUT_H

#include "dragon/KernelSummary.h"
#include "dragon/KnownMemory.h"
#include "dragon/detail/LoadedCases.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace dragon {
namespace detail {

/// What the evaluator needs of a summary and a launch.
struct EvalInput {
  const ExprNode *Exprs;
  const GuardRecord *Guards;
  const uint32_t *ArgSizes;
  uint32_t NumArgs;
  const uint32_t *Grid;  ///< x, y, z
  const uint32_t *Block; ///< x, y, z
  const uint32_t *BoxLo; ///< x, y, z
  const uint32_t *BoxHi; ///< x, y, z; exclusive
  const void *const *ArgValues;
  /// The loop of which only the iterations [LoopLo, LoopHi) count; NoIndex:
  /// none. LoopHi UINT64_MAX: to its end.
  uint32_t Loop = NoIndex;
  uint64_t LoopLo = 0;
  uint64_t LoopHi = UINT64_MAX;
  /// The same of the loop around it, of which only the rounds [RoundLo,
  /// RoundHi) count.
  uint32_t Around = NoIndex;
  uint64_t RoundLo = 0;
  uint64_t RoundHi = UINT64_MAX;
  const KnownMemory *Memory = nullptr;
  std::vector<NumberPlaces> *Wanted = nullptr;
  /// What some loads give, in this case (LoadedCases.h).
  const LoadedCase *Cases = nullptr;
  size_t NumCases = 0;
  /// Of the kernel, for conditions of its loops.
  const PointerRecord *Pointers = nullptr;
  uint32_t NumPointers = 0;
  const AccessRecord *Accesses = nullptr; ///< of the whole summary
  /// It is asked how often a loop runs, while that was asked of another one.
  unsigned LoopsAsked = 0;

  /// The scalar argument that the node reads; false: there is none.
  bool argument(const ExprNode &N, int64_t &Value) const {
    const size_t Bytes = (size_t(N.Bits) + 7) / 8;
    if (!ArgValues || N.A >= NumArgs || !ArgValues[N.A] || N.Imm < 0 ||
        uint64_t(N.Imm) + Bytes > ArgSizes[N.A])
      return false;
    uint64_t Raw = 0;
    std::memcpy(&Raw, static_cast<const char *>(ArgValues[N.A]) + N.Imm, Bytes);
    const unsigned Unused = 64 - N.Bits;
    Value = int64_t(Raw << Unused) >> Unused;
    return true;
  }
};

} // namespace detail
} // namespace dragon

#endif // DRAGON_DETAIL_EVALINPUT_H
