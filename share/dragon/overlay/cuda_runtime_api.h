//===- cuda_runtime_api.h - the runtime API and what it was -----*- C++ -*-===//
//----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The toolkit's header, which is to see cudaDeviceProp as driver_types.h here
// defines it, and after it the calls that are no longer in it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_OVERLAY_CUDA_RUNTIME_API_H
#define DRAGON_OVERLAY_CUDA_RUNTIME_API_H

#include <driver_types.h>

#include_next <cuda_runtime_api.h>

#include "dragon-nvcc/cuda12.h"
#include "dragon-nvcc/dropped.h"

#endif // DRAGON_OVERLAY_CUDA_RUNTIME_API_H
