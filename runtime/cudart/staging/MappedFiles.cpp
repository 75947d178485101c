//===- MappedFiles.cpp - memory that is a file's bytes --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/staging/MappedFiles.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <fcntl.h>
#include <linux/magic.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace dragon {

namespace {

constexpr uintptr_t PageBytes = 4096;

Descriptor openToRead(const char *path) {
  return Descriptor(::open(path, O_RDONLY | O_CLOEXEC));
}

/// struct procmap_query of linux/fs.h, which older headers lack.
struct MapQuery {
  uint64_t size;
  uint64_t flags;
  uint64_t address;
  uint64_t begin;
  uint64_t end;
  uint64_t permissions;
  uint64_t pageBytes;
  uint64_t offset;
  uint64_t inode;
  uint32_t deviceMajor;
  uint32_t deviceMinor;
  uint32_t nameBytes;
  uint32_t buildIdBytes;
  uint64_t name;
  uint64_t buildId;
};
constexpr uint64_t SharedMapping = 8, FileMappingsOnly = 32;
constexpr unsigned long QueryRequest = _IOWR('f', 17, MapQuery);

struct Mapping {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  int64_t offset = 0; ///< of `begin` in the file
  ino_t inode = 0;
  bool shared = false;
  std::string path;
};

/// The file's mapping around the address. Kernels that cannot be asked have
/// none: to read the list takes as long as a copy.
std::optional<Mapping> mappingAt(uintptr_t address) {
  const Descriptor maps = openToRead("/proc/self/maps");
  char path[PATH_MAX];
  MapQuery query{};
  query.size = sizeof query;
  query.flags = FileMappingsOnly;
  query.address = address;
  query.name = reinterpret_cast<uint64_t>(path);
  query.nameBytes = sizeof path;
  if (!maps.valid() || ::ioctl(maps.get(), QueryRequest, &query) != 0 ||
      query.nameBytes == 0)
    return std::nullopt;
  return Mapping{query.begin,
                 query.end,
                 int64_t(query.offset),
                 query.inode,
                 (query.permissions & SharedMapping) != 0,
                 path};
}

/// The mapping around a range. Other rights on a part of it split a mapping in
/// the kernel's eyes.
std::optional<Mapping> mappingOver(uintptr_t begin, uintptr_t end) {
  std::optional<Mapping> whole = mappingAt(begin);
  while (whole && whole->end < end) {
    const std::optional<Mapping> next = mappingAt(whole->end);
    if (!next || next->begin != whole->end || next->inode != whole->inode ||
        next->path != whole->path || next->shared != whole->shared ||
        next->offset != whole->offset + int64_t(whole->end - whole->begin))
      return std::nullopt;
    whole->end = next->end;
  }
  return whole;
}

/// No page of a private mapping is the program's own, neither in memory nor in
/// swap.
bool isAllOfFile(uintptr_t begin, uintptr_t end) {
  constexpr uint64_t Present = uint64_t(1) << 63, Swapped = uint64_t(1) << 62,
                     OfFile = uint64_t(1) << 61;
  constexpr size_t AtOnce = 8192;
  const Descriptor pages = openToRead("/proc/self/pagemap");
  if (!pages.valid())
    return false;
  std::vector<uint64_t> entries(AtOnce);
  uintptr_t page = begin / PageBytes;
  const uintptr_t stop = (end + PageBytes - 1) / PageBytes;
  while (page < stop) {
    const size_t count = std::min<size_t>(AtOnce, stop - page);
    const ssize_t got = ::pread(pages.get(), entries.data(), count * 8,
                                off_t(page * sizeof(uint64_t)));
    if (got != ssize_t(count * sizeof(uint64_t)))
      return false;
    for (size_t i = 0; i < count; ++i)
      if ((entries[i] & Swapped) ||
          ((entries[i] & Present) && !(entries[i] & OfFile)))
        return false;
    page += count;
  }
  return true;
}

/// Nobody has it open to write it, or a writable mapping of it. A lease can be
/// taken only then. Who opens it while we have the lease waits until we give it
/// back, and we get a signal, which has to be one that is ignored.
bool hasNoWriters(int fd) {
  if (::fcntl(fd, F_SETSIG, SIGURG) != 0 ||
      ::fcntl(fd, F_SETLEASE, F_RDLCK) != 0)
    return false;
  return ::fcntl(fd, F_SETLEASE, F_UNLCK) == 0;
}

bool isInMemory(int fd) {
  constexpr long Hugetlbfs = 0x958458f6;
  struct statfs system;
  return ::fstatfs(fd, &system) != 0 || system.f_type == TMPFS_MAGIC ||
         system.f_type == RAMFS_MAGIC || system.f_type == Hugetlbfs;
}

} // namespace

std::optional<OpenFilePlace> MappedFiles::placeOf(uintptr_t begin,
                                                  size_t bytes) {
  const std::optional<Mapping> found = mappingOver(begin, begin + bytes);
  if (!found || (!found->shared && !isAllOfFile(begin, begin + bytes)))
    return std::nullopt;
  Descriptor file = openToRead(found->path.c_str());
  struct stat info;
  if (!file.valid() || ::fstat(file.get(), &info) != 0 ||
      info.st_ino != found->inode || !S_ISREG(info.st_mode) ||
      isInMemory(file.get()) || !hasNoWriters(file.get()))
    return std::nullopt;
  const int64_t offset = found->offset + int64_t(begin - found->begin);
  // Beyond the end are zeros that the file does not have.
  if (offset + int64_t(bytes) > info.st_size)
    return std::nullopt;
  Begin.store(found->begin, std::memory_order_relaxed);
  End.store(found->end, std::memory_order_relaxed);
  return OpenFilePlace{std::move(file), offset};
}

} // namespace dragon
