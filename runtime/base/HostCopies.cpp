//===- HostCopies.cpp - host memory copied by several threads -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/HostCopies.h"

#include "runtime/base/ThreadPool.h"

#include <algorithm>
#include <cstring>

namespace dragon {

namespace {
/// What a thread copies at a time, and the most that is gathered: copied while
/// what was written last is still in the processor's caches.
constexpr size_t PartBytes = 1 << 20;
constexpr size_t GatheredBytes = 64 << 20;
} // namespace

void HostCopies::add(void *to, const void *from, size_t bytes) {
  while (bytes) {
    size_t part = std::min(bytes, PartBytes);
    Pieces.push_back(
        {static_cast<char *>(to), static_cast<const char *>(from), part});
    to = static_cast<char *>(to) + part;
    from = static_cast<const char *>(from) + part;
    bytes -= part;
    Bytes += part;
  }
  if (Bytes >= GatheredBytes)
    flush();
}

void HostCopies::flush() {
  // Half of the pieces a thread at least, so that few are woken for little.
  hostThreads().forEach(Pieces.size(), Bytes / (2 * PartBytes), [&](size_t i) {
    std::memcpy(Pieces[i].to, Pieces[i].from, Pieces[i].bytes);
  });
  Pieces.clear();
  Bytes = 0;
}

} // namespace dragon
