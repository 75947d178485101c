//===- PtxVideo.h - inline PTX: video instructions --------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_PTXVIDEO_H
#define DRAGON_PASSES_CPU_PTXVIDEO_H

#include "passes/cpu/PtxComparisons.h"

namespace dragon {

class PtxVideo : private PtxHandler {
public:
  explicit PtxVideo(PtxStatement &P) : PtxHandler(P) {}

  bool emit(I In);

private:
  bool scalarVideo(I In);

  PtxComparisons Comparisons{P};
};

} // namespace dragon

#endif // DRAGON_PASSES_CPU_PTXVIDEO_H
