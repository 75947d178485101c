//===- DroppedMembers.h - what cudaDeviceProp used to say -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs compiled by dragon-cc see members of cudaDeviceProp that CUDA 13 has
// dropped in the last words of its `reserved`
// (share/dragon/overlay/driver_types.h). Most are attributes of the device.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_DEVICES_DROPPEDMEMBERS_H
#define DRAGON_RUNTIME_CUDART_DEVICES_DROPPEDMEMBERS_H

#include <cstring>
#include <cuda_runtime_api.h>

namespace dragon {

struct DroppedMembers {
  int clockRate = 0;
  int deviceOverlap = 0;
  int kernelExecTimeoutEnabled = 0;
  int computeMode = 0;
  int maxTexture1DLinear = 0;
  int memoryClockRate = 0;
  int singleToDoublePrecisionPerfRatio = 0;
  int cooperativeMultiDeviceLaunch = 0;
};
static_assert(sizeof(DroppedMembers) == 8 * sizeof(int) &&
              sizeof(cudaDeviceProp::reserved) > sizeof(DroppedMembers));

/// `attribute` gives the value of a cudaDeviceAttr, or 0.
template <typename Attribute>
void setDroppedMembers(cudaDeviceProp &properties, Attribute attribute) {
  DroppedMembers old;
  old.clockRate = attribute(cudaDevAttrClockRate);
  old.deviceOverlap = attribute(cudaDevAttrGpuOverlap);
  old.kernelExecTimeoutEnabled = attribute(cudaDevAttrKernelExecTimeout);
  old.computeMode = attribute(cudaDevAttrComputeMode);
  old.maxTexture1DLinear = attribute(cudaDevAttrMaxTexture1DLinearWidth);
  old.memoryClockRate = attribute(cudaDevAttrMemoryClockRate);
  old.singleToDoublePrecisionPerfRatio =
      attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio);
  std::memcpy(reinterpret_cast<char *>(&properties + 1) - sizeof old, &old,
              sizeof old);
}

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_DEVICES_DROPPEDMEMBERS_H
