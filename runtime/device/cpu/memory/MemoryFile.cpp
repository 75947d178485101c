//===- MemoryFile.cpp - physical memory of the cpu device -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/memory/MemoryFile.h"

#include "runtime/base/LargestFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dragon {

/// The window has a multiple of that.
static constexpr uint64_t WindowUnit = 2 << 20;

StatusOr<std::unique_ptr<MemoryFile>> MemoryFile::create(const char *name,
                                                         uint64_t limit) {
  std::unique_ptr<MemoryFile> file(new MemoryFile);
  file->Name = name;
  file->Limit = limit;
  // Ranges of different sizes come and go: twice the room in addresses, so that
  // memory within the limit is never refused for lack of a long enough range.
  uint64_t window = std::max<uint64_t>(limit, 1ull << 30);
  file->WindowBytes = window <= (1ull << 45) ? window * 2 : window;
  // With less than the limit says, memory is used up earlier.
  const uint64_t most = largestFile() / WindowUnit * WindowUnit;
  if (most == 0)
    return Status::error(DRAGON_ERROR_OUT_OF_MEMORY,
                         "the simulated {} memory is a file, and files may "
                         "have {} bytes (ulimit -f); raise that limit",
                         name, largestFile());
  file->WindowBytes = std::min(file->WindowBytes, most);
  file->Fd = memfd_create(fmt::format("dragon-{}", name).c_str(), MFD_CLOEXEC);
  if (file->Fd < 0)
    return Status::native(DRAGON_ERROR_OUT_OF_MEMORY, errno,
                          "creating the simulated {} memory: {}", name,
                          std::strerror(errno));
  // Everybody may open it, else, who may look into /proc/<pid>/fd.
  if (fchmod(file->Fd, S_IRUSR | S_IWUSR) != 0 ||
      ftruncate(file->Fd, static_cast<off_t>(file->WindowBytes)) != 0)
    return Status::native(DRAGON_ERROR_OUT_OF_MEMORY, errno,
                          "sizing the simulated {} memory to {} bytes: {}",
                          name, file->WindowBytes, std::strerror(errno));
  // Buffers get addresses below the window, as the system hands them out: what
  // goes past their ends ends between them and it.
  file->reserveGuard();
  void *addresses =
      file->Guard ? mmap(file->Guard + GuardBytes, file->WindowBytes,
                         PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file->Fd, 0)
                  : mmap(nullptr, file->WindowBytes, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_NORESERVE, file->Fd, 0);
  if (addresses == MAP_FAILED)
    return Status::native(DRAGON_ERROR_OUT_OF_MEMORY, errno,
                          "mapping the simulated {} memory ({} bytes of "
                          "addresses): {}",
                          name, file->WindowBytes, std::strerror(errno));
  file->Window = static_cast<char *>(addresses);
  file->Extents += HalfOpen<uint64_t>(0, file->WindowBytes);
  return file;
}

void MemoryFile::reserveGuard() {
  void *all = mmap(nullptr, GuardBytes + WindowBytes + GuardBytes, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  Guard = all == MAP_FAILED ? nullptr : static_cast<char *>(all);
}

MemoryFile::~MemoryFile() {
  if (Guard)
    munmap(Guard, GuardBytes + WindowBytes + GuardBytes);
  else if (Window)
    munmap(Window, WindowBytes);
  if (Fd >= 0)
    close(Fd);
}

uint64_t MemoryFile::used() const {
  std::lock_guard<std::mutex> guard(Lock);
  return Used;
}

StatusOr<uint64_t> MemoryFile::takeExtent(size_t bytes) {
  for (const auto &extent : Extents) {
    const uint64_t offset = extent.lower();
    if (extent.upper() - offset < bytes)
      continue;
    Extents -= HalfOpen<uint64_t>(offset, offset + bytes);
    return offset;
  }
  return Status::error(DRAGON_ERROR_OUT_OF_MEMORY,
                       "no contiguous {} bytes in the simulated {} memory",
                       bytes, Name);
}

void MemoryFile::giveBack(uint64_t offset, uint64_t bytes) {
  fallocate(Fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
            static_cast<off_t>(offset), static_cast<off_t>(bytes));
  Extents += HalfOpen<uint64_t>(offset, offset + bytes);
}

StatusOr<uint64_t> MemoryFile::allocate(size_t bytes) {
  std::lock_guard<std::mutex> guard(Lock);
  if (bytes > Limit || Used > Limit - bytes)
    return Status::error(
        DRAGON_ERROR_OUT_OF_MEMORY,
        "no {} bytes left of {} bytes of {} memory ({} in use)", bytes, Limit,
        Name, Used);
  DRAGON_ASSIGN(uint64_t offset, takeExtent(bytes));
  // Now, not by a fault in the middle of a kernel.
  int error;
  do {
    error = fallocate(Fd, 0, static_cast<off_t>(offset),
                      static_cast<off_t>(bytes)) == 0
                ? 0
                : errno;
  } while (error == EINTR);
  if (error) {
    giveBack(offset, bytes);
    return Status::native(DRAGON_ERROR_OUT_OF_MEMORY, error,
                          "the system has no {} bytes for {} memory: {}", bytes,
                          Name, std::strerror(error));
  }
  Used += bytes;
  return offset;
}

void MemoryFile::free(uint64_t offset, size_t bytes) {
  std::lock_guard<std::mutex> guard(Lock);
  Used -= bytes;
  giveBack(offset, bytes);
}

} // namespace dragon
