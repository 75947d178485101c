//===- Cuda12.h - NVIDIA's runtime of CUDA 12 behind ours -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libcudart.so.13 needs a driver of CUDA 13. With an older driver, and where
// there is no libcudart.so.13, libcudart.so.12 does the same work: its calls
// are those of CUDA 13, but for three kinds.
//
//   cudaMemAdvise            has its form of CUDA 13 under the name
//                            cudaMemAdvise_v2; others have _v3
//   cudaGetDeviceProperties  gives a structure that has eight members more
//   cudaGetKernel            gives a handle of its own, and no CUkernel
//
// Structures that CUDA 13 has made longer begin as those of CUDA 12 do.
//
// Source: the headers driver_types.h and cuda_runtime_api.h of CUDA 12.4 and
// 13.0, compared.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_CUDA_CUDA12_H
#define DRAGON_RUNTIME_DEVICE_CUDA_CUDA12_H

#include <array>
#include <cstddef>
#include <cstring>
#include <cuda_runtime_api.h>
#include <string>
#include <string_view>

namespace dragon {

/// Under which names libcudart.so.12 may have what libcudart.so.13 has under
/// this one: the first that is there is it.
inline std::array<std::string, 3> namesInCuda12(std::string_view name) {
  std::string_view suffix; // of calls in the thread's own stream
  for (std::string_view one : {"_ptsz", "_ptds"})
    if (name.ends_with(one))
      suffix = one;
  const std::string base(name.substr(0, name.size() - suffix.size()));
  const std::string end(suffix);
  return {base + "_v3" + end, base + "_v2" + end, base + end};
}

/// Batches of copies say there which copy failed, and have no later form.
inline bool isInCuda12(std::string_view name) {
  return name.find("BatchAsync") == std::string_view::npos;
}

/// cudaDeviceProp as CUDA 12 has it, in 8 bytes' alignment.
struct Cuda12Properties {
  static constexpr size_t Bytes = 1032;
  alignas(8) char memory[Bytes];
};

/// What both say. Not the NUMA nodes and MPS, which were reserved words then,
/// and attributes of the device: 0.
inline void setProperties(cudaDeviceProp &to, const Cuda12Properties &from) {
  // A run ends where CUDA 12 has a member that is gone (its name stands there),
  // or where padding differs; at which byte of the old structure it begins.
  struct Run {
    size_t old, begin, end;
  };
#define DRAGON_RUN(old, first, next)                                           \
  Run { old, offsetof(cudaDeviceProp, first), offsetof(cudaDeviceProp, next) }
  constexpr Run Runs[] = {
      DRAGON_RUN(0, name, totalConstMem),                  // clockRate
      DRAGON_RUN(352, totalConstMem, multiProcessorCount), // deviceOverlap
      DRAGON_RUN(388, multiProcessorCount,
                 integrated),                      // kernelExecTimeoutEnabled
      DRAGON_RUN(396, integrated, maxTexture1D),   // computeMode
      DRAGON_RUN(408, maxTexture1D, maxTexture2D), // maxTexture1DLinear
      DRAGON_RUN(420, maxTexture2D, surfaceAlignment),
      DRAGON_RUN(568, surfaceAlignment, memoryBusWidth), // memoryClockRate
      DRAGON_RUN(612, memoryBusWidth, sharedMemPerMultiprocessor),
      DRAGON_RUN(640, sharedMemPerMultiprocessor,
                 pageableMemoryAccess), // singleToDoublePrecisionPerfRatio
      DRAGON_RUN(672, pageableMemoryAccess,
                 sharedMemPerBlockOptin), // cooperativeMultiDeviceLaunch
      DRAGON_RUN(696, sharedMemPerBlockOptin, reservedSharedMemPerBlock),
      DRAGON_RUN(720, reservedSharedMemPerBlock, deviceNumaConfig),
  };
#undef DRAGON_RUN
  to = {};
  for (const Run &run : Runs)
    std::memcpy(reinterpret_cast<char *>(&to) + run.begin,
                from.memory + run.old, run.end - run.begin);
}

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_CUDA_CUDA12_H
