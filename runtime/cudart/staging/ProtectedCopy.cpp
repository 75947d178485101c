//===- ProtectedCopy.cpp - copies whose source is protected ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies to the device of which the compiler cannot show that their source
// stays as it is, such as arrays that threads filled, that other files keep, or
// that are pinned.
// Where buffers do not fit on the device, they are made when kernels need them,
// and the source is protected so long.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/PinnedRanges.h"
#include "runtime/cudart/launches/HostFunctions.h"
#include "runtime/cudart/memory/Memory.h"
#include "runtime/cudart/staging/Staging.h"
#include "runtime/tier/ProtectedMemory.h"

namespace dragon {

/// Nothing: the device may write to it, or the processor reads it slowly.
static std::optional<ProtectedMemory::Kind>
kindOf(Front &front, uintptr_t begin, uintptr_t end) {
  using Kind = ProtectedMemory::Kind;
  if (!PinnedRanges::get().holds(begin))
    return isPageable(front, reinterpret_cast<const void *>(begin))
               ? std::optional(Kind::Pageable)
               : std::nullopt;
  const auto range = PinnedRanges::get().onlyRead(begin, end);
  if (!range || range->kind == PinnedRanges::Kind::WriteCombined)
    return std::nullopt;
  return range->kind == PinnedRanges::Kind::Registered ? Kind::Registered
                                                       : Kind::Driver;
}

std::optional<Result>
StagingCopies::copyProtected(Front &front, void *to, const void *from,
                             size_t bytes, cudaStream_t stream, bool async) {
  ProtectedMemory &memory = ProtectedMemory::get();
  if (!front.runtime.files().isWorthDeferring(from, bytes) ||
      !releasesAreHeard())
    return std::nullopt;
  const auto target = reinterpret_cast<uintptr_t>(to);
  const auto source = reinterpret_cast<uintptr_t>(from);
  if (!canBeMapped(front, target, source))
    return std::nullopt;
  const std::optional<ProtectedMemory::Kind> kind =
      kindOf(front, source, source + bytes);
  if (!kind)
    return std::nullopt;
  auto wasChanged = [&](uintptr_t begin, uintptr_t end) {
    return memory.wasChanged(begin, end);
  };
  if (!Sources.isWorthProtecting(source, wasChanged))
    return std::nullopt;
  waitForHostFunctions(front, stream);
  if (Status status = front.runtime.files().settleCopied(from, bytes);
      !status.ok())
    return status;
  if (!memory.protect(source, source + bytes, *kind))
    return std::nullopt;
  const auto [begin, end] = ProtectedMemory::unitsIn(source, source + bytes);
  Sources.isProtected(source, begin, end);
  auto mapped = mapMemory(front, target, from, bytes, nullptr);
  if (!mapped.ok() || !*mapped) {
    // It may be protected for other buffers as well.
    memory.save(begin, end);
    return mapped.ok() ? std::nullopt
                       : std::optional<Result>(mapped.takeStatus());
  }
  return async ? Result(cudaSuccess) : synchronizeStream(front, stream);
}

} // namespace dragon
