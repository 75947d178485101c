//===- CannotRun.h - why a launch does not fit ------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The error of a launch for which there is no way to run within the budgets.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_CANNOTRUN_H
#define DRAGON_RUNTIME_LAUNCH_CANNOTRUN_H

#include "runtime/base/Status.h"
#include "runtime/launch/LaunchCall.h"

namespace dragon {

struct CannotRun {
  uint64_t wholeBytes;    ///< what it touches at once
  uint64_t smallestBytes; ///< of its smallest slice; 0: it cannot be sliced
  uint64_t deviceBytes;   ///< the device's budget
  uint64_t mappedBytes;   ///< what host memory can be mapped
};
Status cannotRun(const LaunchCall &call, const DeviceCaps &caps,
                 const CannotRun &why);

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_CANNOTRUN_H
