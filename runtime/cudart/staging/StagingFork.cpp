//===- StagingFork.cpp - staging buffers and child processes --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is deferred must be what it would have been, for the parent whatever the
// child does to the files, and for the child without the device:
//
//   parent: h, d <- in.bin@0     child: truncate("in.bin", 0)
//
// So before there is a child, the bytes of inputs that are in the inputs alone
// are saved (BackingFile::save); both processes read the copy then. Results in
// device memory are brought to the staging buffer, if the child gets a copy of
// the memory and the memory is there.
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/front/Front.h"
#include "runtime/cudart/front/ProcessState.h"
#include "runtime/cudart/staging/StagingBuffers.h"
#include "runtime/memory/Budget.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"

namespace dragon {

Status StagingBuffers::saveInput(const std::shared_ptr<BackingFile> &file) {
  std::vector<FileRange> ranges;
  for (const Segment &segment : Map.select([&](const Origin &origin) {
         return origin.kind == Origin::File && origin.file == file;
       }))
    ranges.push_back({segment.origin.offset,
                      segment.origin.offset + int64_t(segment.bytes())});
  if (Attached && !inForkedChild())
    return Attached->files().saveInput(file, std::move(ranges));
  DRAGON_ASSIGN(Settings settings, Settings::fromEnvironment());
  return file->save(ranges, settings.swapDirs);
}

Status StagingBuffers::saveInputs() {
  if (!InputFiles::mayHoldAny())
    return {};
  Guard guard(Lock);
  for (const std::shared_ptr<BackingFile> &file : Files.inputs()) {
    if (!file->mayBeChanged())
      continue;
    const dev_t device = file->deviceId();
    const ino_t inode = file->inode();
    if (Status saved = saveInput(file); !saved.ok()) {
      // Perhaps memory has the room that the disk lacks.
      if (saved.code() != DRAGON_ERROR_NO_SPACE ||
          !detachFile(device, inode).ok())
        return saved;
      continue;
    }
    Files.forget(device, inode);
  }
  return {};
}

void StagingBuffers::bringResults() {
  if (!AnyOfDevice.load(std::memory_order_acquire) || !Attached ||
      inForkedChild())
    return;
  Guard guard = lockWhenStill(0, UINTPTR_MAX);
  auto list = Map.ofDevice(0, UINTPTR_MAX);
  uint64_t bytes = 0;
  for (const Segment &segment : list)
    bytes += segment.bytes();
  if (bytes == 0)
    return;
  Status status;
  if (bytes > availableHostMemory())
    status = Status::error(DRAGON_ERROR_OUT_OF_MEMORY, "no memory for them");
  for (const Segment &segment : list) {
    if (status.ok())
      status = bring(segment, reinterpret_cast<void *>(segment.begin));
    if (status.ok())
      Map.mark(segment.begin, segment.end);
  }
  countPieces();
  if (status.ok())
    log(LogLevel::Info, "{} of results came to the host: a child gets them",
        formatBytes(bytes));
  else
    log(LogLevel::Info,
        "{} of results did not come to the host, and a child cannot use them: "
        "{}",
        formatBytes(bytes), status.message());
}

//===----------------------------------------------------------------------===//
// fork
//===----------------------------------------------------------------------===//

// Locked over a fork, so that the child's copy is consistent: what was read
// from files and deferred can still be read there.
void StagingBuffers::lockForFork() {
  Lock.lock();
  // Another thread may have read one more since.
  if (Status status = saveInputs(); !status.ok())
    report(status);
  InputFiles::lockForFork();
  BackingFile::lockForFork();
}

void StagingBuffers::unlockInParent() {
  BackingFile::unlockAfterFork();
  InputFiles::unlockAfterFork();
  Lock.unlock();
}

void StagingBuffers::unlockInChild() {
  BackingFile::unlockAfterFork();
  InputFiles::unlockAfterFork();
  // The owner's thread id is the parent's: a lock that is new has no owner.
  new (&Lock) std::recursive_mutex;
  Readings.clear();
}

} // namespace dragon
