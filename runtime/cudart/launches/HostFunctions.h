//===- HostFunctions.h - callbacks in a stream's order ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cudaLaunchHostFunc and cudaStreamAddCallback on the cpu device, whose streams
// are empty whenever a call returns. The function still runs on a thread of the
// runtime, as CUDA promises (the caller may hold a lock that it takes), and
// later work in any stream waits for those before it.
//
// On a GPU they are NVIDIA's to run. Copies from and to pageable memory are
// made by this runtime's threads, which the stream does not order behind them:
// such a copy waits for the stream while functions are still to come.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_LAUNCHES_HOSTFUNCTIONS_H
#define DRAGON_RUNTIME_CUDART_LAUNCHES_HOSTFUNCTIONS_H

#include "runtime/cudart/front/Front.h"

#include <functional>

namespace dragon {

/// Runs `function` after what `stream` holds.
void addHostFunction(cudaStream_t stream, std::function<void()> function);

/// Returns when the functions have run that come before the next work in
/// `stream`: its own, and those of the legacy default stream, unless it is a
/// non-blocking one; of all streams for the default stream. On GPUs, and on the
/// functions' own thread, at once.
void waitForHostFunctions(Front &front, cudaStream_t stream);
/// Work in the stream comes behind that of the legacy default stream, or not.
/// Streams are blocking unless they are said not to be; whoever destroys one
/// says that it is, for a new one may get its handle.
void noteStream(cudaStream_t stream, bool blocking);
/// As waitForHostFunctions, for those of `stream` alone; of all for the default
/// stream.
void waitForOwnHostFunctions(Front &front, cudaStream_t stream);
void waitForAllHostFunctions(Front &front);

/// Waits for the work and the host functions of `stream`.
Status synchronizeStream(Front &front, cudaStream_t stream);

/// The runtime is about to touch host memory for a copy in `stream`: functions
/// in front of it, which may use the same memory, have run when it returns.
Status waitForHostWork(Front &front, cudaStream_t stream);

/// On a GPU, a graph has functions.
void noteHostWorkInGraph();

/// True if none is waiting or running, as waitForOwnHostFunctions sees it.
bool hostFunctionsDone(Front &front, cudaStream_t stream);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_LAUNCHES_HOSTFUNCTIONS_H
