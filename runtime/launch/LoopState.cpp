//===- LoopState.cpp - what threads keep between parts of a loop ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/LoopState.h"
#include "runtime/base/Rounding.h"

#include <utility>

namespace dragon {

namespace {

/// What KernelRecord::LoopName says of the area.
constexpr uint64_t Unit = 16;

} // namespace

uint64_t blocksOf(const BlockBox &box) {
  uint64_t blocks = 1;
  for (unsigned d = 0; d < 3; ++d)
    blocks *= box.Hi[d] - box.Lo[d];
  return blocks;
}

LoopArguments::LoopArguments(const LaunchCall &call, uintptr_t state,
                             const BlockBox &box, const BlockBox &panel)
    : State(state), Begin(box.Lo[LoopDimension]),
      End(box.Hi[LoopDimension] == ToTheEnd ? UINT64_MAX
                                            : box.Hi[LoopDimension]),
      First((uint64_t(panel.Lo[2]) * call.grid[1] + panel.Lo[1]) *
                call.grid[0] +
            panel.Lo[0]),
      Blocks(blocksOf(panel)), Dynamic(call.dynamicSharedBytes),
      Args(call.args, call.args + call.numArgs) {
  for (uint64_t *value : {&State, &Begin, &End, &First, &Blocks})
    Args.push_back(value);
  Args.push_back(&Dynamic);
  const KernelRecord &record = *call.kernel->record;
  if (!hasLoopEnds(record))
    return;
  Stops = loopStops(record, dimsOf(call), box);
  for (uint32_t loop = 0; loop < record.NumLoops; ++loop)
    Args.push_back(&Stops.Ends[loop]);
  for (uint32_t nest = 0; nest < numNests(record); ++nest)
    Args.push_back(&Stops.Rounds[nest]);
}

bool LoopState::canCut(const ResolvedLaunch &launch) const {
  return launch.kernel->looped && canCut(launch, *launch.kernel->looped);
}

bool LoopState::canCutPaged(const ResolvedLaunch &launch) const {
  return launch.kernel->pagedLoop && canCut(launch, *launch.kernel->pagedLoop);
}

uint32_t LoopState::tripsOf(const LaunchCall &launch) {
  const uint64_t trips = evaluateTrips(*launch.kernel->summary,
                                       *launch.kernel->record, dimsOf(launch));
  return trips < ToTheEnd ? uint32_t(trips) : 0;
}

bool LoopState::canCut(const ResolvedLaunch &launch,
                       const KernelHandle &copy) const {
  const KernelInfo &kernel = *launch.kernel;
  if (!kernel.record || launch.cooperative || launch.anything)
    return false;
  if (hasLoopEnds(*kernel.record) && !launch.loopEnds[0])
    return false;
  if ((kernel.record->Flags & KernelLoopNeedsDistinct) &&
      !launch.onDistinctAllocations())
    return false;
  LaunchRequest request = requestOf(launch, wholeGrid(launch));
  request.kernel = const_cast<KernelHandle *>(&copy);
  return Ctx.device->accepts(request);
}

uint64_t LoopState::bytesFor(const LaunchCall &call, uint64_t blocks) const {
  const KernelRecord &record = *call.kernel->record;
  const uint64_t threads = threadsOfBlock(call);
  uint64_t ofBlock = record.LoopBlockBytes;
  if (record.Flags & KernelLoopKeepsDynamic)
    ofBlock += roundUp(call.dynamicSharedBytes, Unit);
  return roundUp(roundUp(blocks * threads * record.LoopThreadBytes, Unit) +
                     blocks * ofBlock + Unit,
                 Ctx.caps().granularity);
}

uint64_t LoopState::bytesToMake(const LaunchCall &call, uint64_t blocks) const {
  const uint64_t bytes = bytesFor(call, blocks);
  return bytes <= Memory.bytes() ? 0 : bytes;
}

Status LoopState::begin(const LaunchCall &call, uint64_t blocks, bool repeats) {
  Bytes = bytesFor(call, blocks);
  if (const uint64_t bytes = repeats ? 2 * Bytes : Bytes;
      bytes > Memory.bytes()) {
    drop();
    Ctx.pins.next();
    DRAGON_TRY(
        Memory.make(bytes, bytes).within("the state of '{}'", nameOf(call)));
  }
  return Ticket ? Time.Work.queueWaitsForOne(call.queue, Ticket) : Status();
}

Status LoopState::remember(Queue queue) {
  return Ctx.device->copy(reinterpret_cast<void *>(address() + Bytes),
                          reinterpret_cast<void *>(address()), Bytes,
                          CopyKind::DeviceToDevice, queue);
}

Status LoopState::restore(Queue queue) {
  return Ctx.device->copy(reinterpret_cast<void *>(address()),
                          reinterpret_cast<void *>(address() + Bytes), Bytes,
                          CopyKind::DeviceToDevice, queue);
}

Status LoopState::end(const LaunchCall &call) {
  auto ticket = Time.Work.note(call.queue);
  if (!ticket.ok())
    DRAGON_TRY(Time.synchronizeAll());
  Ticket = ticket.ok() ? *ticket : 0;
  return {};
}

bool LoopState::drop() {
  if (!any())
    return false;
  if (Ticket)
    Time.Work.waitFor(std::exchange(Ticket, 0)).ignore();
  Memory.drop();
  return true;
}

} // namespace dragon
