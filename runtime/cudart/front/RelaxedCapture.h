//===- RelaxedCapture.h - our calls beside captures of NVIDIA's -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// While a stream is captured, CUDA refuses calls that a graph could not repeat
// (to allocate, to ask for an event) in threads whose capture mode is not
// relaxed, and the capture fails. What this library does by itself to move data
// is not the program's doing: its calls are made in relaxed mode.
//
// Source: CUDA Runtime API, cudaThreadExchangeStreamCaptureMode.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_FRONT_RELAXEDCAPTURE_H
#define DRAGON_RUNTIME_CUDART_FRONT_RELAXEDCAPTURE_H

#include <atomic>
#include <driver_types.h>

namespace dragon {

struct Front;

/// Captures that have begun and not ended.
extern std::atomic<int> activeCaptures;

/// The calling thread's mode is relaxed while it lives, if there are captures
/// on a GPU.
class RelaxedCapture {
public:
  explicit RelaxedCapture(const Front &front) {
    if (activeCaptures.load(std::memory_order_relaxed) != 0)
      enter(front);
  }
  ~RelaxedCapture() {
    if (Entered)
      leave();
  }
  RelaxedCapture(const RelaxedCapture &) = delete;
  RelaxedCapture &operator=(const RelaxedCapture &) = delete;

private:
  void enter(const Front &front);
  void leave();

  cudaStreamCaptureMode Before = cudaStreamCaptureModeRelaxed;
  bool Entered = false;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_FRONT_RELAXEDCAPTURE_H
