//===- ProcessState.h - whether this process has its device -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What process/Lifecycle.h finds out, for those who must not go on then.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_FRONT_PROCESSSTATE_H
#define DRAGON_RUNTIME_CUDART_FRONT_PROCESSSTATE_H

namespace dragon {

/// True in a child of a process that had a device.
bool inForkedChild();

/// True for threads whose calls come after the runtime was shut down.
bool refusedAtExit();

// -- What Lifecycle tells.
/// The runtime has been created, in this process.
void processHasDevice();
/// This process is a child that fork() has made.
void processIsChild();
/// From now on all calls are refused, or those of all other threads.
void refuseAllCalls();
void refuseOtherThreads();

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_FRONT_PROCESSSTATE_H
