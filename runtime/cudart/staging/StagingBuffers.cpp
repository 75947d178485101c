//===- StagingBuffers.cpp - staging buffers that need not be filled -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/staging/StagingBuffers.h"

#include "runtime/cudart/front/Front.h"
#include "runtime/cudart/front/ProcessState.h"
#include "runtime/cudart/memory/Memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace dragon {

StagingBuffers &staging() {
  static StagingBuffers *instance = new StagingBuffers;
  return *instance;
}

namespace {

uintptr_t at(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

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

void StagingBuffers::attach(Runtime &runtime) {
  Guard guard(Lock);
  Attached = &runtime;
  runtime.launches().setBeforeWrite(beforeWrite, this, &AnyOfDevice);
}

bool StagingBuffers::worthwhile(size_t bytes) {
  // Settings are the runtime's, but a read may come before the first CUDA call,
  // and must not create a device: the program may fork in between.
  static const bool Elide = [] {
    auto settings = Settings::fromEnvironment();
    return settings.ok() && settings->elide;
  }();
  return bytes >= MinimumBytes && Elide && !refusedAtExit();
}

void StagingBuffers::countPieces() {
  AnyDeferred = !Map.empty();
  const auto [first, last] = Map.bounds();
  const auto [firstDead, lastDead] = Dead.bounds();
  KnownBegin = std::min(first, firstDead);
  KnownEnd = std::max(last, lastDead);
  AnyOfDevice = !Map.ofDevice(0, UINTPTR_MAX).empty() || !Readings.empty();
}

bool StagingBuffers::deferred(const void *buffer, size_t bytes) {
  if (!AnyDeferred.load(std::memory_order_acquire))
    return false;
  Guard guard(Lock);
  return Map.intersects(at(buffer), at(buffer) + bytes);
}

std::shared_ptr<BackingFile> StagingBuffers::inputFile(int fd) {
  Guard guard(Lock);
  return Files.input(fd);
}

std::shared_ptr<BackingFile> StagingBuffers::outputFile(int fd) {
  Guard guard(Lock);
  return Files.output(fd);
}

void StagingBuffers::deferRead(void *buffer, size_t bytes,
                               std::shared_ptr<BackingFile> file,
                               int64_t offset, const dragon_reason *why) {
  Guard guard(Lock);
  Origin origin;
  origin.kind = Origin::File;
  origin.file = std::move(file);
  origin.offset = offset;
  origin.why = why;
  Map.assign(at(buffer), at(buffer) + bytes, std::move(origin));
  Dead.erase(at(buffer), at(buffer) + bytes);
  countPieces();
}

Status StagingBuffers::beforeOverwrite(void *buffer, size_t bytes,
                                       bool surely) {
  if (!AnyDeferred.load(std::memory_order_acquire))
    return {};
  Guard guard(Lock);
  if (!surely)
    return materialise(buffer, bytes);
  Map.erase(at(buffer), at(buffer) + bytes);
  countPieces();
  return {};
}

void StagingBuffers::overwritten(void *buffer, size_t bytes) {
  if (KnownEnd.load(std::memory_order_acquire) == 0)
    return;
  Guard guard(Lock);
  Dead.erase(at(buffer), at(buffer) + bytes);
  Map.mark(at(buffer), at(buffer) + bytes);
  countPieces();
}

//===----------------------------------------------------------------------===//
// The end of deferral
//===----------------------------------------------------------------------===//

Status StagingBuffers::bring(const Segment &segment, void *memory) {
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

Status StagingBuffers::materialiseAll(const std::vector<Segment> &list) {
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
  countPieces();
  if (!first.ok())
    makeSticky(cudaErrorOf(first));
  return first;
}

Status StagingBuffers::materialise(const void *buffer, size_t bytes) {
  if (!AnyDeferred.load(std::memory_order_acquire))
    return {};
  Guard guard(Lock);
  return materialiseAll(Map.segments(at(buffer), at(buffer) + bytes));
}

void StagingBuffers::forget(const void *buffer, size_t bytes,
                            const dragon_reason *why) {
  if (KnownEnd.load(std::memory_order_acquire) == 0)
    return;
  Guard guard(Lock);
  auto endIn = [&](const DeferredMap &map) {
    return bytes == SIZE_MAX ? map.endOfRun(at(buffer)) : at(buffer) + bytes;
  };
  Dead.erase(at(buffer), endIn(Dead));
  for (Segment &segment : Map.segments(at(buffer), endIn(Map)))
    end(segment, why);
  countPieces();
}

/// Nobody needs what the segment stands for. By a directive: then who watches
/// is told of those who read it even so.
void StagingBuffers::end(Segment &segment, const dragon_reason *why) {
  if (segment.origin.kind == Origin::Memory)
    return;
  if (why && why->remark && Attached && Attached->isWatched()) {
    segment.origin.why = why;
    Dead.assign(segment.begin, segment.end, segment.origin);
  }
  Map.erase(segment.begin, segment.end);
}

void StagingBuffers::beforeWrite(void *context, uintptr_t begin,
                                 uintptr_t end) {
  auto *self = static_cast<StagingBuffers *>(context);
  Status status = self->deviceChanges(begin, end);
  if (!status.ok())
    report(status);
}

Status StagingBuffers::deviceChanges(uintptr_t begin, uintptr_t end) {
  if (!AnyOfDevice.load(std::memory_order_acquire))
    return {};
  // The copies below read the device; what another thread writes out does too.
  Guard guard = lockWhenStill(begin, end);
  return materialiseAll(Map.ofDevice(begin, end));
}

void StagingBuffers::contentsEnd(uintptr_t begin, uintptr_t stop,
                                 const dragon_reason *why) {
  if (!AnyOfDevice.load(std::memory_order_acquire))
    return;
  Guard guard = lockWhenStill(begin, stop);
  for (Segment &segment : Map.ofDevice(begin, stop))
    end(segment, why);
  countPieces();
}

void StagingBuffers::hostTouches(const void *memory, size_t bytes,
                                 ObservedHostCode code) {
  // Handlers of signals come here, too: where nothing is deferred, nothing is
  // locked, and where the touched bytes are not, nothing is allocated.
  const uintptr_t begin = at(memory), stop = begin + std::max<size_t>(bytes, 1);
  if (stop <= KnownBegin.load(std::memory_order_acquire) ||
      begin >= KnownEnd.load(std::memory_order_acquire) || inForkedChild())
    return;
  Guard guard(Lock);
  if (!Attached || !Attached->isWatched() ||
      (!Map.intersects(begin, stop) && !Dead.intersects(begin, stop)))
    return;
  auto tell = [&](const DeferredMap &map) {
    bool told = false;
    for (const Segment &segment : map.segments(begin, begin + bytes))
      if (segment.origin.kind != Origin::Memory) {
        code.why = segment.origin.why;
        Attached->noteHostCode(code);
        told = true;
      }
    return told;
  };
  // A function that is given the address may fill the memory anew.
  if (bytes == 0)
    Dead.erase(begin, Dead.endOfRun(begin));
  else if (code.writes)
    Dead.erase(begin, begin + bytes);
  else if (tell(Dead))
    Dead.erase(begin, Dead.endOfRun(begin));
  if (bytes && tell(Map))
    materialiseAll(Map.segments(begin, Map.endOfRun(begin))).ignore();
  countPieces();
}

Status StagingBuffers::detachFile(dev_t device, ino_t inode) {
  Guard guard(Lock);
  DRAGON_TRY(materialiseAll(Map.select([&](const Origin &origin) {
    return origin.kind == Origin::File && origin.file->deviceId() == device &&
           origin.file->inode() == inode;
  })));
  // The buffers are the parent's, and so are the threads and rings that would
  // move them; it has saved its own (saveInputs).
  if (Attached && !inForkedChild())
    DRAGON_TRY(Attached->files().detachFile(device, inode));
  Files.forget(device, inode);
  return {};
}

Status StagingBuffers::streamEnds(Queue queue) {
  if (!AnyOfDevice.load(std::memory_order_acquire))
    return {};
  Guard guard(Lock);
  auto list = Map.select([&](const Origin &origin) {
    return origin.kind == Origin::Device && origin.queue == queue;
  });
  if (list.empty())
    return {};
  DRAGON_TRY(Attached->device().synchronize(queue));
  for (Segment &segment : list) {
    segment.origin.queue = nullptr;
    Map.assign(segment.begin, segment.end, segment.origin);
  }
  return {};
}

Status StagingBuffers::reset() {
  Guard guard(Lock);
  return materialiseAll(Map.ofDevice(0, UINTPTR_MAX));
}

Status StagingBuffers::processEnds() {
  Guard guard(Lock);
  return materialiseAll(Map.select([](const Origin &origin) {
    return origin.kind == Origin::Device && !origin.used;
  }));
}

} // namespace dragon
