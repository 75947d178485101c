//===- PtxThreads.h - inline PTX: threads that meet -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_PTXTHREADS_H
#define DRAGON_PASSES_CPU_PTXTHREADS_H

#include "passes/cpu/PtxStatement.h"

namespace dragon {

class PtxThreads : private PtxHandler {
public:
  explicit PtxThreads(PtxStatement &P) : PtxHandler(P) {}

  bool emit(I In);

private:
  bool blockBarrier(I In);
  bool barrierObject(I In);
  bool warpOperation(I In);
  bool shuffle(I In);
  bool vote(I In);
};

} // namespace dragon

#endif // DRAGON_PASSES_CPU_PTXTHREADS_H
