//===- InterposeFiles.cpp - who opens an input file for writing -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes that were read from a file stay the bytes that were read, whatever
// happens to the file. While some are still in the file alone, the process's
// own calls that could change it first have them saved; the C library's
// functions of these names are found behind ours, for the program is linked
// against this library first. Where nothing is deferred, a call costs one load.
//
// Sources: open(2), fopen(3), truncate(2); the C library's own calls of open
// cannot be replaced, hence one entry for each function that opens.
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/process/LibcCalls.h"
#include "runtime/cudart/staging/InputFiles.h"
#include "runtime/cudart/staging/Staging.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dragon;

namespace {

template <typename Function> Function *next(const char *name) {
  return reinterpret_cast<Function *>(libc::find(name));
}
#define DRAGON_NEXT(type, name)                                                \
  static auto *const real = next<type>(#name);                                 \
  if (!real) {                                                                 \
    errno = ENOSYS;                                                            \
    return failure;                                                            \
  }

/// False, with errno, if what was read from the file cannot be saved: then it
/// must not be changed.
bool saved(const struct stat &info) {
  if (!S_ISREG(info.st_mode) || !InputFiles::mayHold(info.st_dev, info.st_ino))
    return true;
  Status status = staging().buffers.detachFile(info.st_dev, info.st_ino);
  if (status.ok())
    return true;
  bool full = status.code() == DRAGON_ERROR_NO_SPACE;
  report(status);
  errno = full ? ENOSPC : EIO;
  return false;
}

bool mayChange(int directory, const char *path) {
  if (!InputFiles::mayHoldAny() || !path)
    return true;
  int before = errno;
  struct stat info;
  bool exists = ::fstatat(directory, path, &info, 0) == 0;
  errno = before;
  return !exists || saved(info);
}

bool writes(int flags) {
  return (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC);
}

bool writes(const char *mode) {
  return mode && (*mode != 'r' || std::strchr(mode, '+'));
}

mode_t modeOf(int flags, va_list arguments) {
  return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE
             ? va_arg(arguments, mode_t)
             : 0;
}

} // namespace

extern "C" {

#define DRAGON_OPEN(name)                                                      \
  int name(const char *path, int flags, ...) {                                 \
    constexpr int failure = -1;                                                \
    DRAGON_NEXT(int(const char *, int, ...), name)                             \
    va_list arguments;                                                         \
    va_start(arguments, flags);                                                \
    mode_t mode = modeOf(flags, arguments);                                    \
    va_end(arguments);                                                         \
    if (writes(flags) && !mayChange(AT_FDCWD, path))                           \
      return failure;                                                          \
    return real(path, flags, mode);                                            \
  }
DRAGON_OPEN(open)
DRAGON_OPEN(open64)

#define DRAGON_OPENAT(name)                                                    \
  int name(int directory, const char *path, int flags, ...) {                  \
    constexpr int failure = -1;                                                \
    DRAGON_NEXT(int(int, const char *, int, ...), name)                        \
    va_list arguments;                                                         \
    va_start(arguments, flags);                                                \
    mode_t mode = modeOf(flags, arguments);                                    \
    va_end(arguments);                                                         \
    if (writes(flags) && !mayChange(directory, path))                          \
      return failure;                                                          \
    return real(directory, path, flags, mode);                                 \
  }
DRAGON_OPENAT(openat)
DRAGON_OPENAT(openat64)

// What _FORTIFY_SOURCE makes of them.
#define DRAGON_OPEN_2(name)                                                    \
  int name(const char *path, int flags) {                                      \
    constexpr int failure = -1;                                                \
    DRAGON_NEXT(int(const char *, int), name)                                  \
    if (writes(flags) && !mayChange(AT_FDCWD, path))                           \
      return failure;                                                          \
    return real(path, flags);                                                  \
  }
DRAGON_OPEN_2(__open_2)
DRAGON_OPEN_2(__open64_2)

#define DRAGON_OPENAT_2(name)                                                  \
  int name(int directory, const char *path, int flags) {                       \
    constexpr int failure = -1;                                                \
    DRAGON_NEXT(int(int, const char *, int), name)                             \
    if (writes(flags) && !mayChange(directory, path))                          \
      return failure;                                                          \
    return real(directory, path, flags);                                       \
  }
DRAGON_OPENAT_2(__openat_2)
DRAGON_OPENAT_2(__openat64_2)

#define DRAGON_CREAT(name)                                                     \
  int name(const char *path, mode_t mode) {                                    \
    constexpr int failure = -1;                                                \
    DRAGON_NEXT(int(const char *, mode_t), name)                               \
    return mayChange(AT_FDCWD, path) ? real(path, mode) : failure;             \
  }
DRAGON_CREAT(creat)
DRAGON_CREAT(creat64)

#define DRAGON_FOPEN(name)                                                     \
  FILE *name(const char *path, const char *mode) {                             \
    constexpr FILE *failure = nullptr;                                         \
    DRAGON_NEXT(FILE * (const char *, const char *), name)                     \
    if (writes(mode) && !mayChange(AT_FDCWD, path))                            \
      return failure;                                                          \
    return real(path, mode);                                                   \
  }
DRAGON_FOPEN(fopen)
DRAGON_FOPEN(fopen64)

// Without a path it opens the stream's own file again.
#define DRAGON_FREOPEN(name)                                                   \
  FILE *name(const char *path, const char *mode, FILE *stream) {               \
    constexpr FILE *failure = nullptr;                                         \
    DRAGON_NEXT(FILE * (const char *, const char *, FILE *), name)             \
    struct stat info;                                                          \
    if (writes(mode) && InputFiles::mayHoldAny() &&                            \
        !(path ? mayChange(AT_FDCWD, path)                                     \
               : ::fstat(::fileno(stream), &info) != 0 || saved(info)))        \
      return failure;                                                          \
    return real(path, mode, stream);                                           \
  }
DRAGON_FREOPEN(freopen)
DRAGON_FREOPEN(freopen64)

#define DRAGON_TRUNCATE(name, offset)                                          \
  int name(const char *path, offset bytes) noexcept {                          \
    constexpr int failure = -1;                                                \
    DRAGON_NEXT(int(const char *, offset), name)                               \
    return mayChange(AT_FDCWD, path) ? real(path, bytes) : failure;            \
  }
DRAGON_TRUNCATE(truncate, off_t)
DRAGON_TRUNCATE(truncate64, off64_t)

} // extern "C"
