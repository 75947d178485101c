//===- CudaDriverTest.cpp - drivers of all ages ---------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/device/FakeCuda.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace dragon;
using namespace dragon::test;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

namespace {

TEST(CudaDriver, FindsEachFormByItsVersion) {
  FakeCuda fake;
  const CudaDriver &cuda = fake.driver();
  EXPECT_EQ(cuda.version(), 13000);
  EXPECT_THAT(fake.asked, Contains("cuMemPrefetchAsync 8000"));
  EXPECT_THAT(fake.asked, Contains("cuMemPrefetchAsync 12020"));
  EXPECT_THAT(fake.asked, Contains("cuMemDiscardBatchAsync 13000"));
  EXPECT_TRUE(cuda.MemPrefetchAsync);
  EXPECT_TRUE(cuda.MemPrefetchToDevice);
  EXPECT_NE(reinterpret_cast<void *>(cuda.MemPrefetchAsync),
            reinterpret_cast<void *>(cuda.MemPrefetchToDevice));
  EXPECT_TRUE(cuda.MemDiscardAndPrefetchBatchAsync);
}

TEST(CudaDriver, OlderOnesAreNotAskedForWhatIsNewer) {
  FakeCuda fake;
  fake.version = 12000;
  const CudaDriver &cuda = fake.driver();
  EXPECT_THAT(fake.asked, Not(Contains("cuMemPrefetchAsync 12020")));
  EXPECT_FALSE(cuda.MemPrefetchAsync);
  EXPECT_TRUE(cuda.MemPrefetchToDevice);
  EXPECT_FALSE(cuda.MemAdvise);
  EXPECT_TRUE(cuda.MemAdviseDevice);
  EXPECT_FALSE(cuda.MemDiscardBatchAsync);
}

TEST(CudaDriver, BeforeCuda12ByTheFirstGetProcAddress) {
  FakeCuda fake;
  fake.version = 11040;
  fake.hasGetProcAddressV2 = false;
  const CudaDriver &cuda = fake.driver();
  EXPECT_TRUE(cuda.MemAllocManaged);
  EXPECT_TRUE(cuda.MemPrefetchToDevice);
  EXPECT_FALSE(cuda.MemPrefetchBatchAsync);
}

TEST(CudaDriver, BeforeCuda113ByTheExportedNames) {
  FakeCuda fake;
  fake.version = 11000;
  fake.hasGetProcAddressV2 = fake.hasGetProcAddress = false;
  const CudaDriver &cuda = fake.driver();
  // The plain name is an older form, with other types.
  EXPECT_THAT(fake.asked, Contains("cuMemFree_v2"));
  EXPECT_THAT(fake.asked, Contains("cuStreamDestroy_v2"));
  EXPECT_THAT(fake.asked, Contains("cuEventElapsedTime"));
  EXPECT_TRUE(cuda.MemFree);
  EXPECT_TRUE(cuda.EventElapsedTime);
  EXPECT_TRUE(cuda.MemPrefetchToDevice);
  EXPECT_FALSE(cuda.MemPrefetchAsync);
}

TEST(CudaDriver, TooOldOrIncompleteOnesAreRefused) {
  FakeCuda fake;
  fake.version = 10020;
  EXPECT_THAT(fake.open().takeStatus().message(),
              HasSubstr("supports CUDA 10.2, 11.0 or later is needed"));
  fake.version = 12000;
  fake.missing = {"cuMemAllocManaged"};
  EXPECT_EQ(fake.open().takeStatus().message(),
            "the NVIDIA driver (CUDA 12.0) lacks cuMemAllocManaged of CUDA "
            "6.0; update the driver");
}

} // namespace
