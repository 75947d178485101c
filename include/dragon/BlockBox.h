//===- BlockBox.h - a part of a launch --------------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_BLOCKBOX_H
#define DRAGON_BLOCKBOX_H

#include <cstdint>

namespace dragon {

/// Block indices [Lo, Hi) in x, y, z; and iterations of the loop that the
/// kernel can be cut along (KernelRecord::LoopName), or of the loops, one after
/// the other (LaunchDims::LoopEnds): those of each thread if
/// Hi[3] is 0, else [Lo[3], Hi[3]) without what stands behind the loop, or, if
/// Hi[3] is ToTheEnd, those from Lo[3] and what stands behind it. What happens
/// in front of the loop alone does so if Lo[3] is 0.
struct BlockBox {
  uint32_t Lo[4];
  uint32_t Hi[4];
};
/// In Lo and Hi.
constexpr unsigned LoopDimension = 3;
constexpr uint32_t ToTheEnd = UINT32_MAX;

} // namespace dragon

#endif // DRAGON_BLOCKBOX_H
