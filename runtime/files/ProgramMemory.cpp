//===- ProgramMemory.cpp - copies that are made where they are needed -----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/files/ProgramMemory.h"

#include "runtime/base/PinnedRanges.h"
#include "runtime/tier/HeldMemory.h"
#include "runtime/trace/Trace.h"

#include <algorithm>

namespace dragon {

namespace {
/// What is evicted may go to [begin, end) of the program's memory.
bool comesTo(const Sink &sink, uintptr_t begin, uintptr_t end) {
  return sink.file->isMemory() && uintptr_t(sink.offset) < end &&
         begin < uintptr_t(sink.placeOf(sink.end));
}
} // namespace

bool ProgramMemory::isWorthIt() const {
  return Space.LiveBytes > OnDevice.Pool.budget();
}

void ProgramMemory::noteBounds() {
  Space.OfProgram = 0;
  for (const auto &[range, why] : Mapped)
    Space.OfProgram += range.upper() - range.lower();
  OnDevice.expectHostMemory();
  Low = Mapped.empty() ? UINTPTR_MAX : Mapped.begin()->first.lower();
  High = Mapped.empty() ? 0 : Mapped.rbegin()->first.upper();
}

void ProgramMemory::note(uintptr_t from, size_t bytes,
                         const dragon_reason *why) {
  Mapped.set({HalfOpen<uintptr_t>(from, from + bytes), why});
  noteBounds();
}

const dragon_reason *ProgramMemory::deferredBy(uintptr_t begin,
                                               uintptr_t end) const {
  if (begin >= end)
    return nullptr;
  const auto found = Mapped.find(HalfOpen<uintptr_t>(begin, end));
  return found == Mapped.end() ? nullptr : found->second;
}

Status ProgramMemory::settle(const ProtectedMemory::Ranges &copied) {
  for (const auto &[begin, end] : copied) {
    DRAGON_TRY(settle(begin, end));
    ProtectedMemory::get().forget(begin, end);
  }
  return {};
}

Status ProgramMemory::settleSaved() {
  ProtectedMemory &memory = ProtectedMemory::get();
  return memory.hasSaved() ? settle(memory.saved()) : Status();
}

Status ProgramMemory::settleCopied(uintptr_t begin, uintptr_t end) {
  return settle(ProtectedMemory::get().copied(begin, end));
}

bool ProgramMemory::isNeeded(uintptr_t begin, uintptr_t end) const {
  for (const std::unique_ptr<Buffer> &buffer : Space.Buffers)
    for (const Chunk &chunk : buffer->chunks)
      if (chunk.copies.storage &&
          std::ranges::any_of(chunk.storage.pieces(), [&](const Piece &piece) {
            return piece.isOfProgram(begin, end);
          }))
        return true;
  return false;
}

bool ProgramMemory::keep(uintptr_t begin, uintptr_t end,
                         void (*release)(void *)) {
  uint64_t kept = Slabs.Pool.used() + (end - begin);
  for (const auto &[start, other] : Freed)
    kept += other.end - start;
  if (kept > Ctx.limits.hostBytes || !isNeeded(begin, end))
    return false;
  Freed.emplace(begin, Kept{end, release});
  return true;
}

void ProgramMemory::releaseKept() {
  for (auto it = Freed.begin(); it != Freed.end();) {
    const auto [begin, kept] = *it;
    if (isNeeded(begin, kept.end)) {
      ++it;
      continue;
    }
    it = Freed.erase(it);
    Reads.dropMemory();
    Pinned.forget(begin, kept.end);
    Mapped.erase(HalfOpen<uintptr_t>(begin, kept.end));
    noteBounds();
    ProtectedMemory::get().release(begin, kept.end);
    kept.release(reinterpret_cast<void *>(begin));
  }
  constexpr size_t FewCopies = 16;
  ProtectedMemory &memory = ProtectedMemory::get();
  const ProtectedMemory::Ranges copied = memory.copied(0, UINTPTR_MAX);
  if (copied.size() > FewCopies)
    for (const auto &[begin, end] : copied)
      if (!isNeeded(begin, end))
        memory.forget(begin, end);
}

Status ProgramMemory::map(uintptr_t address, size_t bytes, uintptr_t from,
                          const dragon_reason *why) {
  releaseKept();
  note(from, bytes, why);
  if (!PinnedRanges::get().holds(from))
    Pinned.allow(from, from + bytes);
  Ctx.ledger.avoided(Avoided::Deferred, bytes);
  return Maps.mapRange(address, bytes, BackingFile::programMemory(),
                       int64_t(from));
}

const Sink *ProgramMemory::sinkTo(uintptr_t begin, uintptr_t end) const {
  for (const std::unique_ptr<Buffer> &buffer : Space.Buffers)
    for (const Sink &sink : buffer->sinks)
      if (comesTo(sink, begin, end))
        return &sink;
  return nullptr;
}

const dragon_reason *ProgramMemory::awaitedBy(uintptr_t begin,
                                              uintptr_t end) const {
  const Sink *sink = sinkTo(begin, end);
  return sink ? sink->why : nullptr;
}

Status ProgramMemory::announce(uintptr_t address, size_t bytes, uintptr_t to,
                               const dragon_reason *why) {
  note(to, bytes, nullptr);
  return Announced.set(address, bytes, BackingFile::programMemory(),
                       int64_t(to), false, why);
}

/// As far as there is room: what is nowhere else.
Status ProgramMemory::bringToHost(uintptr_t begin, uintptr_t end) {
  auto isMapped = [&](const Piece &piece) {
    return piece.isOfProgram(begin, end);
  };
  for (const std::unique_ptr<Buffer> &buffer : Space.Buffers)
    for (Chunk &chunk : buffer->chunks) {
      if (!chunk.copies.storage || chunk.copies.inMemory() ||
          std::ranges::none_of(chunk.storage.pieces(), isMapped))
        continue;
      if (!chunk.host.id && !Slabs.hasRoom(chunk.bytes()))
        return {};
      Ctx.pins.next();
      Ctx.ledger.notAvoided(Avoided::Deferred, chunk.used());
      DRAGON_TRY(
          Resident.bringToHost(chunk, LaunchNeed::Read, Cause::HostAccess));
      Data.leaveStorage(chunk);
    }
  return {};
}

Status ProgramMemory::settle(uintptr_t begin, uintptr_t end) {
  if (begin >= end || !overlaps(Mapped, begin, end))
    return {};
  TraceZone zone("settle", end - begin);
  HeldMemory::get().await(begin, end);
  ++Ctx.clock;
  Reads.dropMemory();
  for (const std::unique_ptr<Buffer> &buffer : Space.Buffers)
    std::erase_if(buffer->sinks,
                  [&](const Sink &sink) { return comesTo(sink, begin, end); });
  const BackingFile &memory = *BackingFile::programMemory();
  const auto last = int64_t(std::min<uintptr_t>(end, INT64_MAX));
  Writes.finishTo(memory.deviceId(), memory.inode(), int64_t(begin), last);
  DRAGON_TRY(bringToHost(begin, end));
  Pinned.forget(begin, end);
  DRAGON_TRY(Announced.detach(memory, int64_t(begin), last, nullptr, 0));
  Mapped.erase(HalfOpen<uintptr_t>(begin, end));
  noteBounds();
  return Mapped.empty() ? Resident.releaseBlocks() : Status();
}

} // namespace dragon
