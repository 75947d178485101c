//===- EventWriter.cpp - events and their places --------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/EventWriter.h"

using namespace llvm;

namespace dragon {

Event EventWriter::event(EventAction What, const Instruction &I) {
  Event E;
  E.What = What;
  E.Where = Facts.position(I);
  if (auto *Call = dyn_cast<CallBase>(&I))
    E.Name = calleeName(*Call);
  return E;
}

void EventWriter::push(Event E, Instruction &I) {
  unsigned B = Facts.BlockOf[I.getParent()];
  Facts.Result.Program.Blocks[B].Events.push_back(std::move(E));
  Facts.Result.Instructions[B].push_back(&I);
}

void EventWriter::pushBarrier(CallBase &Call) {
  // Of several the first is enough.
  const std::vector<Event> &Here =
      Facts.Result.Program.Blocks[Facts.BlockOf[Call.getParent()]].Events;
  if (!Here.empty() && Here.back().is<BarrierEvent>())
    return;
  Event E = event(BarrierEvent{}, Call);
  E.Name = "'" + E.Name + "'";
  push(std::move(E), Call);
}

void EventWriter::insertBefore(Event E, Instruction &I) {
  unsigned B = Facts.BlockOf[I.getParent()];
  std::vector<Instruction *> &Here = Facts.Result.Instructions[B];
  size_t At = 0;
  while (At < Here.size() && (Here[At] == &I || Here[At]->comesBefore(&I)))
    ++At;
  // In front of an event of the same call.
  while (At > 0 && Here[At - 1] == &I)
    --At;
  Here.insert(Here.begin() + At, &I);
  std::vector<Event> &Events = Facts.Result.Program.Blocks[B].Events;
  Events.insert(Events.begin() + At, std::move(E));
}

} // namespace dragon
