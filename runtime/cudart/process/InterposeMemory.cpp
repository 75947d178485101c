//===- InterposeMemory.cpp - who releases memory of the program -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies to the device may be made long after the program asked for them, from
// memory that is protected so long (tier/ProtectedMemory.h). What releases or
// replaces memory is no store, so each such function of the C library has a
// front here. What is freed and needed still is kept, and freed when it is not;
// what goes away otherwise is saved first. Where nothing is protected a call
// costs one load.
//
// A program that another linker has linked has none of these functions in front
// of the C library's (StandIns.s.in), so it gets no protection.
//
// The C library's own calls of these functions do not come here. They are of
// its own mappings, and of what free() and its like were given.
//
// Sources: malloc(3), malloc_usable_size(3), mmap(2), mremap(2), madvise(2),
// mprotect(2).
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/front/Front.h"
#include "runtime/cudart/front/ProcessState.h"
#include "runtime/cudart/process/LibcCalls.h"
#include "runtime/cudart/staging/Staging.h"
#include "runtime/tier/ProtectedMemory.h"

#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <dlfcn.h>
#include <malloc.h>
#include <sys/mman.h>

using namespace dragon;

namespace {

void freeReally(void *memory) { DRAGON_REAL(free)(memory); }

/// True: it is freed later.
bool isKept(void *memory) {
  const size_t bytes = ::malloc_usable_size(memory);
  Front *front = Front::existing();
  if (!HostRanges::overlaps(memory, bytes) || !front || inForkedChild())
    return false;
  const int before = errno;
  const bool kept =
      front->runtime.files().keepProgramMemory(memory, bytes, freeReally);
  errno = before;
  return kept;
}

/// Something else may be there from now on. False, with errno.
bool isSaved(const void *memory, size_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  uintptr_t end;
  if (__builtin_add_overflow(begin, bytes, &end))
    end = UINTPTR_MAX;
  if (!HostRanges::overlaps(memory, end - begin) || inForkedChild() ||
      ProtectedMemory::get().save(begin, end))
    return true;
  errno = ENOMEM;
  return false;
}

/// The same for what malloc gave, as it may move.
bool mayMove(void *memory) {
  return !HostRanges::any() || !memory ||
         isSaved(memory, ::malloc_usable_size(memory));
}

} // namespace

bool dragon::releasesAreHeard() {
  static const bool heard = [] {
    Dl_info ours{}, others{};
    return ::dladdr(reinterpret_cast<void *>(&isKept), &ours) &&
           ::dladdr(::dlsym(RTLD_DEFAULT, "free"), &others) &&
           ours.dli_fbase == others.dli_fbase;
  }();
  return heard;
}

extern "C" {

void free(void *memory) noexcept {
  if (!HostRanges::any() || !memory || !isKept(memory))
    freeReally(memory);
}

void *realloc(void *memory, size_t bytes) noexcept {
  return mayMove(memory) ? DRAGON_REAL(realloc)(memory, bytes) : nullptr;
}

void *reallocarray(void *memory, size_t count, size_t bytes) noexcept {
  return mayMove(memory) ? DRAGON_REAL(reallocarray)(memory, count, bytes)
                         : nullptr;
}

int munmap(void *memory, size_t bytes) noexcept {
  return isSaved(memory, bytes) ? DRAGON_REAL(munmap)(memory, bytes) : -1;
}

void *mremap(void *memory, size_t bytes, size_t wanted, int flags,
             ...) noexcept {
  va_list rest;
  va_start(rest, flags);
  void *place = flags & MREMAP_FIXED ? va_arg(rest, void *) : nullptr;
  va_end(rest);
  if (!isSaved(memory, bytes) || (place && !isSaved(place, wanted)))
    return MAP_FAILED;
  return DRAGON_REAL(mremap)(memory, bytes, wanted, flags, place);
}

int madvise(void *memory, size_t bytes, int advice) noexcept {
  return isSaved(memory, bytes) ? DRAGON_REAL(madvise)(memory, bytes, advice)
                                : -1;
}

int mprotect(void *memory, size_t bytes, int access) noexcept {
  return isSaved(memory, bytes) ? DRAGON_REAL(mprotect)(memory, bytes, access)
                                : -1;
}

int pkey_mprotect(void *memory, size_t bytes, int access, int key) noexcept {
  return isSaved(memory, bytes)
             ? DRAGON_REAL(pkey_mprotect)(memory, bytes, access, key)
             : -1;
}

#define DRAGON_MMAP(name, offset_type)                                         \
  void *name(void *memory, size_t bytes, int access, int flags, int fd,        \
             offset_type offset) noexcept {                                    \
    if ((flags & MAP_FIXED) && !isSaved(memory, bytes))                        \
      return MAP_FAILED;                                                       \
    return DRAGON_REAL(name)(memory, bytes, access, flags, fd, offset);        \
  }
DRAGON_MMAP(mmap, off_t)
DRAGON_MMAP(mmap64, off64_t)

} // extern "C"
