//===- LaunchTogetherTest.cpp - launches that wait for others -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/core/RuntimeFixture.h"
#include "test/unit/support/device/LateDevice.h"

#include "runtime/launch/WaitingLaunch.h"
#include "runtime/memory/Buffer.h"

#include <functional>

using namespace dragon;
using namespace dragon::test;

namespace {

constexpr int TwiceTheDevice = 8 << 20; ///< a buffer is twice the device

class LaunchTogetherTest : public RuntimeFixture {
protected:
  void begin(Wavefront wavefront, bool isLate = false,
             uint64_t deviceMemory = 16 * MiB) {
    settings.deviceMemory = deviceMemory;
    settings.hostMemory = 128 * MiB;
    settings.wavefront = wavefront;
    if (isLate) {
      settings.poison = false;
      std::string notes;
      auto device = createDevice(settings, notes);
      ASSERT_TRUE(device.ok()) << device.takeStatus().message();
      start(std::make_unique<LateDevice>(std::move(*device)));
    } else {
      start();
    }
    A = allocate(size_t(TwiceTheDevice) * 4);
    B = allocate(size_t(TwiceTheDevice) * 4);
    Model = numbers(TwiceTheDevice, 5);
    ASSERT_OK(upload(A, Model));
  }

  static std::vector<int32_t> stepped(const std::vector<int32_t> &a) {
    std::vector<int32_t> c(a.size());
    for (size_t i = 0; i < a.size(); ++i)
      c[i] = sum(sum(a[i ? i - 1 : 0], a[i]), a[std::min(i + 1, a.size() - 1)]);
    return c;
  }

  void steps(int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_OK(kernels.launch(*runtime, "stencil", TwiceTheDevice, pointer(B),
                               pointer(A), TwiceTheDevice));
      std::swap(A, B);
    }
    for (int i = 0; i < count; ++i)
      Model = stepped(Model);
  }

  /// Half of the device is free then.
  void freeHalf() {
    const uintptr_t other = allocate(8 * MiB);
    ASSERT_OK(
        kernels.launch(*runtime, "scale", 2 << 20, pointer(other), 2 << 20, 2));
    ASSERT_OK(runtime->launches().runWaiting());
    ASSERT_OK(runtime->buffers().free(other));
  }

  uint64_t together() {
    return runtime->ledger().counter(Counter::LaunchesTogether);
  }
  uint64_t moved() {
    return runtime->ledger().bytes(Direction::HostToDevice) +
           runtime->ledger().bytes(Direction::DeviceToHost);
  }

  uintptr_t A = 0, B = 0; ///< the next step reads A
  std::vector<int32_t> Model;
};

TEST_F(LaunchTogetherTest, StepsRunTogetherAndMoveLess) {
  uint64_t bytes[2] = {};
  for (Wavefront wavefront : {Wavefront::Off, Wavefront::Auto}) {
    begin(wavefront);
    kernels.followed = true;
    const uint64_t before = moved();
    ASSERT_NO_FATAL_FAILURE(steps(9));
    ASSERT_OK(runtime->launches().runWaiting());
    bytes[unsigned(wavefront)] = moved() - before;
    if (wavefront == Wavefront::Off)
      EXPECT_EQ(together(), 0u);
    else
      EXPECT_GE(together(), 6u);
    EXPECT_EQ(runtime->ledger().counter(Counter::Launches), 9u);
    EXPECT_TRUE(download(A, TwiceTheDevice) == Model);
  }
  // Eight chunks on the device are enough for two or three steps.
  EXPECT_LT(bytes[unsigned(Wavefront::Auto)],
            bytes[unsigned(Wavefront::Off)] / 4 * 3);
}

TEST_F(LaunchTogetherTest, WhatFollowedOnceIsExpectedToFollow) {
  begin(Wavefront::Auto);
  // Nobody says so; the first two of each kind find out.
  ASSERT_NO_FATAL_FAILURE(steps(10));
  EXPECT_TRUE(download(A, TwiceTheDevice) == Model);
  EXPECT_GE(together(), 2u);
}

TEST_F(LaunchTogetherTest, NothingWaitsWithoutNeed) {
  begin(Wavefront::Auto);
  ASSERT_NO_FATAL_FAILURE(steps(1)); // nothing says that another one follows
  EXPECT_EQ(runtime->ledger().counter(Counter::SlicedLaunches), 1u);
  ASSERT_OK(runtime->launches().runWaiting()); // as a synchronisation does
  ASSERT_NO_FATAL_FAILURE(steps(1));
  EXPECT_EQ(runtime->ledger().counter(Counter::SlicedLaunches), 2u);
}

TEST_F(LaunchTogetherTest, NothingWaitsWhereAllFits) {
  begin(Wavefront::Auto, /*isLate=*/true, 128 * MiB);
  kernels.followed = true;
  ASSERT_NO_FATAL_FAILURE(
      steps(8)); // the first one writes what has no contents
  EXPECT_TRUE(download(A, TwiceTheDevice) == Model);
  EXPECT_EQ(together(), 0u);
}

TEST_F(LaunchTogetherTest, TheFirstOneWaitsIfTheDeviceSaysThatItTakesIt) {
  begin(Wavefront::Auto);
  kernels.followed = true;
  ASSERT_NO_FATAL_FAILURE(steps(2));
  EXPECT_EQ(runtime->ledger().counter(Counter::SlicedLaunches), 0u);
  EXPECT_TRUE(download(A, TwiceTheDevice) == Model);
  EXPECT_EQ(runtime->ledger().counter(Counter::SlicedLaunches), 2u);
}

TEST_F(LaunchTogetherTest, TheFirstOnesContentsComeWhileItWaits) {
  begin(Wavefront::Auto, /*isLate=*/true);
  ASSERT_NO_FATAL_FAILURE(freeHalf());
  kernels.followed = true;
  const uint64_t before = runtime->ledger().bytes(Direction::HostToDevice);
  const uint64_t evicted = runtime->ledger().counter(Counter::Evictions);
  ASSERT_NO_FATAL_FAILURE(steps(1));
  EXPECT_EQ(runtime->ledger().counter(Counter::SlicedLaunches), 0u);
  const uint64_t early =
      runtime->ledger().bytes(Direction::HostToDevice) - before;
  EXPECT_GT(early, 0u);
  EXPECT_LE(early, 4 * MiB);
  EXPECT_EQ(runtime->ledger().counter(Counter::Evictions), evicted);
  ASSERT_NO_FATAL_FAILURE(steps(5));
  EXPECT_TRUE(download(A, TwiceTheDevice) == Model);
}

TEST_F(LaunchTogetherTest, WhatHasNoContentsKeepsNothingFromComing) {
  begin(Wavefront::Auto, /*isLate=*/true);
  ASSERT_NO_FATAL_FAILURE(freeHalf());
  kernels.followed = true;
  // The first and the last chunk of B are not overwritten as a whole.
  const int edge = 1024;
  const uint64_t before = runtime->ledger().bytes(Direction::HostToDevice);
  ASSERT_OK(kernels.launch(*runtime, "stencil", TwiceTheDevice - 2 * edge,
                           pointer(B + edge * 4), pointer(A + edge * 4),
                           TwiceTheDevice - 2 * edge));
  EXPECT_EQ(runtime->ledger().bytes(Direction::HostToDevice) - before, 4 * MiB);
}

TEST_F(LaunchTogetherTest, KernelsThatDoOtherThingsDoNotWait) {
  begin(Wavefront::Always);
  const uintptr_t bins = allocate(1024);
  ASSERT_OK(runtime->buffers().fill(pointer(bins), 0, 4, 256, nullptr));
  ASSERT_NO_FATAL_FAILURE(steps(1));
  EXPECT_EQ(runtime->ledger().counter(Counter::SlicedLaunches), 0u);
  // It cannot be sliced: those that wait run, then it does.
  ASSERT_OK(
      kernels.launch(*runtime, "count", 1024, pointer(bins), pointer(A), 1024));
  EXPECT_EQ(runtime->ledger().counter(Counter::SlicedLaunches), 1u);
  std::vector<int32_t> expected(256);
  for (int i = 0; i < 1024; ++i)
    ++expected[Model[size_t(i)] & 255];
  EXPECT_TRUE(download(bins, 256) == expected);
}

TEST_F(LaunchTogetherTest, WhoLooksSeesWhatWaited) {
  begin(Wavefront::Always);
  const uintptr_t other = allocate(size_t(TwiceTheDevice) * 4);
  const auto file = [&] {
    writeFile("in", numbers(TwiceTheDevice, 9));
    return open("in");
  }();
  const std::function<void()> looks[] = {
      [&] { EXPECT_TRUE(download(A, TwiceTheDevice) == Model); },
      [&] {
        ASSERT_OK(runtime->buffers().fill(pointer(A), 3, 4, TwiceTheDevice / 2,
                                          nullptr));
        std::fill_n(Model.begin(), TwiceTheDevice / 2, 3);
      },
      [&] {
        ASSERT_OK(runtime->buffers().copy(pointer(other), pointer(A),
                                          size_t(TwiceTheDevice) * 4, nullptr,
                                          true));
        EXPECT_TRUE(download(other, TwiceTheDevice) == Model);
      },
      [&] {
        ASSERT_OK(runtime->files().mapFileRange(A, size_t(TwiceTheDevice) * 4,
                                                file, 0));
        Model = numbers(TwiceTheDevice, 9);
      },
      [&] {
        ASSERT_OK(runtime->buffers().prefetch(A, size_t(TwiceTheDevice) * 4,
                                              nullptr));
      },
      [&] { ASSERT_OK(runtime->buffers().nextUse(B, 0)); },
      // What the next step overwrites is dead.
      [&] {
        ASSERT_OK(
            runtime->buffers().discard(B, size_t(TwiceTheDevice) * 4, nullptr));
      },
      [&] {
        ASSERT_OK(runtime->buffers().free(B));
        B = allocate(size_t(TwiceTheDevice) * 4);
      },
      [&] { ASSERT_OK(runtime->quiesce()); },
  };
  for (const auto &look : looks) {
    ASSERT_NO_FATAL_FAILURE(steps(3));
    ASSERT_NO_FATAL_FAILURE(look());
  }
  ASSERT_NO_FATAL_FAILURE(steps(2));
  EXPECT_TRUE(download(A, TwiceTheDevice) == Model);
}

TEST_F(LaunchTogetherTest, QueuesKeepTheirOrder) {
  begin(Wavefront::Always);
  auto queue = runtime->device().createQueue(0, 0);
  ASSERT_TRUE(queue.ok());
  ASSERT_NO_FATAL_FAILURE(steps(2));
  ASSERT_OK(kernels.launchOn(*runtime, *queue, "scale", TwiceTheDevice,
                             pointer(A), TwiceTheDevice, 3));
  for (int32_t &value : Model)
    value = scaled(value, 3);
  EXPECT_TRUE(download(A, TwiceTheDevice) == Model);
  ASSERT_OK(runtime->device().destroyQueue(*queue));
}

TEST_F(LaunchTogetherTest, WhatIsSmallInBetweenIsCutAsWell) {
  for (Wavefront wavefront : {Wavefront::Off, Wavefront::Auto}) {
    begin(wavefront);
    kernels.followed = true;
    constexpr int Rows = TwiceTheDevice / 16;
    const uintptr_t small = allocate(size_t(Rows) * 4); // a chunk
    ASSERT_OK(kernels.launch(*runtime, "pick", Rows, pointer(small), pointer(A),
                             Rows));
    ASSERT_OK(kernels.launch(*runtime, "scale", Rows, pointer(small), Rows, 3));
    ASSERT_OK(kernels.launch(*runtime, "spill", Rows, pointer(A),
                             pointer(small), Rows));
    ASSERT_OK(runtime->launches().runWaiting());
    for (size_t i = 0; i < size_t(TwiceTheDevice); i += 16)
      Model[i] = scaled(Model[i], 3);
    const uint64_t came = runtime->ledger().bytes(Direction::HostToDevice);
    if (wavefront == Wavefront::Off) {
      EXPECT_GT(came, 48 * MiB) << "A comes for the first and for the last";
    } else {
      EXPECT_EQ(together(), 3u);
      EXPECT_LE(came, 34 * MiB) << "once";
    }
    EXPECT_TRUE(download(A, TwiceTheDevice) == Model);
  }
}

TEST_F(LaunchTogetherTest, WhatALaterWaveOverwritesIsDead) {
  begin(Wavefront::Auto);
  kernels.followed = true;
  auto out = [&] { return runtime->ledger().bytes(Direction::DeviceToHost); };
  const uint64_t before = out();
  // Each slice of the second launch needs twelve MiB of what the first made:
  // these two are no wave. The rest of it is not read before the third one
  // overwrites it.
  ASSERT_OK(kernels.launch(*runtime, "iota", TwiceTheDevice, pointer(B),
                           TwiceTheDevice, 5));
  ASSERT_OK(kernels.launch(*runtime, "blend", TwiceTheDevice, pointer(A),
                           pointer(A), pointer(B), TwiceTheDevice, 1));
  ASSERT_OK(kernels.launch(*runtime, "iota", TwiceTheDevice, pointer(B),
                           TwiceTheDevice, 7));
  ASSERT_OK(runtime->launches().runWaiting());
  // What is left of A from before, B for the second launch, then both.
  EXPECT_LE(out() - before, (16 + 12 + 2 * 32 - 16) * MiB);
  for (size_t i = 0; i < size_t(TwiceTheDevice); ++i)
    Model[i] = sum(Model[i], scaled(int32_t(i % BlendCount), 5));
  EXPECT_TRUE(download(A, TwiceTheDevice) == Model);
  for (size_t i = 0; i < size_t(TwiceTheDevice); ++i)
    Model[i] = scaled(int32_t(i), 7);
  EXPECT_TRUE(download(B, TwiceTheDevice) == Model);
}

TEST_F(LaunchTogetherTest, ContentsThatEndWithAWaitingLaunchMoveNoMore) {
  begin(Wavefront::Always);
  ASSERT_NO_FATAL_FAILURE(steps(4));
  // Nobody reads B, which the last step has read, again.
  ASSERT_OK(runtime->buffers().discard(B, size_t(TwiceTheDevice) * 4, nullptr));
  ASSERT_OK(runtime->launches().runWaiting());
  EXPECT_EQ(together(), 4u);
  EXPECT_TRUE(download(A, TwiceTheDevice) == Model);
  const std::vector<int32_t> dead = download(B, 1024);
  EXPECT_EQ(std::count(dead.begin(), dead.end(), dead[0]), 1024)
      << "undefined contents are poisoned";
}

TEST(ComingUsesTest, ALaunchGoesThroughEachBufferFromItsBeginning) {
  TestKernels kernels;
  int n = 0, k = 0;
  void *nothing = nullptr;
  void *args[] = {&nothing, &n, &k};
  ResolvedLaunch launch;
  launch.kernel = kernels.find("iota");
  launch.args = args;
  launch.numArgs = 3;
  Buffer a, b;
  a.chunks.resize(4);
  b.chunks.resize(2);
  auto planned = std::make_shared<PlannedLaunch>();
  for (Buffer *buffer : {&a, &b})
    for (Chunk &chunk : buffer->chunks) {
      chunk.buffer = buffer;
      ChunkUse use{};
      use.chunk = &chunk;
      use.need = buffer == &b ? LaunchNeed::Overwrite : LaunchNeed::Read;
      planned->whole.uses.push_back(use);
    }
  std::vector<WaitingLaunch> launches;
  for (uint64_t i = 1; i <= 2; ++i)
    launches.emplace_back(launch, planned, i * LaunchTime);
  ComingUses coming(launches);
  for (uint64_t begun = 0; begun < 2; ++begun) {
    coming.begun(begun);
    for (const Buffer *buffer : {&a, &b}) {
      uint64_t last = (begun + 1) * LaunchTime;
      for (const Chunk &chunk : buffer->chunks) {
        const Forecast next = coming.nextUse(chunk);
        EXPECT_GT(next.clock, last);
        EXPECT_EQ(next.overwritten, buffer == &b);
        EXPECT_TRUE(next.certain);
        last = next.clock;
      }
      EXPECT_LT(last, (begun + 2) * LaunchTime);
    }
  }
  coming.begun(2);
  EXPECT_EQ(coming.nextUse(a.chunks[0]).clock, 0u);
}

} // namespace
