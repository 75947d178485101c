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
  const bool asks =
      bytes >= LargeBytes || front.runtime.buffers().isFollowed(
                                 reinterpret_cast<uintptr_t>(to), bytes);
  bool pageable = true;
  if (asks)
    pageable = isPageable(
        front, front.runtime.buffers().find(reinterpret_cast<uintptr_t>(from))
                   ? to
                   : from);
  DRAGON_CHECK(deviceMayWrite(front, to, bytes));
  // The program's memory may change from now on.
  if (Status status = front.runtime.files().releaseProgramMemory(to, bytes);
      !status.ok())
    return status;
  const bool variable =
      front.runtime.buffers().isWatched() &&
      (modules().cpuVariableAt(reinterpret_cast<uintptr_t>(to)) ||
       modules().cpuVariableAt(reinterpret_cast<uintptr_t>(from)));
  return front.runtime.buffers().copy(
      to, from, bytes, front.queue(stream), async, pageable,
      /*mayBePinned=*/!asks,
      variable ? HostAccess::Variable : HostAccess::Copy);
}

std::optional<Result> copyAtOnce(Front &front, void *to, const void *from,
                                 size_t bytes, cudaMemcpyKind kind,
                                 cudaStream_t stream) {
  if (bytes == 0 ||
      (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToHost))
    return std::nullopt;
  if (Status status = waitForHostWork(front, stream); !status.ok())
    return Result(status);
  if (Status noted = deviceMayWrite(front, to, bytes); !noted.ok())
    return Result(noted);
  std::optional<Status> done = front.runtime.buffers().transferAtOnce(
      to, from, bytes,
      kind == cudaMemcpyHostToDevice ? CopyKind::HostToDevice
                                     : CopyKind::DeviceToHost,
      front.queue(stream));
  if (!done)
    return std::nullopt;
  return Result(*done);
}

namespace {

Result fillChecked(Front &front, void *to, int value, size_t bytes,
                   cudaStream_t stream) {
  if (isCapturedByNvidia(front, stream))
    return whileThere(front, {{to, bytes}}, [&] {
      return DRAGON_NVIDIA(cudaMemsetAsync, to, value, bytes, stream);
    });
  if (bytes == 0)
    return cudaSuccess;
  if (capturing() && !front.gpu && isCaptured(stream))
    return captureWork(stream, setOfBytes(to, bytes, value, bytes, 1));
  waitForHostFunctions(front, stream);
  DRAGON_CHECK(deviceMayWrite(front, to, bytes));
  if (std::optional<Status> done = front.runtime.buffers().fillAtOnce(
          to, uint32_t(value) & 0xff, 1, bytes, front.queue(stream)))
    return *done;
  auto address = reinterpret_cast<uintptr_t>(to);
  if (!to || !isDeviceAddress(front, address) ||
      !staysInBuffer(front, address, bytes))
    return cudaErrorInvalidValue;
  return front.runtime.buffers().fill(to, uint32_t(value) & 0xff, 1, bytes,
                                      front.queue(stream));
}

} // namespace

} // namespace dragon

extern "C" {

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

} // extern "C"
