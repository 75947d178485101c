//===- PtxTextures.h - inline PTX: textures and surfaces --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_PTXTEXTURES_H
#define DRAGON_PASSES_CPU_PTXTEXTURES_H

#include "passes/cpu/PtxStatement.h"

namespace dragon {

class PtxTextures : private PtxHandler {
public:
  explicit PtxTextures(PtxStatement &P) : PtxHandler(P) {}

  bool texture(I In);
  bool surface(I In);

private:
  /// Room for `Words` words in F.
  llvm::AllocaInst *makeWords(unsigned Words);
  void storeWords(llvm::ArrayRef<PtxOperand> From, llvm::Value *To,
                  unsigned At);
};

} // namespace dragon

#endif // DRAGON_PASSES_CPU_PTXTEXTURES_H
