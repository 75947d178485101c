//===- TracedMemoryTest.cpp - memory held, over time ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tier/FileTier.h"
#include "runtime/tier/SlabPool.h"
#include "runtime/trace/Trace.h"
#include "test/unit/support/base/Expect.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <unistd.h>
#include <vector>

using namespace dragon;

namespace {

using test::MiB;

/// {device, host, swap} in the order of the trace, in MiB.
using Held = std::vector<std::vector<uint64_t>>;

template <typename Value> Value taken(StatusOr<Value> result) {
  if (!result.ok())
    throw std::runtime_error(result.takeStatus().message());
  return std::move(*result);
}

class TracedMemoryTest : public testing::Test {
protected:
  void start() { ASSERT_TRUE(startTrace(Path)); }
  Held stop() {
    EXPECT_TRUE(stopTrace());
    const auto root = nlohmann::json::parse(std::ifstream(Path));
    std::remove(Path.c_str());
    Held held;
    double last = -1;
    for (const auto &event : root["traceEvents"]) {
      if (event["name"] != "memory held")
        continue;
      EXPECT_EQ(event["ph"], "C");
      EXPECT_GE(event["ts"], last);
      last = event["ts"];
      held.emplace_back();
      for (const char *name : {"device memory", "host memory", "swap"})
        held.back().push_back(event["args"][name].get<uint64_t>() / MiB);
    }
    return held;
  }
  SlabPool pool(std::optional<TracedMemory> traced) {
    return SlabPool(
        "device", 8 * MiB, Place::Device,
        [this](size_t bytes, Place place) -> StatusOr<Physical> {
          if (Refuses)
            return Status::error(DRAGON_ERROR_OUT_OF_MEMORY, "full");
          return Physical{++Made, place, bytes, nullptr};
        },
        [](const Physical &) { return Status(); }, {}, traced);
  }

  const std::string Path =
      testing::TempDir() + "held" + std::to_string(::getpid()) + ".json";
  uint64_t Made = 0;
  bool Refuses = false;
};

TEST_F(TracedMemoryTest, APoolTellsWhatItHoldsAndKeeps) {
  SlabPool device = pool(TracedMemory::Device);
  SlabPool untraced = pool({});
  start();
  Physical a = taken(device.take(2 * MiB));
  Physical b = taken(device.take(4 * MiB));
  Physical c = taken(untraced.take(MiB));
  device.give(a); // kept: it is still there
  Refuses = true;
  EXPECT_FALSE(device.take(MiB).ok()); // what is kept goes first
  device.give(b);
  device.trim();
  EXPECT_EQ(stop(), (Held{{0, 0, 0},
                          {2, 0, 0},
                          {6, 0, 0},
                          {7, 0, 0},
                          {5, 0, 0},
                          {4, 0, 0},
                          {0, 0, 0}}));
  untraced.give(c);
}

TEST_F(TracedMemoryTest, SwapTellsWhatIsInUse) {
  Settings settings;
  settings.swapDirs = {testing::TempDir()};
  auto swap = taken(SwapFile::create(settings));
  const SwapFile::Slot before = taken(swap->allocate(MiB));
  start();
  const SwapFile::Slot slot = taken(swap->allocate(2 * MiB));
  swap->release(before);
  swap->release(slot);
  EXPECT_EQ(stop(), (Held{{0, 0, 0}, {0, 0, 3}, {0, 0, 2}, {0, 0, 0}}));
}

TEST_F(TracedMemoryTest, EachTraceBeginsAnew) {
  SlabPool host = pool(TracedMemory::Host);
  start();
  host.give(taken(host.take(MiB)));
  EXPECT_EQ(stop(), (Held{{0, 0, 0}, {0, 1, 0}}));
  host.trim(); // nobody takes it down
  start();
  EXPECT_EQ(stop(), (Held{{0, 0, 0}}));
}

} // namespace
