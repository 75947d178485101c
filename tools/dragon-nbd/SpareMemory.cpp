//===- SpareMemory.cpp - device memory that nobody else wants -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-nbd/SpareMemory.h"

#include "runtime/memory/Budget.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"

#include <algorithm>

namespace dragon::nbd {

namespace {

/// What is wanted is told in steps of so many areas: each change divides the
/// memory among all programs.
constexpr uint64_t StepAreas = 16;

} // namespace

StatusOr<std::unique_ptr<SpareMemory>>
SpareMemory::create(std::unique_ptr<Device> Of, const Settings &Settings,
                    const Limits &Limits, uint64_t AreaBytes, uint64_t NumAreas,
                    Report Tell) {
  std::unique_ptr<SpareMemory> Memory(
      new SpareMemory(std::move(Of), AreaBytes, std::move(Tell)));
  const DeviceCaps &Caps = Memory->Of->caps();
  if (Caps.migrates)
    return Status::error(DRAGON_ERROR_UNSUPPORTED,
                         "the {} device does not say what is in its memory; "
                         "use vmm or cpu",
                         Caps.name);
  if (AreaBytes % Caps.granularity)
    return Status::error(DRAGON_ERROR_SETTING,
                         "areas of {}: the {} device needs a multiple of {}",
                         formatBytes(AreaBytes), Caps.name,
                         formatBytes(Caps.granularity));
  Memory->Hard =
      Limits.Hard.value_or(Settings.deviceMemory.value_or(UINT64_MAX));
  // A simulated device is not used by anybody outside.
  Memory->Keep = Caps.deviceIsHostVisible
                     ? 0
                     : Limits.Keep.value_or(deviceReserve(Caps) / 2);
  Memory->Reserved = AreaBytes * NumAreas;
  DRAGON_ASSIGN(Memory->Base, Memory->Of->reserve(Memory->Reserved));
  Memory->Of->describe(Memory->Base, Memory->Reserved, "block device");
  if (auto Terms = shareTerms(Settings, Caps)) {
    Terms->most = Memory->Hard;
    Terms->spareBeside = Limits.Soft.value_or(Memory->Hard);
    DRAGON_ASSIGN(Memory->Share,
                  DeviceShare::join(Settings.shareDir, Caps.identity, *Terms));
  }
  Memory->wants(0);
  Memory->look();
  return Memory;
}

SpareMemory::~SpareMemory() {
  stop();
  if (!isLost() && Base)
    Of->release(Base, Reserved).ignore();
}

Status SpareMemory::lose(Status Why) {
  if (Lost.exchange(true, std::memory_order_acq_rel))
    return Why;
  Tell(fmt::format("the device is lost: {}; areas whose only copy was there "
                   "({} at most) cannot be read any more",
                   Why.message(), formatBytes(held())));
  return Why;
}

uint64_t SpareMemory::limit() {
  const uint64_t Own = std::min(Hard, Outside.load(std::memory_order_relaxed));
  return Share ? std::min(Own, Share->limit()) : Own;
}

void SpareMemory::wants(int64_t Areas) {
  const uint64_t Step = StepAreas * AreaBytes;
  std::lock_guard Guard(WantsLock);
  Needed += uint64_t(Areas) * AreaBytes;
  if (!Share || (Needed < Wanted && Wanted <= Needed + 2 * Step))
    return;
  Wanted = Needed / Step * Step + Step;
  Share->wants(Wanted);
}

std::optional<Physical> SpareMemory::take(uint64_t Area) {
  if (isLost())
    return std::nullopt;
  const uint64_t Limit = limit();
  uint64_t Before = Held.load(std::memory_order_relaxed);
  do
    if (Before + AreaBytes > Limit)
      return std::nullopt;
  while (!Held.compare_exchange_weak(Before, Before + AreaBytes));
  if (Share && !Share->reserve(AreaBytes)) {
    Held -= AreaBytes;
    return std::nullopt;
  }
  auto Memory = Of->create(Place::Device, AreaBytes);
  Status Made = Memory.takeStatus();
  if (Made.ok())
    Made = Of->map(addressOf(Area, 0), *Memory);
  if (Made.ok())
    return *Memory;
  if (Made.code() != DRAGON_ERROR_OUT_OF_MEMORY)
    lose(std::move(Made)).ignore();
  else if (Memory.ok())
    Of->destroy(*Memory).ignore();
  Held -= AreaBytes;
  if (Share)
    Share->release(AreaBytes);
  // Somebody outside has it, until it is looked at again.
  Outside.store(held(), std::memory_order_relaxed);
  return std::nullopt;
}

void SpareMemory::give(uint64_t Area, const Physical &Memory) {
  Status Done = Of->unmap(addressOf(Area, 0), Memory);
  if (Done.ok())
    Done = Of->destroy(Memory);
  if (!Done.ok())
    lose(std::move(Done)).ignore();
  forget(Memory);
}

void SpareMemory::forget(const Physical &Memory) {
  Held -= Memory.bytes;
  if (Share)
    Share->release(Memory.bytes);
}

Status SpareMemory::copy(void *To, const void *From, uint64_t Bytes,
                         CopyKind Kind) {
  if (isLost())
    return Status::error(DRAGON_ERROR_DEVICE, "the device is lost");
  Status Done = Of->copyAndWait(To, From, Bytes, Kind, Device::PerThreadQueue);
  return Done.ok() ? std::move(Done) : lose(std::move(Done));
}

Status SpareMemory::copyIn(uint64_t Area, uint64_t Offset, const void *From,
                           uint64_t Bytes) {
  return copy(reinterpret_cast<void *>(addressOf(Area, Offset)), From, Bytes,
              CopyKind::HostToDevice);
}

Status SpareMemory::copyOut(uint64_t Area, uint64_t Offset, void *To,
                            uint64_t Bytes) {
  return copy(To, reinterpret_cast<void *>(addressOf(Area, Offset)), Bytes,
              CopyKind::DeviceToHost);
}

Status SpareMemory::zero(uint64_t Area, uint64_t Offset, uint64_t Bytes) {
  if (Bytes == 0)
    return {};
  if (isLost())
    return Status::error(DRAGON_ERROR_DEVICE, "the device is lost");
  Status Done = Of->fill(reinterpret_cast<void *>(addressOf(Area, Offset)), 0,
                         1, Bytes, Device::PerThreadQueue);
  if (Done.ok())
    Done = Of->synchronize(Device::PerThreadQueue);
  return Done.ok() ? std::move(Done) : lose(std::move(Done));
}

void SpareMemory::dropStage(const Physical &Stage) {
  if (!isLost())
    Of->destroy(Stage).ignore();
}

void SpareMemory::start(std::function<bool()> Follow) {
  if (Share)
    Share->start({std::move(Follow), [] { return uint64_t(0); }});
}

void SpareMemory::stop() {
  if (Share)
    Share->stop();
}

void SpareMemory::look() {
  if (isLost() || Of->caps().deviceIsHostVisible)
    return;
  const uint64_t Before = held();
  auto Now = Of->memory();
  if (!Now.ok()) {
    lose(Now.takeStatus()).ignore();
    return;
  }
  const uint64_t Lacks = Keep > Now->free ? Keep - Now->free : 0;
  Outside.store(Lacks ? Before - std::min(Before, Lacks)
                      : Before + (Now->free - Keep),
                std::memory_order_relaxed);
}

} // namespace dragon::nbd
