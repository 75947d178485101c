//===- AreaTable.h - where each area of a block device is -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The books of the areas:
//
//                 device   fileCurrent   lost
//   empty           -          -          -     reads as zeros
//   on the device   yes     if the file has the same
//   in the file     -         yes         -
//   lost            -          -         yes    it was only on the device
//
// A slot of the file belongs to an area as long as that is not empty, so that
// what is on the device finds its place there.
//
// Beside that: which areas on the device were used longest ago, which of those
// in the file have been asked for, and a mark for each block of 4 KiB that may
// hold something else than zeros: when the last one is cleared, the area is
// empty.
//
// Threads: an area's fields with its lock, to be changed with the exclusive
// one, but for FileCurrent; marks and the two lists from any thread.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_NBD_AREATABLE_H
#define DRAGON_TOOLS_DRAGON_NBD_AREATABLE_H

#include "runtime/device/Device.h"
#include "runtime/tier/FileTier.h"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <vector>

namespace dragon::nbd {

/// Shared by readers and writers of the contents. Who waits to move an area
/// comes before those that come later: a busy area is given back, too.
class AreaLock {
public:
  AreaLock();
  ~AreaLock() { ::pthread_rwlock_destroy(&Lock); }
  AreaLock(const AreaLock &) = delete;
  AreaLock &operator=(const AreaLock &) = delete;
  void lock() { ::pthread_rwlock_wrlock(&Lock); }
  void unlock() { ::pthread_rwlock_unlock(&Lock); }
  void lock_shared() { ::pthread_rwlock_rdlock(&Lock); }
  void unlock_shared() { ::pthread_rwlock_unlock(&Lock); }

private:
  pthread_rwlock_t Lock;
};

struct Area {
  static constexpr uint32_t None = UINT32_MAX;

  AreaLock Lock;
  Physical Device;     ///< id 0: not there
  SwapFile::Slot Slot; ///< without a file: none
  std::atomic<bool> FileCurrent{false};
  bool Lost = false;

  bool isOnDevice() const { return Device.id != 0; }
  bool isInFile() const { return !isOnDevice() && FileCurrent; }
  bool isEmpty() const { return !isOnDevice() && !FileCurrent && !Lost; }

private:
  friend class AreaTable;
  // With the table's lock.
  bool Listed = false, Asked = false;
  uint32_t Older = None, Newer = None;
};

class AreaTable {
public:
  static constexpr uint64_t BlockBytes = 4096;

  AreaTable(uint64_t Size, uint64_t AreaBytes);

  const uint64_t Size, AreaBytes;
  const uint64_t NumAreas;
  Area &operator[](uint64_t Index) { return Areas[Index]; }
  /// Bytes of the area; the last one may have fewer.
  uint64_t bytesOf(uint64_t Index) const {
    return std::min(AreaBytes, Size - Index * AreaBytes);
  }

  // -- Areas on the device, by their last use
  /// It is there from now on, and was used just now.
  void list(uint64_t Index);
  void unlist(uint64_t Index);
  void touch(uint64_t Index);
  /// The one that was used longest ago, which is not listed any more. None: no
  /// area is listed.
  std::optional<uint64_t> takeOldest();
  /// It was taken, and stays.
  void putBack(uint64_t Index);

  // -- Areas in the file that somebody has asked for
  void ask(uint64_t Index);
  std::optional<uint64_t> takeAsked();

  // -- Blocks that may hold something, of [Begin, Begin + Bytes) of the device
  void mark(uint64_t Begin, uint64_t Bytes);
  /// Those that are wholly within.
  void clear(uint64_t Begin, uint64_t Bytes);
  bool anyMarked(uint64_t Index) const;
  /// From `Begin` on all blocks are like the first up to there, or up to `End`.
  uint64_t endOfRun(uint64_t Begin, uint64_t End, bool &Marked) const;

private:
  bool isMarked(uint64_t Block) const {
    return Marks[Block / 64].load(std::memory_order_relaxed) >> Block % 64 & 1;
  }
  // With the lock.
  void link(uint64_t Index, bool AsOldest);
  void unlink(uint64_t Index);

  const std::unique_ptr<Area[]> Areas;
  std::vector<std::atomic<uint64_t>> Marks;
  std::mutex Lock;
  uint32_t Oldest = Area::None, Newest = Area::None;
  std::deque<uint32_t> Wanted;
};

} // namespace dragon::nbd

#endif // DRAGON_TOOLS_DRAGON_NBD_AREATABLE_H
