//===- RingMemory.cpp - memory that rings have registered -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tier/RingMemory.h"

#include "runtime/tier/Transfer.h"
#include "runtime/trace/Log.h"

#include <cerrno>
#include <cstring>
#include <liburing.h>

namespace dragon {

void KnownMemory::add(void *memory, size_t bytes) {
  std::lock_guard guard(Lock);
  unsigned slot;
  if (!FreeSlots.empty()) {
    slot = FreeSlots.back();
    FreeSlots.pop_back();
  } else if (NumUsed < NumSlots) {
    slot = NumUsed++;
  } else {
    return;
  }
  Ranges[reinterpret_cast<uintptr_t>(memory)] = {bytes, ++LastNumber, slot};
}

void KnownMemory::remove(void *memory) {
  std::lock_guard guard(Lock);
  auto found = Ranges.find(reinterpret_cast<uintptr_t>(memory));
  if (found == Ranges.end())
    return;
  const Range range = found->second;
  Ranges.erase(found);
  for (RingMemory *ring : Rings)
    ring->forget(range);
  FreeSlots.push_back(range.slot);
}

std::optional<std::pair<uintptr_t, KnownMemory::Range>>
KnownMemory::find(const void *memory, size_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  std::lock_guard guard(Lock);
  auto found = Ranges.upper_bound(begin);
  if (found == Ranges.begin())
    return std::nullopt;
  --found;
  const size_t skipped = begin - found->first;
  if (found->second.refused || skipped > found->second.bytes ||
      bytes > found->second.bytes - skipped)
    return std::nullopt;
  return *found;
}

void KnownMemory::refuse(uintptr_t begin, int code) {
  std::lock_guard guard(Lock);
  // Pages that cannot be pinned are this memory's. All else is the kernel's or
  // the limit's.
  if (auto found = Ranges.find(begin);
      (code == -EFAULT || code == -EOPNOTSUPP) && found != Ranges.end())
    found->second.refused = true;
  else
    Off = true;
  if (!std::exchange(Noted, true))
    log(LogLevel::Debug,
        "io_uring refuses to register memory ({}); it is pinned for each "
        "request",
        std::strerror(-code));
}

RingMemory::RingMemory(KnownMemory &known, io_uring &ring)
    : Known(known), Ring(ring) {
  std::lock_guard guard(Known.Lock);
  Known.Rings.push_back(this);
}

RingMemory::~RingMemory() {
  std::lock_guard guard(Known.Lock);
  std::erase(Known.Rings, this);
}

int RingMemory::slotFor(const void *memory, size_t bytes) {
  auto found = Known.find(memory, bytes);
  if (!found)
    return Plain;
  const auto &[begin, range] = *found;
  int code;
  {
    std::lock_guard guard(Lock);
    if (Entries.size() <= range.slot)
      Entries.resize(range.slot + 1);
    Entry &entry = Entries[range.slot];
    if (entry.number != range.number)
      entry = {range.number};
    if (entry.registered)
      return int(range.slot);
    if (entry.bytes < range.bytes || Known.Off) {
      entry.bytes += bytes;
      return Plain;
    }
    code = put(range.slot, reinterpret_cast<void *>(begin), range.bytes);
    entry.registered = code == 0;
  }
  if (code == 0)
    return int(range.slot);
  Known.refuse(begin, code);
  return Plain;
}

void RingMemory::forget(const KnownMemory::Range &range) {
  std::lock_guard guard(Lock);
  if (range.slot >= Entries.size() ||
      Entries[range.slot].number != range.number)
    return;
  // If the kernel fails to let go of it, the pages stay pinned until something
  // else is in the slot; no request uses it without an entry.
  if (std::exchange(Entries[range.slot], {}).registered)
    put(range.slot, nullptr, 0);
}

int RingMemory::put(unsigned slot, void *memory, size_t bytes) {
  if (int code = Known.Faults && memory ? Known.Faults->registering() : 0)
    return code;
  if (!HasTable)
    if (int code =
            io_uring_register_buffers_sparse(&Ring, KnownMemory::NumSlots);
        code < 0)
      return code;
  HasTable = true;
  const iovec range{memory, bytes};
  int code =
      io_uring_register_buffers_update_tag(&Ring, slot, &range, nullptr, 1);
  // It answers how many it has changed.
  return code == 1 ? 0 : code < 0 ? code : -EINVAL;
}

} // namespace dragon
