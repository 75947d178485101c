//===- PlainMemory.cpp - memory that stays NVIDIA's -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/memory/PlainMemory.h"

#include "runtime/base/Imports.h"
#include "runtime/cudart/front/Forward.h"
#include "runtime/trace/Log.h"

#include <cuda_runtime_api.h>

namespace dragon {

bool plainMemoryOnly(Front &front) {
  if (!front.gpu)
    return false;
  static const bool Exports = [] {
    const bool found = programImportsAny(
        [](std::string_view name) { return name == "cudaIpcGetMemHandle"; });
    if (found)
      notice("this program shares device memory with other processes "
             "(cudaIpcGetMemHandle): its buffers are plain device memory and "
             "cannot exceed it");
    return found;
  }();
  return Exports;
}

cudaError_t allocatePlain(void **pointer, size_t bytes) {
  return nvidia<cudaError_t (*)(void **, size_t)>("cudaMalloc", pointer, bytes);
}

cudaError_t freePlain(void *pointer) {
  return nvidia<cudaError_t (*)(void *)>("cudaFree", pointer);
}

} // namespace dragon
