//===- Runtime.cpp - the runtime, as others see it ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/RuntimeImpl.h"

namespace dragon {

StatusOr<std::unique_ptr<Runtime>>
Runtime::create(Settings settings, std::unique_ptr<Device> device) {
  return create(std::move(settings), std::move(device), nullptr);
}

StatusOr<std::unique_ptr<Runtime>>
Runtime::create(Settings settings, std::unique_ptr<Device> device,
                std::unique_ptr<Observer> observer) {
  DRAGON_ASSIGN(Budget budget,
                chooseBudget(settings, device->caps(), availableHostMemory()));
  auto impl = std::make_unique<Impl>(std::move(settings), std::move(device),
                                     budget, std::move(observer));
  DRAGON_TRY(impl->start());
  return std::unique_ptr<Runtime>(new Runtime(std::move(impl)));
}

Runtime::Runtime(std::unique_ptr<Impl> impl) : State(std::move(impl)) {}

Runtime::~Runtime() = default;

Device &Runtime::device() { return *State->Ctx.device; }

Ledger &Runtime::ledger() { return State->Ctx.ledger; }

const Settings &Runtime::settings() const { return State->Ctx.config; }

StatusOr<DeviceMemory> Runtime::memoryForProgram() {
  Impl::Guard guard(*State);
  DRAGON_TRY(State->ready());
  uint64_t swap = 0;
  if (auto file = State->Store.swapFile(); file.ok())
    swap = (*file)->available();
  // What lives in swap now is no longer available, and counts as used.
  uint64_t capacity =
      State->OnDevice.Pool.budget() +
      (State->Ctx.limits.hostBytes - State->Ctx.limits.transitBytes);
  uint64_t live = State->Space.LiveBytes;
  DeviceMemory memory;
  memory.free = (capacity > live ? capacity - live : 0) + swap;
  memory.total = live + memory.free;
  return memory;
}

MemoryInUse Runtime::memoryInUse() const {
  Impl::StateGuard guard(*State);
  uint64_t swap = 0;
  for (const std::unique_ptr<Buffer> &buffer : State->Space.Buffers)
    for (const Chunk &chunk : buffer->chunks)
      swap += chunk.slot.bytes;
  return {State->OnDevice.Pool.used(), State->Slabs.Pool.used(), swap};
}

void Runtime::setBeforeWrite(BeforeWrite listener, void *context,
                             const std::atomic<bool> *wanted) {
  Impl::Guard guard(*State);
  State->Listener = listener;
  State->ListenerContext = context;
  State->ListenerWanted = wanted;
}

bool Runtime::isWatched() const { return State->Ctx.watcher != nullptr; }

void Runtime::noteHostCode(const ObservedHostCode &code) {
  Impl::Guard guard(*State);
  if (State->Ctx.watcher)
    State->Ctx.watcher->touchesElided(code);
}

Status Runtime::quiesce(bool last) {
  Impl::Guard guard(*State);
  DRAGON_TRY(State->ready());
  Status status = State->quiesce();
  if (last)
    State->Ctx.device->finishTimeline();
  State->Closed = last;
  return status;
}

Status Runtime::runWaiting() {
  State->Waves.interrupt();
  if (!State->Waves.anyAtAll())
    return {};
  Impl::Guard guard(*State);
  return State->ready();
}

Status Runtime::destroyQueue(Queue queue) {
  Impl::Guard guard(*State);
  DRAGON_TRY(State->ready());
  State->Time.Work.queueEnds(queue);
  return State->Ctx.device->destroyQueue(queue);
}

int Runtime::verdict() {
  Impl::Guard guard(*State);
  return State->Ctx.watcher ? State->Ctx.watcher->verdict() : 0;
}

Status Runtime::shutdown() {
  Impl::Guard guard(*State);
  return State->shutdown();
}

} // namespace dragon
