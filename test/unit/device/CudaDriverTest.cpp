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

TEST(CudaDriver, OnesBefore13DoNotRunNvidiasRuntime) {
  FakeCuda fake;
  EXPECT_EQ(fake.driver().tooOldForCuda13(), "");
  FakeCuda old;
  old.version = 12040;
  EXPECT_EQ(old.driver().tooOldForCuda13(),
            "the NVIDIA driver supports CUDA 12.4, and libcudart.so.13 needs "
            "one of CUDA 13 (580 or later); install the CUDA 12 runtime "
            "(libcudart.so.12) or add its folder to LD_LIBRARY_PATH, or update "
            "the driver, or run with DRAGON_BACKEND=cpu");
  EXPECT_TRUE(old.driver().runsCuda12());
  FakeCuda older;
  older.version = 11080;
  EXPECT_FALSE(older.driver().runsCuda12());
  EXPECT_EQ(older.driver().tooOldForCuda13(),
            "the NVIDIA driver supports CUDA 11.8, and libcudart.so.13 needs "
            "one of CUDA 13 (580 or later); update the driver, or run with "
            "DRAGON_BACKEND=cpu");
}

/// Drivers 550, 555, 560, 565 and 570.
TEST(CudaDriver, ThoseOfCuda12From4OnHaveAllThatIsNeeded) {
  for (int version : {12040, 12050, 12060, 12070, 12080}) {
    FakeCuda fake;
    fake.version = version;
    EXPECT_TRUE(fake.open().ok()) << version;
    const CudaDriver &cuda = fake.driver();
    EXPECT_TRUE(cuda.MemPrefetchAsync && cuda.MemAdvise && cuda.FuncGetName &&
                cuda.FuncGetParamInfo);
    EXPECT_FALSE(cuda.MemDiscardBatchAsync || cuda.MemPrefetchBatchAsync ||
                 cuda.MemDiscardAndPrefetchBatchAsync);
    EXPECT_THAT(fake.asked, Not(Contains(HasSubstr(" 13000"))));
  }
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
