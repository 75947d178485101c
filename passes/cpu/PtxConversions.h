//===- PtxConversions.h - inline PTX: conversions ---------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_PTXCONVERSIONS_H
#define DRAGON_PASSES_CPU_PTXCONVERSIONS_H

#include "passes/cpu/PtxStatement.h"

namespace dragon {

class PtxConversions : private PtxHandler {
public:
  explicit PtxConversions(PtxStatement &P) : PtxHandler(P) {}

  bool emit(I In);

private:
  bool convertFloat(I In, PtxType To, PtxType From);
  bool convertFp8(I In);
};

} // namespace dragon

#endif // DRAGON_PASSES_CPU_PTXCONVERSIONS_H
