//===- ProtectedMemory.cpp - the program's memory as it was ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tier/ProtectedMemory.h"

#include "runtime/base/PinnedRanges.h"
#include "runtime/tier/FileTier.h"
#include "runtime/tier/HeldMemory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace dragon {

namespace {

constexpr uintptr_t Unit = ProtectedMemory::UnitBytes;

using Range = HalfOpen<uintptr_t>;

/// Whose pages are written by other processes or devices.
constexpr std::array<std::string_view, 6> ForeignWriters = {
    "/libmpi", "/libibverbs", "/libucp", "/libfabric", "/liburing", "/libaio"};

struct Mapping {
  uintptr_t begin, end;
  std::string_view access; ///< rwxp
  std::string_view path;
};

/// A line of /proc/self/maps; false: it is none.
bool parse(char *line, Mapping &mapping) {
  int access = 0, path = 0;
  if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %n%*4s %*x %*x:%*x %*u %n",
                  &mapping.begin, &mapping.end, &access, &path) != 2 ||
      !path)
    return false;
  mapping.access = {line + access, 4};
  mapping.path = line + path;
  if (mapping.path.ends_with('\n'))
    mapping.path.remove_suffix(1);
  return true;
}

// Where the thread stored last that was not protected. Read in the handler:
// must not allocate on first use.
__attribute__((tls_model("initial-exec"))) thread_local uintptr_t notProtected =
    0;

void *memoryAt(uintptr_t address) { return reinterpret_cast<void *>(address); }

// The C library's functions have fronts that save what is protected: these must
// not come to them.
bool setAccess(uintptr_t begin, uintptr_t end, int access) {
  return ::syscall(SYS_mprotect, begin, end - begin, access) == 0;
}

} // namespace

class ProtectedMemory::Changing {
public:
  explicit Changing(ProtectedMemory &memory) : Memory(memory) {
    ::pthread_rwlock_wrlock(&Memory.Lock);
  }
  ~Changing() {
    Memory.Saved = Memory.ChangedCopies != 0;
    Memory.Any = !Memory.Copies.empty() || !Memory.Protected.empty();
    ::pthread_rwlock_unlock(&Memory.Lock);
  }
  Changing(const Changing &) = delete;
  Changing &operator=(const Changing &) = delete;

private:
  ProtectedMemory &Memory;
};

ProtectedMemory &ProtectedMemory::get() {
  static auto *theMemory = new ProtectedMemory;
  return *theMemory;
}

/// Stores are all that changes it, and its end is told: it belongs to the
/// allocator, to a private anonymous mapping, or to the executable. Stacks of
/// threads are such mappings, too, each on top of pages without access, and
/// variables of libraries, each behind a part of its file.
bool ProtectedMemory::canBeProtected(uintptr_t begin, uintptr_t end,
                                     Kind kind) {
  const std::unique_ptr<FILE, int (*)(FILE *)> maps(
      std::fopen("/proc/self/maps", "re"), std::fclose);
  if (!maps)
    return false;
  // The driver's memory ends where the program asks the runtime for it.
  uintptr_t at = kind == Kind::Driver ? end : begin, previousEnd = 0;
  bool onTopOfNothing = false, behindLibrary = false;
  std::string executable; // the first one
  char line[4096 + 128];
  Mapping mapping;
  while (std::fgets(line, sizeof line, maps.get())) {
    if (!parse(line, mapping))
      return false;
    if (std::ranges::any_of(ForeignWriters, [&](std::string_view name) {
          return mapping.path.find(name) != std::string_view::npos;
        }))
      return false;
    if (at < end && mapping.begin <= at && at < mapping.end) {
      // What is registered ends where the program unregisters it.
      const bool others = kind == Kind::Pageable &&
                          (onTopOfNothing || behindLibrary) &&
                          previousEnd == mapping.begin;
      const bool access = mapping.access == "rw-p" ||
                          (mapping.access == "r--p" &&
                           isProtected(at, std::min(end, mapping.end)));
      if (!access || others ||
          !(mapping.path.empty() || mapping.path == "[heap]" ||
            mapping.path.starts_with("[anon:")))
        return false;
      at = mapping.end;
    }
    if (executable.empty())
      executable = mapping.path;
    onTopOfNothing = mapping.access == "---p";
    behindLibrary = mapping.path.starts_with('/') && mapping.path != executable;
    previousEnd = mapping.end;
  }
  return at >= end;
}

bool ProtectedMemory::protect(uintptr_t begin, uintptr_t end, Kind kind) {
  const auto [first, last] = unitsIn(begin, end);
  if (first >= last || !canBeProtected(begin, end, kind))
    return false;
  const Changing lock(*this);
  if (!copiedLocked(begin, end).empty() ||
      (kind == Kind::Pageable && PinnedRanges::get().overlaps(begin, end)))
    return false;
  if (!Registered)
    Registered =
        ::pthread_atfork(lockForFork, unlockInParent, renewInChild) == 0;
  // Not in the handler. Where there is none, all copies are in memory.
  if (File < 0 && !Directory.empty())
    if (StatusOr<int> file = openUnnamed(Directory); file.ok())
      File = *file;
  if (!Registered || !takeFaults(first, last) ||
      !copy(begin, first, /*changed=*/false))
    return false;
  if (!copy(last, end, false)) {
    forgetLocked(begin, end);
    return false;
  }
  if (!setAccess(first, last, PROT_READ)) {
    IntervalSet<uintptr_t> others;
    others += Range(first, last);
    others -= Protected; // that stays, for other buffers
    for (const Range &range : others)
      setAccess(range.lower(), range.upper(), PROT_READ | PROT_WRITE);
    forgetLocked(begin, end);
    return false;
  }
  Protected += Range(first, last);
  if (kind == Kind::Driver)
    Shared += Range(first, last);
  Changed -= Range(first, last);
  HostRanges::add(first, last);
  return true;
}

/// Before they are protected. Ranges stay: memory is protected again and again,
/// and a fault that is not ours goes on to the program.
bool ProtectedMemory::takeFaults(uintptr_t begin, uintptr_t end) {
  std::vector<uintptr_t> joined;
  const auto [first, last] = Handled.equal_range(Range(begin, end));
  for (auto it = first; it != last; ++it) {
    begin = std::min(begin, it->lower());
    end = std::max(end, it->upper());
    joined.push_back(it->lower());
  }
  if (!addFaultRange(begin, end, *this).ok())
    return false;
  for (uintptr_t old : joined)
    if (old != begin)
      removeFaultRange(old);
  for (uintptr_t old : joined)
    Handled -= Range(old, end);
  Handled += Range(begin, end);
  return true;
}

bool ProtectedMemory::makeWritable(uintptr_t begin, uintptr_t end) {
  HeldMemory::get().await(begin, end);
  if (!setAccess(begin, end, PROT_READ | PROT_WRITE))
    return false;
  Protected -= Range(begin, end);
  Shared -= Range(begin, end);
  HostRanges::remove(begin, end);
  return true;
}

void ProtectedMemory::setRoom(uint64_t bytes, std::string directory) {
  const Changing lock(*this);
  Room = bytes;
  Directory = std::move(directory);
}

void *ProtectedMemory::copyToFile(uintptr_t begin, uintptr_t end,
                                  int64_t &slot) {
  slot = FreeSlots.empty() ? FileEnd : FreeSlots.back();
  for (uintptr_t at = begin; at < end;) {
    const long wrote =
        ::syscall(SYS_pwrite64, File, at, end - at, slot + int64_t(at - begin));
    if (wrote < 0 && errno != EINTR)
      return nullptr;
    at += uintptr_t(std::max(wrote, 0l));
  }
  const long made = ::syscall(SYS_mmap, nullptr, end - begin, PROT_READ,
                              MAP_SHARED, File, slot);
  if (made == -1)
    return nullptr;
  if (FreeSlots.empty())
    FileEnd += Unit;
  else
    FreeSlots.pop_back();
  return memoryAt(uintptr_t(made));
}

bool ProtectedMemory::copy(uintptr_t begin, uintptr_t end, bool changed) {
  if (begin == end)
    return true;
  Copy made{end, nullptr, InMemory, changed};
  if (Copied + (end - begin) > Room && File >= 0)
    made.memory = copyToFile(begin, end, made.slot);
  if (!made.memory) {
    made.slot = InMemory;
    const long memory =
        ::syscall(SYS_mmap, nullptr, end - begin, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == -1)
      return false;
    made.memory = memoryAt(uintptr_t(memory));
    std::memcpy(made.memory, memoryAt(begin), end - begin);
    Copied += end - begin;
  }
  Copies[begin] = made;
  ChangedCopies += changed;
  return true;
}

bool ProtectedMemory::saveUnit(uintptr_t unit) {
  if (!copy(unit, unit + Unit, /*changed=*/true))
    return false;
  Changed += Range(unit, unit + Unit);
  return true;
}

bool ProtectedMemory::saveLocked(uintptr_t begin, uintptr_t end) {
  const auto [first, last] = unitsOf(begin, end);
  for (uintptr_t at = first; at < last; at += Unit) {
    const auto range = Protected.find(Range(at, at + Unit));
    if (range == Protected.end())
      continue;
    // A process has so many mappings at most: then all around it is saved.
    const Range around = *range;
    if (!saveUnit(at))
      return false;
    if (makeWritable(at, at + Unit))
      continue;
    for (uintptr_t other = around.lower(); other < around.upper();
         other += Unit)
      if (other != at && !saveUnit(other))
        return false;
    if (!makeWritable(around.lower(), around.upper()))
      return false;
  }
  return true;
}

bool ProtectedMemory::save(uintptr_t begin, uintptr_t end) {
  if (!Any.load(std::memory_order_acquire) || begin >= end)
    return true;
  const Changing lock(*this);
  return saveLocked(begin, end);
}

void ProtectedMemory::release(uintptr_t begin, uintptr_t end) {
  if (!Any.load(std::memory_order_acquire) || begin >= end)
    return;
  const Changing lock(*this);
  forgetLocked(begin, end);
  const auto [first, last] = unitsIn(begin, end);
  if (first >= last)
    return;
  // Ranges that are not protected may be the program's to protect.
  std::vector<Range> writable;
  const auto [from, to] = Protected.equal_range(Range(first, last));
  for (auto it = from; it != to; ++it)
    writable.push_back(
        {std::max(it->lower(), first), std::min(it->upper(), last)});
  for (const Range &range : writable)
    makeWritable(range.lower(), range.upper());
}

ProtectedMemory::Ranges ProtectedMemory::saved() {
  const Reading lock;
  Ranges ranges;
  for (const auto &[begin, copy] : Copies) {
    if (!copy.changed)
      continue;
    if (!ranges.empty() && ranges.back().second == begin)
      ranges.back().second = copy.end;
    else
      ranges.push_back({begin, copy.end});
  }
  return ranges;
}

ProtectedMemory::Ranges ProtectedMemory::copiedLocked(uintptr_t begin,
                                                      uintptr_t end) const {
  Ranges ranges;
  auto it = Copies.lower_bound(begin);
  if (it != Copies.begin() && std::prev(it)->second.end > begin)
    --it;
  for (; it != Copies.end() && it->first < end; ++it)
    ranges.push_back({it->first, it->second.end});
  return ranges;
}

ProtectedMemory::Ranges ProtectedMemory::copied(uintptr_t begin,
                                                uintptr_t end) {
  if (!Any.load(std::memory_order_acquire))
    return {};
  const Reading lock;
  return copiedLocked(begin, end);
}

void ProtectedMemory::forget(uintptr_t begin, uintptr_t end) {
  const Changing lock(*this);
  forgetLocked(begin, end);
}

void ProtectedMemory::forgetLocked(uintptr_t begin, uintptr_t end) {
  for (auto it = Copies.lower_bound(begin);
       it != Copies.end() && it->first < end;) {
    if (it->second.end > end)
      break;
    const uint64_t bytes = it->second.end - it->first;
    ChangedCopies -= it->second.changed;
    ::syscall(SYS_munmap, it->second.memory, bytes);
    if (it->second.slot == InMemory)
      Copied -= bytes;
    else
      FreeSlots.push_back(it->second.slot);
    it = Copies.erase(it);
  }
}

bool ProtectedMemory::isProtected(uintptr_t begin, uintptr_t end) {
  if (!Any.load(std::memory_order_acquire))
    return false;
  const Reading lock;
  return boost::icl::contains(Protected, Range(begin, end));
}

bool ProtectedMemory::wasChanged(uintptr_t begin, uintptr_t end) {
  const Reading lock;
  return overlaps(Changed, begin, end);
}

bool ProtectedMemory::concerns(uintptr_t begin, uintptr_t end) {
  if (!Any.load(std::memory_order_acquire) || begin >= end)
    return false;
  const Reading lock;
  return overlaps(Protected, begin, end) || !copiedLocked(begin, end).empty();
}

bool ProtectedMemory::hold(uintptr_t begin, uintptr_t end) {
  const Reading asItWas; // nobody makes it writable meanwhile
  size_t bytes = end - begin;
  return asItWas.placeOf(begin, bytes) == memoryAt(begin) &&
         bytes == end - begin && HeldMemory::get().hold(begin, end);
}

ProtectedMemory::Reading::Reading() { ::pthread_rwlock_rdlock(&get().Lock); }
ProtectedMemory::Reading::~Reading() { ::pthread_rwlock_unlock(&get().Lock); }

const void *ProtectedMemory::Reading::placeOf(uintptr_t address,
                                              size_t &bytes) const {
  const auto &copies = get().Copies;
  auto next = copies.upper_bound(address);
  if (next != copies.begin()) {
    const auto &[begin, copy] = *std::prev(next);
    if (address < copy.end) {
      bytes = std::min(bytes, copy.end - address);
      return static_cast<const char *>(copy.memory) + (address - begin);
    }
  }
  if (next != copies.end())
    bytes = std::min(bytes, next->first - address);
  return memoryAt(address);
}

bool ProtectedMemory::hostFault(uintptr_t address, bool write) {
  // Another thread may have made it writable between the store and here. The
  // second time it is something else.
  if (!write)
    return false;
  const Changing lock(*this);
  if (!overlaps(Protected, address, address + 1))
    return std::exchange(notProtected, address) != address;
  notProtected = 0;
  if (saveLocked(address, address + 1))
    return true;
  std::fputs("dragon: error: no room to save what the program overwrites "
             "before it was fetched; set DRAGON_PROTECT=0\n",
             stderr);
  return false;
}

//===----------------------------------------------------------------------===//
// fork: a child reaches no device, and writes where it likes.
//===----------------------------------------------------------------------===//

void ProtectedMemory::lockForFork() {
  ProtectedMemory &memory = get();
  ::pthread_rwlock_wrlock(&memory.Lock);
  // Of what cannot be saved children see nothing: it is not writable there.
  for (const Range &range :
       std::vector<Range>(memory.Shared.begin(), memory.Shared.end()))
    memory.saveLocked(range.lower(), range.upper());
  memory.Saved = memory.ChangedCopies != 0;
}

void ProtectedMemory::unlockInParent() { ::pthread_rwlock_unlock(&get().Lock); }

void ProtectedMemory::renewInChild() {
  ProtectedMemory &memory = get();
  IntervalSet<uintptr_t> own = memory.Protected;
  own -= memory.Shared;
  for (const Range &range : own)
    setAccess(range.lower(), range.upper(), PROT_READ | PROT_WRITE);
  memory.Any = memory.Saved = false;
  const pthread_rwlock_t fresh =
      PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
  memory.Lock = fresh;
}

} // namespace dragon
