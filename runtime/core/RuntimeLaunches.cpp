//===- RuntimeLaunches.cpp - launches and calls of library functions ------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/RuntimeImpl.h"

namespace dragon {

Status Runtime::launch(const LaunchCall &call) {
  Impl &impl = *State;
  std::vector<AddressRange> written;
  bool tells;
  {
    Impl::StateGuard guard(impl);
    DRAGON_TRY(impl.usable());
    tells = impl.listener();
    if (!tells) {
      if (std::optional<Status> ran = impl.Launches.launchInCore(call))
        return std::move(*ran);
    } else {
      written = impl.Launches.mayWrite(call);
      for (const LastUse &use : call.lastUses)
        if (const Allocation *found = impl.Space.Allocations.find(use.address))
          written.push_back(
              {use.address, endOf(use, found->base, found->bytes)});
    }
  }
  if (tells) {
    impl.tellListener(written);
    Impl::StateGuard guard(impl);
    DRAGON_TRY(impl.usable());
    if (std::optional<Status> ran = impl.Launches.launchInCore(call))
      return std::move(*ran);
  }
  Impl::Guard guard(impl);
  DRAGON_TRY(impl.usable());
  return impl.Launches.launch(call);
}

size_t Runtime::overwritten(const LaunchCall &call, uintptr_t address) const {
  Impl::Guard guard(*State);
  return State->Launches.overwritten(call, address);
}

bool Runtime::readsUpwards(const LaunchCall &call, uint32_t argument,
                           uint32_t field) const {
  {
    Impl::StateGuard guard(*State);
    if (!State->OnDevice.mayMove())
      return false;
  }
  return Launcher::readsUpwards(call, argument, field);
}

Status Runtime::beginLibraryCall(const LibraryCall &call, LibraryHold &hold) {
  std::vector<AddressRange> written;
  {
    Impl::Guard guard(*State);
    DRAGON_TRY(State->ready());
    for (const LibraryUse &use : call.uses)
      if (const Allocation *of = State->Space.Allocations.find(use.address);
          of && use.need != LaunchNeed::Read)
        written.push_back({of->base, of->end()});
  }
  State->tellListener(written);
  Impl::Guard guard(*State);
  DRAGON_TRY(State->ready());
  return State->Library.begin(call, hold);
}

Status Runtime::endLibraryCall(const LibraryHold &hold) {
  Impl::Guard guard(*State);
  return State->Library.end(hold);
}

Status Runtime::keepReachable(uintptr_t address) {
  AddressRange range{};
  {
    Impl::Guard guard(*State);
    DRAGON_TRY(State->ready());
    const Allocation *found = State->Space.Allocations.find(address);
    if (!found)
      return {};
    range = {found->base, found->end()};
  }
  // It may write it now, and later.
  State->tellListener(range.begin, range.end);
  Impl::Guard guard(*State);
  DRAGON_TRY(State->ready());
  std::vector<Buffer *> done;
  return State->Library.keepReachable(address, done);
}

} // namespace dragon
