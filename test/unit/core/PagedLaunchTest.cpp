//===- PagedLaunchTest.cpp - launches that fetch pages --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Launches that do not fit run as the kernel's copy that fetches pages; what is
// moved and what kernels access over the link is in the ledger, and a device
// whose calls fail leaves nothing wrong behind.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/ForwardingDevice.h"
#include "test/unit/support/core/RuntimeFixture.h"

using namespace dragon;
using namespace dragon::test;
using testing::HasSubstr;

namespace {

constexpr int PagedThreads = 1 << 12;

class PagedLaunchTest : public RuntimeFixture {
protected:
  static constexpr int DataWords = 1 << 20; ///< 4 MiB

  void begin(bool faulty = false) {
    settings.chunkBytes = 256 << 10;
    settings.deviceMemory = 2 * MiB; // a quarter of it for frames
    settings.hostMemory = 16 * MiB;
    std::unique_ptr<Device> device = makeDevice();
    ASSERT_TRUE(device);
    auto made = std::make_unique<FaultyDevice>(std::move(device), 0);
    if (faulty)
      Faulty = made.get();
    ASSERT_NO_FATAL_FAILURE(start(std::move(made)));
    data = allocate(DataWords * 4);
    index = allocate(PagedThreads * 4);
    words = allocate(PagedThreads * 4);
    Data = numbers(DataWords, 1);
    ASSERT_OK(upload(data, Data));
    Index.resize(PagedThreads);
    // Ten words of each page, of pages anywhere.
    for (int i = 0; i < PagedThreads; ++i)
      Index[size_t(i)] = i / 10 * 7919 % (DataWords / 1024) * 1024 + i % 10;
    ASSERT_OK(upload(index, Index));
  }
  Status launch(const char *kernel) {
    return kernels.launch(*runtime, kernel, PagedThreads, pointer(words),
                          pointer(data), pointer(index), PagedThreads);
  }
  std::vector<int32_t> found() {
    std::vector<int32_t> result;
    for (int32_t at : Index)
      result.push_back(Data[size_t(at)]);
    return result;
  }
  void stored(const std::vector<int32_t> &in) {
    for (size_t i = 0; i < Index.size(); ++i)
      Data[size_t(Index[i])] = in[i];
  }
  uint64_t count(Counter counter) { return runtime->ledger().counter(counter); }
  /// At most the call that was to fail has, and says so.
  bool hasFailed(const Status &status) {
    if (status.ok())
      return false;
    EXPECT_THAT(status.message(), HasSubstr("injected failure of call"));
    return true;
  }
  bool runWithFailure(uint64_t n);

  FaultyDevice *Faulty = nullptr;
  uintptr_t data = 0, index = 0, words = 0;
  std::vector<int32_t> Data, Index;
};

TEST_F(PagedLaunchTest, WhatMovesAndWhatIsAccessedOverTheLinkIsCounted) {
  begin();
  ASSERT_OK(launch("lookUp"));
  EXPECT_TRUE(download(words, PagedThreads) == found());
  const std::vector<int32_t> in = numbers(PagedThreads, 9);
  ASSERT_OK(upload(words, in));
  ASSERT_OK(launch("put"));
  stored(in);
  EXPECT_TRUE(download(data, DataWords) == Data);
  EXPECT_EQ(count(Counter::PagedLaunches), 2u);
  ASSERT_OK(runtime->shutdown());
  const Ledger &ledger = runtime->ledger();
  EXPECT_GT(ledger.bytes(Direction::HostToDevice, Cause::Paging), MiB / 2);
  EXPECT_GT(ledger.bytes(Direction::DeviceToHost, Cause::Paging), MiB / 2);
  // Pages that are only read are so to the break-even.
  EXPECT_GT(ledger.accessed(OverLink::Paged), 0u);
  EXPECT_EQ(ledger.accessed(OverLink::HostMapped), 0u);
}

TEST_F(PagedLaunchTest, WithoutPagesTheAccessesAreEstimated) {
  settings.paging = Paging::Off;
  begin();
  ASSERT_OK(launch("lookUp"));
  EXPECT_TRUE(download(words, PagedThreads) == found());
  EXPECT_EQ(count(Counter::PagedLaunches), 0u);
  EXPECT_GT(runtime->ledger().accessed(OverLink::HostMapped) +
                runtime->ledger().accessed(OverLink::Mixed),
            0u);
  EXPECT_EQ(runtime->ledger().accessed(OverLink::Paged), 0u);
}

/// Launches of which the n-th call of the device fails; whether one did.
bool PagedLaunchTest::runWithFailure(uint64_t n) {
  SCOPED_TRACE("call " + std::to_string(n));
  begin(/*faulty=*/true);
  Faulty->failAt(n);
  bool known = true;
  const std::vector<int32_t> in = numbers(PagedThreads, 9);
  for (int round = 0; round < 2; ++round) {
    if (!hasFailed(launch("lookUp"))) {
      std::vector<int32_t> got(PagedThreads);
      if (!hasFailed(runtime->buffers().copy(got.data(), pointer(words),
                                             got.size() * 4, nullptr, false)))
        EXPECT_TRUE(got == found());
    }
    if (hasFailed(upload(words, in)))
      continue;
    if (hasFailed(launch("put"))) {
      known = false;
      break;
    }
    stored(in);
  }
  const bool failed = Faulty->hasFailed();
  Faulty->failAt(0);
  if (!known) // what it was to write
    EXPECT_OK(upload(data, Data));
  EXPECT_OK(launch("lookUp"));
  EXPECT_TRUE(download(words, PagedThreads) == found());
  EXPECT_TRUE(download(data, DataWords) == Data);
  EXPECT_OK(runtime->shutdown());
  runtime.reset();
  return failed;
}

TEST_F(PagedLaunchTest, EachCallOfTheDeviceFailsOnce) {
  settings.paging = Paging::Always;
  uint64_t n = 1;
  while (runWithFailure(n) && !HasFailure())
    ++n;
  EXPECT_GT(n, 30u);
}

} // namespace
