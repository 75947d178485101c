//===- AddressMap.cpp - what is mapped where, and who may touch it --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/memory/AddressMap.h"
#include "runtime/base/Rounding.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace dragon {

namespace {

/// On each side of a reserved range.
constexpr size_t GuardBytes = size_t(4) << 30;
constexpr uintptr_t HostPageBytes = 4096;
/// What follows a buffer in its last page while a strict launch runs.
constexpr char Pattern = '\x5c';

void *pointer(uintptr_t address) { return reinterpret_cast<void *>(address); }

Status systemError(const char *what, uintptr_t begin, uintptr_t end) {
  int error = errno;
  return Status::native(
      DRAGON_ERROR_OUT_OF_MEMORY, error, "{} [{:#x}, {:#x}): {}{}", what, begin,
      end, std::strerror(error),
      error == ENOMEM ? " (a process may have vm.max_map_count mappings)" : "");
}

} // namespace

AddressMap::~AddressMap() {
  for (const auto &[begin, range] : Reserved) {
    removeFaultRange(begin);
    munmap(pointer(range.mappedBegin), range.mappedEnd - range.mappedBegin);
  }
}

StatusOr<uintptr_t> AddressMap::reserve(size_t bytes, size_t alignment) {
  // As wide as there are addresses for.
  void *memory = MAP_FAILED;
  size_t guard = GuardBytes, room = 0;
  for (; memory == MAP_FAILED; guard = guard > alignment ? guard / 64 : 0) {
    room = guard + bytes + guard + alignment;
    memory = mmap(nullptr, room, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED && guard == 0)
      return Status::native(DRAGON_ERROR_OUT_OF_MEMORY, errno,
                            "reserving {} bytes of addresses: {}", bytes,
                            std::strerror(errno));
    if (memory != MAP_FAILED)
      break;
  }
  const uintptr_t got = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t begin = roundUp(got + guard, alignment);
  const uintptr_t end = begin + bytes;
  if (Status status = addFaultRange(begin, end, *this); !status.ok()) {
    munmap(memory, room);
    return status;
  }
  std::lock_guard<std::mutex> lock(Lock);
  Reserved[begin] = {end, 0, "", got, got + room};
  return begin;
}

Status AddressMap::release(uintptr_t base, size_t bytes) {
  Range range;
  {
    std::lock_guard<std::mutex> guard(Lock);
    auto it = Reserved.find(base);
    if (it == Reserved.end() || it->second.end != base + bytes)
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "release: [{:#x}, +{:#x}) is not a reserved range",
                           base, bytes);
    auto chunk = firstChunkIn(base);
    if (chunk != Mapped.end() && chunk->first < base + bytes)
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "release: [{:#x}, +{:#x}) still has chunk {} mapped "
                           "at {:#x}",
                           base, bytes, chunk->second.id, chunk->first);
    range = it->second;
    Reserved.erase(it);
  }
  guard(base, bytes, false).ignore();
  removeFaultRange(base);
  munmap(pointer(range.mappedBegin), range.mappedEnd - range.mappedBegin);
  return {};
}

void AddressMap::describe(uintptr_t base, size_t bytes,
                          const std::string &name) {
  std::lock_guard<std::mutex> guard(Lock);
  if (auto it = Reserved.find(base); it != Reserved.end()) {
    it->second.used = base + bytes;
    it->second.name = name;
  }
}

AddressMap::Chunks::iterator AddressMap::firstChunkIn(uintptr_t begin) {
  auto it = Mapped.upper_bound(begin);
  if (it != Mapped.begin() && std::prev(it)->second.end > begin)
    --it;
  return it;
}

bool AddressMap::guardedAt(uintptr_t begin, uintptr_t end) const {
  return overlaps(Guarded, begin, end);
}

Status AddressMap::map(uintptr_t va, const Physical &physical, int fd,
                       uint64_t offset, char *view) {
  std::lock_guard<std::mutex> guard(Lock);
  uintptr_t end = va + physical.bytes;
  auto range = Reserved.upper_bound(va);
  if (range == Reserved.begin() || std::prev(range)->second.end < end)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "map: [{:#x}, {:#x}) is not in a reserved range", va,
                         end);
  auto there = firstChunkIn(va);
  if (there != Mapped.end() && there->first < end)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "map: chunk {} is mapped at {:#x} already",
                         there->second.id, there->first);
  Chunk chunk{end, physical.place, physical.id, view};
  chunk.guarded = physical.place == Place::Device && guardedAt(va, end);
  chunk.accessible = shouldBeAccessible(chunk);
  chunk.usable = end;
  if (const uintptr_t used = std::prev(range)->second.used;
      Strict && used > va && used < end) {
    chunk.usable = roundUp<uintptr_t>(used, HostPageBytes);
    chunk.pattern = used;
  }
  int protection = chunk.accessible ? PROT_READ | PROT_WRITE : PROT_NONE;
  if (mmap(pointer(va), physical.bytes, protection, MAP_SHARED | MAP_FIXED, fd,
           static_cast<off_t>(offset)) == MAP_FAILED)
    return systemError("mapping a chunk at", va, end);
  if (chunk.accessible && chunk.usable < end &&
      mprotect(pointer(chunk.usable), end - chunk.usable, PROT_NONE) != 0)
    return systemError("protecting what follows a buffer at", va, end);
  GuardedChunks += chunk.guarded;
  Mapped.emplace(va, chunk);
  return {};
}

Status AddressMap::unmap(uintptr_t va, const Physical &physical) {
  std::lock_guard<std::mutex> guard(Lock);
  auto it = Mapped.find(va);
  if (it == Mapped.end() || it->second.id != physical.id)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "unmap: chunk {} is not mapped at {:#x}", physical.id,
                         va);
  if (it->second.openers)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "unmap: chunk {} at {:#x} is in use by a running "
                         "launch",
                         physical.id, va);
  if (mmap(pointer(va), physical.bytes, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
           0) == MAP_FAILED)
    return systemError("unmapping a chunk at", va, it->second.end);
  GuardedChunks -= it->second.guarded;
  Mapped.erase(it);
  return {};
}

Status AddressMap::refresh(uintptr_t begin, uintptr_t end) {
  uintptr_t runBegin = 0, runEnd = 0;
  bool runAccessible = false;
  auto flush = [&]() -> Status {
    if (runBegin != runEnd &&
        mprotect(pointer(runBegin), runEnd - runBegin,
                 runAccessible ? PROT_READ | PROT_WRITE : PROT_NONE) != 0)
      return systemError("protecting", runBegin, runEnd);
    return {};
  };
  for (auto it = firstChunkIn(begin); it != Mapped.end() && it->first < end;
       ++it) {
    Chunk &chunk = it->second;
    bool wanted = shouldBeAccessible(chunk);
    if (wanted == chunk.accessible)
      continue;
    if (runEnd != it->first || runAccessible != wanted) {
      DRAGON_TRY(flush());
      runBegin = it->first;
      runAccessible = wanted;
    }
    runEnd = chunk.usable;
    chunk.accessible = wanted;
  }
  return flush();
}

Status AddressMap::guard(uintptr_t va, size_t bytes, bool guarded) {
  std::lock_guard<std::mutex> lock(Lock);
  uintptr_t begin = va, end = va + bytes;
  if (guarded)
    Guarded += HalfOpen<uintptr_t>(begin, end);
  else
    Guarded -= HalfOpen<uintptr_t>(begin, end);
  for (auto chunk = firstChunkIn(begin);
       chunk != Mapped.end() && chunk->first < end; ++chunk) {
    bool now = chunk->second.place == Place::Device &&
               guardedAt(chunk->first, chunk->second.end);
    GuardedChunks += now;
    GuardedChunks -= chunk->second.guarded;
    chunk->second.guarded = now;
  }
  return refresh(begin, end);
}

void AddressMap::setFaultHandler(FaultHandler handler, void *context) {
  std::lock_guard<std::mutex> guard(Lock);
  Handler = handler;
  HandlerContext = context;
}

Status AddressMap::resolve(uintptr_t address, size_t bytes,
                           std::vector<Piece> &pieces) {
  std::lock_guard<std::mutex> guard(Lock);
  uintptr_t end = address + bytes;
  auto range = Reserved.upper_bound(address);
  if (range == Reserved.begin() || std::prev(range)->second.end <= address) {
    if (range != Reserved.end() && range->first < end)
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "[{:#x}, {:#x}) begins in host memory and ends in "
                           "the buffer at {:#x}",
                           address, end, range->first);
    pieces.push_back({reinterpret_cast<char *>(address), bytes});
    return {};
  }
  for (auto it = firstChunkIn(address); address < end; ++it) {
    if (it == Mapped.end() || it->first > address)
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "nothing is mapped at {:#x} (range ends at {:#x})",
                           address, end);
    uintptr_t stop = std::min(end, it->second.end);
    pieces.push_back({it->second.view + (address - it->first), stop - address});
    address = stop;
  }
  return {};
}

Status AddressMap::beginLaunch(const LaunchRequest &request, Opened &opened) {
  std::lock_guard<std::mutex> guard(Lock);
  if (!Strict && GuardedChunks == 0)
    return {};
  auto open = [&](uintptr_t begin, uintptr_t end) {
    for (auto it = firstChunkIn(begin); it != Mapped.end() && it->first < end;
         ++it) {
      if (it->second.openers++ == 0 && it->second.pattern)
        std::memset(viewOf(it->second.pattern, it->first, it->second), Pattern,
                    it->second.usable - it->second.pattern);
      opened.chunks.push_back(it->first);
    }
  };
  if (request.touchesAnything)
    open(0, UINTPTR_MAX);
  else
    for (const AddressRange &range : request.touched)
      open(range.begin, range.end);
  opened.counted = Strict;
  if (Strict && ActiveLaunches++ == 0)
    return refresh(0, UINTPTR_MAX);
  if (request.touchesAnything)
    return refresh(0, UINTPTR_MAX);
  for (const AddressRange &range : request.touched)
    DRAGON_TRY(refresh(range.begin, range.end));
  return {};
}

void AddressMap::endLaunch(const Opened &opened) {
  if (!opened.counted && opened.chunks.empty())
    return;
  {
    std::lock_guard<std::mutex> guard(Lock);
    for (uintptr_t begin : opened.chunks)
      --Mapped.find(begin)->second.openers;
    if (opened.counted)
      --ActiveLaunches;
    // Fails only where a mapping more is refused; the chunk then stays open.
    refresh(0, UINTPTR_MAX).ignore();
  }
  LaunchEnded.notify_all();
}

bool AddressMap::openForKernel(uintptr_t address, Opened &opened) {
  std::lock_guard<std::mutex> guard(Lock);
  auto it = firstChunkIn(address);
  if (it == Mapped.end() || it->first > address || address >= it->second.usable)
    return false;
  if (it->second.accessible)
    return true; // opened by another thread just now
  if (Strict)
    return false;
  ++it->second.openers;
  opened.chunks.push_back(it->first);
  return refresh(it->first, it->second.end).ok();
}

bool AddressMap::findReserved(uintptr_t address, AddressRange &range) {
  std::lock_guard<std::mutex> guard(Lock);
  auto it = Reserved.upper_bound(address);
  if (it == Reserved.begin() || std::prev(it)->second.end <= address)
    return false;
  --it;
  range = {it->first, it->second.end};
  return true;
}

const AddressMap::Range *AddressMap::rangeNear(uintptr_t address,
                                               uintptr_t &begin) const {
  // Reserved ranges and their guards do not overlap.
  auto next = Reserved.upper_bound(address);
  if (next != Reserved.end() && next->second.mappedBegin <= address) {
    begin = next->first;
    return &next->second;
  }
  if (next == Reserved.begin() || std::prev(next)->second.mappedEnd <= address)
    return nullptr;
  begin = std::prev(next)->first;
  return &std::prev(next)->second;
}

std::string AddressMap::describe(const Range &range, uintptr_t begin) {
  return fmt::format("the {}-byte buffer{}", range.used - begin,
                     range.name.empty() ? std::string()
                                        : " '" + range.name + "'");
}

std::optional<std::string> AddressMap::outOfBounds(uintptr_t address) {
  std::lock_guard<std::mutex> guard(Lock);
  uintptr_t begin = 0;
  const Range *range = rangeNear(address, begin);
  if (!range || !range->used)
    return std::nullopt;
  if (address < begin)
    return fmt::format("{} bytes before {}", begin - address,
                       describe(*range, begin));
  if (address >= range->used)
    return fmt::format("{} past the end of {}",
                       address == range->used
                           ? std::string("just")
                           : fmt::format("{} bytes", address - range->used),
                       describe(*range, begin));
  return std::nullopt;
}

std::optional<std::string> AddressMap::overrun(const Opened &opened) {
  std::lock_guard<std::mutex> guard(Lock);
  for (uintptr_t at : opened.chunks) {
    const auto found = Mapped.find(at);
    const Chunk &chunk = found->second;
    if (!chunk.pattern)
      continue;
    const char *first = viewOf(chunk.pattern, at, chunk);
    const char *last = first + (chunk.usable - chunk.pattern);
    const char *wrong =
        std::find_if(first, last, [](char byte) { return byte != Pattern; });
    uintptr_t begin = 0;
    if (wrong != last)
      if (const Range *range = rangeNear(chunk.pattern - 1, begin))
        return fmt::format("writes {} bytes past the end of {}", wrong - first,
                           describe(*range, begin));
  }
  return std::nullopt;
}

bool AddressMap::hostFault(uintptr_t address, bool write) {
  FaultHandler handler;
  void *context;
  {
    std::unique_lock<std::mutex> guard(Lock);
    auto chunk = firstChunkIn(address);
    if (chunk != Mapped.end() && chunk->first <= address &&
        address < chunk->second.usable) {
      if (chunk->second.accessible)
        return true; // another thread was faster
      if (!chunk->second.guarded) {
        LaunchEnded.wait(guard, [this] { return ActiveLaunches == 0; });
        return true;
      }
    }
    handler = Handler;
    context = HandlerContext;
  }
  return handler && handler(context, address, write);
}

} // namespace dragon
