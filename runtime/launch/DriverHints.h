//===- DriverHints.h - a launch and the buffers that the driver moves *- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A prefetch of what the launch touches, where the contents are likely to be
// elsewhere (memory/DriverMoved.h).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_DRIVERHINTS_H
#define DRAGON_RUNTIME_LAUNCH_DRIVERHINTS_H

#include "runtime/launch/LaunchFootprint.h"
#include "runtime/memory/DriverMoved.h"
#include "runtime/memory/WorkTracker.h"

namespace dragon {

class DriverHints {
public:
  DriverHints(Context &context, WorkTracker &time, AddressSpace &space)
      : Ctx(context), Time(time), Space(space) {}

  /// In front of the launch.
  Status prefetch(const ResolvedLaunch &launch);
  /// Behind it.
  void noteLaunch();

private:
  Status checkFiles(const ResolvedLaunch &launch);

  Context &Ctx;
  WorkTracker &Time;
  AddressSpace &Space;
  bool ToldOfReadOnly = false; ///< that what a driver may lose can be written
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_DRIVERHINTS_H
