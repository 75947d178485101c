//===- SavedFileTest.cpp - inputs that somebody may change ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Ledger.h"
#include "runtime/tier/FileTier.h"
#include "test/unit/support/base/TemporaryFiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dragon;
using namespace dragon::test;
using testing::HasSubstr;

namespace {

class SavedFileTest : public testing::Test {
protected:
  void SetUp() override {
    data.randomise(5);
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT, 0666);
    ASSERT_EQ(::write(fd, data.data, data.bytes), ssize_t(data.bytes));
    ::close(fd);
    auto opened = BackingFile::open(path, false, false);
    ASSERT_TRUE(opened.ok());
    file = *opened;
    auto made = FileTier::create(Settings(), ledger);
    ASSERT_TRUE(made.ok());
    tier = std::move(*made);
  }
  void expectContents(int64_t offset, size_t bytes) {
    Memory back(bytes);
    Status status = tier->read(*file, back.data, bytes, offset);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(std::memcmp(back.data, data.data + offset, bytes), 0) << offset;
    EXPECT_TRUE(file->checkUnchanged().ok());
  }

  TemporaryFolder folder;
  std::string path = folder.file("input");
  Memory data{(3 << 20) + 777};
  std::shared_ptr<BackingFile> file;
  Ledger ledger;
  std::unique_ptr<FileTier> tier;
};

TEST_F(SavedFileTest, RangesStayWhatTheyAreWhateverBecomesOfTheFile) {
  const auto end = int64_t(data.bytes);
  // In any order, neighbours and overlaps among them.
  Status status =
      file->save({{2 << 20, end}, {4096, 10000}, {9000, 70001}, {70001, 70002}},
                 {folder.path()});
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(::truncate(path.c_str(), 100), 0);
  expectContents(4096, 70002 - 4096);
  expectContents(2 << 20, data.bytes - (2 << 20));
  // Between them is a hole.
  struct stat info;
  ASSERT_EQ(::fstat(file->fd(), &info), 0);
  EXPECT_EQ(size_t(info.st_size), data.bytes);
  EXPECT_LT(size_t(info.st_blocks) * 512, data.bytes);
  // Once is enough.
  EXPECT_TRUE(file->save({{0, end}}, {"/no/such/place"}).ok());
}

TEST_F(SavedFileTest, WhatHasChangedAlreadyIsAnError) {
  ASSERT_EQ(::truncate(path.c_str(), 100), 0);
  EXPECT_EQ(file->save({{0, 50}}, {folder.path()}).code(),
            DRAGON_ERROR_FILE_CHANGED);
}

TEST_F(SavedFileTest, WithoutAPlaceTheFileIsLeftAsItIs) {
  const auto end = int64_t(data.bytes);
  Status status = file->save({{0, end}}, {folder.path() + "/nowhere"});
  EXPECT_EQ(status.code(), DRAGON_ERROR_FILE);
  EXPECT_THAT(status.message(), HasSubstr("nowhere"));
  expectContents(0, data.bytes);
  // A second directory serves where the first one does not.
  status = file->save({{0, end}}, {folder.path() + "/nowhere", folder.path()});
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(::truncate(path.c_str(), 0), 0);
  expectContents(0, data.bytes);
}

TEST_F(SavedFileTest, WhoOwnsAFileMayChangeIt) {
  ASSERT_EQ(::chmod(path.c_str(), 0444), 0);
  EXPECT_TRUE(file->mayBeChanged());
}

} // namespace
