//===- ForeignWorkTest.cpp - work that others queue, on whole buffers ----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A graph of NVIDIA's is launched as a whole if what it uses fits; the caller
// runs it node by node if not. Here the work is a function of the test's.
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/core/RuntimeFixture.h"

#include <cstring>

using namespace dragon;
using namespace dragon::test;

namespace {

constexpr size_t WorkBytes = 4 * MiB;
constexpr unsigned WorkWords = WorkBytes / 4;

class ForeignWorkTest : public RuntimeFixture {
protected:
  void SetUp() override {
    RuntimeFixture::SetUp();
    settings.deviceMemory = 10 * MiB;
    Counts = startCounting();
    ASSERT_TRUE(Counts);
    for (int k = 0; k < 3; ++k) {
      Base[k] = allocate(WorkBytes);
      ASSERT_OK(upload(Base[k], numbers(WorkWords, k)));
    }
  }

  /// The work writes a word into each buffer that it uses.
  StatusOr<bool> run(const LibraryCall &call, int32_t value) {
    return runtime->libraries().run(call, [&]() -> Status {
      ++Runs;
      for (const LibraryUse &use : call.uses)
        if (use.need == LaunchNeed::Write)
          std::memcpy(pointer(use.address), &value, sizeof value);
      return {};
    });
  }
  static LibraryCall uses(std::vector<uintptr_t> written) {
    LibraryCall call;
    call.function = "a graph";
    call.queue = Queue(nullptr);
    for (uintptr_t base : written)
      call.uses.push_back({base, LibraryUse::Unknown, LaunchNeed::Write});
    return call;
  }
  uint64_t transfers() { return moved(Direction::HostToDevice); }

  CountingDevice *Counts = nullptr;
  uintptr_t Base[3] = {};
  int Runs = 0;
};

TEST_F(ForeignWorkTest, WhatItUsesComesBeforeAndWhatItWroteStays) {
  // Two of the three fit; this one has been written first, and is gone.
  StatusOr<bool> ran = run(uses({Base[0]}), 1234);
  ASSERT_OK(ran.takeStatus());
  EXPECT_TRUE(*ran);
  EXPECT_EQ(Runs, 1);
  // It leaves again, with what the work wrote.
  for (int k : {1, 2})
    ASSERT_OK(kernels.launch(*runtime, "iota", WorkWords, pointer(Base[k]),
                             WorkWords, k));
  EXPECT_EQ(download(Base[0], 2)[0], 1234);
  EXPECT_EQ(download(Base[0], 2)[1], numbers(WorkWords, 0)[1]);
}

TEST_F(ForeignWorkTest, NothingHappensWhereItDoesNotFit) {
  const uint64_t before = transfers();
  StatusOr<bool> ran = run(uses({Base[0], Base[1], Base[2]}), 1);
  ASSERT_OK(ran.takeStatus());
  EXPECT_FALSE(*ran);
  EXPECT_EQ(Runs, 0);
  EXPECT_EQ(transfers(), before);
}

TEST_F(ForeignWorkTest, WhatIsInPlaceIsNotLookedAt) {
  const LibraryCall call = uses({Base[0], Base[1]});
  ASSERT_OK(run(call, 5).takeStatus());
  const uint64_t before = transfers();
  const uint64_t waits = Counts->calls(DeviceCall::Synchronize) +
                         Counts->calls(DeviceCall::SynchronizeAll);
  for (int i = 0; i < 3; ++i)
    ASSERT_OK(run(call, i).takeStatus());
  EXPECT_EQ(Runs, 4);
  EXPECT_EQ(transfers(), before);
  EXPECT_EQ(Counts->calls(DeviceCall::Synchronize) +
                Counts->calls(DeviceCall::SynchronizeAll),
            waits);
  EXPECT_EQ(download(Base[0], 1)[0], 2);
}

/// The driver looks at addresses; nothing is queued that an eviction would have
/// to wait for.
TEST_F(ForeignWorkTest, ALookIsNoUse) {
  LibraryCall look = uses({});
  look.queue = std::nullopt;
  look.onlyLooks = true;
  look.uses = {{Base[0], 64, LaunchNeed::Read}};
  LibraryHold hold;
  ASSERT_OK(runtime->libraries().beginLibraryCall(look, hold));
  ASSERT_OK(runtime->libraries().endLibraryCall(hold));
  const uint64_t waits = Counts->calls(DeviceCall::SynchronizeAll);
  look.uses = {{Base[1], WorkBytes, LaunchNeed::Read},
               {Base[2], WorkBytes, LaunchNeed::Read}};
  ASSERT_OK(runtime->libraries().beginLibraryCall(look, hold));
  ASSERT_OK(runtime->libraries().endLibraryCall(hold));
  EXPECT_EQ(Counts->calls(DeviceCall::SynchronizeAll), waits);
}

TEST_F(ForeignWorkTest, PointersInASmallBufferLeadToMore) {
  const uintptr_t table = allocate(4096);
  std::vector<int32_t> words(1024, 0);
  std::memcpy(words.data(), &Base[2], sizeof Base[2]);
  ASSERT_OK(upload(table, words));
  LibraryCall call = uses({});
  ASSERT_OK(runtime->libraries().addReachable(table + 8, call));
  ASSERT_EQ(call.uses.size(), 2u);
  EXPECT_EQ(call.uses[0].address, table);
  EXPECT_EQ(call.uses[1].address, Base[2]);
  // Nothing stays for that.
  EXPECT_OK(run(uses({Base[0], Base[1]}), 1).takeStatus());
  EXPECT_EQ(Runs, 1);
}

TEST_F(ForeignWorkTest, AllStayOrNone) {
  EXPECT_FALSE(runtime->libraries().keepAllResident().ok());
  for (int k = 0; k < 3; ++k) {
    StatusOr<bool> ran = run(uses({Base[k], Base[(k + 1) % 3]}), 1);
    ASSERT_OK(ran.takeStatus());
    EXPECT_TRUE(*ran);
  }
}

TEST_F(ForeignWorkTest, LaunchesReachTheirBuffersAsAWhole) {
  uint64_t words[] = {Base[1], WorkWords, 3};
  void *args[] = {&words[0], &words[1], &words[2]};
  LaunchCall launch{};
  launch.kernel = kernels.find("iota");
  launch.args = args;
  launch.numArgs = 3;
  RuntimeLibraries::Reach reach =
      runtime->libraries().reachOf({&launch, 1}, false);
  ASSERT_EQ(reach.uses.size(), 1u);
  EXPECT_EQ(reach.uses[0].address, Base[1]);
  EXPECT_EQ(reach.uses[0].need, LaunchNeed::Write);
  EXPECT_TRUE(runtime->libraries().isCurrent(reach));
  // Other work may use all.
  EXPECT_EQ(runtime->libraries().reachOf({&launch, 1}, true).uses.size(), 3u);
  launch.kernel = kernels.find("mix");
  EXPECT_EQ(runtime->libraries().reachOf({&launch, 1}, false).uses.size(), 3u);
  allocate(MiB);
  EXPECT_FALSE(runtime->libraries().isCurrent(reach));
}

} // namespace
