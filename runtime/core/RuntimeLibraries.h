//===- RuntimeLibraries.h - code that others launch -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of the runtime for code that it does not launch itself: library
// functions, graphs, other runtimes.
//
// Thread-safe. A call with a queue takes effect in that queue's order. Where
// chunks must move (out of core), a call may block until earlier work on them
// ended.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CORE_RUNTIMELIBRARIES_H
#define DRAGON_RUNTIME_CORE_RUNTIMELIBRARIES_H

#include "runtime/base/Status.h"
#include "runtime/launch/LibraryCalls.h"

#include <cstdint>

namespace dragon {

struct RuntimeImpl;

class RuntimeLibraries {
public:
  explicit RuntimeLibraries(RuntimeImpl &impl) : State(impl) {}

  /// Code that this runtime does not launch is about to work on the buffer at
  /// `address` (on all buffers): it comes to the device as a whole and stays
  /// there. An error if the budget does not hold it.
  Status keepResident(uintptr_t address);
  Status keepAllResident();

  /// A library function is about to be called that works on buffers by itself:
  /// what it uses comes to the device and stays until endLibraryCall. An error
  /// if the budget does not hold it.
  Status beginLibraryCall(const LibraryCall &call, LibraryHold &hold);
  Status endLibraryCall(const LibraryHold &hold);
  /// keepResident, also for buffers whose addresses are in a small one.
  Status keepReachable(uintptr_t address);

private:
  RuntimeImpl &State;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_CORE_RUNTIMELIBRARIES_H
