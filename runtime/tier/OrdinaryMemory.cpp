//===- OrdinaryMemory.cpp - evicted contents that are not pinned ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tier/OrdinaryMemory.h"

#include "runtime/base/Rounding.h"

#include <sys/mman.h>

namespace dragon {

/// Slots are mappings of their own: of whole huge pages, if they are as large.
static constexpr size_t Page = 4096, HugePage = size_t(1) << 21;

static void unmap(uintptr_t at, size_t bytes) {
  if (bytes)
    ::munmap(reinterpret_cast<void *>(at), bytes);
}

OrdinaryMemory::~OrdinaryMemory() {
  for (const auto &[bytes, at] : Free)
    unmap(at, bytes);
}

SwapFile::Slot OrdinaryMemory::allocate(size_t bytes) {
  const size_t unit = bytes < HugePage ? Page : HugePage;
  bytes = roundUp(bytes, unit);
  auto slotAt = [&](uintptr_t at) {
    return SwapFile::Slot{BackingFile::programMemory().get(), int64_t(at),
                          bytes};
  };
  if (auto found = Free.find(bytes); found != Free.end()) {
    const SwapFile::Slot slot = slotAt(found->second);
    Free.erase(found);
    return slot;
  }
  if (Held + bytes > Most || !Charge(int64_t(bytes)))
    return {};
  // What lies outside of whole units goes back.
  void *memory = ::mmap(nullptr, bytes + unit, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    Charge(-int64_t(bytes));
    return {};
  }
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t at = roundUp(begin, unit);
  unmap(begin, at - begin);
  unmap(at + bytes, begin + unit - at);
  ::madvise(reinterpret_cast<void *>(at), bytes, MADV_HUGEPAGE); // a hint
  Held += bytes;
  return slotAt(at);
}

void OrdinaryMemory::release(const SwapFile::Slot &slot) {
  Free.emplace(slot.bytes, uintptr_t(slot.offset));
}

void OrdinaryMemory::trim() {
  for (const auto &[bytes, at] : Free) {
    unmap(at, bytes);
    Held -= bytes;
    Charge(-int64_t(bytes));
  }
  Free.clear();
}

} // namespace dragon
