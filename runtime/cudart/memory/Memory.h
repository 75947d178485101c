//===- Memory.h - who owns an address ---------------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the program has from cudaMalloc and its kin, and host memory that it
// pinned. Buffers belong to the runtime; the tables here are for what CUDA
// knows besides: which were allocated by which call, and pinned ranges that are
// not the driver's: those of the cpu device, and large ones, which are quicker
// to make in huge pages by several threads. Programs whose executable exports
// device memory to other processes (cudaIpcGetMemHandle) get plain memory of
// NVIDIA's: a handle names physical memory, which may not move.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_MEMORY_MEMORY_H
#define DRAGON_RUNTIME_CUDART_MEMORY_MEMORY_H

#include "runtime/cudart/front/Front.h"

#include <map>
#include <mutex>
#include <optional>

namespace dragon {

struct PinnedRange {
  uintptr_t begin;
  size_t bytes;
  unsigned flags;
  bool registered;      ///< the program's memory, pinned by cudaHostRegister
  Physical memory = {}; ///< if the runtime made it
};

class PinnedMemory {
public:
  bool add(const PinnedRange &range); ///< false if it overlaps another
  std::optional<PinnedRange> find(uintptr_t address);
  std::optional<PinnedRange> take(uintptr_t begin, bool registered);
  Status freeAll(Device &device); ///< cudaDeviceReset

private:
  std::mutex Lock;
  std::map<uintptr_t, PinnedRange> Ranges;
};

PinnedMemory &pinnedMemory();

/// The host memory is not pinned: the device cannot reach it.
bool isPageable(Front &front, const void *memory);

/// Allocates a buffer for the program; *pointer is set on success only.
Result allocateForProgram(Front &front, void **pointer, size_t bytes,
                          const AllocateOptions &options);
/// `order`: that of a stream-ordered free.
Result freeForProgram(Front &front, void *pointer,
                      QueueOrder order = std::nullopt);
/// Frees what allocateForProgram gave out and was not freed.
Status freeAllForProgram(Front &front);

/// True if a copy of device kind may name the address: a buffer, a device
/// variable, pinned memory, or, on a GPU, anything (the driver checks).
bool isDeviceAddress(Front &front, uintptr_t address);

/// False if [address, address + bytes) begins in a buffer and leaves it.
bool staysInBuffer(Front &front, uintptr_t address, size_t bytes);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_MEMORY_MEMORY_H
