//===- VmmPeersTest.cpp - memory of other GPUs ----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/vmm/VmmDevice.h"
#include "test/unit/support/base/Expect.h"
#include "test/unit/support/device/FakeCuda.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace dragon;
using namespace dragon::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

constexpr uint64_t GiB = uint64_t(1) << 30;

/// A machine with four GPUs, of which the third does not manage memory.
class VmmPeersTest : public testing::Test {
protected:
  VmmPeersTest() {
    fake.others.assign(
        3, {{CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1}});
    fake.others[1].clear();
    settings.peers.all = true;
  }
  void start() {
    auto made = VmmDevice::createOn(
        fake.driver(), settings,
        [this](const std::string &) -> StatusOr<DeviceMemory> {
          if (NoneTold)
            return Status::error(DRAGON_ERROR_UNSUPPORTED, "no NVML");
          return DeviceMemory{3 * GiB, 4 * GiB};
        });
    ASSERT_TRUE(made.ok()) << made.takeStatus().message();
    device = std::move(*made);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const PeerCaps &peer : device->caps().peers)
      result.push_back(peer.name);
    return result;
  }

  FakeCuda fake;
  Settings settings;
  bool NoneTold = false;
  std::unique_ptr<Device> device;
};

TEST_F(VmmPeersTest, AllThatAreReached) {
  start();
  EXPECT_THAT(names(), ElementsAre("GPU 1 (fake GPU)", "GPU 3 (fake GPU)"));
  EXPECT_EQ(device->caps().peers[0].totalMemory, 4 * GiB);
  EXPECT_EQ(device->caps().peers[0].reserve, GiB / 2);
  auto memory = device->peerMemory(1);
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(memory->free, 3 * GiB);
  // No context there: it would take memory and time.
  EXPECT_EQ(fake.take({"cuDevicePrimaryCtxRetain"}).size(), 1u);
}

TEST_F(VmmPeersTest, TheLinkIsKnownByItsAtomics) {
  fake.byPcie = 3;
  start();
  EXPECT_TRUE(device->caps().peers[0].nativeAtomics);
  EXPECT_FALSE(device->caps().peers[1].nativeAtomics);
}

TEST_F(VmmPeersTest, NoneUnlessAskedFor) {
  settings.peers.all = false;
  start();
  EXPECT_TRUE(device->caps().peers.empty());
  EXPECT_EQ(device->createOnPeer(0, 2 * MiB).takeStatus().message(),
            "createOnPeer: there is no peer 0, but 0 of them");
}

TEST_F(VmmPeersTest, ThoseThatCannotBeAreLeftOut) {
  fake.unreached = {1};
  start();
  EXPECT_THAT(names(), ElementsAre("GPU 3 (fake GPU)"));
  NoneTold = true;
  start();
  EXPECT_THAT(names(), ElementsAre());
}

TEST_F(VmmPeersTest, ANumberThatThereIsNotIsAnError) {
  settings.peers.all = false;
  settings.peers.numbers = {4};
  EXPECT_THAT(
      VmmDevice::createOn(fake.driver(), settings).takeStatus().message(),
      HasSubstr("DRAGON_PEERS names device 4: there are 0 to 3"));
}

TEST_F(VmmPeersTest, CopiesReachWhatIsCreatedThere) {
  start();
  fake.calls.clear();
  auto slab = device->createOnPeer(1, 2 * MiB);
  ASSERT_TRUE(slab.ok());
  EXPECT_EQ(slab->place, Place::Peer);
  EXPECT_EQ(slab->peer, 1u);
  EXPECT_EQ(slab->hostView, nullptr);
  ASSERT_NE(slab->peerView, nullptr);
  // On the GPU itself, and opened for the program's.
  EXPECT_THAT(fake.take(),
              ElementsAre("cuMemCreate(2M, device 3)",
                          "cuMemAddressReserve(2M)", "cuMemMap(2M)",
                          "cuMemSetAccess(2M, 1)"));
  uint32_t in = 41, out = 0;
  EXPECT_OK(
      device->copy(slab->peerView, &in, 4, CopyKind::HostToDevice, nullptr));
  auto base = device->reserve(2 * MiB);
  ASSERT_TRUE(base.ok());
  EXPECT_OK(device->map(*base, *slab));
  EXPECT_OK(device->copy(&out, reinterpret_cast<void *>(*base), 4,
                         CopyKind::DeviceToHost, nullptr));
  EXPECT_EQ(out, 41u);
  EXPECT_OK(device->unmap(*base, *slab));
  EXPECT_OK(device->release(*base, 2 * MiB));
  fake.calls.clear();
  EXPECT_OK(device->destroy(*slab));
  EXPECT_THAT(fake.take(), ElementsAre("cuMemUnmap(2M)", "cuMemAddressFree(2M)",
                                       "cuMemRelease( )"));
}

TEST_F(VmmPeersTest, WhatFailsOnTheWayIsGivenBack) {
  start();
  fake.failing["cuMemSetAccess"] = CUDA_ERROR_OUT_OF_MEMORY;
  fake.calls.clear();
  EXPECT_EQ(device->createOnPeer(0, 2 * MiB).takeStatus().code(),
            DRAGON_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(fake.take(),
              ElementsAre("cuMemCreate(2M, device 1)",
                          "cuMemAddressReserve(2M)", "cuMemMap(2M)",
                          "cuMemSetAccess(2M, 1)", "cuMemUnmap(2M)",
                          "cuMemAddressFree(2M)", "cuMemRelease( )"));
}

// A machine with the driver's packages has it; what it does not know it says.
TEST(Nvml, SaysWhyItDoesNotTell) {
  auto memory = freeMemoryByNvml("00000000000000000000000000000000");
  ASSERT_FALSE(memory.ok());
  EXPECT_THAT(
      memory.takeStatus().message(),
      testing::AnyOf(HasSubstr("libnvidia-ml.so.1"), HasSubstr("nvml")));
}

} // namespace
