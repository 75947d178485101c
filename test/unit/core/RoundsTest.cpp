//===- RoundsTest.cpp - launches that go round more than fits -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/core/RuntimeFixture.h"
#include "test/unit/support/device/LateDevice.h"

#include <chrono>
#include <thread>

using namespace dragon;
using namespace dragon::test;

namespace {

/// A sum is added to by as many launches as a file has chunks, each of which
/// reads one, again and again: the layers of a network whose weights do not
/// fit.
class RoundsTest : public RuntimeFixture {
protected:
  static constexpr int N = 1 << 16, Layers = 64;
  static constexpr uint64_t LayerBytes = N * 4;

  void SetUp() override {
    RuntimeFixture::SetUp();
    settings.poison = settings.strict = false;
    settings.deviceMemory = 40 * LayerBytes;
    settings.hostMemory = 128 * LayerBytes;
    settings.chunkBytes = LayerBytes;
    auto inner = makeDevice();
    ASSERT_TRUE(inner);
    start(std::make_unique<LateDevice>(std::move(inner)));
    for (uint32_t i = 0; i < Layers; ++i)
      for (int32_t word : numbers(N, i))
        Words.push_back(word);
    writeFile("in", Words);
    auto mapped = runtime->files().mapFile(path("in").c_str(),
                                           Layers * LayerBytes, 0, D_READ);
    ASSERT_TRUE(mapped.ok()) << mapped.takeStatus().message();
    Weights = *mapped;
    Sum = allocate(LayerBytes);
    Scratch = allocate(LayerBytes);
    for (uintptr_t zeros : {Sum, Scratch})
      ASSERT_OK(upload(zeros, std::vector<int32_t>(N)));
  }
  void add(uint64_t layer) {
    ASSERT_OK(kernels.launch(*runtime, "add", N, pointer(Sum), pointer(Sum),
                             pointer(Weights + layer * LayerBytes), N));
  }
  void round() {
    for (uint64_t i = 0; i < Layers; ++i)
      add(i);
    ASSERT_OK(runtime->device().synchronizeAll());
    ++Rounds;
  }
  uint64_t fetched() { return moved(Direction::HostToDevice) / LayerBytes; }
  uint64_t read() { return moved(Direction::FileToHost) / LayerBytes; }
  void check() {
    const std::vector<int32_t> sum = download(Sum, N);
    for (size_t j = 0; j < size_t(N); ++j) {
      uint32_t expected = 0;
      for (size_t i = 0; i < Layers; ++i)
        expected += uint32_t(Words[i * N + j]);
      ASSERT_EQ(uint32_t(sum[j]), expected * Rounds) << j;
    }
  }

  uintptr_t Weights = 0, Sum = 0, Scratch = 0;
  std::vector<int32_t> Words;
  uint32_t Rounds = 0;
};

/// 24 of 64 do not fit, the sum is a chunk, and four of the others' places are
/// for those that come: no more than 29 are moved in a round, and in time only
/// those, which host memory keeps. Those four may be filled for the next round
/// before the program begins it.
TEST_F(RoundsTest, TheSameOnesComeAndGo) {
  constexpr uint64_t InRound = 29, Kept = 4;
  for (int i = 0; i < 6; ++i)
    round();
  const uint64_t readBefore = read(), before = fetched();
  for (uint64_t i = 1; i <= 8; ++i) {
    round();
    EXPECT_LE(fetched() - before, i * InRound + Kept) << i;
  }
  EXPECT_EQ(read(), readBefore);
  check();
}

/// What the next launches need is read while the program does something else.
TEST_F(RoundsTest, FilesAreReadAhead) {
  round();
  for (uint64_t i = 0; i < Layers; ++i) {
    add(i);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  ++Rounds;
  EXPECT_GT(runtime->ledger().bytes(Direction::FileToHost, Cause::Prefetch),
            0u);
  check();
}

/// Other launches go round the same chunks, such as those for one token after
/// those for many: what stays is what stayed, though nothing is foreseen.
TEST_F(RoundsTest, AnotherRoundOverTheSameChunks) {
  auto roundWith = [&](int others, int factor) {
    const uint64_t before = fetched();
    for (uint64_t layer = 0; layer < Layers; ++layer) {
      for (int i = 0; i < others; ++i)
        ASSERT_OK(kernels.launch(*runtime, "scale", N, pointer(Scratch), N,
                                 factor + i % 3));
      add(layer);
    }
    ++Rounds;
    if (Rounds > 5)
      EXPECT_LE(fetched() - before, 34u) << Rounds;
  };
  for (int i = 0; i < 5; ++i)
    roundWith(12, 3);
  for (int i = 0; i < 3; ++i)
    roundWith(7, 20);
  check();
}

/// Launches that do something else meanwhile find nothing in their way.
TEST_F(RoundsTest, OtherLaunchesInBetween) {
  round();
  round();
  const uintptr_t other = allocate(30 * LayerBytes);
  for (uint64_t i = 0; i < 600; ++i)
    ASSERT_OK(kernels.launch(*runtime, "scale", N,
                             pointer(other + i % 30 * LayerBytes), N, 3));
  round();
  round();
  check();
}

} // namespace
