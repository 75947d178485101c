//===- RuntimeFiles.cpp - calls on files under buffers --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/RuntimeImpl.h"
#include "runtime/tier/ProtectedMemory.h"

#include <algorithm>

namespace dragon {

Status RuntimeFiles::mapFileRange(uintptr_t address, size_t bytes,
                                  const std::shared_ptr<BackingFile> &file,
                                  int64_t fileOffset) {
  if (bytes == 0)
    return {};
  State.tellListener(address, address + bytes);
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  DRAGON_TRY(State.Maps.mapRange(address, bytes, file, fileOffset));
  if (State.Ctx.watcher)
    State.Ctx.watcher->hostWrote({address, address + bytes}, HostAccess::File,
                                 nullptr);
  return {};
}

StatusOr<bool> RuntimeFiles::mapProgramMemory(uintptr_t address, size_t bytes,
                                              const void *from,
                                              const dragon_reason *why) {
  State.tellListener(address, address + bytes);
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  if (!State.Program.isWorthIt()) {
    if (State.Ctx.watcher)
      State.Program.note(reinterpret_cast<uintptr_t>(from), bytes, why);
    return false;
  }
  State.Next.overwritten(address, address + bytes);
  DRAGON_TRY(State.Program.map(address, bytes,
                               reinterpret_cast<uintptr_t>(from), why));
  if (State.Ctx.watcher)
    State.Ctx.watcher->hostWrote({address, address + bytes}, HostAccess::Copy,
                                 from);
  return true;
}

Status RuntimeFiles::announceCopyOut(uintptr_t address, size_t bytes, void *to,
                                     const dragon_reason *why) {
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  const Allocation *found = State.Space.Allocations.find(address);
  if ((!State.Program.isWorthIt() && !State.Ctx.watcher) || !found ||
      found->hostAccessible || found->buffer->driverMoved ||
      ProtectedMemory::get().concerns(reinterpret_cast<uintptr_t>(to),
                                      reinterpret_cast<uintptr_t>(to) + bytes))
    return {};
  return State.Program.announce(address, bytes, reinterpret_cast<uintptr_t>(to),
                                why);
}

Status RuntimeFiles::settleProgramMemory(const void *memory, size_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t end = begin + std::min(bytes, UINTPTR_MAX - begin);
  if (!State.Program.mayHold(begin, end))
    return {};
  RuntimeImpl::Guard guard(State);
  if (State.Closed)
    return {}; // nobody reads what the buffers hold any more
  DRAGON_TRY(State.ready());
  return State.Program.settle(begin, end);
}

bool RuntimeFiles::isWorthDeferring(const void *from, size_t bytes) const {
  constexpr size_t FewChunks = 4;
  const size_t chunk = State.Ctx.limits.chunkBytes;
  const Settings &config = State.Ctx.config;
  if (bytes < FewChunks * chunk || !config.elide || !config.protect)
    return false;
  RuntimeImpl::StateGuard guard(State);
  const auto begin = reinterpret_cast<uintptr_t>(from);
  return State.Program.isWorthIt() &&
         !State.Program.isAwaited(begin, begin + bytes);
}

Status RuntimeFiles::settleCopied(const void *memory, size_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  if (ProtectedMemory::get().copied(begin, begin + bytes).empty())
    return {};
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  return State.Program.settleCopied(begin, begin + bytes);
}

Status RuntimeFiles::releaseProgramMemory(const void *memory, size_t bytes) {
  if (!HostRanges::overlaps(memory, bytes))
    return {};
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const auto [begin, end] = ProtectedMemory::unitsOf(address, address + bytes);
  Status status =
      settleProgramMemory(reinterpret_cast<void *>(begin), end - begin);
  if (status.ok())
    ProtectedMemory::get().release(begin, end);
  else
    ProtectedMemory::get().save(begin, end);
  return status;
}

void RuntimeFiles::unpinProgramMemory(const void *memory, size_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t end = begin + std::min(bytes, UINTPTR_MAX - begin);
  State.unpin(begin, end);
}

bool RuntimeFiles::keepProgramMemory(void *memory, size_t bytes,
                                     void (*release)(void *)) {
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  {
    RuntimeImpl::Guard guard(State);
    if (!State.Closed && State.Program.keep(begin, begin + bytes, release))
      return true;
  }
  releaseProgramMemory(memory, bytes).ignore(); // what is not settled is saved
  return false;
}

const dragon_reason *RuntimeFiles::keptBy(const void *memory, size_t bytes,
                                          ObservedHostCode::Rule rule) const {
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  if (!State.Program.mayHold(begin, begin + bytes))
    return nullptr;
  RuntimeImpl::Guard guard(State);
  return rule == ObservedHostCode::Source
             ? State.Program.deferredBy(begin, begin + bytes)
             : State.Program.awaitedBy(begin, begin + bytes);
}

bool RuntimeFiles::hasSinks() const { return State.Announced.any(); }

std::optional<std::pair<uintptr_t, uintptr_t>>
RuntimeFiles::announcedWrite(uintptr_t address, const BackingFile &file,
                             int64_t offset) {
  if (!hasSinks())
    return std::nullopt;
  RuntimeImpl::Guard guard(State);
  if (const Allocation *found = State.Space.Allocations.find(address))
    for (const Sink &sink : found->buffer->sinks)
      if (!sink.permanent && sink.begin <= address && address < sink.end &&
          sink.isIn(file) && sink.placeOf(address) == offset)
        return std::pair(sink.begin, sink.end);
  return std::nullopt;
}

Status RuntimeFiles::setSink(uintptr_t address, size_t bytes,
                             std::shared_ptr<BackingFile> file,
                             int64_t fileOffset, const dragon_reason *why) {
  if (bytes == 0)
    return {};
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  return State.Announced.set(address, bytes, std::move(file), fileOffset, false,
                             why);
}

Status RuntimeFiles::endSink(uintptr_t address, size_t bytes, bool dead) {
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  const Allocation *found = State.Space.Allocations.find(address);
  if (!found)
    return {};
  Buffer &buffer = *found->buffer;
  return State.Announced.abandon(buffer, [&](const Sink &sink) {
    if (sink.begin >= address + bytes || address >= sink.end)
      return false;
    if (dead)
      State.Announced.leaveFile(buffer, sink);
    return true;
  });
}

Status RuntimeFiles::writeToFile(uintptr_t address, size_t bytes,
                                 std::shared_ptr<BackingFile> file,
                                 int64_t fileOffset, size_t &written) {
  written = 0;
  if (bytes == 0)
    return {};
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  return State.Out.write(address, bytes, std::move(file), fileOffset, written);
}

Status RuntimeFiles::endWrite(uintptr_t begin, uintptr_t end) {
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  State.Out.finished(begin, end);
  return {};
}

Status RuntimeFiles::fileEndsBehind(const BackingFile &file, uint64_t end) {
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  State.Announced.fileEndsBehind(file, end);
  return {};
}

Status RuntimeFiles::detachFile(dev_t deviceId, ino_t inode) {
  RuntimeImpl::Guard guard(State);
  if (State.Closed)
    return {}; // what the buffers hold of it has no reader any more
  for (std::unique_ptr<Buffer> &buffer : State.Space.Buffers)
    DRAGON_TRY(State.Announced.abandon(*buffer, [&](const Sink &sink) {
      return !sink.permanent && sink.file->deviceId() == deviceId &&
             sink.file->inode() == inode;
    }));
  return State.Announced.detach(deviceId, inode, 0, INT64_MAX, nullptr, 0);
}

Status RuntimeFiles::saveInput(const std::shared_ptr<BackingFile> &file,
                               std::vector<FileRange> ranges) {
  RuntimeImpl::Guard guard(State);
  State.Reads.dropAll(); // nothing is read from it meanwhile
  return State.Maps.save(file, std::move(ranges), !State.Closed);
}

Status RuntimeFiles::sync(uintptr_t base) {
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  Allocation *found = State.Space.Allocations.find(base);
  if (!found || found->base != base)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "sync: {:#x} is not the start of a map", base);
  if (found->buffer->driverFile && (found->buffer->flags & D_WRITE))
    return Status::error(DRAGON_ERROR_UNSUPPORTED,
                         "sync of file '{}': the driver writes it when it is "
                         "unmapped; DRAGON_BACKEND=managed can sync",
                         found->buffer->driverFile->path());
  return State.Out.sync(*found->buffer);
}

StatusOr<uintptr_t> RuntimeFiles::mapFile(const char *path, size_t bytes,
                                          int64_t offset,
                                          unsigned flagsAndHints) {
  const unsigned flags = flagsAndHints & ~MapHostBuffer;
  const bool reads = flags & D_READ, isVolatile = flags & D_VOLATILE;
  const bool writes = (flags & D_WRITE) && !isVolatile;
  if (flags & ~unsigned(D_READ | D_WRITE | D_CREATE | D_VOLATILE))
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "map: unknown flags {:#x}", flags);
  if (bytes == 0 || offset < 0 || bytes > uint64_t(INT64_MAX - offset))
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "map: {} bytes at offset {} are no range", bytes,
                         offset);
  if (!reads && !writes && !isVolatile)
    return Status::error(
        DRAGON_ERROR_INVALID_ARGUMENT,
        "map: flags {:#x} need one of D_READ, D_WRITE and D_VOLATILE", flags);
  if (!path && (reads || writes))
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "map: a file name is needed for D_READ and D_WRITE");

  std::shared_ptr<BackingFile> file;
  uint64_t size = 0;
  const uint64_t end = uint64_t(offset) + bytes;
  if (path && (reads || writes)) {
    DRAGON_ASSIGN(
        file, BackingFile::open(path, writes, writes && (flags & D_CREATE)));
    DRAGON_ASSIGN(size, file->size());
    if (reads && !(flags & D_CREATE) && size < end)
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "map of file '{}': {} bytes at offset {} are "
                           "wanted, it has {}",
                           path, bytes, offset, size);
    if (writes && (size < end || (flags & D_CREATE)))
      DRAGON_TRY(file->truncate(end));
  }
  DRAGON_ASSIGN(uintptr_t base,
                Buffers.allocate(bytes, {flags, true, nullptr}));
  RuntimeImpl::Guard guard(State);
  Status status =
      State.Maps.map({base, bytes, file, offset, size, flagsAndHints});
  if (!status.ok()) {
    State.Space.Allocations.find(base)->buffer->flags &=
        ~unsigned(D_WRITE); // nothing to sync
    State.free(base).ignore();
    return status;
  }
  return base;
}

Status RuntimeFiles::remapFile(uintptr_t base, unsigned flags,
                               const std::shared_ptr<BackingFile> &file) {
  const bool isVolatile = flags & D_VOLATILE;
  const bool writes = (flags & D_WRITE) && !isVolatile;
  const bool reads = (flags & D_READ) && !isVolatile;
  bool drops = false;
  size_t bytes = 0;
  {
    RuntimeImpl::Guard guard(State);
    DRAGON_TRY(State.ready());
    Allocation *found = State.Space.Allocations.find(base);
    if (!found || found->base != base)
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "remap: {:#x} is not the start of a map", base);
    Buffer &buffer = *found->buffer;
    bytes = found->bytes;
    if (buffer.driverFile)
      return State.Driver.remapFile(buffer, flags);
    drops = buffer.flags & D_VOLATILE;
    if ((buffer.flags & D_WRITE) && !drops)
      DRAGON_TRY(State.Out.sync(buffer));
    std::erase_if(buffer.sinks,
                  [](const Sink &sink) { return sink.permanent; });
    buffer.flags = found->flags = flags & ~unsigned(D_WRITE);
  }
  if (drops && reads)
    DRAGON_TRY(mapFileRange(base, bytes, file, 0));
  else if (drops)
    DRAGON_TRY(Buffers.clear(base, bytes));
  if (!writes)
    return {};
  RuntimeImpl::Guard guard(State);
  DRAGON_TRY(State.ready());
  Allocation *found = State.Space.Allocations.find(base);
  if (!found || found->base != base)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "remap: {:#x} was unmapped meanwhile", base);
  DRAGON_ASSIGN(uint64_t size, file->size());
  if (size < bytes)
    DRAGON_TRY(file->truncate(bytes));
  DRAGON_TRY(State.Announced.set(base, bytes, file, 0, true));
  found->buffer->flags = found->flags = flags;
  return {};
}

} // namespace dragon
