//===- WriteBehind.h - evicted contents are written in the background *- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where host memory is full, too, what is evicted goes to its place in an
// output file or to swap. That takes far longer than a copy, so nobody waits:
// the chunk has its contents in a host slab (its own, or the one that they left
// the device in), from where they are written in the background, several chunks
// at a time. Until that is done the host copy is the chunk's contents, valid
// and dirty, as if nobody had begun to write it:
//
//   read, or fetched     from the host copy, without the disk
//   changed, discarded   the write is of no use: called off, or waited for
//   written              the storage is valid, the slab goes to the next taker
//   the write fails      the host copy stays; whoever needs its memory tries
//                        again, and is told if that fails as well
//
// The slabs are lent of the memory that is kept free for transit, half of it at
// most: so there is room for others from the moment when a write begins.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_WRITEBEHIND_H
#define DRAGON_RUNTIME_MEMORY_WRITEBEHIND_H

#include "runtime/memory/HostSlabs.h"
#include "runtime/memory/StorageIo.h"

#include <list>
#include <memory>

namespace dragon {

/// A write of one chunk's host copy, under way or done.
struct Writing {
  WritePlan plan;
  Cause cause;
  uint64_t number; ///< counted as they begin, from 1
  std::shared_ptr<BackgroundIo::Job> job;

  Chunk &chunk() const { return *plan.chunk; }
};

class WriteBehind {
public:
  WriteBehind(Context &context, HostSlabs &slabs, StorageIo &store)
      : Ctx(context), Slabs(slabs), Store(store) {}

  /// Begins to write the chunk's host copy, which is dirty and not mapped, to
  /// give its memory to others then.
  Status start(Chunk &chunk, Removal target, Cause cause);
  /// Waits: its storage is valid, and its host copy gone, but for a chunk that
  /// is pinned. On failure it has its host copy, and no write.
  Status finish(Chunk &chunk);
  /// Its contents change or die: the write is not wanted any more, nor is its
  /// host copy.
  void callOff(Chunk &chunk);
  /// Finishes the writes that need not be waited for.
  void finishDone();
  /// Finishes the write that began first. What began when only so many had is
  /// tried again if it has failed: not an error.
  Status finishFirst(uint64_t begunBefore = 0);
  Status finishAll();
  /// Finishes the writes to these bytes of the file.
  void finishTo(dev_t deviceId, ino_t inode, int64_t begin, int64_t end);

  bool any() const { return !Writings.empty(); }
  uint64_t bytes() const { return Bytes; } ///< of slabs that are written
  uint64_t begun() const { return Begun; } ///< how many have begun
  const std::list<Writing> &writings() const { return Writings; }
  /// Bytes of slabs that may be written at a time.
  uint64_t most() const { return Ctx.limits.transitBytes / 2; }

private:
  Writing takeOut(Chunk &chunk); ///< it is over, one way or the other
  void giveUpHostCopy(Chunk &chunk);

  Context &Ctx;
  HostSlabs &Slabs;
  StorageIo &Store;
  std::list<Writing> Writings; ///< in the order in which they began
  uint64_t Bytes = 0;
  uint64_t Begun = 0;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_WRITEBEHIND_H
