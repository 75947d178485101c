//===- DeviceAddresses.cpp - checks of addresses and memory ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/DeviceAddresses.h"

#include "runtime/device/Checks.h"
#include <iterator>
#include <unistd.h>
#include <utility>

namespace dragon {

const char *nameOf(Place place) {
  switch (place) {
  case Place::None:
    return "none";
  case Place::Device:
    return "device";
  case Place::Host:
    return "host";
  case Place::Pinned:
    return "pinned";
  case Place::Peer:
    return "peer";
  }
  return "unknown";
}

Status checkExtent(const char *call, uintptr_t va, size_t bytes,
                   size_t granularity) {
  if (bytes == 0)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT, "{}: 0 bytes", call);
  if (va % granularity || bytes % granularity)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "{}: [{:#x}, +{:#x}) is not a multiple of the "
                         "granularity {:#x}",
                         call, va, bytes, granularity);
  if (va + bytes < va)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "{}: [{:#x}, +{:#x}) wraps around", call, va, bytes);
  return {};
}

namespace {

Status checkPhysical(const char *call, const Physical &physical) {
  if (physical.id == 0)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "{}: no physical chunk given (id 0)", call);
  if (physical.place == Place::None)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "{}: chunk {} is in no place", call, physical.id);
  return {};
}

} // namespace

StatusOr<uintptr_t> DeviceAddresses::reserve(size_t bytes) {
  DRAGON_TRY(checkExtent("reserve", 0, bytes, Abilities.granularity));
  return reserveImpl(bytes);
}

Status DeviceAddresses::release(uintptr_t base, size_t bytes) {
  DRAGON_TRY(checkExtent("release", base, bytes, Abilities.granularity));
  {
    std::lock_guard guard(LabelsLock);
    Labels.erase(base);
  }
  return releaseImpl(base, bytes);
}

StatusOr<Physical> DeviceAddresses::create(Place place, size_t bytes) {
  if (place == Place::None || place == Place::Peer)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "create: no memory in place '{}'", nameOf(place));
  DRAGON_TRY(checkExtent("create", 0, bytes, Abilities.granularity));
  return createImpl(place, bytes);
}

Status DeviceAddresses::checkPeer(const char *call, unsigned peer) const {
  if (peer >= Abilities.peers.size())
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "{}: there is no peer {}, but {} of them", call, peer,
                         Abilities.peers.size());
  return {};
}

StatusOr<Physical> DeviceAddresses::createOnPeer(unsigned peer, size_t bytes) {
  DRAGON_TRY(checkPeer("createOnPeer", peer));
  DRAGON_TRY(checkExtent("createOnPeer", 0, bytes, Abilities.granularity));
  return createOnPeerImpl(peer, bytes);
}

StatusOr<Physical> DeviceAddresses::createOnPeerImpl(unsigned, size_t) {
  return Status::error(DRAGON_ERROR_UNSUPPORTED, "device '{}' has no peers",
                       Abilities.name);
}

StatusOr<DeviceMemory> DeviceAddresses::peerMemory(unsigned peer) {
  DRAGON_TRY(checkPeer("peerMemory", peer));
  return peerMemoryImpl(peer);
}

StatusOr<DeviceMemory> DeviceAddresses::peerMemoryImpl(unsigned) {
  return Status::error(DRAGON_ERROR_UNSUPPORTED, "device '{}' has no peers",
                       Abilities.name);
}

Status DeviceAddresses::destroy(const Physical &physical) {
  DRAGON_TRY(checkPhysical("destroy", physical));
  return destroyImpl(physical);
}

Status DeviceAddresses::map(uintptr_t va, const Physical &physical) {
  DRAGON_TRY(checkPhysical("map", physical));
  DRAGON_TRY(checkExtent("map", va, physical.bytes, Abilities.granularity));
  if (physical.place == Place::Pinned)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "map: chunk {} is pinned memory, for copies only",
                         physical.id);
  if (physical.place == Place::Host && !Abilities.hostMapped)
    return Status::error(DRAGON_ERROR_UNSUPPORTED,
                         "map: device '{}' cannot map host memory for kernels",
                         Abilities.name);
  return mapImpl(va, physical);
}

Status DeviceAddresses::unmap(uintptr_t va, const Physical &physical) {
  DRAGON_TRY(checkPhysical("unmap", physical));
  DRAGON_TRY(checkExtent("unmap", va, physical.bytes, Abilities.granularity));
  return unmapImpl(va, physical);
}

Status DeviceAddresses::pin(uintptr_t begin, size_t bytes) {
  DRAGON_TRY(checkExtent("pin", begin, bytes, size_t(sysconf(_SC_PAGESIZE))));
  return pinImpl(begin, bytes);
}

Status DeviceAddresses::unpin(uintptr_t begin) { return unpinImpl(begin); }

void DeviceAddresses::describe(uintptr_t base, size_t bytes,
                               const std::string &name) {
  describeImpl(base, bytes, name);
}

void DeviceAddresses::setLabel(AddressRange range, std::string label) {
  std::lock_guard guard(LabelsLock);
  Labels.insert_or_assign(range.begin, Label{range.end, std::move(label)});
}

std::string DeviceAddresses::labelAt(uintptr_t address) {
  std::lock_guard guard(LabelsLock);
  const auto next = Labels.upper_bound(address);
  if (next == Labels.begin() || std::prev(next)->second.end <= address)
    return {};
  return std::prev(next)->second.text;
}

Status DeviceAddresses::guardHostAccess(uintptr_t va, size_t bytes,
                                        bool guarded) {
  DRAGON_TRY(checkExtent("guardHostAccess", va, bytes, Abilities.granularity));
  return guardHostAccessImpl(va, bytes, guarded);
}

Status DeviceAddresses::setFaultHandler(FaultHandler handler, void *context) {
  return setFaultHandlerImpl(handler, context);
}

StatusOr<DeviceMemory> DeviceAddresses::memory() { return memoryImpl(); }

} // namespace dragon
