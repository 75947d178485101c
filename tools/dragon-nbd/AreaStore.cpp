//===- AreaStore.cpp - a block device in spare device memory --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-nbd/AreaStore.h"

#include "runtime/trace/Log.h"

#include <cstring>
#include <shared_mutex>

namespace dragon::nbd {

namespace {

/// Areas on their way at a time: copies from the device and writes to the file
/// go on beside each other.
constexpr unsigned NumMovers = 4;
/// Beside them: a flush, and an area that comes back.
constexpr unsigned NumStages = NumMovers + 2;

} // namespace

StatusOr<std::unique_ptr<AreaStore>>
AreaStore::create(uint64_t Size, uint64_t AreaBytes, bool ReserveFile,
                  SpareMemory &Memory, AreaFile &File, Report Tell) {
  std::unique_ptr<AreaStore> Store(new AreaStore(
      Size, AreaBytes, ReserveFile, Memory, File, std::move(Tell)));
  DRAGON_ASSIGN(Store->Staged, Stages::create(Memory, File, NumStages));
  return Store;
}

AreaStore::AreaStore(uint64_t Size, uint64_t AreaBytes, bool ReserveFile,
                     SpareMemory &Memory, AreaFile &File, Report Tell)
    : Table(Size, AreaBytes), Memory(Memory), File(File),
      ReserveFile(ReserveFile), Tell(std::move(Tell)), Movers(NumMovers) {}

AreaStore::~AreaStore() {
  for (uint64_t Index = 0; Index < Table.NumAreas; ++Index)
    if (Table[Index].isOnDevice() && !Memory.isLost())
      Memory.give(Index, Table[Index].Device);
}

template <typename Each>
Status AreaStore::eachPiece(uint64_t Bytes, uint64_t Begin, Each &&Do) {
  for (uint64_t Done = 0; Done < Bytes;) {
    Piece Part;
    Part.Index = (Begin + Done) / Table.AreaBytes;
    Part.Offset = (Begin + Done) % Table.AreaBytes;
    Part.Bytes = std::min(Bytes - Done, Table.AreaBytes - Part.Offset);
    Part.Done = Done;
    DRAGON_TRY(Do(Part));
    Done += Part.Bytes;
  }
  return {};
}

Status AreaStore::lost(const Piece &Part) const {
  return Status::error(DRAGON_ERROR_DEVICE,
                       "{} bytes at {} were only on the device, which is lost",
                       Part.Bytes, beginOf(Part));
}

void AreaStore::settle(uint64_t Index) {
  Area &Own = Table[Index];
  if (!Own.isOnDevice() || !Memory.isLost())
    return;
  Table.unlist(Index);
  Memory.forget(Own.Device);
  Own.Device = {};
  if (Own.FileCurrent)
    return;
  Own.Lost = true;
  ++Counts.Lost;
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

Status AreaStore::read(void *To, uint64_t Bytes, uint64_t Begin) {
  return eachPiece(Bytes, Begin, [&](const Piece &Part) {
    return readPiece(Part, static_cast<char *>(To) + Part.Done);
  });
}

Status AreaStore::readPiece(const Piece &Part, void *To) {
  Area &Own = Table[Part.Index];
  while (true) {
    {
      std::shared_lock Guard(Own.Lock);
      if (Own.Lost)
        return lost(Part);
      if (Own.isInFile()) {
        Table.ask(Part.Index);
        return File.read(Own.Slot, To, Part.Bytes, Part.Offset);
      }
      if (Own.isEmpty()) {
        std::memset(To, 0, Part.Bytes);
        return {};
      }
      Table.touch(Part.Index);
      if (Memory.copyOut(Part.Index, Part.Offset, To, Part.Bytes).ok())
        return {};
    }
    std::unique_lock Guard(Own.Lock);
    settle(Part.Index);
  }
}

Status AreaStore::write(const void *From, uint64_t Bytes, uint64_t Begin) {
  return eachPiece(Bytes, Begin, [&](const Piece &Part) {
    return writePiece(Part, static_cast<const char *>(From) + Part.Done);
  });
}

Status AreaStore::writePiece(const Piece &Part, const void *From) {
  Area &Own = Table[Part.Index];
  while (true) {
    {
      std::shared_lock Guard(Own.Lock);
      if (Own.Lost && !isWhole(Part))
        return lost(Part);
      if (Own.isInFile()) {
        DRAGON_TRY(File.write(Own.Slot, From, Part.Bytes, Part.Offset));
        Table.mark(beginOf(Part), Part.Bytes);
        Table.ask(Part.Index);
        return {};
      }
      // Where the copy fails the file's contents, if it has them, are what is
      // left: they stay current.
      if (Own.isOnDevice() &&
          Memory.copyIn(Part.Index, Part.Offset, From, Part.Bytes).ok()) {
        Own.FileCurrent = false;
        Table.mark(beginOf(Part), Part.Bytes);
        Table.touch(Part.Index);
        return {};
      }
    }
    std::unique_lock Guard(Own.Lock);
    settle(Part.Index);
    if (Own.isEmpty() || (Own.Lost && isWhole(Part)))
      return begin(Part, From);
  }
}

Status AreaStore::zero(uint64_t Bytes, uint64_t Begin, bool MayFree) {
  return eachPiece(Bytes, Begin,
                   [&](const Piece &Part) { return zeroPiece(Part, MayFree); });
}

Status AreaStore::trim(uint64_t Bytes, uint64_t Begin) {
  return zero(Bytes, Begin, /*MayFree=*/true);
}

Status AreaStore::zeroPiece(const Piece &Part, bool MayFree) {
  Area &Own = Table[Part.Index];
  std::unique_lock Guard(Own.Lock);
  settle(Part.Index);
  if (Own.isEmpty())
    return MayFree ? Status() : begin(Part, nullptr);
  if (isWhole(Part) && MayFree) {
    free(Part.Index);
    return {};
  }
  if (Own.isOnDevice()) {
    if (Memory.zero(Part.Index, Part.Offset, Part.Bytes).ok())
      Own.FileCurrent = false;
    settle(Part.Index);
  }
  if (Own.Lost)
    return isWhole(Part) ? begin(Part, nullptr) : lost(Part);
  if (Own.isInFile())
    DRAGON_TRY(File.zero(Own.Slot, Part.Bytes, Part.Offset));
  Table.clear(beginOf(Part), Part.Bytes);
  if (MayFree && !Table.anyMarked(Part.Index))
    free(Part.Index);
  return {};
}

Status AreaStore::save(uint64_t Bytes, uint64_t Begin) {
  DRAGON_TRY(eachPiece(Bytes, Begin, [&](const Piece &Part) -> Status {
    Area &Own = Table[Part.Index];
    {
      std::shared_lock Guard(Own.Lock);
      if (Own.isEmpty() || Own.FileCurrent)
        return {};
    }
    std::unique_lock Guard(Own.Lock);
    settle(Part.Index);
    if (Own.Lost)
      return lost(Part);
    if (!Own.isOnDevice() || Own.FileCurrent)
      return {};
    Status Saved = copyToFile(Part.Index);
    settle(Part.Index);
    if (Saved.ok())
      ++Counts.Saved;
    return Saved;
  }));
  return File.sync();
}

//===----------------------------------------------------------------------===//
// Areas begin and end
//===----------------------------------------------------------------------===//

Status AreaStore::needSlot(Area &Own) {
  if (Own.Slot.file)
    return {};
  DRAGON_ASSIGN(Own.Slot, File.allocate());
  return {};
}

void AreaStore::dropSlot(Area &Own) {
  if (Own.Slot.file)
    File.release(Own.Slot);
  Own.Slot = {};
}

Status AreaStore::beginAnywhere(const Piece &Part, const void *From) {
  if (ReserveFile)
    DRAGON_TRY(needSlot(Table[Part.Index]));
  return beginOnDevice(Part, From) ? Status() : beginInFile(Part, From);
}

Status AreaStore::begin(const Piece &Part, const void *From) {
  Area &Own = Table[Part.Index];
  const bool WasEmpty = Own.isEmpty();
  // It is told before the memory is asked for, which depends on it.
  Memory.wants(WasEmpty);
  if (Status Failed = beginAnywhere(Part, From); !Failed.ok()) {
    Memory.wants(-int64_t(WasEmpty));
    if (WasEmpty)
      dropSlot(Own);
    return Failed;
  }
  Counts.Used += WasEmpty;
  Counts.Lost -= Own.Lost;
  Own.Lost = false;
  if (From)
    Table.mark(beginOf(Part), Part.Bytes);
  return {};
}

bool AreaStore::beginOnDevice(const Piece &Part, const void *From) {
  Area &Own = Table[Part.Index];
  const std::optional<Physical> Taken = Memory.take(Part.Index);
  if (!Taken)
    return false;
  const uint64_t Before = From ? Part.Offset : Table.AreaBytes;
  const uint64_t After = Part.Offset + Part.Bytes;
  Status Written = Memory.zero(Part.Index, 0, Before);
  if (Written.ok() && From)
    Written = Memory.copyIn(Part.Index, Part.Offset, From, Part.Bytes);
  if (Written.ok() && From)
    Written = Memory.zero(Part.Index, After, Table.AreaBytes - After);
  if (!Written.ok()) {
    Memory.forget(*Taken);
    return false;
  }
  Own.Device = *Taken;
  Table.list(Part.Index);
  return true;
}

Status AreaStore::beginInFile(const Piece &Part, const void *From) {
  Area &Own = Table[Part.Index];
  DRAGON_TRY(needSlot(Own));
  const uint64_t Before = From ? Part.Offset : Table.AreaBytes;
  const uint64_t After = Part.Offset + Part.Bytes;
  DRAGON_TRY(File.zero(Own.Slot, Before, 0));
  if (From) {
    DRAGON_TRY(File.write(Own.Slot, From, Part.Bytes, Part.Offset));
    DRAGON_TRY(File.zero(Own.Slot, Table.AreaBytes - After, After));
  }
  Own.FileCurrent = true;
  ++Counts.MadeInFile;
  Table.ask(Part.Index);
  return {};
}

void AreaStore::free(uint64_t Index) {
  Area &Own = Table[Index];
  if (Own.isOnDevice()) {
    Table.unlist(Index);
    Memory.give(Index, Own.Device);
  }
  dropSlot(Own);
  Counts.Lost -= Own.Lost;
  Own.Device = {};
  Own.FileCurrent = Own.Lost = false;
  Table.clear(Index * Table.AreaBytes, Table.bytesOf(Index));
  ++Counts.Freed;
  --Counts.Used;
  Memory.wants(-1);
}

//===----------------------------------------------------------------------===//
// Areas move
//===----------------------------------------------------------------------===//

Status AreaStore::copyToFile(uint64_t Index) {
  Area &Own = Table[Index];
  DRAGON_TRY(needSlot(Own));
  Stages::Use Stage(*Staged);
  DRAGON_TRY(Memory.copyOut(Index, 0, Stage.data(), Table.AreaBytes));
  DRAGON_TRY(File.write(Own.Slot, Stage.data(), Table.AreaBytes, 0));
  Own.FileCurrent = true;
  return {};
}

Status AreaStore::moveOut(uint64_t Index) {
  Area &Own = Table[Index];
  std::unique_lock Guard(Own.Lock);
  settle(Index);
  Table.unlist(Index); // if it has become another one meanwhile
  if (!Own.isOnDevice())
    return {}; // trimmed, or lost
  const bool Current = Own.FileCurrent;
  if (!Current) {
    Status Copied = copyToFile(Index);
    settle(Index);
    if (!Own.isOnDevice())
      return {};
    if (!Copied.ok()) {
      Table.putBack(Index);
      return Copied;
    }
  }
  Memory.give(Index, Own.Device);
  Own.Device = {};
  ++(Current ? Counts.Dropped : Counts.MovedOut);
  return {};
}

bool AreaStore::giveBack(uint64_t Most) {
  std::lock_guard Guard(GivingBack);
  // Whoever wanted the memory may be gone before all of it has left.
  auto limit = [&] { return std::min(Most, Memory.limit()); };
  const uint64_t Before = Memory.held();
  if (Before <= limit())
    return true;
  std::atomic<uint64_t> Leaving{0}; ///< just now
  std::atomic<bool> Failed{false};
  Movers.run(NumMovers, [&] {
    while (!Failed && !Stopping) {
      const uint64_t Others = Leaving.fetch_add(Table.AreaBytes);
      const uint64_t Held = Memory.held();
      std::optional<uint64_t> Index;
      if (Held > Others && Held - Others > limit())
        Index = Table.takeOldest();
      Status Moved = Index ? moveOut(*Index) : Status();
      Leaving -= Table.AreaBytes;
      if (!Index)
        return;
      if (Moved.ok())
        continue;
      Failed = true;
      if (!FailureTold.exchange(true))
        Tell("device memory that others want cannot be given back: " +
             Moved.message());
    }
  });
  if (!Failed)
    FailureTold = false;
  const uint64_t Now = Memory.held();
  log(LogLevel::Info, "gives {} MiB of device memory back: others want it",
      (Before - std::min(Before, Now)) >> 20);
  return Now <= limit();
}

bool AreaStore::bringBack() {
  if (!Memory.hasRoom())
    return false;
  const std::optional<uint64_t> Index = Table.takeAsked();
  if (!Index)
    return false;
  Area &Own = Table[*Index];
  std::unique_lock Guard(Own.Lock);
  if (!Own.isInFile())
    return true; // what was asked for is over
  const std::optional<Physical> Taken = Memory.take(*Index);
  if (!Taken)
    return false;
  Stages::Use Stage(*Staged);
  Status Moved = File.read(Own.Slot, Stage.data(), Table.AreaBytes, 0);
  if (Moved.ok())
    Moved = Memory.copyIn(*Index, 0, Stage.data(), Table.AreaBytes);
  if (!Moved.ok()) {
    if (Memory.isLost())
      Memory.forget(*Taken);
    else
      Memory.give(*Index, *Taken);
    return false;
  }
  Own.Device = *Taken;
  Table.list(*Index);
  ++Counts.MovedIn;
  return true;
}

} // namespace dragon::nbd
