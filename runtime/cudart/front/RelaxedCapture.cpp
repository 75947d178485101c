//===- RelaxedCapture.cpp - our calls beside captures of NVIDIA's ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/front/RelaxedCapture.h"

#include "runtime/cudart/front/Forward.h"
#include "runtime/cudart/front/Front.h"

#include <cuda_runtime_api.h>

namespace dragon {

std::atomic<int> activeCaptures{0};

void RelaxedCapture::enter(const Front &front) {
  Entered = front.gpu && DRAGON_NVIDIA(cudaThreadExchangeStreamCaptureMode,
                                       &Before) == cudaSuccess;
}

void RelaxedCapture::leave() {
  DRAGON_NVIDIA(cudaThreadExchangeStreamCaptureMode, &Before);
}

} // namespace dragon
