//===- StorageIo.h - reading and writing what chunks have in storage *- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Contents between host memory and files or swap: which requests that takes,
// and what is true when they are done.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_STORAGEIO_H
#define DRAGON_RUNTIME_MEMORY_STORAGEIO_H

#include "runtime/base/Status.h"
#include "runtime/memory/Context.h"
#include "runtime/tier/BackgroundIo.h"
#include "runtime/tier/FileTier.h"
#include "runtime/tier/OrdinaryMemory.h"

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace dragon {

/// Requests that bring contents from storage to host memory.
struct ReadPlan {
  std::vector<FileRequest> requests;
  std::vector<std::shared_ptr<BackingFile>> inputs;
  uint64_t fileBytes = 0;
  uint64_t swapBytes = 0;
  uint64_t memoryBytes = 0; ///< of the program's memory
  /// While it reads ordinary memory, that stays where it is.
  std::shared_ptr<const int> reader;

  /// Bytes of the file from `offset` on to `memory`.
  void add(const std::shared_ptr<BackingFile> &file, char *memory, size_t bytes,
           int64_t offset);
};

/// A chunk whose contents are at `memory`, to be stored.
struct WritePlan {
  Chunk *chunk;
  const void *memory;
  /// ToMemory, ToSink or ToSwap; a full sink falls back to swap.
  Removal target;
  Piece piece;
  SwapFile::Slot slot; ///< ToMemory: given; else found by planWrite()
};

class StorageIo {
public:
  explicit StorageIo(Context &context) : Ctx(context) {}
  Status start();

  std::unique_ptr<FileTier> Files;
  std::unique_ptr<BackgroundIo> Background;
  std::unique_ptr<SwapFile> Swap; ///< made when first needed
  OrdinaryMemory Ordinary;

  StatusOr<SwapFile *> swapFile();
  /// Reads bytes [begin, end) of the chunk's storage to `memory`; what needs no
  /// I/O is done at once, the rest by run().
  void planRead(const Chunk &chunk, size_t begin, size_t end, char *memory,
                ReadPlan &plan) const;
  Status run(ReadPlan &plan, Cause cause);
  /// While somebody waits who does not do so by the functions below.
  RuntimeLock::WaitForFiles waitForFiles() {
    return RuntimeLock::WaitForFiles(Ctx.lock);
  }
  /// For one that has begun, without the part of the lock that launches in core
  /// take.
  Status wait(BackgroundIo::Job &job);
  /// Its result is not wanted any more: it has ended then, or never begins.
  void callOff(BackgroundIo::Job &job);
  /// What came in is what was mapped; and in the books.
  Status checkRead(ReadPlan &plan, Cause cause, uint64_t nanoseconds);
  /// Finds a place for it.
  Status planWrite(WritePlan &plan, FileRequest &request);
  /// It is there: storage is valid.
  void commitWrite(WritePlan &plan, Cause cause, uint64_t nanoseconds);
  /// Storage is valid then, for each chunk that could be written.
  Status write(std::span<WritePlan> plans, Cause cause);
  /// The chunk's pieces and its slot.
  void release(Chunk &chunk);
  /// The slot alone, if no piece is in it any more.
  void releaseUnusedSlot(Chunk &chunk);
  /// Of swap, or of ordinary memory; or none.
  void releaseSlot(const SwapFile::Slot &slot);
  /// Ordinary memory that a chunk has is needed no more: its contents are in a
  /// slab as well, or go to swap. False: there is none, or a plan reads some.
  StatusOr<bool> moveOrdinaryToSwap();

  /// Contents of others that are stored in bytes [begin, end) of the file go
  /// elsewhere; not those of the buffer with that distance of offset and
  /// address.
  using Detach =
      std::function<Status(const BackingFile &file, int64_t begin, int64_t end,
                           const Buffer *except, int64_t exceptDelta)>;
  void setDetach(Detach detach) { DetachOthers = std::move(detach); }
  Status detachOthers(const BackingFile &file, int64_t begin, int64_t end,
                      const Buffer *except, int64_t exceptDelta) {
    return DetachOthers(file, begin, end, except, exceptDelta);
  }

private:
  Context &Ctx;
  Detach DetachOthers;
  std::map<int64_t, Chunk *> InOrdinary; ///< by where their slots are
  std::shared_ptr<const int> Readers = std::make_shared<const int>(0);
};

/// DRAGON_POISON: undefined bytes are made to look like no data.
void poisonMemory(void *memory, size_t bytes);
/// The same in a slab; in the queue if the host cannot touch it.
Status poisonSlab(Device &device, const Physical &slab, ChunkPart part,
                  Queue queue);
/// What of the chunk's copy at `memory` is undefined.
void poisonOutside(const Chunk &chunk, void *memory);

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_STORAGEIO_H
