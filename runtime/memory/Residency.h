//===- Residency.h - bringing contents to where they are needed -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The mechanics behind ResidencyPolicy: each function changes the state of a
// chunk only after what it stands for has happened, so that a failure anywhere
// leaves every chunk with at least the copies it had.
//
// Chunks are read ahead (ReadAhead.h) and copied to the device one after the
// other, as they come. What is read from a file for the second time is kept in
// host memory, if there is room: it will be needed a third time. What is read
// once is not; most data are, and host memory costs more than the read.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_RESIDENCY_H
#define DRAGON_RUNTIME_MEMORY_RESIDENCY_H

#include "runtime/memory/ChunkUse.h"
#include "runtime/memory/Contents.h"
#include "runtime/memory/DeviceChunks.h"
#include "runtime/memory/ProgramFetch.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace dragon {

class TraceZone;

class Residency {
public:
  Residency(Context &context, WorkTracker &time, AddressSpace &space,
            HostSlabs &slabs, StorageIo &store, ReadAhead &reads,
            WriteBehind &writes, HostMemory &host, Contents &data,
            DeviceChunks &deviceChunks, ProgramPins &pinned)
      : Ctx(context), Time(time), Space(space), Slabs(slabs), Store(store),
        Reads(reads), Writes(writes), Host(host), Data(data),
        OnDevice(deviceChunks), Program(context, slabs, pinned) {}

  /// Makes chunks accessible on the device for work that is queued next and
  /// uses them so: room, maps, contents. Does not mark what the work writes:
  /// Contents::wroteDevice() does. What is filled alone is filled in the queue
  /// `fills`, if there is one: there it does not come behind what is fetched
  /// for later work.
  Status bringIn(std::span<const ChunkUse> uses, Queue queue, Cause cause,
                 std::optional<Queue> fills = {});
  /// The same, but the work's queue has to wait for Chunk::arrival.
  Status startBringingIn(std::span<const ChunkUse> uses, Cause cause,
                         std::optional<Queue> fills = {});
  /// A host copy that is valid (Overwrite: allocated, not yet valid), in memory
  /// that the host can touch.
  Status bringToHost(Chunk &chunk, LaunchNeed need, Cause cause);
  /// The same for copies and kernels of the device: it may be on a peer.
  Status bringToSlab(Chunk &chunk, LaunchNeed need, Cause cause);
  /// A slab on a peer for contents that are about to be overwritten. False:
  /// there is none.
  StatusOr<bool> goToPeer(Chunk &chunk) {
    return Host.goToPeer(chunk, /*moves=*/false);
  }
  /// All of the buffer comes to the device and is not evicted any more: code
  /// that this runtime does not launch (a graph, a library's kernel) works on
  /// it at times that nobody sees. Its device copy is the valid one from then
  /// on.
  Status keep(Buffer &buffer);
  /// Whether so many bytes can stay beside those that do.
  Status checkKept(uint64_t bytes);
  /// Begins to read chunks whose contents are in storage alone, as far as there
  /// is memory for transit (ReadAhead::start).
  Status readAhead(std::span<Chunk *const> chunks) {
    return Reads.start(chunks);
  }
  /// The contents have been read: they can be brought in without waiting.
  bool hasBeenRead(const Chunk &chunk) const { return Reads.isDone(chunk); }
  /// A hint: as far as there is room that nothing needs.
  Status prefetch(Buffer &buffer, uintptr_t address, size_t bytes, Queue queue);
  /// Memory that is kept for the next fetches is given back.
  Status releaseBlocks();

  /// While it lives fetches of the program's memory go on while the caller
  /// does, until somebody asks for what they bring: the program must not go on.
  class FetchingLater {
  public:
    explicit FetchingLater(Residency &resident)
        : Resident(resident), Before(std::exchange(resident.Later, true)) {}
    ~FetchingLater() {
      Resident.Later = Before;
      finish().ignore();
    }
    FetchingLater(const FetchingLater &) = delete;
    FetchingLater &operator=(const FetchingLater &) = delete;
    /// The memory is not read any more.
    Status finish() { return Resident.Time.Fetches.recordAll(); }

  private:
    Residency &Resident;
    const bool Before;
  };
  /// A fetch of it now keeps nobody waiting.
  bool comesLater(const Chunk &chunk) const {
    return Later && !chunk.copies.host && !chunk.transit.reading &&
           chunk.storage.inProgramMemory();
  }

private:
  /// Chunks on their way to the device, by what brings them.
  struct Arrivals {
    DeviceChunks::Exchange &exchange; ///< for the room that they need
    std::vector<Chunk *> copied;      ///< by Context::copyIn
    std::vector<Chunk *> filled;      ///< by the queue of fills
    std::vector<Chunk *> fromStorage; ///< still to be fetched
    Queue filling = nullptr;
    uint64_t bytes = 0;
  };
  Status bring(const ChunkUse &use, Cause cause, Arrivals &arrivals);
  /// Only what the use touches.
  Status bringPart(const ChunkUse &use, Cause cause, Arrivals &arrivals);
  /// Those of the uses that need contents, or the others.
  Status bringThose(std::span<const ChunkUse> uses, Cause cause,
                    Arrivals &arrivals, TraceZone &zone, bool withContents);
  Status map(Chunk &chunk, Arrivals &arrivals);
  Status noteArrivals(Arrivals &arrivals);
  /// The ticket is of the chunk's copy to the device.
  void arrives(Chunk &chunk, uint64_t ticket);
  /// What no contents will come for: zeros, as a GPU's memory is when a program
  /// has just begun and many programs rely on, or poison.
  Status fillUndefined(const Chunk &chunk, Queue queue);
  /// Contents from storage to the device, through transit slabs.
  Status fetch(std::span<Chunk *const> chunks, Cause cause);
  Status fetchOne(Chunk &chunk, Cause cause, TraceZone &zone);
  /// Their copies are queued. The ticket, or 0: they are done.
  StatusOr<uint64_t> noteFetched(std::span<Chunk *const> chunks);
  void noteFetched(std::span<Chunk *const> chunks, uint64_t ticket);
  /// The same of the program's memory. False: there is no memory for it.
  StatusOr<bool> fetchOfProgram(std::span<Chunk *const> chunks, Cause cause);
  Status copyPieces(const Chunk &chunk, const char *from, Cause cause,
                    TraceZone &zone);
  Status copyToDevice(const Chunk &chunk, Cause cause);
  Status copyFromSlab(const Chunk &chunk, ChunkPart part, Cause cause);
  Status copyToHost(Chunk &chunk, Cause cause);
  Status readToHost(Chunk &chunk, Fetch fetch, Cause cause);

  Context &Ctx;
  WorkTracker &Time;
  AddressSpace &Space;
  HostSlabs &Slabs;
  StorageIo &Store;
  ReadAhead &Reads;
  WriteBehind &Writes;
  HostMemory &Host;
  Contents &Data;
  DeviceChunks &OnDevice;
  ProgramFetch Program;
  bool Later = false; ///< FetchingLater
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_RESIDENCY_H
