//===- DragonRuntimeTest.cpp - files under managed memory, by the driver --===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/dragon/DragonDevice.h"
#include "test/unit/support/core/ManagedFixture.h"
#include "test/unit/support/device/FakeUvm.h"

using namespace dragon;
using namespace dragon::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

constexpr int ArrayWords = 1 << 20; ///< 4 MiB of int32

class DragonRuntimeTest : public ManagedFixture {
protected:
  void startDragon() {
    auto device = DragonDevice::createOn(fake.driver(), uvm, settings);
    ASSERT_TRUE(device.ok()) << device.takeStatus().message();
    start(std::move(*device));
    fake.numManaged = 0;
    fake.calls.clear();
    uvm.calls.clear();
  }
  uintptr_t map(const char *name, unsigned flags, int64_t offset = 0,
                size_t bytes = ArrayWords * 4) {
    auto made =
        runtime->files().mapFile(path(name).c_str(), bytes, offset, flags);
    EXPECT_TRUE(made.ok()) << made.takeStatus().message();
    return made.ok() ? *made : 0;
  }
  std::vector<std::string> maps() {
    std::vector<std::string> result;
    for (const std::string &call : uvm.take())
      if (!call.starts_with("fadvise"))
        result.push_back(call);
    return result;
  }

  FakeUvm uvm{fake};
};

TEST_F(DragonRuntimeTest, TheDriverReadsAndWrites) {
  startDragon();
  const std::vector<int32_t> data = numbers(ArrayWords, 1);
  writeFile("in", data);
  const uintptr_t in = map("in", D_READ);
  const uintptr_t out = map("out", D_WRITE | D_CREATE);
  EXPECT_THAT(maps(),
              ElementsAre("7: map m0 4194304 0x1", "7: map m1 4194304 0x2"));
  ASSERT_OK(
      kernels.launch(*runtime, "add", ArrayWords, out, in, in, ArrayWords));
  EXPECT_EQ(words(out)[5], sum(data[5], data[5]));
  EXPECT_OK(runtime->buffers().free(out));
  EXPECT_OK(runtime->buffers().free(in));
  EXPECT_THAT(maps(), ElementsAre("flush m1", "flush m0"));
  const std::vector<int32_t> result = readFile("out");
  for (int i : {0, 5, ArrayWords - 1})
    EXPECT_EQ(result[size_t(i)], sum(data[size_t(i)], data[size_t(i)]));
  EXPECT_EQ(readFile("in"), data);
  // Nothing of that was the runtime's, nor hinted at.
  EXPECT_EQ(moved(Direction::FileToHost) + moved(Direction::HostToFile), 0u);
  EXPECT_THAT(
      fake.take({"cuMemPrefetchBatchAsync", "cuMemDiscardAndPrefetchBatchAsync",
                 "cuMemDiscardBatchAsync", "cuMemAdvise"}),
      IsEmpty());
}

TEST_F(DragonRuntimeTest, HintsOfTheProgramAreTakenAndNotPassedOn) {
  startDragon();
  writeFile("in", numbers(ArrayWords, 1));
  const uintptr_t in = map("in", D_READ | D_WRITE);
  fake.calls.clear();
  EXPECT_OK(runtime->buffers().prefetch(in, ArrayWords * 4, nullptr));
  EXPECT_OK(runtime->buffers().prefetchToHost(in, ArrayWords * 4, nullptr));
  EXPECT_OK(runtime->buffers().discard(in, 4096, nullptr));
  EXPECT_OK(
      runtime->buffers().advise(in, ArrayWords * 4, DRAGON_ADVISE_KEEP_DEVICE));
  ASSERT_OK(kernels.launch(*runtime, "scale", ArrayWords, in, ArrayWords, 2));
  EXPECT_THAT(
      fake.take({"cuMemPrefetchBatchAsync", "cuMemDiscardAndPrefetchBatchAsync",
                 "cuMemDiscardBatchAsync", "cuMemAdvise"}),
      IsEmpty());
  EXPECT_OK(runtime->buffers().free(in));
  EXPECT_EQ(readFile("in")[7], scaled(numbers(ArrayWords, 1)[7], 2));
}

TEST_F(DragonRuntimeTest, FromAnOffsetOnTheRuntimeReadsAndWrites) {
  startDragon();
  const std::vector<int32_t> data = numbers(2 * ArrayWords, 3);
  writeFile("both", data);
  const uintptr_t both = map("both", D_READ | D_WRITE, ArrayWords * 4);
  EXPECT_THAT(maps(), IsEmpty());
  ASSERT_OK(kernels.launch(*runtime, "scale", ArrayWords, both, ArrayWords, 3));
  EXPECT_OK(runtime->files().sync(both));
  EXPECT_EQ(readFile("both")[ArrayWords + 9], scaled(data[ArrayWords + 9], 3));
  EXPECT_OK(runtime->buffers().free(both));
  EXPECT_EQ(readFile("both")[9], data[9]);
}

TEST_F(DragonRuntimeTest, WhereTheDriverCannotTheRuntimeReads) {
  fake.managedAlignment = 4096;
  startDragon();
  const std::vector<int32_t> data = numbers(ArrayWords, 4);
  writeFile("in", data);
  const uintptr_t in = map("in", D_READ);
  EXPECT_THAT(maps(), IsEmpty());
  EXPECT_EQ(words(in)[77], data[77]);
  EXPECT_EQ(moved(Direction::FileToHost), ArrayWords * 4u);
  EXPECT_OK(runtime->buffers().free(in));
}

TEST_F(DragonRuntimeTest, WhatTheDriverRefusesIsAnError) {
  startDragon();
  writeFile("in", numbers(ArrayWords, 5));
  uvm.answers[1001] = {{0, 0x38}};
  Status status = runtime->files()
                      .mapFile(path("in").c_str(), ArrayWords * 4, 0, D_READ)
                      .takeStatus();
  EXPECT_EQ(status.code(), DRAGON_ERROR_DEVICE);
  EXPECT_THAT(status.message(), HasSubstr(path("in")));
  EXPECT_THAT(status.message(), HasSubstr("NV_ERR_INVALID_OPERATION"));
  EXPECT_EQ(fake.managedBytes, 0u);
}

TEST_F(DragonRuntimeTest, SyncIsRefusedAndNotForgotten) {
  startDragon();
  const uintptr_t out = map("out", D_WRITE | D_CREATE);
  words(out)[0] = 1;
  Status status = runtime->files().sync(out);
  EXPECT_EQ(status.code(), DRAGON_ERROR_UNSUPPORTED);
  EXPECT_THAT(status.message(), HasSubstr("when it is unmapped"));
  EXPECT_OK(runtime->buffers().free(out));
  EXPECT_EQ(readFile("out")[0], 1);
}

TEST_F(DragonRuntimeTest, WhatIsNotReadBeginsAsZeros) {
  startDragon();
  std::vector<int32_t> data = numbers(ArrayWords + 100, 6);
  writeFile("old", data);
  const uintptr_t old = map("old", D_WRITE);
  EXPECT_EQ(words(old)[3], 0);
  words(old)[3] = 4;
  EXPECT_OK(runtime->buffers().free(old));
  std::fill_n(data.begin(), ArrayWords, 0);
  data[3] = 4;
  EXPECT_EQ(readFile("old"), data);
}

TEST_F(DragonRuntimeTest, ALaunchThatMayWriteAMapForReadingIsRefused) {
  startDragon();
  const std::vector<int32_t> data = numbers(ArrayWords, 7);
  writeFile("in", data);
  const uintptr_t in = map("in", D_READ);
  Status status =
      kernels.launch(*runtime, "scale", ArrayWords, in, ArrayWords, 2);
  EXPECT_EQ(status.code(), DRAGON_ERROR_UNSUPPORTED);
  EXPECT_THAT(status.message(), HasSubstr("map it with D_WRITE"));
  EXPECT_THAT(upload(in, data).message(), HasSubstr("copy: it may write"));
  EXPECT_THAT(
      runtime->buffers().fill(pointer(in), 0, 4, ArrayWords, nullptr).message(),
      HasSubstr("fill: it may write"));
  EXPECT_EQ(words(in)[1], data[1]); // nothing of that has run
  const uintptr_t out = allocate(ArrayWords * 4);
  EXPECT_OK(
      kernels.launch(*runtime, "add", ArrayWords, out, in, in, ArrayWords));
  EXPECT_OK(runtime->buffers().free(in));
  EXPECT_OK(runtime->buffers().free(out));
}

TEST_F(DragonRuntimeTest, RemapLosesNothing) {
  startDragon();
  const uintptr_t out = map("out", D_WRITE | D_CREATE);
  words(out)[1] = 5;
  maps();
  // What the driver has not yet written it goes on to have to write.
  EXPECT_OK(runtime->files().remapFile(out, D_READ, nullptr));
  EXPECT_THAT(maps(), ElementsAre("7: remap m0 0 0x3"));
  EXPECT_EQ(words(out)[1], 5);
  Status status = runtime->files().remapFile(out, D_VOLATILE, nullptr);
  EXPECT_EQ(status.code(), DRAGON_ERROR_UNSUPPORTED);
  uvm.answers[1004] = {{0, 0x59}};
  EXPECT_THAT(runtime->files().remapFile(out, D_WRITE, nullptr).message(),
              HasSubstr("NV_ERR_OPERATING_SYSTEM"));
  EXPECT_OK(runtime->buffers().free(out));
  EXPECT_EQ(readFile("out")[1], 5);
  const uintptr_t in = map("out", D_READ);
  status = runtime->files().remapFile(in, D_READ | D_WRITE, open("out", true));
  EXPECT_EQ(status.code(), DRAGON_ERROR_UNSUPPORTED);
  EXPECT_THAT(status.message(), HasSubstr("for reading only"));
  EXPECT_OK(runtime->buffers().free(in));
}

TEST_F(DragonRuntimeTest, TheArtifactsHintReachesTheDriver) {
  startDragon();
  const uintptr_t out = map("out", D_WRITE | D_CREATE | MapHostBuffer);
  EXPECT_THAT(maps(), ElementsAre("7: map m0 4194304 0x22"));
  EXPECT_OK(runtime->buffers().free(out));
}

TEST_F(DragonRuntimeTest, MoreThanTheCardHasIsAtTheUsersRisk) {
  fake.freeBytes = 8 * MiB;
  startDragon();
  Status status =
      runtime->files()
          .mapFile(path("big").c_str(), 16 * MiB, 0, D_WRITE | D_CREATE)
          .takeStatus();
  EXPECT_EQ(status.code(), DRAGON_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(status.message(), HasSubstr("DRAGON_MANAGED_OVERSUBSCRIBE=1"));
}

} // namespace
