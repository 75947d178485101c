//===- RuntimeLaunches.cpp - launches of kernels --------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/RuntimeImpl.h"

namespace dragon {

Status RuntimeLaunches::launch(const LaunchCall &call) {
  RuntimeImpl &impl = State;
  std::vector<AddressRange> written;
  bool tells;
  {
    RuntimeImpl::StateGuard guard(impl);
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
    RuntimeImpl::StateGuard guard(impl);
    DRAGON_TRY(impl.usable());
    if (std::optional<Status> ran = impl.Launches.launchInCore(call))
      return std::move(*ran);
  }
  RuntimeImpl::Guard guard(impl);
  DRAGON_TRY(impl.usable());
  return impl.Launches.launch(call);
}

size_t RuntimeLaunches::overwritten(const LaunchCall &call,
                                    uintptr_t address) const {
  RuntimeImpl::Guard guard(State);
  return State.Launches.overwritten(call, address);
}

bool RuntimeLaunches::readsUpwards(const LaunchCall &call, uint32_t argument,
                                   uint32_t field) const {
  {
    RuntimeImpl::StateGuard guard(State);
    if (!State.OnDevice.mayMove())
      return false;
  }
  return Launcher::readsUpwards(call, argument, field);
}

void RuntimeLaunches::setBeforeWrite(BeforeWrite listener, void *context,
                                     const std::atomic<bool> *wanted) {
  RuntimeImpl::Guard guard(State);
  State.Listener = listener;
  State.ListenerContext = context;
  State.ListenerWanted = wanted;
}

Status RuntimeLaunches::runWaiting() {
  State.Waves.interrupt();
  State.Computed.otherWork();
  if (!State.Waves.anyAtAll())
    return {};
  RuntimeImpl::Guard guard(State);
  return State.ready();
}

Status RuntimeLaunches::destroyQueue(Queue queue) {
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  State.Time.Work.queueEnds(queue);
  State.Alloc.queueEnds(queue);
  return State.Ctx.device->destroyQueue(queue);
}

} // namespace dragon
