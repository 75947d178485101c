//===- KernelWork.h - launches that are kept for later ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A node of a graph launches its kernel later, any number of times, when the
// program's arguments may be gone. So it has copies of what they pointed at;
// the kernel's summary says how large each is.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_LAUNCHES_KERNELWORK_H
#define DRAGON_RUNTIME_CUDART_LAUNCHES_KERNELWORK_H

#include "runtime/cudart/capture/Graph.h"

namespace dragon {

/// A node that launches a kernel, made of what the program says; arguments are
/// copied.
Result kernelWork(Front &front, const cudaKernelNodeParams &params,
                  bool cooperative, KernelWork &work);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_LAUNCHES_KERNELWORK_H
