//===- Runtime.cpp - the runtime, as others see it ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/RuntimeImpl.h"
#include "runtime/trace/Log.h"

namespace dragon {

/// Null: the device is not shared with other programs, or not by agreement.
static std::unique_ptr<DeviceShare> joinOthers(const Settings &settings,
                                               const Device &device) {
  const auto terms = shareTerms(settings, device.caps());
  if (!terms)
    return nullptr;
  auto share =
      DeviceShare::join(settings.shareDir, device.caps().identity, *terms);
  if (share.ok())
    return std::move(*share);
  log(LogLevel::Info, "device memory is not divided with other programs: {}",
      share.takeStatus().message());
  return nullptr;
}

StatusOr<std::unique_ptr<Runtime>>
Runtime::create(Settings settings, std::unique_ptr<Device> device) {
  return create(std::move(settings), std::move(device), nullptr);
}

StatusOr<std::unique_ptr<Runtime>>
Runtime::create(Settings settings, std::unique_ptr<Device> device,
                std::unique_ptr<Observer> observer) {
  std::unique_ptr<DeviceShare> share = joinOthers(settings, *device);
  DRAGON_ASSIGN(
      Budget budget,
      chooseBudget(settings, device->caps(), availableHostMemory(),
                   share ? std::optional(share->most()) : std::nullopt));
  auto impl =
      std::make_unique<Impl>(std::move(settings), std::move(device), budget,
                             std::move(observer), std::move(share));
  DRAGON_TRY(impl->start());
  return std::unique_ptr<Runtime>(new Runtime(std::move(impl)));
}

Runtime::Runtime(std::unique_ptr<Impl> impl)
    : State(std::move(impl)), Buffers(*State), Files(*State, Buffers),
      Launches(*State), Libraries(*State) {}

Runtime::~Runtime() = default;

Device &Runtime::device() { return *State->Ctx.device; }

Ledger &Runtime::ledger() { return State->Ctx.ledger; }

const Settings &Runtime::settings() const { return State->Ctx.config; }

bool Runtime::isWatched() const { return State->Ctx.watcher != nullptr; }

void Runtime::noteHostCode(const ObservedHostCode &code) {
  Impl::Guard guard(*State);
  if (State->Ctx.watcher)
    State->Ctx.watcher->touchesElided(code);
}

void Runtime::yield() {
  if (State->Ctx.share)
    State->Ctx.share->yields();
}

bool Runtime::isShared() const { return State->Ctx.share != nullptr; }

Status Runtime::quiesce(bool last) {
  if (last && State->Ctx.share)
    State->Ctx.share->stop(); // it takes the lock
  Impl::Guard guard(*State);
  DRAGON_TRY(State->ready());
  Status status = State->quiesce();
  if (last)
    State->Ctx.device->finishTimeline();
  State->Closed = last;
  return status;
}

int Runtime::verdict() {
  Impl::Guard guard(*State);
  return State->Ctx.watcher ? State->Ctx.watcher->verdict() : 0;
}

Status Runtime::shutdown() {
  if (State->Ctx.share)
    State->Ctx.share->stop();
  Impl::Guard guard(*State);
  return State->shutdown();
}

} // namespace dragon
