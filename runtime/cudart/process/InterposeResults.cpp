//===- InterposeResults.cpp - managed memory for small results ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names and properties of files that the kernel writes to the caller's memory
// (HostBuffers.h).
//
// Sources: stat(2), statx(2), readlink(2), getcwd(3).
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/process/HostBuffers.h"
#include "runtime/cudart/process/LibcCalls.h"

using namespace dragon;

namespace {

/// call(place) fills one T and returns 0.
template <typename T, typename Call> int fillOne(T *result, Call call) {
  HostTransfer plain(HostTransfer::Reads);
  T *place = plain.borrow(result);
  if (!place)
    return -1;
  const int status = call(place);
  if (status == 0)
    HostTransfer::give(result, place, sizeof(T));
  return status;
}

/// call(place) fills as many bytes as it returns, `bytes` at most.
template <typename Call>
ssize_t fillSome(char *result, size_t bytes, Call call) {
  HostTransfer plain(HostTransfer::Reads);
  char *place = static_cast<char *>(plain.borrow(result, bytes));
  if (!place)
    return -1;
  const ssize_t got = call(place);
  if (got > 0)
    HostTransfer::give(result, place, size_t(got));
  return got;
}

} // namespace

extern "C" {

#define DRAGON_STAT(name, type)                                                \
  int name(const char *path, type *result) noexcept {                          \
    if (!HostRanges::overlaps(result, sizeof *result))                         \
      return DRAGON_REAL(name)(path, result);                                  \
    return fillOne(                                                            \
        result, [=](type *place) { return DRAGON_REAL(name)(path, place); });  \
  }
DRAGON_STAT(stat, struct stat)
DRAGON_STAT(stat64, struct stat64)
DRAGON_STAT(lstat, struct stat)
DRAGON_STAT(lstat64, struct stat64)

#define DRAGON_FSTAT(name, type)                                               \
  int name(int fd, type *result) noexcept {                                    \
    if (!HostRanges::overlaps(result, sizeof *result))                         \
      return DRAGON_REAL(name)(fd, result);                                    \
    return fillOne(result,                                                     \
                   [=](type *place) { return DRAGON_REAL(name)(fd, place); }); \
  }
DRAGON_FSTAT(fstat, struct stat)
DRAGON_FSTAT(fstat64, struct stat64)

#define DRAGON_FSTATAT(name, type)                                             \
  int name(int directory, const char *path, type *result,                      \
           int flags) noexcept {                                               \
    if (!HostRanges::overlaps(result, sizeof *result))                         \
      return DRAGON_REAL(name)(directory, path, result, flags);                \
    return fillOne(result, [=](type *place) {                                  \
      return DRAGON_REAL(name)(directory, path, place, flags);                 \
    });                                                                        \
  }
DRAGON_FSTATAT(fstatat, struct stat)
DRAGON_FSTATAT(fstatat64, struct stat64)

int statx(int directory, const char *path, int flags, unsigned mask,
          struct statx *result) noexcept {
  if (!HostRanges::overlaps(result, sizeof *result))
    return DRAGON_REAL(statx)(directory, path, flags, mask, result);
  return fillOne(result, [=](struct statx *place) {
    return DRAGON_REAL(statx)(directory, path, flags, mask, place);
  });
}

ssize_t readlink(const char *path, char *result, size_t bytes) noexcept {
  if (!HostRanges::overlaps(result, bytes))
    return DRAGON_REAL(readlink)(path, result, bytes);
  return fillSome(result, bytes, [=](char *place) {
    return DRAGON_REAL(readlink)(path, place, bytes);
  });
}

ssize_t __readlink_chk(const char *path, char *result, size_t bytes,
                       size_t room) noexcept {
  return bytes > room ? DRAGON_REAL(__readlink_chk)(path, result, bytes, room)
                      : ::readlink(path, result, bytes);
}

ssize_t readlinkat(int directory, const char *path, char *result,
                   size_t bytes) noexcept {
  if (!HostRanges::overlaps(result, bytes))
    return DRAGON_REAL(readlinkat)(directory, path, result, bytes);
  return fillSome(result, bytes, [=](char *place) {
    return DRAGON_REAL(readlinkat)(directory, path, place, bytes);
  });
}

ssize_t __readlinkat_chk(int directory, const char *path, char *result,
                         size_t bytes, size_t room) noexcept {
  return bytes > room ? DRAGON_REAL(__readlinkat_chk)(directory, path, result,
                                                      bytes, room)
                      : ::readlinkat(directory, path, result, bytes);
}

char *getcwd(char *result, size_t bytes) noexcept {
  if (!HostRanges::overlaps(result, bytes))
    return DRAGON_REAL(getcwd)(result, bytes);
  HostTransfer plain(HostTransfer::Reads);
  char *place = static_cast<char *>(plain.borrow(result, bytes));
  if (!place || !DRAGON_REAL(getcwd)(place, bytes))
    return nullptr;
  HostTransfer::give(result, place, bytes);
  return result;
}

char *__getcwd_chk(char *result, size_t bytes, size_t room) noexcept {
  return bytes > room ? DRAGON_REAL(__getcwd_chk)(result, bytes, room)
                      : ::getcwd(result, bytes);
}

} // extern "C"
