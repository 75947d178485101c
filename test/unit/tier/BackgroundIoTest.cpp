//===- BackgroundIoTest.cpp - reads and writes that run meanwhile ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tier/BackgroundIo.h"
#include "runtime/base/Ledger.h"
#include "test/unit/support/tier/FolderFixture.h"

#include <algorithm>

using namespace dragon;
using namespace dragon::test;

namespace {

class BackgroundIoTest : public FolderFixture {
protected:
  void SetUp() override {
    FolderFixture::SetUp();
    auto made = FileTier::create(settings, Books);
    ASSERT_TRUE(made.ok());
    Files = std::move(*made);
  }
  Ledger Books;
  std::unique_ptr<FileTier> Files;
};

TEST_F(BackgroundIoTest, manyJobs) {
  constexpr size_t N = 64, Words = 40000;
  auto data = numbers(N * Words, 5);
  writeFile("in", data);
  auto file = open("in");
  std::vector<int32_t> memory(data.size());
  BackgroundIo io(*Files, MiB);
  std::vector<std::shared_ptr<BackgroundIo::Job>> jobs;
  for (size_t i = 0; i < N; ++i)
    jobs.push_back(io.start({{file.get(), memory.data() + i * Words, Words * 4,
                              int64_t(i * Words * 4), false, nullptr}}));
  // The last one first: by the waiter, if no thread has come to it.
  EXPECT_OK(io.wait(*jobs.back()));
  EXPECT_TRUE(io.done(*jobs.back()));
  EXPECT_TRUE(std::equal(data.end() - Words, data.end(), memory.end() - Words));
  jobs.pop_back();
  for (auto &job : jobs)
    EXPECT_OK(io.wait(*job));
  EXPECT_TRUE(memory == data);
  EXPECT_GT(io.takeBusyTime(), 0u);
  EXPECT_EQ(io.takeBusyTime(), 0u);
  EXPECT_OK(io.wait(*io.start({})));
}

TEST_F(BackgroundIoTest, calledOff) {
  writeFile("in", numbers(1000, 1));
  auto file = open("in");
  std::vector<int32_t> memory(64 * 1000);
  BackgroundIo io(*Files, MiB);
  std::vector<std::shared_ptr<BackgroundIo::Job>> jobs;
  for (size_t i = 0; i < 64; ++i)
    jobs.push_back(io.start(
        {{file.get(), memory.data() + i * 1000, 4000, 0, false, nullptr}}));
  for (size_t i = 0; i < jobs.size(); i += 2)
    io.callOff(*jobs[i]);
  // Nothing uses their memory any more; the others are not concerned.
  for (size_t i = 0; i < jobs.size(); i += 2)
    std::fill_n(memory.begin() + long(i * 1000), 1000, 7);
  for (size_t i = 1; i < jobs.size(); i += 2) {
    EXPECT_OK(io.wait(*jobs[i]));
    EXPECT_EQ(memory[i * 1000], numbers(1, 1)[0]);
    EXPECT_EQ(memory[(i - 1) * 1000], 7);
  }
}

TEST_F(BackgroundIoTest, eachJobHasItsOwnResult) {
  writeFile("in", numbers(1000, 1));
  auto file = open("in");
  std::vector<int32_t> memory(1000);
  BackgroundIo io(*Files, MiB);
  auto good = io.start({{file.get(), memory.data(), 4000, 0, false, nullptr}});
  auto bad = io.start({{file.get(), memory.data(), 40, 4000, false, nullptr}});
  EXPECT_EQ(io.wait(*bad).code(), DRAGON_ERROR_FILE_CHANGED);
  EXPECT_OK(io.wait(*good));
}

} // namespace
