//===- StagingPlan.h - which staging buffers are elided ------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A staging buffer between files and copies is elided: bytes stay where they
// are until somebody looks at them. Which ones can be is settled first, because
// what an elided buffer stands for lives longer. One that cannot be may rule
// out those that share a transfer with it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_STAGINGPLAN_H
#define DRAGON_PASSES_PLACEMENT_STAGINGPLAN_H

#include "passes/placement/Legality.h"

namespace dragon {

struct StagingPlan {
  std::vector<bool> Elided; ///< by buffer
  /// Through buffers that are elided.
  std::vector<StagingFlow> Flows; ///< from and to files
  std::vector<StagingFlow> Back;  ///< from the device, and to it again
  /// Why others are not.
  std::vector<Finding> RuledOut;
};

StagingPlan planStaging(const BufferProgram &Program, const FlowGraph &Graph);

} // namespace dragon

#endif // DRAGON_PASSES_PLACEMENT_STAGINGPLAN_H
