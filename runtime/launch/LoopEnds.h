//===- LoopEnds.h - where the loops of launches end -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that is cut along several loops is told where each of them ends
// (LaunchDims::LoopEnds). To find that out takes as long as a footprint does,
// so it is done only for launches that may be cut, and once for those that
// have all sizes and arguments in common.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_LOOPENDS_H
#define DRAGON_RUNTIME_LAUNCH_LOOPENDS_H

#include "runtime/launch/LaunchCall.h"

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace dragon {

class LoopEnds {
public:
  /// Sets loopEnds and loopRounds; they stay 0 if they are not known.
  void find(LaunchCall &call);

private:
  struct Found {
    const KernelRecord *record = nullptr; ///< another kernel may lie there now
    std::array<uint32_t, MaxLoops> ends = {};
    std::array<uint32_t, MaxLoops> rounds = {};
  };

  /// By contentsKey().
  std::unordered_map<std::string, Found> Known;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_LOOPENDS_H
