//===- CopiedContents.h - contents as the program copied them --*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host must know some contents before it can go on: the indices that say
// where a launch goes, the pointers that a library function follows. Many
// programs compute them on the host, for each step anew, and copy them to the
// device. To read them there the host would wait for all that is queued. So of
// such a copy the runtime keeps what it copied, until something is written
// there.
//
// Nothing is kept before somebody has read there; nor of memory that queued
// work may still write when the copy is asked for (pinned and managed memory).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_COPIEDCONTENTS_H
#define DRAGON_RUNTIME_MEMORY_COPIEDCONTENTS_H

#include "runtime/memory/Contents.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace dragon {

/// Its functions need the runtime's lock.
class CopiedContents {
public:
  CopiedContents(const WorkTracker &time, Contents &data)
      : Time(time), Data(data) {}

  /// Somebody had to read these bytes of a buffer, and may do so again.
  void follow(AddressRange range);
  /// What is copied there is kept.
  bool isFollowed(AddressRange range) const;
  /// The program has copied `from` to this place in a buffer.
  void copied(const Buffer &buffer, AddressRange to, const char *from);
  /// What lies there once all that is queued is done; null: it is not known.
  /// Valid until copied() is called.
  const char *find(AddressRange range) const;

private:
  struct Copy {
    AddressRange range;
    std::vector<char> bytes;
    uint64_t remembered; ///< Contents::remember()
  };

  static constexpr size_t MostFollowed = 64, MostCopies = 64;
  static constexpr size_t MostOfOne = size_t(4) << 20;
  static constexpr size_t MostOfAll = size_t(16) << 20;

  const WorkTracker &Time;
  Contents &Data;
  std::deque<AddressRange> Followed; ///< the latest last
  std::deque<Copy> Copies;           ///< the latest last
  size_t Bytes = 0;                  ///< of the copies
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_COPIEDCONTENTS_H
