//===- ChunkCopiesTest.cpp ------------------------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The laws of the table, for all states and all events.
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/ChunkCopies.h"

#include <gtest/gtest.h>

#include <vector>

namespace dragon {

namespace {

std::vector<Copies> allStates() {
  std::vector<Copies> states;
  for (unsigned bits = 1; bits < 8; ++bits) // one copy at least
    states.push_back({(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0});
  return states;
}

bool isWrite(ChunkEvent event) {
  return event == ChunkEvent::WrittenOnDevice ||
         event == ChunkEvent::WrittenOnHost || event == ChunkEvent::Ended;
}

/// What the event may change, and to what.
struct Effect {
  bool Copies::*copy;
  bool becomes;
};
Effect effectOf(ChunkEvent event) {
  switch (event) {
  case ChunkEvent::ReachedDevice:
    return {&Copies::device, true};
  case ChunkEvent::ReachedHost:
    return {&Copies::host, true};
  case ChunkEvent::Stored:
    return {&Copies::storage, true};
  case ChunkEvent::LeftDevice:
    return {&Copies::device, false};
  case ChunkEvent::LeftHost:
    return {&Copies::host, false};
  case ChunkEvent::LeftStorage:
    return {&Copies::storage, false};
  default:
    return {nullptr, false};
  }
}

} // namespace

TEST(ChunkCopies, NoEventLeavesContentsWithoutACopy) {
  for (Copies now : allStates())
    for (unsigned e = 0; e < NumChunkEvents; ++e)
      if (auto then = after(now, ChunkEvent(e)))
        EXPECT_TRUE(then->any()) << e;
}

TEST(ChunkCopies, NewContentsAreInOnePlaceAlone) {
  for (Copies now : allStates()) {
    EXPECT_EQ(after(now, ChunkEvent::WrittenOnDevice),
              (Copies{true, false, false}));
    EXPECT_EQ(after(now, ChunkEvent::WrittenOnHost),
              (Copies{false, true, false}));
    EXPECT_EQ(after(now, ChunkEvent::Ended), (Copies{false, false, true}));
  }
}

TEST(ChunkCopies, OthersChangeTheirOwnCopyAlone) {
  for (Copies now : allStates())
    for (unsigned e = 0; e < NumChunkEvents; ++e) {
      const auto event = ChunkEvent(e);
      if (isWrite(event))
        continue;
      const Effect effect = effectOf(event);
      Copies expected = now;
      expected.*effect.copy = effect.becomes;
      const auto then = after(now, event);
      // It cannot happen where it would take the last one.
      EXPECT_EQ(then.has_value(), expected.any()) << e;
      if (then)
        EXPECT_EQ(*then, expected) << e;
    }
}

TEST(ChunkCopies, WithoutContentsNothingArrives) {
  const Copies none{false, false, false};
  for (ChunkEvent event :
       {ChunkEvent::ReachedDevice, ChunkEvent::ReachedHost, ChunkEvent::Stored})
    EXPECT_FALSE(after(none, event));
}

} // namespace dragon
