//===- Transfers.cpp - the program's copies and fills ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Contents are written where they are, or where they find room without moving
// others: on the device first, then in host memory. Chunks that hold nothing
// make room. What finds room nowhere goes to the device as a launch's would, by
// eviction.
//
// Large copies of pageable memory are made by several threads: straight into
// and out of the host copies of chunks, and through pinned blocks where the
// chunk is on the device. Pinned memory is the device's to copy.
//
//===----------------------------------------------------------------------===//

#include "runtime/core/HostCopies.h"
#include "runtime/core/RuntimeImpl.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Trace.h"

#include <algorithm>
#include <utility>

namespace dragon {

namespace {

/// Where not everything fits, uploads fill so much less than the device's
/// budget.
constexpr uint64_t UploadShare = 2;

/// The chunks of [begin, end), with the part of each that is in it.
template <typename Fn>
Status forEachChunk(Buffer &buffer, uintptr_t begin, uintptr_t end, Fn fn) {
  while (begin < end) {
    Chunk &chunk = buffer.chunkAt(begin);
    uintptr_t stop = std::min(end, chunk.va() + chunk.bytes());
    DRAGON_TRY(fn(chunk, begin, stop));
    begin = stop;
  }
  return {};
}

LaunchNeed needFor(const Chunk &chunk, uintptr_t begin, uintptr_t end) {
  return begin <= chunk.va() && end >= chunk.usedEnd() ? LaunchNeed::Overwrite
                                                       : LaunchNeed::Write;
}

/// Pinned blocks for a copy of pageable memory. They are transit memory, a
/// quarter of it at most: what the copy moves out of its way needs the rest.
class Stage {
public:
  Stage(Runtime::Impl &impl, Queue queue, Queue through, size_t bytes,
        bool pageable)
      : Impl(impl), Copies(*impl.Dev, queue, through),
        Wanted(pageable && impl.Dev->caps().asynchronous &&
               bytes >= StagedCopies::MinimumBytes) {}
  ~Stage() { finish().ignore(); }
  Stage(const Stage &) = delete;
  Stage &operator=(const Stage &) = delete;

  /// Null: the device copies by itself.
  StagedCopies *forRun(size_t bytes) {
    if (Wanted && bytes >= MinimumRun && Slabs.empty())
      Wanted = takeSlabs();
    return Wanted && bytes >= MinimumRun ? &Copies : nullptr;
  }

  Status finish() {
    Status status = Copies.finish();
    for (const Physical &slab : Slabs) {
      Impl.HostPool.lend(-int64_t(slab.bytes));
      Impl.HostPool.give(slab);
    }
    Slabs.clear();
    return status;
  }

private:
  static constexpr size_t MinimumRun =
      2 * StagedCopies::BlocksPerThread * StagedCopies::BlockBytes;

  bool takeSlabs() {
    const uint64_t each = Impl.Limits.chunkBytes;
    const uint64_t most =
        std::min<uint64_t>(StagedCopies::usefulBytes() + each - 1,
                           Impl.Limits.transitBytes / 4) /
        each * each;
    if (most < MinimumRun || !Impl.recycleTransit(false).ok())
      return false;
    uint64_t bytes = 0;
    while (bytes < most) {
      auto slab = Impl.HostPool.take(each);
      if (!slab.ok())
        break;
      Slabs.push_back(*slab);
      Impl.HostPool.lend(int64_t(each));
      if (!Copies.addMemory(*slab).ok())
        break;
      bytes += each;
    }
    if (bytes >= MinimumRun)
      return true;
    finish().ignore();
    return false;
  }

  Runtime::Impl &Impl;
  StagedCopies Copies;
  bool Wanted;
  std::vector<Physical> Slabs;
};

} // namespace

bool Runtime::Impl::fitsOnDevice(const Chunk &chunk) {
  return chunk.deviceValid || (chunk.device.id && !chunk.hostValid) ||
         (!chunk.device.id && !chunk.hostValid &&
          hasRoomForFree(chunk.bytes()));
}

bool Runtime::Impl::hasRoomForFree(uint64_t bytes) {
  if (DevicePool.hasRoom(bytes))
    return true;
  uint64_t used = DevicePool.used();
  for (Chunk *chunk : OnDevice) {
    if (chunk->deviceValid || chunk->held || chunk->buffer->kept ||
        isBusy(*chunk))
      continue;
    used -= chunk->bytes();
    if (used + bytes <= DevicePool.budget())
      return true;
  }
  return false;
}

Status Runtime::Impl::noteUse(std::span<Chunk *const> chunks, Queue queue) {
  uint64_t ticket = 0;
  if (Tracking) {
    auto noted = Work.note(queue);
    if (noted.ok())
      ticket = *noted;
    else
      return synchronizeAll();
  }
  for (Chunk *chunk : chunks) {
    if (Tracking)
      chunk->lastUse = ticket;
    else
      chunk->buffer->lastUntracked = Epoch;
  }
  return {};
}

/// The processor is about to touch host memory of the program's that work in
/// front of it in the queue may touch as well: that is done then.
static Status waitForQueue(Device &device, Queue queue, bool &waited) {
  return std::exchange(waited, true) ? Status() : device.synchronize(queue);
}

/// Cuts [begin, end) into runs of chunks for which `onDevice` gives the same
/// answer; it is asked again for each chunk, when the chunks before are done.
/// A run of several chunks on the device needs no room there that is not free.
template <typename OnDevice, typename DeviceRun, typename HostChunk>
static Status forRuns(Buffer &buffer, const SlabPool &pool, uintptr_t begin,
                      uintptr_t end, OnDevice onDevice, DeviceRun deviceRun,
                      HostChunk hostChunk) {
  while (begin < end) {
    Chunk &first = buffer.chunkAt(begin);
    uintptr_t stop = std::min(end, first.va() + first.bytes());
    if (!onDevice(first, begin, stop)) {
      DRAGON_TRY(hostChunk(first, begin, stop));
      begin = stop;
      continue;
    }
    uintptr_t runEnd = stop;
    const bool hasRoom = first.device.id || pool.hasRoom(first.bytes());
    while (hasRoom && runEnd < end) {
      Chunk &next = buffer.chunkAt(runEnd);
      uintptr_t nextStop = std::min(end, next.va() + next.bytes());
      if (!(next.deviceValid || (next.device.id && !next.hostValid)) ||
          !onDevice(next, runEnd, nextStop))
        break;
      runEnd = nextStop;
    }
    DRAGON_TRY(deviceRun(begin, runEnd));
    begin = runEnd;
  }
  return {};
}

Status Runtime::Impl::checkHostMemory(const void *memory, size_t bytes) {
  // A thread that copies could not have the chunk brought to the host: the lock
  // is held.
  auto begin = reinterpret_cast<uintptr_t>(memory);
  for (const Allocation *other : Allocations.overlapping(begin, begin + bytes))
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "copy of {}: the host memory at {:#x} reaches into "
                         "buffer '{}' at {:#x}",
                         formatBytes(bytes), begin, other->name, other->base);
  return {};
}

Status Runtime::Impl::copyToBuffer(Buffer &buffer, uintptr_t to,
                                   const char *from, size_t bytes, Queue queue,
                                   bool pageable, bool mayBePinned) {
  TraceZone zone("copy in", bytes);
  DRAGON_TRY(checkHostMemory(from, bytes));
  ++Clock;
  noteOverwritten(to, to + bytes);
  auto source = [&](uintptr_t at) { return from + (at - to); };
  Stage stage(*this, queue, CopyIn, bytes, pageable);
  HostCopies hostCopies;

  const uint64_t budget = DevicePool.budget();
  const bool outOfCore = LiveBytes > budget;
  uint64_t held = 0; // contents on the device
  bool waited = !mayBePinned || !Dev->caps().asynchronous;
  if (pageable && outOfCore)
    for (const Chunk *chunk : OnDevice)
      held += chunk->deviceValid ? chunk->bytes() : 0;
  auto onDevice = [&](Chunk &chunk, uintptr_t begin, uintptr_t end) {
    const bool hostHasRoom =
        chunk.hostValid || chunk.host.id ||
        HostPool.hasRoom(chunk.bytes(), Limits.transitBytes);
    // What no kernel changes never needs to come back, if the host keeps it.
    // Of the rest, what the next launches bring with them would push out more
    // than that before it was used. From pageable memory the processor copies
    // it in any case.
    if (pageable && outOfCore && hostHasRoom &&
        needFor(chunk, begin, end) == LaunchNeed::Overwrite &&
        (buffer.flags == D_READ ||
         (!chunk.deviceValid && held + chunk.bytes() > budget / UploadShare)))
      return false;
    // Host memory, unless that has no room either.
    const bool there = chunk.deviceValid;
    const bool comes = fitsOnDevice(chunk) || !hostHasRoom;
    held += comes && !there ? chunk.bytes() : 0;
    return comes;
  };
  auto deviceRun = [&](uintptr_t begin, uintptr_t end) -> Status {
    std::vector<Want> wants;
    std::vector<Chunk *> chunks;
    DRAGON_TRY(forEachChunk(
        buffer, begin, end,
        [&](Chunk &chunk, uintptr_t partBegin, uintptr_t partEnd) -> Status {
          wants.push_back({&chunk, needFor(chunk, partBegin, partEnd)});
          chunks.push_back(&chunk);
          return {};
        }));
    ++Round;
    hostCopies.flush(); // into chunks that may be evicted now
    DRAGON_TRY(bringIn(wants, queue, Cause::Copy));
    Status copied;
    if (StagedCopies *copies = stage.forRun(end - begin))
      copied = copies->toDevice(begin, source(begin), end - begin);
    else
      copied = Dev->copy(reinterpret_cast<void *>(begin), source(begin),
                         end - begin, CopyKind::HostToDevice, queue);
    // Some of it may have been written even so.
    for (Chunk *chunk : chunks)
      if (copied.ok() || chunk->deviceValid)
        DRAGON_TRY(wroteDevice(*chunk, chunk->partOf(begin, end)));
    DRAGON_TRY(std::move(copied));
    Bytes.moved(Direction::HostToDevice, Cause::Copy, end - begin);
    return noteUse(chunks, queue);
  };
  auto hostChunk = [&](Chunk &chunk, uintptr_t begin, uintptr_t end) -> Status {
    ++Round;
    // The same. And while host memory is made, there are copies to make.
    if (!chunk.host.id &&
        !(HostPool.isReady(chunk.bytes()) &&
          HostPool.hasRoom(chunk.bytes(), Limits.transitBytes)))
      hostCopies.flush();
    DRAGON_TRY(bringToHost(chunk, needFor(chunk, begin, end), Cause::Copy));
    DRAGON_TRY(settle(chunk));
    DRAGON_TRY(waitForQueue(*Dev, queue, waited));
    hostCopies.add(static_cast<char *>(chunk.host.hostView) +
                       (begin - chunk.va()),
                   source(begin), end - begin);
    return wroteHost(chunk, chunk.partOf(begin, end));
  };
  DRAGON_TRY(forRuns(buffer, DevicePool, to, to + bytes, onDevice, deviceRun,
                     hostChunk));
  return stage.finish();
}

Status Runtime::Impl::copyFromBuffer(Buffer &buffer, char *to, uintptr_t from,
                                     size_t bytes, Queue queue, bool pageable,
                                     bool mayBePinned) {
  TraceZone zone("copy out", bytes);
  DRAGON_TRY(checkHostMemory(to, bytes));
  ++Clock;
  Stage stage(*this, queue, CopyOut, bytes, pageable);
  HostCopies hostCopies; // nothing is evicted before they are made
  auto target = [&](uintptr_t at) { return to + (at - from); };
  ReadPlan reads;
  bool waited = !mayBePinned || !Dev->caps().asynchronous;
  uintptr_t begin = from;
  const uintptr_t end = from + bytes;
  while (begin < end) {
    Chunk &chunk = buffer.chunkAt(begin);
    uintptr_t stop = std::min(end, chunk.va() + chunk.bytes());
    chunk.lastTouch = Clock;
    if (chunk.deviceValid) {
      std::vector<Chunk *> chunks{&chunk};
      while (stop < end && buffer.chunkAt(stop).deviceValid) {
        Chunk &next = buffer.chunkAt(stop);
        next.lastTouch = Clock;
        chunks.push_back(&next);
        stop = std::min(end, next.va() + next.bytes());
      }
      DRAGON_TRY(Fetches.queueWaitsFor(queue, LastFetch));
      if (StagedCopies *copies = stage.forRun(stop - begin))
        DRAGON_TRY(copies->fromDevice(target(begin), begin, stop - begin));
      else
        DRAGON_TRY(Dev->copy(target(begin),
                             reinterpret_cast<const void *>(begin),
                             stop - begin, CopyKind::DeviceToHost, queue));
      Bytes.moved(Direction::DeviceToHost, Cause::Copy, stop - begin);
      DRAGON_TRY(noteUse(chunks, queue));
    } else if (chunk.hostValid) {
      DRAGON_TRY(settle(chunk));
      DRAGON_TRY(waitForQueue(*Dev, queue, waited));
      hostCopies.add(target(begin),
                     static_cast<const char *>(chunk.host.hostView) +
                         (begin - chunk.va()),
                     stop - begin);
    } else {
      DRAGON_TRY(waitForQueue(*Dev, queue, waited));
      DRAGON_TRY(planRead(chunk, begin - chunk.va(), stop - chunk.va(),
                          target(begin), reads));
    }
    begin = stop;
  }
  return runRead(reads, Cause::Copy);
}

Status Runtime::Impl::copyBetween(Buffer &toBuffer, uintptr_t to,
                                  Buffer &fromBuffer, uintptr_t from,
                                  size_t bytes, Queue queue) {
  TraceZone zone("copy within", bytes);
  ++Clock;
  noteOverwritten(to, to + bytes);
  auto inOnePlace = [&](size_t done, size_t part) -> Status {
    uintptr_t toAt = to + done, fromAt = from + done;
    Chunk &source = fromBuffer.chunkAt(fromAt);
    Chunk &target = toBuffer.chunkAt(toAt);
    Chunk *both[] = {&source, &target};
    size_t together =
        source.bytes() + (&source == &target ? 0 : target.bytes());
    if (together <= DevicePool.budget()) {
      Want wants[] = {{&source, LaunchNeed::Read},
                      {&target, needFor(target, toAt, toAt + part)}};
      if (&source == &target)
        wants[1].need = LaunchNeed::Write;
      ++Round;
      DRAGON_TRY(bringIn(wants, queue, Cause::Copy));
      DRAGON_TRY(Dev->copy(reinterpret_cast<void *>(toAt),
                           reinterpret_cast<const void *>(fromAt), part,
                           CopyKind::DeviceToDevice, queue));
      Bytes.moved(Direction::DeviceToDevice, Cause::Copy, part);
      DRAGON_TRY(wroteDevice(target, target.partOf(toAt, toAt + part)));
      return noteUse(both, queue);
    }
    // The budget does not hold both.
    std::vector<char> bounce(part);
    DRAGON_TRY(copyFromBuffer(fromBuffer, bounce.data(), fromAt, part, queue,
                              /*pageable=*/true));
    DRAGON_TRY(Dev->synchronize(queue));
    DRAGON_TRY(copyToBuffer(toBuffer, toAt, bounce.data(), part, queue,
                            /*pageable=*/true));
    return Dev->synchronize(queue);
  };

  if (toBuffer.allOnDevice() && fromBuffer.allOnDevice()) {
    DRAGON_TRY(Fetches.queueWaitsFor(queue, LastFetch));
    DRAGON_TRY(Dev->copy(reinterpret_cast<void *>(to),
                         reinterpret_cast<const void *>(from), bytes,
                         CopyKind::DeviceToDevice, queue));
    Bytes.moved(Direction::DeviceToDevice, Cause::Copy, bytes);
    std::vector<Chunk *> used;
    auto use = [&used](Chunk &chunk, uintptr_t, uintptr_t) -> Status {
      used.push_back(&chunk);
      return {};
    };
    DRAGON_TRY(forEachChunk(toBuffer, to, to + bytes, use));
    for (Chunk *chunk : used)
      DRAGON_TRY(wroteDevice(*chunk, chunk->partOf(to, to + bytes)));
    DRAGON_TRY(forEachChunk(fromBuffer, from, from + bytes, use));
    return noteUse(used, queue);
  }
  for (size_t done = 0; done < bytes;) {
    Chunk &source = fromBuffer.chunkAt(from + done);
    Chunk &target = toBuffer.chunkAt(to + done);
    size_t part =
        std::min({bytes - done, source.va() + source.bytes() - (from + done),
                  target.va() + target.bytes() - (to + done)});
    DRAGON_TRY(inOnePlace(done, part));
    done += part;
  }
  return {};
}

Status Runtime::Impl::fillBuffer(Buffer &buffer, uintptr_t to, uint32_t value,
                                 unsigned width, size_t count, Queue queue) {
  const size_t bytes = count * width;
  TraceZone zone("fill", bytes);
  ++Clock;
  noteOverwritten(to, to + bytes);
  auto onDevice = [&](Chunk &chunk, uintptr_t begin, uintptr_t end) {
    // Zeros need no memory at all.
    bool asZeros =
        value == 0 && needFor(chunk, begin, end) == LaunchNeed::Overwrite;
    return !asZeros || fitsOnDevice(chunk);
  };
  auto deviceRun = [&](uintptr_t begin, uintptr_t end) -> Status {
    std::vector<Want> wants;
    std::vector<Chunk *> chunks;
    DRAGON_TRY(forEachChunk(
        buffer, begin, end,
        [&](Chunk &chunk, uintptr_t partBegin, uintptr_t partEnd) -> Status {
          wants.push_back({&chunk, needFor(chunk, partBegin, partEnd)});
          chunks.push_back(&chunk);
          return {};
        }));
    ++Round;
    DRAGON_TRY(bringIn(wants, queue, Cause::Copy));
    DRAGON_TRY(Dev->fill(reinterpret_cast<void *>(begin), value, width,
                         (end - begin) / width, queue));
    for (Chunk *chunk : chunks)
      DRAGON_TRY(wroteDevice(*chunk, chunk->partOf(begin, end)));
    return noteUse(chunks, queue);
  };
  auto asZeros = [&](Chunk &chunk, uintptr_t, uintptr_t) -> Status {
    DRAGON_TRY(settle(chunk));
    DRAGON_TRY(forget(chunk));
    chunk.storage.put({0, chunk.used(), PieceKind::Zero, nullptr, 0});
    return {};
  };
  return forRuns(buffer, DevicePool, to, to + bytes, onDevice, deviceRun,
                 asZeros);
}

} // namespace dragon
