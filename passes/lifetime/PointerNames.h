//===- PointerNames.h - pointers to one of several ------------ -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pointer that is the address of one of several buffers gets a number, which
// events name beside the buffers.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_POINTERNAMES_H
#define DRAGON_PASSES_LIFETIME_POINTERNAMES_H

#include "passes/lifetime/BuilderFacts.h"

#include "llvm/ADT/MapVector.h"

namespace dragon {

class PointerNames {
public:
  explicit PointerNames(BuilderFacts &Facts) : Facts(Facts) {}

  std::optional<unsigned> pointerOf(const llvm::Value *V);
  void notePointer(Event &E, unsigned Pointer, const llvm::Value *V, bool Reads,
                   bool Writes, SizeId Size);
  /// After all events are there.
  void addPointers();

private:
  llvm::SmallVector<NameId, 1> namesOf(const llvm::Value *V);

  BuilderFacts &Facts;
  llvm::MapVector<llvm::Instruction *, unsigned> PointerOf;
  llvm::DenseMap<const llvm::Value *, unsigned> Conditions;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_POINTERNAMES_H
