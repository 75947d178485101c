//===- Forward.h - NVIDIA's runtime, behind ours ----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a GPU, libcudart.so.13 loads the fat binaries and answers what this
// library does not. It is loaded by its SONAME on first use, bound to itself
// (its calls must not come back here). Nothing of it is linked. Where it cannot
// work, libcudart.so.12 does (runtime/device/cuda/Cuda12.h).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_FRONT_FORWARD_H
#define DRAGON_RUNTIME_CUDART_FRONT_FORWARD_H

#include "runtime/cudart/front/ErrorMap.h"

namespace dragon {

/// The function of that name in NVIDIA's libcudart. Null, after an error was
/// printed, if the library or the function is missing.
void *nvidiaFunction(const char *name);

/// What cudaGetKernel gives is a kernel of the driver's (CUkernel); that of
/// CUDA 12 gives handles of its own, which the driver does not know.
bool givesDriverKernels();

/// Before a call of that name: what it is told of the host's memory is the
/// program's, and none of it may be pinned by us.
void unpinFor(const char *name);

/// NVIDIA's runtime remembers the last error of a thread. Other code of the
/// process (PyTorch) would take ours, which our caller is told, for its own.
void forgetNvidiaError();

/// nvidia<decltype(&cudaX)>("cudaX", arguments...); an error if it is missing.
template <typename Function, typename... Args>
cudaError_t nvidia(const char *name, Args... args) {
  auto function = reinterpret_cast<Function>(nvidiaFunction(name));
  if (!function)
    return cudaErrorSharedObjectInitFailed;
  unpinFor(name);
  const cudaError_t error = function(args...);
  if (error != cudaSuccess)
    forgetNvidiaError();
  return error;
}
#define DRAGON_NVIDIA(function, ...)                                           \
  ::dragon::nvidia<decltype(&::function)>(#function __VA_OPT__(, ) __VA_ARGS__)

struct Front;

/// NVIDIA's code is about to work on memory that we manage, at times that we
/// cannot know: every buffer comes to the device, and stays.
Result keepAllResident(Front &front);

/// The same for the buffer at `address`.
Result keepResident(Front &front, const void *address);

/// The device may write to the program's memory there from now on, which raises
/// no signal: no copy from there is left to be made. Of interest is memory that
/// the program pinned.
Status deviceMayWrite(Front &front, const void *memory, size_t bytes);
/// The same for what an address leads to whose bytes nobody knows.
inline Status deviceMayWriteFrom(Front &front, uintptr_t address) {
  return deviceMayWrite(front, reinterpret_cast<const void *>(address), 1);
}
/// And for all that the program pinned until now.
inline Status deviceMayWriteAnywhere(Front &front) {
  return deviceMayWrite(front, nullptr, SIZE_MAX);
}

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_FRONT_FORWARD_H
