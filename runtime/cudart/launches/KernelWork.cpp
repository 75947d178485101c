//===- KernelWork.cpp - launches that are kept for later ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/launches/KernelWork.h"

#include "runtime/cudart/launches/KernelLaunch.h"
#include "runtime/cudart/modules/Module.h"

namespace dragon {

Result kernelWork(Front &front, const cudaKernelNodeParams &params,
                  bool cooperative, KernelWork &work) {
  Kernel *kernel = modules().find(params.func);
  if (!kernel)
    return cudaErrorInvalidDeviceFunction;
  DRAGON_CHECK(modules().prepare(front, *kernel));
  DRAGON_CHECK(checkLaunch(front, *kernel, params.gridDim, params.blockDim,
                           params.sharedMemBytes));
  const KernelRecord *record = kernel->info.record;
  if (params.extra || !record) {
    if (front.gpu) // NVIDIA's graph has it nevertheless
      return cudaErrorNotSupported;
    printErrorOnce(fmt::format(
        "kernel '{}' as a node of a graph: its arguments are {}, which is not "
        "supported on the cpu device",
        kernel->name,
        params.extra ? "given in a buffer ('extra')" : "not known"));
    return cudaErrorNotSupported;
  }
  if (record->NumArgs && !params.kernelParams)
    return cudaErrorInvalidValue;
  auto arguments = std::make_shared<KernelWork::Arguments>();
  const uint32_t *sizes = kernel->info.summary->argSizes(*record);
  for (uint32_t i = 0; i < record->NumArgs; ++i) {
    const char *from = static_cast<const char *>(params.kernelParams[i]);
    arguments->bytes.emplace_back(from, from + sizes[i]);
  }
  for (std::vector<char> &bytes : arguments->bytes)
    arguments->pointers.push_back(bytes.data());
  work.params = params;
  work.params.kernelParams = arguments->pointers.data();
  work.cooperative = cooperative;
  work.arguments = std::move(arguments);
  return cudaSuccess;
}

} // namespace dragon
