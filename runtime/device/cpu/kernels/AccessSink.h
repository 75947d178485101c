//===- AccessSink.h - where kernels report their accesses -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels that were compiled with -fdragon-trace-accesses tell each access to
// memory that may be global, in the order in which threads make them. While
// there is a sink the blocks of a launch run one after another, in the order of
// their numbers, so that the order is the same in each run.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_CPU_KERNELS_ACCESSSINK_H
#define DRAGON_RUNTIME_DEVICE_CPU_KERNELS_ACCESSSINK_H

#include <cstdint>

namespace dragon {

class AccessSink {
public:
  virtual ~AccessSink() = default;
  /// A block begins; the accesses that follow are its threads'.
  virtual void blockBegins(uint64_t threads) = 0;
  /// `kind`: DRAGON_CPU_READ, DRAGON_CPU_WRITE or both. The address may be
  /// in no buffer (shared and local memory). Called by one thread at a time.
  virtual void access(uintptr_t address, uint64_t bytes, uint32_t kind) = 0;
  /// All blocks of the call of the device have ended, and what they wrote can
  /// be read at its addresses for the last time. `completed`: none failed.
  virtual void blocksEnd(bool completed) = 0;
  /// The process ends here, because of the access that was told last.
  virtual void processEnds() {}
};

/// The process's; null: none. Set while no kernel runs.
void setAccessSink(AccessSink *sink);
AccessSink *accessSink();

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_CPU_KERNELS_ACCESSSINK_H
