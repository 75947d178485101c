//===- ForwardingDevice.cpp - devices in front of devices -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/ForwardingDevice.h"

namespace dragon {

const char *nameOf(DeviceCall call) {
  static const char *const Names[] = {
#define DEVICE_CALL(NAME, TEXT) TEXT,
#include "runtime/device/DeviceCalls.def"
  };
  return Names[unsigned(call)];
}

ForwardingDevice::ForwardingDevice(std::unique_ptr<Device> inner)
    : Inner(std::move(inner)) {
  Caps = Inner->caps();
}

StatusOr<uintptr_t> ForwardingDevice::reserveImpl(size_t bytes) {
  DRAGON_TRY(before(DeviceCall::Reserve));
  return Inner->reserve(bytes);
}

Status ForwardingDevice::releaseImpl(uintptr_t base, size_t bytes) {
  DRAGON_TRY(before(DeviceCall::Release));
  return Inner->release(base, bytes);
}

StatusOr<Physical> ForwardingDevice::createImpl(Place place, size_t bytes) {
  DRAGON_TRY(before(DeviceCall::Create));
  return Inner->create(place, bytes);
}

StatusOr<Physical> ForwardingDevice::createOnPeerImpl(unsigned peer,
                                                      size_t bytes) {
  DRAGON_TRY(before(DeviceCall::CreateOnPeer));
  return Inner->createOnPeer(peer, bytes);
}

Status ForwardingDevice::destroyImpl(const Physical &physical) {
  DRAGON_TRY(before(DeviceCall::Destroy));
  return Inner->destroy(physical);
}

Status ForwardingDevice::mapImpl(uintptr_t va, const Physical &physical) {
  DRAGON_TRY(before(DeviceCall::Map));
  return Inner->map(va, physical);
}

Status ForwardingDevice::unmapImpl(uintptr_t va, const Physical &physical) {
  DRAGON_TRY(before(DeviceCall::Unmap));
  return Inner->unmap(va, physical);
}

Status ForwardingDevice::pinImpl(uintptr_t begin, size_t bytes) {
  DRAGON_TRY(before(DeviceCall::Pin));
  return Inner->pin(begin, bytes);
}

Status ForwardingDevice::unpinImpl(uintptr_t begin) {
  DRAGON_TRY(before(DeviceCall::Unpin));
  return Inner->unpin(begin);
}

StatusOr<Queue> ForwardingDevice::createQueueImpl(unsigned flags,
                                                  int priority) {
  DRAGON_TRY(before(DeviceCall::CreateQueue));
  return Inner->createQueue(flags, priority);
}

Status ForwardingDevice::destroyQueueImpl(Queue queue) {
  DRAGON_TRY(before(DeviceCall::DestroyQueue));
  return Inner->destroyQueue(queue);
}

Status ForwardingDevice::synchronizeImpl(Queue queue) {
  DRAGON_TRY(before(DeviceCall::Synchronize));
  return Inner->synchronize(queue);
}

StatusOr<bool> ForwardingDevice::queryImpl(Queue queue) {
  DRAGON_TRY(before(DeviceCall::Query));
  return Inner->query(queue);
}

Status ForwardingDevice::synchronizeAllImpl() {
  DRAGON_TRY(before(DeviceCall::SynchronizeAll));
  return Inner->synchronizeAll();
}

StatusOr<Event> ForwardingDevice::createEventImpl(bool timing) {
  DRAGON_TRY(before(DeviceCall::CreateEvent));
  return Inner->createEvent(timing);
}

Status ForwardingDevice::destroyEventImpl(Event event) {
  DRAGON_TRY(before(DeviceCall::DestroyEvent));
  return Inner->destroyEvent(event);
}

Status ForwardingDevice::recordImpl(Event event, Queue queue) {
  DRAGON_TRY(before(DeviceCall::Record));
  return Inner->record(event, queue);
}

Status ForwardingDevice::waitImpl(Queue queue, Event event) {
  DRAGON_TRY(before(DeviceCall::Wait));
  return Inner->wait(queue, event);
}

StatusOr<bool> ForwardingDevice::queryEventImpl(Event event) {
  DRAGON_TRY(before(DeviceCall::QueryEvent));
  return Inner->queryEvent(event);
}

Status ForwardingDevice::synchronizeEventImpl(Event event) {
  DRAGON_TRY(before(DeviceCall::SynchronizeEvent));
  return Inner->synchronizeEvent(event);
}

StatusOr<float> ForwardingDevice::elapsedMillisecondsImpl(Event start,
                                                          Event end) {
  DRAGON_TRY(before(DeviceCall::ElapsedMilliseconds));
  return Inner->elapsedMilliseconds(start, end);
}

Status ForwardingDevice::copyImpl(void *to, const void *from, size_t bytes,
                                  CopyKind kind, Queue queue) {
  DRAGON_TRY(before(DeviceCall::Copy));
  return Inner->copy(to, from, bytes, kind, queue);
}

Status ForwardingDevice::fillImpl(void *to, uint32_t value, unsigned width,
                                  size_t count, Queue queue) {
  DRAGON_TRY(before(DeviceCall::Fill));
  return Inner->fill(to, value, width, count, queue);
}

Status ForwardingDevice::poisonImpl(uintptr_t va, size_t bytes, Queue queue) {
  DRAGON_TRY(before(DeviceCall::Poison));
  return Inner->poison(va, bytes, queue);
}

Status ForwardingDevice::launchImpl(const LaunchRequest &request) {
  DRAGON_TRY(before(DeviceCall::Launch));
  return Inner->launch(request);
}

bool ForwardingDevice::acceptsImpl(const LaunchRequest &request) {
  return Inner->accepts(request);
}

Status ForwardingDevice::discardImpl(std::span<const AddressRange> ranges,
                                     Queue queue) {
  DRAGON_TRY(before(DeviceCall::Discard));
  return Inner->discard(ranges, queue);
}

Status ForwardingDevice::prefetchImpl(std::span<const AddressRange> ranges,
                                      Place place, bool dead, Queue queue) {
  DRAGON_TRY(before(DeviceCall::Prefetch));
  return Inner->prefetch(ranges, place, dead, queue);
}

Status ForwardingDevice::adviseImpl(const AddressRange &range, Advice advice) {
  DRAGON_TRY(before(DeviceCall::Advise));
  return Inner->advise(range, advice);
}

Status ForwardingDevice::completeMapsImpl() {
  DRAGON_TRY(before(DeviceCall::CompleteMaps));
  return Inner->completeMaps();
}

Status ForwardingDevice::mapFileImpl(const DriverFile &file) {
  DRAGON_TRY(before(DeviceCall::MapFile));
  return Inner->mapFile(file);
}

Status ForwardingDevice::remapFileImpl(uintptr_t base, unsigned flags) {
  DRAGON_TRY(before(DeviceCall::RemapFile));
  return Inner->remapFile(base, flags);
}

Status ForwardingDevice::guardHostAccessImpl(uintptr_t va, size_t bytes,
                                             bool guarded) {
  DRAGON_TRY(before(DeviceCall::GuardHostAccess));
  return Inner->guardHostAccess(va, bytes, guarded);
}

Status ForwardingDevice::setFaultHandlerImpl(FaultHandler handler,
                                             void *context) {
  DRAGON_TRY(before(DeviceCall::SetFaultHandler));
  return Inner->setFaultHandler(handler, context);
}

bool ForwardingDevice::hostReachesImpl(const void *address) {
  return Inner->hostReaches(address);
}

AddressRange ForwardingDevice::othersAtImpl(uintptr_t address) {
  return Inner->othersAt(address);
}

StatusOr<DeviceMemory> ForwardingDevice::memoryImpl() {
  DRAGON_TRY(before(DeviceCall::Memory));
  return Inner->memory();
}

StatusOr<DeviceMemory> ForwardingDevice::peerMemoryImpl(unsigned peer) {
  DRAGON_TRY(before(DeviceCall::PeerMemory));
  return Inner->peerMemory(peer);
}

//===----------------------------------------------------------------------===//
// The decorators
//===----------------------------------------------------------------------===//

uint64_t CountingDevice::calls() const {
  uint64_t sum = 0;
  for (const auto &count : Calls)
    sum += count.load();
  return sum;
}

Status CountingDevice::before(DeviceCall call) {
  Calls[unsigned(call)].fetch_add(1, std::memory_order_relaxed);
  return {};
}

FaultyDevice::FaultyDevice(std::unique_ptr<Device> inner, uint64_t n,
                           dragon_error code)
    : ForwardingDevice(std::move(inner)), FailAt(n), Code(code) {}

void FaultyDevice::failAt(uint64_t n) {
  Count = 0;
  Failed = false;
  FailAt = n;
}

Status FaultyDevice::before(DeviceCall call) {
  uint64_t count = ++Count;
  if (count != FailAt.load())
    return {};
  Kind = call;
  Failed = true;
  return Status::error(Code, "injected failure of call {} ({})", count,
                       nameOf(call));
}

MaskedDevice::MaskedDevice(std::unique_ptr<Device> inner, Without without)
    : ForwardingDevice(std::move(inner)) {
  if (without.hostMapped)
    Caps.hostMapped = false;
}

// Device's public calls refuse by the capabilities.
Status MaskedDevice::before(DeviceCall) { return {}; }

} // namespace dragon
