//===- InterposeStdio.cpp - managed memory in calls on streams ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stream copies small parts by itself, which works, and hands large ones to
// the kernel, which does not (HostBuffers.h). What only ever copies (fgets,
// getline, fscanf) needs no front.
//
// The C library's calls run on copies, so no managed memory is touched while a
// stream is locked: a kernel's printf on another thread, which has this
// runtime's lock, may be waiting for the stream.
//
// Sources: fread(3), fputs(3), unlocked_stdio(3).
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/process/HostBuffers.h"
#include "runtime/cudart/process/LibcCalls.h"

#include <cstdlib>
#include <cstring>

using namespace dragon;

namespace {

/// fread or fwrite of `count` times `size` bytes, which do not overflow.
template <typename Call>
size_t transferItems(HostTransfer::Direction direction, const void *memory,
                     size_t size, size_t count, Call call) {
  const iovec all = {const_cast<void *>(memory), size * count};
  HostTransfer part(direction);
  size_t done = 0;
  bool ended = false;
  while (!ended && part.next(&all, 1, done)) {
    size_t moved = 0;
    for (size_t i = 0; i < part.count() && !ended; ++i) {
      const iovec &vector = part.vectors()[i];
      const size_t got = call(vector.iov_base, vector.iov_len);
      moved += got;
      ended = got < vector.iov_len;
    }
    if (direction == HostTransfer::Reads)
      part.finish(moved);
    done += moved;
    if (part.last())
      break;
  }
  return done / size;
}

bool isHostRange(const void *memory, size_t size, size_t count) {
  size_t bytes;
  return HostRanges::any() && !__builtin_mul_overflow(size, count, &bytes) &&
         HostRanges::overlaps(memory, bytes);
}

/// call(text) on a copy of the text.
template <typename Call> int withCopy(const char *text, Call call) {
  char *plain = ::strdup(text);
  if (!plain)
    return EOF;
  const int result = call(plain);
  const int before = errno;
  ::free(plain);
  errno = before;
  return result;
}

} // namespace

extern "C" {

#define DRAGON_ITEMS(name, direction, pointer)                                 \
  size_t name(pointer memory, size_t size, size_t count, FILE *file) {         \
    if (!isHostRange(memory, size, count))                                     \
      return DRAGON_REAL(name)(memory, size, count, file);                     \
    return transferItems(HostTransfer::direction, memory, size, count,         \
                         [file](void *part, size_t bytes) {                    \
                           return DRAGON_REAL(name)(part, 1, bytes, file);     \
                         });                                                   \
  }
DRAGON_ITEMS(fread, Reads, void *)
DRAGON_ITEMS(fread_unlocked, Reads, void *)
DRAGON_ITEMS(fwrite, Writes, const void *)
DRAGON_ITEMS(fwrite_unlocked, Writes, const void *)

// More than the memory has: the C library ends the program.
#define DRAGON_ITEMS_CHECKED(name, plain)                                      \
  size_t name(void *memory, size_t room, size_t size, size_t count,            \
              FILE *file) {                                                    \
    size_t bytes;                                                              \
    if (__builtin_mul_overflow(size, count, &bytes) || bytes > room)           \
      return DRAGON_REAL(name)(memory, room, size, count, file);               \
    return ::plain(memory, size, count, file);                                 \
  }
DRAGON_ITEMS_CHECKED(__fread_chk, fread)
DRAGON_ITEMS_CHECKED(__fread_unlocked_chk, fread_unlocked)

#define DRAGON_TEXT(name)                                                      \
  int name(const char *text, FILE *file) {                                     \
    if (!HostRanges::overlaps(text, 1))                                        \
      return DRAGON_REAL(name)(text, file);                                    \
    return withCopy(text, [file](const char *plain) {                          \
      return DRAGON_REAL(name)(plain, file);                                   \
    });                                                                        \
  }
DRAGON_TEXT(fputs)
DRAGON_TEXT(fputs_unlocked)

int puts(const char *text) {
  if (!HostRanges::overlaps(text, 1))
    return DRAGON_REAL(puts)(text);
  return withCopy(text,
                  [](const char *plain) { return DRAGON_REAL(puts)(plain); });
}

} // extern "C"
