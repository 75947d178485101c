//===- ResidencyPolicyTest.cpp - all states of a chunk --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/ResidencyPolicy.h"

#include <gtest/gtest.h>

#include <string>

using namespace dragon;

namespace {

constexpr Stored AllStored[] = {Stored::Stale, Stored::Undefined, Stored::Zero,
                                Stored::File, Stored::Swap};
constexpr LaunchNeed AllNeeds[] = {LaunchNeed::None, LaunchNeed::Read,
                                   LaunchNeed::Write, LaunchNeed::Overwrite};
constexpr NextUse AllNext[] = {NextUse::Unknown, NextUse::Never};
constexpr Pressure AllPressures[] = {Pressure::None, Pressure::Device,
                                     Pressure::DeviceAndHost, Pressure::Host};

/// The contents are somewhere.
bool possible(const ChunkState &s) {
  return s.onDevice || s.onHost || s.stored != Stored::Stale;
}

template <typename Fn> void forAllStates(Fn fn) {
  for (int bits = 0; bits < 16; ++bits)
    for (Stored stored : AllStored) {
      ChunkState state;
      state.onDevice = bits & 1;
      state.onHost = bits & 2;
      state.hasSink = bits & 4;
      state.readOnly = bits & 8;
      state.stored = stored;
      if (possible(state))
        fn(state);
    }
}

template <typename Fn> void forAll(Fn fn) {
  forAllStates([&](const ChunkState &state) {
    for (LaunchNeed need : AllNeeds)
      for (NextUse next : AllNext)
        for (Pressure pressure : AllPressures) {
          SCOPED_TRACE(::testing::Message()
                       << "device " << state.onDevice << " host "
                       << state.onHost << " stored " << int(state.stored)
                       << " sink " << state.hasSink << " need " << int(need)
                       << " next " << int(next) << " pressure "
                       << int(pressure));
          fn(state, need, next, pressure, decide(state, need, next, pressure));
        }
  });
}

bool onlyCopyIsOn(const ChunkState &s, Pressure pressure) {
  bool host = pressure == Pressure::Host;
  return (host ? s.onHost : s.onDevice) && !(host ? s.onDevice : s.onHost) &&
         s.stored == Stored::Stale;
}

TEST(ResidencyPolicyTest, LiveContentsInOneCopyAreNeverDropped) {
  forAll([](const ChunkState &state, LaunchNeed need, NextUse next,
            Pressure pressure, const Move &move) {
    if (need == LaunchNeed::None && pressure != Pressure::None &&
        next != NextUse::Never && onlyCopyIsOn(state, pressure)) {
      EXPECT_NE(move.removal, Removal::Drop);
      EXPECT_NE(move.removal, Removal::None);
    }
  });
}

TEST(ResidencyPolicyTest, CleanAndDeadContentsAreNeverWritten) {
  forAll([](const ChunkState &state, LaunchNeed, NextUse next,
            Pressure pressure, const Move &move) {
    bool written = move.removal == Removal::ToHost ||
                   move.removal == Removal::ToSink ||
                   move.removal == Removal::ToSwap;
    if (next == NextUse::Never || !onlyCopyIsOn(state, pressure))
      EXPECT_FALSE(written);
  });
}

TEST(ResidencyPolicyTest, WhatIsOverwrittenIsNeverFetched) {
  forAll([](const ChunkState &, LaunchNeed need, NextUse, Pressure,
            const Move &move) {
    if (need == LaunchNeed::Overwrite)
      EXPECT_EQ(move.fetch, Fetch::Nothing);
  });
}

TEST(ResidencyPolicyTest, WhatIsReadIsFetchedFromAValidCopy) {
  forAll([](const ChunkState &state, LaunchNeed need, NextUse, Pressure,
            const Move &move) {
    if (need != LaunchNeed::Read && need != LaunchNeed::Write)
      return;
    switch (move.fetch) {
    case Fetch::Nothing:
      EXPECT_TRUE(state.onDevice);
      break;
    case Fetch::FromHost:
      EXPECT_TRUE(state.onHost && !state.onDevice);
      break;
    case Fetch::FromStorage:
      EXPECT_TRUE(state.stored == Stored::File || state.stored == Stored::Swap);
      break;
    case Fetch::Zero:
      EXPECT_EQ(state.stored, Stored::Zero);
      break;
    case Fetch::Undefined:
      EXPECT_EQ(state.stored, Stored::Undefined);
      break;
    }
  });
}

TEST(ResidencyPolicyTest, TheFastestValidCopyIsTaken) {
  forAll([](const ChunkState &state, LaunchNeed need, NextUse, Pressure,
            const Move &move) {
    if (need != LaunchNeed::Read && need != LaunchNeed::Write)
      return;
    if (state.onDevice)
      EXPECT_EQ(move.fetch, Fetch::Nothing);
    else if (state.onHost)
      EXPECT_EQ(move.fetch, Fetch::FromHost);
  });
}

TEST(ResidencyPolicyTest, DirtyContentsGoAsNearAsThereIsRoom) {
  forAll([](const ChunkState &state, LaunchNeed need, NextUse next,
            Pressure pressure, const Move &move) {
    if (need != LaunchNeed::None || next == NextUse::Never ||
        !onlyCopyIsOn(state, pressure) || pressure == Pressure::None)
      return;
    if (pressure == Pressure::Device)
      EXPECT_EQ(move.removal, Removal::ToHost);
    else
      EXPECT_EQ(move.removal,
                state.hasSink ? Removal::ToSink : Removal::ToSwap);
  });
}

TEST(ResidencyPolicyTest, WhatIsAvoidedIsWhatWouldHaveMoved) {
  forAll([](const ChunkState &state, LaunchNeed need, NextUse next,
            Pressure pressure, const Move &move) {
    if (!move.avoided)
      return;
    switch (*move.avoided) {
    case Avoided::WriteOnly:
      EXPECT_EQ(need, LaunchNeed::Overwrite);
      EXPECT_FALSE(state.onDevice);
      break;
    case Avoided::ReadOnly:
      EXPECT_TRUE(state.readOnly);
      [[fallthrough]];
    case Avoided::Clean:
      EXPECT_EQ(move.removal, Removal::Drop);
      EXPECT_FALSE(onlyCopyIsOn(state, pressure));
      break;
    case Avoided::Discard:
      EXPECT_EQ(next, NextUse::Never);
      EXPECT_TRUE(onlyCopyIsOn(state, pressure));
      break;
    case Avoided::Staging:
    case Avoided::Deferred:
      ADD_FAILURE() << "not the policy's";
    }
  });
}

TEST(ResidencyPolicyTest, NothingHappensWithoutNeedOrPressure) {
  forAll([](const ChunkState &, LaunchNeed need, NextUse, Pressure pressure,
            const Move &move) {
    if (need == LaunchNeed::None && pressure == Pressure::None) {
      EXPECT_EQ(move.fetch, Fetch::Nothing);
      EXPECT_EQ(move.removal, Removal::None);
      EXPECT_FALSE(move.avoided);
    }
  });
}

/// All uploads, on a device of 100 that is filled so far.
template <typename Fn> void forAllUploads(Fn fn) {
  for (unsigned bits = 0; bits < 64; ++bits)
    for (uint64_t held : {10u, 50u, 51u, 100u}) {
      UploadState upload;
      upload.outOfCore = bits & 1;
      upload.pageable = bits & 2;
      upload.overwrites = bits & 4;
      upload.readOnly = bits & 8;
      upload.onDevice = bits & 16;
      upload.hostHasRoom = bits & 32;
      upload.held = held;
      upload.budget = 100;
      fn(upload);
    }
}

TEST(UploadPolicy, WithoutRoomOnTheHostTheDeviceTakesIt) {
  forAllUploads([](const UploadState &upload) {
    EXPECT_EQ(placeUpload(upload) == UploadPlace::Device, !upload.hostHasRoom);
  });
}

TEST(UploadPolicy, TheHostIsPreferredOnlyWhereItSavesTransfers) {
  forAllUploads([](const UploadState &upload) {
    if (placeUpload(upload) != UploadPlace::Host)
      return;
    // Not in core, not where the device copies by itself, not where the rest of
    // the chunk would have to come first.
    EXPECT_TRUE(upload.outOfCore && upload.pageable && upload.overwrites);
    // What nobody changes, or what is more than half of the device.
    EXPECT_TRUE(upload.readOnly || (!upload.onDevice && upload.held > 50));
  });
}

} // namespace
