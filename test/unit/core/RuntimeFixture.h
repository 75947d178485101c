//===- RuntimeFixture.h - a Runtime on the cpu device, and files -*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_UNIT_CORE_RUNTIMEFIXTURE_H
#define DRAGON_TEST_UNIT_CORE_RUNTIMEFIXTURE_H

#include "TestKernels.h"
#include "runtime/core/Runtime.h"
#include "runtime/tier/FileTier.h"
#include "runtime/trace/Log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace dragon::test {

constexpr uint64_t MiB = 1 << 20;

/// EXPECT_TRUE(status.ok()), with the message.
#define EXPECT_OK(expr)                                                        \
  do {                                                                         \
    ::dragon::Status expectStatus = (expr);                                    \
    EXPECT_TRUE(expectStatus.ok()) << expectStatus.message();                  \
  } while (false)
#define ASSERT_OK(expr)                                                        \
  do {                                                                         \
    ::dragon::Status expectStatus = (expr);                                    \
    ASSERT_TRUE(expectStatus.ok()) << expectStatus.message();                  \
  } while (false)

class RuntimeFixture : public testing::Test {
protected:
  void SetUp() override {
    std::string name =
        (std::filesystem::temp_directory_path() / "dragon-core-XXXXXX")
            .string();
    Folder = ::mkdtemp(name.data());
    settings.backend = "cpu";
    settings.quiet = true;
    settings.strict = true;
    settings.poison = true;
    settings.cpuThreads = 2;
    settings.deviceMemory = 16 * MiB;
    settings.hostMemory = 16 * MiB;
    settings.chunkBytes = 2 * MiB;
    settings.wavefront = Wavefront::Off; // launches run when they are made
    settings.swapDirs = {Folder};
    ASSERT_TRUE(kernels.Good) << kernels.Error;
  }
  void TearDown() override {
    runtime.reset();
    std::filesystem::remove_all(Folder);
  }

  void start() {
    std::string notes;
    auto device = createDevice(settings, notes);
    ASSERT_TRUE(device.ok()) << device.takeStatus().message();
    start(std::move(*device));
  }
  void start(std::unique_ptr<Device> device) {
    auto made = Runtime::create(settings, std::move(device));
    ASSERT_TRUE(made.ok()) << made.takeStatus().message();
    runtime = std::move(*made);
  }

  uintptr_t allocate(size_t bytes, unsigned flags = 0,
                     bool hostAccessible = false) {
    auto base =
        runtime->buffers().allocate(bytes, {flags, hostAccessible, nullptr});
    EXPECT_TRUE(base.ok()) << base.takeStatus().message();
    return base.ok() ? *base : 0;
  }
  static void *pointer(uintptr_t address) {
    return reinterpret_cast<void *>(address);
  }
  std::vector<int32_t> numbers(size_t count, uint32_t seed) {
    std::vector<int32_t> result(count);
    for (size_t i = 0; i < count; ++i)
      result[i] = int32_t((uint32_t(i) + seed) * 2654435761u);
    return result;
  }
  Status upload(uintptr_t to, const std::vector<int32_t> &data) {
    return runtime->buffers().copy(pointer(to), data.data(), data.size() * 4,
                                   nullptr, false);
  }
  std::vector<int32_t> download(uintptr_t from, size_t count) {
    std::vector<int32_t> result(count, -1);
    EXPECT_OK(runtime->buffers().copy(result.data(), pointer(from), count * 4,
                                      nullptr, false));
    return result;
  }
  std::string path(const char *name) const { return Folder + "/" + name; }
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
  uint64_t moved(Direction direction) {
    return runtime->ledger().bytes(direction);
  }

  std::string Folder;
  Settings settings;
  TestKernels kernels;
  std::unique_ptr<Runtime> runtime;
};

} // namespace dragon::test

#endif // DRAGON_TEST_UNIT_CORE_RUNTIMEFIXTURE_H
