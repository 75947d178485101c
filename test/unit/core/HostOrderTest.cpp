//===- HostOrderTest.cpp - copies by the processor, in a queue ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the device has no room, the processor copies between the program's
// memory and a chunk's host copy. What is in front of that in the queue may use
// the same memory, if it is pinned: on a device that puts off all it can, who
// does not wait finds what was there before.
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/core/RuntimeFixture.h"
#include "test/unit/support/device/LateDevice.h"

using namespace dragon;
using namespace dragon::test;

namespace {

constexpr int OrderedWords = 1 << 19; ///< words of a chunk

class HostOrderTest : public RuntimeFixture {
protected:
  void SetUp() override {
    RuntimeFixture::SetUp();
    settings.poison = false;
    settings.strict = false;
    settings.deviceMemory = 4 * MiB;
    settings.hostMemory = 64 * MiB;
    std::string notes;
    auto device = createDevice(settings, notes);
    ASSERT_TRUE(device.ok()) << device.takeStatus().message();
    start(std::make_unique<LateDevice>(std::move(*device)));
    auto made = runtime->device().create(Place::Pinned, OrderedWords * 4);
    ASSERT_TRUE(made.ok());
    Block = *made;
    Pinned = static_cast<int32_t *>(Block.hostView);
    std::fill(Pinned, Pinned + OrderedWords, -1);
    Old = numbers(OrderedWords, 3);
    // They fill the device; what comes later is in host memory.
    A = allocate(OrderedWords * 4);
    B = allocate(OrderedWords * 4);
    for (uintptr_t buffer : {A, B}) {
      ASSERT_OK(upload(buffer, Old));
      ASSERT_OK(kernels.launch(*runtime, "scale", OrderedWords, pointer(buffer),
                               OrderedWords, 1));
    }
    for (int32_t &value : Old)
      value = scaled(value, 1);
    ASSERT_OK(runtime->device().synchronizeAll());
    Other = allocate(OrderedWords * 4);
  }
  void TearDown() override {
    EXPECT_OK(runtime->device().synchronizeAll());
    EXPECT_OK(runtime->device().destroy(Block));
    RuntimeFixture::TearDown();
  }

  Physical Block;
  int32_t *Pinned = nullptr;
  std::vector<int32_t> Old; ///< A's and B's
  uintptr_t A = 0, B = 0, Other = 0;
};

TEST_F(HostOrderTest, WhatACopyInReadsIsWhatWasCopiedOutBeforeIt) {
  ASSERT_OK(runtime->buffers().copy(Pinned, pointer(A), OrderedWords * 4,
                                    nullptr, true));
  ASSERT_OK(runtime->buffers().copy(pointer(Other), Pinned, OrderedWords * 4,
                                    nullptr, true));
  EXPECT_TRUE(download(Other, OrderedWords) == Old);
}

TEST_F(HostOrderTest, SmallCopiesOfWhichNobodyKnowsTheMemory) {
  ASSERT_OK(runtime->buffers().copy(Pinned, pointer(A), 4096, nullptr, true));
  ASSERT_OK(runtime->buffers().copy(pointer(Other), Pinned, 4096, nullptr, true,
                                    /*pageable=*/true, /*mayBePinned=*/true));
  EXPECT_EQ(download(Other, 1)[0], Old[0]);
}

TEST_F(HostOrderTest, WhatACopyOutOverwritesHasBeenReadBeforeIt) {
  const std::vector<int32_t> first = numbers(OrderedWords, 7),
                             second = numbers(OrderedWords, 9);
  ASSERT_OK(upload(Other, second)); // in host memory
  std::copy(first.begin(), first.end(), Pinned);
  ASSERT_OK(runtime->buffers().copy(pointer(A), Pinned, OrderedWords * 4,
                                    nullptr, true));
  ASSERT_OK(runtime->buffers().copy(Pinned, pointer(Other), OrderedWords * 4,
                                    nullptr, true));
  EXPECT_TRUE(download(A, OrderedWords) == first);
  EXPECT_TRUE(std::equal(second.begin(), second.end(), Pinned));
}

} // namespace
