//===- AddressMap.h - what is mapped where, and who may touch it -*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cpu device's page table: reserved ranges, the chunks mapped in them, and
// one rule for their protection.
//
//   A chunk is accessible if a running launch announced it, or if it is not
//   guarded and (in strict mode) no launch is running.
//
// Guarded: host accesses are to fault (a Device chunk of a host-accessible
// buffer). Strict mode: whatever a launch did not announce is inaccessible
// while it runs; concurrent launches are counted per chunk, so each sees at
// most what they announced together. Host threads that touch a chunk closed
// only for a launch wait for the launch to end.
//
// The device itself never goes through these addresses: resolve() translates
// them to the always accessible views of the memory files.
//
// Bounds: around each reserved range lie 4 GiB of addresses that nobody gets,
// so that what a kernel does far past a buffer's end is a fault and not a
// write to something else. In strict mode, the pages of the last chunk that
// hold none of the buffer's bytes are inaccessible as well, and what follows
// these in their last page is filled with a pattern before a launch, and looked
// at after it.
//
// Threads: all calls from any thread; calls on one range are serialised by the
// caller, as Device.h says.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_CPU_MEMORY_ADDRESSMAP_H
#define DRAGON_RUNTIME_DEVICE_CPU_MEMORY_ADDRESSMAP_H

#include "runtime/base/Intervals.h"
#include "runtime/device/Device.h"
#include "runtime/device/FaultHandling.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace dragon {

class AddressMap final : public FaultSink {
public:
  explicit AddressMap(bool strict) : Strict(strict) {}
  ~AddressMap() override;

  StatusOr<uintptr_t> reserve(size_t bytes, size_t alignment);
  Status release(uintptr_t base, size_t bytes);
  /// The first `bytes` of a reserved range are the program's.
  void describe(uintptr_t base, size_t bytes, const std::string &name);
  Status map(uintptr_t va, const Physical &physical, int fd, uint64_t offset,
             char *view);
  Status unmap(uintptr_t va, const Physical &physical);
  Status guard(uintptr_t va, size_t bytes, bool guarded);
  void setFaultHandler(FaultHandler handler, void *context);

  /// A piece of a range as the device itself addresses it.
  struct Piece {
    char *address;
    size_t bytes;
  };
  /// Addresses outside of all reserved ranges are their own view. An error if
  /// a part of the range is reserved but not mapped.
  Status resolve(uintptr_t address, size_t bytes, std::vector<Piece> &pieces);

  /// What a launch may touch is open from here ...
  struct Opened {
    std::vector<uintptr_t> chunks;
    bool counted = false;
  };
  Status beginLaunch(const LaunchRequest &request, Opened &opened);
  /// A kernel of the launch touched `address` and faulted. True: it can be
  /// tried again. A guarded chunk that was not announced is opened now, unless
  /// the mode is strict: the launch need not announce anything then.
  bool openForKernel(uintptr_t address, Opened &opened);
  /// ... to here.
  void endLaunch(const Opened &opened);

  /// What a launch that has run wrote past the end of a buffer, if
  /// anything.
  std::optional<std::string> overrun(const Opened &opened);

  /// The part of a reserved range that may hold chunks and has the address;
  /// false: none has.
  bool findReserved(uintptr_t address, AddressRange &range);
  /// "96 bytes past the end of the 4000-byte buffer 'd_a'", if it is.
  std::optional<std::string> outOfBounds(uintptr_t address);

  bool hostFault(uintptr_t address, bool write) override;

private:
  struct Chunk {
    uintptr_t end;
    Place place;
    uint64_t id;
    char *view;
    unsigned openers = 0;
    bool guarded = false;
    bool accessible = false;
    uintptr_t usable = 0;  ///< no access behind it
    uintptr_t pattern = 0; ///< begins here and ends there; 0: none
  };
  struct Range {
    uintptr_t end;
    uintptr_t used;   ///< end of what is the program's; 0: not told
    std::string name; ///< may be empty
    /// All that is reserved for it, guards included.
    uintptr_t mappedBegin, mappedEnd;
  };
  using Chunks = std::map<uintptr_t, Chunk>;

  bool shouldBeAccessible(const Chunk &chunk) const {
    return chunk.openers > 0 ||
           (!chunk.guarded && !(Strict && ActiveLaunches > 0));
  }
  bool guardedAt(uintptr_t begin, uintptr_t end) const;
  /// Brings the protection of the chunks in [begin, end) in line with the rule,
  /// neighbours in one system call.
  Status refresh(uintptr_t begin, uintptr_t end);
  Chunks::iterator firstChunkIn(uintptr_t begin);

  const bool Strict;
  std::mutex Lock;
  std::condition_variable LaunchEnded;
  const Range *rangeNear(uintptr_t address, uintptr_t &begin) const;
  static std::string describe(const Range &range, uintptr_t begin);
  /// The byte that follows a buffer, as the device itself reaches it.
  static char *viewOf(uintptr_t address, uintptr_t begin, const Chunk &chunk) {
    return chunk.view + (address - begin);
  }

  std::map<uintptr_t, Range> Reserved; // by their beginnings
  IntervalSet<uintptr_t> Guarded;
  Chunks Mapped;
  unsigned GuardedChunks = 0;
  unsigned ActiveLaunches = 0; // counted in strict mode
  FaultHandler Handler = nullptr;
  void *HandlerContext = nullptr;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_CPU_MEMORY_ADDRESSMAP_H
