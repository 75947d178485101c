//===- FileTierTest.cpp - batches of file I/O, and their failures ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tier/FileTier.h"
#include "runtime/base/Ledger.h"
#include "runtime/tier/FaultyFile.h"
#include "test/unit/support/base/TemporaryFiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <filesystem>
#include <sys/resource.h>
#include <unistd.h>

using namespace dragon;
using namespace dragon::test;
using testing::HasSubstr;

namespace {

/// How files are read and written: io_uring or threads, O_DIRECT or not.
struct Way {
  const char *name;
  bool ioUring;
  DirectIo direct;
};

class FileTierTest : public testing::TestWithParam<Way> {
protected:
  void SetUp() override {
    settings.ioUring = GetParam().ioUring;
    settings.directIo = GetParam().direct;
    auto made = createFileTier(settings, ledger, &faults);
    ASSERT_TRUE(made.ok()) << made.takeStatus().message();
    tier = std::move(*made);
  }
  std::shared_ptr<BackingFile> open(const std::string &path,
                                    bool writable = true) {
    auto file = BackingFile::open(path, writable, writable);
    EXPECT_TRUE(file.ok()) << file.takeStatus().message();
    return file.ok() ? *file : nullptr;
  }

  TemporaryFolder folder;
  Settings settings;
  Ledger ledger;
  FaultyFile faults;
  std::unique_ptr<FileTier> tier;
};

TEST_P(FileTierTest, WhatIsWrittenIsReadBackAtAnyAlignment) {
  auto file = open(folder.file("data"));
  Memory whole((3 << 20) + 12345), back((3 << 20) + 12345);
  whole.randomise(1);
  struct {
    size_t skew;
    int64_t offset;
    size_t bytes;
  } cases[] = {
      {0, 0, whole.bytes}, {0, 4096, 2 << 20},    {100, 100, 1 << 20},
      {0, 100, 300000},    {4095, 8191, 2000000}, {7, 0, 10},
      {0, 4096, 4096},     {1, 4097, 4095},       {1, 4097, 4096 + 4095}};
  for (auto [skew, offset, bytes] : cases) {
    ASSERT_TRUE(tier->write(*file, whole.data + skew, bytes, offset).ok());
    std::memset(back.data, 0, back.bytes);
    Status read = tier->read(*file, back.data + skew, bytes, offset);
    ASSERT_TRUE(read.ok()) << read.message();
    EXPECT_EQ(std::memcmp(whole.data + skew, back.data + skew, bytes), 0)
        << offset;
  }
}

// Half of the file is in the page cache, changed and not yet on the disk.
TEST_P(FileTierTest, WhatIsInThePageCacheIsReadFromThere) {
  constexpr size_t Half = 3 << 20;
  Memory data(2 * Half), back(2 * Half);
  data.randomise(11);
  auto file = open(folder.file("f"));
  ASSERT_TRUE(file);
  Status status = tier->write(*file, data.data, data.bytes, 0);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(::fsync(file->fd()), 0);
  ASSERT_EQ(::posix_fadvise(file->fd(), 0, 0, POSIX_FADV_DONTNEED), 0);
  for (size_t i = 0; i < Half; ++i)
    data.data[i] = char(data.data[i] + 1);
  ASSERT_EQ(::pwrite(file->fd(), data.data, Half, 0), ssize_t(Half));
  status = tier->read(*file, back.data, back.bytes, 0);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(std::memcmp(data.data, back.data, data.bytes), 0);
}

TEST_P(FileTierTest, ManyRequestsInOneBatch) {
  auto one = open(folder.file("one"));
  auto two = open(folder.file("two"));
  constexpr size_t Bytes = 300 * 4096 + 17;
  constexpr int Count = 12;
  Memory data(Count * Bytes), back(Count * Bytes);
  data.randomise(2);
  std::vector<FileRequest> requests;
  int done = 0;
  for (int i = 0; i < Count; ++i)
    requests.push_back({(i % 2 ? one : two).get(), data.data + i * Bytes, Bytes,
                        int64_t(i * Bytes), true,
                        [&](const Status &status, size_t transferred) {
                          EXPECT_TRUE(status.ok());
                          EXPECT_EQ(transferred, Bytes);
                          ++done;
                        }});
  ASSERT_TRUE(tier->run(requests).ok());
  EXPECT_EQ(done, Count);
  for (int i = 0; i < Count; ++i)
    requests[i] = {(i % 2 ? one : two).get(),
                   back.data + i * Bytes,
                   Bytes,
                   int64_t(i * Bytes),
                   false,
                   {}};
  ASSERT_TRUE(tier->run(requests).ok());
  EXPECT_EQ(std::memcmp(data.data, back.data, data.bytes), 0);
}

TEST_P(FileTierTest, ShortTransfersAndInterruptionsGoUnnoticed) {
  auto file = open(folder.file("data"));
  Memory data(5 << 20), back(5 << 20);
  data.randomise(3);
  faults.shortEvery = 3;
  faults.interruptEvery = 4;
  ASSERT_TRUE(tier->write(*file, data.data, data.bytes, 0).ok());
  ASSERT_TRUE(tier->read(*file, back.data, back.bytes, 0).ok());
  EXPECT_EQ(std::memcmp(data.data, back.data, data.bytes), 0);
  EXPECT_GT(faults.calls(), 10u);
}

TEST_P(FileTierTest, WhatIsCancelledIsDoneAgain) {
  auto file = open(folder.file("data"));
  Memory data(3 << 20), back(3 << 20);
  data.randomise(5);
  faults.failWith = ECANCELED;
  for (uint64_t n : {1, 2, 3}) {
    faults.restart();
    faults.failAt = n;
    ASSERT_TRUE(tier->write(*file, data.data, data.bytes, 0).ok());
    faults.restart();
    ASSERT_TRUE(tier->read(*file, back.data, back.bytes, 0).ok());
    EXPECT_EQ(std::memcmp(data.data, back.data, data.bytes), 0);
  }
}

TEST_P(FileTierTest, EachFailureIsReportedAndTheOthersComplete) {
  auto bad = open(folder.file("bad"));
  auto good = open(folder.file("good"));
  Memory data(3 << 20);
  data.randomise(4);
  for (uint64_t n = 1;; ++n) {
    faults.restart();
    faults.failAt = n;
    faults.failWith = ENOSPC;
    int failures = 0, successes = 0;
    auto count = [&](const Status &status, size_t transferred) {
      ++(status.ok() ? successes : failures);
      if (status.ok())
        EXPECT_EQ(transferred, data.bytes);
      else
        EXPECT_LT(transferred, data.bytes);
    };
    FileRequest requests[] = {
        {bad.get(), data.data, data.bytes, 0, true, count},
        {good.get(), data.data, data.bytes, 0, true, count}};
    Status status = tier->run(requests);
    EXPECT_EQ(failures + successes, 2);
    if (status.ok()) {
      EXPECT_EQ(failures, 0);
      EXPECT_GE(n, 6u);
      break;
    }
    EXPECT_EQ(failures, 1);
    EXPECT_EQ(status.code(), DRAGON_ERROR_NO_SPACE);
    EXPECT_EQ(status.nativeCode(), ENOSPC);
    EXPECT_THAT(status.message(), HasSubstr("cannot write"));
  }
}

TEST_P(FileTierTest, TransferredIsTheContiguousPart) {
  auto file = open(folder.file("data"));
  Memory data(4 << 20);
  data.randomise(5);
  ASSERT_TRUE(tier->write(*file, data.data, data.bytes, 0).ok());
  ASSERT_TRUE(file->truncate(1 << 20).ok());
  size_t transferred = 99;
  FileRequest request{
      file.get(), data.data,
      data.bytes, 0,
      false,      [&](const Status &, size_t n) { transferred = n; }};
  Status status = tier->run({&request, 1});
  EXPECT_EQ(status.code(), DRAGON_ERROR_FILE_CHANGED);
  EXPECT_THAT(status.message(), HasSubstr(folder.file("data")));
  EXPECT_THAT(status.message(), HasSubstr("became shorter"));
  EXPECT_LE(transferred, size_t(1) << 20);
}

INSTANTIATE_TEST_SUITE_P(
    Ways, FileTierTest,
    testing::Values(Way{"RingDirect", true, DirectIo::Auto},
                    Way{"RingBuffered", true, DirectIo::Off},
                    Way{"ThreadsDirect", false, DirectIo::Auto},
                    Way{"ThreadsBuffered", false, DirectIo::Off}),
    [](const testing::TestParamInfo<Way> &info) { return info.param.name; });

TEST(BackingFileTest, ChangesOfAnInputAreSeen) {
  TemporaryFolder folder;
  std::string path = folder.file("input");
  {
    std::FILE *f = std::fopen(path.c_str(), "w");
    std::fputs("hello", f);
    std::fclose(f);
  }
  auto file = BackingFile::open(path, false, false);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE((*file)->checkUnchanged().ok());
  {
    std::FILE *f = std::fopen(path.c_str(), "a");
    std::fputs(" world", f);
    std::fclose(f);
  }
  Status status = (*file)->checkUnchanged();
  EXPECT_EQ(status.code(), DRAGON_ERROR_FILE_CHANGED);
  EXPECT_THAT(status.message(), HasSubstr(path));
}

TEST(BackingFileTest, SpaceIsReservedOrTheFileStaysAsItWas) {
  TemporaryFolder folder;
  auto file = BackingFile::open(folder.file("f"), true, true);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->truncate(5000).ok());
  const bool extended = (*file)->extend(3 << 20);
  EXPECT_EQ(*(*file)->size(), extended ? uint64_t(3) << 20 : 5000u);
  EXPECT_FALSE((*file)->extend(4096)); // never shorter
  EXPECT_EQ(*(*file)->size(), extended ? uint64_t(3) << 20 : 5000u);
  // No disk has so much.
  EXPECT_FALSE((*file)->extend(uint64_t(1) << 60));
  EXPECT_EQ(*(*file)->size(), extended ? uint64_t(3) << 20 : 5000u);
}

TEST(BackingFileTest, AppendingAndWriteOnlyDescriptorsWork) {
  TemporaryFolder folder;
  Settings settings;
  Ledger ledger;
  auto tier = FileTier::create(settings, ledger);
  ASSERT_TRUE(tier.ok());
  std::string path = folder.file("out");
  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ASSERT_GE(fd, 0);
  auto file = BackingFile::adopt(fd, path, true);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE((*file)->readable());
  ASSERT_TRUE((*tier)->write(**file, "world", 5, 6).ok());
  ASSERT_TRUE((*tier)->write(**file, "hello ", 6, 0).ok());
  char back[12] = {};
  ASSERT_TRUE((*tier)->read(**file, back, 11, 0).ok());
  EXPECT_STREQ(back, "hello world");
}

TEST(BackingFileTest, APipeIsRefused) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  auto file = BackingFile::adopt(ends[0], "pipe", false);
  EXPECT_EQ(file.takeStatus().code(), DRAGON_ERROR_UNSUPPORTED);
  ::close(ends[1]);
}

TEST(SwapFileTest, SlotsAreDisjointAndUsedAgain) {
  TemporaryFolder folder;
  Settings settings;
  settings.swapDirs = {folder.path(), folder.path()};
  auto swap = SwapFile::create(settings);
  ASSERT_TRUE(swap.ok()) << swap.takeStatus().message();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  auto a = (*swap)->allocate(2 << 20);
  auto b = (*swap)->allocate(2 << 20);
  auto c = (*swap)->allocate(2 << 20);
  ASSERT_TRUE(a.ok() && b.ok() && c.ok());
  EXPECT_NE(a->file, b->file); // striped
  EXPECT_EQ(a->file, c->file);
  EXPECT_GE(c->offset, a->offset + int64_t(a->bytes));
  SwapFile::Slot old = *a;
  (*swap)->release(old);
  auto again = (*swap)->allocate(2 << 20);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->offset, old.offset);
  EXPECT_EQ(again->file, old.file);
}

TEST(SwapFileTest, AMissingDirectoryIsNamed) {
  Settings settings;
  settings.swapDirs = {"/nonexistent/dragon"};
  Status status = SwapFile::create(settings).takeStatus();
  EXPECT_EQ(status.code(), DRAGON_ERROR_FILE);
  EXPECT_THAT(status.message(), HasSubstr("/nonexistent/dragon"));
  EXPECT_THAT(status.message(), HasSubstr("DRAGON_SWAP_DIR"));
}

TEST(SwapFileTest, AFullDiskSaysWhatIsNeededAndFree) {
  TemporaryFolder folder;
  Settings settings;
  settings.swapDirs = {folder.path()};
  auto swap = SwapFile::create(settings);
  ASSERT_TRUE(swap.ok());
  Status status = (*swap)->allocate(size_t(1) << 52).takeStatus();
  EXPECT_EQ(status.code(), DRAGON_ERROR_NO_SPACE);
  EXPECT_THAT(status.message(), HasSubstr(folder.path()));
  EXPECT_THAT(status.message(), HasSubstr("need 4 PiB"));
  EXPECT_THAT(status.message(), HasSubstr("DRAGON_SWAP_DIR"));
}

/// To write beyond the limit would be a signal that ends the process.
TEST(SwapFileTest, TheLimitOfAFilesSizeIsNamed) {
  TemporaryFolder folder;
  Settings settings;
  settings.swapDirs = {folder.path()};
  auto swap = SwapFile::create(settings);
  ASSERT_TRUE(swap.ok());
  struct rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const struct rlimit less{1 << 20, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &less), 0);
  EXPECT_TRUE((*swap)->allocate(1 << 20).ok());
  Status status = (*swap)->allocate(1 << 20).takeStatus();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(status.code(), DRAGON_ERROR_NO_SPACE);
  EXPECT_THAT(status.message(), HasSubstr("files may have 1 MiB (ulimit -f)"));
}

} // namespace
