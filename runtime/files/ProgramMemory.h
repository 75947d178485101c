//===- ProgramMemory.h - copies that are made where they are needed *- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy from the program's memory to a buffer need not be made when it is
// called: as long as the program leaves that memory alone, the bytes there are
// as good as a file's. Chunks are fetched from it, dropped, and fetched again.
// Before the program changes or frees the memory it says so (settle): what is
// nowhere else then goes to memory of ours, as the copy would have gone.
//
// Results that the program will copy out go to their place in its memory as
// they leave the device, if nobody looks at that before (announce).
//
// Who calls map() and announce() answers for that: the compiler has seen all
// that can reach the memory (passes/placement/DeferCopies.cpp and
// PlaceResults.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_FILES_PROGRAMMEMORY_H
#define DRAGON_RUNTIME_FILES_PROGRAMMEMORY_H

#include "runtime/files/FileMaps.h"
#include "runtime/memory/ProgramPins.h"
#include "runtime/tier/ProtectedMemory.h"

#include <atomic>
#include <map>

namespace dragon {

class ProgramMemory {
public:
  ProgramMemory(Context &context, AddressSpace &space, DeviceChunks &onDevice,
                HostSlabs &slabs, ReadAhead &reads, WriteBehind &writes,
                Contents &data, Residency &resident, FileMaps &maps,
                Sinks &sinks, ProgramPins &pinned)
      : Ctx(context), Space(space), OnDevice(onDevice), Slabs(slabs),
        Reads(reads), Writes(writes), Data(data), Resident(resident),
        Maps(maps), Announced(sinks), Pinned(pinned) {}

  /// Not everything fits on the device. Where it does, a copy goes there at
  /// once.
  bool isWorthIt() const;
  /// Contents of the range become the bytes at `from`. `why`: by which
  /// directive.
  Status map(uintptr_t address, size_t bytes, uintptr_t from,
             const dragon_reason *why);
  /// The same might have been done, if not everything fitted: who watches may
  /// ask.
  void note(uintptr_t from, size_t bytes, const dragon_reason *why);
  /// The directive that some of the memory is mapped by; null: none is.
  const dragon_reason *deferredBy(uintptr_t begin, uintptr_t end) const;
  /// The directive by which results may come to some of the memory before they
  /// are copied there.
  const dragon_reason *awaitedBy(uintptr_t begin, uintptr_t end) const;
  /// Results may come to some of the memory.
  bool isAwaited(uintptr_t begin, uintptr_t end) const {
    return sinkTo(begin, end) != nullptr;
  }
  /// The range will be copied to `to`, at which nobody looks before: what is
  /// evicted goes there.
  Status announce(uintptr_t address, size_t bytes, uintptr_t to,
                  const dragon_reason *why);
  /// Something may be mapped of the memory [begin, end). Without the lock.
  bool mayHold(uintptr_t begin, uintptr_t end) const {
    return begin < High.load(std::memory_order_acquire) &&
           end > Low.load(std::memory_order_acquire);
  }
  /// Nothing of the memory is needed, read or written any more. After an error
  /// some of it is.
  Status settle(uintptr_t begin, uintptr_t end);
  /// The same for what the program has overwritten meanwhile
  /// (ProtectedMemory.h).
  Status settleSaved();
  /// And for all that there are copies of in [begin, end).
  Status settleCopied(uintptr_t begin, uintptr_t end);
  /// The program has freed memory that is protected. True: some of it is needed
  /// still; it stays as it is, and `release(begin)` is called when none is.
  bool keep(uintptr_t begin, uintptr_t end, void (*release)(void *));
  /// Some buffer's contents have ended.
  void releaseKept();

private:
  const Sink *sinkTo(uintptr_t begin, uintptr_t end) const;
  /// Memory that the program has freed.
  struct Kept {
    uintptr_t end;
    void (*release)(void *);
  };
  Status settle(const ProtectedMemory::Ranges &copied);
  bool isNeeded(uintptr_t begin, uintptr_t end) const;
  Status bringToHost(uintptr_t begin, uintptr_t end);
  void noteBounds();

  Context &Ctx;
  AddressSpace &Space;
  DeviceChunks &OnDevice;
  HostSlabs &Slabs;
  ReadAhead &Reads;
  WriteBehind &Writes;
  Contents &Data;
  Residency &Resident;
  FileMaps &Maps;
  Sinks &Announced;
  ProgramPins &Pinned;
  /// What may be mapped, and by which directive. It is taken out when it is
  /// settled, not when the buffer's contents end.
  IntervalMap<uintptr_t, const dragon_reason *> Mapped;
  std::map<uintptr_t, Kept> Freed;
  std::atomic<uintptr_t> Low{UINTPTR_MAX}; ///< of Mapped
  std::atomic<uintptr_t> High{0};
};

} // namespace dragon

#endif // DRAGON_RUNTIME_FILES_PROGRAMMEMORY_H
