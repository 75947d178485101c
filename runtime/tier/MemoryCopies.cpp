//===- MemoryCopies.cpp - copies that the processor makes -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tier/MemoryCopies.h"

#include "runtime/base/ThreadPool.h"
#include "runtime/tier/ProtectedMemory.h"

#include <algorithm>
#include <cstring>

namespace dragon {

/// What a thread copies at a time.
static constexpr size_t PartBytes = 1 << 20;

void MemoryCopies::add(char *to, uintptr_t from, size_t bytes, bool asItWas) {
  if (HostRanges::overlaps(to, bytes)) {
    const auto begin = reinterpret_cast<uintptr_t>(to);
    ProtectedMemory::get().save(begin, begin + bytes);
  }
  Bytes += bytes;
  for (size_t at = 0; at < bytes; at += PartBytes)
    Parts.push_back(
        {to + at, from + at, std::min(PartBytes, bytes - at), asItWas});
}

void MemoryCopies::add(const FileRequest &request) {
  auto *memory = static_cast<char *>(request.memory);
  const auto place = uintptr_t(request.offset);
  if (request.write)
    add(reinterpret_cast<char *>(place), reinterpret_cast<uintptr_t>(memory),
        request.bytes, false);
  else
    add(memory, place, request.bytes, true);
}

void MemoryCopies::add(char *to, const char *from, size_t bytes) {
  add(to, reinterpret_cast<uintptr_t>(from), bytes, false);
}

void MemoryCopies::make(size_t index) const {
  const Part &part = Parts[index];
  if (part.asItWas)
    ProtectedMemory::Reading().copy(part.to, part.from, part.bytes);
  else
    std::memcpy(part.to, reinterpret_cast<const void *>(part.from), part.bytes);
}

void MemoryCopies::makeAll() {
  // Half of the parts a thread at least, so that few are woken for little.
  hostThreads().forEach(Parts.size(), Bytes / (2 * PartBytes),
                        [this](size_t part) { make(part); });
  Parts.clear();
  Bytes = 0;
}

} // namespace dragon
