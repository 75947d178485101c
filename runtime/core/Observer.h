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

/// What the compiler announced of a launch: bytes of buffers, sorted and
/// disjoint.
struct ObservedLaunch {
  const char *kernel;
  std::vector<AddressRange> may;  ///< read or written, perhaps
  std::vector<AddressRange> must; ///< overwritten before any read
  bool anything;                  ///< nothing is known: `may` says nothing
  bool indirect;                  ///< some address depends on loaded data
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
  virtual void launchBegins(const ObservedLaunch &launch) = 0;
  /// Blocks of the launch run next; `remote`: what they see in host memory.
  virtual void blocksRun(std::span<const AddressRange> remote) = 0;
  virtual void launchEnds() = 0;

  /// Whether launchBegins() needs to know what was announced.
  virtual bool wantsFootprints() const = 0;
  /// Adds what was seen to the statistics.
  virtual void report(Stats &stats) = 0;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_CORE_OBSERVER_H
