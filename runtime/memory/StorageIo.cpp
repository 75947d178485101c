//===- StorageIo.cpp - reading and writing storage ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/StorageIo.h"

#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"
#include <algorithm>
#include <cstring>

namespace dragon {

namespace {
constexpr int PoisonByte = 0xa5;
}

void poisonMemory(void *memory, size_t bytes) {
  std::memset(memory, PoisonByte, bytes);
}

Status poisonSlab(Device &device, const Physical &slab, ChunkPart part,
                  Queue queue) {
  if (slab.place == Place::Peer)
    return device.poison(reinterpret_cast<uintptr_t>(slab.peerView) +
                             part.begin,
                         part.bytes(), queue);
  poisonMemory(static_cast<char *>(slab.hostView) + part.begin, part.bytes());
  return {};
}

void poisonOutside(const Chunk &chunk, void *memory) {
  const ChunkPart part = chunk.defined.empty() ? ChunkPart() : chunk.defined;
  char *bytes = static_cast<char *>(memory);
  if (part.begin)
    poisonMemory(bytes, part.begin);
  if (part.end < chunk.used())
    poisonMemory(bytes + part.end, chunk.used() - part.end);
}

void ReadPlan::add(const std::shared_ptr<BackingFile> &file, char *memory,
                   size_t bytes, int64_t offset) {
  requests.push_back({file.get(), memory, bytes, offset, false, {}});
  if (file->isMemory()) {
    memoryBytes += bytes;
    return;
  }
  inputs.push_back(file);
  fileBytes += bytes;
}

Status StorageIo::start() {
  DRAGON_ASSIGN(Files, FileTier::create(Ctx.config, Ctx.ledger));
  Background = std::make_unique<BackgroundIo>(*Files, Ctx.limits.chunkBytes);
  return {};
}

StatusOr<SwapFile *> StorageIo::swapFile() {
  if (!Swap) {
    const RuntimeLock::WaitForFiles waits(Ctx.lock);
    DRAGON_ASSIGN(Swap, SwapFile::create(Ctx.config));
  }
  return Swap.get();
}

void StorageIo::planRead(const Chunk &chunk, size_t begin, size_t end,
                         char *memory, ReadPlan &plan) const {
  if (Ctx.config.poison && !chunk.storage.covers(begin, end))
    poisonMemory(memory, end - begin);
  for (const Piece &piece : chunk.storage.pieces()) {
    size_t from = std::max(begin, piece.begin);
    size_t to = std::min(end, piece.end);
    if (from >= to)
      continue;
    char *target = memory + (from - begin);
    int64_t offset = piece.offset + int64_t(from - piece.begin);
    switch (piece.kind) {
    case PieceKind::Zero:
      std::memset(target, 0, to - from);
      break;
    case PieceKind::File:
      plan.add(piece.file, target, to - from, offset);
      if (chunk.slot.bytes && chunk.slot.file->isMemory())
        plan.reader = Readers;
      break;
    case PieceKind::Swap:
      plan.requests.push_back({chunk.slot.file,
                               target,
                               to - from,
                               chunk.slot.offset + offset,
                               false,
                               {}});
      plan.swapBytes += to - from;
      break;
    }
  }
}

Status StorageIo::run(ReadPlan &plan, Cause cause) {
  if (plan.requests.empty())
    return {};
  uint64_t begin = traceClock();
  {
    const RuntimeLock::WaitForFiles waits(Ctx.lock);
    DRAGON_TRY(Files->run(plan.requests));
  }
  return checkRead(plan, cause, traceClock() - begin);
}

Status StorageIo::checkRead(ReadPlan &plan, Cause cause, uint64_t nanoseconds) {
  std::sort(plan.inputs.begin(), plan.inputs.end());
  plan.inputs.erase(std::unique(plan.inputs.begin(), plan.inputs.end()),
                    plan.inputs.end());
  {
    const RuntimeLock::WaitForFiles waits(Ctx.lock);
    for (const std::shared_ptr<BackingFile> &file : plan.inputs)
      DRAGON_TRY(file->checkUnchanged());
  }
  if (plan.fileBytes)
    Ctx.ledger.moved(Direction::FileToHost, cause, plan.fileBytes, nanoseconds);
  if (plan.swapBytes)
    Ctx.ledger.moved(Direction::SwapToHost, cause, plan.swapBytes, nanoseconds);
  return {};
}

Status StorageIo::planWrite(WritePlan &plan, FileRequest &request) {
  Chunk &chunk = *plan.chunk;
  Sink *sink =
      plan.target == Removal::ToSink ? chunk.buffer->sinkFor(chunk) : nullptr;
  BackingFile *file;
  int64_t offset;
  if (sink) {
    int64_t place = sink->placeOf(chunk.va());
    DRAGON_TRY(DetachOthers(*sink->file, place, place + int64_t(chunk.used()),
                            chunk.buffer, place - int64_t(chunk.va())));
    sink->used = true;
    plan.piece = {0, chunk.used(), PieceKind::File, sink->file, place};
    file = sink->file.get();
    offset = place;
  } else if (plan.target == Removal::ToMemory) {
    plan.piece = {0, chunk.used(), PieceKind::File,
                  BackingFile::programMemory(), plan.slot.offset};
    file = plan.slot.file;
    offset = plan.slot.offset;
  } else {
    plan.target = Removal::ToSwap;
    DRAGON_ASSIGN(SwapFile * swap, swapFile());
    const RuntimeLock::WaitForFiles waits(Ctx.lock); // fallocate
    DRAGON_ASSIGN(plan.slot, swap->allocate(chunk.used()));
    plan.piece = {0, chunk.used(), PieceKind::Swap, nullptr, 0};
    file = plan.slot.file;
    offset = plan.slot.offset;
  }
  request = {file, const_cast<void *>(plan.memory), chunk.used(), offset, true,
             {}};
  return {};
}

void StorageIo::commitWrite(WritePlan &plan, Cause cause,
                            uint64_t nanoseconds) {
  Chunk &chunk = *plan.chunk;
  const bool sink = plan.target == Removal::ToSink;
  if (!plan.piece.file || !plan.piece.file->isMemory())
    Ctx.ledger.moved(sink ? Direction::HostToFile : Direction::HostToSwap,
                     cause, chunk.used(), nanoseconds);
  release(chunk);
  if (sink)
    chunk.buffer->noteBacking(*plan.piece.file, chunk.va(), plan.piece.offset);
  chunk.storage.put(std::move(plan.piece));
  chunk.slot = plan.slot;
  if (plan.target == Removal::ToMemory)
    InOrdinary[plan.slot.offset] = &chunk;
  chunk.buffer->note(chunk, ChunkEvent::Stored);
}

Status StorageIo::write(std::span<WritePlan> plans, Cause cause) {
  if (plans.empty())
    return {};
  std::vector<FileRequest> requests;
  std::vector<Status> results(plans.size());
  Status first;
  auto keep = [&first](Status status) {
    if (first.ok())
      first = std::move(status);
  };
  std::vector<size_t> issued;
  for (size_t i = 0; i < plans.size(); ++i) {
    FileRequest request{};
    if (Status status = planWrite(plans[i], request); !status.ok()) {
      keep(std::move(status));
      continue;
    }
    request.done = [&results, i](const Status &status, size_t) {
      results[i] = status.copy();
    };
    requests.push_back(std::move(request));
    issued.push_back(i);
  }
  uint64_t begin = traceClock();
  Status ran;
  if (!requests.empty()) {
    const RuntimeLock::WaitForFiles waits(Ctx.lock);
    ran = Files->run(requests);
  }
  uint64_t elapsed = traceClock() - begin;

  std::vector<WritePlan> again;
  for (size_t i : issued) {
    WritePlan &plan = plans[i];
    if (results[i].ok()) {
      commitWrite(plan, cause, elapsed / issued.size());
    } else if (plan.target == Removal::ToSink) {
      log(LogLevel::Info, "{}; its data goes to swap for now",
          results[i].message());
      again.push_back({plan.chunk, plan.memory, Removal::ToSwap, {}, {}});
    } else {
      releaseSlot(plan.slot);
      keep(std::move(results[i]));
    }
  }
  ran.ignore(); // told by request
  if (!again.empty())
    keep(write(again, cause));
  return first;
}

Status StorageIo::wait(BackgroundIo::Job &job) {
  const RuntimeLock::WaitForFiles waits(Ctx.lock);
  return Background->wait(job);
}

void StorageIo::callOff(BackgroundIo::Job &job) {
  const RuntimeLock::WaitForFiles waits(Ctx.lock);
  Background->callOff(job);
}

void StorageIo::release(Chunk &chunk) {
  chunk.fetched = false;
  chunk.storage.clear();
  releaseSlot(chunk.slot);
  chunk.slot = {};
}

void StorageIo::releaseSlot(const SwapFile::Slot &slot) {
  if (slot.bytes == 0)
    return;
  if (!slot.file->isMemory())
    return Swap->release(slot);
  InOrdinary.erase(slot.offset);
  Ordinary.release(slot);
}

StatusOr<bool> StorageIo::moveOrdinaryToSwap() {
  if (Readers.use_count() > 1)
    return false;
  Chunk *oldest = nullptr;
  for (const auto &[offset, chunk] : InOrdinary) {
    // It may be on its way to the device; or not all of it is there.
    if (chunk->device.id || chunk->transit.writing ||
        chunk->storage.numberOfPieces() != 1)
      continue;
    if (chunk->copies.host) { // as well
      Chunk &one = *chunk;    // whose entry ends
      release(one);
      one.buffer->note(one, ChunkEvent::LeftStorage);
      return true;
    }
    if (!chunk->host.id && (!oldest || chunk->lastTouch < oldest->lastTouch))
      oldest = chunk;
  }
  if (!oldest)
    return false;
  WritePlan plan{oldest,
                 reinterpret_cast<const void *>(oldest->slot.offset),
                 Removal::ToSwap,
                 {},
                 {}};
  DRAGON_TRY(write({&plan, 1}, Cause::Eviction));
  return true;
}

void StorageIo::releaseUnusedSlot(Chunk &chunk) {
  const SwapFile::Slot &slot = chunk.slot;
  auto isThere = [&slot](const Piece &piece) {
    return slot.file->isMemory()
               ? piece.isOfProgram(uintptr_t(slot.offset),
                                   uintptr_t(slot.offset) + slot.bytes)
               : piece.kind == PieceKind::Swap;
  };
  if (!slot.bytes || std::ranges::any_of(chunk.storage.pieces(), isThere))
    return;
  releaseSlot(slot);
  chunk.slot = {};
}

} // namespace dragon
