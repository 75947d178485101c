//===- PointerFlow.h - which buffer a pointer is ------------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buffers that change places:
//
//   block loop
//   pointer from a from entry, to from loop
//   pointer to b from entry, from from loop
//   launch step read(from) write(to)
//   -> loop, end
//   block end
//   copy-out h to
//
// Either pointer may be either buffer, but never is what the other one is: they
// are different where the loop is entered, and stay so where they are
// exchanged. So behind the loop what `from` points to is dead, whichever that
// is. And where a phi is what comes by each edge, each edge knows more than the
// block that it leads to.
//
// That two pointers differ holds wherever both are known, which is where both
// of their definitions dominate: each of the two has the value that its
// definition gave it when it was last passed. So of two it is the later one's
// incoming names that are looked at; phis of one block, and selects by one
// condition, are looked at side by side. The relation is the least that this
// allows.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_POINTERFLOW_H
#define DRAGON_PASSES_PLACEMENT_POINTERFLOW_H

#include "passes/placement/FlowGraph.h"

#include "llvm/ADT/BitVector.h"

namespace dragon {

class PointerFlow {
public:
  PointerFlow(const BufferProgram &Program, const FlowGraph &Graph);

  /// How many: buffers, then pointers.
  size_t names() const { return Buffers.size(); }
  /// What it may be.
  const llvm::BitVector &buffers(NameId Name) const { return Buffers[Name]; }
  /// Whether both may be the same buffer, where both are known.
  bool maySame(NameId A, NameId B) const { return Same[A][B]; }
  /// Whether the event may touch, or read, what the name is.
  bool mayTouch(const Event &E, NameId Name, bool Read = false) const;
  /// All names that may be what one of these is.
  llvm::BitVector withSame(const llvm::BitVector &Names) const;
  /// The name is known in front of the event (which the selects are that are
  /// made there), or at the end of the block.
  bool isKnown(NameId Name, EventRef At) const;

  /// By what names go that are known where To is entered, or some events later
  /// there, at the end of From.
  llvm::BitVector onEdge(const llvm::BitVector &Names, unsigned From,
                         unsigned To) const;
  /// The same for what is known once the selects in front of an event are made:
  /// before them. Condition, if not -1: is as given.
  llvm::BitVector beforeSelects(const llvm::BitVector &Names, EventRef At,
                                int Condition = -1, bool Given = false) const;

private:
  void findBuffers();
  void findSame();
  bool isLater(const Pointer &A, const Pointer &B) const;
  bool anySame(llvm::ArrayRef<NameId> A, llvm::ArrayRef<NameId> B) const;
  bool mayMeet(NameId A, NameId B) const;

  const BufferProgram &Program;
  const FlowGraph &Graph;
  std::vector<llvm::BitVector> Buffers, Same;
  std::vector<std::vector<NameId>> MadeIn; ///< by block: its pointers
};

} // namespace dragon

#endif // DRAGON_PASSES_PLACEMENT_POINTERFLOW_H
