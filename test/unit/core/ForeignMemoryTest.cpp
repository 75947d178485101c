//===- ForeignMemoryTest.cpp - copies to device memory that is not ours ---===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device variable, or memory that a library has from the driver, is at the
// other end of a copy. The host cannot touch it, wherever our contents are: on
// the device, in host memory, in a file or in swap. Here such memory is pages
// without access that the device has at another address, too.
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/core/RuntimeFixture.h"
#include "test/unit/support/device/LateDevice.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace dragon;
using namespace dragon::test;

namespace {

constexpr int ChunkWords = 1 << 19; ///< words of a chunk
constexpr size_t ForeignBytes = 16 * MiB;

class DeviceWithForeignMemory final : public ForwardingDevice {
public:
  explicit DeviceWithForeignMemory(std::unique_ptr<Device> inner)
      : ForwardingDevice(std::move(inner)),
        Pages(::memfd_create("foreign", MFD_CLOEXEC)) {
    EXPECT_EQ(::ftruncate(Pages, ForeignBytes), 0);
    Outside = map(PROT_NONE);
    Inside = map(PROT_READ | PROT_WRITE);
  }
  ~DeviceWithForeignMemory() override {
    ::munmap(Outside, ForeignBytes);
    ::munmap(Inside, ForeignBytes);
    ::close(Pages);
  }
  char *foreign() const { return Outside; }
  /// The same memory as the device sees it.
  char *contents() const { return Inside; }

private:
  char *map(int access) {
    void *at = ::mmap(nullptr, ForeignBytes, access, MAP_SHARED, Pages, 0);
    EXPECT_NE(at, MAP_FAILED);
    return static_cast<char *>(at);
  }
  char *seen(const void *address) const {
    const char *at = static_cast<const char *>(address);
    return at >= Outside && at < Outside + ForeignBytes
               ? Inside + (at - Outside)
               : const_cast<char *>(at);
  }
  Status before(DeviceCall) override { return {}; }
  bool hostReachesImpl(const void *address) override {
    return seen(address) == address;
  }
  Status copyImpl(void *to, const void *from, size_t bytes, CopyKind kind,
                  Queue queue) override {
    return inner().copy(seen(to), seen(from), bytes, kind, queue);
  }

  const int Pages;
  char *Outside = nullptr, *Inside = nullptr;
};

class ForeignMemoryTest : public RuntimeFixture {
protected:
  void SetUp() override {
    RuntimeFixture::SetUp();
    settings.poison = false;
    settings.strict = false;
    settings.deviceMemory = 4 * MiB;
    settings.hostMemory = 6 * MiB;
    std::string notes;
    auto device = createDevice(settings, notes);
    ASSERT_TRUE(device.ok()) << device.takeStatus().message();
    auto foreign =
        std::make_unique<DeviceWithForeignMemory>(std::move(*device));
    Memory = foreign->foreign();
    Contents = foreign->contents();
    start(std::make_unique<LateDevice>(std::move(foreign)));
  }

  void putForeign(const std::vector<int32_t> &words) {
    std::memcpy(Contents, words.data(), words.size() * 4);
  }
  std::vector<int32_t> foreignWords(size_t count) {
    EXPECT_OK(runtime->device().synchronizeAll());
    std::vector<int32_t> words(count);
    std::memcpy(words.data(), Contents, count * 4);
    return words;
  }
  Status copyIn(uintptr_t to, size_t bytes, bool known) {
    // Of large copies the caller knows that the memory is not pageable.
    return runtime->buffers().copy(pointer(to), Memory, bytes, nullptr, true,
                                   /*pageable=*/!known, /*mayBePinned=*/true);
  }
  Status copyOut(uintptr_t from, size_t bytes, bool known) {
    return runtime->buffers().copy(Memory, pointer(from), bytes, nullptr, true,
                                   /*pageable=*/!known, /*mayBePinned=*/true);
  }

  char *Memory = nullptr;   ///< the address that the program has
  char *Contents = nullptr; ///< what is there
};

/// Six chunks, of which two fit on the device and some are in host memory and
/// swap, whichever way they came.
TEST_F(ForeignMemoryTest, ToBuffersOfWhichMostIsNotOnTheDevice) {
  for (bool known : {false, true}) {
    const uintptr_t buffer = allocate(6 * ChunkWords * 4);
    ASSERT_OK(upload(buffer, numbers(6 * ChunkWords, 1)));
    const std::vector<int32_t> words = numbers(5 * ChunkWords, 11 + known);
    putForeign(words);
    ASSERT_OK(copyIn(buffer + 4 * 100, 5 * ChunkWords * 4, known));
    EXPECT_TRUE(download(buffer + 4 * 100, 5 * ChunkWords) == words);
    EXPECT_TRUE(download(buffer, 100) == numbers(100, 1));
    ASSERT_OK(runtime->buffers().free(buffer));
  }
}

TEST_F(ForeignMemoryTest, FromBuffersOfWhichMostIsNotOnTheDevice) {
  for (bool known : {false, true}) {
    const uintptr_t buffer = allocate(6 * ChunkWords * 4);
    const std::vector<int32_t> words = numbers(6 * ChunkWords, 21 + known);
    ASSERT_OK(upload(buffer, words));
    ASSERT_OK(copyOut(buffer + 4 * 100, 5 * ChunkWords * 4, known));
    EXPECT_TRUE(foreignWords(5 * ChunkWords) ==
                std::vector<int32_t>(words.begin() + 100,
                                     words.begin() + 100 + 5 * ChunkWords));
    ASSERT_OK(runtime->buffers().free(buffer));
  }
}

TEST_F(ForeignMemoryTest, FromAMappedFileThatNobodyHasRead) {
  const std::vector<int32_t> words = numbers(3 * ChunkWords, 31);
  writeFile("input", words);
  const uintptr_t buffer = allocate(3 * ChunkWords * 4, D_READ);
  ASSERT_OK(runtime->files().mapFileRange(buffer, 3 * ChunkWords * 4,
                                          open("input"), 0));
  ASSERT_OK(copyOut(buffer, 3 * ChunkWords * 4, true));
  EXPECT_TRUE(foreignWords(3 * ChunkWords) == words);
}

/// What kernels write after the copy was queued is not copied, nor is what they
/// wrote lost.
TEST_F(ForeignMemoryTest, InTheOrderOfTheQueue) {
  const uintptr_t a = allocate(ChunkWords * 4), b = allocate(ChunkWords * 4),
                  c = allocate(ChunkWords * 4);
  for (uintptr_t buffer : {a, b, c})
    ASSERT_OK(upload(buffer, numbers(ChunkWords, 41)));
  for (uintptr_t buffer : {c, b, a, c}) { // one of them is on the host
    ASSERT_OK(kernels.launch(*runtime, "scale", ChunkWords, pointer(buffer),
                             ChunkWords, 1));
    std::vector<int32_t> words = download(buffer, ChunkWords);
    ASSERT_OK(copyOut(buffer, ChunkWords * 4, true));
    ASSERT_OK(kernels.launch(*runtime, "scale", ChunkWords, pointer(buffer),
                             ChunkWords, 1));
    EXPECT_TRUE(foreignWords(ChunkWords) == words);
    ASSERT_OK(copyIn(buffer, ChunkWords * 4, true));
    EXPECT_TRUE(download(buffer, ChunkWords) == words);
  }
}

} // namespace
