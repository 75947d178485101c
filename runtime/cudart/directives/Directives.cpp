//===- Directives.cpp - maps, discards and sinks from the compiler --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The entry points of dragon/CompilerABI.h, "Directives". But for the map they
// are hints: they change no result, keep errno, and report nothing.
//
//===----------------------------------------------------------------------===//

#include "dragon/CompilerABI.h"
#include "runtime/cudart/front/CompilerHints.h"
#include "runtime/cudart/front/ProcessState.h"
#include "runtime/cudart/memory/Memory.h"
#include "runtime/cudart/modules/Module.h"
#include "runtime/cudart/staging/FilesToCome.h"
#include "runtime/cudart/staging/Staging.h"
#include "runtime/cudart/staging/StdioState.h"
#include "runtime/trace/Log.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <unistd.h>
#include <vector>

using namespace dragon;

namespace {

/// Calls `hint(front, address, bytes)` with the part of the range that is in
/// the buffer at its beginning, if there is one.
template <typename Hint>
void onBuffer(const char *name, const void *pointer, size_t bytes,
              Hint &&hint) {
  Front *front = Front::existing();
  if (!front || !pointer || inForkedChild() || refusedAtExit() ||
      stickyError() != cudaSuccess)
    return;
  int before = errno;
  auto address = reinterpret_cast<uintptr_t>(pointer);
  if (auto buffer = front->runtime.buffers().find(address)) {
    bytes = std::min<size_t>(bytes, buffer->base + buffer->bytes - address);
    Status status = hint(*front, address, bytes);
    if (!status.ok())
      log(LogLevel::Info, "{} of '{}': {}", name, buffer->name,
          status.message());
  }
  errno = before;
}

void discard(const void *pointer, size_t bytes, void *stream, bool eager) {
  const dragon_reason *why = takeReason();
  if (Front *front = Front::existing();
      front && !inForkedChild() && !refusedAtExit() &&
      stickyError() == cudaSuccess && !staging().buffers.anyOfDevice())
    if (const auto done = front->runtime.buffers().discardAtOnce(
            reinterpret_cast<uintptr_t>(pointer), bytes))
      return;
  onBuffer("discard", pointer, bytes,
           [&](Front &front, uintptr_t address, size_t part) {
             // Staging buffers that stand for the contents are dead, too: a
             // write of theirs that is yet to come would need the contents.
             staging().buffers.contentsEnd(address, address + part, why);
             return front.runtime.buffers().discard(
                 address, part, front.queue(static_cast<cudaStream_t>(stream)),
                 eager, why);
           });
}

void willWrite(const void *pointer, size_t bytes, int fd, int64_t offset) {
  const dragon_reason *why = takeReason();
  onBuffer("sink", pointer, bytes,
           [&](Front &front, uintptr_t address, size_t part) -> Status {
             if (offset < 0 || !worthStaging(part))
               return {};
             std::shared_ptr<BackingFile> file =
                 staging().buffers.outputFile(fd);
             return file ? front.runtime.files().setSink(address, part, file,
                                                         offset, why)
                         : Status();
           });
}

void willCreate(const void *pointer, size_t bytes, const char *path) {
  const dragon_reason *why = takeReason();
  onBuffer("sink", pointer, bytes,
           [&](Front &front, uintptr_t address, size_t part) -> Status {
             if (!worthStaging(part))
               return {};
             std::shared_ptr<BackingFile> file = filesToCome::announce(path);
             return file ? front.runtime.files().setSink(address, part, file, 0,
                                                         why)
                         : Status();
           });
}

/// The launch that a test is about; nothing if its kernel is not known.
std::optional<LaunchCall> launchOf(const void *function, uint64_t gridXY,
                                   uint32_t gridZ, uint64_t blockXY,
                                   uint32_t blockZ, void **args) {
  Kernel *kernel = modules().find(function);
  if (!kernel || !kernel->info.record)
    return std::nullopt;
  LaunchCall call{};
  call.kernel = &kernel->info;
  call.grid[0] = uint32_t(gridXY);
  call.grid[1] = uint32_t(gridXY >> 32);
  call.grid[2] = gridZ;
  call.block[0] = uint32_t(blockXY);
  call.block[1] = uint32_t(blockXY >> 32);
  call.block[2] = blockZ;
  call.args = args;
  call.numArgs = kernel->info.record->NumArgs;
  return call;
}

void lastUse(int condition, const void *pointer, size_t bytes, bool eager) {
  const dragon_reason *why = takeReason();
  if (condition && bytes && Front::existing())
    nextLaunchHints().lastUses.push_back(
        {reinterpret_cast<uintptr_t>(pointer), bytes, eager, why});
}

} // namespace

extern "C" {

void __dragon_because(const dragon_reason *why) { setReason(why); }

int __dragon_malloc(void **pointer, size_t bytes, uint32_t flags,
                    const dragon_source *where) {
  return withDevice([&](Front &front) {
    AllocateOptions options;
    options.flags = flags & ~uint32_t(DRAGON_HOST_ACCESS);
    options.hostAccessible = flags & DRAGON_HOST_ACCESS;
    options.where = where;
    options.why = takeReasonIfAny();
    return allocateForProgram(front, pointer, bytes, options);
  });
}

void __dragon_discard(const void *pointer, size_t bytes, void *stream) {
  discard(pointer, bytes, stream, /*eager=*/false);
}

void __dragon_discard_eagerly(const void *pointer, size_t bytes, void *stream) {
  discard(pointer, bytes, stream, /*eager=*/true);
}

void __dragon_discard_if(int condition, const void *pointer, size_t bytes,
                         void *stream) {
  if (condition)
    __dragon_discard(pointer, bytes, stream);
  setReason(nullptr);
}

void __dragon_last_use(int condition, const void *pointer, size_t bytes) {
  lastUse(condition, pointer, bytes, /*eager=*/false);
}

void __dragon_last_use_eagerly(int condition, const void *pointer,
                               size_t bytes) {
  lastUse(condition, pointer, bytes, /*eager=*/true);
}

void __dragon_launch_follows(void) { nextLaunchHints().followed = true; }

void __dragon_next_use(const void *pointer, uint32_t launches) {
  onBuffer("next use", pointer, SIZE_MAX,
           [&](Front &front, uintptr_t address, size_t) {
             return front.runtime.buffers().nextUse(address, launches);
           });
}

uint64_t __dragon_overwritten(const void *function, uint64_t gridXY,
                              uint32_t gridZ, uint64_t blockXY, uint32_t blockZ,
                              void **args, const void *pointer) {
  size_t overwritten = 0;
  onBuffer("test", pointer, 1,
           [&](Front &front, uintptr_t address, size_t) -> Status {
             auto call =
                 launchOf(function, gridXY, gridZ, blockXY, blockZ, args);
             if (call)
               overwritten =
                   front.runtime.launches().overwritten(*call, address);
             return {};
           });
  return overwritten;
}

int __dragon_reads_upwards(const void *function, uint64_t gridXY,
                           uint32_t gridZ, uint64_t blockXY, uint32_t blockZ,
                           void **args, uint32_t argument, uint32_t field) {
  Front *front = Front::existing();
  if (!front || inForkedChild() || refusedAtExit() ||
      stickyError() != cudaSuccess)
    return 0;
  auto call = launchOf(function, gridXY, gridZ, blockXY, blockZ, args);
  return call && front->runtime.launches().readsUpwards(*call, argument, field);
}

void __dragon_will_fwrite(const void *pointer, size_t bytes, FILE *file) {
  if (!file) {
    setReason(nullptr);
    return;
  }
  StreamLock lock(file);
  int before = errno;
  // So that the position is the file's end, if the stream is there.
  if (writesAtItsPosition(file) && ::fflush(file) == 0)
    willWrite(pointer, bytes, ::fileno(file), ::ftello(file));
  errno = before;
}

void __dragon_will_create(const void *pointer, size_t bytes, const char *path) {
  willCreate(pointer, bytes, path);
}

void __dragon_sink_ends(const void *pointer, size_t bytes, int dead) {
  if (Front *front = Front::existing();
      front && front->runtime.files().hasSinks())
    onBuffer("end of a sink", pointer, bytes,
             [&](Front &front, uintptr_t address, size_t part) {
               if (dead)
                 staging().buffers.contentsEnd(address, address + part,
                                               nullptr);
               return front.runtime.files().endSink(address, part, dead);
             });
}

FILE *__dragon_fopen(const char *path, const char *mode) {
  FILE *made = inForkedChild() ? nullptr : filesToCome::make(path, mode);
  return made ? made : ::fopen(path, mode);
}

void __dragon_will_write(const void *pointer, size_t bytes, int fd) {
  int before = errno;
  willWrite(pointer, bytes, fd, ::lseek(fd, 0, SEEK_CUR));
  errno = before;
}

void __dragon_will_pwrite(const void *pointer, size_t bytes, int fd,
                          int64_t offset) {
  willWrite(pointer, bytes, fd, offset);
}

} // extern "C"
