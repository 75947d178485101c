//===- KernelAccess.h - the accesses of one kernel --------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks a canonicalised kernel (Canonicalize.h), finds every instruction that
// touches memory, records its accesses (AccessRecorder.h), follows the pointers
// that may escape (EscapeFinder.h), and makes a KernelSummary of the record.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_ACCESS_KERNELACCESS_H
#define DRAGON_PASSES_ACCESS_KERNELACCESS_H

#include "passes/access/AccessRecorder.h"
#include "passes/access/CalleeAccess.h"
#include "passes/support/LoopTags.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class CallBase;
class DominatorTree;
class Function;
class Instruction;
class IntrinsicInst;
class LoopInfo;
class MemIntrinsic;
class ScalarEvolution;
} // namespace llvm

namespace dragon {

class KernelAccess {
public:
  KernelAccess(llvm::Function &Kernel, ExprPool &Pool,
               llvm::ScalarEvolution &SE, llvm::DominatorTree &DT,
               llvm::LoopInfo &LI);

  KernelSummary run();
  const std::vector<AccessNote> &notes() const { return Found.notes(); }

  /// After run(): the loops whose counters occur in accesses. None if some loop
  /// cannot be told from another.
  std::vector<TaggedLoop> loops();

private:
  void countIterations();
  void findPlacesBesideLoops();
  void visit(llvm::Instruction &I);
  /// What the function does, that is not inlined.
  const std::optional<CalleeAccess> &inside(llvm::Function &Callee);
  void visitCall(llvm::CallBase &Call);
  void visitIntrinsic(llvm::IntrinsicInst &Call);
  void visitCopy(llvm::MemIntrinsic &Copy);
  void visitAssembly(llvm::CallBase &Call);
  PointerSummary summarize(AccessRecorder::Pointer &P);

  llvm::Function &Kernel;
  llvm::ScalarEvolution &SE;
  llvm::DominatorTree &DT;
  llvm::LoopInfo &LI;
  AccessRecorder Found;
  uint32_t Flags = 0;
  bool ThreadsMayExit = false;
  std::map<const llvm::Function *, std::optional<CalleeAccess>> Callees;
};

} // namespace dragon

#endif // DRAGON_PASSES_ACCESS_KERNELACCESS_H
