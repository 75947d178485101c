//===- Staging.cpp - storage to host memory to device, and back -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chunks are read ahead (ReadAhead.cpp) and copied to the device one after the
// other, as they come. What is read from a file for the second time is kept in
// host memory, if there is room: it will be needed a third time. What is read
// once is not; most data are, and host memory costs more than the read.
//
//===----------------------------------------------------------------------===//

#include "runtime/core/RuntimeImpl.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace dragon {

namespace {
constexpr int PoisonByte = 0xa5;
}

void Runtime::Impl::poisonMemory(void *memory, size_t bytes) {
  std::memset(memory, PoisonByte, bytes);
}

void Runtime::Impl::poisonOutside(const Chunk &chunk, void *memory) {
  const ChunkPart part = chunk.defined.empty() ? ChunkPart() : chunk.defined;
  char *bytes = static_cast<char *>(memory);
  if (part.begin)
    poisonMemory(bytes, part.begin);
  if (part.end < chunk.used())
    poisonMemory(bytes + part.end, chunk.used() - part.end);
}

StatusOr<SwapFile *> Runtime::Impl::swapFile() {
  if (!Swap) {
    DRAGON_ASSIGN(Swap, SwapFile::create(Config));
  }
  return Swap.get();
}

// -- Slabs in transit --------------------------------------------------------

Status Runtime::Impl::recycleTransit(bool wait) {
  if (wait && !Transit.empty())
    DRAGON_TRY(Fetches.waitFor(Transit.front().ticket));
  while (!Transit.empty() && Fetches.done(Transit.front().ticket)) {
    HostPool.give(Transit.front().slab);
    Transit.pop_front();
  }
  return {};
}

StatusOr<Physical> Runtime::Impl::takeTransit(size_t bytes, Place place) {
  DRAGON_TRY(recycleTransit(false));
  while (true) {
    auto slab = HostPool.take(bytes, 0, place);
    if (slab.ok())
      return slab;
    if (!Transit.empty())
      DRAGON_TRY(recycleTransit(true));
    else if (!Writings.empty())
      finishFirstWriting().ignore(); // tried again, if need be
    else if (!HostPool.hasRoom(bytes))
      DRAGON_TRY(makeHostRoom(bytes, true));
    else if (Status refusal = slab.takeStatus(); !lowerHostBudget(refusal))
      return refusal;
  }
}

StatusOr<Physical> Runtime::Impl::takeHost(size_t bytes) {
  while (true) {
    DRAGON_TRY(makeHostRoom(bytes, false));
    auto slab = HostPool.take(bytes, Limits.transitBytes);
    if (slab.ok())
      return slab;
    if (Status refusal = slab.takeStatus(); !lowerHostBudget(refusal))
      return refusal;
  }
}

bool Runtime::Impl::lowerHostBudget(const Status &refusal) {
  if (refusal.code() != DRAGON_ERROR_OUT_OF_MEMORY ||
      HostPool.used() < MinHostChunks * Limits.chunkBytes)
    return false;
  HostPool.shrinkToUsed();
  Limits.limitHost(HostPool.budget());
  log(LogLevel::Info, "the host has only {} left for buffers",
      formatBytes(Limits.hostBytes));
  return true;
}

void Runtime::Impl::giveTransit(const Physical &slab, uint64_t fetchTicket) {
  if (Fetches.done(fetchTicket))
    HostPool.give(slab);
  else
    Transit.push_back({fetchTicket, slab});
}

// -- Reading -----------------------------------------------------------------

Status Runtime::Impl::planRead(const Chunk &chunk, size_t begin, size_t end,
                               char *memory, ReadPlan &plan) {
  if (Config.poison && !chunk.storage.covers(begin, end))
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
      plan.requests.push_back(
          {piece.file.get(), target, to - from, offset, false, {}});
      plan.inputs.push_back(piece.file);
      plan.fileBytes += to - from;
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
  return {};
}

Status Runtime::Impl::runRead(ReadPlan &plan, Cause cause) {
  if (plan.requests.empty())
    return {};
  uint64_t begin = traceClock();
  DRAGON_TRY(Files->run(plan.requests));
  return checkRead(plan, cause, traceClock() - begin);
}

Status Runtime::Impl::checkRead(ReadPlan &plan, Cause cause,
                                uint64_t nanoseconds) {
  std::sort(plan.inputs.begin(), plan.inputs.end());
  plan.inputs.erase(std::unique(plan.inputs.begin(), plan.inputs.end()),
                    plan.inputs.end());
  for (const std::shared_ptr<BackingFile> &file : plan.inputs)
    DRAGON_TRY(file->checkUnchanged());
  if (plan.fileBytes)
    Bytes.moved(Direction::FileToHost, cause, plan.fileBytes, nanoseconds);
  if (plan.swapBytes)
    Bytes.moved(Direction::SwapToHost, cause, plan.swapBytes, nanoseconds);
  return {};
}

Status Runtime::Impl::fetchFromStorage(std::span<Chunk *const> chunks,
                                       Cause cause) {
  TraceZone zone("fetch");
  for (size_t i = 0; i < chunks.size(); ++i) {
    Chunk &chunk = *chunks[i];
    DRAGON_TRY(startReading(chunks.subspan(i)));
    Physical slab;
    DRAGON_TRY(finishReading(chunk, cause, slab));
    Status status;
    const char *view = static_cast<const char *>(slab.hostView);
    const std::vector<Piece> &pieces = chunk.storage.pieces();
    if (Config.poison && !chunk.storage.covers(0, chunk.used()))
      status = Dev->poison(chunk.va(), chunk.bytes(), CopyIn);
    // Runs of pieces; what is undefined between them is not copied.
    for (size_t p = 0; status.ok() && p < pieces.size();) {
      size_t begin = pieces[p].begin, end = pieces[p].end;
      for (++p; p < pieces.size() && pieces[p].begin == end; ++p)
        end = pieces[p].end;
      end = std::min(end, chunk.used());
      status =
          Dev->copy(reinterpret_cast<void *>(chunk.va() + begin), view + begin,
                    end - begin, CopyKind::HostToDevice, CopyIn);
      Bytes.moved(Direction::HostToDevice, cause, end - begin);
      zone.add(end - begin);
    }
    auto ticket = Fetches.note(CopyIn);
    if (!ticket.ok())
      if (Status synced = synchronizeAll(); status.ok() && !synced.ok())
        status = std::move(synced);
    const uint64_t number = ticket.ok() ? *ticket : 0;
    LastFetch = std::max(LastFetch, number);
    if (status.ok()) {
      chunk.arrival = number;
      chunk.defined = chunk.whole();
      chunk.discardedDirty = false;
      bool again = std::exchange(chunk.fetched, true);
      if (again && !chunk.host.id && HostPool.hasRoom(0, Limits.transitBytes) &&
          chunk.storage.covers(0, chunk.used())) {
        chunk.host = std::exchange(slab, Physical());
        listHost(chunk, true);
      }
      bool host = chunk.host.id != 0 && slab.id == 0;
      chunk.buffer->setValid(chunk, true, host || chunk.hostValid, true);
    }
    if (slab.id)
      giveTransit(slab, number);
    DRAGON_TRY(std::move(status));
  }
  return {};
}

// -- Writing -----------------------------------------------------------------

Status Runtime::Impl::planWrite(WritePlan &plan, FileRequest &request) {
  Chunk &chunk = *plan.chunk;
  Sink *sink =
      plan.target == Removal::ToSink ? chunk.buffer->sinkFor(chunk) : nullptr;
  BackingFile *file;
  int64_t offset;
  if (sink) {
    int64_t place = sink->placeOf(chunk.va());
    DRAGON_TRY(detach(sink->file->deviceId(), sink->file->inode(), place,
                      place + int64_t(chunk.used()), chunk.buffer,
                      place - int64_t(chunk.va())));
    sink->used = true;
    plan.piece = {0, chunk.used(), PieceKind::File, sink->file, place};
    file = sink->file.get();
    offset = place;
  } else {
    plan.target = Removal::ToSwap;
    DRAGON_ASSIGN(SwapFile * swap, swapFile());
    DRAGON_ASSIGN(plan.slot, swap->allocate(chunk.used()));
    plan.piece = {0, chunk.used(), PieceKind::Swap, nullptr, 0};
    file = plan.slot.file;
    offset = plan.slot.offset;
  }
  request = {file, const_cast<void *>(plan.memory), chunk.used(), offset, true,
             {}};
  return {};
}

void Runtime::Impl::commitWrite(WritePlan &plan, Cause cause,
                                uint64_t nanoseconds) {
  Chunk &chunk = *plan.chunk;
  const bool sink = plan.target == Removal::ToSink;
  Bytes.moved(sink ? Direction::HostToFile : Direction::HostToSwap, cause,
              chunk.used(), nanoseconds);
  dropStorage(chunk);
  if (sink)
    chunk.buffer->noteBacking(*plan.piece.file, chunk.va(), plan.piece.offset);
  chunk.storage.put(std::move(plan.piece));
  chunk.slot = plan.slot;
  chunk.buffer->setValid(chunk, chunk.deviceValid, chunk.hostValid, true);
}

Status Runtime::Impl::writeToStorage(std::span<WritePlan> plans, Cause cause) {
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
  Status ran = requests.empty() ? Status() : Files->run(requests);
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
      Swap->release(plan.slot);
      keep(std::move(results[i]));
    }
  }
  ran.ignore(); // told by request
  if (!again.empty())
    keep(writeToStorage(again, cause));
  return first;
}

} // namespace dragon
