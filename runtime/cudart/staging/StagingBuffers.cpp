//===- StagingBuffers.cpp - staging buffers that need not be filled -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/staging/StagingBuffers.h"

#include "runtime/cudart/staging/Staging.h"

#include "runtime/cudart/front/ProcessState.h"

#include <algorithm>

namespace dragon {

Staging &staging() {
  static Staging *instance = new Staging;
  return *instance;
}

namespace {

uintptr_t at(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

} // namespace

bool worthStaging(size_t bytes) {
  // Settings are the runtime's, but a read may come before the first CUDA call,
  // and must not create a device: the program may fork in between.
  static const bool Elide = [] {
    auto settings = Settings::fromEnvironment();
    return settings.ok() && settings->elide;
  }();
  return bytes >= MinimumStagedBytes && Elide && !refusedAtExit();
}

void StagingBuffers::attach(Runtime &runtime) {
  const auto guard = Contents.lock();
  Contents.Attached = &runtime;
  runtime.launches().setBeforeWrite(beforeWrite, this,
                                    &Contents.anyOfDeviceFlag());
  runtime.buffers().setStillWanted(stillWanted, this);
}

bool StagingBuffers::deferred(const void *buffer, size_t bytes) {
  if (!Contents.any())
    return false;
  const auto guard = Contents.lock();
  return Contents.Map.intersects(at(buffer), at(buffer) + bytes);
}

std::shared_ptr<BackingFile> StagingBuffers::inputFile(int fd) {
  const auto guard = Contents.lock();
  return Contents.Files.input(fd);
}

std::shared_ptr<BackingFile> StagingBuffers::outputFile(int fd) {
  const auto guard = Contents.lock();
  return Contents.Files.output(fd);
}

void StagingBuffers::deferRead(void *buffer, size_t bytes,
                               std::shared_ptr<BackingFile> file,
                               int64_t offset, const dragon_reason *why) {
  const auto guard = Contents.lock();
  Origin origin;
  origin.kind = Origin::File;
  origin.file = std::move(file);
  origin.offset = offset;
  origin.why = why;
  Contents.Map.assign(at(buffer), at(buffer) + bytes, std::move(origin));
  Contents.Dead.erase(at(buffer), at(buffer) + bytes);
  Contents.changed();
}

Status StagingBuffers::beforeOverwrite(void *buffer, size_t bytes,
                                       bool surely) {
  if (!Contents.any())
    return {};
  const auto guard = Contents.lock();
  if (!surely)
    return materialise(buffer, bytes);
  Contents.Map.erase(at(buffer), at(buffer) + bytes);
  Contents.changed();
  return {};
}

void StagingBuffers::overwritten(void *buffer, size_t bytes) {
  if (!Contents.mayHave(0, UINTPTR_MAX))
    return;
  const auto guard = Contents.lock();
  Contents.Dead.erase(at(buffer), at(buffer) + bytes);
  Contents.Map.mark(at(buffer), at(buffer) + bytes);
  Contents.changed();
}

//===----------------------------------------------------------------------===//
// The end of deferral
//===----------------------------------------------------------------------===//

Status StagingBuffers::materialise(const void *buffer, size_t bytes) {
  if (!Contents.any())
    return {};
  const auto guard = Contents.lock();
  return Contents.materialise(
      Contents.Map.segments(at(buffer), at(buffer) + bytes));
}

void StagingBuffers::forget(const void *buffer, size_t bytes,
                            const dragon_reason *why) {
  if (!Contents.mayHave(0, UINTPTR_MAX))
    return;
  const auto guard = Contents.lock();
  auto endIn = [&](const DeferredMap &map) {
    return bytes == SIZE_MAX ? map.endOfRun(at(buffer)) : at(buffer) + bytes;
  };
  Contents.Dead.erase(at(buffer), endIn(Contents.Dead));
  for (Segment &segment :
       Contents.Map.segments(at(buffer), endIn(Contents.Map)))
    Contents.end(segment, why);
  Contents.changed();
}

void StagingBuffers::beforeWrite(void *context, uintptr_t begin,
                                 uintptr_t end) {
  auto *self = static_cast<StagingBuffers *>(context);
  Status status = self->deviceChanges(begin, end);
  if (!status.ok())
    report(status);
}

/// What the program has copied to host memory, and not looked at since, stays
/// where it is until it is written to a file or dead.
bool StagingBuffers::stillWanted(void *context, uintptr_t begin,
                                 uintptr_t end) {
  auto *self = static_cast<StagingBuffers *>(context);
  const auto guard = self->Contents.lock();
  return !inForkedChild() && self->Contents.keepFreed(begin, end);
}

Status StagingBuffers::deviceChanges(uintptr_t begin, uintptr_t end) {
  if (!Contents.anyOfDevice())
    return {};
  // The copies below read the device; what another thread writes out does too.
  const auto guard = Contents.lockWhenStill(begin, end);
  return Contents.materialise(Contents.Map.ofDevice(begin, end));
}

void StagingBuffers::contentsEnd(uintptr_t begin, uintptr_t stop,
                                 const dragon_reason *why) {
  if (!Contents.anyOfDevice())
    return;
  const auto guard = Contents.lockWhenStill(begin, stop);
  for (Segment &segment : Contents.Map.ofDevice(begin, stop))
    Contents.end(segment, why);
  Contents.changed();
}

void StagingBuffers::hostTouches(const void *memory, size_t bytes,
                                 ObservedHostCode code) {
  // Handlers of signals come here, too: where nothing is deferred, nothing is
  // locked, and where the touched bytes are not, nothing is allocated.
  const uintptr_t begin = at(memory), stop = begin + std::max<size_t>(bytes, 1);
  if (!Contents.mayHave(begin, stop) || inForkedChild())
    return;
  const auto guard = Contents.lock();
  if (!Contents.Attached || !Contents.Attached->isWatched() ||
      (!Contents.Map.intersects(begin, stop) &&
       !Contents.Dead.intersects(begin, stop)))
    return;
  auto tell = [&](const DeferredMap &map) {
    bool told = false;
    for (const Segment &segment : map.segments(begin, begin + bytes))
      if (segment.origin.kind != Origin::Memory) {
        code.why = segment.origin.why;
        Contents.Attached->noteHostCode(code);
        told = true;
      }
    return told;
  };
  // A function that is given the address may fill the memory anew.
  if (bytes == 0)
    Contents.Dead.erase(begin, Contents.Dead.endOfRun(begin));
  else if (code.writes)
    Contents.Dead.erase(begin, begin + bytes);
  else if (tell(Contents.Dead))
    Contents.Dead.erase(begin, Contents.Dead.endOfRun(begin));
  if (bytes && tell(Contents.Map))
    Contents
        .materialise(Contents.Map.segments(begin, Contents.Map.endOfRun(begin)))
        .ignore();
  Contents.changed();
}

Status StagingBuffers::detachFile(dev_t device, ino_t inode) {
  const auto guard = Contents.lock();
  DRAGON_TRY(
      Contents.materialise(Contents.Map.select([&](const Origin &origin) {
        return origin.kind == Origin::File &&
               origin.file->deviceId() == device &&
               origin.file->inode() == inode;
      })));
  // The buffers are the parent's, and so are the threads and rings that would
  // move them; it has saved its own (saveInputs).
  if (Contents.Attached && !inForkedChild())
    DRAGON_TRY(Contents.Attached->files().detachFile(device, inode));
  Contents.Files.forget(device, inode);
  return {};
}

Status StagingBuffers::streamEnds(Queue queue) {
  if (!Contents.anyOfDevice())
    return {};
  const auto guard = Contents.lock();
  auto list = Contents.Map.select([&](const Origin &origin) {
    return origin.kind == Origin::Device && origin.queue == queue;
  });
  if (list.empty())
    return {};
  DRAGON_TRY(Contents.Attached->device().synchronize(queue));
  for (Segment &segment : list) {
    segment.origin.queue = nullptr;
    Contents.Map.assign(segment.begin, segment.end, segment.origin);
  }
  return {};
}

Status StagingBuffers::reset() {
  const auto guard = Contents.lock();
  return Contents.materialise(Contents.Map.ofDevice(0, UINTPTR_MAX));
}

Status StagingBuffers::processEnds() {
  const auto guard = Contents.lock();
  return Contents.materialise(Contents.Map.select([](const Origin &origin) {
    return origin.kind == Origin::Device && !origin.used;
  }));
}

} // namespace dragon
