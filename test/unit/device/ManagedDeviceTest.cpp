//===- ManagedDeviceTest.cpp - what a driver is told of managed memory ----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/managed/ManagedDevice.h"
#include "runtime/base/Settings.h"
#include "runtime/device/vmm/VmmDevice.h"
#include "test/unit/support/base/Expect.h"
#include "test/unit/support/device/FakeCuda.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace dragon;
using namespace dragon::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

namespace {

const std::set<std::string> Moves = {"cuMemDiscardBatchAsync",
                                     "cuMemPrefetchBatchAsync",
                                     "cuMemDiscardAndPrefetchBatchAsync",
                                     "cuMemPrefetchAsync",
                                     "cuMemAdvise",
                                     "cuMemcpyAsync",
                                     "cuLaunchKernel",
                                     "cuEventRecord",
                                     "cuStreamWaitEvent",
                                     "cuStreamSynchronize"};

class ManagedDeviceTest : public testing::Test {
protected:
  ManagedDeviceTest() { settings.quiet = true; }

  StatusOr<std::unique_ptr<Device>> make() {
    return ManagedDevice::createOn(fake.driver(), settings);
  }
  /// A launch of one block with one thread.
  LaunchRequest oneThread(KernelHandle &kernel) const {
    LaunchRequest request{};
    request.kernel = &kernel;
    for (unsigned axis = 0; axis < 3; ++axis)
      request.grid[axis] = request.block[axis] = request.box.Hi[axis] = 1;
    request.queue = queue;
    return request;
  }
  /// The device, a range of `chunks` chunks and two queues; what that took is
  /// forgotten.
  void start(unsigned chunks = 8) {
    auto made = make();
    ASSERT_TRUE(made.ok()) << made.takeStatus().message();
    device = std::move(*made);
    // In the order in which the device makes its own.
    ASSERT_EQ(
        fake.take({"cuStreamCreateWithPriority", "cuEventCreate"}),
        (std::vector<std::string>{"cuStreamCreateWithPriority(s1, 1)",
                                  "cuEventCreate(e2)", "cuEventCreate(e3)"}));
    auto reserved = device->reserve(chunks * 2 * MiB);
    ASSERT_TRUE(reserved.ok()) << reserved.takeStatus().message();
    base = *reserved;
    fake.managed.begin()->second.number = 0; // the probe was the first
    queue = *device->createQueue(1, 0);
    other = *device->createQueue(1, 0);
    fake.calls.clear();
  }
  Physical chunk() { return *device->create(Place::Device, 2 * MiB); }
  uintptr_t at(unsigned index) const { return base + index * 2 * MiB; }
  AddressRange range(unsigned first, unsigned end) const {
    return {at(first), at(end)};
  }
  Status copyTo(unsigned index, Queue in) {
    return device->copy(reinterpret_cast<void *>(at(index)), word, sizeof word,
                        CopyKind::HostToDevice, in);
  }
  std::vector<std::string> moves() { return fake.take(Moves); }

  FakeCuda fake;
  Settings settings;
  std::unique_ptr<Device> device;
  uintptr_t base = 0;
  Queue queue = nullptr, other = nullptr;
  uint32_t word[1] = {7};
};

TEST_F(ManagedDeviceTest, SaysWhatItIs) {
  start();
  const DeviceCaps &caps = device->caps();
  EXPECT_STREQ(caps.name, "managed");
  EXPECT_TRUE(caps.migrates);
  EXPECT_FALSE(caps.hostMapped);
  EXPECT_EQ(caps.granularity, 2 * MiB);
  EXPECT_EQ(caps.freeMemory, fake.freeBytes);
}

TEST_F(ManagedDeviceTest, TriesDiscardOnMemoryOfItsOwn) {
  auto made = make();
  ASSERT_TRUE(made.ok());
  EXPECT_THAT(
      fake.take({"cuMemAllocManaged", "cuMemDiscardBatchAsync",
                 "cuMemDiscardAndPrefetchBatchAsync", "cuStreamSynchronize",
                 "cuMemFree"}),
      ElementsAre("cuMemAllocManaged(2M, 1)",
                  "cuMemDiscardBatchAsync(m0 2M, s1)",
                  "cuMemDiscardAndPrefetchBatchAsync(m0 2M, device 0, s1)",
                  "cuStreamSynchronize(s1)", "cuMemFree(m0)"));
}

TEST_F(ManagedDeviceTest, MapsAreOneBatchInFrontOfTheWork) {
  start();
  Physical a = chunk(), b = chunk(), c = chunk();
  EXPECT_OK(device->map(at(1), b));
  EXPECT_OK(device->map(at(0), a));
  EXPECT_OK(device->map(at(4), c));
  EXPECT_THAT(moves(), IsEmpty());
  EXPECT_OK(copyTo(0, queue));
  EXPECT_THAT(
      moves(),
      ElementsAre(
          "cuMemDiscardAndPrefetchBatchAsync(m0 4M, m0+8M 2M, device 0, s1)",
          "cuEventRecord(e2, s1)", "cuStreamWaitEvent(s4, e2)",
          "cuMemcpyAsync(m0, other, 4, s4)"));
  // The queue has waited; another one has not.
  EXPECT_OK(copyTo(1, queue));
  EXPECT_THAT(moves(), ElementsAre("cuMemcpyAsync(m0+2M, other, 4, s4)"));
  EXPECT_OK(copyTo(4, other));
  EXPECT_THAT(moves(), ElementsAre("cuStreamWaitEvent(s5, e2)",
                                   "cuMemcpyAsync(m0+8M, other, 4, s5)"));
}

TEST_F(ManagedDeviceTest, TheLegacyStreamWaitsAndGetsNoBatch) {
  start();
  EXPECT_OK(device->map(at(0), chunk()));
  EXPECT_OK(copyTo(0, nullptr));
  EXPECT_THAT(
      moves(),
      ElementsAre("cuMemDiscardAndPrefetchBatchAsync(m0 2M, device 0, s1)",
                  "cuEventRecord(e2, s1)", "cuStreamWaitEvent(null, e2)",
                  "cuMemcpyAsync(m0, other, 4, null)"));
}

TEST_F(ManagedDeviceTest, UnmapsAreDiscardedInABatchBefore) {
  start();
  Physical a = chunk(), b = chunk(), c = chunk(), d = chunk();
  for (auto &[index, physical] :
       {std::pair<unsigned, Physical &>{0, a}, {1, b}, {2, c}})
    EXPECT_OK(device->map(at(index), physical));
  EXPECT_OK(copyTo(0, queue));
  moves();
  EXPECT_OK(device->unmap(at(0), a));
  EXPECT_OK(device->unmap(at(1), b));
  EXPECT_OK(device->map(at(3), d));
  EXPECT_OK(copyTo(3, queue));
  EXPECT_THAT(
      moves(),
      ElementsAre("cuMemDiscardBatchAsync(m0 4M, s1)",
                  "cuMemDiscardAndPrefetchBatchAsync(m0+6M 2M, device 0, s1)",
                  "cuEventRecord(e2, s1)", "cuStreamWaitEvent(s4, e2)",
                  "cuMemcpyAsync(m0+6M, other, 4, s4)"));
}

TEST_F(ManagedDeviceTest, OnlyWhatCountsInTheEndIsTold) {
  start();
  Physical a = chunk(), b = chunk();
  EXPECT_OK(device->map(at(0), a));
  EXPECT_OK(copyTo(0, queue));
  moves();
  EXPECT_OK(device->unmap(at(0), a)); // and mapped again
  EXPECT_OK(device->map(at(0), b));
  EXPECT_OK(device->map(at(1), a)); // and unmapped again
  EXPECT_OK(device->unmap(at(1), a));
  EXPECT_OK(copyTo(0, queue));
  EXPECT_THAT(
      moves(),
      ElementsAre("cuMemDiscardBatchAsync(m0+2M 2M, s1)",
                  "cuMemDiscardAndPrefetchBatchAsync(m0 2M, device 0, s1)",
                  "cuEventRecord(e2, s1)", "cuStreamWaitEvent(s4, e2)",
                  "cuMemcpyAsync(m0, other, 4, s4)"));
}

TEST_F(ManagedDeviceTest, LaunchesAndFillsWaitAsCopiesDo) {
  start();
  EXPECT_OK(device->map(at(0), chunk()));
  FakeKernel kernel;
  KernelHandle handle{{"k", nullptr, {&kernel}, {}}};
  LaunchRequest request = oneThread(handle);
  EXPECT_OK(device->launch(request));
  EXPECT_THAT(
      moves(),
      ElementsAre("cuMemDiscardAndPrefetchBatchAsync(m0 2M, device 0, s1)",
                  "cuEventRecord(e2, s1)", "cuStreamWaitEvent(s4, e2)",
                  "cuLaunchKernel(1x1x1, s4)"));
  EXPECT_OK(device->fill(reinterpret_cast<void *>(base), 1, 4, 4, other));
  EXPECT_THAT(moves(), ElementsAre("cuStreamWaitEvent(s5, e2)"));
}

/// A part of a grid comes behind the part in front of it.
TEST_F(ManagedDeviceTest, AWholeGridMayBeginEarly) {
  start();
  FakeKernel whole, slice;
  KernelHandle handle{{"k", nullptr, {&whole}, {nullptr, &slice}}};
  LaunchRequest request = oneThread(handle);
  EXPECT_OK(device->launch(request));
  EXPECT_EQ(fake.take({"cuLaunchKernelEx"}).size(), 0u);
  request.programmatic = true;
  EXPECT_OK(device->launch(request));
  EXPECT_THAT(fake.take({"cuLaunchKernelEx"}),
              ElementsAre(fmt::format(
                  "cuLaunchKernelEx({}, 1)",
                  int(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION))));
  request.grid[0] = 2;
  EXPECT_OK(device->launch(request));
  EXPECT_EQ(fake.take({"cuLaunchKernelEx"}).size(), 0u);
}

TEST_F(ManagedDeviceTest, SlicesAreLoadedWhenTheyRun) {
  start();
  FakeKernel whole, slice;
  KernelHandle handle{{"k", nullptr, {&whole}, {nullptr, &slice}}};
  LaunchRequest request = oneThread(handle);
  EXPECT_OK(device->launch(request));
  EXPECT_EQ(fake.take({"cuKernelGetFunction"}).size(), 0u);
  unsigned blocks = 0;
  slice.run = [&](const unsigned grid[3], void **args) {
    blocks = grid[0];
    EXPECT_EQ(*static_cast<uint32_t *>(args[0]), 0u); // the first block
    EXPECT_EQ(*static_cast<uint32_t *>(args[3]), 2u); // of so many
  };
  request.grid[0] = 2;
  fake.failing["cuKernelGetFunction"] = CUDA_ERROR_OUT_OF_MEMORY;
  EXPECT_THAT(device->launch(request).message(),
              testing::HasSubstr("launch of 'k'"));
  EXPECT_EQ(blocks, 0u);
  fake.failing.clear();
  fake.take({"cuKernelGetFunction"});
  for (int i = 0; i < 2; ++i) {
    EXPECT_OK(device->launch(request));
    EXPECT_EQ(blocks, 1u);
  }
  EXPECT_EQ(fake.take({"cuKernelGetFunction"}).size(), 1u);
}

TEST_F(ManagedDeviceTest, LibrariesFindTheirMapsComplete) {
  start();
  EXPECT_OK(device->map(at(0), chunk()));
  EXPECT_OK(device->completeMaps());
  EXPECT_THAT(
      moves(),
      ElementsAre("cuMemDiscardAndPrefetchBatchAsync(m0 2M, device 0, s1)",
                  "cuEventRecord(e2, s1)", "cuStreamSynchronize(s1)"));
}

TEST_F(ManagedDeviceTest, RangesEndWhereAnotherAllocationDoes) {
  start(1);
  auto second = device->reserve(2 * MiB);
  ASSERT_TRUE(second.ok());
  EXPECT_OK(device->map(at(0), chunk()));
  EXPECT_OK(device->map(*second, chunk()));
  EXPECT_OK(copyTo(0, queue));
  // One batch of two ranges, be they neighbours or not.
  EXPECT_EQ(fake.take({"cuMemDiscardAndPrefetchBatchAsync"}).size(), 1u);
  EXPECT_EQ(fake.calls.size(), 0u);
}

// -- Drivers without discard -------------------------------------------------

TEST_F(ManagedDeviceTest, WithoutDiscardItPrefetchesByLocation) {
  fake.version = 12020;
  settings.quiet = false;
  testing::internal::CaptureStderr();
  auto made = make();
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "dragon: managed memory without discard, so that the driver may "
            "move what nobody needs: discard needs a driver for CUDA 13.0 or "
            "later (580.65.06) (DRAGON_QUIET=1 hides this)\n");
  ASSERT_TRUE(made.ok());
  made = Status::error(DRAGON_ERROR_DEVICE, "gone");
  settings.quiet = true;
  fake.numManaged = 0;
  fake.next = 1;
  fake.calls.clear();
  start();
  Physical a = chunk(), b = chunk();
  EXPECT_OK(device->map(at(0), a));
  EXPECT_OK(device->map(at(2), b));
  EXPECT_OK(copyTo(0, queue));
  EXPECT_THAT(moves(),
              ElementsAre("cuMemPrefetchAsync(m0 2M, device 0, s1)",
                          "cuMemPrefetchAsync(m0+4M 2M, device 0, s1)",
                          "cuEventRecord(e2, s1)", "cuStreamWaitEvent(s4, e2)",
                          "cuMemcpyAsync(m0, other, 4, s4)"));
  // Nothing is said of what is dead.
  EXPECT_OK(device->unmap(at(0), a));
  const AddressRange dead = range(4, 5);
  EXPECT_OK(device->discard({&dead, 1}, queue));
  EXPECT_OK(copyTo(2, queue));
  EXPECT_THAT(fake.take({"cuMemDiscardBatchAsync", "cuMemPrefetchAsync"}),
              IsEmpty());
}

TEST_F(ManagedDeviceTest, OnCuda11ItPrefetchesAndAdvisesByDevice) {
  fake.version = 11040;
  fake.hasGetProcAddressV2 = false;
  start();
  EXPECT_OK(device->map(at(0), chunk()));
  EXPECT_OK(copyTo(0, queue));
  const AddressRange all = range(0, 8);
  EXPECT_OK(device->prefetch({&all, 1}, Place::Host, false, queue));
  EXPECT_OK(device->advise(all, Advice::AccessedByDevice));
  EXPECT_OK(device->advise(all, Advice::PreferHost));
  EXPECT_THAT(fake.take({"cuMemPrefetchAsync", "cuMemAdvise"}),
              ElementsAre("cuMemPrefetchAsync(m0 2M, device 0, s1)",
                          "cuMemPrefetchAsync(m0 16M, host, s4)",
                          "cuMemAdvise(m0 16M, 5, device 0)",
                          "cuMemAdvise(m0 16M, 3, host)"));
}

TEST_F(ManagedDeviceTest, ADiscardThatFailsWhenTriedIsNotUsed) {
  fake.failing["cuMemDiscardBatchAsync"] = CUDA_ERROR_NOT_SUPPORTED;
  start();
  EXPECT_OK(device->map(at(0), chunk()));
  EXPECT_OK(copyTo(0, queue));
  EXPECT_THAT(moves(),
              ElementsAre("cuMemPrefetchBatchAsync(m0 2M, device 0, s1)",
                          "cuEventRecord(e2, s1)", "cuStreamWaitEvent(s4, e2)",
                          "cuMemcpyAsync(m0, other, 4, s4)"));
}

TEST_F(ManagedDeviceTest, AnotherGpuThatDoesNotPageForbidsBatches) {
  fake.others.emplace_back();
  start();
  EXPECT_OK(device->map(at(0), chunk()));
  EXPECT_OK(copyTo(0, queue));
  EXPECT_THAT(fake.take({"cuMemPrefetchAsync", "cuMemPrefetchBatchAsync",
                         "cuMemDiscardAndPrefetchBatchAsync"}),
              ElementsAre("cuMemPrefetchAsync(m0 2M, device 0, s1)"));
}

TEST_F(ManagedDeviceTest, HintsThatFailLaterAreGivenUpAndTheWorkGoesOn) {
  start();
  fake.failing["cuMemDiscardAndPrefetchBatchAsync"] = CUDA_ERROR_INVALID_VALUE;
  EXPECT_OK(device->map(at(0), chunk()));
  EXPECT_OK(copyTo(0, queue));
  EXPECT_THAT(
      moves(),
      ElementsAre("cuMemDiscardAndPrefetchBatchAsync(m0 2M, device 0, s1)",
                  "cuMemPrefetchBatchAsync(m0 2M, device 0, s1)",
                  "cuEventRecord(e2, s1)", "cuStreamWaitEvent(s4, e2)",
                  "cuMemcpyAsync(m0, other, 4, s4)"));
  fake.failing["cuMemPrefetchBatchAsync"] = CUDA_ERROR_INVALID_VALUE;
  EXPECT_OK(device->map(at(1), chunk()));
  EXPECT_OK(copyTo(1, queue));
  moves();
  EXPECT_OK(device->map(at(2), chunk()));
  EXPECT_OK(copyTo(2, queue));
  EXPECT_THAT(moves(),
              ElementsAre("cuEventRecord(e2, s1)", "cuStreamWaitEvent(s4, e2)",
                          "cuMemcpyAsync(m0+4M, other, 4, s4)"));
}

// -- Hints of the program ----------------------------------------------------

TEST_F(ManagedDeviceTest, HintsRunInTheirQueue) {
  start();
  const AddressRange ranges[] = {range(0, 2), range(4, 5)};
  EXPECT_OK(device->discard(ranges, queue));
  EXPECT_OK(device->prefetch(ranges, Place::Device, /*dead=*/false, queue));
  EXPECT_OK(device->prefetch(ranges, Place::Host, /*dead=*/false, queue));
  EXPECT_OK(device->prefetch(ranges, Place::Device, /*dead=*/true, queue));
  EXPECT_THAT(moves(),
              ElementsAre("cuMemDiscardBatchAsync(m0 4M, m0+8M 2M, s4)",
                          "cuMemPrefetchBatchAsync(m0 4M, m0+8M 2M, device 0, "
                          "s4)",
                          "cuMemPrefetchBatchAsync(m0 4M, m0+8M 2M, host, s4)",
                          "cuMemDiscardAndPrefetchBatchAsync(m0 4M, m0+8M 2M, "
                          "device 0, s4)"));
}

TEST_F(ManagedDeviceTest, HintsInTheLegacyStreamGoThroughAnotherInOrder) {
  start();
  const AddressRange dead = range(0, 1);
  for (Queue legacy : {Queue(nullptr), static_cast<Queue>(CU_STREAM_LEGACY)}) {
    EXPECT_OK(device->discard({&dead, 1}, legacy));
    const std::string name = legacy ? "stream 1" : "null";
    EXPECT_THAT(moves(), ElementsAre("cuEventRecord(e3, " + name + ")",
                                     "cuStreamWaitEvent(s1, e3)",
                                     "cuMemDiscardBatchAsync(m0 2M, s1)",
                                     "cuEventRecord(e3, s1)",
                                     "cuStreamWaitEvent(" + name + ", e3)"));
  }
}

TEST_F(ManagedDeviceTest, OfADiscardOnlyWholePagesGo) {
  start();
  const AddressRange odd{base + 100, base + 3 * 4096 + 5};
  EXPECT_OK(device->discard({&odd, 1}, queue));
  EXPECT_THAT(moves(), ElementsAre("cuMemDiscardBatchAsync(m0+4096 8192, s4)"));
  const AddressRange little{base + 100, base + 200};
  EXPECT_OK(device->discard({&little, 1}, queue));
  EXPECT_THAT(moves(), IsEmpty());
}

TEST_F(ManagedDeviceTest, AdviceIsCudas) {
  start();
  const AddressRange one = range(0, 1);
  for (Advice advice :
       {Advice::ReadMostly, Advice::NotReadMostly, Advice::PreferDevice,
        Advice::PreferHost, Advice::PreferNone, Advice::AccessedByDevice,
        Advice::NotAccessedByDevice, Advice::AccessedByHost,
        Advice::NotAccessedByHost})
    EXPECT_OK(device->advise(one, advice));
  EXPECT_THAT(
      moves(),
      ElementsAre(
          "cuMemAdvise(m0 2M, 1, device 0)", "cuMemAdvise(m0 2M, 2, device 0)",
          "cuMemAdvise(m0 2M, 3, device 0)", "cuMemAdvise(m0 2M, 3, host)",
          "cuMemAdvise(m0 2M, 4, device 0)", "cuMemAdvise(m0 2M, 5, device 0)",
          "cuMemAdvise(m0 2M, 6, device 0)", "cuMemAdvise(m0 2M, 5, host)",
          "cuMemAdvise(m0 2M, 6, host)"));
}

TEST_F(ManagedDeviceTest, HintsOfOtherMemoryAreRefused) {
  start(1);
  const AddressRange beyond = range(0, 2);
  const std::string text =
      fmt::format(": [{:#x}, {:#x}) is not reserved", beyond.begin, beyond.end);
  EXPECT_EQ(device->discard({&beyond, 1}, queue).message(), "discard" + text);
  EXPECT_EQ(
      device->prefetch({&beyond, 1}, Place::Device, false, queue).message(),
      "prefetch" + text);
  EXPECT_EQ(device->advise(beyond, Advice::PreferHost).message(),
            "advise" + text);
  const AddressRange none{base, base};
  EXPECT_THAT(device->discard({&none, 1}, queue).message(),
              HasSubstr("is empty"));
  const AddressRange one = range(0, 1);
  EXPECT_EQ(device->prefetch({&one, 1}, Place::Pinned, false, queue).message(),
            "prefetch: to the pinned, not to device or host");
  EXPECT_THAT(moves(), IsEmpty());
}

// -- Memory ------------------------------------------------------------------

TEST_F(ManagedDeviceTest, NoMoreThanTheCardHasFree) {
  fake.freeBytes = 64 * MiB;
  start(16); // 32 MiB
  EXPECT_OK(device->reserve(32 * MiB).takeStatus());
  Status status = device->reserve(2 * MiB).takeStatus();
  EXPECT_EQ(status.code(), DRAGON_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(status.message(),
            "managed memory: 2 MiB more than the 64 MiB that there are "
            "already; at most 64 MiB; free some, or set "
            "DRAGON_MANAGED_OVERSUBSCRIBE=1 and let the driver move what does "
            "not fit, at the risk of a hang of the GPU");
  // What is released can be had again.
  EXPECT_OK(device->release(base, 32 * MiB));
  EXPECT_OK(device->reserve(32 * MiB).takeStatus());
}

TEST_F(ManagedDeviceTest, OthersMayHaveTakenSome) {
  start(1);
  fake.freeBytes = 6 * MiB;
  EXPECT_OK(device->reserve(6 * MiB).takeStatus());
  EXPECT_THAT(device->reserve(8 * MiB).takeStatus().message(),
              HasSubstr("the card has 6 MiB free"));
}

TEST_F(ManagedDeviceTest, MoreAtTheUsersRisk) {
  fake.freeBytes = 16 * MiB;
  settings.managedOversubscribe = true;
  start(64);
  EXPECT_EQ(fake.managedBytes, 128 * MiB);
}

TEST_F(ManagedDeviceTest, NoMoreThanTheSettingSays) {
  settings.managedMemory = 16 * MiB;
  settings.managedOversubscribe = true;
  start(8);
  EXPECT_THAT(device->reserve(2 * MiB).takeStatus().message(),
              HasSubstr("at most 16 MiB; raise DRAGON_MANAGED_MEMORY"));
}

TEST_F(ManagedDeviceTest, MemoryThatIsNotAlignedIsAskedForWithMore) {
  fake.managedAlignment = 4096;
  auto made = make();
  ASSERT_TRUE(made.ok());
  fake.take();
  auto reserved = (*made)->reserve(4 * MiB);
  ASSERT_TRUE(reserved.ok());
  EXPECT_EQ(*reserved % (2 * MiB), 0u);
  EXPECT_THAT(fake.take({"cuMemAllocManaged", "cuMemFree"}),
              ElementsAre("cuMemAllocManaged(4M, 1)", "cuMemFree(m1)",
                          "cuMemAllocManaged(6M, 1)"));
  EXPECT_OK((*made)->release(*reserved, 4 * MiB));
  EXPECT_THAT(fake.take({"cuMemFree"}), ElementsAre("cuMemFree(m2)"));
  EXPECT_EQ(fake.managedBytes, 0u);
}

TEST_F(ManagedDeviceTest, ReleaseForgetsWhatWasToBeTold) {
  start(2);
  Physical a = chunk();
  EXPECT_OK(device->map(at(0), a));
  EXPECT_FALSE(device->release(base, 4 * MiB).ok()); // still mapped
  EXPECT_OK(device->unmap(at(0), a));
  EXPECT_OK(device->release(base, 4 * MiB));
  char from[4], to[4];
  EXPECT_OK(device->copy(to, from, 4, CopyKind::HostToHost, queue));
  EXPECT_THAT(fake.take({"cuMemDiscardBatchAsync",
                         "cuMemDiscardAndPrefetchBatchAsync"}),
              IsEmpty());
}

TEST_F(ManagedDeviceTest, MapsAreChecked) {
  start(2);
  Physical a = chunk(), b = chunk();
  EXPECT_OK(device->map(at(0), a));
  EXPECT_THAT(device->map(at(0), b).message(), HasSubstr("or taken"));
  EXPECT_THAT(device->map(at(2), b).message(), HasSubstr("not reserved"));
  EXPECT_THAT(device->unmap(at(1), b).message(), HasSubstr("is not mapped at"));
  Physical wrong = b;
  wrong.id += 100;
  EXPECT_THAT(device->map(at(1), wrong).message(),
              HasSubstr("there is no chunk"));
  EXPECT_OK(device->unmap(at(0), a));
  EXPECT_OK(device->destroy(a));
  EXPECT_THAT(device->destroy(a).message(), HasSubstr("there is no chunk"));
  EXPECT_THAT(
      device->map(at(1), Physical{1, Place::Host, 2 * MiB, nullptr}).message(),
      HasSubstr("cannot map host memory for kernels"));
}

TEST_F(ManagedDeviceTest, PinnedMemoryIsThatOfEveryGpu) {
  start(1);
  auto pinned = device->create(Place::Pinned, 4 * MiB);
  ASSERT_TRUE(pinned.ok());
  EXPECT_TRUE(pinned->hostView);
  EXPECT_THAT(fake.take({"cuMemHostRegister"}),
              ElementsAre("cuMemHostRegister(4M)"));
  EXPECT_OK(device->destroy(*pinned));
}

// -- Machines that cannot ----------------------------------------------------

TEST_F(ManagedDeviceTest, RefusedWithoutConcurrentAccess) {
  fake.attributes[CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS] = 0;
  Status status = make().takeStatus();
  EXPECT_EQ(status.code(), DRAGON_ERROR_UNSUPPORTED);
  EXPECT_THAT(status.message(), HasSubstr("concurrentManagedAccess is 0"));
  fake.attributes[CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY] = 0;
  EXPECT_EQ(make().takeStatus().message(), "the GPU has no managed memory");
  // The context was given back each time.
  EXPECT_EQ(fake.take({"cuDevicePrimaryCtxRelease"}).size(), 2u);
}

TEST_F(ManagedDeviceTest, NoVirtualMemoryManagementIsNeeded) {
  fake.attributes[CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED] = 0;
  start();
  EXPECT_STREQ(device->caps().name, "managed");
  EXPECT_EQ(VmmDevice::createOn(fake.driver()).takeStatus().message(),
            "the GPU has no virtual memory management");
}

TEST_F(ManagedDeviceTest, FailuresSayWhichCall) {
  start(1);
  fake.failing["cuMemAllocManaged"] = CUDA_ERROR_OUT_OF_MEMORY;
  Status status = device->reserve(2 * MiB).takeStatus();
  EXPECT_EQ(status.code(), DRAGON_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(status.message(),
              StartsWith("reserving 2097152 bytes of managed memory: "
                         "cuMemAllocManaged: "));
  fake.failing["cuMemcpyAsync"] = CUDA_ERROR_INVALID_VALUE;
  EXPECT_THAT(copyTo(0, queue).message(),
              HasSubstr("cuMemcpyAsync: failure of the test"));
  fake.failing["cuMemFree"] = CUDA_ERROR_INVALID_VALUE;
  EXPECT_THAT(device->release(base, 2 * MiB).message(), HasSubstr("cuMemFree"));
}

// -- The other back end on the same driver -----------------------------------

TEST(VmmDevice, MapsPhysicalMemoryAndOpensIt) {
  FakeCuda fake;
  auto made = VmmDevice::createOn(fake.driver());
  ASSERT_TRUE(made.ok()) << made.takeStatus().message();
  Device &device = **made;
  fake.calls.clear();
  auto base = device.reserve(4 * MiB);
  auto chunk = device.create(Place::Device, 2 * MiB);
  ASSERT_TRUE(base.ok() && chunk.ok());
  EXPECT_OK(device.map(*base, *chunk));
  uint32_t in = 41, out = 0;
  void *va = reinterpret_cast<void *>(*base);
  EXPECT_OK(device.copy(va, &in, 4, CopyKind::HostToDevice, nullptr));
  EXPECT_OK(device.copy(&out, va, 4, CopyKind::DeviceToHost, nullptr));
  EXPECT_EQ(out, 41u);
  // Hints are not for it.
  const AddressRange range{*base, *base + 2 * MiB};
  EXPECT_OK(device.discard({&range, 1}, nullptr));
  EXPECT_OK(device.prefetch({&range, 1}, Place::Device, true, nullptr));
  EXPECT_OK(device.completeMaps());
  EXPECT_OK(device.unmap(*base, *chunk));
  EXPECT_OK(device.release(*base, 4 * MiB));
  EXPECT_THAT(fake.take(),
              ElementsAre("cuMemAddressReserve(6M)" /* with a gap */,
                          "cuMemCreate(2M, device 0)", "cuMemMap(2M)",
                          "cuMemSetAccess(2M, 1)",
                          "cuMemcpyAsync(other, other, 4, null)",
                          "cuMemcpyAsync(other, other, 4, null)",
                          "cuMemUnmap(2M)", "cuMemAddressFree(6M)"));
}

} // namespace
