//===- HostBuffers.cpp - memory of the program in system calls ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/process/HostBuffers.h"

#include <atomic>
#include <climits>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace dragon {

namespace {
constexpr size_t PageBytes = 4096;
constexpr size_t MostVectors = IOV_MAX;
/// Memory for copies holds what one call moves, and the small things that
/// messages come with.
constexpr size_t DataBytes = HostTransfer::PieceBytes + (size_t(1) << 20);
} // namespace

struct HostTransfer::Block {
  iovec vectors[MostVectors];
  char *origins[MostVectors]; ///< what they stand for
  alignas(PageBytes) char data[DataBytes];
};

/// One that nobody uses: most programs never need a second one.
static std::atomic<void *> spare{nullptr};

bool HostTransfer::takeBlock() {
  if (Memory)
    return true;
  void *memory = spare.exchange(nullptr);
  if (!memory)
    memory = mmap(nullptr, sizeof(Block), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    errno = ENOMEM;
    return false;
  }
  Memory = static_cast<Block *>(memory);
  return true;
}

HostTransfer::~HostTransfer() {
  if (!Memory)
    return;
  const int before = errno;
  if (void *other = spare.exchange(Memory))
    munmap(other, sizeof(Block));
  errno = before;
}

const iovec *HostTransfer::vectors() const { return Memory->vectors; }

/// Where the copy of `memory` is to be, at the same place of a page: direct I/O
/// accepts or refuses it as it would the original. Cuts `bytes` to the room.
char *HostTransfer::place(const char *memory, size_t &bytes) {
  const size_t inPage = reinterpret_cast<uintptr_t>(memory) % PageBytes;
  size_t begin = Used / PageBytes * PageBytes + inPage;
  if (begin < Used)
    begin += PageBytes;
  const size_t room = begin < DataBytes ? DataBytes - begin : 0;
  bytes = std::min(bytes, room);
  Used = begin + bytes;
  return bytes ? Memory->data + begin : nullptr;
}

/// False: there is no room for all of it.
bool HostTransfer::add(char *memory, size_t bytes) {
  while (bytes) {
    bool managed;
    size_t part = HostRanges::runAt(memory, bytes, managed);
    part = std::min(part, managed ? PieceBytes - Copied : MostBytes - Bytes);
    if (part == 0 || Count == MostVectors)
      return false;
    char *at = managed ? place(memory, part) : memory;
    if (!at)
      return false;
    if (managed && Way == Writes)
      std::memcpy(at, memory, part);
    Memory->vectors[Count] = {at, part};
    Memory->origins[Count++] = memory;
    Bytes += part;
    Copied += managed ? part : 0;
    memory += part;
    bytes -= part;
  }
  return true;
}

bool HostTransfer::next(const iovec *list, size_t count, size_t done) {
  Count = Bytes = Copied = Used = 0;
  Last = false;
  if (!takeBlock())
    return false;
  for (size_t i = 0; i < count; ++i) {
    const size_t skipped = std::min(done, list[i].iov_len);
    done -= skipped;
    if (!add(static_cast<char *>(list[i].iov_base) + skipped,
             list[i].iov_len - skipped))
      return true;
  }
  Last = true;
  return true;
}

void HostTransfer::finish(size_t got) {
  const int before = errno;
  for (size_t i = 0; i < Count && got; ++i) {
    const size_t part = std::min(got, Memory->vectors[i].iov_len);
    give(Memory->origins[i], Memory->vectors[i].iov_base, part);
    got -= part;
  }
  errno = before;
}

void *HostTransfer::borrow(void *memory, size_t bytes) {
  if (!HostRanges::overlaps(memory, bytes))
    return memory;
  if (!takeBlock())
    return nullptr;
  size_t room = bytes;
  char *at = place(static_cast<char *>(memory), room);
  if (room < bytes) {
    errno = ENOMEM;
    return nullptr;
  }
  std::memcpy(at, memory, bytes);
  return at;
}

void HostTransfer::give(void *memory, const void *borrowed, size_t bytes) {
  if (memory != borrowed && bytes)
    std::memcpy(memory, borrowed, bytes);
}

bool hasHostRange(const iovec *list, size_t count) {
  if (!HostRanges::any() || !list || count > MostVectors)
    return false; // the kernel refuses more
  if (HostRanges::overlaps(list, count * sizeof(iovec)))
    return true;
  for (size_t i = 0; i < count; ++i)
    if (HostRanges::overlaps(list[i].iov_base, list[i].iov_len))
      return true;
  return false;
}

bool fillsWhole(int fd) {
  struct stat info;
  const int before = errno;
  const bool known = ::fstat(fd, &info) == 0;
  errno = before;
  constexpr unsigned MemoryDevices = 1; // /dev/zero and the like
  return known &&
         (S_ISREG(info.st_mode) || S_ISBLK(info.st_mode) ||
          (S_ISCHR(info.st_mode) && major(info.st_rdev) == MemoryDevices));
}

} // namespace dragon
