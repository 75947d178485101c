//===- Submitter.h - blocks go to the device --------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last step of every launch: the driver's call, and the word to who
// watches.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_SUBMITTER_H
#define DRAGON_RUNTIME_LAUNCH_SUBMITTER_H

#include "runtime/launch/DriverHints.h"
#include "runtime/memory/HostSlabs.h"

#include <span>

namespace dragon {

/// What of a launch goes to the device.
struct Submission {
  BlockBox box; ///< its blocks
  Queue queue;
  /// They touch no buffers but those ranges, unless `anything`.
  std::span<const AddressRange> touched;
  bool anything;
  /// Another kernel than the launch's, and its arguments; null: the launch's.
  const KernelHandle *kernel = nullptr;
  std::span<void *const> args = {};
  /// Nothing moves around it: it may begin early, if the program lets it.
  bool inPlace = false;
};

class Submitter {
public:
  Submitter(Context &context, AddressSpace &space, HostSlabs &slabs,
            DriverHints &hints)
      : Ctx(context), Space(space), Slabs(slabs), Hints(hints) {}

  Status run(const ResolvedLaunch &launch, const Submission &part);

  /// Submissions that the device has taken.
  uint64_t taken() const { return Taken; }

private:
  Context &Ctx;
  AddressSpace &Space;
  HostSlabs &Slabs;
  DriverHints &Hints;
  uint64_t Taken = 0;
};

/// Runs what is a launch to who watches, if anybody does.
template <typename Run>
Status observed(Observer *watcher, const LaunchCall &call, Run &&run) {
  if (!watcher)
    return run();
  watcher->launchBegins(nameOf(call), call.number);
  Status status = run();
  watcher->launchEnds();
  return status;
}

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_SUBMITTER_H
