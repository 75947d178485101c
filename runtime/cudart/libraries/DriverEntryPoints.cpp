//===- DriverEntryPoints.cpp - the driver API by name ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that asks for functions of the driver API by which it can start
// work of its own does so behind our back: from then on all its buffers, later
// ones too, stay in device memory.
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/libraries/DriverEntryPoints.h"

#include "runtime/base/PinnedRanges.h"
#include "runtime/cudart/front/Forward.h"
#include "runtime/cudart/front/Front.h"
#include "runtime/trace/Log.h"

#include <atomic>
#include <cstring>
#include <cuda_runtime_api.h>

using namespace dragon;

namespace {

std::atomic<bool> worksBehindOurBack{false};

bool startsWork(const char *symbol) {
  for (const char *prefix :
       {"cuLaunch", "cuMemcpy", "cuMemset", "cuGraph", "cuStreamBeginCapture",
        "cuTexObjectCreate", "cuSurfObjectCreate", "cuTensorMap"})
    if (!std::strncmp(symbol, prefix, std::strlen(prefix)))
      return true;
  return false;
}

template <typename Ask>
cudaError_t ask(const char *symbol, void **function,
                cudaDriverEntryPointQueryResult *result, Ask &&ask) {
  return withDevice([&](Front &front) -> Result {
    if (!symbol || !function)
      return cudaErrorInvalidValue;
    if (!front.gpu) {
      // There is no driver: as if it did not know the name.
      *function = nullptr;
      if (!result)
        return cudaErrorSymbolNotFound;
      *result = cudaDriverEntryPointSymbolNotFound;
      return cudaSuccess;
    }
    if (startsWork(symbol) && !worksBehindOurBack.exchange(true)) {
      notice("this program uses the driver API ({}): its buffers stay in "
             "device memory and cannot exceed it",
             symbol);
      PinnedRanges::get().noteUnseenWrites();
      DRAGON_CHECK(keepAllResident(front));
    }
    return ask();
  });
}

} // namespace

bool dragon::buffersStayResident() {
  return worksBehindOurBack.load(std::memory_order_relaxed);
}

extern "C" {

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function,
                                    unsigned long long flags,
                                    cudaDriverEntryPointQueryResult *result) {
  return ask(symbol, function, result, [&] {
    return DRAGON_NVIDIA(cudaGetDriverEntryPoint, symbol, function, flags,
                         result);
  });
}

cudaError_t
cudaGetDriverEntryPointByVersion(const char *symbol, void **function,
                                 unsigned version, unsigned long long flags,
                                 cudaDriverEntryPointQueryResult *result) {
  return ask(symbol, function, result, [&] {
    return DRAGON_NVIDIA(cudaGetDriverEntryPointByVersion, symbol, function,
                         version, flags, result);
  });
}

// The same for units with a default stream per thread: other functions come
// back under the same names.
cudaError_t
cudaGetDriverEntryPoint_ptsz(const char *symbol, void **function,
                             unsigned long long flags,
                             cudaDriverEntryPointQueryResult *result) {
  return ask(symbol, function, result, [&] {
    return nvidia<decltype(&cudaGetDriverEntryPoint_ptsz)>(
        "cudaGetDriverEntryPoint_ptsz", symbol, function, flags, result);
  });
}

cudaError_t cudaGetDriverEntryPointByVersion_ptsz(
    const char *symbol, void **function, unsigned version,
    unsigned long long flags, cudaDriverEntryPointQueryResult *result) {
  return ask(symbol, function, result, [&] {
    return nvidia<decltype(&cudaGetDriverEntryPointByVersion_ptsz)>(
        "cudaGetDriverEntryPointByVersion_ptsz", symbol, function, version,
        flags, result);
  });
}

} // extern "C"
