//===- Observer.h - who watches what a program does -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The program's operations on buffers as they happen, whatever the runtime does
// to carry them out: for judges of its policy (runtime/oracle), which share no
// code with it. All calls are made under the runtime's lock, in the order in
// which the operations take effect; an observer calls nobody back.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CORE_OBSERVER_H
#define DRAGON_RUNTIME_CORE_OBSERVER_H

#include "runtime/device/Device.h"
#include "runtime/trace/Stats.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dragon {

/// What the compiler announced of some blocks of a launch: bytes of buffers,
/// sorted and disjoint.
struct ObservedBlocks {
  std::vector<AddressRange> may;  ///< read or written, perhaps
  std::vector<AddressRange> must; ///< overwritten before any read
  /// Of `may`, those of accesses that depend on no loaded data.
  std::vector<AddressRange> affine;
  bool indirect = false;    ///< some address depends on loaded data
  bool conditional = false; ///< whether some access happens does
  bool anything = false;    ///< nothing is known: the sets are empty
};

class Observer {
public:
  virtual ~Observer() = default;

  virtual void allocated(AddressRange range) = 0;
  virtual void freed(AddressRange range) = 0;
  /// The contents come from the host from now on (a copy, a file, a fault).
  virtual void hostWrote(AddressRange range) = 0;
  /// The host looks at the contents (a copy, a file to write, a fault).
  virtual void hostRead(AddressRange range) = 0;
  virtual void copied(uintptr_t to, uintptr_t from, size_t bytes) = 0;
  virtual void filled(AddressRange range) = 0;
  /// By a directive; the contents are dead.
  virtual void discarded(AddressRange range) = 0;
  virtual void prefetched(AddressRange range) = 0;
  virtual void launchBegins(const char *kernel) = 0;
  /// Blocks of the launch run next, all or a slice; `remote`: what they see in
  /// host memory.
  virtual void blocksRun(const ObservedBlocks &blocks,
                         std::span<const AddressRange> remote) = 0;
  virtual void launchEnds() = 0;

  /// Whether blocksRun() needs to know what was announced.
  virtual bool wantsFootprints() const = 0;
  /// Adds what was seen to the statistics.
  virtual void report(Stats &stats) = 0;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_CORE_OBSERVER_H
