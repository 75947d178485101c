//===- Errors.cpp - the error calls of the CUDA runtime API ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/front/ErrorMap.h"
#include "runtime/cudart/front/ErrorTable.h"

#include <algorithm>
#include <cuda_runtime_api.h>
#include <iterator>

using namespace dragon;

namespace dragon {

const ErrorEntry *findError(int code) {
  static const ErrorEntry Table[] = {
  // sorted by code, as CUDA's enumeration is
#define DRAGON_CUDA_ERROR(name, text) {name, #name, text},
#include "runtime/cudart/front/ErrorTable.def"
  };
  const ErrorEntry *found = std::lower_bound(
      std::begin(Table), std::end(Table), code,
      [](const ErrorEntry &entry, int wanted) { return entry.code < wanted; });
  return found != std::end(Table) && found->code == code ? found : nullptr;
}

} // namespace dragon

extern "C" {

cudaError_t cudaGetLastError() {
  cudaError_t error = lastError();
  lastError() = cudaSuccess;
  return error != cudaSuccess ? error : stickyError();
}

cudaError_t cudaPeekAtLastError() {
  cudaError_t error = lastError();
  return error != cudaSuccess ? error : stickyError();
}

const char *cudaGetErrorName(cudaError_t error) {
  const ErrorEntry *entry = findError(error);
  return entry ? entry->name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error) {
  const ErrorEntry *entry = findError(error);
  return entry ? entry->text : "unrecognized error code";
}

} // extern "C"
