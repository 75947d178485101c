//===- Methods.h - zero-copy, managed memory, a hand-written pipeline -----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The other ways to run the same kernels, in builds with LINK_METHODS, which
// dragon-cc never makes.
//
// * Zero-copy: each cudaMalloc is host memory, registered with the driver, that
//   kernels reach over the link. Inputs and results are in it: load() and
//   store() copy between it and the program's arrays outside of the clock.
// * Managed memory: each cudaMalloc is a cudaMallocManaged. Inputs are put into
//   it on the host outside of the clock; reading the results counts, since that
//   is when they come back. Programs that exceed MostManaged are refused.
// * The ring is what an expert writes for a program that goes over its arrays
//   once: pinned host memory, pieces of the arrays in three slots of device
//   memory, a stream for each slot, so that a piece arrives while another is
//   computed and a third leaves.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_BENCH_LINK_METHODS_H
#define DRAGON_BENCH_LINK_METHODS_H

#include "Bench.h"

#include <cstring>

namespace bench {

inline bool fillOnHost(void *, const void *, size_t, Bench &);
inline bool readOnHost(void *, const void *, size_t, Bench &);

#ifdef LINK_METHODS

inline void *hostMemory(size_t bytes, bool pinned);

inline void copyOnHost(void *to, const void *from, size_t bytes) {
  onAllCores(bytes, [=](size_t first, size_t last) {
    memcpy((char *)to + first, (const char *)from + first, last - first);
  });
}

/// The load() of methods whose "device" memory the host reaches.
inline bool fillOnHost(void *device, const void *host, size_t bytes,
                       Bench &bench) {
  if (bench.method != Method::ZeroCopy && bench.method != Method::Managed)
    return false;
  double since = bench.pauseBegins();
  copyOnHost(device, host, bytes);
  bench.pauseEnds(since);
  return true;
}

/// And the store().
inline bool readOnHost(void *host, const void *device, size_t bytes,
                       Bench &bench) {
  if (bench.method != Method::ZeroCopy && bench.method != Method::Managed)
    return false;
  double since = bench.pauseBegins();
  copyOnHost(host, device, bytes);
  if (bench.method == Method::ZeroCopy)
    bench.pauseEnds(since);
  return true;
}

template <typename T>
cudaError_t deviceMalloc(T **pointer, size_t bytes, Bench &bench) {
  if (bench.method == Method::Managed)
    return cudaMallocManaged(pointer, bytes);
  if (bench.method != Method::ZeroCopy)
    return cudaMalloc(pointer, bytes);
  double since = bench.pauseBegins();
  void *memory = hostMemory(bytes, false);
  cudaError_t status = cudaHostRegister(memory, bytes, cudaHostRegisterMapped);
  bench.pauseEnds(since);
  return status == cudaSuccess
             ? cudaHostGetDevicePointer((void **)pointer, memory, 0)
             : status;
}

inline cudaError_t deviceFree(void *pointer, Bench &bench) {
  // Registered memory goes with the process.
  return bench.method == Method::ZeroCopy ? cudaSuccess : cudaFree(pointer);
}

/// One array that a ring goes over: all of it in pinned host memory.
struct RingArray {
  const void *in; ///< read by the kernel; or null
  void *out;      ///< written by the kernel; or null
  size_t element; ///< bytes
};

/// Goes over `count` elements of the arrays, at most `piece` and a sixteenth of
/// them at a time. launch(device,
/// first, count, stream) starts the kernel on a piece: device[k] is where the
/// part of array k lies that begins with element `first`.
template <typename Launch>
void ring(const std::vector<RingArray> &arrays, size_t count, size_t piece,
          Launch launch) {
  constexpr int Slots = 3;
  if (piece > count / 16 + 1)
    piece = count / 16 + 1;
  cudaStream_t streams[Slots];
  std::vector<void *> device[Slots];
  for (int slot = 0; slot < Slots; ++slot) {
    CHECK(cudaStreamCreateWithFlags(&streams[slot], cudaStreamNonBlocking));
    for (const RingArray &array : arrays) {
      device[slot].push_back(nullptr);
      CHECK(cudaMalloc(&device[slot].back(), piece * array.element));
    }
  }
  int slot = 0;
  for (size_t first = 0; first < count; first += piece) {
    size_t part = count - first < piece ? count - first : piece;
    for (size_t k = 0; k < arrays.size(); ++k)
      if (arrays[k].in)
        CHECK(cudaMemcpyAsync(
            device[slot][k],
            (const char *)arrays[k].in + first * arrays[k].element,
            part * arrays[k].element, cudaMemcpyHostToDevice, streams[slot]));
    launch(device[slot].data(), first, part, streams[slot]);
    for (size_t k = 0; k < arrays.size(); ++k)
      if (arrays[k].out)
        CHECK(cudaMemcpyAsync((char *)arrays[k].out + first * arrays[k].element,
                              device[slot][k], part * arrays[k].element,
                              cudaMemcpyDeviceToHost, streams[slot]));
    slot = (slot + 1) % Slots;
  }
  // The slots go with the process: no method gives memory back on the clock.
  CHECK(cudaDeviceSynchronize());
}

#endif // LINK_METHODS

} // namespace bench

#endif // DRAGON_BENCH_LINK_METHODS_H
