//===- LibraryCalls.cpp - library functions work on buffers by themselves -===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/LibraryCalls.h"

#include "runtime/launch/LaunchKey.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Trace.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>

namespace dragon {

namespace {

/// An array of pointers larger than this is not looked through.
constexpr size_t LargestPointerArray = size_t(1) << 20;

LaunchNeed both(LaunchNeed a, LaunchNeed b) {
  return a == b ? a : LaunchNeed::Write;
}

AddressRange rangeOf(const LibraryUse &use, const Allocation &in) {
  if (use.bytes == LibraryUse::Unknown)
    return {in.base, in.end()};
  return {use.address, use.bytes > in.end() - use.address
                           ? in.end()
                           : use.address + use.bytes};
}

/// visit(chunk) for each chunk that has bytes of the range.
template <typename Visit>
void forEachChunk(Buffer &buffer, const AddressRange &range, Visit visit) {
  for (uintptr_t at = range.begin; at < range.end;) {
    Chunk &chunk = buffer.chunkAt(at);
    visit(chunk);
    at = chunk.va() + chunk.bytes();
  }
}

} // namespace

/// What the uses are of, by chunk, in the order of addresses.
LibraryCalls::Uses LibraryCalls::usesOf(const LibraryCall &call) const {
  Uses uses;
  for (const LibraryUse &use : call.uses) {
    const Allocation *found = Space.Allocations.find(use.address);
    if (!found)
      continue;
    const AddressRange range = rangeOf(use, *found);
    forEachChunk(*found->buffer, range, [&](Chunk &chunk) {
      LaunchNeed need = use.need;
      // Only what is overwritten from end to end need not be fetched.
      if (need == LaunchNeed::Overwrite &&
          (range.begin > chunk.va() || range.end < chunk.usedEnd()))
        need = LaunchNeed::Write;
      auto [it, isNew] = uses.try_emplace(chunk.va(), useOfAll(chunk, need));
      if (!isNew)
        it->second = useOfAll(chunk, both(it->second.need, need));
    });
  }
  return uses;
}

LibraryCalls::Room LibraryCalls::roomFor(const Uses &uses) const {
  Room room{0, 0};
  for (const auto &[address, use] : uses)
    room.needed += use.chunk->bytes();
  for (const Chunk *chunk : OnDevice.Chunks)
    if ((chunk->holds.calls || chunk->buffer->kept) && !uses.count(chunk->va()))
      room.elsewhere += chunk->bytes();
  return room;
}

bool LibraryCalls::fits(const LibraryCall &call) const {
  const Room room = roomFor(usesOf(call));
  return OnDevice.holds(room.needed + room.elsewhere);
}

CallPieces::Footprint LibraryCalls::footprintOf(const LibraryCall &call) const {
  const auto [needed, elsewhere] = roomFor(usesOf(call));
  // What scratch memory takes can be had.
  (void)OnDevice.holds(needed + elsewhere);
  const uint64_t budget = OnDevice.Pool.budget();
  CallPieces::Footprint footprint{
      needed, budget - std::min(budget, elsewhere), {}};
  for (const LibraryUse &use : call.uses)
    if (const Allocation *of = Space.Allocations.find(use.address)) {
      uint64_t bytes = 0;
      forEachChunk(*of->buffer, rangeOf(use, *of),
                   [&](const Chunk &chunk) { bytes += chunk.bytes(); });
      footprint.uses.push_back({bytes, of->buffer->chunkAt(use.address).bytes(),
                                use.need != LaunchNeed::Read});
    }
  return footprint;
}

std::vector<AddressRange>
LibraryCalls::overwrittenBy(const LibraryCall &call) const {
  std::vector<AddressRange> all, overwritten;
  for (const LibraryUse &use : call.uses) {
    const Allocation *of = Space.Allocations.find(use.address);
    all.push_back(of ? rangeOf(use, *of) : AddressRange{});
  }
  for (size_t u = 0; u < all.size(); ++u) {
    const AddressRange &range = all[u];
    const auto others = std::count_if(
        all.begin(), all.end(), [&range](const AddressRange &other) {
          return other.begin < range.end && range.begin < other.end;
        });
    if (call.uses[u].need == LaunchNeed::Overwrite && others == 1)
      overwritten.push_back(range);
  }
  return overwritten;
}

Status LibraryCalls::checkRoom(const LibraryCall &call,
                               const Uses &uses) const {
  const auto [needed, elsewhere] = roomFor(uses);
  if (OnDevice.holds(needed + elsewhere))
    return {};
  std::string buffers;
  for (const LibraryUse &use : call.uses)
    if (const Allocation *of = Space.Allocations.find(use.address)) {
      const AddressRange range = rangeOf(use, *of);
      buffers +=
          fmt::format("{}{} ({})", buffers.empty() ? "" : ", ",
                      of->name.empty() ? "a buffer" : "'" + of->name + "'",
                      formatBytes(range.end - range.begin));
    }
  return Status::error(
      DRAGON_ERROR_OUT_OF_MEMORY,
      "{} must be in device memory at once, {} with the rest of their chunks: "
      "there are {}{}; raise DRAGON_DEVICE_MEMORY, or call it for smaller "
      "parts",
      buffers, formatBytes(needed), formatBytes(OnDevice.Pool.budget()),
      elsewhere ? fmt::format(", of which {} are held", formatBytes(elsewhere))
                : std::string());
}

StatusOr<LibraryCalls::Words>
LibraryCalls::lookAt(std::vector<LibraryUse> uses, const LibraryCall &call,
                     const std::function<StatusOr<Words>()> &read) {
  LibraryCall look;
  look.function = call.function;
  look.uses = std::move(uses);
  look.onlyLooks = true;
  LibraryHold hold;
  DRAGON_TRY(begin(look, hold));
  StatusOr<Words> words = read();
  DRAGON_TRY(end(hold));
  return words;
}

StatusOr<LibraryCalls::Words>
LibraryCalls::wordsOf(std::span<const LibraryUse> arrays) {
  size_t count = 0;
  for (const LibraryUse &array : arrays)
    count += array.bytes / sizeof(uintptr_t);
  Words words(count);
  auto *to = reinterpret_cast<char *>(words.data());
  for (const LibraryUse &array : arrays) {
    DRAGON_TRY(Ctx.device->copy(to, reinterpret_cast<void *>(array.address),
                                array.bytes, CopyKind::DeviceToHost,
                                Ctx.copyOut));
    to += array.bytes;
  }
  DRAGON_TRY(Ctx.device->synchronize(Ctx.copyOut));
  return words;
}

std::optional<LibraryCalls::Words>
LibraryCalls::knownWordsOf(std::span<const LibraryUse> arrays) {
  Words words;
  for (const LibraryUse &array : arrays) {
    const AddressRange range{array.address, array.address + array.bytes};
    std::span<const char> known = Computed.find(array.address, array.bytes);
    if (const char *copied = known.empty() ? Copied.find(range) : nullptr)
      known = {copied, array.bytes};
    if (known.empty())
      return std::nullopt;
    const size_t before = words.size();
    words.resize(before + known.size() / sizeof(uintptr_t));
    std::memcpy(words.data() + before, known.data(), known.size());
  }
  return words;
}

Status LibraryCalls::followPointers(LibraryCall &call) {
  if (!call.followsPointers())
    return {};
  const bool inPlace =
      !OnDevice.mayMove() &&
      std::all_of(Space.Buffers.begin(), Space.Buffers.end(),
                  [](const auto &buffer) { return buffer->allOnDevice(); });
  std::vector<LibraryUse> arrays;
  for (const LibraryUse &use : call.uses)
    if (use.pointers && !inPlace)
      arrays.push_back(
          {use.address, use.pointers * sizeof(uintptr_t), LaunchNeed::Read});
  Words pointers;
  if (std::optional<Words> known = knownWordsOf(arrays)) {
    pointers = std::move(*known);
  } else {
    // One wait for all of them: the device has nothing to do meanwhile.
    DRAGON_ASSIGN(pointers, lookAt(arrays, call, [&]() -> StatusOr<Words> {
                    DRAGON_TRY(Ahead.wait(call.queue));
                    return wordsOf(arrays);
                  }));
    const auto *bytes = reinterpret_cast<const char *>(pointers.data());
    for (const LibraryUse &array : arrays) {
      Computed.learn(array.address, {bytes, array.bytes});
      Copied.follow({array.address, array.address + array.bytes});
      bytes += array.bytes;
    }
  }
  std::vector<LibraryUse> uses;
  auto array = arrays.begin();
  auto pointer = pointers.begin();
  for (const LibraryUse &use : call.uses) {
    if (!use.pointers) {
      uses.push_back(use);
    } else if (inPlace) {
      for (const auto &[base, allocation] : Space.Allocations.all())
        uses.push_back(
            {base, LibraryUse::Unknown,
             use.need == LaunchNeed::Read ? use.need : LaunchNeed::Write});
    } else {
      uses.push_back(*array++);
      for (size_t i = 0; i < use.pointers; ++i)
        uses.push_back({*pointer++, use.bytes, use.need});
    }
  }
  call.uses = std::move(uses);
  return {};
}

bool LibraryCalls::beginInCore(const LibraryCall &call, LibraryHold &hold) {
  if (OnDevice.mayMove() || Ctx.caps().migrates)
    return false;
  for (const LibraryUse &use : call.uses)
    if (const Allocation *found = Space.Allocations.find(use.address)) {
      Buffer &buffer = *found->buffer;
      Data.adoptMapped(buffer);
      if (buffer.moving || buffer.driverMoved || !buffer.allOnDevice() ||
          (buffer.lastArrival && !Time.Fetches.done(buffer.lastArrival)))
        return false;
    }
  Next.beginLaunch();
  for (const LibraryUse &use : call.uses) {
    const Allocation *found = Space.Allocations.find(use.address);
    if (!found)
      continue;
    Buffer &buffer = *found->buffer;
    buffer.lastTouch = Ctx.clock;
    forEachChunk(buffer, rangeOf(use, *found), [&](Chunk &chunk) {
      ++chunk.holds.calls;
      hold.chunks.push_back(
          {chunk.va(), buffer.number, use.need != LaunchNeed::Read});
    });
  }
  hold.queue = call.queue;
  hold.onlyLooks = call.onlyLooks;
  return true;
}

Status LibraryCalls::begin(const LibraryCall &call, LibraryHold &hold) {
  if (!call.onlyLooks)
    Computed.otherWork();
  if (beginInCore(call, hold))
    return {};
  TraceZone zone("library call");
  zone.on(call.function);
  // It takes its time, as a launch does.
  Next.beginLaunch();
  const Uses found = usesOf(call);
  DRAGON_TRY(checkRoom(call, found));
  std::vector<ChunkUse> uses;
  for (const auto &[address, use] : found)
    uses.push_back(use);
  // Also where nothing is missing this time: it has its place among the others.
  if (OnDevice.mayMove()) {
    std::vector<uintptr_t> addresses;
    addresses.reserve(call.uses.size());
    for (const LibraryUse &use : call.uses)
      addresses.push_back(use.address);
    Next.remember(buffersKey(call.function, addresses), uses);
    Ahead.remembered();
  }
  Ctx.pins.next();
  // In whatever stream the work will be: the copies are done before.
  if (call.queue) {
    DRAGON_TRY(Resident.bringIn(uses, *call.queue, Cause::Demand));
  } else {
    DRAGON_TRY(Resident.startBringingIn(uses, Cause::Demand));
    uint64_t last = 0;
    for (const ChunkUse &use : uses)
      last = std::max(last, use.chunk->transit.arrival);
    DRAGON_TRY(Time.Fetches.waitFor(last));
  }
  DRAGON_TRY(Ctx.device->completeMaps());
  tellUses(call);
  for (const ChunkUse &use : uses) {
    ++use.chunk->holds.calls;
    hold.chunks.push_back(
        {use.chunk->va(), use.chunk->buffer->number, use.mayWrite()});
  }
  hold.queue = call.queue;
  hold.onlyLooks = call.onlyLooks;
  return {};
}

void LibraryCalls::tellUses(const LibraryCall &call) {
  if (!Ctx.watcher)
    return;
  for (const LibraryUse &use : call.uses) {
    const Allocation *of = Space.Allocations.find(use.address);
    if (!of)
      continue;
    const AddressRange range = rangeOf(use, *of);
    if (use.need != LaunchNeed::Overwrite)
      Ctx.watcher->hostRead(range, HostAccess::Fault, nullptr);
    if (use.need != LaunchNeed::Read)
      Ctx.watcher->hostWrote(range, HostAccess::Fault, nullptr);
  }
}

Buffer *LibraryCalls::bufferOf(const LibraryHold::Part &part) const {
  const Allocation *found = Space.Allocations.find(part.address);
  // In an arena it may be an address that nobody has any more.
  Buffer *buffer = found ? found->buffer : nullptr;
  if (!buffer)
    for (const std::unique_ptr<Buffer> &other : Space.Buffers)
      if (other->base <= part.address && part.address < other->end())
        buffer = other.get();
  return buffer && buffer->number == part.buffer ? buffer : nullptr;
}

Status LibraryCalls::end(const LibraryHold &hold) {
  ++Ctx.clock; // later than any synchronisation before
  std::vector<Chunk *> used;
  for (const LibraryHold::Part &part : hold.chunks) {
    Buffer *buffer = bufferOf(part);
    if (!buffer)
      continue; // freed meanwhile
    Chunk &chunk = buffer->chunkAt(part.address);
    if (!chunk.holds.calls)
      continue;
    --chunk.holds.calls;
    // The host may have taken it over: it is dirty there then.
    if (!chunk.device.id)
      continue;
    used.push_back(&chunk);
    if (part.written)
      DRAGON_TRY(Data.wroteDevice(chunk));
  }
  if (hold.onlyLooks)
    return {};
  if (hold.queue) {
    DRAGON_TRY(Time.noteUse(used, *hold.queue));
    return Ahead.run();
  }
  for (Chunk *chunk : used)
    chunk->buffer->lastUntracked = Time.Epoch;
  return {};
}

StatusOr<LibraryCalls::Words>
LibraryCalls::addressesIn(const Allocation &allocation) {
  if (allocation.bytes > LargestPointerArray ||
      allocation.bytes < sizeof(uintptr_t))
    return Words();
  DRAGON_TRY(Time.synchronizeAll());
  const LibraryUse whole{
      allocation.base, allocation.bytes / sizeof(uintptr_t) * sizeof(uintptr_t),
      LaunchNeed::Read};
  DRAGON_ASSIGN(Words words, wordsOf({&whole, 1}));
  // Most words are no addresses.
  const uintptr_t lowest = Space.Allocations.all().begin()->first,
                  end = Space.Allocations.all().rbegin()->second.end();
  std::erase_if(words,
                [&](uintptr_t word) { return word < lowest || word >= end; });
  return words;
}

Status LibraryCalls::addReachable(uintptr_t address, LibraryCall &call) {
  const Allocation *found = Space.Allocations.find(address);
  if (!found || std::any_of(call.uses.begin(), call.uses.end(),
                            [&](const LibraryUse &use) {
                              return Space.Allocations.find(use.address) ==
                                     found;
                            }))
    return {};
  call.uses.push_back({found->base, LibraryUse::Unknown, LaunchNeed::Write});
  if (found->bytes > LargestPointerArray)
    return {};
  DRAGON_ASSIGN(const Words words,
                lookAt({{found->base, LibraryUse::Unknown, LaunchNeed::Read}},
                       call, [&] { return addressesIn(*found); }));
  for (uintptr_t word : words)
    DRAGON_TRY(addReachable(word, call));
  return {};
}

Status LibraryCalls::keepReachable(uintptr_t address,
                                   std::vector<uintptr_t> &done) {
  Allocation *found = Space.Allocations.find(address);
  if (!found || std::find(done.begin(), done.end(), found->base) != done.end())
    return {};
  done.push_back(found->base);
  Buffer &buffer = *found->buffer;
  // What it leads to is kept as well, if it is as it was.
  if (buffer.kept && !buffer.hostAccessible && buffer.allDeviceOnly() &&
      found->looked ==
          Allocation::Look{buffer.writes, Space.Allocations.generation()})
    return {};
  DRAGON_TRY(Resident.keep(buffer));
  // Pointers in the buffer lead to nothing that may move. To read them would
  // take a wait for the device, which ends the capture of a stream.
  if (Space.allKept())
    return {};
  DRAGON_ASSIGN(const Words words, addressesIn(*found));
  for (uintptr_t word : words)
    DRAGON_TRY(keepReachable(word, done));
  found->looked = {buffer.writes, Space.Allocations.generation()};
  return {};
}

} // namespace dragon
