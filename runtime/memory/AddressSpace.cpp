//===- AddressSpace.cpp - what the program has allocated ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/AddressSpace.h"

#include "runtime/trace/Bytes.h"
#include <algorithm>
#include <iterator>

namespace dragon {

Allocation *AddressIndex::find(uintptr_t address) {
  auto above = Map.upper_bound(address);
  if (above == Map.begin())
    return nullptr;
  Allocation &candidate = std::prev(above)->second;
  return address < candidate.end() ? &candidate : nullptr;
}

std::vector<Allocation *> AddressIndex::overlapping(uintptr_t begin,
                                                    uintptr_t end) {
  std::vector<Allocation *> found;
  auto at = Map.upper_bound(begin);
  if (at != Map.begin() && std::prev(at)->second.end() > begin)
    --at;
  for (; at != Map.end() && at->first < end; ++at)
    found.push_back(&at->second);
  return found;
}

bool AddressIndex::isNearBuffer(uintptr_t address) const {
  constexpr uintptr_t Near = uintptr_t(64) << 10;
  const auto above = Map.upper_bound(address);
  if (above != Map.end() && above->first - address <= Near)
    return true;
  if (above == Map.begin())
    return false;
  // Behind the program's bytes the buffer may have more, and the driver knows
  // memory there.
  const Buffer &below = *std::prev(above)->second.buffer;
  const uintptr_t end = below.base + below.vaBytes;
  return address < end || address - end <= Near;
}

bool AddressIndex::isOthers(uintptr_t address) {
  if (!AskForOthers || isNearBuffer(address))
    return false;
  constexpr size_t Most = 64;
  if (OthersAsOf != Changes || Others.size() >= Most)
    Others.clear();
  OthersAsOf = Changes;
  if (std::any_of(Others.begin(), Others.end(),
                  [address](const AddressRange &range) {
                    return range.holds(address);
                  }))
    return true;
  const AddressRange found = AskForOthers(address);
  if (!found.holds(address))
    return false;
  Others.push_back(found);
  return true;
}

StatusOr<Allocation *> AddressSpace::rangeOf(uintptr_t address, size_t bytes,
                                             const char *call) {
  Allocation *found = Allocations.find(address);
  if (!found)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "{}: {:#x} is in no buffer", call, address);
  if (bytes > found->end() - address)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "{}: {} at {:#x} reach beyond the end of buffer '{}'",
                         call, formatBytes(bytes), address, found->name);
  return found;
}

uint64_t AddressSpace::keptBytes() const {
  uint64_t bytes = 0;
  for (const std::unique_ptr<Buffer> &buffer : Buffers)
    bytes += buffer->kept && !buffer->driverMoved ? buffer->vaBytes : 0;
  return bytes;
}

bool AddressSpace::allKept() const {
  return std::all_of(Buffers.begin(), Buffers.end(), [](const auto &buffer) {
    return buffer->kept && buffer->allDeviceOnly();
  });
}

} // namespace dragon
