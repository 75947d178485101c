//===- ProgramPins.h - memory of the program that kernels read --*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Contents that are still where the program copied them from
// (files/ProgramMemory.h) need not come to host memory of ours for a kernel
// that reads them over the link: their pages are pinned where they are, at 20
// to 50 GB/s, which is three times as fast as to make pinned memory and to copy
// them there. They stay so for the next launches.
//
// To others the memory must be what it was. The driver tells pinned memory from
// pageable, copies that are a part of each fail, and the device may not write
// to these pages. So only pages are pinned that have nothing else in them, and
// no longer than until the program copies from or to that memory, asks what it
// is, changes it or frees it. Until then copies to the device need no pinned
// memory of ours either.
//
// Source: cudaHostRegister, cudaHostRegisterReadOnly in the CUDA Runtime API.
// Threads: under the runtime's lock, but mayHold() and hold().
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_PROGRAMPINS_H
#define DRAGON_RUNTIME_MEMORY_PROGRAMPINS_H

#include "runtime/base/Intervals.h"
#include "runtime/memory/Context.h"

#include <atomic>
#include <map>
#include <mutex>
#include <span>
#include <vector>

namespace dragon {

class ProgramPins {
public:
  explicit ProgramPins(Context &context) : Ctx(context) {}

  /// Contents of buffers are in [begin, end).
  void allow(uintptr_t begin, uintptr_t end);
  /// They are not any more.
  void forget(uintptr_t begin, uintptr_t end);

  /// Pins what it may of the ranges, and what the device takes: see holds().
  void add(std::span<const AddressRange> ranges);
  /// All of [begin, end) is pinned.
  bool holds(uintptr_t begin, uintptr_t end) const;
  /// So many bytes from `begin` are pinned as one piece: a copy may have no
  /// more; at most `bytes`.
  size_t bytesFrom(uintptr_t begin, size_t bytes) const;
  /// The program has there what buffers have from it, and until it is let go
  /// (tier/HeldMemory.h) it stays so, and pinned. False: it does not.
  bool hold(uintptr_t begin, uintptr_t end);
  /// Something of it may be.
  bool mayHold(uintptr_t begin, uintptr_t end) const {
    return begin < High.load(std::memory_order_acquire) &&
           end > Low.load(std::memory_order_acquire);
  }
  /// Nothing of [begin, end) is pinned any more; what is queued that reads it
  /// has ended. Some of what lies beside it is not either.
  void drop(uintptr_t begin, uintptr_t end);

private:
  std::vector<AddressRange> missing(std::span<const AddressRange> ranges) const;
  void noteBounds();

  Context &Ctx;
  IntervalSet<uintptr_t> Allowed;
  std::mutex Lock; ///< of changes of what is pinned, and of hold()
  std::map<uintptr_t, uintptr_t> Pinned;   ///< begin: end, of whole pages
  std::atomic<uintptr_t> Low{UINTPTR_MAX}; ///< of Pinned
  std::atomic<uintptr_t> High{0};
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_PROGRAMPINS_H
