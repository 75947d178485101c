//===- ReachableTest.cpp - calls that may reach what pointers lead to -----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library call without a summary may reach all that the pointers in its
// buffers lead to. These buffers stay in device memory. To find them, the
// pointers are read, which takes a wait for the device; while a stream is
// captured there must be none.
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/core/ImplFixture.h"

#include <cstring>

using namespace dragon;
using namespace dragon::test;

namespace {

class ReachableTest : public RuntimeFixture {
protected:
  void SetUp() override {
    RuntimeFixture::SetUp();
    settings.deviceMemory = 16 * MiB;
    Counts = startCounting();
    ASSERT_TRUE(Counts);
    Target = allocate(MiB);
    Pointers = allocate(MiB);
    std::vector<int32_t> words(MiB / 4, 0);
    std::memcpy(words.data(), &Target, sizeof Target);
    ASSERT_OK(upload(Pointers, words));
    ASSERT_OK(upload(Target, numbers(MiB / 4, 5)));
  }
  uint64_t waits() const {
    return Counts->calls(DeviceCall::Synchronize) +
           Counts->calls(DeviceCall::SynchronizeAll) +
           Counts->calls(DeviceCall::Copy);
  }
  CountingDevice *Counts = nullptr;
  uintptr_t Target = 0, Pointers = 0;
};

TEST_F(ReachableTest, PointersAreReadToFindWhatMustStay) {
  const uint64_t before = waits();
  ASSERT_OK(runtime->libraries().keepReachable(Pointers));
  EXPECT_GT(waits(), before);
}

TEST_F(ReachableTest, NothingIsReadWhereAllStays) {
  ASSERT_OK(runtime->libraries().keepAllResident());
  const uint64_t before = waits();
  ASSERT_OK(runtime->libraries().keepReachable(Pointers));
  EXPECT_EQ(waits(), before);
}

TEST_F(ReachableTest, ABufferThatCameLaterIsLookedAtAgain) {
  ASSERT_OK(runtime->libraries().keepAllResident());
  ASSERT_TRUE(allocate(4 * MiB));
  const uint64_t before = waits();
  ASSERT_OK(runtime->libraries().keepReachable(Pointers));
  EXPECT_GT(waits(), before);
}

/// Loops call the same functions with the same arrays.
TEST_F(ReachableTest, NothingIsReadAgainThatIsAsItWas) {
  const uintptr_t other = allocate(2 * MiB);
  allocate(2 * MiB); // not all stays
  ASSERT_OK(runtime->libraries().keepReachable(Pointers));
  uint64_t before = waits();
  ASSERT_OK(runtime->libraries().keepReachable(Pointers));
  EXPECT_EQ(waits(), before);
  std::vector<int32_t> words(MiB / 4, 0);
  std::memcpy(words.data(), &other, sizeof other);
  ASSERT_OK(upload(Pointers, words));
  before = waits();
  ASSERT_OK(runtime->libraries().keepReachable(Pointers));
  EXPECT_GT(waits(), before);
  // The same words may lead to other buffers.
  ASSERT_OK(runtime->buffers().free(allocate(MiB)));
  before = waits();
  ASSERT_OK(runtime->libraries().keepReachable(Pointers));
  EXPECT_GT(waits(), before);
}

class KeptTest : public ImplFixture {
protected:
  void SetUp() override {
    ImplFixture::SetUp();
    settings.strict = false;
    settings.poison = false;
    settings.deviceMemory = 32 * MiB;
    ASSERT_NO_FATAL_FAILURE(startImpl(2));
  }
  void point(uintptr_t from, uintptr_t to) {
    RuntimeImpl::Guard guard(*impl);
    ASSERT_OK(impl->Moves.toBuffer(*impl->Space.Allocations.find(from)->buffer,
                                   from, reinterpret_cast<const char *>(&to),
                                   sizeof to, nullptr, {/*pageable=*/true}));
  }
  bool keeps(uintptr_t from, uintptr_t what) {
    RuntimeImpl::Guard guard(*impl);
    std::vector<uintptr_t> done;
    EXPECT_OK(impl->Library.keepReachable(from, done));
    return impl->Space.Allocations.find(what)->buffer->kept;
  }
};

TEST_F(KeptTest, SmallArraysOfOneChunkAreLookedThroughEach) {
  const uintptr_t first = buffer(64), second = buffer(64);
  const uintptr_t large = buffer(4 * MiB);
  ASSERT_EQ(impl->Space.Allocations.find(first)->buffer,
            impl->Space.Allocations.find(second)->buffer);
  point(first, second);
  point(second, large);
  EXPECT_TRUE(keeps(first, large));
}

TEST_F(KeptTest, WhatIsWrittenLaterIsFound) {
  const uintptr_t array = buffer(MiB), one = buffer(2 * MiB),
                  other = buffer(2 * MiB);
  point(array, one);
  EXPECT_TRUE(keeps(array, one));
  EXPECT_FALSE(keeps(array, other));
  point(array, other);
  EXPECT_TRUE(keeps(array, other));
}

} // namespace
