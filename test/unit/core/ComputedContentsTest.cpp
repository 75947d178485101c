//===- ComputedContentsTest.cpp - contents that arguments determine ------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library function uses what pointers in device memory point to. A kernel
// computes them, and the runtime reads them, or knows them.
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/core/RuntimeFixture.h"

#include <set>

using namespace dragon;
using namespace dragon::test;

namespace {

constexpr size_t MatrixBytes = 4 * MiB, ArrayBytes = 2 * MiB;
constexpr size_t Pointers = 3;

class ComputedContentsTest : public RuntimeFixture {
protected:
  void SetUp() override {
    RuntimeFixture::SetUp();
    settings.deviceMemory = 24 * MiB;
    settings.wavefront = Waves;
    Counts = startCounting();
    ASSERT_TRUE(Counts);
    // More than fits: the runtime has to know what the function uses.
    All = allocate(MatrixBytes * 6);
    Other = allocate(MatrixBytes * 2);
    Array = allocate(ArrayBytes);
    const size_t words = MatrixBytes / 4;
    ASSERT_OK(upload(All, numbers(words * 6, 1)));
    ASSERT_OK(upload(Other, numbers(words * 2, 2)));
  }

  /// array[i] = base + i * step
  Status compute(uintptr_t base, uint64_t step) {
    return kernels.launch(*runtime, "rows", int(Pointers), Array,
                          uint64_t(base), step, int(Pointers));
  }
  /// The chunks that are held for a function that follows the pointers.
  std::set<uintptr_t> used() {
    LibraryCall call;
    call.function = "a product";
    call.queue = Queue(nullptr);
    call.uses.push_back({Array, 4096, LaunchNeed::Read, Pointers});
    LibraryHold hold;
    const uint64_t before = Counts->calls(DeviceCall::Synchronize);
    EXPECT_OK(runtime->libraries().beginLibraryCall(call, hold));
    HasWaited = Counts->calls(DeviceCall::Synchronize) != before;
    std::set<uintptr_t> chunks;
    for (const LibraryHold::Part &part : hold.chunks)
      chunks.insert(part.address);
    EXPECT_OK(runtime->libraries().endLibraryCall(hold));
    return chunks;
  }
  std::set<uintptr_t> chunksOf(uintptr_t base, uint64_t step) const {
    std::set<uintptr_t> chunks{Array};
    for (size_t i = 0; i < Pointers; ++i)
      chunks.insert((base + i * step) / (2 * MiB) * (2 * MiB));
    return chunks;
  }

  Wavefront Waves = Wavefront::Auto;
  CountingDevice *Counts = nullptr;
  bool HasWaited = false; ///< used(), for the pointers
  uintptr_t All = 0, Other = 0, Array = 0;
};

TEST_F(ComputedContentsTest, TheSameLaunchIsReadOnce) {
  unsigned waits = 0;
  for (int round = 0; round < 4; ++round)
    for (uint64_t layer = 0; layer < 2; ++layer) {
      const uintptr_t base = All + layer * MatrixBytes;
      ASSERT_OK(compute(base, MatrixBytes));
      EXPECT_EQ(used(), chunksOf(base, MatrixBytes));
      waits += HasWaited;
    }
  // Nothing is kept of the very first launch: nobody had asked.
  EXPECT_EQ(waits, 3u);
}

TEST_F(ComputedContentsTest, WhatTheProgramCopiesIsNotReadBack) {
  std::vector<uintptr_t> array(Pointers);
  for (uint64_t round = 0; round < 4; ++round) {
    const uint64_t step = MatrixBytes / (round + 1);
    for (size_t i = 0; i < Pointers; ++i)
      array[i] = All + i * step;
    ASSERT_OK(runtime->buffers().copy(pointer(Array), array.data(),
                                      array.size() * sizeof array[0], nullptr,
                                      /*async=*/true, /*pageable=*/true));
    array.assign(Pointers, 0); // it is the program's
    EXPECT_EQ(used(), chunksOf(All, step));
    EXPECT_EQ(HasWaited, round == 0);
  }
  // Pinned memory may be written by queued work.
  array.assign(Pointers, All);
  ASSERT_OK(runtime->buffers().copy(pointer(Array), array.data(),
                                    array.size() * sizeof array[0], nullptr,
                                    /*async=*/true, /*pageable=*/false));
  EXPECT_EQ(used(), chunksOf(All, 0));
  EXPECT_TRUE(HasWaited);
}

struct ComputedAmongWavesTest : ComputedContentsTest {
  ComputedAmongWavesTest() { Waves = Wavefront::Always; }
};

TEST_F(ComputedAmongWavesTest, WhoComputesThemDoesNotWaitForOthers) {
  Array = Other + MatrixBytes; // of a buffer that is not all on the device
  unsigned waits = 0;
  for (int round = 0; round < 4; ++round) {
    waits = 0;
    for (uint64_t layer = 0; layer < 4; ++layer) {
      const uintptr_t base = All + layer * MatrixBytes;
      ASSERT_OK(compute(base, MatrixBytes));
      EXPECT_EQ(used(), chunksOf(base, MatrixBytes));
      waits += HasWaited;
    }
  }
  EXPECT_EQ(waits, 0u) << "in the last round";
}

TEST_F(ComputedContentsTest, OtherArgumentsAreOtherContents) {
  for (uint64_t step : {MatrixBytes, MatrixBytes / 2, MatrixBytes}) {
    ASSERT_OK(compute(All, step));
    EXPECT_EQ(used(), chunksOf(All, step));
  }
}

TEST_F(ComputedContentsTest, WhoeverWritesThereIsSeen) {
  for (int round = 0; round < 2; ++round) {
    ASSERT_OK(compute(All, MatrixBytes));
    EXPECT_EQ(used(), chunksOf(All, MatrixBytes));
  }
  ASSERT_OK(compute(All, MatrixBytes));
  EXPECT_EQ(used(), chunksOf(All, MatrixBytes));
  EXPECT_FALSE(HasWaited);
  // The program, a fill, and a kernel.
  const uintptr_t third = All + 3 * MatrixBytes;
  ASSERT_OK(runtime->buffers().copy(pointer(Array), &third, sizeof third,
                                    nullptr, false));
  EXPECT_TRUE(used().count(third));
  ASSERT_OK(compute(All, MatrixBytes));
  EXPECT_EQ(used(), chunksOf(All, MatrixBytes));
  ASSERT_OK(
      runtime->buffers().fill(pointer(Array), 0, 4, Pointers * 2, nullptr));
  EXPECT_EQ(used(), std::set<uintptr_t>{Array});
  ASSERT_OK(compute(Other, MatrixBytes / 2));
  EXPECT_EQ(used(), chunksOf(Other, MatrixBytes / 2));
  ASSERT_OK(compute(All, MatrixBytes));
  EXPECT_EQ(used(), chunksOf(All, MatrixBytes));
}

} // namespace
