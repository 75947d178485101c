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
// pinned blocks, which stay in the processor's caches (StagedFetches). To read
// chunks ahead into memory of ours would be one more way through the host's
// memory.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_PROGRAMFETCH_H
#define DRAGON_RUNTIME_MEMORY_PROGRAMFETCH_H

#include "runtime/memory/Buffer.h"
#include "runtime/memory/HostSlabs.h"
#include "runtime/memory/ProgramPins.h"
#include "runtime/memory/StagedFetches.h"
#include "runtime/memory/WorkLog.h"

#include <deque>
#include <optional>
#include <vector>

namespace dragon {

class ProgramFetch final : public WorkLog::Later {
public:
  ProgramFetch(Context &context, HostSlabs &slabs, ProgramPins &pinned)
      : Ctx(context), Slabs(slabs), Held(slabs.Pool), From(pinned) {}

  /// Begins to copy chunks whose storage is the program's memory alone. That is
  /// read until the batch is queued, whose number this is; 0: it is. Nothing:
  /// nothing has been done, as there is no memory for the blocks.
  StatusOr<std::optional<uint64_t>> start(std::span<Chunk *const> chunks,
                                          Cause cause);
  bool isQueued(uint64_t batch) override;
  /// Where it fails the batch's chunks have no copy on the device.
  Status awaitQueued(uint64_t batch) override;
  /// Gives the blocks back, which are kept for the next chunk.
  Status release();

private:
  struct Batch {
    uint64_t number;
    std::vector<Chunk *> chunks;
  };
  /// The program's memory.
  class OfProgram final : public StagedFetches::Source {
  public:
    explicit OfProgram(ProgramPins &pinned) : Pinned(pinned) {}
    void read(char *to, uintptr_t from, size_t bytes) override;
    size_t pinnedBytes(uintptr_t from, size_t bytes) override;
    bool hold(uintptr_t from, size_t bytes) override;
    void letGo(uintptr_t from, size_t bytes) override;

  private:
    ProgramPins &Pinned;
  };
  bool hasBlocks();

  Context &Ctx;
  HostSlabs &Slabs;
  LentSlabs Held;
  OfProgram From;
  std::optional<StagedFetches> Copies; ///< in that memory
  std::deque<Batch> Open;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_PROGRAMFETCH_H
