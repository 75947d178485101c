//===- Aliases.h - which pointers may point where ------------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Points-to sets of one flattened function, after Andersen (1994): flow-
// insensitive, by inclusion, with the bytes at each constant offset of an
// object apart. Objects are the buffers (CallEffects.def), open files, local
// variables and the globals that only this function uses; everything else is
// one object, Unknown: a pointer to it may also be one to anything that
// escapes.
//
//   d = alloc           d -> {buffer + 0}
//   *slot = d           content(slot, 0) = {buffer + 0}
//   unknown(d)          buffer escapes: loads from Unknown may give it
//
// The sets are PointsToSets; Aliases.cpp has the effect of each instruction on
// them, ExposedAddresses.cpp the addresses that become numbers and back.
//
// Escaping is what makes a call that nothing is known of dangerous; a pointer
// that never leaves cannot be used by it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_ALIASES_H
#define DRAGON_PASSES_LIFETIME_ALIASES_H

#include "passes/libraries/LibraryFunction.h"
#include "passes/lifetime/CallEffects.h"
#include "passes/lifetime/KernelSummaries.h"
#include "passes/lifetime/PointsToSets.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace llvm {
class CallBase;
class Function;
class GetElementPtrInst;
class GlobalVariable;
class Instruction;
class IntrinsicInst;
class LoadInst;
class Value;
} // namespace llvm

namespace dragon {

class Aliases : public PointsToSets {
public:
  /// Globals: whether the function is the only one to use a global, and runs
  /// at most once.
  Aliases(llvm::Function &F, const KernelSummaries &Kernels,
          llvm::ArrayRef<const llvm::GlobalVariable *> OwnGlobals);

private:
  /// The effect of an instruction depends on where its operands point to, and,
  /// if it accesses memory, on the contents of the objects there.
  struct Visit {
    llvm::Instruction *I;
    llvm::SmallVector<const Pointer *, 4> Operands;
    bool OfMemory;
    unsigned Last = 0;
  };

  void solve();
  bool isDue(const Visit &V) const;
  void visit(llvm::Instruction &I);
  void visitAddress(llvm::GetElementPtrInst &Address);
  void visitOperation(llvm::Instruction &I);
  void visitCall(llvm::CallBase &Call);
  void visitIntrinsic(llvm::IntrinsicInst &Call);
  void visitOpaque(llvm::CallBase &Call);
  void visitEffect(llvm::CallBase &Call, const CallEffect &Effect);
  void visitLaunch(llvm::CallBase &Call);
  void visitLibrary(llvm::CallBase &Call, const LibraryFunction &Function);
  // ExposedAddresses.cpp
  void expose(const llvm::Value *V, const llvm::Instruction &At);
  void exposeOperands(const llvm::Instruction &I);
  void exposeContents(const llvm::Value *Address, uint64_t Bytes,
                      const llvm::Instruction &At);
  void exposeByLoad(const llvm::LoadInst &Load);
  void exposeByCall(const llvm::CallBase &Call, const CallEffect &Effect);
  /// The difference of two addresses in one object is no address.
  bool isDifference(const llvm::Instruction &I) const;
  bool isAnyNumber(const llvm::Value *V);
  bool becomesUnknown(const llvm::Value *V);
  bool overwriteUnknown(const llvm::Value *To, uint64_t Bytes);
  bool addFromOutside();

  const KernelSummaries &Kernels;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_ALIASES_H
