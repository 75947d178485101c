//===- RingMemoryTest.cpp - memory that rings have registered -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tier/RingMemory.h"
#include "runtime/base/Ledger.h"
#include "runtime/tier/Transfer.h"
#include "test/unit/support/base/Expect.h"
#include "test/unit/support/base/TemporaryFiles.h"
#include "test/unit/support/tier/PinnedBytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using namespace dragon;
using namespace dragon::test;

namespace {

/// Counts, and refuses what it is told to.
class Kernel final : public IoFaults {
public:
  std::atomic<int> refusal{0}; ///< an errno
  std::atomic<unsigned> asked{0};
  std::atomic<int> refusedRing{0};
  std::atomic<unsigned> opened{0};
  std::atomic<unsigned> plain{0}, registered{0}; ///< segments
  std::atomic<unsigned> plainWrites{0};          ///< of `plain`
  std::atomic<bool> shortens{false};
  std::function<void()> during; ///< once, while a batch is under way

  long filter(const TransferPart &segment, long result) override {
    if (auto now = std::exchange(during, nullptr))
      now();
    const unsigned number = ++(segment.registered ? registered : plain);
    plainWrites += !segment.registered && segment.write;
    if (shortens && result > 8192)
      return number % 2 ? 4096 : 5000; // aligned to nothing: by the cache
    return result;
  }
  int registering() override {
    ++asked;
    return -refusal;
  }
  int opening() override {
    ++opened;
    return -refusedRing;
  }
  void restart() { asked = plain = registered = plainWrites = 0; }
};

/// Pages at an address of their own.
class Pages {
public:
  explicit Pages(size_t bytes, void *at = nullptr)
      : bytes(bytes),
        data(static_cast<char *>(
            ::mmap(at, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0),
                   -1, 0))) {
    EXPECT_NE(data, MAP_FAILED);
  }
  ~Pages() { ::munmap(data, bytes); }
  Pages(const Pages &) = delete;
  const size_t bytes;
  char *const data;
};

class RingMemoryTest : public testing::Test {
protected:
  void SetUp() override {
    auto made = createIoRing(nullptr);
    if (!made.ok())
      GTEST_SKIP() << made.takeStatus().message();
    auto opened = BackingFile::open(folder.file("f"), true, true);
    ASSERT_TRUE(opened.ok()) << opened.takeStatus().message();
    file = std::move(*opened);
    start();
    // Whether this kernel lets this user.
    Pages probe(MiB);
    tier->remember(probe.data, MiB);
    use(probe.data, MiB);
    write(probe.data, MiB, 0);
    can = kernel.registered != 0;
    tier->forget(probe.data);
    start();
    kernel.restart();
  }
  void start() {
    auto made = createFileTier(settings, ledger, &kernel);
    ASSERT_TRUE(made.ok()) << made.takeStatus().message();
    tier = std::move(*made);
  }
  void write(const char *memory, size_t bytes, int64_t offset) {
    Status status = tier->write(*file, memory, bytes, offset);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  void read(char *memory, size_t bytes, int64_t offset) {
    Status status = tier->read(*file, memory, bytes, offset);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  /// As much as it takes to be registered with the next request.
  void use(char *memory, size_t bytes) { write(memory, bytes, 0); }
  /// Random bytes, in the file as well.
  std::vector<char> fill(size_t bytes, unsigned seed) {
    std::vector<char> data(bytes);
    std::mt19937 random(seed);
    std::generate(data.begin(), data.end(), [&] { return char(random()); });
    EXPECT_EQ(::pwrite(file->fd(), data.data(), bytes, 0), ssize_t(bytes));
    return data;
  }
  std::vector<char> contents(size_t bytes) {
    std::vector<char> data(bytes);
    EXPECT_EQ(::pread(file->fd(), data.data(), bytes, 0), ssize_t(bytes));
    return data;
  }

  TemporaryFolder folder;
  std::shared_ptr<BackingFile> file;
  Settings settings;
  Ledger ledger;
  Kernel kernel;
  std::unique_ptr<FileTier> tier;
  bool can = false;
};

#define NEEDS_REGISTERING                                                      \
  if (!can)                                                                    \
  GTEST_SKIP() << "no memory can be registered (ulimit -l, or the kernel)"

TEST_F(RingMemoryTest, RegisteredAndPlainRequestsGiveTheSameBytes) {
  constexpr size_t Bytes = 3 * MiB;
  Pages memory(Bytes);
  for (DirectIo direct : {DirectIo::Auto, DirectIo::Off})
    for (bool shortens : {false, true})
      for (bool known : {false, true}) {
        settings.directIo = direct;
        start();
        kernel.shortens = shortens;
        if (known) {
          tier->remember(memory.data, Bytes);
          use(memory.data, Bytes);
        }
        kernel.restart();
        for (auto [skew, offset, bytes] : {std::tuple(size_t(0), 0, Bytes),
                                           {0, 4096, 2 * MiB},
                                           {100, 100, MiB},
                                           {7, 0, 100000},
                                           {4095, 8191, 2000000}}) {
          std::vector<char> data = fill(Bytes, unsigned(bytes + known));
          std::memset(memory.data, 1, Bytes);
          read(memory.data + skew, bytes, offset);
          EXPECT_EQ(std::memcmp(memory.data + skew, data.data() + offset,
                                std::min(bytes, Bytes - size_t(offset))),
                    0);
          std::memset(memory.data + skew, 'w', bytes);
          write(memory.data + skew, bytes, offset);
          std::fill_n(data.begin() + offset, bytes, 'w');
          EXPECT_TRUE(contents(Bytes) == data);
        }
        EXPECT_EQ(kernel.registered != 0, known && can);
        // Threads copy what is read from the page cache.
        EXPECT_EQ(kernel.plainWrites == 0, known && can);
        if (known)
          tier->forget(memory.data);
      }
}

TEST_F(RingMemoryTest, MemoryIsRegisteredWhenItsSizeHasGoneThere) {
  NEEDS_REGISTERING;
  constexpr size_t Part = 64 << 10, Parts = 8;
  std::vector<char> data = fill(Part * Parts, 1);
  Pages memory(Part * Parts);
  tier->remember(memory.data, memory.bytes);
  for (unsigned i = 0; i < 3 * Parts; ++i) {
    const size_t at = i % Parts * Part;
    read(memory.data + at, Part, int64_t(at));
    EXPECT_EQ(kernel.plain, std::min(size_t(i + 1), Parts)) << i;
    EXPECT_EQ(kernel.asked, i >= Parts ? 1u : 0u);
  }
  EXPECT_EQ(std::memcmp(memory.data, data.data(), memory.bytes), 0);
  tier->forget(memory.data);
}

TEST_F(RingMemoryTest, WhatIsOnlyPartlyKnownIsPlain) {
  fill(MiB, 1);
  Pages memory(MiB);
  tier->remember(memory.data + 4096, MiB / 2);
  use(memory.data + 4096, MiB / 2);
  read(memory.data, MiB, 0);
  read(memory.data + MiB / 2 + 4096, 4096, 0); // where it ends
  read(memory.data, 4096, 0);                  // where it begins
  EXPECT_EQ(kernel.asked, 0u);
  EXPECT_EQ(kernel.registered, 0u);
  tier->forget(memory.data + 4096);
  tier->forget(memory.data); // nothing known
}

TEST_F(RingMemoryTest, WhereTheKernelRefusesRequestsArePlain) {
  struct {
    int code;
    bool forAll; ///< it would not register other memory either
  } const refusals[] = {{ENOMEM, true},
                        {EPERM, true},
                        {EINVAL, true},
                        {EFAULT, false},
                        {EOPNOTSUPP, false}};
  for (auto [code, forAll] : refusals) {
    start();
    kernel.restart();
    Pages one(MiB), other(MiB);
    tier->remember(one.data, MiB);
    tier->remember(other.data, MiB);
    const std::vector<char> data = fill(MiB, unsigned(code));
    read(one.data, MiB, 0);
    read(other.data, MiB, 0);
    kernel.refusal = code;
    for (int i = 0; i < 3; ++i) {
      std::memset(one.data, 0, MiB);
      read(one.data, MiB, 0);
      EXPECT_EQ(std::memcmp(one.data, data.data(), MiB), 0);
    }
    EXPECT_EQ(kernel.asked, 1u);
    EXPECT_EQ(kernel.registered, 0u);
    kernel.refusal = 0;
    read(other.data, MiB, 0);
    EXPECT_EQ(std::memcmp(other.data, data.data(), MiB), 0);
    EXPECT_EQ(kernel.asked, forAll ? 1u : 2u);
    EXPECT_EQ(kernel.registered != 0, can && !forAll);
    tier->forget(one.data);
    tier->forget(other.data);
  }
}

// As a driver's memory is: it can be read and written, but not pinned.
TEST_F(RingMemoryTest, MemoryThatCannotBePinnedForLongWorks) {
  const std::vector<char> data = fill(MiB, 5);
  const int other =
      ::open(folder.file("other").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::ftruncate(other, off_t(MiB)), 0);
  void *mapped =
      ::mmap(nullptr, MiB, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  ::close(other);
  tier->remember(mapped, MiB);
  for (int i = 0; i < 3; ++i) {
    std::memset(mapped, 0, MiB);
    read(static_cast<char *>(mapped), MiB, 0);
    EXPECT_EQ(std::memcmp(mapped, data.data(), MiB), 0);
  }
  EXPECT_EQ(kernel.asked, 1u);
  tier->forget(mapped);
  ::munmap(mapped, MiB);
}

// Pages that are pinned outlive their address: what is there later must not be
// taken for them.
TEST_F(RingMemoryTest, OtherMemoryAtTheSameAddress) {
  NEEDS_REGISTERING;
  char *address;
  {
    Pages old(MiB);
    address = old.data;
    fill(MiB, 1);
    tier->remember(old.data, MiB);
    use(old.data, MiB);
    read(old.data, MiB, 0);
    EXPECT_NE(kernel.registered, 0u);
    tier->forget(old.data);
  }
  for (unsigned seed = 2; seed < 6; ++seed) {
    Pages now(MiB, address);
    ASSERT_EQ(now.data, address);
    kernel.restart();
    if (seed % 2)
      tier->remember(now.data, MiB);
    use(now.data, MiB);
    const std::vector<char> data = fill(MiB, seed);
    read(now.data, MiB, 0);
    EXPECT_EQ(std::memcmp(now.data, data.data(), MiB), 0);
    EXPECT_EQ(kernel.registered != 0, seed % 2 != 0);
    std::memset(now.data, int(seed), MiB);
    write(now.data, MiB, 0);
    EXPECT_EQ(contents(MiB), std::vector<char>(MiB, char(seed)));
    tier->forget(now.data);
  }
}

TEST_F(RingMemoryTest, ForgottenMemoryIsPinnedByNoRing) {
  NEEDS_REGISTERING;
  fill(MiB, 1);
  const uint64_t before = pinnedBytes();
  Pages memory(MiB);
  tier->remember(memory.data, MiB);
  // Two rings: one batch runs while another is under way.
  for (int i = 0; i < 2; ++i) {
    kernel.during = [&] { read(memory.data, MiB, 0); };
    read(memory.data, MiB, 0);
  }
  EXPECT_EQ(pinnedBytes(), before + 2 * MiB);
  tier->forget(memory.data);
  EXPECT_EQ(pinnedBytes(before), before);
  // Nor when its tier is gone.
  tier->remember(memory.data, MiB);
  use(memory.data, MiB);
  read(memory.data, MiB, 0);
  EXPECT_GT(pinnedBytes(), before);
  tier.reset();
  EXPECT_EQ(pinnedBytes(before), before);
}

// Rings are locked memory as registered memory is.
TEST_F(RingMemoryTest, WithoutRoomForAnotherRingBatchesShareOne) {
  const std::vector<char> data = fill(MiB, 1);
  Pages one(MiB), other(MiB);
  kernel.refusedRing = ENOMEM;
  std::thread thread;
  kernel.during = [&] {
    thread = std::thread([&] { read(other.data, MiB, 0); });
    while (!kernel.opened)
      std::this_thread::yield();
  };
  read(one.data, MiB, 0);
  thread.join();
  EXPECT_EQ(std::memcmp(one.data, data.data(), MiB), 0);
  EXPECT_EQ(std::memcmp(other.data, data.data(), MiB), 0);
}

TEST_F(RingMemoryTest, MoreMemoryThanSlots) {
  const std::vector<char> data = fill(4096, 1);
  constexpr size_t Count = KnownMemory::NumSlots + 10;
  Pages memory(Count * 4096);
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < Count; ++i)
      tier->remember(memory.data + i * 4096, 4096);
    for (size_t i : {size_t(0), size_t(KnownMemory::NumSlots), Count - 1}) {
      kernel.restart();
      read(memory.data + i * 4096, 4096, 0);
      read(memory.data + i * 4096, 4096, 0);
      EXPECT_EQ(std::memcmp(memory.data + i * 4096, data.data(), 4096), 0);
      EXPECT_EQ(kernel.registered != 0, can && i == 0);
    }
    for (size_t i = 0; i < Count; ++i)
      tier->forget(memory.data + i * 4096);
  }
}

TEST_F(RingMemoryTest, MemoryComesAndGoesOnSeveralThreads) {
  constexpr size_t Bytes = 256 << 10;
  constexpr unsigned Threads = 4, Rounds = 40;
  const std::vector<char> data = fill(Threads * Bytes, 1);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < Threads; ++t)
    threads.emplace_back([&, t] {
      const auto offset = int64_t(t * Bytes);
      for (unsigned round = 0; round < Rounds; ++round) {
        Pages memory(Bytes);
        tier->remember(memory.data, Bytes);
        for (int i = 0; i < 3; ++i) {
          std::memset(memory.data, 0, Bytes);
          read(memory.data, Bytes, offset);
          EXPECT_EQ(std::memcmp(memory.data, data.data() + offset, Bytes), 0);
          write(memory.data, Bytes, offset);
        }
        tier->forget(memory.data);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_TRUE(contents(data.size()) == data);
  if (can)
    EXPECT_GE(kernel.registered, Threads * Rounds);
}

} // namespace
