//===- cuda_runtime.h - the runtime API and what it was ---------*- C++ -*-===//
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
#ifndef DRAGON_OVERLAY_CUDA_RUNTIME_H
#define DRAGON_OVERLAY_CUDA_RUNTIME_H

#include <driver_types.h>

// In front of CUDA 12's overloads: those of a name have one type here.
#ifdef DRAGON_CUDA_12
#include <cuda_runtime_api.h>
#endif

#include_next <cuda_runtime.h>

#include "dragon-nvcc/dropped.h"

#endif // DRAGON_OVERLAY_CUDA_RUNTIME_H
