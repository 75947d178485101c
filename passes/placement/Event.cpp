//===- Event.cpp - what happens to buffers, one by one --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/placement/Event.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dragon {

std::string describe(const Position &Where, const Position &From) {
  if (Where.Line == 0)
    return "an unknown line";
  if (Where.File == From.File || Where.File.empty())
    return "line " + std::to_string(Where.Line);
  return Where.File + ":" + std::to_string(Where.Line);
}

const BufferUse *Event::find(unsigned Buffer) const {
  for (const BufferUse &U : Uses)
    if (U.Buffer == Buffer)
      return &U;
  return nullptr;
}

void Event::add(const BufferUse &U) {
  for (BufferUse &Known : Uses) {
    if (Known.Buffer != U.Buffer)
      continue;
    // Twice in one event: what is sure of each is not sure of both.
    Known.Must &= U.Must;
    Known.Whole &= U.Whole;
    Known.Testable = Known.MustElement = false;
    Known.Element.reset();
    Known.Cursor = -1;
    Known.ByPointer &= U.ByPointer;
    Known.Reads |= U.Reads;
    Known.Writes |= U.Writes;
    return;
  }
  Uses.push_back(U);
}

bool Event::reads(unsigned Buffer) const {
  return any_of(
      Uses, [&](const BufferUse &U) { return U.Buffer == Buffer && U.Reads; });
}

bool Event::writes(unsigned Buffer) const {
  return any_of(
      Uses, [&](const BufferUse &U) { return U.Buffer == Buffer && U.Writes; });
}

std::string nameOf(const Event &E) {
  if (E.is<FreeEvent>())
    return "the call that frees it";
  if (E.Name.empty())
    return "a call";
  return E.is<HostAccessEvent>() ? E.Name : "'" + E.Name + "'";
}

StringRef verbOf(const EventAction &What) {
  return std::visit([](const auto &Action) -> StringRef { return Action.Verb; },
                    What);
}

} // namespace dragon
