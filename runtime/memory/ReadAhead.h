//===- ReadAhead.h - storage is read before it is needed --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The chunks that are needed next are read while others are copied to the
// device, worked on and written back. What was begun counts for nothing until
// it is asked for: the chunk's contents are where they were, and a change of
// them (an overwriting copy, another file, a discard) needs no word to the
// reads. They are compared with the storage when they are asked for, and
// dropped if it is not what it was.
//
// Their slabs are of the memory that is kept free for transit, half of it at
// most: evictions and writes have the other half.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_READAHEAD_H
#define DRAGON_RUNTIME_MEMORY_READAHEAD_H

#include "runtime/memory/HostSlabs.h"
#include "runtime/memory/StorageIo.h"

#include <list>
#include <memory>
#include <span>

namespace dragon {

/// A read of one chunk's storage, under way or done.
struct Reading {
  Chunk *chunk;
  Physical slab;
  uint64_t changes;  ///< of the storage, when it began
  uint64_t wantedAt; ///< how many launches there were
  ReadPlan plan;
  std::shared_ptr<BackgroundIo::Job> job;

  /// It is, or will be, what the chunk needs.
  bool isCurrent() const {
    return changes == chunk->storage.changes() &&
           livesInStorage(stateOf(*chunk));
  }
};

class ReadAhead {
public:
  ReadAhead(Context &context, HostSlabs &slabs, StorageIo &store)
      : Ctx(context), Slabs(slabs), Store(store) {}

  /// Begins to read the storage of chunks that will be brought in, in this
  /// order, into transit memory, as far as half of that goes; the others are
  /// left for later calls. Evicts nothing and waits for nothing. Chunks whose
  /// contents are not in storage are left out, and those that come from the
  /// program's memory (ProgramFetch.h).
  Status start(std::span<Chunk *const> chunks);
  /// The read of the chunk has begun, and is what it needs.
  bool isReading(const Chunk &chunk) const;
  /// And has ended: finish() does not wait.
  bool isDone(const Chunk &chunk) const;
  /// Begins to read the chunk into the slab, which is the reading's then.
  void begin(Chunk &chunk, const Physical &slab);
  /// Waits for a read that has begun. The chunk's contents are in the slab,
  /// which is the caller's.
  Status finish(Chunk &chunk, Cause cause, Physical &slab);
  /// What was begun to be read and nobody needs any more; waits for the read.
  void drop(Chunk &chunk);
  void dropAll();
  /// Those of the program's memory: nothing reads it then.
  void dropMemory();
  uint64_t bytes() const { return Bytes; } ///< of the readings' slabs
  const std::list<Reading> &readings() const { return Readings; }

private:
  void end(Chunk &chunk); ///< takes its reading out of the books

  Context &Ctx;
  HostSlabs &Slabs;
  StorageIo &Store;
  std::list<Reading> Readings;
  uint64_t Bytes = 0;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_READAHEAD_H
