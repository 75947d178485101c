//===- Runtime.h - residency of buffers, for the API front ends -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The heart of the runtime as its front ends (runtime/cudart, the C API) see
// it: buffers over storage, files, launches and libraries, a class for each. A
// Runtime is created on first use and lives until the process ends. Every call
// may be made from any thread.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CORE_RUNTIME_H
#define DRAGON_RUNTIME_CORE_RUNTIME_H

#include "runtime/base/Ledger.h"
#include "runtime/base/Settings.h"
#include "runtime/base/Status.h"
#include "runtime/core/PageFiles.h"
#include "runtime/core/RuntimeBuffers.h"
#include "runtime/core/RuntimeFiles.h"
#include "runtime/core/RuntimeLaunches.h"
#include "runtime/core/RuntimeLibraries.h"
#include "runtime/device/Device.h"
#include "runtime/oracle/Observer.h"

#include <memory>

namespace dragon {

class Runtime {
public:
  /// The process's runtime; created by the first call. A failure is final and
  /// is returned by every later call.
  static StatusOr<Runtime *> get();
  /// For tests: one of their own, on a device they made.
  static StatusOr<std::unique_ptr<Runtime>>
  create(Settings settings, std::unique_ptr<Device> device);
  static StatusOr<std::unique_ptr<Runtime>>
  create(Settings settings, std::unique_ptr<Device> device,
         std::unique_ptr<Observer> observer);
  ~Runtime();

  Device &device();
  Ledger &ledger();
  const Settings &settings() const;

  RuntimeBuffers &buffers() { return Buffers; }
  const RuntimeBuffers &buffers() const { return Buffers; }
  RuntimeFiles &files() { return Files; }
  const RuntimeFiles &files() const { return Files; }
  RuntimeLaunches &launches() { return Launches; }
  const RuntimeLaunches &launches() const { return Launches; }
  RuntimeLibraries &libraries() { return Libraries; }

  /// Somebody wants to hear of host code: DRAGON_CHECK.
  bool isWatched() const;
  /// For who watches.
  void noteHostCode(const ObservedHostCode &code);

  /// Other programs come first for the memory of a device that is shared, until
  /// the next launch.
  void yield();
  bool isShared() const;
  /// Waits for all work and writes what D_WRITE maps hold: nothing is lost if
  /// the device goes away after it. `last`: it does, and calls by any thread,
  /// those that wait for this one as well, fail from then on.
  Status quiesce(bool last = false);
  /// What who watches makes of the run, for the process's end: an exit status,
  /// or 0.
  int verdict();

  /// Waits for all work, writes what D_WRITE maps hold, prints the statistics.
  /// Called at exit and by cudaDeviceReset; safe to call more than once.
  Status shutdown();
  /// The process is about to be killed: prints the statistics and completes the
  /// trace, with what is known without the lock if that cannot be had soon. For
  /// a thread that holds nothing. False: somebody else has begun to.
  bool reportBeforeDeath();
  /// What they have left for the page of the run.
  PageFiles pageFiles() const;

  using Impl = RuntimeImpl;

private:
  explicit Runtime(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> State;
  RuntimeBuffers Buffers;
  RuntimeFiles Files;
  RuntimeLaunches Launches;
  RuntimeLibraries Libraries;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_CORE_RUNTIME_H
