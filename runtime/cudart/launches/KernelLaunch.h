//===- KernelLaunch.h - kernel launches -------------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_LAUNCHES_KERNELLAUNCH_H
#define DRAGON_RUNTIME_CUDART_LAUNCHES_KERNELLAUNCH_H

#include "runtime/cudart/front/Front.h"

#include <vector_types.h>

namespace dragon {

struct Front;
struct Kernel;

/// Whether a prepared kernel can be launched so at all.
cudaError_t checkLaunch(Front &front, const Kernel &kernel, dim3 grid,
                        dim3 block, size_t sharedBytes);

/// What a prepared kernel is launched with, but for its queue.
LaunchCall launchCall(const Kernel &kernel, dim3 grid, dim3 block, void **args,
                      size_t sharedBytes);

/// What the launch's attributes ask for.
enum class LaunchKind : uint8_t {
  Plain,
  Cooperative,
  Programmatic ///< may begin before the one in front of it ends
};

/// `function` is a host stub, or a handle that cudaGetKernel returned.
cudaError_t launchKernel(const void *function, dim3 grid, dim3 block,
                         void **args, size_t sharedBytes, cudaStream_t stream,
                         LaunchKind kind);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_LAUNCHES_KERNELLAUNCH_H
