//===- HostAccesses.h - where the host looks at buffers ------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collects the host code that may load from buffers or store to them, and makes
// it events once the other events are there. Loops without events, which may
// take long, become events here too.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_HOSTACCESSES_H
#define DRAGON_PASSES_LIFETIME_HOSTACCESSES_H

#include "passes/lifetime/BuilderFacts.h"
#include "passes/lifetime/EventWriter.h"
#include "passes/lifetime/SymbolicValues.h"

namespace dragon {

class HostAccesses {
public:
  HostAccesses(BuilderFacts &Facts, SymbolicValues &Values, EventWriter &Writer)
      : Facts(Facts), Values(Values), Writer(Writer) {}

  /// I may touch what Pointer points to.
  void noteAccess(llvm::Instruction &I, const llvm::Value *Pointer,
                  bool OnlyReads = false);
  /// The same for the call's argument.
  void noteArgument(llvm::CallBase &Call, const llvm::Use &Operand) {
    noteAccess(Call, Operand,
               Call.onlyReadsMemory(Call.getArgOperandNo(&Operand)));
  }
  /// After all other events that use buffers are there.
  void addHostAccesses();
  void addLoopBarriers(const llvm::Loop &L);

private:
  struct Access {
    llvm::Instruction *At;
    const llvm::Value *Pointer;
    unsigned Buffer;
    bool OnlyReads;
  };
  void addHostAccess(const Access &Of);
  /// What it reads, if that is a part of the buffer that is known in front of
  /// the instruction; `Loops`: around the access, not around the instruction.
  std::optional<HostPart> partOf(const Access &Of,
                                 llvm::ArrayRef<const llvm::Loop *> Loops,
                                 const llvm::Instruction &At) const;

  BuilderFacts &Facts;
  SymbolicValues &Values;
  EventWriter &Writer;
  llvm::SmallVector<Access, 16> Accesses;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_HOSTACCESSES_H
