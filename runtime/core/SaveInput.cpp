//===- SaveInput.cpp - what buffers still have in an input only -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Before somebody who may change an input comes to be (a child process), its
// bytes are saved that are nowhere else. Contents with a copy on the device or
// on the host need none: the file is no longer a place for them, and when they
// are evicted they go to swap.
//
//===----------------------------------------------------------------------===//

#include "runtime/core/RuntimeImpl.h"

#include <algorithm>

namespace dragon {

Status Runtime::saveInput(const std::shared_ptr<BackingFile> &file,
                          std::vector<FileRange> ranges) {
  Impl::Guard guard(*State);
  // Nothing is read from it meanwhile.
  State->dropAllReadings();
  const dev_t device = file->deviceId();
  const ino_t inode = file->inode();
  for (std::unique_ptr<Buffer> &buffer : State->Buffers) {
    if (State->Closed)
      break; // nobody reads what the buffers hold
    if (std::none_of(buffer->lines.begin(), buffer->lines.end(),
                     [&](const BackingLine &line) {
                       return line.inode == inode && line.deviceId == device;
                     }))
      continue;
    for (Chunk &chunk : buffer->chunks) {
      if (!chunk.storageValid)
        continue;
      std::vector<FileRange> own;
      for (const Piece &piece : chunk.storage.pieces())
        if (piece.file == file)
          own.push_back(
              {piece.offset, piece.offset + int64_t(piece.end - piece.begin)});
      if (!own.empty() && (chunk.deviceValid || chunk.hostValid)) {
        State->dropStorage(chunk);
        buffer->setValid(chunk, chunk.deviceValid, chunk.hostValid, false);
        continue;
      }
      ranges.insert(ranges.end(), own.begin(), own.end());
    }
  }
  return file->save(std::move(ranges), State->Config.swapDirs);
}

} // namespace dragon
