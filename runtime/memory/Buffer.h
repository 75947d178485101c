//===- Buffer.h - address ranges and the chunks in them ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Buffer is a reserved range of addresses, cut into chunks: the unit in which
// contents move.
//
// No policy and no locking: the Runtime's lock protects all of it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_BUFFER_H
#define DRAGON_RUNTIME_MEMORY_BUFFER_H

#include "dragon/CompilerABI.h"
#include "runtime/base/Intervals.h"
#include "runtime/device/Device.h"
#include "runtime/memory/ChunkCopies.h"
#include "runtime/memory/ChunkPart.h"
#include "runtime/memory/NextUse.h"
#include "runtime/memory/Storage.h"
#include "runtime/trace/Trace.h"

#include <memory>
#include <string>
#include <vector>

namespace dragon {

struct Buffer;
struct Reading;
struct Writing;

/// What is under way between the places of a chunk.
struct Transit {
  Reading *reading = nullptr; ///< of its storage, under way or done
  Writing *writing = nullptr; ///< of its host copy, to storage; under way
  /// It is clean because it was copied out, to be evicted.
  bool copiedAhead = false;
  uint64_t lastUse = 0;   ///< ticket of the last work that uses it
  uint64_t arrival = 0;   ///< ticket of the copies that bring its contents
  uint64_t departure = 0; ///< ticket of the copy to its host slab
};

/// Why a chunk may not leave where it is (Pins.h); besides, Buffer::kept.
struct Holds {
  uint64_t round = 0;  ///< Pins': not in this round
  uint32_t calls = 0;  ///< library calls and copies that need it on the device
  bool mapped = false; ///< while slices run that see it in host memory
  /// Its host slab is being filled or written to storage.
  bool inTransit = false;
};

struct Chunk {
  Buffer *buffer = nullptr;
  uint32_t index = 0;
  Physical device; ///< if any, it is what is mapped
  Physical host;   ///< if any; mapped if hostMapped
  bool hostMapped = false;
  Copies copies; ///< Buffer::note() alone changes them
  Transit transit;
  Holds holds;
  /// The contents were dirty when the program said that they are dead.
  bool discardedDirty = false;
  /// Its memory is to be given back; ends when it is used again.
  bool dying = false;
  /// The clock when its contents died, of which nothing has been done yet
  /// (Contents::forgetLater); 0: they did not.
  uint64_t deadSince = 0;
  /// The defined part of the copies on the device and on the host. What is
  /// outside need not be moved.
  ChunkPart defined;
  /// Where there is no copy on the device: what lies there nevertheless, of
  /// contents that are in host memory.
  IntervalSet<size_t> partly;
  Storage storage;
  SwapFile::Slot slot;       ///< held while storage has pieces in it
  uint8_t timesOrdinary = 0; ///< it has left for ordinary memory
  bool fetched = false;      ///< its contents have come from a file before
  bool streams = false;      ///< StreamedChunks' mark
  uint64_t lastTouch = 0;    ///< for eviction: when it was needed last
  Forecast nextUse;          ///< when it is needed next
  uint64_t nextUseOf = 0;    ///< the clock of the launch nextUse was found in
  uint64_t plannedIn = 0;    ///< SlicePipeline's own: the call,
  size_t planned = 0;        ///< and its number there
  int32_t deviceSlot = -1;   ///< its index in the list of chunks on the device
  int32_t hostSlot = -1;     ///< and in that of host copies
  bool away = false;         ///< driverMoved: better prefetched before a launch

  size_t bytes() const; ///< of its physical memory
  size_t used() const;  ///< of it, bytes that belong to the program
  uintptr_t va() const;
  ChunkPart whole() const { return {0, used()}; }
  /// None of its contents is on the device.
  bool isEmptyOnDevice() const { return !copies.device && partly.empty(); }
  /// The part of it that is in [begin, end), which are addresses.
  ChunkPart partOf(uintptr_t begin, uintptr_t end) const;
  uintptr_t usedEnd() const { return va() + used(); }
};

/// Dirty contents of [begin, end) may go to the file, `begin` to `offset`.
struct Sink {
  uintptr_t begin;
  uintptr_t end;
  std::shared_ptr<BackingFile> file;
  int64_t offset;
  bool permanent; ///< of a D_WRITE map; others end with the write they announce
  uint64_t sizeBefore = 0; ///< of the file, when the write was announced
  bool used = false;       ///< something was evicted to it
  const dragon_reason *why = nullptr; ///< if a compiler announced the write

  bool isIn(const BackingFile &other) const {
    return file->deviceId() == other.deviceId() &&
           file->inode() == other.inode();
  }
  int64_t placeOf(uintptr_t address) const {
    return offset + int64_t(address - begin);
  }
};

/// A file whose bytes are, or were, in storage pieces of the buffer, at
/// file offset = address + delta.
struct BackingLine {
  dev_t deviceId;
  ino_t inode;
  int64_t delta;
};

struct Buffer {
  uint64_t number = 0; ///< none has that of another, alive or dead
  std::string name;    ///< the program's; empty: it is not known
  uintptr_t base = 0;
  size_t bytes = 0;   ///< used
  size_t vaBytes = 0; ///< reserved
  size_t chunkBytes = 0;
  unsigned flags = 0; ///< dragon_flags
  bool hostAccessible = false;
  bool arena = false;
  bool kept = false; ///< stays on the device: others work on it unseen
  /// Data have said what a launch uses of it (ChunkUse::partly): what is not
  /// used of a chunk need not come with the rest.
  bool byData = false;
  /// The driver moves it (DriverMoved.cpp): kept, and no part of the budget.
  bool driverMoved = false;
  /// Each write of it is seen: a launch or a call of the program's.
  bool showsWrites() const { return !hostAccessible && !driverMoved; }
  /// The driver reads and writes it, by itself; null: there is none.
  std::shared_ptr<BackingFile> driverFile;
  dragon_advice advice = DRAGON_ADVISE_NORMAL;
  std::vector<Chunk> chunks;
  std::vector<Sink> sinks;
  std::vector<BackingLine> lines;
  /// Moves out of it that are under way across a wait for files. Launches that
  /// do not wait for movers leave it alone until then (launch/Launcher.h).
  unsigned moving = 0;
  size_t numAway = 0;       ///< chunks that are away
  size_t numOnDevice = 0;   ///< chunks with a valid copy on the device
  size_t numDeviceOnly = 0; ///< of them, those with no other valid copy
  uint64_t lastUse = 0;     ///< as Chunk's, for work on all of it
  uint64_t lastTouch = 0;
  /// The number of the launch that the compiler says needs it next; 0: nothing
  /// is said. UINT64_MAX: none.
  uint64_t nextLaunch = 0;
  uint64_t lastArrival = 0;   ///< ticket of what was fetched last of it
  uint64_t lastUntracked = 0; ///< epoch of the last work that has no ticket
  uint64_t writes = 0;        ///< that the runtime knows of; only to compare

  uintptr_t end() const { return base + bytes; }
  /// Its name, or where it is: for people.
  std::string label() const;
  bool allOnDevice() const { return numOnDevice == chunks.size(); }
  bool allDeviceOnly() const { return numDeviceOnly == chunks.size(); }
  Chunk &chunkAt(uintptr_t address) {
    return chunks[(address - base) / chunkBytes];
  }
  /// `end`; or where the chunk that it is in begins, if what is defined of that
  /// one, in storage alone, ends there too.
  uintptr_t endOfComplete(uintptr_t end) const;
  /// Creates the chunks; base, bytes, vaBytes and chunkBytes are set.
  void makeChunks();
  /// Sets which copies of a chunk are valid after the event, and keeps the
  /// counts.
  void note(Chunk &chunk, ChunkEvent event);
  /// The sink that has a place for all of the chunk's used bytes; null: none.
  const Sink *sinkFor(const Chunk &chunk) const {
    return const_cast<Buffer *>(this)->sinkFor(chunk);
  }
  Sink *sinkFor(const Chunk &chunk);
  /// The same, in the program's memory: the chunk's contents go there as soon
  /// as they leave the device.
  bool hasPlace(const Chunk &chunk) const {
    const Sink *sink = sinks.empty() ? nullptr : sinkFor(chunk);
    return sink && sink->file->isMemory();
  }
  /// A chunk's storage now refers to `file`.
  void noteBacking(const BackingFile &file, uintptr_t address, int64_t offset);
};

ChunkState stateOf(const Chunk &chunk);

/// The zone is to name the buffer.
inline void nameIn(TraceZone &zone, const Buffer &buffer) {
  if (zone.recorded())
    zone.on(buffer.label());
}

/// Counts in Buffer::moving.
class Moving {
public:
  explicit Moving(Buffer &buffer) : Moved(buffer) { ++Moved.moving; }
  ~Moving() { --Moved.moving; }
  Moving(const Moving &) = delete;
  Moving &operator=(const Moving &) = delete;

private:
  Buffer &Moved;
};

inline size_t Chunk::bytes() const {
  size_t begin = size_t(index) * buffer->chunkBytes;
  size_t left = buffer->vaBytes - begin;
  return left < buffer->chunkBytes ? left : buffer->chunkBytes;
}
inline size_t Chunk::used() const {
  size_t begin = size_t(index) * buffer->chunkBytes;
  size_t left = buffer->bytes - begin;
  return left < buffer->chunkBytes ? left : buffer->chunkBytes;
}
inline uintptr_t Chunk::va() const {
  return buffer->base + uintptr_t(index) * buffer->chunkBytes;
}

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_BUFFER_H
