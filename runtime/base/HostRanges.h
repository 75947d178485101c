//===- HostRanges.h - addresses whose host accesses may fault ---*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where buffers are that the host may touch and whose chunks move (managed
// memory, dragon_malloc, dragon_map): the kernel cannot be given such
// addresses, because its own accesses raise no signal that would bring a chunk.
//
// A map of bits, one for each unit of 2 MiB, as large as the addresses that a
// process has. So a question takes no lock: it may be asked in handlers of
// signals, and in a child made by fork while another thread changed the map. A
// bit too many costs a copy, never a result; buffers begin and end at units.
//
// Threads: questions from any thread; changes by the owner of the range.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_HOSTRANGES_H
#define DRAGON_RUNTIME_MEMORY_HOSTRANGES_H

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace dragon {

class HostRanges {
public:
  static constexpr uintptr_t UnitBytes = uintptr_t(1) << 21;

  static void add(uintptr_t begin, uintptr_t end);
  static void remove(uintptr_t begin, uintptr_t end);
  /// In a child made by fork, where nobody serves faults.
  static void removeAll() { Units.store(0, std::memory_order_relaxed); }

  /// There is any at all.
  static bool any() { return Units.load(std::memory_order_relaxed) != 0; }
  /// The range has such addresses.
  static bool overlaps(const void *memory, size_t bytes) {
    return any() && bytes && find(memory, bytes);
  }
  /// How many of the `bytes` at `memory` are of one kind, `isOne` or not.
  static size_t runAt(const void *memory, size_t bytes, bool &isOne);

private:
  static bool find(const void *memory, size_t bytes);
  static std::atomic<uint64_t> Units; ///< how many are marked
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_HOSTRANGES_H
