//===- Copy.cpp - linear copies and fills ---------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/copies/Copy.h"

#include "runtime/cudart/capture/Capture.h"
#include "runtime/cudart/front/Forward.h"
#include "runtime/cudart/launches/HostFunctions.h"
#include "runtime/cudart/memory/Memory.h"
#include "runtime/cudart/modules/Module.h"

#include <cuda_runtime_api.h>

using namespace dragon;

namespace dragon {

Result checkCopy(Front &front, const void *to, const void *from, size_t bytes,
                 cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  if (bytes == 0)
    return cudaSuccess;
  if (!to || !from)
    return cudaErrorInvalidValue;
  auto target = reinterpret_cast<uintptr_t>(to);
  auto source = reinterpret_cast<uintptr_t>(from);
  bool toDevice =
      kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  bool fromDevice =
      kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if ((toDevice && !isDeviceAddress(front, target)) ||
      (fromDevice && !isDeviceAddress(front, source)) ||
      !staysInBuffer(front, target, bytes) ||
      !staysInBuffer(front, source, bytes))
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

Result copyBytes(Front &front, void *to, const void *from, size_t bytes,
                 cudaStream_t stream, bool async) {
  if (bytes == 0)
    return cudaSuccess;
  if (Status status = waitForHostWork(front, stream); !status.ok())
    return status;
  // A small copy should not pay for the question: the answer matters little.
  constexpr size_t LargeBytes = 1 << 20;
  bool pageable = true;
  if (bytes >= LargeBytes)
    pageable = isPageable(
        front, front.runtime.buffers().find(reinterpret_cast<uintptr_t>(from))
                   ? to
                   : from);
  const bool variable =
      front.runtime.buffers().isWatched() &&
      (modules().ownsVariableAt(reinterpret_cast<uintptr_t>(to)) ||
       modules().ownsVariableAt(reinterpret_cast<uintptr_t>(from)));
  return front.runtime.buffers().copy(
      to, from, bytes, front.queue(stream), async, pageable,
      /*mayBePinned=*/bytes < LargeBytes,
      variable ? HostAccess::Variable : HostAccess::Copy);
}

namespace {

Result copyChecked(Front &front, void *to, const void *from, size_t bytes,
                   cudaMemcpyKind kind, cudaStream_t stream, bool async) {
  if (capturing() && async) {
    if (front.gpu)
      return DRAGON_NVIDIA(cudaMemcpyAsync, to, from, bytes, kind, stream);
    if (isCaptured(stream)) {
      DRAGON_CHECK(checkCopy(front, to, from, bytes, kind));
      return captureWork(stream, linearCopy(to, from, bytes, kind));
    }
  }
  DRAGON_CHECK(checkCopy(front, to, from, bytes, kind));
  return copyBytes(front, to, from, bytes, stream, async);
}

Result fillChecked(Front &front, void *to, int value, size_t bytes,
                   cudaStream_t stream) {
  if (capturing() && front.gpu)
    return DRAGON_NVIDIA(cudaMemsetAsync, to, value, bytes, stream);
  if (bytes == 0)
    return cudaSuccess;
  if (capturing() && isCaptured(stream))
    return captureWork(stream, setOfBytes(to, bytes, value, bytes, 1));
  auto address = reinterpret_cast<uintptr_t>(to);
  if (!to || !isDeviceAddress(front, address) ||
      !staysInBuffer(front, address, bytes))
    return cudaErrorInvalidValue;
  waitForHostFunctions(front, stream);
  return front.runtime.buffers().fill(to, uint32_t(value) & 0xff, 1, bytes,
                                      front.queue(stream));
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

} // namespace dragon

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

cudaError_t cudaMemset(void *to, int value, size_t bytes) {
  return withDevice([&](Front &front) {
    return fillChecked(front, to, value, bytes, nullptr);
  });
}

cudaError_t cudaMemset_ptds(void *to, int value, size_t bytes) {
  return withDevice([&](Front &front) {
    return fillChecked(front, to, value, bytes, cudaStreamPerThread);
  });
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes,
                            cudaStream_t stream) {
  return withDevice([&](Front &front) {
    return fillChecked(front, to, value, bytes, stream);
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
