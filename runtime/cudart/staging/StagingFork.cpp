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
#include "runtime/cudart/staging/Staging.h"
#include "runtime/memory/Budget.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"

namespace dragon {

Status StagingChildren::saveInput(const std::shared_ptr<BackingFile> &file) {
  std::vector<FileRange> ranges;
  for (const Segment &segment : Contents.Map.select([&](const Origin &origin) {
         return origin.kind == Origin::File && origin.file == file;
       }))
    ranges.push_back({segment.origin.offset,
                      segment.origin.offset + int64_t(segment.bytes())});
  if (Contents.Attached && !inForkedChild())
    return Contents.Attached->files().saveInput(file, std::move(ranges));
  DRAGON_ASSIGN(Settings settings, Settings::fromEnvironment());
  return file->save(ranges, settings.swapDirs);
}

Status StagingChildren::saveInputs() {
  if (!InputFiles::mayHoldAny())
    return {};
  const auto guard = Contents.lock();
  for (const std::shared_ptr<BackingFile> &file : Contents.Files.inputs()) {
    if (!file->mayBeChanged())
      continue;
    const dev_t device = file->deviceId();
    const ino_t inode = file->inode();
    if (Status saved = saveInput(file); !saved.ok()) {
      // Perhaps memory has the room that the disk lacks.
      if (saved.code() != DRAGON_ERROR_NO_SPACE ||
          !Buffers.detachFile(device, inode).ok())
        return saved;
      continue;
    }
    Contents.Files.forget(device, inode);
  }
  return {};
}

void StagingChildren::bringResults() {
  if (!Contents.anyOfDevice() || !Contents.Attached || inForkedChild())
    return;
  const auto guard = Contents.lockWhenStill(0, UINTPTR_MAX);
  auto list = Contents.Map.ofDevice(0, UINTPTR_MAX);
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
      status = Contents.bring(segment, reinterpret_cast<void *>(segment.begin));
    if (status.ok())
      Contents.Map.mark(segment.begin, segment.end);
  }
  Contents.changed();
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

void StagingChildren::lockForFork() {
  Contents.lockForFork();
  // Another thread may have read one more since.
  if (Status status = saveInputs(); !status.ok())
    report(status);
  InputFiles::lockForFork();
  BackingFile::lockForFork();
}

void StagingChildren::unlockInParent() {
  BackingFile::unlockAfterFork();
  InputFiles::unlockAfterFork();
  Contents.unlockInParent();
}

void StagingChildren::unlockInChild() {
  BackingFile::unlockAfterFork();
  InputFiles::unlockAfterFork();
  Contents.renewInChild();
}

} // namespace dragon
