//===- BufferHints.cpp - what the program says of its buffers -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/RuntimeBuffers.h"

#include "runtime/core/RuntimeImpl.h"

namespace dragon {

Status RuntimeBuffers::prefetch(uintptr_t address, size_t bytes, Queue queue) {
  if (bytes == 0)
    return {};
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.usable());
  RuntimeImpl &impl = State;
  DRAGON_ASSIGN(Allocation * found,
                impl.Space.rangeOf(address, bytes, "prefetch"));
  if (impl.Ctx.watcher)
    impl.Ctx.watcher->prefetched({address, address + bytes});
  if (found->buffer->driverMoved)
    return impl.Driver.prefetch(*found->buffer, {address, address + bytes},
                                Place::Device, queue);
  if (impl.Waves.any())
    return {}; // a hint; those that wait bring what they need
  return impl.Resident.prefetch(*found->buffer, address, bytes, queue);
}

Status RuntimeBuffers::prefetchInCore(uintptr_t address, size_t bytes,
                                      Queue queue) {
  {
    RuntimeImpl::Guard guard(State);
    const Allocation *found = State.Space.Allocations.find(address);
    if (!State.OnDevice.holdsAll() || !found || !bytes)
      return {};
    const uintptr_t end = found->buffer->endOfComplete(address + bytes);
    bytes = end > address ? end - address : 0;
  }
  return prefetch(address, bytes, queue);
}

Status RuntimeBuffers::prefetchToHost(uintptr_t address, size_t bytes,
                                      Queue queue) {
  if (bytes == 0)
    return {};
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.usable());
  DRAGON_ASSIGN(Allocation * found,
                State.Space.rangeOf(address, bytes, "prefetch"));
  return found->buffer->driverMoved
             ? State.Driver.prefetch(*found->buffer, {address, address + bytes},
                                     Place::Host, queue)
             : Status();
}

Status RuntimeBuffers::nextUse(uintptr_t address, uint32_t launches) {
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.usable());
  RuntimeImpl &impl = State;
  Allocation *found = impl.Space.Allocations.find(address);
  if (!found || found->buffer->arena || !impl.Time.Tracking)
    return {}; // of interest only where something moves
  impl.Next.announce(*found->buffer, launches);
  // Launches that wait run first, and know better.
  if (launches == 0 && !impl.Waves.any())
    return impl.Resident.prefetch(*found->buffer, found->base, found->bytes,
                                  nullptr);
  return {};
}

Status RuntimeBuffers::advise(uintptr_t address, size_t bytes,
                              dragon_advice advice) {
  if (advice < DRAGON_ADVISE_READ_MOSTLY || advice > DRAGON_ADVISE_NORMAL)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT, "advice {} is unknown",
                         int(advice));
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  DRAGON_ASSIGN(Allocation * found,
                State.Space.rangeOf(address, bytes, "advise"));
  found->buffer->advice = advice;
  return found->buffer->driverMoved
             ? State.Driver.advise({address, address + bytes}, advice)
             : Status();
}

} // namespace dragon
