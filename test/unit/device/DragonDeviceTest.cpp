//===- DragonDeviceTest.cpp - what DRAGON's driver is asked ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel's side is FakeUvm: each ioctl's number, layout and order, and every
// way in which it can fail.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/dragon/DragonDevice.h"
#include "dragon/dragon.h"
#include "runtime/base/Settings.h"
#include "test/unit/support/base/Expect.h"
#include "test/unit/support/device/FakeUvm.h"

#include <cstring>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace dragon;
using namespace dragon::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

class DragonDeviceTest : public testing::Test {
protected:
  DragonDeviceTest() {
    settings.quiet = true;
    fd = ::open("/tmp", O_TMPFILE | O_RDWR, 0600);
    EXPECT_EQ(::ftruncate(fd, 4 * MiB), 0);
  }
  ~DragonDeviceTest() override {
    device.reset();
    ::close(fd);
    EXPECT_EQ(cuda.managedBytes, 0u);
  }

  StatusOr<std::unique_ptr<Device>> make() {
    return DragonDevice::createOn(cuda.driver(), uvm, settings);
  }
  Status whyNot() { return make().takeStatus(); }
  void start() {
    auto made = make();
    ASSERT_TRUE(made.ok()) << made.takeStatus().message();
    device = std::move(*made);
    base = *device->reserve(4 * MiB);
    cuda.numManaged = 1;
    cuda.managed.begin()->second.number = 0;
    cuda.calls.clear();
    uvm.calls.clear();
  }
  DriverFile file(unsigned flags) const { return {fd, base, 4 * MiB, flags}; }
  uint64_t word(size_t offset, size_t bytes) const {
    uint64_t value = 0;
    std::memcpy(&value, uvm.argument.data() + offset, bytes);
    return value;
  }

  FakeCuda cuda;
  FakeUvm uvm{cuda};
  Settings settings;
  std::unique_ptr<Device> device;
  uintptr_t base = 0;
  int fd = -1;
};

// -- What the artifact's library and patches have ----------------------------

TEST_F(DragonDeviceTest, NumbersAndLayouts) {
  EXPECT_EQ(uvm::ValidateVaRange, 72u);
  EXPECT_EQ(uvm::DragonInit, 1000u);
  EXPECT_EQ(uvm::DragonMap, 1001u);
  EXPECT_EQ(uvm::DragonRemap, 1004u);
  // The same structures as the artifact declares them.
  struct ArtifactInit {
    unsigned long trashNrBlocks;
    unsigned long trashReservedNrPages;
    unsigned short flags;
    unsigned int status;
  };
  struct ArtifactMap {
    int backingFd;
    void *uvmAddr;
    size_t size;
    unsigned short flags;
    unsigned int status;
  };
  EXPECT_EQ(sizeof(uvm::Init), sizeof(ArtifactInit));
  EXPECT_EQ(offsetof(uvm::Init, blocksPerReclaim),
            offsetof(ArtifactInit, trashNrBlocks));
  EXPECT_EQ(offsetof(uvm::Init, reservedPages),
            offsetof(ArtifactInit, trashReservedNrPages));
  EXPECT_EQ(offsetof(uvm::Init, flags), offsetof(ArtifactInit, flags));
  EXPECT_EQ(offsetof(uvm::Init, status), offsetof(ArtifactInit, status));
  EXPECT_EQ(sizeof(uvm::Map), sizeof(ArtifactMap));
  EXPECT_EQ(offsetof(uvm::Map, file), offsetof(ArtifactMap, backingFd));
  EXPECT_EQ(offsetof(uvm::Map, address), offsetof(ArtifactMap, uvmAddr));
  EXPECT_EQ(offsetof(uvm::Map, bytes), offsetof(ArtifactMap, size));
  EXPECT_EQ(offsetof(uvm::Map, flags), offsetof(ArtifactMap, flags));
  EXPECT_EQ(offsetof(uvm::Map, status), offsetof(ArtifactMap, status));
}

TEST_F(DragonDeviceTest, WhatGoesToTheDriver) {
  start();
  EXPECT_OK(device->mapFile(file(D_READ | D_WRITE)));
  ASSERT_EQ(uvm.argument.size(), 32u);
  EXPECT_EQ(int(word(0, 4)), fd);
  EXPECT_EQ(word(8, 8), base);
  EXPECT_EQ(word(16, 8), 4 * MiB);
  EXPECT_EQ(word(24, 2), 3u);
  EXPECT_EQ(word(28, 4), 0xffffffffu); // no status that it could have
  EXPECT_OK(device->remapFile(base, D_WRITE | MapHostBuffer));
  ASSERT_EQ(uvm.argument.size(), 32u);
  EXPECT_EQ(word(8, 8), base);
  EXPECT_EQ(word(24, 2), 0x22u);
  EXPECT_OK(device->release(base, 4 * MiB));
}

// -- The descriptor ----------------------------------------------------------

TEST_F(DragonDeviceTest, IsSetUpOnce) {
  start();
  device.reset();
  ASSERT_TRUE(make().ok()); // the driver says that it was: its settings stay
  EXPECT_THAT(uvm.take(),
              ElementsAre("7: validate m2+0x200000", "7: init 16 2097152 0xf"));
}

TEST_F(DragonDeviceTest, TakesTheDescriptorThatKnowsItsMemory) {
  uvm.descriptors = {{"5", "/dev/nvidia-uvm", false},
                     {"6", "/dev/nvidia-uvm-tools"},
                     {"x", "/dev/nvidia-uvm"},
                     {"9", "/dev/nvidia-uvm", true},
                     {"10", ""}};
  ASSERT_TRUE(make().ok());
  EXPECT_THAT(uvm.take(),
              ElementsAre("5: validate m1+0x200000", "9: validate m1+0x200000",
                          "9: init 16 2097152 0xf"));
  // The scratch memory is gone.
  EXPECT_THAT(cuda.take({"cuMemAllocManaged", "cuMemFree"}),
              ElementsAre("cuMemAllocManaged(2M, 1)", "cuMemFree(m0)",
                          "cuMemAllocManaged(2M, 1)", "cuMemFree(m1)"));
}

TEST_F(DragonDeviceTest, TakesTheOnlyOneOfDriversThatDoNotKnowTheQuestion) {
  uvm.knowsRanges = false;
  EXPECT_TRUE(make().ok());
}

TEST_F(DragonDeviceTest, DoesNotGuessAmongSeveral) {
  uvm.knowsRanges = false;
  uvm.descriptors.push_back({"8", "/dev/nvidia-uvm", false});
  Status status = whyNot();
  EXPECT_EQ(status.code(), DRAGON_ERROR_UNSUPPORTED);
  EXPECT_EQ(status.message(),
            "no descriptor of /dev/nvidia-uvm knows this process's managed "
            "memory: descriptor 7: Invalid argument, descriptor 8: Invalid "
            "argument");
}

TEST_F(DragonDeviceTest, TakesNoneWithoutAnAddressSpace) {
  uvm.descriptors[1].hasAddressSpace = false;
  EXPECT_THAT(whyNot().message(),
              HasSubstr("descriptor 7: NV_ERR_ILLEGAL_ACTION"));
}

TEST_F(DragonDeviceTest, SaysThatThereIsNone) {
  uvm.descriptors.pop_back();
  Status status = whyNot();
  EXPECT_EQ(status.code(), DRAGON_ERROR_UNSUPPORTED);
  EXPECT_EQ(status.message(),
            "no descriptor of this process is /dev/nvidia-uvm");
  uvm.listError = EACCES;
  EXPECT_EQ(whyNot().message(), "cannot read /proc/self/fd: Permission denied");
}

// -- DRAGON_IOCTL_INIT -------------------------------------------------------

TEST_F(DragonDeviceTest, AnUnpatchedDriverIsNamed) {
  uvm.isPatched = false;
  for (int error : {EINVAL, ENOTTY}) {
    uvm.answers[1000] = {{error, 0}};
    Status status = whyNot();
    EXPECT_EQ(status.code(), DRAGON_ERROR_UNSUPPORTED);
    EXPECT_EQ(status.message(), "the nvidia-uvm that is loaded is not "
                                "DRAGON's: it does not know the ioctl 1000");
  }
}

TEST_F(DragonDeviceTest, EveryFailureOfInitIsOne) {
  struct Case {
    FakeUvm::Answer answer;
    dragon_error code;
    const char *message;
  };
  for (const Case &one :
       {Case{{EFAULT, 0}, DRAGON_ERROR_DEVICE, "Bad address"},
        Case{{ENOMEM, 0}, DRAGON_ERROR_DEVICE, "Cannot allocate memory"},
        Case{{EPERM, 0}, DRAGON_ERROR_DEVICE, "Operation not permitted"},
        // ioctl() returns 0.
        Case{{0, uvm::NotAnswered},
             DRAGON_ERROR_DEVICE,
             "the driver has not answered"},
        Case{{0, 0x16}, DRAGON_ERROR_DEVICE, "NV_ERR_ILLEGAL_ACTION"},
        Case{{0, 0x1f}, DRAGON_ERROR_DEVICE, "NV_ERR_INVALID_ARGUMENT"},
        Case{{0, 0x51}, DRAGON_ERROR_OUT_OF_MEMORY, "NV_ERR_NO_MEMORY"},
        Case{{0, 0x56}, DRAGON_ERROR_DEVICE, "NV_ERR_NOT_SUPPORTED"},
        Case{{0, 0x10006}, DRAGON_ERROR_DEVICE, "NV_WARN_NOTHING_TO_DO"},
        Case{{0, 0x71}, DRAGON_ERROR_DEVICE, "NV_STATUS 0x71"}}) {
    uvm.answers[1000] = {one.answer};
    Status status = whyNot();
    EXPECT_EQ(status.code(), one.code) << one.message;
    EXPECT_THAT(status.message(), HasSubstr(one.message));
    EXPECT_THAT(status.message(),
                HasSubstr("setting up DRAGON's driver: DRAGON_IOCTL_INIT "
                          "(1000)"));
    EXPECT_EQ(cuda.managedBytes, 0u);
  }
}

TEST_F(DragonDeviceTest, SettingsReachTheDriver) {
  settings.reservedPages = 0;
  settings.enableLazyWrite = settings.enableAioWrite = false;
  ASSERT_TRUE(make().ok());
  EXPECT_EQ(uvm.calls.back(), "7: init 16 0 0x5");
  ASSERT_EQ(uvm.argument.size(), 24u);
  EXPECT_EQ(word(0, 8), 16u);
  EXPECT_EQ(word(8, 8), 0u);
  EXPECT_EQ(word(16, 2), 5u);
}

// -- DRAGON_IOCTL_MAP and DRAGON_IOCTL_REMAP ---------------------------------

TEST_F(DragonDeviceTest, ReadsAheadAsTold) {
  start();
  EXPECT_OK(device->mapFile(file(D_READ)));
  EXPECT_THAT(uvm.take(),
              ElementsAre(fmt::format("fadvise({})", POSIX_FADV_NORMAL),
                          "7: map m0 4194304 0x1"));
  EXPECT_OK(device->release(base, 4 * MiB));
  device.reset();
  settings.readahead = Readahead::Aggressive;
  start();
  EXPECT_OK(device->mapFile(file(D_READ | MapHostBuffer)));
  EXPECT_THAT(uvm.take(),
              ElementsAre(fmt::format("fadvise({})", POSIX_FADV_SEQUENTIAL),
                          "readahead(4194304)", "7: map m0 4194304 0x21"));
  EXPECT_OK(device->release(base, 4 * MiB));
  device.reset();
  settings.readahead = Readahead::Disabled;
  // Hints: that they fail is no failure.
  uvm.adviseError = ESPIPE;
  start();
  EXPECT_OK(device->mapFile(file(D_READ | D_WRITE)));
  EXPECT_THAT(uvm.take(),
              ElementsAre(fmt::format("fadvise({})", POSIX_FADV_RANDOM),
                          "7: map m0 4194304 0x3"));
  EXPECT_OK(device->release(base, 4 * MiB));
  EXPECT_THAT(uvm.take(), ElementsAre("flush m0"));
}

TEST_F(DragonDeviceTest, WhatIsNotReadIsNotReadAhead) {
  settings.readahead = Readahead::Aggressive;
  start();
  EXPECT_OK(device->mapFile(file(D_WRITE)));
  EXPECT_THAT(uvm.take(), ElementsAre("7: map m0 4194304 0x2"));
  EXPECT_OK(device->release(base, 4 * MiB));
}

TEST_F(DragonDeviceTest, EveryFailureOfMapAndRemapIsOne) {
  struct Case {
    FakeUvm::Answer answer;
    dragon_error code;
    const char *message;
  };
  start();
  for (const Case &one :
       {Case{{EFAULT, 0}, DRAGON_ERROR_DEVICE, "Bad address"},
        Case{{EBADF, 0}, DRAGON_ERROR_DEVICE, "Bad file descriptor"},
        Case{{EINVAL, 0}, DRAGON_ERROR_DEVICE, "Invalid argument"},
        Case{{0, uvm::NotAnswered},
             DRAGON_ERROR_DEVICE,
             "the driver has not answered"},
        Case{{0, 0x16}, DRAGON_ERROR_DEVICE, "NV_ERR_ILLEGAL_ACTION"},
        Case{{0, 0x1a},
             DRAGON_ERROR_OUT_OF_MEMORY,
             "NV_ERR_INSUFFICIENT_RESOURCES"},
        Case{{0, 0x1e}, DRAGON_ERROR_DEVICE, "NV_ERR_INVALID_ADDRESS"},
        Case{{0, 0x38},
             DRAGON_ERROR_DEVICE,
             "NV_ERR_INVALID_OPERATION (the driver was not set up)"},
        Case{{0, 0x51}, DRAGON_ERROR_OUT_OF_MEMORY, "NV_ERR_NO_MEMORY"},
        Case{{0, 0x59},
             DRAGON_ERROR_DEVICE,
             "NV_ERR_OPERATING_SYSTEM (no managed memory begins there, or the "
             "file is not open)"}}) {
    uvm.answers[1001] = {one.answer};
    Status status = device->mapFile(file(D_WRITE));
    EXPECT_EQ(status.code(), one.code) << one.message;
    EXPECT_THAT(status.message(), HasSubstr(one.message));
    EXPECT_THAT(status.message(), HasSubstr("DRAGON_IOCTL_MAP (1001)"));
    // It is no map, for hints and for remapFile.
    EXPECT_EQ(device->remapFile(base, D_READ).code(),
              DRAGON_ERROR_INVALID_ARGUMENT);
  }
  EXPECT_OK(device->mapFile(file(D_WRITE)));
  uvm.answers[1004] = {{EFAULT, 0}, {0, 0x38}, {0, 0x59}};
  EXPECT_THAT(device->remapFile(base, D_READ).message(),
              HasSubstr("DRAGON_IOCTL_REMAP (1004): Bad address"));
  EXPECT_THAT(device->remapFile(base, D_READ).message(),
              HasSubstr("NV_ERR_INVALID_OPERATION"));
  EXPECT_THAT(device->remapFile(base, D_READ).message(),
              HasSubstr("NV_ERR_OPERATING_SYSTEM"));
  EXPECT_OK(device->remapFile(base, D_READ));
  EXPECT_OK(device->release(base, 4 * MiB));
}

TEST_F(DragonDeviceTest, WhatTheDriverItselfRefuses) {
  start();
  // Nothing of that reaches it.
  EXPECT_EQ(device->mapFile({fd, base + 2 * MiB, 4096, D_READ}).code(),
            DRAGON_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(device->mapFile({fd, base, 4 * MiB + 1, D_READ}).code(),
            DRAGON_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(device->mapFile({-1, base, 4096, D_READ}).code(),
            DRAGON_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(device->mapFile({fd, base, 0, D_READ}).code(),
            DRAGON_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(uvm.take(), IsEmpty());
  // A descriptor that is not open does.
  EXPECT_THAT(device->mapFile({12345, base, 4096, D_WRITE}).message(),
              HasSubstr("NV_ERR_OPERATING_SYSTEM"));
  EXPECT_OK(device->release(base, 4 * MiB));
}

TEST_F(DragonDeviceTest, ARangeThatBeginsInAnAllocationHasNoFile) {
  cuda.managedAlignment = 4096; // not the driver's 2 MiB
  start();
  Status status = device->mapFile(file(D_READ));
  EXPECT_EQ(status.code(), DRAGON_ERROR_UNSUPPORTED);
  EXPECT_THAT(uvm.take(), IsEmpty());
  EXPECT_OK(device->release(base, 4 * MiB));
}

// -- Hints -------------------------------------------------------------------

TEST_F(DragonDeviceTest, FilesGetNoHints) {
  start();
  const uintptr_t other = *device->reserve(4 * MiB);
  Queue queue = *device->createQueue(1, 0);
  EXPECT_OK(device->mapFile(file(D_READ)));
  cuda.calls.clear();
  const AddressRange both[] = {{base, base + 4096},
                               {base + 2 * MiB, base + 4 * MiB},
                               {other, other + 2 * MiB}};
  EXPECT_OK(device->prefetch(both, Place::Device, false, queue));
  EXPECT_OK(device->prefetch({both, 2}, Place::Host, false, queue));
  EXPECT_OK(device->discard(both, queue));
  EXPECT_OK(device->advise(both[0], Advice::ReadMostly));
  EXPECT_THAT(cuda.take({"cuMemPrefetchBatchAsync", "cuMemDiscardBatchAsync",
                         "cuMemDiscardAndPrefetchBatchAsync", "cuMemAdvise"}),
              ElementsAre("cuMemPrefetchBatchAsync(m1 2M, device 0, s4)",
                          "cuMemDiscardBatchAsync(m1 2M, s4)"));
  EXPECT_OK(device->release(base, 4 * MiB));
  EXPECT_OK(device->release(other, 4 * MiB));
  // The addresses may come again, without a file.
  base = *device->reserve(4 * MiB);
  cuda.calls.clear();
  EXPECT_OK(device->advise({base, base + 2 * MiB}, Advice::PreferDevice));
  EXPECT_EQ(cuda.take({"cuMemAdvise"}).size(), 1u);
  EXPECT_OK(device->release(base, 4 * MiB));
  EXPECT_OK(device->destroyQueue(queue));
}

} // namespace
