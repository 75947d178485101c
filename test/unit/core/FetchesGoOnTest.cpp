//===- FetchesGoOnTest.cpp - the program's memory, slice after slice ------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Launches in slices, on a device that is late, whose inputs are the program's
// memory: threads fetch them while slices are prepared.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/PinnedRanges.h"
#include "runtime/device/ForwardingDevice.h"
#include "runtime/tier/HeldMemory.h"
#include "test/unit/support/core/RuntimeFixture.h"
#include "test/unit/support/device/LateDevice.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <utility>

using namespace dragon;
using namespace dragon::test;
using testing::HasSubstr;

namespace {

class FetchesGoOnTest : public RuntimeFixture {
protected:
  static constexpr int Words = 1 << 20;
  static constexpr size_t Bytes = size_t(Words) * 4;

  ~FetchesGoOnTest() override { unpin(); }

  /// `pinned`: the memory is, and goes to the device from where it is.
  void begin(bool pinned = false) {
    settings.poison = false;
    settings.chunkBytes = 256 << 10;
    settings.deviceMemory = 3 * MiB;
    settings.hostMemory = 256 * MiB; // some of it for blocks
    auto late = std::make_unique<LateDevice>(makeDevice(), true);
    Late = late.get();
    auto faulty = std::make_unique<FaultyDevice>(std::move(late), 0);
    Faulty = faulty.get();
    ASSERT_NO_FATAL_FAILURE(start(std::move(faulty)));
    a = allocate(Bytes);
    b = allocate(Bytes);
    c = allocate(Bytes);
    A = numbers(Words, 3);
    B = numbers(Words, 4);
    for (const std::vector<int32_t> *memory : {&A, &B})
      if (pinned) {
        const auto at = reinterpret_cast<uintptr_t>(memory->data());
        PinnedRanges::get().add(
            {at, at + Bytes, PinnedRanges::Kind::Registered});
        Pinned.push_back(at);
      }
    ASSERT_NO_FATAL_FAILURE(map(a, A));
    ASSERT_NO_FATAL_FAILURE(map(b, B));
  }
  void unpin() {
    for (uintptr_t at : std::exchange(Pinned, {}))
      PinnedRanges::get().remove(at, true);
  }
  void map(uintptr_t buffer, const std::vector<int32_t> &memory) {
    auto mapped =
        runtime->files().mapProgramMemory(buffer, Bytes, memory.data());
    ASSERT_TRUE(mapped.ok());
    ASSERT_TRUE(*mapped);
  }
  void settle(const std::vector<int32_t> &memory) {
    EXPECT_OK(runtime->files().settleProgramMemory(memory.data(), Bytes));
  }
  Status add() {
    return kernels.launch(*runtime, "add", Words, pointer(c), pointer(a),
                          pointer(b), Words);
  }
  std::vector<int32_t> sums() const {
    std::vector<int32_t> result(Words);
    std::transform(A.begin(), A.end(), B.begin(), result.begin(), sum);
    return result;
  }
  void isTheProgramsAfterwards(bool pinned);
  bool runWithFailure(uint64_t n, bool pinned);

  LateDevice *Late = nullptr;
  FaultyDevice *Faulty = nullptr;
  uintptr_t a = 0, b = 0, c = 0;
  std::vector<int32_t> A, B;
  std::vector<uintptr_t> Pinned;
};

void FetchesGoOnTest::isTheProgramsAfterwards(bool pinned) {
  ASSERT_NO_FATAL_FAILURE(begin(pinned));
  const std::vector<int32_t> expected = sums();
  ASSERT_OK(add());
  EXPECT_GT(runtime->ledger().counter(Counter::Slices), 3u);
  settle(A);
  settle(B);
  std::fill(A.begin(), A.end(), -1);
  std::fill(B.begin(), B.end(), -1);
  EXPECT_TRUE(download(c, Words) == expected);
  EXPECT_OK(runtime->shutdown());
  EXPECT_EQ(Late->misused(), 0u);
}

TEST_F(FetchesGoOnTest, TheMemoryIsTheProgramsWhenTheLaunchReturns) {
  isTheProgramsAfterwards(/*pinned=*/false);
}

TEST_F(FetchesGoOnTest, PinnedMemoryIsTheProgramsWhenItIsSettled) {
  isTheProgramsAfterwards(/*pinned=*/true);
}

/// The device may read it when the launch returns.
TEST_F(FetchesGoOnTest, WhoSettlesWaitsForWhatIsHeld) {
  ASSERT_NO_FATAL_FAILURE(begin(/*pinned=*/true));
  const auto at = reinterpret_cast<uintptr_t>(A.data()) + Bytes / 2;
  ASSERT_TRUE(HeldMemory::get().hold(at, at + 1));
  std::atomic<bool> begun{false}, settled{false}, letGo{false};
  std::thread program([&] {
    begun = true;
    settle(A);
    EXPECT_TRUE(letGo);
    settled = true;
  });
  for (int i = 0; !begun || i < 5000; ++i)
    std::this_thread::yield();
  EXPECT_FALSE(settled);
  letGo = true;
  HeldMemory::get().letGo(at, at + 1);
  program.join();
  EXPECT_OK(runtime->shutdown());
}

/// Whether the n-th call did.
bool FetchesGoOnTest::runWithFailure(uint64_t n, bool pinned) {
  SCOPED_TRACE(n);
  begin(pinned);
  const std::vector<int32_t> expected = sums();
  Faulty->failAt(n);
  Status status = add();
  if (!status.ok())
    EXPECT_THAT(status.message(), HasSubstr("injected failure of call"));
  const bool ran = status.ok();
  const bool failed = Faulty->hasFailed();
  Faulty->failAt(0);
  if (ran)
    EXPECT_TRUE(download(c, Words) == expected);
  // The inputs are what they were, wherever they had got to.
  EXPECT_OK(add());
  EXPECT_TRUE(download(c, Words) == expected);
  settle(A);
  settle(B);
  EXPECT_OK(runtime->shutdown());
  runtime.reset();
  unpin();
  return failed;
}

TEST_F(FetchesGoOnTest, CallsOfTheDeviceFail) {
  for (bool pinned : {false, true}) {
    SCOPED_TRACE(pinned);
    uint64_t n = 1;
    while (runWithFailure(n, pinned) && !HasFailure())
      n += 1 + n / 16; // calls of many slices are alike
    EXPECT_GT(n, 60u);
  }
}

} // namespace
