//===- CannotRun.cpp - why a launch does not fit --------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/CannotRun.h"

#include "runtime/trace/Bytes.h"

namespace dragon {

Status cannotRun(const LaunchCall &call, const DeviceCaps &caps,
                 const CannotRun &why) {
  const KernelRecord *record = call.kernel->record;
  std::string reason;
  if (why.smallestBytes)
    reason = fmt::format("its smallest slice touches {}",
                         formatBytes(why.smallestBytes));
  else if (call.cooperative)
    reason = "it is a cooperative launch, which cannot be sliced";
  else if (record && record->WhyNotSliceable)
    reason = fmt::format("it cannot be sliced: {}",
                         call.kernel->summary->string(record->WhyNotSliceable));
  else
    reason = "it cannot be sliced: what it accesses is not known";
  if (record && record->LoopName && !call.cooperative &&
      !evaluateTrips(*call.kernel->summary, *record, dimsOf(call)))
    reason += "; it cannot run some iterations of its loop at a time: how many "
              "there are is not known before it runs";
  return Status::error(
      DRAGON_ERROR_OUT_OF_MEMORY,
      "kernel '{}' may touch {} at once: {} fit in device memory{}; {}; raise "
      "DRAGON_DEVICE_MEMORY{}{}",
      nameOf(call), formatBytes(why.wholeBytes), formatBytes(why.deviceBytes),
      caps.hostMapped ? fmt::format(" and {} in mapped host memory",
                                    formatBytes(why.mappedBytes))
                      : std::string(),
      reason, caps.hostMapped ? " or DRAGON_HOST_MEMORY" : "",
      caps.strict ? ", or leave out DRAGON_STRICT: with it, small buffers "
                    "share no chunks"
                  : "");
}

} // namespace dragon
