//===- Lifecycle.h - fork, exit and reset -----------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The end of a process, in order:
//  1. exit handlers and static destructors of what was registered or
//     constructed after the device was opened, which the first call does; they
//     may call the API;
//  2. on a GPU: all work is waited for, D_WRITE maps and deferred results are
//     written. Right behind it comes the driver's own handler, which cuInit
//     registered: from there on each of its calls fails with
//     CUDA_ERROR_DEINITIALIZED, and ours by any thread are refused with
//     cudaErrorCudartUnloading, as with CUDA's runtime;
//  3. exit handlers and static destructors of what is older than the device;
//     on a GPU they find in host memory what was copied there;
//  4. the destructors of libraries. Ours shuts the runtime down and prints the
//     statistics; on the cpu device calls by other threads, which may still be
//     running, are refused from then on.
//
// A forked child has a copy of the parent's memory and none of its device: its
// calls fail with cudaErrorInitializationError, it prints no statistics, and
// nothing that it does touches the runtime's rings, threads or locks.
// What is to be done before there is a child: InterposeProcess.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_PROCESS_LIFECYCLE_H
#define DRAGON_RUNTIME_CUDART_PROCESS_LIFECYCLE_H

namespace dragon {

/// Called once, when the runtime has been created and with it, on a GPU, the
/// driver initialised: that sets the place of step 2.
void armLifecycle();

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_PROCESS_LIFECYCLE_H
