//===- DeferredContents.cpp - where contents of staging buffers are ----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/staging/DeferredContents.h"

#include "runtime/cudart/front/Front.h"
#include "runtime/cudart/front/ProcessState.h"
#include "runtime/cudart/memory/Memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace dragon {

namespace {

/// From the page cache, as the deferred read would have been.
Status readFile(BackingFile &file, char *memory, size_t bytes, int64_t offset) {
  DRAGON_TRY(file.checkUnchanged());
  while (bytes) {
    ssize_t got = ::pread(file.fd(), memory, bytes, off_t(offset));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return Status::native(DRAGON_ERROR_FILE, errno,
                            "file '{}': cannot read at {}: {}", file.path(),
                            offset, std::strerror(errno));
    if (got == 0)
      return Status::error(DRAGON_ERROR_FILE_CHANGED,
                           "file '{}': became shorter than {} while it was in "
                           "use",
                           file.path(), offset + int64_t(bytes));
    memory += got, bytes -= size_t(got), offset += got;
  }
  return file.checkUnchanged();
}

} // namespace

void DeferredContents::changed() {
  AnyDeferred = !Map.empty();
  const auto [first, last] = Map.bounds();
  const auto [firstDead, lastDead] = Dead.bounds();
  KnownBegin = std::min(first, firstDead);
  KnownEnd = std::max(last, lastDead);
  AnyOfDevice = !Map.ofDevice(0, UINTPTR_MAX).empty() || !Readings.empty();
  if (!Freed.empty())
    releaseFreed();
}

bool DeferredContents::isRead(uintptr_t begin, uintptr_t end) const {
  return std::any_of(Readings.begin(), Readings.end(),
                     [&](const Reading &reading) {
                       return reading.begin < end && begin < reading.end;
                     });
}

bool DeferredContents::keepFreed(uintptr_t begin, uintptr_t end) {
  if (Map.ofDevice(begin, end).empty())
    return false;
  Freed.emplace_back(begin, end);
  return true;
}

void DeferredContents::releaseFreed() {
  std::vector<std::pair<uintptr_t, uintptr_t>> done;
  std::erase_if(Freed, [&](const auto &range) {
    const auto [begin, end] = range;
    if (isRead(begin, end) || !Map.ofDevice(begin, end).empty())
      return false;
    done.push_back(range);
    return true;
  });
  for (const auto &[begin, end] : done)
    if (Status status = Attached->buffers().release(begin); !status.ok())
      report(status);
}

DeferredContents::Guard DeferredContents::lockWhenStill(uintptr_t begin,
                                                        uintptr_t end) {
  Guard guard(Lock);
  ReadingEnds.wait(guard, [&] { return !isRead(begin, end); });
  return guard;
}

Status DeferredContents::bring(const Segment &segment, void *memory) {
  if (Attached && !inForkedChild())
    DRAGON_TRY(Attached->files().releaseProgramMemory(memory, segment.bytes()));
  if (segment.origin.kind == Origin::File)
    return readFile(*segment.origin.file, static_cast<char *>(memory),
                    segment.bytes(), segment.origin.offset);
  if (inForkedChild() || !Attached)
    return Status::error(
        DRAGON_ERROR_DEVICE,
        "results that were copied from the device before fork() were not yet "
        "in memory, and the child cannot reach the device; set DRAGON_ELIDE=0");
  Front *front = Front::existing();
  return Attached->buffers().copy(
      memory, reinterpret_cast<const void *>(segment.origin.address),
      segment.bytes(), segment.origin.queue, false,
      front && isPageable(*front, memory));
}

Status DeferredContents::materialise(const std::vector<Segment> &list) {
  Status first;
  for (const Segment &segment : list) {
    if (segment.origin.kind == Origin::Memory)
      continue;
    Status status = bring(segment, reinterpret_cast<void *>(segment.begin));
    // What could not be saved is lost; nobody may take old bytes for it.
    if (!status.ok() && first.ok())
      first = std::move(status);
    Map.mark(segment.begin, segment.end);
  }
  changed();
  if (!first.ok())
    makeSticky(cudaErrorOf(first));
  return first;
}

void DeferredContents::end(Segment &segment, const dragon_reason *why) {
  if (segment.origin.kind == Origin::Memory)
    return;
  if (why && why->remark && Attached && Attached->isWatched()) {
    segment.origin.why = why;
    Dead.assign(segment.begin, segment.end, segment.origin);
  }
  Map.erase(segment.begin, segment.end);
}

void DeferredContents::renewInChild() {
  // The owner's thread id is the parent's: a lock that is new has no owner.
  new (&Lock) std::recursive_mutex;
  Readings.clear();
  Freed.clear(); // the child reaches no device
}

} // namespace dragon
