//===- Occupancy.cpp - the occupancy calls of the CUDA runtime API --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On the cpu device blocks per multiprocessor follow from the limits that it
// reports: threads, blocks and shared memory. Programs choose block sizes by
// them, so they must be consistent with what a launch accepts.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Rounding.h"
#include "runtime/cudart/devices/Devices.h"
#include "runtime/cudart/front/Forward.h"
#include "runtime/cudart/modules/Module.h"

#include <algorithm>
#include <cuda_runtime_api.h>

using namespace dragon;

namespace {

Result preparedKernel(Front &front, const void *function, Kernel *&kernel) {
  kernel = modules().find(function);
  if (!kernel)
    return front.gpu ? cudaSuccess : cudaErrorInvalidDeviceFunction;
  return modules().prepare(front, *kernel);
}

cudaError_t maxActiveBlocks(int *blocks, const void *function, int blockSize,
                            size_t dynamicBytes, unsigned flags) {
  return withDevice([&](Front &front) -> Result {
    if (!blocks || blockSize <= 0 ||
        (flags & ~unsigned(cudaOccupancyDisableCachingOverride)))
      return cudaErrorInvalidValue;
    Kernel *kernel;
    DRAGON_CHECK(preparedKernel(front, function, kernel));
    if (front.gpu)
      return DRAGON_NVIDIA(
          cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, blocks,
          function, blockSize, dynamicBytes, flags);
    cudaDeviceProp p = cpuDeviceProperties(front);
    *blocks = 0;
    if (blockSize > mostThreads(*kernel) ||
        dynamicBytes > size_t(dynamicSharedLimit(*kernel)))
      return cudaSuccess;
    int threads = roundUp(blockSize, p.warpSize);
    size_t shared = kernel->handle.image.cpu->static_shared_bytes +
                    dynamicBytes + p.reservedSharedMemPerBlock;
    *blocks = std::min({p.maxThreadsPerMultiProcessor / threads,
                        p.maxBlocksPerMultiProcessor,
                        int(p.sharedMemPerMultiprocessor / shared)});
    return cudaSuccess;
  });
}

Result noClusters() {
  printErrorOnce("thread block clusters are not supported on the cpu device");
  return cudaErrorNotSupported;
}

} // namespace

extern "C" {

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                          const void *function,
                                                          int blockSize,
                                                          size_t dynamicBytes) {
  return maxActiveBlocks(blocks, function, blockSize, dynamicBytes,
                         cudaOccupancyDefault);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, const void *function, int blockSize, size_t dynamicBytes,
    unsigned flags) {
  return maxActiveBlocks(blocks, function, blockSize, dynamicBytes, flags);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicBytes,
                                                      const void *function,
                                                      int blocks,
                                                      int blockSize) {
  return withDevice([&](Front &front) -> Result {
    if (!dynamicBytes || blocks <= 0 || blockSize <= 0)
      return cudaErrorInvalidValue;
    Kernel *kernel;
    DRAGON_CHECK(preparedKernel(front, function, kernel));
    if (front.gpu)
      return DRAGON_NVIDIA(cudaOccupancyAvailableDynamicSMemPerBlock,
                           dynamicBytes, function, blocks, blockSize);
    cudaDeviceProp p = cpuDeviceProperties(front);
    if (blockSize > p.maxThreadsPerBlock)
      return cudaErrorInvalidValue;
    size_t each = p.sharedMemPerMultiprocessor / size_t(blocks);
    size_t taken = kernel->handle.image.cpu->static_shared_bytes +
                   p.reservedSharedMemPerBlock;
    *dynamicBytes = std::min(each > taken ? each - taken : 0,
                             size_t(dynamicSharedLimit(*kernel)));
    return cudaSuccess;
  });
}

cudaError_t
cudaOccupancyMaxPotentialClusterSize(int *size, const void *function,
                                     const cudaLaunchConfig_t *config) {
  return withDevice([&](Front &front) -> Result {
    Kernel *kernel;
    DRAGON_CHECK(preparedKernel(front, function, kernel));
    return front.gpu
               ? Result(DRAGON_NVIDIA(cudaOccupancyMaxPotentialClusterSize,
                                      size, function, config))
               : noClusters();
  });
}

cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *function,
                                           const cudaLaunchConfig_t *config) {
  return withDevice([&](Front &front) -> Result {
    Kernel *kernel;
    DRAGON_CHECK(preparedKernel(front, function, kernel));
    return front.gpu ? Result(DRAGON_NVIDIA(cudaOccupancyMaxActiveClusters,
                                            clusters, function, config))
                     : noClusters();
  });
}

} // extern "C"
