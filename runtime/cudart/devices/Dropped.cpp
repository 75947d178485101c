//===- Dropped.cpp - calls that CUDA 13 has dropped -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sources that dragon-cc compiles get these under their new names
// (share/dragon/overlay/dragon-nvcc/dropped.h). Objects of other compilers, and
// C that calls what it has not declared, have the old ones.
//
//===----------------------------------------------------------------------===//

#include <cuda_runtime_api.h>

extern "C" {

cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }

cudaError_t cudaThreadExit() { return cudaDeviceReset(); }

cudaError_t cudaThreadSetLimit(cudaLimit limit, size_t value) {
  return cudaDeviceSetLimit(limit, value);
}

cudaError_t cudaThreadGetLimit(size_t *value, cudaLimit limit) {
  return cudaDeviceGetLimit(value, limit);
}

cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) {
  return cudaDeviceSetCacheConfig(config);
}

cudaError_t cudaThreadGetCacheConfig(cudaFuncCache *config) {
  return cudaDeviceGetCacheConfig(config);
}

} // extern "C"
