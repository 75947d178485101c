//===- Stream.h - streams and events of the program -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cudaStream_t is a queue of the device, a cudaEvent_t an event of it (on a
// GPU: CUstream and CUevent, so that libraries can be given them). What CUDA
// knows of them besides stands here; handles that are not listed come from
// elsewhere and are passed on.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_STREAMS_STREAM_H
#define DRAGON_RUNTIME_CUDART_STREAMS_STREAM_H

#include "runtime/cudart/front/Front.h"

namespace dragon {

/// Destroys what the program created and did not destroy (cudaDeviceReset).
Status destroyAllStreamsAndEvents(Front &front);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_STREAMS_STREAM_H
