//===- AccessRecorder.h - accesses by pointer parameter ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Records the accesses that a kernel makes: for each, which pointer parameter
// its address comes from (PointerRoots.h), what the offset is (Footprint.h) and
// when it runs (Guards.h). An access that is not understood makes the record
// wider: it is of the whole buffer, or of anything.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_ACCESS_ACCESSRECORDER_H
#define DRAGON_PASSES_ACCESS_ACCESSRECORDER_H

#include "passes/access/Choices.h"
#include "passes/access/Footprint.h"
#include "passes/access/Guards.h"
#include "passes/access/PointerRoots.h"

#include <string>
#include <vector>

namespace llvm {
class DominatorTree;
class Instruction;
class LoopInfo;
class ScalarEvolution;
class Twine;
class Value;
} // namespace llvm

namespace dragon {

/// An access on its way into a PointerSummary.
struct FoundAccess {
  AccessSummary Summary;
  const llvm::Instruction *At;
  const llvm::SCEV *Offset; ///< null if unbounded; of all choices
  Sides Taken;              ///< the choice that Summary is about
};

/// Something that widened the summary, for the user.
struct AccessNote {
  const llvm::Instruction *At;
  std::string Pointer; ///< name of the parameter; empty: the kernel
  std::string What;    ///< "the index is loaded from memory"
};

class AccessRecorder {
public:
  /// The accesses through one pointer parameter.
  struct Pointer {
    PointerParameter From;
    std::vector<FoundAccess> Accesses;
    bool Escapes = false;
    bool Kept = false;
  };

  AccessRecorder(ExprPool &Pool, llvm::ScalarEvolution &SE,
                 llvm::DominatorTree &DT, llvm::LoopInfo &LI);

  /// Width bytes at Address + Offset.
  void access(llvm::Instruction &I, llvm::Value &Address, uint64_t Width,
              uint8_t Kinds, int64_t Offset = 0);
  /// Length (a value) bytes.
  void accessBytes(llvm::Instruction &I, llvm::Value &Address,
                   llvm::Value &Length, uint8_t Kinds);
  /// Unknown bytes of whatever Address may point into.
  void accessAll(llvm::Instruction &I, llvm::Value &Address, uint8_t Kinds,
                 const char *Why);
  /// I may access anything.
  void anything(llvm::Instruction &I, const llvm::Twine &Why);
  /// I lets the pointer escape.
  void escape(Pointer &P, llvm::Instruction &I, const char *How);
  /// I stores the pointer in memory.
  void keep(Pointer &P, llvm::Instruction &I);

  /// The record of a parameter; empty at first.
  Pointer &pointer(const PointerParameter &From);
  std::string nameOf(const PointerParameter &From) const;

  std::vector<Pointer> &pointers() { return Pointers; }
  bool touchesAnything() const { return Anything; }
  ExprPool &pool() { return Indices.pool(); }
  Footprint &indices() { return Indices; }
  Guards &conditions() { return Conditions; }
  const std::vector<AccessNote> &notes() const { return Notes; }

private:
  llvm::ScalarEvolution &SE;
  llvm::DominatorTree &DT;
  llvm::LoopInfo &LI;
  Footprint Indices;
  Guards Conditions;
  std::vector<Pointer> Pointers;
  std::vector<AccessNote> Notes;
  bool Anything = false;
};

} // namespace dragon

#endif // DRAGON_PASSES_ACCESS_ACCESSRECORDER_H
