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
#include <span>
#include <vector>

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

  /// A stream is about to be captured by NVIDIA's runtime: until that ends, the
  /// device as a whole cannot be waited for. Whatever may have to move by then
  /// is waited for now.
  Status beforeCapture();

  /// Work on whole buffers that `work` queues into the call's queue: a graph of
  /// NVIDIA's. What is not on the device comes before. False: the budget does
  /// not hold all that it uses, and nothing has happened.
  StatusOr<bool> run(const LibraryCall &call, const QueueWork &work);
  /// What launches and other work may use, as whole buffers.
  struct Reach {
    std::vector<LibraryUse> uses;
    uint64_t generation = UINT64_MAX; ///< of the program's allocations
  };
  /// Nothing has been allocated or freed since.
  bool isCurrent(const Reach &reach) const;
  /// `anything`: the other work may use all buffers.
  Reach reachOf(std::span<const LaunchCall> launches, bool anything);

  /// A library function is about to be called that works on buffers by itself:
  /// what it uses comes to the device and stays until endLibraryCall. An error
  /// if the budget does not hold it.
  Status beginLibraryCall(const LibraryCall &call, LibraryHold &hold);
  Status endLibraryCall(const LibraryHold &hold);
  /// What beginLibraryCall would bring in. It may wait for work that writes
  /// pointers.
  StatusOr<CallPieces::Footprint> footprintOf(const LibraryCall &call);
  /// Drops the contents of what the call overwrites and does not use in any
  /// other way: it will be made in pieces, some of which overwrite a part of a
  /// chunk each.
  Status discardOverwritten(const LibraryCall &call);
  /// Adds the buffer at `address` to what a call uses, and buffers whose
  /// addresses are in it, if it is a small one.
  Status addReachable(uintptr_t address, LibraryCall &call);
  /// keepResident, also for buffers whose addresses are in a small one.
  Status keepReachable(uintptr_t address);

  /// Puts what pointers in device memory point to in place of the uses that
  /// follow them. beginLibraryCall() does so itself; run() is given none such.
  Status followPointers(LibraryCall &call);

private:
  /// The allocations of which a call may write something.
  std::vector<AddressRange> writtenBy(const LibraryCall &call) const;

  RuntimeImpl &State;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_CORE_RUNTIMELIBRARIES_H
