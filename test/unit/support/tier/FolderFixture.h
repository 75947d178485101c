//===- FolderFixture.h - settings, and files of a test ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What tests of all rooms above the back ends begin with: a small cpu device's
// settings, and a folder for files and swap that is gone with the test.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_UNIT_SUPPORT_TIER_FOLDERFIXTURE_H
#define DRAGON_TEST_UNIT_SUPPORT_TIER_FOLDERFIXTURE_H

#include "runtime/base/Settings.h"
#include "runtime/device/Device.h"
#include "runtime/tier/FileTier.h"
#include "test/unit/support/base/Expect.h"
#include "test/unit/support/base/TemporaryFiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace dragon::test {

class FolderFixture : public testing::Test {
protected:
  void SetUp() override {
    settings.backend = "cpu";
    settings.quiet = true;
    settings.strict = true;
    settings.poison = true;
    settings.cpuThreads = 2;
    settings.deviceMemory = 16 * MiB;
    settings.hostMemory = 16 * MiB;
    settings.chunkBytes = 2 * MiB;
    settings.swapDirs = {folder.path()};
  }

  /// Of the settings; null if there is none.
  std::unique_ptr<Device> makeDevice() {
    std::string notes;
    auto made = createDevice(settings, notes);
    EXPECT_TRUE(made.ok()) << made.takeStatus().message();
    return made.ok() ? std::move(*made) : nullptr;
  }
  static void *pointer(uintptr_t address) {
    return reinterpret_cast<void *>(address);
  }
  static std::vector<int32_t> numbers(size_t count, uint32_t seed) {
    std::vector<int32_t> result(count);
    for (size_t i = 0; i < count; ++i)
      result[i] = int32_t((uint32_t(i) + seed) * 2654435761u);
    return result;
  }
  std::string path(const char *name) const { return folder.file(name); }
  void writeFile(const char *name, const std::vector<int32_t> &data) {
    std::FILE *file = std::fopen(path(name).c_str(), "wb");
    ASSERT_TRUE(file);
    ASSERT_EQ(std::fwrite(data.data(), 4, data.size(), file), data.size());
    std::fclose(file);
  }
  std::vector<int32_t> readFile(const char *name) {
    std::vector<int32_t> data(std::filesystem::file_size(path(name)) / 4);
    std::FILE *file = std::fopen(path(name).c_str(), "rb");
    EXPECT_TRUE(file);
    EXPECT_EQ(std::fread(data.data(), 4, data.size(), file), data.size());
    std::fclose(file);
    return data;
  }
  std::shared_ptr<BackingFile> open(const char *name, bool writable = false) {
    auto file = BackingFile::open(path(name), writable, writable);
    EXPECT_TRUE(file.ok()) << file.takeStatus().message();
    return file.ok() ? *file : nullptr;
  }

  const TemporaryFolder folder;
  Settings settings;
};

} // namespace dragon::test

#endif // DRAGON_TEST_UNIT_SUPPORT_TIER_FOLDERFIXTURE_H
