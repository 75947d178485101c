//===- ResolvedLaunch.cpp - a launch and what its pointers are ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/ResolvedLaunch.h"

#include <cstring>

namespace dragon {

static bool holds(const Allocation *allocation, uintptr_t value) {
  return allocation && value >= allocation->base && value < allocation->end();
}

void ResolvedLaunch::resolve(const LaunchCall &call,
                             AddressIndex &allocations) {
  const bool again = kernel == call.kernel && numArgs == call.numArgs &&
                     Record == call.kernel->record &&
                     Generation == allocations.generation();
  static_cast<LaunchCall &>(*this) = call;
  Record = kernel->record;
  Generation = allocations.generation();
  anything = false;
  size_t count = 0;
  const SummaryView *summary = kernel->summary;
  const KernelRecord *record = kernel->record;
  if (!summary || !record ||
      (record->Flags & (KernelTouchesAnything | KernelUnknown)) ||
      numArgs < record->NumArgs) {
    anything = true;
    pointers.clear();
    return;
  }
  pointers.resize(record->NumPointers);
  for (uint32_t i = 0; i < record->NumPointers; ++i) {
    const uint32_t pointerIndex = record->FirstPointer + i;
    const PointerRecord &pointer = summary->pointer(pointerIndex);
    if (pointer.Flags & PointerEscapes)
      anything = true;
    if (pointer.Mode == AccessMode::None)
      continue;
    uintptr_t value;
    std::memcpy(&value,
                static_cast<const char *>(args[pointer.ArgIndex]) +
                    pointer.ByteOffset,
                sizeof(value));
    if (value == 0)
      continue;
    // Launches in loops have the pointers of the one before, or others into the
    // same allocations.
    LaunchPointer &found = pointers[count++];
    if (again && found.index == pointerIndex &&
        (found.elsewhere ? found.value == value
                         : holds(found.allocation, value))) {
      found.value = value;
      continue;
    }
    Allocation *allocation = allocations.find(value);
    if (!allocation) // one past the end, to go backwards from
      allocation = allocations.find(value - 1);
    found = {pointerIndex, value, allocation, pointer.Mode != AccessMode::Read,
             !allocation && allocations.isOthers(value)};
  }
  pointers.resize(count);
}

/// They may lead to the same allocation: also where one is the end of what the
/// other leads to, and another allocation begins there.
static bool mayMeet(const LaunchPointer &a, const LaunchPointer &b) {
  return a.allocation == b.allocation || a.value == b.allocation->end() ||
         b.value == a.allocation->end();
}

bool ResolvedLaunch::onDistinctAllocations() const {
  if (anything)
    return false;
  for (size_t i = 0; i < pointers.size(); ++i) {
    if (!pointers[i].allocation)
      return false;
    for (size_t j = 0; j < i; ++j)
      if ((pointers[i].mayWrite || pointers[j].mayWrite) &&
          mayMeet(pointers[i], pointers[j]))
        return false;
  }
  return true;
}

} // namespace dragon
