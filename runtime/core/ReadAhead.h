//===- ReadAhead.h - a read of a chunk's storage ----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CORE_READAHEAD_H
#define DRAGON_RUNTIME_CORE_READAHEAD_H

#include "runtime/core/RuntimeImpl.h"

namespace dragon {

/// Of the storage of one chunk, under way or done.
struct Reading {
  Chunk *chunk;
  Physical slab;
  uint64_t changes; ///< of the storage, when it began
  Runtime::Impl::ReadPlan plan;
  std::shared_ptr<BackgroundIo::Job> job;

  /// It is, or will be, what the chunk needs.
  bool isCurrent() const {
    return changes == chunk->storage.changes() && chunk->storageValid &&
           !chunk->deviceValid && !chunk->hostValid;
  }
};

} // namespace dragon

#endif // DRAGON_RUNTIME_CORE_READAHEAD_H
