//===- StoredLaunchTest.cpp - launches beyond device and host memory ------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Look-ups and stores anywhere in a buffer that is larger than device and host
// memory together: the kernel's copy that fetches pages asks for those that are
// in a file, or in swap.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/ForwardingDevice.h"
#include "test/unit/support/core/RuntimeFixture.h"
#include "test/unit/support/device/LateDevice.h"

#include <filesystem>

using namespace dragon;
using namespace dragon::test;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

namespace {

constexpr int Threads = 1 << 12;
constexpr int WordsOfPage = 1024;

class StoredLaunchTest : public RuntimeFixture {
protected:
  static constexpr int DataWords = 2 << 20; ///< 8 MiB
  static constexpr size_t DataBytes = size_t(DataWords) * 4;

  enum class Kind { Plain, Late, Faulty };

  void begin(Kind kind = Kind::Plain) {
    settings.chunkBytes = 256 << 10;
    settings.deviceMemory = 2 * MiB; // a quarter of it for frames
    settings.hostMemory = 4 * MiB;
    std::unique_ptr<Device> made = makeDevice();
    ASSERT_TRUE(made);
    if (kind == Kind::Late)
      made = std::make_unique<LateDevice>(std::move(made));
    if (kind == Kind::Faulty) {
      auto faulty = std::make_unique<FaultyDevice>(std::move(made), 0);
      Faulty = faulty.get();
      made = std::move(faulty);
    }
    ASSERT_NO_FATAL_FAILURE(start(std::move(made)));
    static const std::vector<int32_t> first = numbers(DataWords, 1);
    Data = first;
    index = allocate(Threads * 4);
    words = allocate(Threads * 4);
    setIndex(32, 7919);
  }
  /// So many threads in each page; and one page is so far from the next.
  void setIndex(int together, int step) {
    Index.resize(Threads);
    for (int i = 0; i < Threads; ++i)
      Index[size_t(i)] =
          int32_t(int64_t(i / together) * step % (DataWords / WordsOfPage)) *
              WordsOfPage +
          i % together;
    ASSERT_OK(upload(index, Index));
  }
  /// A file of the words, under the buffer.
  void map(unsigned flags) {
    writeFile("data", Data);
    auto mapped =
        runtime->files().mapFile(path("data").c_str(), DataBytes, 0, flags);
    ASSERT_TRUE(mapped.ok()) << mapped.takeStatus().message();
    data = *mapped;
  }
  void make() {
    data = allocate(DataBytes);
    ASSERT_OK(upload(data, Data));
  }
  Status launch(const char *kernel) {
    return kernels.launch(*runtime, kernel, Threads, pointer(words),
                          pointer(data), pointer(index), Threads);
  }
  std::vector<int32_t> found() const {
    std::vector<int32_t> result;
    result.reserve(Index.size());
    for (int32_t at : Index)
      result.push_back(Data[size_t(at)]);
    return result;
  }
  void put(uint32_t seed) {
    const std::vector<int32_t> in = numbers(Threads, seed);
    ASSERT_OK(upload(words, in));
    ASSERT_OK(launch("put"));
    for (size_t i = 0; i < Index.size(); ++i)
      Data[size_t(Index[i])] = in[i];
  }
  void lookUp() {
    ASSERT_OK(launch("lookUp"));
    EXPECT_TRUE(download(words, Threads) == found());
  }
  uint64_t pages(Direction direction) {
    return runtime->ledger().bytes(direction, Cause::Paging) / 4096;
  }
  uint64_t paged() { return runtime->ledger().counter(Counter::PagedLaunches); }
  bool runWithFailure(uint64_t n);

  FaultyDevice *Faulty = nullptr;
  uintptr_t data = 0, index = 0, words = 0;
  std::vector<int32_t> Data, Index;
};

constexpr uint64_t PagesOfIndex = Threads / 32;

TEST_F(StoredLaunchTest, PagesOfAFileAreRead) {
  begin();
  ASSERT_NO_FATAL_FAILURE(map(D_READ));
  lookUp();
  EXPECT_EQ(paged(), 1u);
  // Some of the chunks are in host memory, as far as that goes.
  EXPECT_LE(pages(Direction::FileToHost), PagesOfIndex);
  EXPECT_GT(pages(Direction::FileToHost), PagesOfIndex / 2);
  EXPECT_LT(moved(Direction::FileToHost), DataBytes / 2);
  EXPECT_EQ(moved(Direction::HostToSwap), 0u);
}

TEST_F(StoredLaunchTest, PagesStayForTheNextLaunch) {
  begin();
  ASSERT_NO_FATAL_FAILURE(make());
  setIndex(256, 7919); // 16 pages
  lookUp();
  const uint64_t read = pages(Direction::SwapToHost);
  EXPECT_GT(read, 8u);
  lookUp();
  EXPECT_EQ(paged(), 2u);
  EXPECT_EQ(pages(Direction::SwapToHost), read);
}

TEST_F(StoredLaunchTest, PagesThatWereWrittenGoToSwap) {
  begin();
  ASSERT_NO_FATAL_FAILURE(make());
  put(9);
  lookUp();
  put(10);
  EXPECT_EQ(paged(), 3u);
  EXPECT_GT(pages(Direction::SwapToHost), 0u);
  EXPECT_GT(pages(Direction::HostToSwap), 0u);
  EXPECT_TRUE(download(data, DataWords) == Data);
}

TEST_F(StoredLaunchTest, PagesThatWereWrittenGoToTheirFile) {
  begin();
  ASSERT_NO_FATAL_FAILURE(map(D_READ | D_WRITE));
  put(9);
  setIndex(32, 7907);
  put(10);
  lookUp();
  EXPECT_EQ(paged(), 3u);
  EXPECT_GT(pages(Direction::HostToFile), 0u);
  EXPECT_EQ(moved(Direction::HostToSwap), 0u);
  ASSERT_OK(runtime->files().sync(data));
  EXPECT_TRUE(readFile("data") == Data);
}

/// The file stays what it is: what was written has a place in swap.
TEST_F(StoredLaunchTest, AFileThatIsReadOnlyIsNotWritten) {
  begin();
  ASSERT_NO_FATAL_FAILURE(map(D_READ | D_VOLATILE));
  const std::vector<int32_t> before = Data;
  put(9);
  lookUp();
  EXPECT_TRUE(download(data, DataWords) == Data);
  EXPECT_TRUE(readFile("data") == before);
}

/// Nothing has been written there before, and what others wrote stays.
TEST_F(StoredLaunchTest, MemoryWithoutContentsIsWritten) {
  begin();
  data = allocate(DataBytes);
  ASSERT_OK(runtime->buffers().fill(pointer(data), 0, 4, DataWords, nullptr));
  Data.assign(DataWords, 0);
  put(9);
  setIndex(32, 7907);
  put(10);
  EXPECT_EQ(paged(), 2u);
  EXPECT_TRUE(download(data, DataWords) == Data);
}

TEST_F(StoredLaunchTest, OnADeviceThatIsLate) {
  begin(Kind::Late);
  ASSERT_NO_FATAL_FAILURE(make());
  put(9);
  lookUp();
  EXPECT_EQ(paged(), 2u);
  EXPECT_TRUE(download(data, DataWords) == Data);
}

/// The threads of one block need more pages than there are frames.
TEST_F(StoredLaunchTest, TooFewFramesAreAnError) {
  begin();
  ASSERT_NO_FATAL_FAILURE(map(D_READ));
  setIndex(1, 7919);
  const Status status = launch("lookUp");
  EXPECT_EQ(status.code(), DRAGON_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(status.message(), HasSubstr("raise DRAGON_DEVICE_MEMORY"));
  setIndex(32, 7919);
  lookUp();
}

/// What the first blocks need lets expect too little of the others.
TEST_F(StoredLaunchTest, ASliceWithTooFewFramesRunsAgainInSmallerOnes) {
  settings.log = "debug";
  begin();
  ASSERT_NO_FATAL_FAILURE(make());
  setIndex(15, 7919);                   // 69 pages a block
  for (int i = 0; i < Threads / 4; ++i) // each one its own word
    Index[size_t(i)] = i;
  ASSERT_OK(upload(index, Index));
  testing::internal::CaptureStderr();
  lookUp();
  put(9);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("blocks of 'lookUp' need more frames: again"),
                    HasSubstr("blocks of 'put' need more frames: again")));
  EXPECT_EQ(paged(), 2u);
  EXPECT_TRUE(download(data, DataWords) == Data);
}

TEST_F(StoredLaunchTest, AFileThatBecameShorterIsAnError) {
  begin();
  ASSERT_NO_FATAL_FAILURE(map(D_READ));
  std::filesystem::resize_file(path("data"), DataBytes / 2);
  const Status status = launch("lookUp");
  EXPECT_EQ(status.code(), DRAGON_ERROR_FILE_CHANGED);
  EXPECT_THAT(status.message(), HasSubstr("data"));
}

TEST_F(StoredLaunchTest, WithoutPagesItIsRefused) {
  settings.paging = Paging::Off;
  begin();
  ASSERT_NO_FATAL_FAILURE(map(D_READ));
  EXPECT_EQ(launch("lookUp").code(), DRAGON_ERROR_OUT_OF_MEMORY);
}

/// Launches of which the n-th call of the device fails; whether one did.
bool StoredLaunchTest::runWithFailure(uint64_t n) {
  SCOPED_TRACE("call " + std::to_string(n));
  begin(Kind::Faulty);
  make();
  const std::vector<int32_t> in = numbers(Threads, 9);
  auto hasFailed = [](const Status &status) {
    // Memory that the host refuses is none of the budget any more, and where
    // nothing of the launch has run there is one reason only.
    if (!status.ok())
      EXPECT_THAT(status.message(),
                  AnyOf(HasSubstr("injected failure of call"),
                        HasSubstr("host memory"), HasSubstr("may touch")));
    return !status.ok();
  };
  Faulty->failAt(n);
  if (!hasFailed(launch("lookUp"))) {
    std::vector<int32_t> got(Threads);
    if (!hasFailed(runtime->buffers().copy(got.data(), pointer(words),
                                           got.size() * 4, nullptr, false)))
      EXPECT_TRUE(got == found());
  }
  bool known = true;
  if (!hasFailed(upload(words, in))) {
    known = !hasFailed(launch("put"));
    for (size_t i = 0; known && i < Index.size(); ++i)
      Data[size_t(Index[i])] = in[i];
  }
  const bool failed = Faulty->hasFailed();
  Faulty->failAt(0);
  if (!known) // what it was to write
    EXPECT_OK(upload(data, Data));
  lookUp();
  EXPECT_TRUE(download(data, DataWords) == Data);
  EXPECT_OK(runtime->shutdown());
  runtime.reset();
  return failed;
}

TEST_F(StoredLaunchTest, EachCallOfTheDeviceFailsOnce) {
  uint64_t n = 1;
  while (runWithFailure(n) && !HasFailure())
    ++n;
  EXPECT_GT(n, 30u);
}

} // namespace
