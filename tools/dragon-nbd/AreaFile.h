//===- AreaFile.h - areas outside of device memory --------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The backing file of a block device: slots of the runtime's swap file, each as
// large as an area. The file has no name and mode 0600, and is gone with the
// server. The space of a slot is reserved when it is allocated, so that a write
// to it does not find the disk full.
//
// Threads: all calls from any thread, after start().
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_NBD_AREAFILE_H
#define DRAGON_TOOLS_DRAGON_NBD_AREAFILE_H

#include "runtime/base/Ledger.h"
#include "runtime/base/Settings.h"
#include "runtime/tier/FileTier.h"

#include <memory>
#include <mutex>
#include <set>

namespace dragon::nbd {

class AreaFile {
public:
  /// Makes the files; the server has not forked yet.
  static StatusOr<std::unique_ptr<AreaFile>> create(const Settings &Settings,
                                                    uint64_t AreaBytes);
  /// What runs in threads; after the fork.
  Status start(const Settings &Settings);
  ~AreaFile();

  /// DRAGON_ERROR_NO_SPACE: the disk is full.
  StatusOr<SwapFile::Slot> allocate();
  void release(const SwapFile::Slot &Slot) { Swap->release(Slot); }

  Status read(const SwapFile::Slot &Slot, void *To, uint64_t Bytes,
              uint64_t Offset);
  Status write(const SwapFile::Slot &Slot, const void *From, uint64_t Bytes,
               uint64_t Offset);
  Status zero(const SwapFile::Slot &Slot, uint64_t Bytes, uint64_t Offset);
  /// What was written is on the disk.
  Status sync();

  /// Memory of many requests (FileTier).
  void remember(void *Memory, size_t Bytes) { Files->remember(Memory, Bytes); }
  void forget(void *Memory) { Files->forget(Memory); }

private:
  AreaFile() = default;

  Ledger Moved;
  uint64_t AreaBytes = 0;
  std::unique_ptr<SwapFile> Swap;
  std::unique_ptr<FileTier> Files;
  void *Zeros = nullptr; ///< an area's, for writes
  std::mutex Lock;
  std::set<BackingFile *> InUse; ///< the files of all slots
};

} // namespace dragon::nbd

#endif // DRAGON_TOOLS_DRAGON_NBD_AREAFILE_H
