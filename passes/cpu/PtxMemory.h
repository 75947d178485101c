//===- PtxMemory.h - inline PTX: memory -------------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_PTXMEMORY_H
#define DRAGON_PASSES_CPU_PTXMEMORY_H

#include "passes/cpu/PtxTextures.h"

namespace dragon {

class PtxMemory : private PtxHandler {
public:
  explicit PtxMemory(PtxStatement &P) : PtxHandler(P) {}

  bool emit(I In);

private:
  bool load(I In);
  bool store(I In);
  bool atomic(I In);
  llvm::Value *readModifyWrite(llvm::StringRef Operation, const PtxType &Type,
                               llvm::Value *Pointer, I In, unsigned Operand);
  bool copyAsync(I In);
  bool addressConversion(I In);

  PtxTextures Textures{P};
};

} // namespace dragon

#endif // DRAGON_PASSES_CPU_PTXMEMORY_H
