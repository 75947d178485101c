//===- ZoneReader.h - the zones of arrays in buffers -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch waits while its index arrays are read, and they may have as many
// bytes as the link carries in a tenth of a second. So numbers are looked at
// where they are: in the host's copies of chunks, and in the program's memory
// from which a buffer's contents have not been fetched yet. Only what is on the
// device or in a file is copied out, unless it is known what the program has
// copied there. The threads that copy for the process share the zones.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_ZONEREADER_H
#define DRAGON_RUNTIME_LAUNCH_ZONEREADER_H

#include "dragon/NumberZones.h"
#include "runtime/memory/CopiedContents.h"
#include "runtime/memory/Transfers.h"
#include "runtime/tier/ProtectedMemory.h"

#include <memory>
#include <span>
#include <vector>

namespace dragon {

class ZoneReader {
public:
  ZoneReader(Context &context, WorkTracker &time, AddressSpace &space,
             Contents &data, const CopiedContents &copied, Transfers &moves)
      : Ctx(context), Time(time), Space(space), Data(data), Copied(copied),
        Moves(moves) {}

  /// The range, of one buffer, can be read though there is queued work that may
  /// have written it.
  bool isAtHand(AddressRange range);
  /// Sets zones [begin, end) of numbers that lie in one buffer. They are at
  /// hand, or what may write them has ended.
  Status read(NumberZones &zones, size_t begin, size_t end, Queue queue);
  /// Copies the bytes [begin, end) of a buffer to host memory. They are at
  /// hand, or what may write them has ended.
  Status copyOut(uintptr_t begin, uintptr_t end, char *to, Queue queue);

private:
  /// Where the bytes of some addresses are.
  struct View {
    uintptr_t begin;
    uintptr_t end;
    const char *at;
  };
  /// Ascending, without gaps.
  using Views = std::vector<View>;
  static void add(Views &views, uintptr_t begin, uintptr_t end, const char *at);
  static void setZones(NumberZones &zones, size_t begin, size_t end,
                       const Views &views);
  enum class Found { Host, InProgram, Copied, Elsewhere };
  Found find(const Chunk &chunk, uintptr_t begin, uintptr_t end) const;
  /// Copies the bytes from wherever they are: what may write them has ended.
  Status fetch(Buffer &buffer, uintptr_t begin, uintptr_t end, char *to,
               Queue queue);
  /// Copies those of [begin, end) that are elsewhere, to their distance from
  /// `begin` behind Scratch.
  Status copyMissing(Buffer &buffer, uintptr_t begin, uintptr_t end,
                     Queue queue, std::vector<AddressRange> &copied);
  /// False: not all of them are in host memory.
  bool findViews(Buffer &buffer, AddressRange range,
                 std::span<const AddressRange> copied,
                 const ProtectedMemory::Reading &program, Views &views) const;
  Status readPiece(NumberZones &zones, size_t begin, size_t end, Queue queue);

  Context &Ctx;
  WorkTracker &Time;
  AddressSpace &Space;
  Contents &Data;
  const CopiedContents &Copied;
  Transfers &Moves;
  std::unique_ptr<char[]> Scratch; ///< while read() is at work
  size_t ScratchBytes = 0;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_ZONEREADER_H
