//===- InterposeIo.cpp - managed memory in calls on descriptors -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See HostBuffers.h. Where no memory is managed a call costs one load more.
//
// Sources: read(2), readv(2), vmsplice(2), process_vm_readv(2), getrandom(2).
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/process/HostBuffers.h"
#include "runtime/cudart/process/LibcCalls.h"

#include <cstring>

using namespace dragon;

namespace {

iovec vectorOf(const void *memory, size_t bytes) {
  return {const_cast<void *>(memory), bytes};
}

} // namespace

extern "C" {

// -- One buffer --------------------------------------------------------------

ssize_t read(int fd, void *memory, size_t bytes) {
  if (!HostRanges::overlaps(memory, bytes))
    return DRAGON_REAL(read)(fd, memory, bytes);
  const iovec all = vectorOf(memory, bytes);
  return transfer(HostTransfer::Reads, &all, 1, fillsWhole(fd),
                  [fd](const iovec *part, int count, size_t) {
                    return count == 1 ? DRAGON_REAL(read)(fd, part->iov_base,
                                                          part->iov_len)
                                      : DRAGON_REAL(readv)(fd, part, count);
                  });
}

ssize_t write(int fd, const void *memory, size_t bytes) {
  if (!HostRanges::overlaps(memory, bytes))
    return DRAGON_REAL(write)(fd, memory, bytes);
  const iovec all = vectorOf(memory, bytes);
  return transfer(HostTransfer::Writes, &all, 1, true,
                  [fd](const iovec *part, int count, size_t) {
                    return count == 1 ? DRAGON_REAL(write)(fd, part->iov_base,
                                                           part->iov_len)
                                      : DRAGON_REAL(writev)(fd, part, count);
                  });
}

#define DRAGON_AT(name, direction, pointer, list, vectors)                     \
  ssize_t name(int fd, pointer memory, size_t bytes, off64_t offset) {         \
    if (!HostRanges::overlaps(memory, bytes))                                  \
      return DRAGON_REAL(name)(fd, memory, bytes, offset);                     \
    const iovec all = vectorOf(memory, bytes);                                 \
    return transfer(HostTransfer::direction, &all, 1, true,                    \
                    [=](const iovec *part, int count, size_t done) {           \
                      return DRAGON_REAL(vectors)(fd, part, count,             \
                                                  offset + off64_t(done));     \
                    });                                                        \
  }
DRAGON_AT(pread, Reads, void *, all, preadv)
DRAGON_AT(pread64, Reads, void *, all, preadv64)
DRAGON_AT(pwrite, Writes, const void *, all, pwritev)
DRAGON_AT(pwrite64, Writes, const void *, all, pwritev64)

// Too much for the memory: the C library ends the program.
ssize_t __read_chk(int fd, void *memory, size_t bytes, size_t room) {
  return bytes > room ? DRAGON_REAL(__read_chk)(fd, memory, bytes, room)
                      : ::read(fd, memory, bytes);
}

ssize_t __pread_chk(int fd, void *memory, size_t bytes, off_t offset,
                    size_t room) {
  return bytes > room
             ? DRAGON_REAL(__pread_chk)(fd, memory, bytes, offset, room)
             : ::pread(fd, memory, bytes, offset);
}

ssize_t __pread64_chk(int fd, void *memory, size_t bytes, off64_t offset,
                      size_t room) {
  return bytes > room
             ? DRAGON_REAL(__pread64_chk)(fd, memory, bytes, offset, room)
             : ::pread64(fd, memory, bytes, offset);
}

// -- Several buffers ---------------------------------------------------------

#define DRAGON_VECTORS(name, direction, whole)                                 \
  ssize_t name(int fd, const iovec *list, int count) {                         \
    if (count <= 0 || !hasHostRange(list, size_t(count)))                      \
      return DRAGON_REAL(name)(fd, list, count);                               \
    return transfer(HostTransfer::direction, list, size_t(count), whole,       \
                    [fd](const iovec *part, int parts, size_t) {               \
                      return DRAGON_REAL(name)(fd, part, parts);               \
                    });                                                        \
  }
DRAGON_VECTORS(readv, Reads, fillsWhole(fd))
DRAGON_VECTORS(writev, Writes, true)

#define DRAGON_VECTORS_AT(name, direction)                                     \
  ssize_t name(int fd, const iovec *list, int count, off64_t offset) {         \
    if (count <= 0 || !hasHostRange(list, size_t(count)))                      \
      return DRAGON_REAL(name)(fd, list, count, offset);                       \
    return transfer(HostTransfer::direction, list, size_t(count), true,        \
                    [=](const iovec *part, int parts, size_t done) {           \
                      return DRAGON_REAL(name)(fd, part, parts,                \
                                               offset + off64_t(done));        \
                    });                                                        \
  }
DRAGON_VECTORS_AT(preadv, Reads)
DRAGON_VECTORS_AT(preadv64, Reads)
DRAGON_VECTORS_AT(pwritev, Writes)
DRAGON_VECTORS_AT(pwritev64, Writes)

// The offset -1 is the file's position.
#define DRAGON_VECTORS_FLAGS(name, direction)                                  \
  ssize_t name(int fd, const iovec *list, int count, off64_t offset,           \
               int flags) {                                                    \
    if (count <= 0 || !hasHostRange(list, size_t(count)))                      \
      return DRAGON_REAL(name)(fd, list, count, offset, flags);                \
    const bool whole = HostTransfer::direction == HostTransfer::Writes ||      \
                       offset != -1 || fillsWhole(fd);                         \
    return transfer(HostTransfer::direction, list, size_t(count), whole,       \
                    [=](const iovec *part, int parts, size_t done) {           \
                      return DRAGON_REAL(name)(                                \
                          fd, part, parts,                                     \
                          offset == -1 ? -1 : offset + off64_t(done), flags);  \
                    });                                                        \
  }
DRAGON_VECTORS_FLAGS(preadv2, Reads)
DRAGON_VECTORS_FLAGS(preadv64v2, Reads)
DRAGON_VECTORS_FLAGS(pwritev2, Writes)
DRAGON_VECTORS_FLAGS(pwritev64v2, Writes)

// A pipe would keep the pages of a copy, which is used for other calls then:
// its bytes are copied into the pipe, or out of it.
ssize_t vmsplice(int fd, const iovec *list, size_t count, unsigned flags) {
  if (!hasHostRange(list, count))
    return DRAGON_REAL(vmsplice)(fd, list, count, flags);
  const int access = ::fcntl(fd, F_GETFL);
  if (access < 0)
    return -1;
  const int noWait = flags & SPLICE_F_NONBLOCK ? RWF_NOWAIT : 0;
  return (access & O_ACCMODE) == O_RDONLY
             ? ::preadv2(fd, list, int(count), -1, noWait)
             : ::pwritev2(fd, list, int(count), -1, noWait);
}

// One part of what was asked for is an answer.
#define DRAGON_PROCESS(name, direction)                                        \
  ssize_t name(pid_t process, const iovec *list, size_t count,                 \
               const iovec *remote, size_t remotes, size_t flags) noexcept {   \
    if (!hasHostRange(list, count))                                            \
      return DRAGON_REAL(name)(process, list, count, remote, remotes, flags);  \
    return transfer(HostTransfer::direction, list, count, false,               \
                    [=](const iovec *part, int parts, size_t) {                \
                      return DRAGON_REAL(name)(process, part, size_t(parts),   \
                                               remote, remotes, flags);        \
                    });                                                        \
  }
DRAGON_PROCESS(process_vm_readv, Reads)
DRAGON_PROCESS(process_vm_writev, Writes)

ssize_t getrandom(void *memory, size_t bytes, unsigned flags) {
  if (!HostRanges::overlaps(memory, bytes))
    return DRAGON_REAL(getrandom)(memory, bytes, flags);
  const iovec all = vectorOf(memory, bytes);
  return transfer(HostTransfer::Reads, &all, 1, true,
                  [flags](const iovec *part, int count, size_t) {
                    ssize_t done = 0, got = 0;
                    for (int i = 0; i < count; ++i) {
                      got = DRAGON_REAL(getrandom)(part[i].iov_base,
                                                   part[i].iov_len, flags);
                      done += std::max<ssize_t>(got, 0);
                      if (got < ssize_t(part[i].iov_len))
                        break;
                    }
                    return done ? done : got;
                  });
}

int getentropy(void *memory, size_t bytes) {
  char plain[256];
  if (!HostRanges::overlaps(memory, bytes) || bytes > sizeof plain)
    return DRAGON_REAL(getentropy)(memory, bytes);
  const int status = DRAGON_REAL(getentropy)(plain, bytes);
  if (status == 0)
    std::memcpy(memory, plain, bytes);
  return status;
}

} // extern "C"
