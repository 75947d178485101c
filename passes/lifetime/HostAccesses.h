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

  void noteAccess(llvm::Instruction &I, const llvm::Value *Pointer);
  /// After all other events that use buffers are there.
  void addHostAccesses();
  void addLoopBarriers(const llvm::Loop &L);

private:
  void addHostAccess(llvm::Instruction &I, unsigned Buffer);

  BuilderFacts &Facts;
  EventWriter &Writer;
  llvm::SmallVector<std::pair<llvm::Instruction *, unsigned>, 16> Accesses;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_HOSTACCESSES_H
