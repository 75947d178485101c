//===- Memcpy.cpp - linear copies of the program --------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/capture/Capture.h"
#include "runtime/cudart/copies/Copy.h"
#include "runtime/cudart/front/Forward.h"
#include "runtime/cudart/modules/Module.h"
#include "runtime/cudart/staging/Staging.h"

#include <cuda_runtime_api.h>

using namespace dragon;

namespace {

Result copyChecked(Front &front, void *to, const void *from, size_t bytes,
                   cudaMemcpyKind kind, cudaStream_t stream, bool async) {
  if (capturing() && async) {
    if (isCapturedByNvidia(front, stream))
      return whileThere(front, {{to, bytes}, {from, bytes}}, [&] {
        return DRAGON_NVIDIA(cudaMemcpyAsync, to, from, bytes, kind, stream);
      });
    if (!front.gpu && isCaptured(stream)) {
      DRAGON_CHECK(checkCopy(front, to, from, bytes, kind));
      return captureWork(stream, linearCopy(to, from, bytes, kind));
    }
  }
  if (!async)
    if (std::optional<Result> done =
            copyAtOnce(front, to, from, bytes, kind, stream))
      return *done;
  DRAGON_CHECK(checkCopy(front, to, from, bytes, kind));
  if (const std::optional<Result> mapped = staging().copies.copyMapped(
          front, to, from, bytes, kind, stream, async))
    return *mapped;
  if (const std::optional<Result> later =
          staging().copies.copyProtected(front, to, from, bytes, stream, async))
    return *later;
  return copyBytes(front, to, from, bytes, stream, async);
}

/// The part [offset, offset + count) of a symbol, as an address.
Result symbolRange(Front &front, const void *symbol, size_t count,
                   size_t offset, char *&address) {
  Variable *variable = modules().findVariable(symbol);
  if (!variable)
    return cudaErrorInvalidSymbol;
  if (offset > variable->bytes || count > variable->bytes - offset)
    return cudaErrorInvalidValue;
  void *base = nullptr;
  DRAGON_CHECK(modules().addressOf(front, *variable, base));
  address = static_cast<char *>(base) + offset;
  return cudaSuccess;
}

cudaError_t copyToSymbol(const void *symbol, const void *from, size_t count,
                         size_t offset, cudaMemcpyKind kind,
                         cudaStream_t stream, bool async) {
  return withDevice([&](Front &front) -> Result {
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice &&
        kind != cudaMemcpyDefault)
      return cudaErrorInvalidMemcpyDirection;
    char *address = nullptr;
    DRAGON_CHECK(symbolRange(front, symbol, count, offset, address));
    return copyChecked(front, address, from, count, kind, stream, async);
  });
}

cudaError_t copyFromSymbol(void *to, const void *symbol, size_t count,
                           size_t offset, cudaMemcpyKind kind,
                           cudaStream_t stream, bool async) {
  return withDevice([&](Front &front) -> Result {
    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice &&
        kind != cudaMemcpyDefault)
      return cudaErrorInvalidMemcpyDirection;
    char *address = nullptr;
    DRAGON_CHECK(symbolRange(front, symbol, count, offset, address));
    return copyChecked(front, to, address, count, kind, stream, async);
  });
}

} // namespace

extern "C" {

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes,
                       cudaMemcpyKind kind) {
  return withDevice([&](Front &front) {
    return copyChecked(front, to, from, bytes, kind, nullptr, false);
  });
}

cudaError_t cudaMemcpy_ptds(void *to, const void *from, size_t bytes,
                            cudaMemcpyKind kind) {
  return withDevice([&](Front &front) {
    return copyChecked(front, to, from, bytes, kind, cudaStreamPerThread,
                       false);
  });
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream) {
  return withDevice([&](Front &front) {
    return copyChecked(front, to, from, bytes, kind, stream, true);
  });
}

cudaError_t cudaMemcpyPeer(void *to, int toDevice, const void *from,
                           int fromDevice, size_t bytes) {
  return withDevice([&](Front &front) -> Result {
    if (toDevice != 0 || fromDevice != 0)
      return cudaErrorInvalidDevice;
    return copyChecked(front, to, from, bytes, cudaMemcpyDeviceToDevice,
                       nullptr, false);
  });
}

cudaError_t cudaMemcpyPeerAsync(void *to, int toDevice, const void *from,
                                int fromDevice, size_t bytes,
                                cudaStream_t stream) {
  return withDevice([&](Front &front) -> Result {
    if (toDevice != 0 || fromDevice != 0)
      return cudaErrorInvalidDevice;
    return copyChecked(front, to, from, bytes, cudaMemcpyDeviceToDevice, stream,
                       true);
  });
}

cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from,
                                 const size_t *bytes, size_t count,
                                 cudaMemcpyAttributes *, size_t *, size_t,
                                 cudaStream_t stream) {
  return withDevice([&](Front &front) -> Result {
    if (!to || !from || !bytes || !count)
      return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i)
      DRAGON_CHECK(copyChecked(front, to[i], from[i], bytes[i],
                               cudaMemcpyDefault, stream, true));
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from,
                               size_t count, size_t offset,
                               cudaMemcpyKind kind) {
  return copyToSymbol(symbol, from, count, offset, kind, nullptr, false);
}

cudaError_t cudaMemcpyToSymbol_ptds(const void *symbol, const void *from,
                                    size_t count, size_t offset,
                                    cudaMemcpyKind kind) {
  return copyToSymbol(symbol, from, count, offset, kind, cudaStreamPerThread,
                      false);
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from,
                                    size_t count, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  return copyToSymbol(symbol, from, count, offset, kind, stream, true);
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t count,
                                 size_t offset, cudaMemcpyKind kind) {
  return copyFromSymbol(to, symbol, count, offset, kind, nullptr, false);
}

cudaError_t cudaMemcpyFromSymbol_ptds(void *to, const void *symbol,
                                      size_t count, size_t offset,
                                      cudaMemcpyKind kind) {
  return copyFromSymbol(to, symbol, count, offset, kind, cudaStreamPerThread,
                        false);
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol,
                                      size_t count, size_t offset,
                                      cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return copyFromSymbol(to, symbol, count, offset, kind, stream, true);
}

} // extern "C"
