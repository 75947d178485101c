//===- DeferredCopy.cpp - copies to the device, made where needed ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The entry points behind "Deferred copies" of dragon/CompilerABI.h. The memory
// backs the chunks until it is settled (files/ProgramMemory.h).
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/capture/Capture.h"
#include "runtime/cudart/copies/Copy.h"
#include "runtime/cudart/front/CompilerHints.h"
#include "runtime/cudart/front/ErrorMap.h"
#include "runtime/cudart/launches/HostFunctions.h"
#include "runtime/cudart/memory/Memory.h"
#include "runtime/cudart/staging/Staging.h"

#include <algorithm>
#include <cuda_runtime_api.h>

namespace dragon {

namespace {
/// Smaller copies are not worth the bookkeeping, but where chunks are as small.
constexpr size_t MinimumDeferredBytes = 1 << 20;

bool worthDeferring(const Front &front, size_t bytes) {
  const uint64_t chunk =
      front.runtime.settings().chunkBytes.value_or(MinimumDeferredBytes);
  return worthStaging(bytes) &&
         bytes >= std::min<uint64_t>(chunk, MinimumDeferredBytes);
}
} // namespace

bool StagingCopies::canBeMapped(Front &front, uintptr_t target,
                                uintptr_t source) {
  const auto buffer = front.runtime.buffers().find(target);
  // The host can look at memory that it has access to without telling us.
  return buffer && !buffer->hostAccessible && !buffer->driverMoved &&
         !front.runtime.buffers().find(source);
}

StatusOr<bool> StagingCopies::mapMemory(Front &front, uintptr_t target,
                                        const void *from, size_t bytes,
                                        const dragon_reason *why) {
  const auto guard = Contents.lockWhenStill(target, target + bytes);
  DRAGON_TRY(
      Contents.materialise(Contents.Map.ofDevice(target, target + bytes)));
  return front.runtime.files().mapProgramMemory(target, bytes, from, why);
}

Result StagingCopies::copyDeferred(Front &front, void *to, const void *from,
                                   size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream, bool async,
                                   const dragon_reason *why) {
  const auto target = reinterpret_cast<uintptr_t>(to);
  const auto source = reinterpret_cast<uintptr_t>(from);
  auto plain = [&] {
    return async ? cudaMemcpyAsync(to, from, bytes, kind, stream)
                 : cudaMemcpy(to, from, bytes, kind);
  };
  if (!worthDeferring(front, bytes) || capturing() ||
      (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDefault))
    return plain();
  if (!canBeMapped(front, target, source))
    return plain();
  DRAGON_CHECK(checkCopy(front, to, from, bytes, kind));
  waitForHostFunctions(front, stream);
  // Work in front of the copy may still write what the device can reach.
  if (!isPageable(front, from))
    DRAGON_CHECK(synchronizeStream(front, stream));
  if (Status status = front.runtime.files().settleCopied(from, bytes);
      !status.ok())
    return status;
  auto mapped = mapMemory(front, target, from, bytes, why);
  if (!mapped.ok())
    return mapped.takeStatus();
  if (!*mapped)
    return plain();
  return async ? Result(cudaSuccess) : synchronizeStream(front, stream);
}

} // namespace dragon

using namespace dragon;

extern "C" {

int __dragon_defer_memcpy(void *to, const void *from, size_t bytes, int kind) {
  const dragon_reason *why = takeReasonIfAny();
  return withDevice([&](Front &front) {
    return staging().copies.copyDeferred(
        front, to, from, bytes, cudaMemcpyKind(kind), nullptr, false, why);
  });
}

int __dragon_defer_memcpy_async(void *to, const void *from, size_t bytes,
                                int kind, void *stream) {
  const dragon_reason *why = takeReasonIfAny();
  return withDevice([&](Front &front) {
    return staging().copies.copyDeferred(
        front, to, from, bytes, cudaMemcpyKind(kind),
        static_cast<cudaStream_t>(stream), true, why);
  });
}

void __dragon_will_copy_out(const void *pointer, size_t bytes, void *to) {
  const dragon_reason *why = takeReasonIfAny();
  Front *front = Front::existing();
  if (!front || !pointer || !to || !worthDeferring(*front, bytes))
    return;
  // A hint.
  front->runtime.files()
      .announceCopyOut(reinterpret_cast<uintptr_t>(pointer), bytes, to, why)
      .ignore();
}

void __dragon_settle(const void *memory, size_t bytes) {
  Front *front = Front::existing();
  if (!front || !memory || !bytes)
    return;
  // What could not be copied is lost; nobody may take other bytes for it.
  if (Status status = front->runtime.files().settleProgramMemory(memory, bytes);
      !status.ok())
    makeSticky(report(status));
}

} // extern "C"
