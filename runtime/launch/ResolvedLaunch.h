//===- ResolvedLaunch.h - a launch and what its pointers are ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pointers among a launch's arguments are looked up once, when the launch
// comes. Each step of its way to the device takes them from here, also after
// the launch has waited for others: memory is freed only behind it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_RESOLVEDLAUNCH_H
#define DRAGON_RUNTIME_LAUNCH_RESOLVEDLAUNCH_H

#include "runtime/launch/LaunchCall.h"
#include "runtime/memory/AddressSpace.h"

#include <vector>

namespace dragon {

/// A pointer among the arguments that matters to us.
struct LaunchPointer {
  uint32_t index; ///< of its PointerRecord
  uintptr_t value;
  Allocation *allocation; ///< that it points into; null: none
  bool mayWrite;
  /// It points into memory that is not ours, and leads to none that is.
  bool elsewhere = false;

  /// It points into no allocation, and may have come from any: one past its
  /// end.
  bool mayReachAny() const { return !allocation && !elsewhere; }
};

struct ResolvedLaunch : LaunchCall {
  std::vector<LaunchPointer> pointers;
  bool anything = false; ///< every buffer may be touched

  ResolvedLaunch() : LaunchCall{} {}
  ResolvedLaunch(const LaunchCall &call, AddressIndex &allocations) {
    resolve(call, allocations);
  }
  /// Each pointer leads to an allocation, and no allocation that is written
  /// through one of them is accessed through another.
  bool onDistinctAllocations() const;
  /// The same, in memory that was used before: launches in core make none. The
  /// index is always the same one.
  void resolve(const LaunchCall &call, AddressIndex &allocations);

private:
  /// When the pointers were looked up: the kernel's, and the index's.
  const KernelRecord *Record = nullptr;
  uint64_t Generation = UINT64_MAX;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_RESOLVEDLAUNCH_H
