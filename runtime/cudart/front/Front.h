//===- Front.h - what every API call begins with ----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime and its device are created by the first call that needs them, not
// by static constructors: a program that never calls CUDA, or that forks first,
// pays nothing. A call is
//
//   return withDevice([&](Front &front) -> Result { ... });
//
// which fails where the process has no device: in a forked child, after an
// error that ended the context, and, for all but the ending thread, at exit.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_FRONT_FRONT_H
#define DRAGON_RUNTIME_CUDART_FRONT_FRONT_H

#include "runtime/base/HostRanges.h"
#include "runtime/base/SignalsHeldOff.h"
#include "runtime/core/Runtime.h"
#include "runtime/cudart/front/ErrorMap.h"
#include "runtime/cudart/front/RelaxedCapture.h"

#include <new>
#include <utility>

namespace dragon {

struct Front {
  Runtime &runtime;
  Device &device;
  bool gpu; ///< NVIDIA's libraries are there, and a handle is one of theirs

  /// cudaSuccess and the process's front, or why there is none. Launches that
  /// the runtime keeps back run.
  static cudaError_t enter(Front *&front);
  /// The same, but they need not: for calls that look at nothing that launches
  /// do, so that the next launch can join them.
  static cudaError_t enterInPassing(Front *&front);
  /// The same without looking at sticky errors: for what may follow them.
  static cudaError_t enterAnyway(Front *&front);
  /// The front if there is one already; creates nothing.
  static Front *existing();

  /// cudaStream_t as the device knows it.
  Queue queue(cudaStream_t stream) const;
};

/// The first call has created the runtime: what of the rest of this library
/// works beside it begins (process/StartUp.cpp).
void startProcess(Front &front);

namespace detail {
template <typename Body> cudaError_t guarded(Front &front, Body &&body) {
  // The driver has locks as well, also while it waits for the device: a handler
  // that touches managed memory would need them.
  const SignalsHeldOff noHandlers(HostRanges::any());
  const RelaxedCapture relaxed(front);
  try {
    return leave(Result(std::forward<Body>(body)(front)).error());
  } catch (const std::bad_alloc &) {
    return leave(cudaErrorMemoryAllocation);
  }
}

/// What went wrong on the way (contents that the call was about to change could
/// not be saved for those who still want them) is the call's error: it may be
/// the program's last one.
template <typename Body> cudaError_t withSticky(Front &front, Body &&body) {
  const cudaError_t error = guarded(front, std::forward<Body>(body));
  return error != cudaSuccess ? error : leave(stickyError());
}
} // namespace detail

template <typename Body> cudaError_t withDevice(Body &&body) {
  Front *front;
  if (cudaError_t error = Front::enter(front))
    return leave(error);
  return detail::withSticky(*front, std::forward<Body>(body));
}

template <typename Body> cudaError_t withDeviceInPassing(Body &&body) {
  Front *front;
  if (cudaError_t error = Front::enterInPassing(front))
    return leave(error);
  return detail::withSticky(*front, std::forward<Body>(body));
}

template <typename Body> cudaError_t withDeviceAnyway(Body &&body) {
  Front *front;
  if (cudaError_t error = Front::enterAnyway(front))
    return leave(error);
  return detail::guarded(*front, std::forward<Body>(body));
}

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_FRONT_FRONT_H
