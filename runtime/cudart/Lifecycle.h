//===- Lifecycle.h - fork, exit and reset -----------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The end of a process, in order:
//  1. exit handlers and static destructors of what was registered or
//     constructed after the first module with kernels was registered, which is
//     before main; they may call the API;
//  2. on a GPU: all work is waited for, D_WRITE maps and deferred results are
//     written, while the driver still answers. From here on calls by any thread
//     are refused with cudaErrorCudartUnloading;
//  3. the destructors of libraries. The driver's lets go of the device, so
//     nothing may touch it or pinned memory any more. Ours shuts the runtime
//     down and prints the statistics; on the cpu device calls by other threads,
//     which may still be running, are refused from then on.
//
// A forked child has a copy of the parent's memory and none of its device: its
// calls fail with cudaErrorInitializationError, and it prints no statistics.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_LIFECYCLE_H
#define DRAGON_RUNTIME_CUDART_LIFECYCLE_H

namespace dragon {

/// Called when a module is registered, and when the runtime has been created:
/// the first time sets the place of step 2.
void watchExit();

/// Called once, when the runtime has been created.
void armLifecycle();

/// True for threads whose calls come after the runtime was shut down.
bool refusedAtExit();

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_LIFECYCLE_H
