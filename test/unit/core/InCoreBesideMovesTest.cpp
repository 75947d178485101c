//===- InCoreBesideMovesTest.cpp - launches while others wait for files ---===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread that moves contents stops at a gate in front of its files. Meanwhile
// the test asks for the part of the lock that launches in core take, and
// launches. What the mover works on is left alone.
//
//===----------------------------------------------------------------------===//

#include "runtime/core/RuntimeBuffers.h"
#include "runtime/device/ForwardingDevice.h"
#include "test/unit/support/core/ImplFixture.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

using namespace dragon;
using namespace dragon::test;

namespace {

/// Lets requests pass once it is open.
class Gate {
public:
  void close() {
    std::lock_guard guard(Lock);
    Open = false;
    Arrived = false;
  }
  void open() {
    std::lock_guard guard(Lock);
    Open = true;
    Changed.notify_all();
  }
  /// Returns when a request has come to the gate.
  void awaitArrival() {
    std::unique_lock guard(Lock);
    Changed.wait(guard, [this] { return Arrived; });
  }
  void pass() {
    std::unique_lock guard(Lock);
    Arrived = true;
    Changed.notify_all();
    Changed.wait(guard, [this] { return Open; });
  }

private:
  std::mutex Lock;
  std::condition_variable Changed;
  bool Open = true;
  bool Arrived = false;
};

class GatedFiles final : public FileTier {
public:
  GatedFiles(std::unique_ptr<FileTier> inner, Gate &gate)
      : Inner(std::move(inner)), TheGate(gate) {}
  Status run(std::span<FileRequest> requests) override {
    TheGate.pass();
    return Inner->run(requests);
  }
  void remember(void *memory, size_t bytes) override {
    Inner->remember(memory, bytes);
  }
  void forget(void *memory) override { Inner->forget(memory); }

private:
  std::unique_ptr<FileTier> Inner;
  Gate &TheGate;
};

class GatedSwap final : public SwapFile {
public:
  GatedSwap(std::unique_ptr<SwapFile> inner, Gate &gate)
      : Inner(std::move(inner)), TheGate(gate) {}
  StatusOr<Slot> allocate(size_t bytes) override {
    TheGate.pass();
    return Inner->allocate(bytes);
  }
  void release(const Slot &slot) override { Inner->release(slot); }
  uint64_t available() const override { return Inner->available(); }

private:
  std::unique_ptr<SwapFile> Inner;
  Gate &TheGate;
};

/// Copies that are waited for stop at the gate.
class GatedCopies final : public ForwardingDevice {
public:
  GatedCopies(std::unique_ptr<Device> inner, Gate &gate)
      : ForwardingDevice(std::move(inner)), TheGate(gate) {}
  bool Fails = false; ///< behind the gate

private:
  Status before(DeviceCall) override { return {}; }
  Status copyAndWaitImpl(void *to, const void *from, size_t bytes,
                         CopyKind kind, Queue queue) override {
    TheGate.pass();
    if (Fails)
      return Status::error(DRAGON_ERROR_DEVICE, "nothing is mapped there");
    return ForwardingDevice::copyAndWaitImpl(to, from, bytes, kind, queue);
  }

  Gate &TheGate;
};

class InCoreBesideMovesTest : public ImplFixture {
protected:
  static constexpr size_t Words = 2 * MiB / 4; ///< of a chunk
  static constexpr int N = 1024;

  void open(size_t chunks) {
    settings.poison = false;
    ASSERT_NO_FATAL_FAILURE(startImpl(chunks));
    StorageIo &store = impl->Store;
    store.Background.reset();
    store.Files = std::make_unique<GatedFiles>(std::move(store.Files), TheGate);
    store.Background = std::make_unique<BackgroundIo>(*store.Files, 2 * MiB);
  }
  std::unique_ptr<Device> inFrontOf(std::unique_ptr<Device> cpu) override {
    auto gated = std::make_unique<GatedCopies>(std::move(cpu), TheGate);
    Copies = gated.get();
    return gated;
  }
  /// One block.
  template <typename Run, typename... Args>
  auto launchWith(Run run, const char *kernel, Args... values) {
    void *args[] = {&values...};
    LaunchCall call{};
    call.kernel = kernels.find(kernel);
    call.grid[0] = call.grid[1] = call.grid[2] = 1;
    call.block[0] = 1024;
    call.block[1] = call.block[2] = 1;
    call.args = args;
    call.numArgs = sizeof...(values);
    return run(call);
  }
  /// iota: to[i] = seed * i, with `state` alone if it can.
  std::optional<Status> fillInCore(uintptr_t to, int seed) {
    return inCore("iota", to, N, seed);
  }
  Status fill(uintptr_t to, int seed) {
    return launchWith(
        [&](const LaunchCall &call) {
          Runtime::Impl::Guard guard(*impl);
          return impl->Launches.launch(call);
        },
        "iota", to, N, seed);
  }
  template <typename... Args>
  std::optional<Status> inCore(const char *kernel, Args... values) {
    return launchWith(
        [&](const LaunchCall &call) {
          Runtime::Impl::StateGuard guard(*impl);
          return impl->Launches.launchInCore(call);
        },
        kernel, values...);
  }
  /// Work of another thread that comes to the gate and waits there while
  /// `meanwhile` runs.
  void besides(const std::function<Status()> &mover,
               const std::function<void()> &meanwhile) {
    TheGate.close();
    std::thread other([&] {
      RuntimeImpl::Guard guard(*impl);
      EXPECT_OK(mover());
    });
    TheGate.awaitArrival();
    // Whoever waits gives `state` up before or behind its arrival at the gate.
    while (!impl->Ctx.lock.tryLockState())
      std::this_thread::yield();
    impl->Ctx.lock.unlockState();
    meanwhile();
    TheGate.open();
    other.join();
  }
  void expectFilled(uintptr_t from, int seed) {
    std::vector<int32_t> found(N, -1);
    RuntimeImpl::Guard guard(*impl);
    Buffer &buffer = *impl->Space.Allocations.find(from)->buffer;
    ASSERT_OK(impl->Moves.fromBuffer(buffer,
                                     reinterpret_cast<char *>(found.data()),
                                     from, N * 4, nullptr, {true, false}));
    ASSERT_OK(impl->Ctx.device->synchronizeAll());
    for (int i = 0; i < N; ++i)
      ASSERT_EQ(found[size_t(i)], scaled(i, seed)) << i;
  }

  Gate TheGate;
  GatedCopies *Copies = nullptr;
};

TEST_F(InCoreBesideMovesTest, WhileInputIsRead) {
  ASSERT_NO_FATAL_FAILURE(open(2));
  const std::vector<int32_t> data = numbers(2 * Words, 9);
  writeFile("in", data);
  ASSERT_OK(impl->Maps.mapRange(Whole->base, Whole->bytes,
                                RuntimeFixture::open("in"), 0));
  const uintptr_t own = buffer();
  ASSERT_OK(fill(own, 2)); // the first launch puts the contents on the device
  besides(
      [&] {
        return impl->Resident.bringIn(
            std::vector{useOfAll(*Chunks[0], LaunchNeed::Read),
                        useOfAll(*Chunks[1], LaunchNeed::Read)},
            nullptr, Cause::Demand);
      },
      [&] {
        const auto ran = fillInCore(own, 3);
        ASSERT_TRUE(ran.has_value());
        EXPECT_OK(ran->copy());
        // What is being brought in is not on the device yet.
        EXPECT_FALSE(fillInCore(Whole->base, 3).has_value());
      });
  expectFilled(own, 3);
  EXPECT_TRUE(Whole->allOnDevice());
}

TEST_F(InCoreBesideMovesTest, WhileResultsAreWritten) {
  ASSERT_NO_FATAL_FAILURE(open(1));
  const uintptr_t own = buffer();
  ASSERT_OK(fill(own, 2));
  ASSERT_OK(fill(Whole->base, 4));
  ASSERT_TRUE(fillInCore(Whole->base, 5).has_value());
  auto file = RuntimeFixture::open("out", true);
  size_t written = 0;
  besides(
      [&] { return impl->Out.write(Whole->base, Words * 4, file, 0, written); },
      [&] {
        const auto ran = fillInCore(own, 3);
        ASSERT_TRUE(ran.has_value());
        EXPECT_OK(ran->copy());
        EXPECT_FALSE(fillInCore(Whole->base, 6).has_value());
      });
  EXPECT_EQ(written, Words * 4);
  EXPECT_EQ(readFile("out")[7], scaled(7, 5));
  expectFilled(own, 3);
  const auto after = fillInCore(Whole->base, 6);
  ASSERT_TRUE(after.has_value());
  EXPECT_OK(after->copy());
  expectFilled(Whole->base, 6);
}

TEST_F(InCoreBesideMovesTest, WhileOthersLeaveForSwap) {
  settings.hostMemory = 16 * MiB;
  settings.deviceMemory = 16 * MiB;
  ASSERT_NO_FATAL_FAILURE(open(1));
  const uintptr_t own = buffer();
  ASSERT_OK(fill(own, 2));
  ASSERT_OK(fill(Whole->base, 4));
  ASSERT_TRUE(fillInCore(Whole->base, 5).has_value());
  // Host memory is full: contents go to swap by way of transit memory. The
  // chunk is still mapped while a place in swap is found.
  impl->Slabs.Pool.setBudget(impl->Ctx.limits.transitBytes);
  ASSERT_TRUE(impl->Store.swapFile().ok());
  impl->Store.Swap =
      std::make_unique<GatedSwap>(std::move(impl->Store.Swap), TheGate);
  impl->Time.Tracking = true;
  besides(
      [&] {
        Status status = impl->OnDevice.evict(Chunks, Cause::Eviction);
        Status finished = impl->Writes.finishAll();
        return status.ok() ? std::move(finished) : std::move(status);
      },
      [&] {
        ASSERT_TRUE(Chunks[0]->device.id);
        const auto ran = fillInCore(own, 3);
        ASSERT_TRUE(ran.has_value());
        EXPECT_OK(ran->copy());
        // Not even to read.
        EXPECT_FALSE(inCore("stencil", own, Whole->base, N).has_value());
      });
  EXPECT_TRUE(Chunks[0]->copies.storage);
  EXPECT_FALSE(Chunks[0]->device.id);
  expectFilled(own, 3);
  expectFilled(Whole->base, 5);
}

/// The copy of a result waits for its kernel, and keeps nobody out meanwhile.
TEST_F(InCoreBesideMovesTest, WhileAShortCopyIsWaitedFor) {
  ASSERT_NO_FATAL_FAILURE(open(1));
  const uintptr_t own = buffer(), other = buffer();
  ASSERT_OK(fill(own, 2));
  ASSERT_OK(fill(other, 2));
  RuntimeBuffers buffers(*impl);
  std::vector<int32_t> found(N, -1);
  TheGate.close();
  std::thread copier([&] {
    EXPECT_OK(buffers.copy(found.data(), pointer(own), N * 4, nullptr,
                           /*async=*/false));
  });
  TheGate.awaitArrival();
  ASSERT_TRUE(impl->Ctx.lock.try_lock());
  // It stays where it is so long.
  for (const EvictionCandidate &candidate : impl->OnDevice.candidates())
    EXPECT_NE(impl->OnDevice.Chunks[candidate.index]->va(), own);
  impl->Ctx.lock.unlock();
  const auto ran = fillInCore(other, 3);
  ASSERT_TRUE(ran.has_value());
  EXPECT_OK(ran->copy());
  TheGate.open();
  copier.join();
  EXPECT_EQ(found[7], scaled(7, 2));
  std::set<uintptr_t> mayLeave;
  for (const EvictionCandidate &candidate : impl->OnDevice.candidates())
    mayLeave.insert(impl->OnDevice.Chunks[candidate.index]->va());
  EXPECT_TRUE(mayLeave.count(own));
}

/// Its number says that it is another one.
TEST_F(InCoreBesideMovesTest, WhatIsCopiedIsFreedMeanwhile) {
  ASSERT_NO_FATAL_FAILURE(open(1));
  const uintptr_t own = buffer();
  ASSERT_OK(fill(own, 2));
  RuntimeBuffers buffers(*impl);
  int32_t found = -1;
  Copies->Fails = true;
  TheGate.close();
  std::thread copier([&] {
    EXPECT_EQ(
        buffers.copy(&found, pointer(own), 4, nullptr, /*async=*/false).code(),
        DRAGON_ERROR_DEVICE);
  });
  TheGate.awaitArrival();
  ASSERT_OK(buffers.free(own));
  const uintptr_t next = buffer();
  TheGate.open();
  copier.join();
  EXPECT_EQ(impl->Space.Allocations.find(next)->buffer->chunks[0].holds.calls,
            0u);
}

TEST_F(InCoreBesideMovesTest, TheEndKeepsAllOut) {
  ASSERT_NO_FATAL_FAILURE(open(2));
  ASSERT_OK(fill(Whole->base, 5));
  Whole->flags = D_WRITE;
  auto file = RuntimeFixture::open("out", true);
  ASSERT_OK(file->truncate(Whole->bytes));
  ASSERT_OK(impl->Announced.set(Whole->base, Whole->bytes, file, 0, true));
  TheGate.close();
  std::thread other([&] {
    RuntimeImpl::Guard guard(*impl);
    EXPECT_OK(impl->quiesce());
  });
  TheGate.awaitArrival();
  EXPECT_FALSE(impl->Ctx.lock.tryLockState());
  TheGate.open();
  other.join();
  EXPECT_EQ(readFile("out")[7], scaled(7, 5));
}

} // namespace
