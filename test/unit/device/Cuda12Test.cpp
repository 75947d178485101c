//===- Cuda12Test.cpp - NVIDIA's runtime of CUDA 12 behind ours -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cuda/Cuda12.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace dragon;
using testing::ElementsAre;

namespace {

TEST(Cuda12Test, LaterFormsOfCallsHaveOtherNames) {
  EXPECT_THAT(
      namesInCuda12("cudaMemAdvise"),
      ElementsAre("cudaMemAdvise_v3", "cudaMemAdvise_v2", "cudaMemAdvise"));
  EXPECT_THAT(namesInCuda12("cudaMemPrefetchAsync_ptsz"),
              ElementsAre("cudaMemPrefetchAsync_v3_ptsz",
                          "cudaMemPrefetchAsync_v2_ptsz",
                          "cudaMemPrefetchAsync_ptsz"));
  EXPECT_TRUE(isInCuda12("cudaMemPrefetchAsync"));
  EXPECT_FALSE(isInCuda12("cudaMemcpy3DBatchAsync_ptsz"));
}

/// Each word of the old structure is its number.
class PropertiesTest : public testing::Test {
protected:
  PropertiesTest() {
    for (uint32_t i = 0; i < Cuda12Properties::Bytes / sizeof i; ++i)
      std::memcpy(Old.memory + i * sizeof i, &i, sizeof i);
    setProperties(New, Old);
  }
  /// What CUDA 12 has at this offset.
  static int wordAt(size_t offset) { return int(offset / 4); }
  static size_t wordsAt(size_t offset) {
    return size_t(offset / 4) | size_t(offset / 4 + 1) << 32;
  }
  Cuda12Properties Old;
  cudaDeviceProp New;
};

// The offsets are those that a compiler gives to the members with the headers
// of CUDA 12.4.
TEST_F(PropertiesTest, MembersAreWhereCuda13HasThem) {
  EXPECT_EQ(New.totalGlobalMem, wordsAt(288));
  EXPECT_EQ(New.maxGridSize[2], wordAt(344));
  EXPECT_EQ(New.totalConstMem, wordsAt(352));
  EXPECT_EQ(New.major, wordAt(360));
  EXPECT_EQ(New.texturePitchAlignment, wordsAt(376));
  EXPECT_EQ(New.multiProcessorCount, wordAt(388));
  EXPECT_EQ(New.integrated, wordAt(396));
  EXPECT_EQ(New.canMapHostMemory, wordAt(400));
  EXPECT_EQ(New.maxTexture1D, wordAt(408));
  EXPECT_EQ(New.maxTexture1DMipmap, wordAt(412));
  EXPECT_EQ(New.maxTexture2D[0], wordAt(420));
  EXPECT_EQ(New.maxSurfaceCubemapLayered[1], wordAt(564));
  EXPECT_EQ(New.surfaceAlignment, wordsAt(568));
  EXPECT_EQ(New.unifiedAddressing, wordAt(604));
  EXPECT_EQ(New.memoryBusWidth, wordAt(612));
  EXPECT_EQ(New.localL1CacheSupported, wordAt(636));
  EXPECT_EQ(New.sharedMemPerMultiprocessor, wordsAt(640));
  EXPECT_EQ(New.hostNativeAtomicSupported, wordAt(664));
  EXPECT_EQ(New.pageableMemoryAccess, wordAt(672));
  EXPECT_EQ(New.cooperativeLaunch, wordAt(688));
  EXPECT_EQ(New.sharedMemPerBlockOptin, wordsAt(696));
  EXPECT_EQ(New.accessPolicyMaxWindowSize, wordAt(716));
  EXPECT_EQ(New.reservedSharedMemPerBlock, wordsAt(720));
  EXPECT_EQ(New.unifiedFunctionPointers, wordAt(776));
}

TEST_F(PropertiesTest, WhatWasReservedSaysNothing) {
  EXPECT_EQ(New.deviceNumaConfig, 0);
  EXPECT_EQ(New.deviceNumaId, 0);
  EXPECT_EQ(New.mpsEnabled, 0);
  EXPECT_EQ(New.hostNumaId, 0);
  for (int word : New.reserved)
    EXPECT_EQ(word, 0);
}

} // namespace
