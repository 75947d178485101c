//===- Observer.h - who watches what a program does -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The program's operations on buffers as they happen, whatever the runtime does
// to carry them out: for judges of its policy and of the compiler's directives
// (runtime/oracle), which share no code with it. All calls are made under the
// runtime's lock, in the order in which the operations take effect; an observer
// calls nobody back.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_ORACLE_OBSERVER_H
#define DRAGON_RUNTIME_ORACLE_OBSERVER_H

#include "dragon/CompilerABI.h"
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
  /// The part of `may` whose accesses depend on no loaded data.
  std::vector<AddressRange> affine;
  bool indirect = false;    ///< some address depends on loaded data
  bool conditional = false; ///< whether some access happens does
  bool anything = false;    ///< nothing is known: the sets are empty
  std::vector<AddressRange> mayWrite = {}; ///< of `may`
};

/// What the program allocated.
struct ObservedBuffer {
  AddressRange range;
  std::string name;                   ///< "d_A", or nothing
  unsigned flags = 0;                 ///< dragon_flags
  bool hostAccessible = false;        ///< the host may change it unseen
  const dragon_reason *why = nullptr; ///< of the flags; null: the program's own
};

/// Contents that nobody needs any more.
struct ObservedEnd {
  AddressRange range;
  /// The launch of this number is the last to need them.
  uint64_t launch;
  /// Null: the program has discarded them itself.
  const dragon_reason *why = nullptr;
};

/// Host code that touches memory which a directive keeps from it.
struct ObservedHostCode {
  enum Rule {
    Filled, ///< it has kept it from being filled
    Source, ///< it has left it to be copied later: it must not change
    Place   ///< it lets results come there early
  };
  const char *file;
  unsigned line;
  bool writes;
  const dragon_reason *why; ///< the directive
  Rule rule = Filled;
};

/// How what is no buffer gets at contents.
enum class HostAccess {
  Copy,
  Variable, ///< a copy, by a device variable: not by the host
  File,     ///< to a file or from one, by the runtime
  Fault,    ///< by the processor: perhaps less than the range
};

class Observer {
public:
  virtual ~Observer() = default;

  virtual void allocated(const ObservedBuffer &buffer) = 0;
  virtual void freed(AddressRange range) = 0;
  /// The contents come from the host from now on. `contents`: what they are;
  /// null: not known, or not for long.
  virtual void hostWrote(AddressRange range, HostAccess how,
                         const void *contents) = 0;
  /// The host looks at the contents, and gets those at `contents`, if that is
  /// not null.
  virtual void hostRead(AddressRange range, HostAccess how,
                        const void *contents) = 0;
  virtual void copied(uintptr_t to, uintptr_t from, size_t bytes) = 0;
  /// With `width` bytes of `value`, over and over.
  virtual void filled(AddressRange range, uint32_t value, unsigned width) = 0;
  /// The contents are dead, or will be when the launch has run.
  virtual void discarded(const ObservedEnd &end) = 0;
  virtual void prefetched(AddressRange range) = 0;
  /// From now on others work on the range without being seen.
  virtual void unseen(AddressRange range) = 0;
  virtual void touchesElided(const ObservedHostCode &code) = 0;
  /// The numbers are those of the program's order, which launches that run
  /// together may not keep: each of their slices begins and ends by itself.
  virtual void launchBegins(const char *kernel, uint64_t number) = 0;
  /// Blocks of the launch run next, all or a slice; `remote`: what they see in
  /// host memory.
  virtual void blocksRun(const ObservedBlocks &blocks,
                         std::span<const AddressRange> remote) = 0;
  virtual void launchEnds() = 0;

  /// Whether blocksRun() needs to know what was announced.
  virtual bool wantsFootprints() const = 0;
  /// Adds what was seen to the statistics.
  virtual void report(Stats &stats) = 0;
  /// The process's exit status, if what was seen is reason enough for one; else
  /// 0. For the end, of which it may print something.
  virtual int verdict() = 0;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_ORACLE_OBSERVER_H
