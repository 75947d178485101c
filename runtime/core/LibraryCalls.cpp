//===- LibraryCalls.cpp - functions that work on device memory ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library function starts work that this runtime does not see, in a stream
// that it may not know. What the function uses, as its summary says, is brought
// to the device in front of the call and held there until the call has
// returned:
//
//   begin   bring in; hold: no eviction takes these chunks
//   call    the library queues its work
//   end     let go; what was written is dirty; chunks wait for the work
//
// After the end they are like any others: an eviction waits for the work, by
// the stream's ticket if the stream is known, else for everything on the
// device.
//
// A function without a summary may keep what it is given, and reach what lies
// there: buffers in small ones (arrays of pointers) are found as a conservative
// garbage collector would.
//
//===----------------------------------------------------------------------===//

#include "runtime/core/RuntimeImpl.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Trace.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace dragon {

namespace {

/// An array of pointers larger than this is not looked through.
constexpr size_t LargestPointerArray = size_t(1) << 20;

LaunchNeed both(LaunchNeed a, LaunchNeed b) {
  return a == b ? a : LaunchNeed::Write;
}

uintptr_t endOf(const LibraryUse &use, const Allocation &in) {
  return use.bytes > in.end() - use.address ? in.end()
                                            : use.address + use.bytes;
}

} // namespace

/// What the uses are of, by chunk, in the order of addresses.
static std::map<uintptr_t, Want> wantsOf(AddressIndex &allocations,
                                         std::span<const LibraryUse> uses) {
  std::map<uintptr_t, Want> wants;
  for (const LibraryUse &use : uses) {
    Allocation *found = allocations.find(use.address);
    if (!found)
      continue;
    Buffer &buffer = *found->buffer;
    uintptr_t begin = use.address, end = endOf(use, *found);
    if (use.bytes == LibraryUse::Unknown)
      begin = found->base;
    while (begin < end) {
      Chunk &chunk = buffer.chunkAt(begin);
      LaunchNeed need = use.need;
      // Only what is overwritten from end to end need not be fetched.
      if (need == LaunchNeed::Overwrite &&
          (begin > chunk.va() || end < chunk.usedEnd()))
        need = LaunchNeed::Write;
      auto [it, isNew] = wants.try_emplace(chunk.va(), Want{&chunk, need});
      if (!isNew)
        it->second.need = both(it->second.need, need);
      begin = chunk.va() + chunk.bytes();
    }
  }
  return wants;
}

Status Runtime::Impl::beginLibraryCall(const LibraryCall &call,
                                       LibraryHold &hold) {
  TraceZone zone("library call");
  zone.detail(call.function);
  ++Clock;
  std::map<uintptr_t, Want> found = wantsOf(Allocations, call.uses);
  std::vector<Want> wants;
  uint64_t needed = 0, missing = 0;
  for (auto &[address, want] : found) {
    wants.push_back(want);
    needed += want.chunk->bytes();
    missing += want.chunk->deviceValid ? 0 : want.chunk->bytes();
  }
  auto isWanted = [&found](const Chunk &chunk) {
    return found.count(chunk.va()) != 0;
  };
  uint64_t elsewhere = 0;
  for (const Chunk *chunk : OnDevice)
    if ((chunk->held || chunk->buffer->kept) && !isWanted(*chunk))
      elsewhere += chunk->bytes();
  if (needed + elsewhere > DevicePool.budget()) {
    std::string buffers;
    for (const LibraryUse &use : call.uses)
      if (const Allocation *of = Allocations.find(use.address)) {
        uintptr_t begin =
            use.bytes == LibraryUse::Unknown ? of->base : use.address;
        buffers +=
            fmt::format("{}{} ({})", buffers.empty() ? "" : ", ",
                        of->name.empty() ? "a buffer" : "'" + of->name + "'",
                        formatBytes(endOf(use, *of) - begin));
      }
    return Status::error(
        DRAGON_ERROR_OUT_OF_MEMORY,
        "{} must be in device memory at once, {} with the rest of their "
        "chunks: "
        "there are {}{}; raise DRAGON_DEVICE_MEMORY, or call it for smaller "
        "parts",
        buffers, formatBytes(needed), formatBytes(DevicePool.budget()),
        elsewhere
            ? fmt::format(", of which {} are held", formatBytes(elsewhere))
            : std::string());
  }
  if (missing) {
    uint64_t signature = std::hash<std::string_view>()(call.function);
    std::vector<AddressRange> ranges;
    for (const LibraryUse &use : call.uses)
      signature = signature * 0x9e3779b97f4a7c15u + use.address;
    ranges.reserve(wants.size());
    for (const Want &want : wants)
      ranges.push_back({want.chunk->va(), want.chunk->usedEnd()});
    LaunchClock = Clock;
    History.begin(signature, std::move(ranges), Clock);
  }
  ++Round;
  DRAGON_TRY(bringIn(wants, call.queue.value_or(nullptr), Cause::Demand));
  // In whatever stream the work will be: the copies are done before.
  if (!call.queue)
    DRAGON_TRY(Dev->synchronize(CopyIn));
  DRAGON_TRY(Dev->completeMaps());
  tellUses(call);
  for (const Want &want : wants) {
    ++want.chunk->held;
    hold.chunks.push_back({want.chunk->va(), want.chunk->buffer->number,
                           want.need != LaunchNeed::Read});
  }
  hold.queue = call.queue;
  return {};
}

void Runtime::Impl::tellUses(const LibraryCall &call) {
  if (!Watcher)
    return;
  for (const LibraryUse &use : call.uses) {
    const Allocation *of = Allocations.find(use.address);
    if (!of)
      continue;
    const uintptr_t begin =
        use.bytes == LibraryUse::Unknown ? of->base : use.address;
    const AddressRange range{begin, endOf(use, *of)};
    if (use.need != LaunchNeed::Overwrite)
      Watcher->hostRead(range, HostAccess::Fault, nullptr);
    if (use.need != LaunchNeed::Read)
      Watcher->hostWrote(range, HostAccess::Fault, nullptr);
  }
}

Status Runtime::Impl::endLibraryCall(const LibraryHold &hold) {
  ++Clock; // later than any synchronisation before
  std::vector<Chunk *> used;
  for (auto [address, number, wrote] : hold.chunks) {
    Allocation *found = Allocations.find(address);
    // Of an arena it may be an address that nobody has any more.
    Buffer *buffer = found ? found->buffer : nullptr;
    if (!buffer)
      for (const std::unique_ptr<Buffer> &other : Buffers)
        if (other->base <= address && address < other->end())
          buffer = other.get();
    if (!buffer || buffer->number != number)
      continue; // freed meanwhile
    Chunk &chunk = buffer->chunkAt(address);
    if (!chunk.held)
      continue;
    --chunk.held;
    // The host may have taken it over: it is dirty there then.
    if (!chunk.device.id)
      continue;
    used.push_back(&chunk);
    if (wrote)
      DRAGON_TRY(wroteDevice(chunk));
  }
  if (hold.queue)
    return noteUse(used, *hold.queue);
  for (Chunk *chunk : used)
    chunk->buffer->lastUntracked = Epoch;
  return {};
}

Status Runtime::Impl::keepReachable(uintptr_t address,
                                    std::vector<Buffer *> &done) {
  Allocation *found = Allocations.find(address);
  if (!found ||
      std::find(done.begin(), done.end(), found->buffer) != done.end())
    return {};
  done.push_back(found->buffer);
  DRAGON_TRY(keepResident(*found->buffer));
  if (found->bytes > LargestPointerArray)
    return {};
  std::vector<uintptr_t> words(found->bytes / sizeof(uintptr_t));
  if (words.empty())
    return {};
  DRAGON_TRY(synchronizeAll());
  DRAGON_TRY(Dev->copy(words.data(), reinterpret_cast<void *>(found->base),
                       words.size() * sizeof(uintptr_t), CopyKind::DeviceToHost,
                       CopyOut));
  DRAGON_TRY(Dev->synchronize(CopyOut));
  for (uintptr_t word : words)
    DRAGON_TRY(keepReachable(word, done));
  return {};
}

/// What may change is told to the listener first, without the lock.
Status Runtime::beginLibraryCall(const LibraryCall &call, LibraryHold &hold) {
  BeforeWrite listener;
  void *context;
  std::vector<std::pair<uintptr_t, uintptr_t>> written;
  {
    Impl::Guard guard(*State);
    DRAGON_TRY(State->ready());
    listener = State->listener();
    context = State->ListenerContext;
    if (listener)
      for (const LibraryUse &use : call.uses)
        if (const Allocation *of = State->Allocations.find(use.address);
            of && use.need != LaunchNeed::Read)
          written.emplace_back(of->base, of->end());
  }
  for (auto [begin, end] : written)
    listener(context, begin, end);
  Impl::Guard guard(*State);
  DRAGON_TRY(State->ready());
  return State->beginLibraryCall(call, hold);
}

Status Runtime::endLibraryCall(const LibraryHold &hold) {
  Impl::Guard guard(*State);
  return State->endLibraryCall(hold);
}

Status Runtime::keepReachable(uintptr_t address) {
  uintptr_t begin, end;
  BeforeWrite listener;
  void *context;
  {
    Impl::Guard guard(*State);
    DRAGON_TRY(State->ready());
    Allocation *found = State->Allocations.find(address);
    if (!found)
      return {};
    begin = found->base, end = found->end();
    listener = State->listener();
    context = State->ListenerContext;
  }
  // It may write it now, and later.
  if (listener)
    listener(context, begin, end);
  Impl::Guard guard(*State);
  DRAGON_TRY(State->ready());
  std::vector<Buffer *> done;
  return State->keepReachable(address, done);
}

} // namespace dragon
