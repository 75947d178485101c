//===- driver_types.h - cudaDeviceProp with its old members -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CUDA 13 has dropped members of cudaDeviceProp that many programs print. Here
// they are the last words of what the toolkit keeps in reserve at the struct's
// end, `int reserved[n]`, so that size and layout stay the toolkit's, and
// cudaGetDeviceProperties fills them in (DroppedMembers.h in
// runtime/cudart/devices has the same words).
//
// The headers of CUDA 12 (DRAGON_CUDA_12) have them.
//
// The toolkit's own definition is used, as the base class of ours: there
// `reserved` is a macro that turns the array into a type, which takes no room:
//   struct dragonDeviceProp { ...; int typedef dragonReserved[n]; };
// It is defined from the struct's name on, up to its first use, because other
// structs have a `reserved` too. The base's base makes it none of C, after
// which members may stand where C pads.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_OVERLAY_DRIVER_TYPES_H
#define DRAGON_OVERLAY_DRIVER_TYPES_H

#if !defined(__cplusplus) || defined(__DRIVER_TYPES_H__) ||                    \
    defined(DRAGON_CUDA_12)
#include_next <driver_types.h>
#else

struct dragonNoMembers {};

#pragma push_macro("reserved")
#undef reserved
#pragma push_macro("reserved")
#define reserved typedef dragonReserved _Pragma("pop_macro(\"reserved\")")
#pragma push_macro("reserved")
#undef reserved
#define cudaDeviceProp                                                         \
  dragonDeviceProp:                                                            \
  dragonNoMembers _Pragma("pop_macro(\"reserved\")")
#include_next <driver_types.h>
#undef cudaDeviceProp
#pragma pop_macro("reserved")

#include "dragon-nvcc/mark.h"

#define DRAGON_ATTRIBUTE_OF_DEVICE(name)                                       \
  DRAGON_DROPPED("cudaDeviceGetAttribute with cudaDevAttr" name)

struct cudaDeviceProp : dragonDeviceProp {
  union {
    dragonReserved reserved;
    struct {
      int dragonUnused[sizeof(dragonReserved) / sizeof(int) - 8];
      int clockRate DRAGON_ATTRIBUTE_OF_DEVICE("ClockRate");
      int deviceOverlap DRAGON_DROPPED("asyncEngineCount");
      int kernelExecTimeoutEnabled
          DRAGON_ATTRIBUTE_OF_DEVICE("KernelExecTimeout");
      int computeMode DRAGON_ATTRIBUTE_OF_DEVICE("ComputeMode");
      int maxTexture1DLinear
          DRAGON_DROPPED("cudaDeviceGetTexture1DLinearMaxWidth");
      int memoryClockRate DRAGON_ATTRIBUTE_OF_DEVICE("MemoryClockRate");
      int singleToDoublePrecisionPerfRatio
          DRAGON_ATTRIBUTE_OF_DEVICE("SingleToDoublePrecisionPerfRatio");
      int cooperativeMultiDeviceLaunch DRAGON_DROPPED("cooperativeLaunch");
    };
  };

  // `cudaDeviceProp properties = {0}`, as for the struct of C.
  cudaDeviceProp() = default;
  cudaDeviceProp(int) : dragonDeviceProp(), reserved() {}
};

#undef DRAGON_ATTRIBUTE_OF_DEVICE
#undef DRAGON_DROPPED

#endif
#endif // DRAGON_OVERLAY_DRIVER_TYPES_H
