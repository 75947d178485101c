//===- ZeroCopy.cpp - copies of memory that holds nothing -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The entry points behind "Copies of nothing" of dragon/CompilerABI.h: fills,
// which fail where the copies would. What is not zero was there when the memory
// was allocated, or the directive is wrong: with DRAGON_CHECK it is dead, so
// that kernels which read it are told of.
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/copies/Copy.h"
#include "runtime/cudart/front/CompilerHints.h"
#include "runtime/cudart/launches/HostFunctions.h"

#include <cuda_runtime_api.h>

namespace dragon {

namespace {

/// Ranges of the source that are not zero; ones that are near are one.
template <typename Tell>
Status forEachOther(const char *from, size_t bytes, Tell tell) {
  constexpr size_t Near = 4096;
  for (size_t at = 0; at < bytes;) {
    if (!from[at]) {
      ++at;
      continue;
    }
    size_t end = at + 1;
    for (size_t next = end; next < bytes && next - end < Near; ++next)
      if (from[next])
        end = next + 1;
    DRAGON_TRY(tell(at, end));
    at = end;
  }
  return {};
}

Result fill(Front &front, void *to, const void *from, size_t bytes,
            cudaMemcpyKind kind, cudaStream_t stream,
            const dragon_reason *why) {
  DRAGON_CHECK(checkCopy(front, to, from, bytes, kind));
  DRAGON_CHECK(cudaMemsetAsync(to, 0, bytes, stream));
  RuntimeBuffers &buffers = front.runtime.buffers();
  const auto base = reinterpret_cast<uintptr_t>(to);
  if (!why || !buffers.isWatched() || !buffers.find(base))
    return cudaSuccess;
  return forEachOther(static_cast<const char *>(from), bytes,
                      [&](size_t begin, size_t end) {
                        return buffers.discard(base + begin, end - begin,
                                               front.queue(stream), false, why);
                      });
}

} // namespace

} // namespace dragon

using namespace dragon;

extern "C" {

int __dragon_zero_memcpy(void *to, const void *from, size_t bytes, int kind) {
  const auto direction = cudaMemcpyKind(kind);
  const dragon_reason *why = takeReasonIfAny();
  return withDevice([&](Front &front) -> Result {
    if (!front.runtime.settings().elide)
      return cudaMemcpy(to, from, bytes, direction);
    DRAGON_CHECK(fill(front, to, from, bytes, direction, nullptr, why));
    // As behind a copy of the host's memory, the work in front of it is done.
    return synchronizeStream(front, nullptr);
  });
}

int __dragon_zero_memcpy_async(void *to, const void *from, size_t bytes,
                               int kind, void *stream) {
  const auto direction = cudaMemcpyKind(kind);
  const auto queue = static_cast<cudaStream_t>(stream);
  const dragon_reason *why = takeReasonIfAny();
  return withDevice([&](Front &front) -> Result {
    if (!front.runtime.settings().elide)
      return cudaMemcpyAsync(to, from, bytes, direction, queue);
    return fill(front, to, from, bytes, direction, queue, why);
  });
}

} // extern "C"
