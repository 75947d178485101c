//===- ProtectionTest.cpp - who may touch what, and what happens else -----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Strict mode, guarded chunks, and faults of the host: with the counts that
// concurrent launches need.
//
//===----------------------------------------------------------------------===//

#include "test/unit/device/CpuKernels.h"

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <sys/mman.h>

using namespace dragon;

namespace {

Settings strictSettings() {
  Settings settings = smallSettings();
  settings.strict = true;
  return settings;
}

/// Death tests fork, and worker threads of a device do not survive that: they
/// make their own device.
using ProtectionDeathTest = testing::Test;

TEST(Protection, StrictLaunchMayTouchWhatItAnnounced) {
  auto device = makeCpu(strictSettings());
  MappedChunk a(*device, Place::Device, 2 * MiB);
  MappedChunk b(*device, Place::Host, 4 * MiB);
  AddressRange touched[] = {a.range(), {b.base + 3 * MiB, b.base + 4 * MiB}};
  Status status = launchBody(
      *device, "k", false, Shape{{4, 1, 1}, {1, 1, 1}},
      [&](dragon_cpu_context *ctx) {
        a.as<int>()[ctx->ctaid[0]] = 1;
        b.as<int>()[ctx->ctaid[0]] = 2; // chunk granular
      },
      touched);
  EXPECT_TRUE(status.ok()) << status.message();
  // Afterwards everything is open to the host again.
  EXPECT_EQ(a.as<int>()[3] + b.as<int>()[3], 3);
}

TEST(Protection, StrictLaunchThatMayTouchAnything) {
  auto device = makeCpu(strictSettings());
  MappedChunk a(*device, Place::Device, 2 * MiB);
  Status status = launchBody(
      *device, "k", false, Shape{},
      [&](dragon_cpu_context *) { a.as<int>()[0] = 5; }, {}, true);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(a.as<int>()[0], 5);
}

TEST(ProtectionDeathTest, StrictLaunchOutsideOfItsFootprint) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        auto device = makeCpu(strictSettings());
        MappedChunk a(*device, Place::Device, 2 * MiB);
        MappedChunk b(*device, Place::Device, 2 * MiB);
        AddressRange touched[] = {a.range()};
        launchBody(
            *device, "greedy", true, Shape{{2, 1, 1}, {4, 1, 1}},
            [&](dragon_cpu_context *ctx) {
              if (ctx->ctaid[0] == 1 && ctx->tid[0] == 2)
                b.as<int>()[4] = a.as<int>()[4];
            },
            touched)
            .ignore();
      },
      testing::ExitedWithCode(FootprintViolationStatus),
      "dragon: error: kernel 'greedy' writes address 0x[0-9a-f]+, block "
      "\\(1,0,0\\), thread \\(2,0,0\\): in buffer \\[0x[0-9a-f]+, "
      "0x[0-9a-f]+\\), outside of the announced footprint");
}

TEST(ProtectionDeathTest, ChunkThatIsNotMapped) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        auto device = makeCpu(smallSettings()); // also when not strict
        uintptr_t va = *device->reserve(2 * MiB);
        launchBody(*device, "early", false, Shape{}, [&](dragon_cpu_context *) {
          int x = *reinterpret_cast<volatile int *>(va);
          (void)x;
        }).ignore();
      },
      testing::ExitedWithCode(FootprintViolationStatus),
      "kernel 'early' reads address 0x[0-9a-f]+, .*outside of the announced "
      "footprint");
}

TEST(Protection, ConcurrentStrictLaunchesSeeTheirOwnChunks) {
  auto device = makeCpu(strictSettings());
  std::vector<std::unique_ptr<MappedChunk>> chunks;
  for (int i = 0; i < 3; ++i)
    chunks.push_back(
        std::make_unique<MappedChunk>(*device, Place::Device, 2 * MiB));
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      auto queue = device->createQueue(1, 0);
      ThreadBody body = [&, t](dragon_cpu_context *) {
        ++chunks[t]->as<int>()[0];
        ++chunks[2]->as<std::atomic<int>>()[8]; // shared by all
      };
      dragon_cpu_kernel kernel{"own", runInLoop, 0, 0};
      KernelHandle handle{{"own", &kernel, {}, {}}};
      void *args[1] = {&body};
      AddressRange touched[] = {chunks[t]->range(), chunks[2]->range()};
      LaunchRequest request{};
      request.kernel = &handle;
      request.kernelName = "own";
      request.args = args;
      request.numArgs = 1;
      request.queue = *queue;
      request.touched = touched;
      for (unsigned axis = 0; axis < 3; ++axis)
        request.grid[axis] = request.block[axis] = request.box.Hi[axis] = 1;
      for (int i = 0; i < 50; ++i)
        EXPECT_TRUE(device->launch(request).ok());
      EXPECT_TRUE(device->destroyQueue(*queue).ok());
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(chunks[0]->as<int>()[0], 50);
  EXPECT_EQ(chunks[1]->as<int>()[0], 50);
  EXPECT_EQ(chunks[2]->as<int>()[8], 150);
}

TEST(Protection, HostWaitsForAStrictLaunchThatClosedAChunk) {
  auto device = makeCpu(strictSettings());
  MappedChunk a(*device, Place::Device, 2 * MiB);
  MappedChunk b(*device, Place::Host, 2 * MiB);
  std::atomic<bool> running{false}, ended{false};
  std::thread launcher([&] {
    AddressRange touched[] = {a.range()};
    EXPECT_TRUE(launchBody(
                    *device, "slow", false, Shape{},
                    [&](dragon_cpu_context *) {
                      running = true;
                      usleep(20000);
                      ended = true;
                    },
                    touched)
                    .ok());
  });
  while (!running)
    std::this_thread::yield();
  b.as<volatile int>()[0] = 1;
  EXPECT_TRUE(ended);
  launcher.join();
}

struct Recorder {
  Device *device;
  uintptr_t va = 0;
  Physical physical;
  // Changed in the middle of an access: read anew each time.
  std::atomic<int> faults{0};
  std::atomic<bool> write{false};
  std::atomic<uintptr_t> address{0};
  Recorder(Device *device, uintptr_t va, Physical physical)
      : device(device), va(va), physical(physical) {}
  static bool map(void *self, uintptr_t address, bool write) {
    auto &r = *static_cast<Recorder *>(self);
    ++r.faults;
    r.write = write;
    r.address = address;
    return r.device->map(r.va, r.physical).ok();
  }
  static bool unguard(void *self, uintptr_t address, bool write) {
    auto &r = *static_cast<Recorder *>(self);
    ++r.faults;
    r.write = write;
    r.address = address;
    return r.device->guardHostAccess(r.va, r.physical.bytes, false).ok();
  }
};

TEST(Protection, HostAccessToAnEmptyChunkAsksTheHandler) {
  auto device = makeCpu(smallSettings());
  Recorder recorder{device.get(), *device->reserve(2 * MiB),
                    *device->create(Place::Host, 2 * MiB)};
  std::memset(recorder.physical.hostView, 7, 2 * MiB);
  ASSERT_TRUE(device->setFaultHandler(Recorder::map, &recorder).ok());
  auto *bytes = reinterpret_cast<volatile unsigned char *>(recorder.va);
  EXPECT_EQ(bytes[99], 7);
  EXPECT_EQ(recorder.faults, 1);
  EXPECT_FALSE(recorder.write);
  EXPECT_EQ(recorder.address, recorder.va + 99);
  ASSERT_TRUE(device->unmap(recorder.va, recorder.physical).ok());
  bytes[100] = 8;
  EXPECT_EQ(recorder.faults, 2);
  EXPECT_TRUE(recorder.write);
  EXPECT_EQ(static_cast<unsigned char *>(recorder.physical.hostView)[100], 8);
  EXPECT_TRUE(device->unmap(recorder.va, recorder.physical).ok());
  EXPECT_TRUE(device->destroy(recorder.physical).ok());
  EXPECT_TRUE(device->release(recorder.va, 2 * MiB).ok());
}

TEST(Protection, ThreadWithASmallSignalStackCanFault) {
  auto device = makeCpu(smallSettings());
  Recorder recorder{device.get(), *device->reserve(2 * MiB),
                    *device->create(Place::Host, 2 * MiB)};
  // A handler that would not fit on the thread's alternate stack.
  struct Deep {
    static bool handle(void *self, uintptr_t address, bool write) {
      volatile char frame[100 << 10];
      frame[0] = 1;
      frame[sizeof(frame) - 1] = 1;
      return Recorder::map(self, address, write) && frame[0];
    }
  };
  ASSERT_TRUE(device->setFaultHandler(Deep::handle, &recorder).ok());
  std::thread([&] {
    std::vector<char> memory(32 << 10);
    stack_t small{}, before{};
    small.ss_sp = memory.data();
    small.ss_size = memory.size();
    ASSERT_EQ(sigaltstack(&small, &before), 0);
    EXPECT_EQ(*reinterpret_cast<volatile int *>(recorder.va), 0);
    ASSERT_EQ(sigaltstack(&before, nullptr), 0);
  }).join();
  EXPECT_EQ(recorder.faults, 1);
  EXPECT_TRUE(device->unmap(recorder.va, recorder.physical).ok());
  EXPECT_TRUE(device->destroy(recorder.physical).ok());
  EXPECT_TRUE(device->release(recorder.va, 2 * MiB).ok());
}

TEST(Protection, GuardedDeviceChunkFaultsForTheHostNotForKernels) {
  auto device = makeCpu(smallSettings());
  MappedChunk chunk(*device, Place::Device, 2 * MiB);
  Recorder recorder{device.get(), chunk.base, chunk.physical};
  ASSERT_TRUE(device->setFaultHandler(Recorder::unguard, &recorder).ok());
  ASSERT_TRUE(device->guardHostAccess(chunk.base, 2 * MiB, true).ok());
  AddressRange touched[] = {chunk.range()};
  Status status = launchBody(
      *device, "k", false, Shape{},
      [&](dragon_cpu_context *) { chunk.as<int>()[0] = 41; }, touched);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(recorder.faults, 0);
  // Copies go around the guard.
  int one = 42;
  ASSERT_TRUE(
      device
          ->copy(chunk.as<int>() + 1, &one, 4, CopyKind::HostToDevice, nullptr)
          .ok());
  EXPECT_EQ(recorder.faults, 0);
  EXPECT_EQ(chunk.as<volatile int>()[0], 41);
  EXPECT_EQ(recorder.faults, 1);
  EXPECT_EQ(chunk.as<volatile int>()[1], 42);
  EXPECT_EQ(recorder.faults, 1);
}

TEST(Protection, KernelsMayTouchGuardedChunksUnannounced) {
  auto device = makeCpu(smallSettings());
  MappedChunk used(*device, Place::Device, 2 * MiB);
  MappedChunk other(*device, Place::Device, 2 * MiB);
  Recorder recorder{device.get(), other.base, other.physical};
  ASSERT_TRUE(device->setFaultHandler(Recorder::unguard, &recorder).ok());
  for (MappedChunk *chunk : {&used, &other})
    ASSERT_TRUE(device->guardHostAccess(chunk->base, 2 * MiB, true).ok());
  Status status =
      launchBody(*device, "k", true, Shape{{8, 1, 1}, {32, 1, 1}},
                 [&](dragon_cpu_context *ctx) {
                   used.as<int>()[ctx->ctaid[0] * 32 + ctx->tid[0]] = 1;
                 });
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(recorder.faults, 0);
  // A chunk that the kernel left alone stays closed for the host meanwhile.
  status = launchBody(*device, "k", false, Shape{}, [&](dragon_cpu_context *) {
    used.as<volatile int>()[0] = 2;
    std::thread([&] { other.as<volatile int>()[0] = 3; }).join();
  });
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(recorder.faults, 1);
}

TEST(Protection, GuardOutlivesTheChunkAndSparesHostChunks) {
  auto device = makeCpu(smallSettings());
  uintptr_t va = *device->reserve(4 * MiB);
  ASSERT_TRUE(device->guardHostAccess(va, 4 * MiB, true).ok());
  Physical host = *device->create(Place::Host, 2 * MiB);
  Physical card = *device->create(Place::Device, 2 * MiB);
  Recorder recorder{device.get(), va, card};
  ASSERT_TRUE(device->setFaultHandler(Recorder::unguard, &recorder).ok());
  ASSERT_TRUE(device->map(va, host).ok());
  *reinterpret_cast<volatile int *>(va) = 1;
  EXPECT_EQ(recorder.faults, 0);
  ASSERT_TRUE(device->unmap(va, host).ok());
  ASSERT_TRUE(device->map(va, card).ok());
  *reinterpret_cast<volatile int *>(va) = 1;
  EXPECT_EQ(recorder.faults, 1);
  ASSERT_TRUE(device->unmap(va, card).ok());
  EXPECT_TRUE(device->destroy(host).ok());
  EXPECT_TRUE(device->destroy(card).ok());
  EXPECT_TRUE(device->release(va, 4 * MiB).ok());
}

sigjmp_buf foreignJump;
volatile int foreignFaults = 0;
void onForeignFault(int) {
  foreignFaults = foreignFaults + 1;
  siglongjmp(foreignJump, 1);
}

TEST(ProtectionDeathTest, ForeignFaultsGoToThePreviousHandler) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        struct sigaction action{};
        action.sa_handler = onForeignFault;
        sigaction(SIGSEGV, &action, nullptr);
        auto device = makeCpu(smallSettings());
        void *foreign =
            mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (sigsetjmp(foreignJump, 1) == 0)
          *static_cast<volatile int *>(foreign) = 1;
        _exit(foreignFaults == 1 ? 33 : 34);
      },
      testing::ExitedWithCode(33), "");
}

TEST(ProtectionDeathTest, ForeignFaultsStillKillTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        signal(SIGSEGV, SIG_DFL);
        auto device = makeCpu(smallSettings());
        void *foreign =
            mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        *static_cast<volatile int *>(foreign) = 1;
      },
      testing::KilledBySignal(SIGSEGV), "");
}

TEST(ProtectionDeathTest, UnhandledFaultInABufferKillsTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        signal(SIGSEGV, SIG_DFL);
        auto device = makeCpu(smallSettings());
        uintptr_t va = *device->reserve(2 * MiB);
        *reinterpret_cast<volatile int *>(va) = 1;
      },
      testing::KilledBySignal(SIGSEGV), "");
}

} // namespace
