//===- AreaStore.h - a block device in spare device memory ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes of a block device whose areas are on the device or in a file
// (AreaTable.h). An area gets memory when it is first written: on the device,
// if that has some to spare, else in the file. It is given up when all of it is
// trimmed or zeroed.
//
//   write to an empty area   device, else file, else DRAGON_ERROR_NO_SPACE
//   others want memory       the area used longest ago moves to the file, until
//                            no more is held than the limit says (giveBack)
//   nobody wants it any more areas in the file that are used move to the device
//                            (bringBack); the file keeps its copy until the
//                            area is written
//   the device is lost       areas whose contents the file has are read there;
//                            others fail, until all of one is written or
//                            trimmed
//
// No area leaves the device for another one: what does not fit stays in the
// file.
//
// Threads: all calls from any thread.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_NBD_AREASTORE_H
#define DRAGON_TOOLS_DRAGON_NBD_AREASTORE_H

#include "tools/dragon-nbd/AreaFile.h"
#include "tools/dragon-nbd/AreaTable.h"
#include "tools/dragon-nbd/SpareMemory.h"
#include "tools/dragon-nbd/Stages.h"

#include "runtime/base/ThreadPool.h"

namespace dragon::nbd {

/// Areas, since the start but for the first two.
struct StoreCounts {
  std::atomic<uint64_t> Used{0};       ///< not empty
  std::atomic<uint64_t> Lost{0};       ///< of them
  std::atomic<uint64_t> MovedOut{0};   ///< copied to the file, and given back
  std::atomic<uint64_t> Dropped{0};    ///< given back, as the file had them
  std::atomic<uint64_t> Saved{0};      ///< copied to the file, by a flush
  std::atomic<uint64_t> MovedIn{0};    ///< back to the device
  std::atomic<uint64_t> Freed{0};      ///< trimmed or zeroed
  std::atomic<uint64_t> MadeInFile{0}; ///< first written there
};

class AreaStore {
public:
  /// `ReserveFile`: an area on the device has its space in the file from the
  /// beginning, so that it can always leave.
  static StatusOr<std::unique_ptr<AreaStore>>
  create(uint64_t Size, uint64_t AreaBytes, bool ReserveFile,
         SpareMemory &Memory, AreaFile &File, Report Tell);
  ~AreaStore();

  Status read(void *To, uint64_t Bytes, uint64_t Begin);
  Status write(const void *From, uint64_t Bytes, uint64_t Begin);
  /// `MayFree`: whole areas of zeros need no memory.
  Status zero(uint64_t Bytes, uint64_t Begin, bool MayFree);
  /// Reads as zeros from then on.
  Status trim(uint64_t Bytes, uint64_t Begin);
  /// What is there now survives the loss of the device.
  Status save(uint64_t Bytes, uint64_t Begin);
  /// Calls `See(begin, bytes, holds data)` until it returns false.
  template <typename Each>
  void eachExtent(uint64_t Bytes, uint64_t Begin, Each &&See) const {
    for (uint64_t End = Begin + Bytes; Begin < End;) {
      bool Data = false;
      const uint64_t Next = Table.endOfRun(Begin, End, Data);
      if (!See(Begin, Next - Begin, Data))
        return;
      Begin = Next;
    }
  }

  /// Areas leave until no more is held than the memory's limit() says then, or
  /// than `Most`. False: some could not.
  bool giveBack(uint64_t Most = UINT64_MAX);
  /// One that was used in the file moves to the device. False: none does.
  bool bringBack();
  /// No area leaves any more.
  void stop() { Stopping = true; }

  const StoreCounts &counts() const { return Counts; }
  uint64_t size() const { return Table.Size; }

private:
  AreaStore(uint64_t Size, uint64_t AreaBytes, bool ReserveFile,
            SpareMemory &Memory, AreaFile &File, Report Tell);
  /// Of a request, what is in one area.
  struct Piece {
    uint64_t Index, Offset, Bytes;
    uint64_t Done; ///< what of the request is before it
  };
  template <typename Each>
  Status eachPiece(uint64_t Bytes, uint64_t Begin, Each &&Do);
  bool isWhole(const Piece &Part) const {
    return Part.Bytes == Table.bytesOf(Part.Index);
  }
  uint64_t beginOf(const Piece &Part) const {
    return Part.Index * Table.AreaBytes + Part.Offset;
  }
  Status lost(const Piece &Part) const;

  Status readPiece(const Piece &Part, void *To);
  Status writePiece(const Piece &Part, const void *From);
  Status zeroPiece(const Piece &Part, bool MayFree);
  // With the area's exclusive lock.
  /// Where the device is lost: what is left of the area.
  void settle(uint64_t Index);
  /// Of an empty or lost area; `From` null: zeros.
  Status begin(const Piece &Part, const void *From);
  Status beginAnywhere(const Piece &Part, const void *From);
  bool beginOnDevice(const Piece &Part, const void *From);
  Status beginInFile(const Piece &Part, const void *From);
  Status needSlot(Area &Own);
  void dropSlot(Area &Own);
  void free(uint64_t Index);
  Status copyToFile(uint64_t Index);
  /// The area was taken from the list.
  Status moveOut(uint64_t Index);

  AreaTable Table;
  SpareMemory &Memory;
  AreaFile &File;
  const bool ReserveFile;
  const Report Tell;
  std::unique_ptr<Stages> Staged;
  StoreCounts Counts;
  std::mutex GivingBack;
  ThreadPool Movers;
  std::atomic<bool> FailureTold{false}, Stopping{false};
};

} // namespace dragon::nbd

#endif // DRAGON_TOOLS_DRAGON_NBD_AREASTORE_H
