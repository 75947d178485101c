//===- ZeroCopy.cpp - copies of memory that holds nothing -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The entry points behind "Copies of nothing" of dragon/CompilerABI.h: fills,
// which fail where the copies would.
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/copies/Copy.h"
#include "runtime/cudart/launches/HostFunctions.h"

#include <cuda_runtime_api.h>

using namespace dragon;

extern "C" {

int __dragon_zero_memcpy(void *to, const void *from, size_t bytes, int kind) {
  const auto direction = cudaMemcpyKind(kind);
  return withDevice([&](Front &front) -> Result {
    if (!front.runtime.settings().elide)
      return cudaMemcpy(to, from, bytes, direction);
    DRAGON_CHECK(checkCopy(front, to, from, bytes, direction));
    DRAGON_CHECK(cudaMemset(to, 0, bytes));
    // As behind a copy of the host's memory, the work in front of it is done.
    return synchronizeStream(front, nullptr);
  });
}

int __dragon_zero_memcpy_async(void *to, const void *from, size_t bytes,
                               int kind, void *stream) {
  const auto direction = cudaMemcpyKind(kind);
  const auto queue = static_cast<cudaStream_t>(stream);
  return withDevice([&](Front &front) -> Result {
    if (!front.runtime.settings().elide)
      return cudaMemcpyAsync(to, from, bytes, direction, queue);
    DRAGON_CHECK(checkCopy(front, to, from, bytes, direction));
    return cudaMemsetAsync(to, 0, bytes, queue);
  });
}

} // extern "C"
