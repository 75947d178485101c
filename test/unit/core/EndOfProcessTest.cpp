//===- EndOfProcessTest.cpp - files at the end, and refused calls ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/core/RuntimeFixture.h"

#include <atomic>
#include <thread>

using namespace dragon;
using namespace dragon::test;
using testing::HasSubstr;

namespace {

constexpr int OutputWords = 4 << 20;
constexpr uint64_t Bytes = uint64_t(OutputWords) * 4;

class EndOfProcessTest : public RuntimeFixture {
protected:
  void SetUp() override {
    RuntimeFixture::SetUp();
    settings.deviceMemory = 8 * MiB;
    settings.hostMemory = 8 * MiB;
  }
  /// c[i] = i * k + 1, with the file as its sink: written by evictions.
  void computeIntoSink(uintptr_t c, const std::shared_ptr<BackingFile> &out) {
    ASSERT_OK(runtime->files().setSink(c, Bytes, out, 0));
    ASSERT_OK(kernels.launch(*runtime, "iota", OutputWords, pointer(c),
                             OutputWords, 3));
    ASSERT_GT(moved(Direction::HostToFile), 0u);
  }
};

TEST_F(EndOfProcessTest, NothingRunsAfterTheLastQuiesce) {
  start();
  uintptr_t a = allocate(Bytes);
  ASSERT_OK(runtime->buffers().fill(pointer(a), 7, 4, OutputWords, nullptr));
  EXPECT_OK(runtime->quiesce(/*last=*/true));

  const uint64_t before = moved(Direction::HostToDevice);
  auto refused = [](Status status) {
    EXPECT_EQ(status.code(), DRAGON_ERROR_NO_DEVICE);
    EXPECT_THAT(status.message(), HasSubstr("ending"));
  };
  std::vector<int32_t> word(1);
  refused(kernels.launch(*runtime, "scale", OutputWords, pointer(a),
                         OutputWords, 2));
  refused(runtime->buffers().copy(word.data(), pointer(a), 4, nullptr, false));
  refused(runtime->buffers().copy(pointer(a), word.data(), 4, nullptr, false));
  refused(runtime->buffers().fill(pointer(a), 0, 1, 4, nullptr));
  refused(runtime->buffers().discard(a, Bytes, nullptr));
  refused(runtime->buffers().prefetch(a, Bytes, nullptr));
  refused(runtime->buffers().free(a));
  refused(runtime->buffers().allocate(Bytes, {}).takeStatus());
  refused(runtime->libraries().keepResident(a));
  refused(runtime->quiesce());
  EXPECT_EQ(moved(Direction::HostToDevice), before);
  EXPECT_OK(runtime->shutdown());
}

TEST_F(EndOfProcessTest, ThreadsThatAreInTheMiddleOfThingsAreRefused) {
  start();
  std::vector<std::thread> threads;
  std::atomic<int> refused{0}, running{0};
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      auto mine = runtime->buffers().allocate(Bytes, {});
      ++running;
      Status status = mine.ok() ? Status() : mine.takeStatus();
      while (status.ok())
        status =
            runtime->buffers().fill(pointer(*mine), 1, 4, OutputWords, nullptr);
      refused += status.code() == DRAGON_ERROR_NO_DEVICE;
    });
  while (running < 3)
    std::this_thread::yield();
  EXPECT_OK(runtime->quiesce(/*last=*/true));
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(refused, 3);
}

TEST_F(EndOfProcessTest, AnOutputThatIsNeverWrittenLeavesItsFileAsItWas) {
  start();
  writeFile("out", {1, 2, 3});
  uintptr_t c = allocate(Bytes);
  {
    auto out = open("out", true);
    ASSERT_OK(runtime->files().setSink(c, Bytes, out, 12));
    ASSERT_OK(kernels.launch(*runtime, "iota", OutputWords, pointer(c),
                             OutputWords, 3));
    ASSERT_GT(moved(Direction::HostToFile), 0u);
  }
  EXPECT_OK(runtime->buffers().free(c));
  EXPECT_EQ(readFile("out"), (std::vector<int32_t>{1, 2, 3}));
}

TEST_F(EndOfProcessTest, AnOutputIsReadBackFromItsFile) {
  start();
  auto out = open("out", true);
  uintptr_t c = allocate(Bytes);
  computeIntoSink(c, out);
  auto values = download(c, OutputWords);
  for (int i = 0; i < OutputWords; ++i)
    ASSERT_EQ(values[i], scaled(i, 3)) << i;
}

TEST_F(EndOfProcessTest, AFileThatTheProgramChangesIsLeft) {
  start();
  auto out = open("out", true);
  uintptr_t c = allocate(Bytes);
  computeIntoSink(c, out);
  ASSERT_OK(runtime->files().detachFile(out->deviceId(), out->inode()));
  writeFile("out", {5});
  auto values = download(c, OutputWords);
  for (int i = 0; i < OutputWords; ++i)
    ASSERT_EQ(values[i], scaled(i, 3)) << i;
  EXPECT_EQ(readFile("out"), (std::vector<int32_t>{5}));
  // Nor does the end of the buffer make the file what it was before.
  EXPECT_OK(runtime->buffers().free(c));
  EXPECT_EQ(readFile("out"), (std::vector<int32_t>{5}));
}

TEST_F(EndOfProcessTest, WhatIsWrittenElsewhereThanAnnouncedIsWhole) {
  start();
  auto out = open("out", true), other = open("other", true);
  uintptr_t c = allocate(Bytes);
  computeIntoSink(c, out);
  size_t written = 0;
  ASSERT_OK(runtime->files().writeToFile(c, Bytes, other, 0, written));
  EXPECT_EQ(written, Bytes);
  auto values = readFile("other");
  ASSERT_EQ(values.size(), size_t(OutputWords));
  for (int i = 0; i < OutputWords; ++i)
    ASSERT_EQ(values[i], scaled(i, 3)) << i;
}

} // namespace
