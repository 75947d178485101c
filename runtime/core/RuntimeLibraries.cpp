//===- RuntimeLibraries.cpp - code that others launch ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/RuntimeImpl.h"

namespace dragon {

Status RuntimeLibraries::keepResident(uintptr_t address) {
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  Allocation *found = State.Space.Allocations.find(address);
  return found ? State.Resident.keep(*found->buffer) : Status();
}

Status RuntimeLibraries::keepAllResident() {
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  for (std::unique_ptr<Buffer> &buffer : State.Space.Buffers)
    DRAGON_TRY(State.Resident.keep(*buffer));
  return {};
}

Status RuntimeLibraries::beginLibraryCall(const LibraryCall &call,
                                          LibraryHold &hold) {
  std::vector<AddressRange> written;
  {
    RuntimeImpl::Guard guard(State);
    DRAGON_TRY(State.ready());
    for (const LibraryUse &use : call.uses)
      if (const Allocation *of = State.Space.Allocations.find(use.address);
          of && use.need != LaunchNeed::Read)
        written.push_back({of->base, of->end()});
  }
  State.tellListener(written);
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  return State.Library.begin(call, hold);
}

Status RuntimeLibraries::endLibraryCall(const LibraryHold &hold) {
  RuntimeImpl::Guard guard(State);
  return State.Library.end(hold);
}

Status RuntimeLibraries::keepReachable(uintptr_t address) {
  AddressRange range{};
  {
    RuntimeImpl::Guard guard(State);
    DRAGON_TRY(State.ready());
    const Allocation *found = State.Space.Allocations.find(address);
    if (!found)
      return {};
    range = {found->base, found->end()};
  }
  // It may write it now, and later.
  State.tellListener(range.begin, range.end);
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  std::vector<uintptr_t> done;
  return State.Library.keepReachable(address, done);
}

} // namespace dragon
