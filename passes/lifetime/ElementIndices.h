//===- ElementIndices.h - arrays of buffers ------------------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the counted loops and the arrays of buffers, and says which element of
// an array a use means.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_ELEMENTINDICES_H
#define DRAGON_PASSES_LIFETIME_ELEMENTINDICES_H

#include "passes/lifetime/BuilderFacts.h"

namespace dragon {

class ElementIndices {
public:
  explicit ElementIndices(BuilderFacts &Facts) : Facts(Facts) {}

  /// Adds the counted loops, and marks the buffers that are arrays.
  void addArrays();
  /// Notes the element that Use, of the call's operand Pointer, means. To is
  /// what the pointer may be. Only: it is nothing else.
  void noteElement(BufferUse &Use, const llvm::CallBase &Call,
                   const llvm::Value *Pointer, const Target &To, bool Only);

private:
  std::optional<Bound> boundOf(const llvm::Value *V);
  void addLoop(const llvm::Loop &L);
  std::optional<ElementIndex> indexOf(const llvm::Value *Index, int64_t Plus,
                                      const llvm::Instruction &User);
  std::optional<ElementIndex> elementOf(const llvm::Value *Pointer,
                                        unsigned Object, unsigned B,
                                        const llvm::Instruction &User,
                                        bool &Surely, unsigned Depth = 0);

  BuilderFacts &Facts;
  llvm::DenseMap<const llvm::Value *, NumberId> Numbers;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_ELEMENTINDICES_H
