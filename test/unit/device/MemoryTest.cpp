//===- MemoryTest.cpp - the cpu device's physical memory ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/device/CpuKernels.h"

#include <cstring>
#include <sys/stat.h>

using namespace dragon;

namespace {

uint64_t bytesInMemory(const MemoryFile &file) {
  struct stat info;
  EXPECT_EQ(fstat(file.fd(), &info), 0);
  return static_cast<uint64_t>(info.st_blocks) * 512;
}

std::unique_ptr<MemoryFile> make(const char *name, uint64_t limit) {
  auto file = MemoryFile::create(name, limit);
  EXPECT_TRUE(file.ok());
  return std::move(*file);
}

TEST(MemoryFile, FreedMemoryGoesBack) {
  auto file = make("test", 64 * MiB);
  uint64_t a = *file->allocate(8 * MiB), b = *file->allocate(2 * MiB);
  EXPECT_EQ(bytesInMemory(*file), 10 * MiB);
  file->free(a, 8 * MiB);
  EXPECT_EQ(bytesInMemory(*file), 2 * MiB);
  EXPECT_EQ(*file->allocate(2 * MiB), a);
  file->free(b, 2 * MiB);
  EXPECT_EQ(bytesInMemory(*file), 2 * MiB);
  EXPECT_EQ(file->used(), 2 * MiB);
}

TEST(MemoryFile, LimitCountsWhatIsInUse) {
  auto file = make("test", 8 * MiB);
  uint64_t a = *file->allocate(6 * MiB);
  auto refused = file->allocate(4 * MiB);
  ASSERT_FALSE(refused.ok());
  Status why = refused.takeStatus();
  EXPECT_EQ(why.code(), DRAGON_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(why.message(), "no 4194304 bytes left of 8388608 bytes of test "
                           "memory (6291456 in use)");
  file->free(a, 6 * MiB);
  uint64_t c = *file->allocate(8 * MiB);
  EXPECT_EQ(bytesInMemory(*file), 8 * MiB);
  file->free(c, 8 * MiB);
}

TEST(MemoryFile, FragmentsAreJoined) {
  auto file = make("test", 1024 * MiB);
  std::vector<uint64_t> offsets;
  for (int i = 0; i < 8; ++i)
    offsets.push_back(*file->allocate(2 * MiB));
  for (int i : {1, 3, 2, 0, 5, 7, 6, 4})
    file->free(offsets[i], 2 * MiB);
  EXPECT_EQ(*file->allocate(16 * MiB), 0u);
}

TEST(CpuDevice, MemoryIsTheBudget) {
  Settings settings = smallSettings();
  settings.deviceMemory = 5 * MiB; // rounded up to chunks
  auto device = makeCpu(settings);
  EXPECT_EQ(device->caps().totalMemory, 6 * MiB);
  Physical a = *device->create(Place::Device, 4 * MiB);
  EXPECT_EQ(device->memory()->free, 2 * MiB);
  EXPECT_EQ(device->create(Place::Device, 4 * MiB).takeStatus().code(),
            DRAGON_ERROR_OUT_OF_MEMORY);
  EXPECT_TRUE(device->destroy(a).ok());
  EXPECT_EQ(device->memory()->free, 6 * MiB);
}

TEST(CpuDevice, LargeCopiesAreWhole) {
  auto device = makeCpu(smallSettings());
  MappedChunk a(*device, Place::Device, 16 * MiB);
  MappedChunk b(*device, Place::Device, 16 * MiB);
  for (size_t i = 0; i < 4 * MiB; ++i)
    a.as<uint32_t>()[i] = static_cast<uint32_t>(i * 2654435761u);
  ASSERT_TRUE(device
                  ->copy(b.as<char>() + 3, a.as<char>() + 1, 16 * MiB - 5,
                         CopyKind::DeviceToDevice, nullptr)
                  .ok());
  EXPECT_EQ(std::memcmp(b.as<char>() + 3, a.as<char>() + 1, 16 * MiB - 5), 0);
  // Overlapping, as a program may do within one buffer.
  std::vector<char> expect(a.as<char>(), a.as<char>() + 8 * MiB);
  ASSERT_TRUE(device
                  ->copy(a.as<char>() + 100, a.as<char>(), 8 * MiB,
                         CopyKind::DeviceToDevice, nullptr)
                  .ok());
  EXPECT_EQ(std::memcmp(a.as<char>() + 100, expect.data(), 8 * MiB), 0);
}

} // namespace
