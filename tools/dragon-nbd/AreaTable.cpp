//===- AreaTable.cpp - where each area of a block device is ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-nbd/AreaTable.h"

#include <algorithm>

namespace dragon::nbd {

AreaLock::AreaLock() {
  pthread_rwlockattr_t Attributes;
  ::pthread_rwlockattr_init(&Attributes);
  ::pthread_rwlockattr_setkind_np(&Attributes,
                                  PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
  ::pthread_rwlock_init(&Lock, &Attributes);
  ::pthread_rwlockattr_destroy(&Attributes);
}

AreaTable::AreaTable(uint64_t Size, uint64_t AreaBytes)
    : Size(Size), AreaBytes(AreaBytes),
      NumAreas((Size + AreaBytes - 1) / AreaBytes),
      Areas(std::make_unique<Area[]>(NumAreas)),
      Marks(NumAreas * AreaBytes / BlockBytes / 64 + 1) {}

void AreaTable::link(uint64_t Index, bool AsOldest) {
  Area &Own = Areas[Index];
  Own.Listed = true;
  Own.Older = AsOldest ? Area::None : Newest;
  Own.Newer = AsOldest ? Oldest : Area::None;
  (Own.Older == Area::None ? Oldest : Areas[Own.Older].Newer) = uint32_t(Index);
  (Own.Newer == Area::None ? Newest : Areas[Own.Newer].Older) = uint32_t(Index);
}

void AreaTable::unlink(uint64_t Index) {
  Area &Own = Areas[Index];
  if (!Own.Listed)
    return;
  Own.Listed = false;
  (Own.Older == Area::None ? Oldest : Areas[Own.Older].Newer) = Own.Newer;
  (Own.Newer == Area::None ? Newest : Areas[Own.Newer].Older) = Own.Older;
}

void AreaTable::list(uint64_t Index) {
  std::lock_guard Guard(Lock);
  link(Index, /*AsOldest=*/false);
}

void AreaTable::unlist(uint64_t Index) {
  std::lock_guard Guard(Lock);
  unlink(Index);
}

void AreaTable::touch(uint64_t Index) {
  std::lock_guard Guard(Lock);
  if (Newest == Index || !Areas[Index].Listed)
    return;
  unlink(Index);
  link(Index, /*AsOldest=*/false);
}

std::optional<uint64_t> AreaTable::takeOldest() {
  std::lock_guard Guard(Lock);
  if (Oldest == Area::None)
    return std::nullopt;
  const uint64_t Index = Oldest;
  unlink(Index);
  return Index;
}

void AreaTable::putBack(uint64_t Index) {
  std::lock_guard Guard(Lock);
  link(Index, /*AsOldest=*/true);
}

void AreaTable::ask(uint64_t Index) {
  std::lock_guard Guard(Lock);
  if (Areas[Index].Asked)
    return;
  Areas[Index].Asked = true;
  Wanted.push_back(uint32_t(Index));
}

std::optional<uint64_t> AreaTable::takeAsked() {
  std::lock_guard Guard(Lock);
  if (Wanted.empty())
    return std::nullopt;
  const uint64_t Index = Wanted.front();
  Wanted.pop_front();
  Areas[Index].Asked = false;
  return Index;
}

void AreaTable::mark(uint64_t Begin, uint64_t Bytes) {
  for (uint64_t Block = Begin / BlockBytes; Block * BlockBytes < Begin + Bytes;
       ++Block)
    if (!isMarked(Block))
      Marks[Block / 64].fetch_or(uint64_t(1) << Block % 64,
                                 std::memory_order_relaxed);
}

void AreaTable::clear(uint64_t Begin, uint64_t Bytes) {
  // The end of the device ends its last block.
  const uint64_t End = Begin + Bytes == Size
                           ? (Size + BlockBytes - 1) / BlockBytes
                           : (Begin + Bytes) / BlockBytes;
  for (uint64_t Block = (Begin + BlockBytes - 1) / BlockBytes; Block < End;
       ++Block)
    if (isMarked(Block))
      Marks[Block / 64].fetch_and(~(uint64_t(1) << Block % 64),
                                  std::memory_order_relaxed);
}

bool AreaTable::anyMarked(uint64_t Index) const {
  const uint64_t Begin = Index * AreaBytes;
  bool Marked = false;
  return endOfRun(Begin, Begin + bytesOf(Index), Marked) !=
             Begin + bytesOf(Index) ||
         Marked;
}

uint64_t AreaTable::endOfRun(uint64_t Begin, uint64_t End, bool &Marked) const {
  uint64_t Block = Begin / BlockBytes;
  Marked = isMarked(Block);
  while (Block * BlockBytes < End && isMarked(Block) == Marked)
    ++Block;
  return std::min(End, Block * BlockBytes);
}

} // namespace dragon::nbd
