//===- EventWriter.h - events and their places ---------------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes events and puts them into the blocks of the buffer program, each with
// the instruction that it belongs to.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_EVENTWRITER_H
#define DRAGON_PASSES_LIFETIME_EVENTWRITER_H

#include "passes/lifetime/BuilderFacts.h"

namespace dragon {

class EventWriter {
public:
  explicit EventWriter(BuilderFacts &Facts) : Facts(Facts) {}

  Event event(EventAction What, const llvm::Instruction &I);
  /// Behind the events that the block has.
  void push(Event E, llvm::Instruction &I);
  void pushBarrier(llvm::CallBase &Call);
  /// In front of what I does.
  void insertBefore(Event E, llvm::Instruction &I);

private:
  BuilderFacts &Facts;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_EVENTWRITER_H
