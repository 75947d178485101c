//===- Capture.h - streams that are being captured --------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a program issues between cudaStreamBeginCapture and EndCapture becomes a
// graph of NVIDIA's and runs later, any number of times. So when a capture
// begins, every buffer comes to the device and stays there, and until all
// captures have ended launches, copies and events go to libcudart as they are.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_CAPTURE_H
#define DRAGON_RUNTIME_CUDART_CAPTURE_H

#include <atomic>

namespace dragon {

extern std::atomic<int> activeCaptures;

inline bool capturing() {
  return activeCaptures.load(std::memory_order_relaxed) != 0;
}

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_CAPTURE_H
