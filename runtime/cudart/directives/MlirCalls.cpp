//===- MlirCalls.cpp - what programs in MLIR call -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The entry points of dragon/CompilerABI.h, "Programs in MLIR".
//
//===----------------------------------------------------------------------===//

#include "dragon/CompilerABI.h"
#include "dragon/dragon.h"
#include "runtime/cudart/capture/Capture.h"
#include "runtime/cudart/launches/HostFunctions.h"
#include "runtime/cudart/memory/Memory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime_api.h>

using namespace dragon;

namespace {

/// The first words of a memref's descriptor.
struct Descriptor {
  char *allocated;
  char *aligned;
  int64_t offset;
  int64_t sizes[];
};

void fail(const char *why, const char *function, const dragon_source *where) {
  // Its results up to here are the user's.
  std::fflush(stdout);
  if (where && where->file)
    std::fprintf(stderr, "%s:%u:%u: ", where->file, where->line, where->column);
  std::fprintf(stderr, "error: %s", function);
  if (where && where->buffer)
    std::fprintf(stderr, " for '%s'", where->buffer);
  std::fprintf(stderr, ": %s\n", why);
  std::exit(1);
}

/// One after another where it pays to have fewer calls: twice as much with
/// each.
cudaError_t fillByCopies(char *to, const void *value, size_t width,
                         size_t count, cudaStream_t stream) {
  constexpr size_t LargestBytes = 16 << 20;
  // From memory of the stack, which the call does not need afterwards.
  cudaError_t error =
      cudaMemcpyAsync(to, value, width, cudaMemcpyDefault, stream);
  size_t bytes = width * count;
  for (size_t done = width; !error && done < bytes;) {
    size_t part = std::min({done, bytes - done,
                            std::max(LargestBytes / width, size_t(1)) * width});
    error = cudaMemcpyAsync(to + done, to, part, cudaMemcpyDefault, stream);
    done += part;
  }
  return error;
}

/// Numbers of 16 and 32 bits, as the driver API sets them.
cudaError_t fillNumbers(void *to, uint32_t value, size_t width, size_t count,
                        cudaStream_t stream) {
  return withDevice([&](Front &front) -> Result {
    const auto address = reinterpret_cast<uintptr_t>(to);
    if (!to || !isDeviceAddress(front, address) ||
        !staysInBuffer(front, address, width * count))
      return cudaErrorInvalidValue;
    waitForHostFunctions(front, stream);
    return front.runtime.buffers().fill(to, value, unsigned(width), count,
                                        front.queue(stream));
  });
}

} // namespace

extern "C" {

void __dragon_require_cuda(int error, const char *function,
                           const dragon_source *where) {
  if (error)
    fail(cudaGetErrorString(cudaError_t(error)), function, where);
}

void __dragon_require(int error, const char *function,
                      const dragon_source *where) {
  if (error)
    fail(dragon_last_error_message(), function, where);
}

int __dragon_wait_if_visible(const void *pointer, void *stream) {
  cudaPointerAttributes known{};
  if (cudaError_t error = cudaPointerGetAttributes(&known, pointer))
    return error;
  return known.type == cudaMemoryTypeDevice
             ? cudaSuccess
             : cudaStreamSynchronize(static_cast<cudaStream_t>(stream));
}

int __dragon_fill(void *to, const void *value, size_t width, size_t count,
                  void *stream) {
  if (!width || !count)
    return cudaSuccess;
  const auto *bytes = static_cast<const unsigned char *>(value);
  if (std::all_of(bytes, bytes + width,
                  [&](unsigned char byte) { return byte == bytes[0]; }))
    return cudaMemsetAsync(to, bytes[0], width * count,
                           static_cast<cudaStream_t>(stream));
  if ((width == 2 || width == 4) && !capturing()) {
    uint32_t number = 0;
    std::memcpy(&number, value, width);
    return fillNumbers(to, number, width, count,
                       static_cast<cudaStream_t>(stream));
  }
  return fillByCopies(static_cast<char *>(to), value, width, count,
                      static_cast<cudaStream_t>(stream));
}

int __dragon_host_register(int64_t rank, const void *descriptor,
                           uint64_t elementBytes) {
  const auto *memref = static_cast<const Descriptor *>(descriptor);
  // From the first element to the last: rows may be apart.
  const int64_t *strides = memref->sizes + rank;
  uint64_t elements = 1;
  for (int64_t i = 0; i < rank; ++i) {
    if (memref->sizes[i] <= 0)
      return cudaSuccess;
    elements += uint64_t(memref->sizes[i] - 1) * uint64_t(strides[i]);
  }
  return cudaHostRegister(memref->aligned +
                              memref->offset * int64_t(elementBytes),
                          elements * elementBytes, cudaHostRegisterDefault);
}

int __dragon_host_unregister(int64_t rank, const void *descriptor,
                             uint64_t elementBytes) {
  const auto *memref = static_cast<const Descriptor *>(descriptor);
  for (int64_t i = 0; i < rank; ++i)
    if (memref->sizes[i] <= 0)
      return cudaSuccess;
  return cudaHostUnregister(memref->aligned +
                            memref->offset * int64_t(elementBytes));
}

} // extern "C"
