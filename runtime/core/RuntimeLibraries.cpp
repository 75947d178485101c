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
  // All or none: one that stays for nothing is room that others lack.
  uint64_t more = 0;
  for (const std::unique_ptr<Buffer> &buffer : State.Space.Buffers)
    more += buffer->kept ? 0 : buffer->vaBytes;
  DRAGON_TRY(State.Resident.checkKept(more));
  for (std::unique_ptr<Buffer> &buffer : State.Space.Buffers)
    DRAGON_TRY(State.Resident.keep(*buffer));
  return {};
}

Status RuntimeLibraries::beforeCapture() {
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  return State.OnDevice.mayMove() ? State.Time.synchronizeAll() : Status();
}

Status RuntimeLibraries::followPointers(LibraryCall &call) {
  if (!call.followsPointers())
    return {};
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  return State.Library.followPointers(call);
}

StatusOr<bool> RuntimeLibraries::run(const LibraryCall &call,
                                     const QueueWork &work) {
  std::vector<AddressRange> written;
  bool tells;
  {
    RuntimeImpl::StateGuard guard(State);
    DRAGON_TRY(State.usable());
    tells = State.listener();
    if (!tells) {
      if (std::optional<Status> ran = State.Launches.runInPlace(call, work)) {
        DRAGON_TRY(std::move(*ran));
        return true;
      }
    } else {
      written = writtenBy(call);
    }
  }
  if (tells)
    State.tellListener(written);
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  if (!State.Library.fits(call))
    return false;
  LibraryHold hold;
  DRAGON_TRY(State.Library.begin(call, hold));
  Status queued = work();
  DRAGON_TRY(State.Library.end(hold));
  DRAGON_TRY(std::move(queued));
  return true;
}

bool RuntimeLibraries::isCurrent(const Reach &reach) const {
  RuntimeImpl::StateGuard guard(State);
  return reach.generation == State.Space.Allocations.generation();
}

RuntimeLibraries::Reach
RuntimeLibraries::reachOf(std::span<const LaunchCall> launches, bool anything) {
  RuntimeImpl::StateGuard guard(State);
  Reach reach;
  reach.generation = State.Space.Allocations.generation();
  if (!anything)
    if (auto found = State.Launches.reachOf(launches)) {
      reach.uses = std::move(*found);
      return reach;
    }
  for (const auto &[base, allocation] : State.Space.Allocations.all())
    reach.uses.push_back({base, LibraryUse::Unknown, LaunchNeed::Write});
  return reach;
}

std::vector<AddressRange>
RuntimeLibraries::writtenBy(const LibraryCall &call) const {
  std::vector<AddressRange> written;
  for (const LibraryUse &use : call.uses)
    if (const Allocation *of = State.Space.Allocations.find(use.address);
        of && use.need != LaunchNeed::Read)
      written.push_back({of->base, of->end()});
  return written;
}

Status RuntimeLibraries::beginLibraryCall(const LibraryCall &call,
                                          LibraryHold &hold) {
  if (call.followsPointers()) {
    LibraryCall known = call;
    DRAGON_TRY(followPointers(known));
    return beginLibraryCall(known, hold);
  }
  std::vector<AddressRange> written;
  {
    RuntimeImpl::Guard guard(State);
    DRAGON_TRY(State.ready());
    written = writtenBy(call);
  }
  State.tellListener(written);
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  return State.Library.begin(call, hold);
}

StatusOr<CallPieces::Footprint>
RuntimeLibraries::footprintOf(const LibraryCall &call) {
  LibraryCall known = call;
  DRAGON_TRY(followPointers(known));
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  return State.Library.footprintOf(known);
}

Status RuntimeLibraries::discardOverwritten(const LibraryCall &call) {
  std::vector<AddressRange> ranges;
  {
    RuntimeImpl::StateGuard guard(State);
    ranges = State.Library.overwrittenBy(call);
  }
  RuntimeBuffers buffers(State);
  for (const AddressRange &range : ranges)
    DRAGON_TRY(buffers.discard(range.begin, range.end - range.begin,
                               call.queue.value_or(nullptr)));
  return {};
}

Status RuntimeLibraries::endLibraryCall(const LibraryHold &hold) {
  RuntimeImpl::Guard guard(State);
  return State.Library.end(hold);
}

Status RuntimeLibraries::addReachable(uintptr_t address, LibraryCall &call) {
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  return State.Library.addReachable(address, call);
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
