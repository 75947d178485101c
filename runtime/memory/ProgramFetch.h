//===- ProgramFetch.h - chunks that come from the program's memory *- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Contents that the program's memory backs (files/ProgramMemory.h) go to the
// device as a copy of that memory would: by several threads through small
// pinned blocks, which stay in the processor's caches (StagedCopies). To read
// chunks ahead into memory of ours would be one more way through the host's
// memory.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_PROGRAMFETCH_H
#define DRAGON_RUNTIME_MEMORY_PROGRAMFETCH_H

#include "runtime/memory/Buffer.h"
#include "runtime/memory/PinnedStage.h"

#include <optional>

namespace dragon {

class ProgramFetch {
public:
  ProgramFetch(Context &context, HostSlabs &slabs)
      : Ctx(context), Slabs(slabs) {}

  /// Queues the copies of chunks whose storage is the program's memory alone.
  /// That is not read any more when it returns. False: nothing has been done,
  /// as there is no memory for the blocks.
  StatusOr<bool> copy(std::span<Chunk *const> chunks, Cause cause);
  /// Gives the blocks back, which are kept for the next chunk.
  Status release();

private:
  Context &Ctx;
  HostSlabs &Slabs;
  std::optional<PinnedStage> Stage;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_PROGRAMFETCH_H
