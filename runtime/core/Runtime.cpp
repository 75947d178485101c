//===- Runtime.cpp - the runtime, as others see it ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/RuntimeImpl.h"
#include "runtime/trace/Log.h"

namespace dragon {

/// Null: the memory is not shared with other programs, or not by agreement.
static std::unique_ptr<DeviceShare>
joinOthers(const Settings &settings, const char *memory,
           const std::string &name, const DeviceShare::Terms &terms) {
  auto share = DeviceShare::join(settings.shareDir, name, terms);
  if (share.ok())
    return std::move(*share);
  log(LogLevel::Info, "{} memory is not divided with other programs: {}",
      memory, share.takeStatus().message());
  return nullptr;
}

StatusOr<std::unique_ptr<Runtime>>
Runtime::create(Settings settings, std::unique_ptr<Device> device) {
  return create(std::move(settings), std::move(device), nullptr);
}

StatusOr<std::unique_ptr<Runtime>>
Runtime::create(Settings settings, std::unique_ptr<Device> device,
                std::unique_ptr<Observer> observer) {
  const DeviceCaps &caps = device->caps();
  const uint64_t hostFree = availableHostMemory();
  Shares shares;
  if (const auto terms = shareTerms(settings, caps)) {
    shares.device = joinOthers(settings, "device", caps.identity, *terms);
    shares.host = joinOthers(settings, "host", hostMemoryName(),
                             hostShareTerms(settings, *terms, hostFree));
  }
  const auto mostOf = [](const std::unique_ptr<DeviceShare> &share) {
    return share ? std::optional(share->most()) : std::nullopt;
  };
  DRAGON_ASSIGN(Budget budget,
                chooseBudget(settings, caps, hostFree, mostOf(shares.device),
                             mostOf(shares.host)));
  auto impl =
      std::make_unique<Impl>(std::move(settings), std::move(device), budget,
                             std::move(observer), std::move(shares));
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
  if (last)
    State->stopThreads(); // it takes the lock
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
  State->stopThreads();
  Impl::Guard guard(*State);
  return State->shutdown();
}

} // namespace dragon
