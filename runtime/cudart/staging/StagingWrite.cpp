//===- StagingWrite.cpp - writes out of staging buffers -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is in device memory goes to the file from wherever its chunks are, the
// rest from the staging buffer, in order. Where that fails (a full disk) the
// remainder is materialised and given to the C library, which fails in its own
// way: with its return value, its errno and the stream's error mark.
//
//===----------------------------------------------------------------------===//

#include "dragon/CompilerABI.h"
#include "runtime/cudart/front/CompilerHints.h"
#include "runtime/cudart/front/Front.h"
#include "runtime/cudart/front/ProcessState.h"
#include "runtime/cudart/staging/Staging.h"
#include "runtime/cudart/staging/StdioState.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace dragon {

static bool writeMemory(int fd, const void *memory, size_t bytes,
                        int64_t offset, size_t &done) {
  while (done < bytes) {
    ssize_t wrote = ::pwrite(fd, static_cast<const char *>(memory) + done,
                             bytes - done, off_t(offset) + off_t(done));
    if (wrote < 0 && errno == EINTR)
      continue;
    if (wrote <= 0)
      return false;
    done += size_t(wrote);
  }
  return true;
}

/// The segment, which stems from memory or the device. The lock is free
/// meanwhile.
bool StagingWrites::writeOne(DeferredContents::Guard &guard,
                             const Segment &next,
                             const std::shared_ptr<BackingFile> &file,
                             int64_t place, size_t &done) {
  if (next.origin.kind == Origin::Memory) {
    guard.unlock();
    return writeMemory(file->fd(), reinterpret_cast<void *>(next.begin),
                       next.bytes(), place, done);
  }
  if (inForkedChild())
    return false; // bring() says why
  const uintptr_t device = next.origin.address;
  bool good = false;
  Contents.readDevice(guard, device, device + next.bytes(), [&] {
    Status status = Contents.Attached->files().writeToFile(device, next.bytes(),
                                                           file, place, done);
    Contents.Attached->ledger().avoided(Avoided::Staging, done);
    good = status.ok();
    status.ignore(); // who made the call learns it from errno
  });
  for (Segment &part : Contents.Map.segments(next.begin, next.begin + done))
    if (part.origin.kind == Origin::Device &&
        part.origin.address == device + (part.begin - next.begin)) {
      part.origin.used = true;
      Contents.Map.assign(part.begin, part.end, part.origin);
    }
  Contents.changed();
  return good;
}

bool StagingWrites::writeOut(const void *buffer, size_t bytes,
                             const std::shared_ptr<BackingFile> &file,
                             int64_t offset, size_t &written) {
  written = 0;
  auto begin = reinterpret_cast<uintptr_t>(buffer);
  std::vector<std::pair<uintptr_t, uintptr_t>> announced;
  while (written < bytes) {
    auto guard = Contents.lock();
    // Looked up anew each time: other threads may have materialised it.
    Segment next =
        Contents.Map.segments(begin + written, begin + bytes).front();
    if (next.origin.kind == Origin::File) {
      if (!Contents.materialise({next}).ok())
        return false;
      next.origin.kind = Origin::Memory;
    }
    const int64_t place = offset + int64_t(written);
    if (next.origin.kind == Origin::Device && !inForkedChild())
      if (auto found = Contents.Attached->files().announcedWrite(
              next.origin.address, *file, place);
          found && (announced.empty() || announced.back() != *found))
        announced.push_back(*found);
    size_t done = 0;
    const bool isOfMemory = next.origin.kind == Origin::Memory;
    const bool good = writeOne(guard, next, file, place, done);
    written += done;
    // What is announced and does not come must not cut it off.
    if (isOfMemory && !announced.empty() && !inForkedChild())
      Contents.Attached->files()
          .fileEndsBehind(*file, uint64_t(place) + done)
          .ignore();
    if (good)
      continue;
    for (const auto &[first, last] : announced)
      Contents.Attached->files().endSink(first, last - first, false).ignore();
    return false;
  }
  for (const auto &[first, last] : announced)
    Contents.Attached->files().endWrite(first, last).ignore();
  // Nobody needs what has gone to its place, nor what stands for it.
  for (const auto &[first, last] : announced) {
    const auto guard = Contents.lockWhenStill(first, last);
    for (Segment &segment : Contents.Map.ofDevice(first, last))
      Contents.end(segment, segment.origin.why);
    Contents.changed();
  }
  return true;
}

} // namespace dragon

using namespace dragon;

namespace {

/// The staging buffer becomes what it would be. False, with errno, if its
/// contents cannot be had.
bool bring(const void *buffer, size_t bytes) {
  int before = errno;
  Status status = staging().buffers.materialise(buffer, bytes);
  if (!status.ok())
    report(status);
  errno = status.ok() ? before : EIO;
  return status.ok();
}

const char *at(const void *buffer, size_t bytes) {
  return static_cast<const char *>(buffer) + bytes;
}

/// The C library is about to write to the file: what was evicted to its place
/// there, ahead of a write that now happens by other means, leaves it.
void beforeRealWrite(int fd) {
  Front *front = Front::existing();
  if (!front || inForkedChild() || !front->runtime.files().hasSinks())
    return;
  int before = errno;
  struct stat info;
  if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
    if (Status status = staging().buffers.detachFile(info.st_dev, info.st_ino);
        !status.ok())
      report(status);
  errno = before;
}

/// write and pwrite, at `offset`; the original is `real`.
template <typename Real, typename Advance>
int64_t stageWrite(int fd, const void *buffer, size_t bytes, int64_t offset,
                   Real &&real, Advance &&advance) {
  bytes = std::min(bytes, LargestTransfer);
  if (!staging().buffers.deferred(buffer, bytes)) {
    beforeRealWrite(fd);
    return real(bytes);
  }
  if (offset >= 0) {
    int before = errno;
    if (std::shared_ptr<BackingFile> file = staging().buffers.outputFile(fd)) {
      size_t written = 0;
      staging().writes.writeOut(buffer, bytes, file, offset, written);
      if (written && advance(written)) {
        errno = before;
        return int64_t(written);
      }
    }
    errno = before;
  }
  if (!bring(buffer, bytes))
    return -1;
  beforeRealWrite(fd);
  return real(bytes);
}

} // namespace

extern "C" {

size_t __dragon_stage_fwrite(const void *buffer, size_t size, size_t count,
                             FILE *file) {
  size_t total;
  if (size == 0 || count == 0 || __builtin_mul_overflow(size, count, &total) ||
      !staging().buffers.deferred(buffer, total)) {
    beforeRealWrite(::fileno(file));
    return ::fwrite(buffer, size, count, file);
  }
  StreamLock lock(file);
  size_t written = 0;
  if (writesAtItsPosition(file)) {
    int before = errno;
    std::shared_ptr<BackingFile> output =
        staging().buffers.outputFile(::fileno(file));
    // What the stream holds back comes first.
    if (output && ::fflush(file) == 0) {
      off_t offset = ::ftello(file);
      if (offset >= 0) {
        staging().writes.writeOut(buffer, total, output, offset, written);
        if (written && ::fseeko(file, offset + off_t(written), SEEK_SET) != 0)
          written = 0; // once more, then, by the C library
      }
    }
    errno = before;
  }
  if (written == total)
    return count;
  if (!bring(at(buffer, written), total - written))
    return written / size;
  beforeRealWrite(::fileno(file));
  return (written + ::fwrite(at(buffer, written), 1, total - written, file)) /
         size;
}

int64_t __dragon_stage_write(int fd, const void *buffer, size_t bytes) {
  int before = errno;
  int64_t offset = ::lseek(fd, 0, SEEK_CUR);
  errno = before;
  return stageWrite(
      fd, buffer, bytes, offset,
      [&](size_t part) { return ::write(fd, buffer, part); },
      [&](size_t part) {
        return ::lseek(fd, off_t(offset) + off_t(part), SEEK_SET) >= 0;
      });
}

int64_t __dragon_stage_pwrite(int fd, const void *buffer, size_t bytes,
                              int64_t offset) {
  return stageWrite(
      fd, buffer, bytes, offset,
      [&](size_t part) { return ::pwrite(fd, buffer, part, offset); },
      [](size_t) { return true; });
}

void __dragon_stage_forget(const void *buffer, size_t bytes) {
  const dragon_reason *why = takeReason();
  if (buffer && bytes)
    staging().buffers.forget(buffer, bytes, why);
}

void __dragon_stage_materialise(const void *buffer, size_t bytes) {
  if (buffer && bytes)
    bring(buffer, bytes);
}

} // extern "C"
