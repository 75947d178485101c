//===- LibraryCalls.h - library functions work on buffers by themselves *- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library function starts work that this runtime does not see, in a stream
// that it may not know. What the function uses, as its summary says, is brought
// to the device in front of the call and held there until the call has
// returned:
//
//   begin   bring in; hold: no eviction takes these chunks
//   call    the library queues its work
//   end     let go; what was written is dirty; chunks wait for the work
//
// After the end they are like any others: an eviction waits for the work, by
// the stream's ticket if the stream is known, else for everything on the
// device.
//
// A function without a summary may keep what it is given, and reach what lies
// there: buffers in small ones (arrays of pointers) are found as a conservative
// garbage collector would.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_LIBRARYCALLS_H
#define DRAGON_RUNTIME_LAUNCH_LIBRARYCALLS_H

#include "runtime/launch/CallPieces.h"
#include "runtime/launch/ComputedContents.h"
#include "runtime/launch/FetchAhead.h"
#include "runtime/launch/NextUses.h"
#include "runtime/memory/CopiedContents.h"
#include "runtime/memory/Residency.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace dragon {

/// What a library function is about to do with device memory.
struct LibraryUse {
  static constexpr size_t Unknown = SIZE_MAX;
  uintptr_t address; ///< in no buffer: of no interest
  size_t bytes;      ///< cut at the buffer's end; Unknown: all of the buffer
  LaunchNeed need;   ///< Read, Write or Overwrite
  /// Not 0: at the address, in device memory, lie so many pointers; the rest is
  /// of what each of them points to. An address in no buffer matters then.
  size_t pointers = 0;
};

struct LibraryCall {
  const char *function;
  std::vector<LibraryUse> uses;
  std::optional<Queue> queue; ///< none: it may be any
  /// The call queues nothing: the driver looks whether there is memory.
  bool onlyLooks = false;

  bool followsPointers() const {
    return std::any_of(uses.begin(), uses.end(),
                       [](const LibraryUse &use) { return use.pointers != 0; });
  }
};

/// What is held in device memory for a call that has not returned, or for as
/// long as something of NVIDIA's works on it.
struct LibraryHold {
  struct Part {
    uintptr_t address; ///< of the chunk
    uint64_t buffer;   ///< its number: another one may have the address later
    bool written;
  };
  std::vector<Part> chunks;
  std::optional<Queue> queue;
  bool onlyLooks = false; ///< no work of the call is under way
};

class LibraryCalls {
public:
  LibraryCalls(Context &context, WorkTracker &time, AddressSpace &space,
               Contents &data, DeviceChunks &deviceChunks, Residency &resident,
               NextUses &next, FetchAhead &ahead, ComputedContents &computed,
               CopiedContents &copied)
      : Ctx(context), Time(time), Space(space), Data(data),
        OnDevice(deviceChunks), Resident(resident), Next(next), Ahead(ahead),
        Computed(computed), Copied(copied) {}

  /// Puts what pointers in device memory point to, as they are when the work
  /// queued so far is done, in place of the uses that follow them. While
  /// everything is in place nobody waits: any buffer may be meant. Nor for what
  /// the launch that computed them is known to write (ComputedContents.h), or
  /// the program has copied (CopiedContents.h).
  Status followPointers(LibraryCall &call);
  /// Of the following, no call may have uses that follow pointers.

  /// Whether the budget holds what the call uses, beside what must stay.
  bool fits(const LibraryCall &call) const;
  /// What the call uses, and the room for it beside what must stay.
  CallPieces::Footprint footprintOf(const LibraryCall &call) const;
  /// What the call overwrites and does not use in any other way.
  std::vector<AddressRange> overwrittenBy(const LibraryCall &call) const;
  Status begin(const LibraryCall &call, LibraryHold &hold);
  Status end(const LibraryHold &hold);
  /// Residency::keep, also for buffers whose addresses are in a small one;
  /// `done`: those that were looked at.
  Status keepReachable(uintptr_t address, std::vector<uintptr_t> &done);
  /// Adds to the call's uses the buffer at `address`, and those whose addresses
  /// are in a small one, as they are now.
  Status addReachable(uintptr_t address, LibraryCall &call);

private:
  using Words = std::vector<uintptr_t>;
  using Uses = std::map<uintptr_t, ChunkUse>; ///< by the chunks' addresses
  Uses usesOf(const LibraryCall &call) const;
  struct Room {
    uint64_t needed, elsewhere;
  };
  Room roomFor(const Uses &uses) const;
  Status checkRoom(const LibraryCall &call, const Uses &uses) const;
  /// Where everything is in place and nothing moves. False: it is not so.
  bool beginInCore(const LibraryCall &call, LibraryHold &hold);
  /// Says to who watches what the function may do from now on.
  void tellUses(const LibraryCall &call);
  Buffer *bufferOf(const LibraryHold::Part &part) const;
  /// Addresses of buffers that may be in this one, which is on the device.
  StatusOr<Words> addressesIn(const Allocation &allocation);
  /// What `read` finds while the memory is on the device, on behalf of a call.
  StatusOr<Words> lookAt(std::vector<LibraryUse> uses, const LibraryCall &call,
                         const std::function<StatusOr<Words>()> &read);
  /// The words of arrays in device memory, whoever's, one after the other. The
  /// work that wrote them is done.
  StatusOr<Words> wordsOf(std::span<const LibraryUse> arrays);
  /// The same as they will be; nothing where that is not known of all.
  std::optional<Words> knownWordsOf(std::span<const LibraryUse> arrays);

  Context &Ctx;
  WorkTracker &Time;
  AddressSpace &Space;
  Contents &Data;
  DeviceChunks &OnDevice;
  Residency &Resident;
  NextUses &Next;
  FetchAhead &Ahead;
  ComputedContents &Computed;
  CopiedContents &Copied;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_LIBRARYCALLS_H
