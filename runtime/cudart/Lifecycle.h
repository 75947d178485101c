//===- Lifecycle.h - fork, exit and reset -----------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The end of a process, in order:
//  1. exit handlers that were registered after the first CUDA call;
//  2. on a GPU, quiesce(): all work is waited for and D_WRITE maps are written,
//     while the driver still answers (it stops with an exit handler of its
//     own);
//  3. other exit handlers and static destructors of the program, which may call
//     the API;
//  4. the library's destructor: the runtime is shut down, statistics printed.
// From 4 on calls by other threads, which may still be running, are refused.
//
// A forked child has a copy of the parent's memory and none of its device: its
// calls fail with cudaErrorInitializationError, and it prints no statistics.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_LIFECYCLE_H
#define DRAGON_RUNTIME_CUDART_LIFECYCLE_H

namespace dragon {

/// Called once, when the runtime has been created.
void armLifecycle(bool gpu);

/// True for threads whose calls come after the runtime was shut down.
bool refusedAtExit();

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_LIFECYCLE_H
