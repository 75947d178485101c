//===- StagingRead.cpp - reads into staging buffers -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A deferred read moves the position and writes down the range. What the file
// does not have is asked of the C library, which so sets the end-of-file mark:
// of 100 bytes read from a file of 60, 59 are deferred and 41 asked for, of
// which it has one.
//
//===----------------------------------------------------------------------===//

#include "dragon/CompilerABI.h"
#include "runtime/cudart/front/CompilerHints.h"
#include "runtime/cudart/front/Front.h"
#include "runtime/cudart/front/ProcessState.h"
#include "runtime/cudart/staging/Staging.h"
#include "runtime/cudart/staging/StdioState.h"

#include <cerrno>
#include <cstdio>
#include <unistd.h>

using namespace dragon;

namespace {

char *at(void *buffer, size_t bytes) {
  return static_cast<char *>(buffer) + bytes;
}

/// Bytes that the file has from `offset` on.
uint64_t bytesFrom(const BackingFile &file, int64_t offset) {
  auto size = file.size();
  return size.ok() && offset >= 0 && uint64_t(offset) < *size
             ? *size - uint64_t(offset)
             : 0;
}

/// The read will be made for real. Unless it surely fills the range, what is
/// deferred there is brought first; errno is left alone.
void beforeRealRead(void *buffer, size_t bytes, bool surely) {
  int before = errno;
  if (Status status = staging().buffers.beforeOverwrite(buffer, bytes, surely);
      !status.ok())
    report(status);
  errno = before;
}

void afterRealRead(void *buffer, size_t bytes) {
  int before = errno;
  staging().buffers.overwritten(buffer, bytes);
  errno = before;
}

/// read and pread: `offset` is where; the original is `real`.
template <typename Real, typename Advance>
int64_t stageRead(int fd, void *buffer, size_t bytes, int64_t offset,
                  Real &&real, Advance &&advance) {
  const dragon_reason *why = takeReason();
  bytes = std::min(bytes, LargestTransfer);
  if (offset >= 0 && worthStaging(bytes)) {
    int before = errno;
    if (std::shared_ptr<BackingFile> file = staging().buffers.inputFile(fd)) {
      size_t part = std::min<uint64_t>(bytes, bytesFrom(*file, offset));
      if (part >= MinimumStagedBytes && advance(part)) {
        staging().buffers.deferRead(buffer, part, std::move(file), offset, why);
        errno = before;
        return int64_t(part);
      }
    }
    errno = before;
  }
  beforeRealRead(buffer, bytes, false);
  ssize_t got = real(bytes);
  if (got > 0)
    afterRealRead(buffer, size_t(got));
  return got;
}

} // namespace

extern "C" {

size_t __dragon_stage_fread(void *buffer, size_t size, size_t count,
                            FILE *file) {
  const dragon_reason *why = takeReason();
  size_t total;
  if (size == 0 || count == 0 || __builtin_mul_overflow(size, count, &total))
    return ::fread(buffer, size, count, file);
  StreamLock lock(file);
  size_t deferred = 0;
  if (worthStaging(total) && readsAtItsPosition(file)) {
    int before = errno;
    if (std::shared_ptr<BackingFile> input =
            staging().buffers.inputFile(::fileno(file))) {
      const off_t offset = ::ftello(file);
      uint64_t there = bytesFrom(*input, offset);
      size_t part = there >= total ? total : there ? size_t(there - 1) : 0;
      if (offset >= 0 && part >= MinimumStagedBytes &&
          ::fseeko(file, offset + off_t(part), SEEK_SET) == 0) {
        staging().buffers.deferRead(buffer, part, std::move(input), offset,
                                    why);
        deferred = part;
      }
    }
    errno = before;
  }
  if (deferred == total)
    return count;
  void *rest = at(buffer, deferred);
  beforeRealRead(rest, total - deferred, false);
  size_t got = ::fread(rest, 1, total - deferred, file);
  if (got)
    afterRealRead(rest, got);
  return (deferred + got) / size;
}

int64_t __dragon_stage_read(int fd, void *buffer, size_t bytes) {
  int before = errno;
  int64_t offset = ::lseek(fd, 0, SEEK_CUR);
  errno = before;
  return stageRead(
      fd, buffer, bytes, offset,
      [&](size_t part) { return ::read(fd, buffer, part); },
      [&](size_t part) { return ::lseek(fd, off_t(part), SEEK_CUR) >= 0; });
}

int64_t __dragon_stage_pread(int fd, void *buffer, size_t bytes,
                             int64_t offset) {
  return stageRead(
      fd, buffer, bytes, offset,
      [&](size_t part) { return ::pread(fd, buffer, part, offset); },
      [](size_t) { return true; });
}

void __dragon_host_access(const void *memory, uint64_t bytes, uint32_t kind,
                          const char *file, uint32_t line) {
  ObservedHostCode code{file, line, (kind & DRAGON_CPU_WRITE) != 0, nullptr};
  staging().buffers.hostTouches(memory, bytes, code);
  Front *front = bytes ? Front::existing() : nullptr;
  if (!front || inForkedChild())
    return;
  for (const auto rule : {ObservedHostCode::Source, ObservedHostCode::Place}) {
    if (rule == ObservedHostCode::Source && !code.writes)
      continue; // who reads it does no harm
    code.rule = rule;
    code.why = front->runtime.files().keptBy(memory, bytes, rule);
    if (code.why)
      front->runtime.noteHostCode(code);
  }
}

} // extern "C"
