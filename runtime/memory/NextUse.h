//===- NextUse.h - when contents are needed next ----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Times are the runtime's clock. Each launch has the same share of it, however
// long it takes and in however many slices it runs, so that "two launches from
// now" is later than "at the end of the next one". A wrong forecast costs
// transfers, never contents.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_NEXTUSE_H
#define DRAGON_RUNTIME_MEMORY_NEXTUSE_H

#include <cstdint>

namespace dragon {

struct Chunk;

/// On the runtime's clock: from launch to launch, if there are not as many
/// copies between them; and of that, how long a launch runs. Its slices divide
/// that evenly, each copy after it takes one.
constexpr uint64_t LaunchTime = uint64_t(1) << 21;
constexpr uint64_t LaunchSpan = uint64_t(1) << 20;

/// When something is used next.
struct Forecast {
  uint64_t clock = 0; ///< 0: not foreseen
  /// All of it is overwritten then: the contents are not needed.
  bool overwritten = false;
  /// The use was asked for already; others are likely.
  bool certain = false;
};

/// Who predicts next uses, for those who choose what leaves.
class NextUsePredictor {
public:
  virtual ~NextUsePredictor() = default;
  virtual Forecast nextUseOf(Chunk &chunk) = 0;
  /// A copy or a fill is about to overwrite the addresses.
  virtual void overwritten(uintptr_t begin, uintptr_t end) = 0;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_NEXTUSE_H
