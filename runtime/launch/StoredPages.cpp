//===- StoredPages.cpp - pages of storage for kernels that wait -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/StoredPages.h"

#include "runtime/base/Rounding.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <system_error>

namespace dragon {

namespace {

constexpr uint64_t PageBytes = RequestedPageBytes;
static_assert(PageBytes == PageCache::PageBytes);
constexpr uint64_t RequestMemory =
    PageRequestBytes + NumPageRequests * PageBytes;
/// Who serves looks so often before it leaves its processor to others, and for
/// so long then.
constexpr unsigned EagerLooks = 64;
constexpr std::chrono::microseconds Pause(20);
/// Reading 4 KiB from the page cache takes a processor some microseconds. The
/// other processors are the program's.
constexpr unsigned MostServers = 4, ProcessorsOfServer = 4;

unsigned numberOfServers() {
  return std::clamp(std::thread::hardware_concurrency() / ProcessorsOfServer,
                    2u, MostServers);
}

unsigned turnOf(PageRequest &request) {
  return std::atomic_ref(request.Turn).load(std::memory_order_acquire);
}

/// The one piece that has all of the chunk, if it may be written in parts.
std::optional<Piece> ownPlace(const Chunk &chunk) {
  if (chunk.storage.numberOfPieces() != 1)
    return std::nullopt;
  Piece piece = *chunk.storage.pieces().begin();
  if (piece.begin != 0 || piece.end < chunk.used())
    return std::nullopt;
  if (piece.kind == PieceKind::Swap)
    return piece;
  const Sink *sink = chunk.buffer->sinkFor(chunk);
  return piece.kind == PieceKind::File && sink && sink->used &&
                 !sink->file->isMemory() &&
                 piece.isAt(*sink->file, sink->placeOf(chunk.va()))
             ? std::optional(piece)
             : std::nullopt;
}

} // namespace

PageRequests &StoredPages::requests() const {
  return *static_cast<PageRequests *>(Memory.hostView);
}

char *StoredPages::pageOf(unsigned slot) const {
  return static_cast<char *>(Memory.hostView) + PageRequestBytes +
         slot * PageBytes;
}

uint64_t StoredPages::address() const {
  return Memory.id ? reinterpret_cast<uintptr_t>(Memory.copyView()) : 0;
}

bool StoredPages::outOfFrames() {
  return std::atomic_ref(requests().OutOfFrames)
             .exchange(0, std::memory_order_acq_rel) != 0;
}

Status StoredPages::make() {
  if (!Memory.id) {
    DRAGON_ASSIGN(Memory, Host.takeTransit(
                              roundUp(RequestMemory, Ctx.limits.chunkBytes)));
  }
  return {};
}

Status StoredPages::begin(std::vector<Chunk *> chunks) {
  std::memset(Memory.hostView, 0, PageRequestBytes);
  Chunks = std::move(chunks);
  std::ranges::sort(Chunks, {}, [](const Chunk *chunk) { return chunk->va(); });
  Places.clear();
  Stopping.store(false, std::memory_order_relaxed);
  const unsigned number = numberOfServers();
  for (unsigned first = 0; first < number; ++first) {
    Server &server = Servers.emplace_back(Server{first, number});
    try {
      server.thread = startThread([&] { serve(server); });
    } catch (const std::system_error &error) {
      stop();
      Servers.clear();
      return Status::error(DRAGON_ERROR_OUT_OF_MEMORY,
                           "no thread to read pages from storage: {}",
                           error.what());
    }
  }
  return {};
}

void StoredPages::stop() {
  Stopping.store(true, std::memory_order_release);
  for (Server &server : Servers)
    if (server.thread.joinable())
      server.thread.join();
}

Status StoredPages::end() {
  stop();
  if (!Memory.id)
    return {};
  Slabs.Pool.give(std::exchange(Memory, {}));
  Status first;
  for (Server &server : std::exchange(Servers, {})) {
    Status status = std::move(server.failed);
    if (status.ok())
      status = Store.checkRead(server.read, Cause::Paging, server.readTime);
    if (first.ok())
      first = std::move(status);
  }
  return first;
}

void StoredPages::serve(Server &server) {
  for (unsigned looks = 0; !Stopping.load(std::memory_order_acquire);) {
    if (answer(server))
      looks = 0;
    else if (++looks < EagerLooks)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(Pause);
  }
}

Chunk *StoredPages::chunkAt(uintptr_t address) const {
  const auto behind = std::ranges::upper_bound(
      Chunks, address, {}, [](const Chunk *chunk) { return chunk->va(); });
  Chunk *const chunk = behind == Chunks.begin() ? nullptr : *std::prev(behind);
  return chunk && address < chunk->usedEnd() ? chunk : nullptr;
}

bool StoredPages::answer(Server &server) {
  std::vector<unsigned> asked;
  ReadPlan plan;
  for (unsigned slot = server.first; slot < NumPageRequests;
       slot += server.step) {
    PageRequest &request = requests().Slots[slot];
    if (turnOf(request) % PageTurns != 1)
      continue;
    asked.push_back(slot);
    char *const page = pageOf(slot);
    std::memset(page, 0, PageBytes);
    if (const Chunk *const chunk = chunkAt(request.Address)) {
      const size_t begin = request.Address - chunk->va();
      const size_t end = std::min(begin + PageBytes, chunk->used());
      Store.planRead(*chunk, begin, end, page, plan);
    }
  }
  if (asked.empty())
    return false;
  const uint64_t begun = traceClock();
  if (!plan.requests.empty())
    if (Status status = Store.Files->run(plan.requests);
        !status.ok() && server.failed.ok())
      server.failed = std::move(status);
  server.readTime += traceClock() - begun;
  server.read.fileBytes += plan.fileBytes;
  server.read.swapBytes += plan.swapBytes;
  server.read.memoryBytes += plan.memoryBytes;
  for (std::shared_ptr<BackingFile> &file : plan.inputs)
    if (std::ranges::find(server.read.inputs, file) == server.read.inputs.end())
      server.read.inputs.push_back(std::move(file));
  for (unsigned slot : asked) {
    std::atomic_ref turn(requests().Slots[slot].Turn);
    turn.store(turn.load(std::memory_order_relaxed) + 1,
               std::memory_order_release);
  }
  return true;
}

Status StoredPages::storeWhole(Chunk &chunk) {
  DRAGON_ASSIGN(const Physical slab, Host.takeTransit(chunk.bytes()));
  auto *const memory = static_cast<char *>(slab.hostView);
  std::memset(memory, 0, chunk.used());
  ReadPlan plan;
  Store.planRead(chunk, 0, chunk.used(), memory, plan);
  Status status = Store.run(plan, Cause::Paging);
  if (status.ok()) {
    const Sink *sink = chunk.buffer->sinkFor(chunk);
    WritePlan write{&chunk,
                    memory,
                    sink && !sink->file->isMemory() ? Removal::ToSink
                                                    : Removal::ToSwap,
                    {},
                    {}};
    status = Store.write({&write, 1}, Cause::Paging);
  }
  Slabs.Pool.give(slab);
  return status;
}

Status StoredPages::makeWritable(Chunk &chunk) {
  if (Places.contains(&chunk))
    return {};
  std::optional<Piece> place = ownPlace(chunk);
  if (!place) {
    DRAGON_TRY(storeWhole(chunk));
    place = ownPlace(chunk);
  } else if (place->kind == PieceKind::File) {
    DRAGON_TRY(Store.detachOthers(
        *place->file, place->offset, place->offset + int64_t(chunk.used()),
        chunk.buffer, place->offset - int64_t(chunk.va())));
  }
  if (!place)
    return Status::error(DRAGON_ERROR_FILE,
                         "{} has no place in storage that can be written",
                         chunk.buffer->label());
  Places.emplace(&chunk, *place);
  return {};
}

Status StoredPages::store(const PageCache &pages,
                          std::span<const StoredFrame> written) {
  struct Write {
    uint32_t frame;
    Chunk *chunk;
    size_t at;
  };
  std::vector<Write> writes;
  writes.reserve(written.size());
  for (const auto &[frame, address] : written)
    if (Chunk *const chunk = chunkAt(address)) { // else behind the buffer's end
      DRAGON_TRY(makeWritable(*chunk));
      writes.push_back({frame, chunk, address - chunk->va()});
    }
  if (writes.empty())
    return {};
  TraceZone zone("store pages");
  zone.add(writes.size() * PageBytes);
  // Frames are copied to the host by so many neighbours.
  const auto framesAtOnce = uint32_t(Ctx.limits.chunkBytes / PageBytes);
  DRAGON_ASSIGN(const Physical slab, Host.takeTransit(Ctx.limits.chunkBytes));
  auto *const memory = static_cast<char *>(slab.hostView);
  uint64_t fileBytes = 0, swapBytes = 0;
  const uint64_t begun = traceClock();
  Status status;
  for (size_t i = 0, next = 0; i < writes.size() && status.ok(); i = next) {
    const uint32_t first = writes[i].frame;
    std::vector<FileRequest> requests;
    for (; next < writes.size() && writes[next].frame < first + framesAtOnce;
         ++next) {
      const auto &[frame, chunk, at] = writes[next];
      const Piece &piece = Places.at(chunk);
      const bool isSwap = piece.kind == PieceKind::Swap;
      const size_t bytes = std::min<size_t>(PageBytes, chunk->used() - at);
      requests.push_back(
          {isSwap ? chunk->slot.file : piece.file.get(),
           memory + (frame - first) * PageBytes,
           bytes,
           (isSwap ? chunk->slot.offset : 0) + piece.offset + int64_t(at),
           true,
           {}});
      (isSwap ? swapBytes : fileBytes) += bytes;
      chunk->storage.put(piece); // it is another one now
    }
    status =
        pages.copyFrames(first, writes[next - 1].frame + 1 - first, memory);
    if (status.ok()) {
      const auto waits = Store.waitForFiles();
      status = Store.Files->run(requests);
    }
  }
  Slabs.Pool.give(slab);
  const uint64_t time = traceClock() - begun;
  if (fileBytes)
    Ctx.ledger.moved(Direction::HostToFile, Cause::Paging, fileBytes, time);
  if (swapBytes)
    Ctx.ledger.moved(Direction::HostToSwap, Cause::Paging, swapBytes, time);
  return status;
}

} // namespace dragon
