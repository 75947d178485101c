//===- KernelAccess.h - the accesses of one kernel --------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks a canonicalised kernel (Canonicalize.h), finds every instruction that
// touches memory, asks where its address comes from (PointerRoots.h), what the
// offset is (Footprint.h) and when it runs (Guards.h), and collects the answers
// in a KernelSummary. Whatever it does not know makes the summary wider: an
// access of the whole buffer, a pointer that escapes, a kernel that may touch
// anything.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_ACCESS_KERNELACCESS_H
#define DRAGON_PASSES_ACCESS_KERNELACCESS_H

#include "passes/access/Choices.h"
#include "passes/access/Footprint.h"
#include "passes/access/Guards.h"
#include "passes/access/PointerRoots.h"

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

class KernelAccess {
public:
  KernelAccess(llvm::Function &Kernel, ExprPool &Pool,
               llvm::ScalarEvolution &SE, llvm::DominatorTree &DT,
               llvm::LoopInfo &LI);

  KernelSummary run();
  const std::vector<AccessNote> &notes() const { return Notes; }

private:
  struct Pointer {
    PointerParameter From;
    std::vector<FoundAccess> Accesses;
    bool Escapes = false;
  };

  void visit(llvm::Instruction &I);
  std::optional<uint8_t> kindsOfCallee(llvm::Function &Callee);
  void visitCall(llvm::CallBase &Call);
  void visitIntrinsic(llvm::IntrinsicInst &Call);
  void visitCopy(llvm::MemIntrinsic &Copy);
  void visitAssembly(llvm::CallBase &Call);
  /// Width bytes at Address + Offset.
  void access(llvm::Instruction &I, llvm::Value &Address, uint64_t Width,
              uint8_t Kinds, int64_t Offset = 0);
  /// Length (a value) bytes.
  void accessBytes(llvm::Instruction &I, llvm::Value &Address,
                   llvm::Value &Length, uint8_t Kinds);
  /// Unknown bytes of whatever Address may point into.
  void accessAll(llvm::Instruction &I, llvm::Value &Address, uint8_t Kinds,
                 const char *Why);
  void touchesAnything(llvm::Instruction &I, const llvm::Twine &Why);
  void findEscapes(Pointer &P);
  void findEscapes(llvm::Value &V, Pointer &P,
                   llvm::SmallPtrSetImpl<llvm::Value *> &Seen);
  void escape(Pointer &P, llvm::Instruction &I, const char *How);
  Pointer &pointer(const PointerParameter &From);
  std::string nameOf(const PointerParameter &From) const;
  PointerSummary summarize(Pointer &P);

  llvm::Function &Kernel;
  llvm::ScalarEvolution &SE;
  llvm::DominatorTree &DT;
  llvm::LoopInfo &LI;
  Footprint Indices;
  Guards Conditions;
  std::vector<Pointer> Pointers;
  std::vector<AccessNote> Notes;
  uint32_t Flags = 0;
  bool ThreadsMayExit = false;
};

} // namespace dragon

#endif // DRAGON_PASSES_ACCESS_KERNELACCESS_H
