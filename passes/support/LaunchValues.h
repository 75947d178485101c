//===- LaunchValues.h - position and size of a thread -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The registers of PTX that say which thread and which block it is, and how
// many there are, as footprints call them.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SUPPORT_LAUNCHVALUES_H
#define DRAGON_PASSES_SUPPORT_LAUNCHVALUES_H

#include "dragon/KernelSummary.h"

#include "llvm/IR/Intrinsics.h"

#include <optional>

namespace dragon {

struct LaunchValue {
  ExprOp Op;          ///< ThreadIdx, BlockDim, BlockIdx or GridDim
  unsigned Dimension; ///< 0, 1, 2 for x, y, z

  /// It tells threads apart.
  bool isPosition() const {
    return Op == ExprOp::ThreadIdx || Op == ExprOp::BlockIdx;
  }
  /// A slice of the grid has another one.
  bool isOfGrid() const {
    return Op == ExprOp::BlockIdx || Op == ExprOp::GridDim;
  }
};

/// What the intrinsic reads; nothing: something else.
std::optional<LaunchValue> launchValueOf(llvm::Intrinsic::ID Id);

} // namespace dragon

#endif // DRAGON_PASSES_SUPPORT_LAUNCHVALUES_H
