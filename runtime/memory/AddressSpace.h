//===- AddressSpace.h - what the program has allocated, by address *- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An Allocation is what the program asked for: a whole buffer, or, if it is
// small, a part of a buffer that is shared (an arena), as cudaMalloc packs
// small allocations into 2 MiB.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_ADDRESSSPACE_H
#define DRAGON_RUNTIME_MEMORY_ADDRESSSPACE_H

#include "runtime/base/Status.h"
#include "runtime/device/Device.h"
#include "runtime/memory/Buffer.h"

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dragon {

struct Allocation {
  uintptr_t base;
  size_t bytes;
  unsigned flags;
  bool hostAccessible;
  std::string name;
  Buffer *buffer;
  /// When its words were looked at for pointers: then there were so many
  /// writes, and the allocations of that generation.
  struct Look {
    uint64_t writes;
    uint64_t generation;
    bool operator==(const Look &) const = default;
  };
  std::optional<Look> looked = std::nullopt;
  uintptr_t end() const { return base + bytes; }
};

/// Allocations by address.
class AddressIndex {
public:
  void insert(Allocation allocation) {
    ++Changes;
    Map.emplace(allocation.base, std::move(allocation));
  }
  void erase(uintptr_t base) {
    ++Changes;
    Map.erase(base);
  }
  /// Grows with each change of which allocations there are.
  uint64_t generation() const { return Changes; }
  /// The allocation that holds the address; null: none does.
  Allocation *find(uintptr_t address);
  const Allocation *find(uintptr_t address) const {
    return const_cast<AddressIndex *>(this)->find(address);
  }
  /// visit(chunk) for each chunk that has bytes of the range, until it returns
  /// false, or an address is in no allocation.
  template <typename Visit>
  void forEachChunk(const AddressRange &range, Visit visit) const {
    for (uintptr_t at = range.begin; at < range.end;) {
      const Allocation *found = find(at);
      if (!found)
        return;
      Chunk &chunk = found->buffer->chunkAt(at);
      if (!visit(chunk))
        return;
      at = chunk.va() + chunk.bytes();
    }
  }
  /// The allocations that have bytes in [begin, end).
  std::vector<Allocation *> overlapping(uintptr_t begin, uintptr_t end);
  /// Says where an address is, of memory that somebody else has: Device's
  /// othersAt(). Without it, none is known.
  using OthersAt = std::function<AddressRange(uintptr_t)>;
  void setOthers(OthersAt others) { AskForOthers = std::move(others); }
  /// An address in no allocation: it is in memory that somebody else has, so a
  /// kernel that is given it accesses that. Not so close to a buffer: programs
  /// count from 1 or end at 0, and give a pointer to what is next to it.
  bool isOthers(uintptr_t address);
  const std::map<uintptr_t, Allocation> &all() const { return Map; }
  std::map<uintptr_t, Allocation> &all() { return Map; }

private:
  bool isNearBuffer(uintptr_t address) const;

  std::map<uintptr_t, Allocation> Map;
  uint64_t Changes = 0;
  OthersAt AskForOthers;
  /// Of others, as they were when there were so many changes.
  std::vector<AddressRange> Others;
  uint64_t OthersAsOf = 0;
};

struct AddressSpace {
  std::list<std::unique_ptr<Buffer>> Buffers;
  AddressIndex Allocations;
  uint64_t LiveBytes = 0;    ///< of all buffers, but for those a driver moves
  uint64_t OfProgram = 0;    ///< that the program's memory may hold for them
  size_t NumDriverMoved = 0; ///< how many these are

  /// The allocation that holds all of the range. An error names the call.
  StatusOr<Allocation *> rangeOf(uintptr_t address, size_t bytes,
                                 const char *call);
  /// Bytes of buffers that stay on the device.
  uint64_t keptBytes() const;
  /// Whether all buffers stay on the device, and have their contents there.
  bool allKept() const;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_ADDRESSSPACE_H
