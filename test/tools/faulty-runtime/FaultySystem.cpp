//===- FaultySystem.cpp - system calls that fail --------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the runtime calls by these names, the linker (--wrap) brings here; what
// the program and the C library call themselves, it does not. Each call fails
// with the error that a system under pressure is most likely to give.
//
// What gives back (close, munmap, unlink) does not fail: no caller can act on
// that.
//
//===----------------------------------------------------------------------===//

#include "FaultPoints.h"

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <fcntl.h>
#include <liburing.h>
#include <memory>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <system_error>
#include <thread>

using dragon::test::fails;

// FAULTY(group, error, type, name, (parameters), (arguments)): returns -1, with
// errno, in place of the call. See CMakeLists.txt, which lists the names.
#define FAULTY_RETURNING(group, failure, error, type, name, parameters,        \
                         arguments)                                            \
  extern "C" type __real_##name parameters;                                    \
  extern "C" type __wrap_##name parameters {                                   \
    if (!fails(group, #name))                                                  \
      return __real_##name arguments;                                          \
    errno = error;                                                             \
    return failure;                                                            \
  }
#define FAULTY(group, error, type, name, parameters, arguments)                \
  FAULTY_RETURNING(group, -1, error, type, name, parameters, arguments)

FAULTY("files", EIO, ssize_t, pread, (int fd, void *to, size_t n, off_t at),
       (fd, to, n, at))
FAULTY("files", EIO, ssize_t, pwrite,
       (int fd, const void *from, size_t n, off_t at), (fd, from, n, at))
FAULTY("files", EIO, int, ftruncate, (int fd, off_t bytes), (fd, bytes))
FAULTY("files", ENOSPC, int, fallocate,
       (int fd, int mode, off_t begin, off_t bytes), (fd, mode, begin, bytes))
FAULTY("files", EIO, int, fdatasync, (int fd), (fd))
FAULTY("files", EIO, int, fstat, (int fd, struct stat *info), (fd, info))
FAULTY("files", EIO, int, fstatvfs, (int fd, struct statvfs *info), (fd, info))
FAULTY("files", EMFILE, int, mkostemp, (char *name, int flags), (name, flags))
FAULTY("files", EACCES, ssize_t, readlink,
       (const char *path, char *to, size_t n), (path, to, n))
FAULTY("files", ESPIPE, off_t, lseek, (int fd, off_t to, int from),
       (fd, to, from))
FAULTY_RETURNING("files", nullptr, EMFILE, FILE *, fopen,
                 (const char *path, const char *mode), (path, mode))
FAULTY_RETURNING("files", EOF, ENOSPC, int, fclose, (FILE * file), (file))
FAULTY_RETURNING("files", EOF, ENOSPC, int, fflush, (FILE * file), (file))

FAULTY("memory", EMFILE, int, memfd_create, (const char *name, unsigned flags),
       (name, flags))
FAULTY_RETURNING("memory", reinterpret_cast<void *>(-1), ENOMEM, void *, mmap,
                 (void *at, size_t n, int rights, int flags, int fd,
                  off_t offset),
                 (at, n, rights, flags, fd, offset))
FAULTY("memory", ENOMEM, int, mprotect, (void *at, size_t n, int rights),
       (at, n, rights))
FAULTY("memory", EAGAIN, int, madvise, (void *at, size_t n, int advice),
       (at, n, advice))
FAULTY_RETURNING("memory", nullptr, ENOMEM, void *, aligned_alloc,
                 (size_t alignment, size_t n), (alignment, n))

// liburing answers minus an errno.
FAULTY_RETURNING("files", -ENOMEM, errno, int, io_uring_queue_init,
                 (unsigned depth, io_uring *ring, unsigned flags),
                 (depth, ring, flags))
FAULTY_RETURNING("files", -ENOMEM, errno, int, io_uring_register_buffers_sparse,
                 (io_uring * ring, unsigned n), (ring, n))
FAULTY_RETURNING("files", -ENOMEM, errno, int,
                 io_uring_register_buffers_update_tag,
                 (io_uring * ring, unsigned slot, const iovec *range,
                  const __u64 *tags, unsigned n),
                 (ring, slot, range, tags, n))
FAULTY_RETURNING("files", -ENOMEM, errno, int, io_uring_submit_and_wait,
                 (io_uring * ring, unsigned n), (ring, n))

// Those with an argument more for new files.
#define FAULTY_OPEN(name, parameters, arguments)                               \
  extern "C" int __real_##name parameters;                                     \
  extern "C" int __wrap_##name parameters {                                    \
    mode_t mode = 0;                                                           \
    if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) {               \
      va_list rest;                                                            \
      va_start(rest, flags);                                                   \
      mode = va_arg(rest, mode_t);                                             \
      va_end(rest);                                                            \
    }                                                                          \
    if (!fails("files", #name))                                                \
      return __real_##name arguments;                                          \
    errno = EMFILE;                                                            \
    return -1;                                                                 \
  }
FAULTY_OPEN(open, (const char *path, int flags, ...), (path, flags, mode))

extern "C" int __real_fcntl(int fd, int command, ...);
extern "C" int __wrap_fcntl(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  auto *argument = va_arg(rest, void *); // an integer travels as well
  va_end(rest);
  if (!fails("files", "fcntl"))
    return __real_fcntl(fd, command, argument);
  errno = EMFILE;
  return -1;
}

// The member through which std::thread starts what it runs.
using State = std::unique_ptr<std::thread::_State>;
#define START_THREAD                                                           \
  "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_State"                    \
  "ESt14default_deleteIS1_EEPFvvE"
void realStartThread(std::thread *self, State state,
                     void (*depend)()) __asm__("__real_" START_THREAD);
void startThread(std::thread *self, State state,
                 void (*depend)()) __asm__("__wrap_" START_THREAD);
void startThread(std::thread *self, State state, void (*depend)()) {
  if (fails("threads", "thread"))
    throw std::system_error(EAGAIN, std::generic_category());
  realStartThread(self, std::move(state), depend);
}
