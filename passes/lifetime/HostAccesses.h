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

namespace dragon {

class HostAccesses {
public:
  HostAccesses(BuilderFacts &Facts, EventWriter &Writer)
      : Facts(Facts), Writer(Writer) {}

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
    unsigned Buffer;
    bool OnlyReads;
  };
  void addHostAccess(const Access &Of);

  BuilderFacts &Facts;
  EventWriter &Writer;
  llvm::SmallVector<Access, 16> Accesses;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_HOSTACCESSES_H
