//===- RingMemory.h - memory that rings have registered ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A request that goes past the page cache pins the pages of its memory, and
// unpins them when it is done. Of memory that a ring has registered they are
// pinned once: that saves a third of a request's processor time where pages are
// huge, and more than half where they are small (bench/files).
//
// To register memory pins all of it, in each ring anew. That is in vain for
// what is used once: a ring has memory registered when it is used again after
// as many bytes as it is long have gone there through this ring.
//
//   known memory    A (slot 0)     B (slot 1)     C (no slot: always plain)
//   ring 1          registered     12 MiB so far
//   ring 2                         registered
//
// Where the kernel refuses (it is older than 5.19, the limit of locked memory
// is reached, or a driver's memory has no pages that could be pinned), requests
// are plain ones, and the log says so once. Pages that are pinned are not the
// memory of whatever is mapped at their address later: known memory must be
// forgotten before it is unmapped, and is then registered nowhere.
//
// Threads: KnownMemory from any thread; no request uses memory that is being
// forgotten. slotFor() is for the thread that has the ring.
//
// Source: io_uring_register(2), IORING_REGISTER_BUFFERS2 and _UPDATE.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_TIER_RINGMEMORY_H
#define DRAGON_RUNTIME_TIER_RINGMEMORY_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

struct io_uring; // NOLINT(readability-identifier-naming): liburing's

namespace dragon {

class IoFaults;
class RingMemory;

/// What all rings of an engine may register.
class KnownMemory {
public:
  static constexpr unsigned NumSlots = 4096;

  /// `faults`, if any, may refuse in the kernel's place.
  explicit KnownMemory(IoFaults *faults) : Faults(faults) {}

  void add(void *memory, size_t bytes);
  void remove(void *memory);

private:
  friend class RingMemory;
  struct Range {
    size_t bytes;
    uint64_t number; ///< no other range ever has it
    unsigned slot;
    bool refused = false;
  };

  /// What the range is in and can be registered, if any.
  std::optional<std::pair<uintptr_t, Range>> find(const void *memory,
                                                  size_t bytes);
  /// The kernel's answer, a negative errno, was about this range.
  void refuse(uintptr_t begin, int code);

  IoFaults *const Faults;
  std::mutex Lock; ///< before that of a ring
  std::map<uintptr_t, Range> Ranges;
  std::vector<unsigned> FreeSlots;
  unsigned NumUsed = 0; ///< slots that ever were
  uint64_t LastNumber = 0;
  std::vector<RingMemory *> Rings;
  std::atomic<bool> Off{false}; ///< nothing more is registered
  bool Noted = false;
};

/// What one ring has registered of it.
class RingMemory {
public:
  static constexpr int Plain = -1;

  RingMemory(KnownMemory &known, io_uring &ring);
  /// Before the ring is closed.
  ~RingMemory();
  RingMemory(const RingMemory &) = delete;
  RingMemory &operator=(const RingMemory &) = delete;

  /// For a request: the slot in which its memory is registered, or Plain.
  int slotFor(const void *memory, size_t bytes);

private:
  friend class KnownMemory;
  struct Entry {
    uint64_t number = 0; ///< whose bytes these are
    uint64_t bytes = 0;  ///< that went there so far
    bool registered = false;
  };
  void forget(const KnownMemory::Range &range);
  /// Null: nothing is in that slot any more. 0, or a negative errno.
  int put(unsigned slot, void *memory, size_t bytes);

  KnownMemory &Known;
  io_uring &Ring;
  std::mutex Lock;
  bool HasTable = false;
  std::vector<Entry> Entries; ///< by slot
};

} // namespace dragon

#endif // DRAGON_RUNTIME_TIER_RINGMEMORY_H
