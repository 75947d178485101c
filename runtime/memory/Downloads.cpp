//===- Downloads.cpp - the program's copies to host memory ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/ProgramSide.h"
#include "runtime/tier/MemoryCopies.h"

#include "runtime/trace/Trace.h"

#include <algorithm>
#include <vector>

namespace dragon {

/// One copy from a buffer to host memory.
class Transfers::Download {
public:
  Download(Transfers &moves, Buffer &buffer, char *to, uintptr_t from,
           size_t bytes, Queue queue, HostSide side)
      : T(moves), Ctx(moves.Ctx), OutOf(buffer), To(to), From(from),
        End(from + bytes), InQueue(queue),
        Stage(Ctx, T.Slabs, queue, Ctx.copyOut, bytes, side.pageable),
        Target(*Ctx.device, to, queue, side) {}

  Status run() {
    DRAGON_TRY(keepOthers());
    Status status = copyAll();
    if (ReadsHostCopies)
      DRAGON_TRY(Ctx.device->synchronize(InQueue));
    // The copy that was announced has been made.
    std::erase_if(OutOf.sinks, [this](const Sink &sink) {
      return sink.file->isMemory() && From <= sink.begin && sink.end <= End &&
             uintptr_t(sink.offset) ==
                 reinterpret_cast<uintptr_t>(target(sink.begin));
    });
    return status;
  }

private:
  char *target(uintptr_t at) const { return To + (at - From); }

  Status copyAll() {
    uintptr_t begin = From;
    while (begin < End) {
      Chunk &chunk = OutOf.chunkAt(begin);
      uintptr_t stop = std::min(End, chunk.va() + chunk.bytes());
      chunk.lastTouch = Ctx.clock;
      if (chunk.transit.writing && OutOf.hasPlace(chunk))
        T.Data.finishWrite(chunk).ignore(); // it is copied, if that failed
      if (isInPlace(chunk, begin, stop)) {
        begin = stop;
        continue;
      }
      if (chunk.copies.device)
        DRAGON_TRY(copyFromDevice(begin, stop));
      else if (chunk.copies.host && chunk.host.place == Place::Peer)
        DRAGON_TRY(copyFromPeer(chunk, begin, stop));
      else if (chunk.copies.host)
        DRAGON_TRY(copyFromHost(chunk, begin, stop));
      else
        DRAGON_TRY(read(chunk, begin, stop));
      begin = stop;
    }
    DRAGON_TRY(makeGathered());
    return T.Store.run(Reads, Cause::Copy);
  }

  /// As far as chunks are on the device: moves `stop`.
  Status copyFromDevice(uintptr_t begin, uintptr_t &stop) {
    std::vector<Chunk *> chunks{&OutOf.chunkAt(begin)};
    while (stop < End) {
      Chunk &next = OutOf.chunkAt(stop);
      if (!next.copies.device ||
          isInPlace(next, stop, std::min(End, next.va() + next.bytes())))
        break;
      next.lastTouch = Ctx.clock;
      chunks.push_back(&next);
      stop = std::min(End, next.va() + next.bytes());
    }
    DRAGON_TRY(T.Time.Fetches.queueWaitsFor(InQueue, OutOf.lastArrival));
    Ctx.ledger.moved(Direction::DeviceToHost, Cause::Copy, stop - begin);
    if (Stage.forRun(End - From)) {
      OnDevice.push_back({target(begin), begin, stop - begin});
      OfDevice.insert(OfDevice.end(), chunks.begin(), chunks.end());
      return {};
    }
    DRAGON_TRY(Ctx.device->copy(target(begin),
                                reinterpret_cast<const void *>(begin),
                                stop - begin, CopyKind::DeviceToHost, InQueue));
    return T.Time.noteUse(chunks, InQueue);
  }

  /// What is on the device and what the processor copies come together: one
  /// waits for the link and the other for memory.
  Status makeGathered() {
    MemoryCopies copies = std::exchange(Gathered, MemoryCopies());
    for (const FileRequest &request : OfMemory.requests)
      copies.add(request);
    const uint64_t begun = traceClock();
    if (OnDevice.empty()) {
      copies.makeAll();
    } else {
      const auto make = [&](size_t part) { copies.make(part); };
      DRAGON_TRY(Stage.forRun(End - From)
                     ->fromDevice(OnDevice, {copies.size(), make}));
      OnDevice.clear();
      DRAGON_TRY(T.Time.noteUse(std::exchange(OfDevice, {}), InQueue));
    }
    ReadPlan read = std::exchange(OfMemory, ReadPlan());
    return T.Store.checkRead(read, Cause::Copy, traceClock() - begun);
  }

  /// Where results have their place, others' contents may still be.
  Status keepOthers() {
    for (const Sink &sink : OutOf.sinks) {
      if (!sink.file->isMemory())
        continue;
      DRAGON_TRY(T.Store.detachOthers(*sink.file, sink.offset,
                                      sink.placeOf(sink.end), &OutOf,
                                      sink.offset - int64_t(sink.begin)));
    }
    return {};
  }

  /// The bytes have come to where they are copied to.
  bool isInPlace(const Chunk &chunk, uintptr_t begin, uintptr_t stop) const {
    const size_t from = begin - chunk.va(), to = stop - chunk.va();
    return chunk.copies.storage &&
           std::ranges::any_of(chunk.storage.pieces(), [&](const Piece &piece) {
             return piece.file && piece.file->isMemory() &&
                    piece.begin <= from && to <= piece.end &&
                    uintptr_t(piece.offset) + (from - piece.begin) ==
                        reinterpret_cast<uintptr_t>(target(begin));
           });
  }

  Status copyFromPeer(Chunk &chunk, uintptr_t begin, uintptr_t stop) {
    DRAGON_TRY(T.Time.queueWaitsFor(InQueue, chunk));
    DRAGON_TRY(Ctx.device->copy(target(begin),
                                static_cast<const char *>(chunk.host.peerView) +
                                    (begin - chunk.va()),
                                stop - begin, CopyKind::DeviceToHost, InQueue));
    Ctx.ledger.moved(Direction::PeerToHost, Cause::Copy, stop - begin);
    Chunk *const one = &chunk;
    return T.Time.noteUse({&one, 1}, InQueue);
  }

  Status copyFromHost(const Chunk &chunk, uintptr_t begin, uintptr_t stop) {
    DRAGON_TRY(T.Time.settle(chunk));
    const char *from =
        static_cast<const char *>(chunk.host.hostView) + (begin - chunk.va());
    if (!Target.reachable()) {
      ReadsHostCopies = true;
      return Ctx.device->copy(target(begin), from, stop - begin,
                              CopyKind::HostToDevice, InQueue);
    }
    DRAGON_TRY(Target.waitForQueue());
    Gathered.add(target(begin), from, stop - begin);
    return {};
  }

  /// Some of the chunk is where it is copied to, or next to it.
  bool readsTarget(const Chunk &chunk, uintptr_t begin, uintptr_t stop) const {
    const auto from = reinterpret_cast<uintptr_t>(target(begin));
    return std::ranges::any_of(chunk.storage.pieces(), [&](const Piece &piece) {
      return piece.isOfProgram(from, from + (stop - begin));
    });
  }

  Status read(const Chunk &chunk, uintptr_t begin, uintptr_t stop) {
    const bool reachable = Target.reachable();
    if (reachable)
      DRAGON_TRY(Target.waitForQueue());
    if (!reachable || readsTarget(chunk, begin, stop))
      return readByOurs(chunk, begin, stop, reachable);
    T.Store.planRead(chunk, begin - chunk.va(), stop - chunk.va(),
                     target(begin),
                     chunk.storage.inProgramMemory() ? OfMemory : Reads);
    return {};
  }

  /// By way of memory of our own.
  Status readByOurs(const Chunk &chunk, uintptr_t begin, uintptr_t stop,
                    bool reachable) {
    DRAGON_TRY(makeGathered()); // before others may run
    std::vector<char> bounce(stop - begin);
    ReadPlan plan;
    T.Store.planRead(chunk, begin - chunk.va(), stop - chunk.va(),
                     bounce.data(), plan);
    DRAGON_TRY(T.Store.run(plan, Cause::Copy));
    if (reachable) {
      std::copy(bounce.begin(), bounce.end(), target(begin));
      return {};
    }
    DRAGON_TRY(Ctx.device->copy(target(begin), bounce.data(), bounce.size(),
                                CopyKind::HostToDevice, InQueue));
    return Ctx.device->synchronize(InQueue);
  }

  Transfers &T;
  Context &Ctx;
  Buffer &OutOf;
  char *const To;
  const uintptr_t From, End;
  const Queue InQueue;
  PinnedStage Stage;
  // Nothing is evicted before they are made.
  std::vector<StagedCopies::ToHost> OnDevice;
  std::vector<Chunk *> OfDevice;
  MemoryCopies Gathered;
  ReadPlan OfMemory;
  ReadPlan Reads; ///< of files and swap, behind all others
  ProgramSide Target;
  bool ReadsHostCopies = false; ///< the device does: they must stay so long
};

Status Transfers::fromBuffer(Buffer &buffer, char *to, uintptr_t from,
                             size_t bytes, Queue queue, HostSide side) {
  TraceZone zone("copy out", bytes);
  nameIn(zone, buffer);
  DRAGON_TRY(checkHostMemory(to, bytes));
  ++Ctx.clock;
  Data.adoptMapped(buffer);
  return Download(*this, buffer, to, from, bytes, queue, side).run();
}

} // namespace dragon
