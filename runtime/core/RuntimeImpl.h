//===- RuntimeImpl.h - how the parts of the Runtime are wired ---*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts, each made of those above it:
//
//   memory   what has contents where, and moves it
//   files    files under buffers
//   launch   the way of a launch to the device
//
// One lock in two parts protects everything (base/RuntimeLock.h): calls that
// move contents have both, and give up the second while they wait for files;
// launches in core and questions have the second alone. Neither is held while
// user code or the BeforeWrite listener runs. Threads get it in the order of
// their calls: one that calls in a loop keeps no other out.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CORE_RUNTIMEIMPL_H
#define DRAGON_RUNTIME_CORE_RUNTIMEIMPL_H

#include "runtime/base/SignalsHeldOff.h"
#include "runtime/core/IdleFetch.h"
#include "runtime/core/PageFiles.h"
#include "runtime/core/Reporter.h"
#include "runtime/core/Runtime.h"
#include "runtime/files/FileMaps.h"
#include "runtime/files/ProgramMemory.h"
#include "runtime/files/WriteOut.h"
#include "runtime/launch/Launcher.h"
#include "runtime/launch/LibraryCalls.h"
#include "runtime/memory/CopiedContents.h"
#include "runtime/memory/HostFaults.h"
#include "runtime/memory/Transfers.h"

#include <atomic>
#include <set>

namespace dragon {

/// What is divided with other programs; null: it is not.
struct Shares {
  std::unique_ptr<DeviceShare> device = nullptr, host = nullptr;
};

struct RuntimeImpl {
  RuntimeImpl(Settings settings, std::unique_ptr<Device> device, Budget budget,
              std::unique_ptr<Observer> watcher, Shares shares = {});
  ~RuntimeImpl();
  Status start();
  Status startTracing();

  /// Both parts of the lock.
  class Guard {
  public:
    explicit Guard(const RuntimeImpl &impl);
    ~Guard();

  private:
    const SignalsHeldOff HeldOff;
    const RuntimeImpl &Locked;
  };
  /// Both parts, if nobody has them.
  class TryGuard {
  public:
    explicit TryGuard(const RuntimeImpl &impl);
    ~TryGuard();
    explicit operator bool() const { return Has; }
    TryGuard(const TryGuard &) = delete;
    TryGuard &operator=(const TryGuard &) = delete;

  private:
    const RuntimeImpl &Locked;
    bool Has;
  };
  /// The second part: for questions, and for launches in core.
  class StateGuard {
  public:
    explicit StateGuard(const RuntimeImpl &impl);
    ~StateGuard();

  private:
    const SignalsHeldOff HeldOff;
    const RuntimeImpl &Locked;
  };
  /// The calling thread holds the lock or waits for it: to wait for it now, in
  /// a fault, would take for ever.
  static bool lockedByThisThread();
  static bool onFault(void *context, uintptr_t address, bool write);

  /// An error once the device has gone away.
  Status usable() const;
  /// The same, and what was kept back runs: every call begins with it that
  /// could tell whether it has.
  Status ready();
  /// The allocation that begins there. An error names the call.
  StatusOr<Allocation *> allocationAt(uintptr_t base, const char *call);
  Status free(uintptr_t base, QueueOrder order = std::nullopt);
  /// None of the program's memory there is pinned any more.
  void unpin(uintptr_t begin, uintptr_t end);
  /// This program follows what it may have of what is divided.
  void startSharing();
  /// It does no more, and nothing is fetched but by its calls. Without the
  /// lock.
  void stopThreads();
  /// IdleFetch::Step.
  bool fetchAhead(bool &more);
  /// Device memory beyond the limit goes back. False: some of it cannot yet.
  bool followShare();
  /// The same of host memory.
  bool followHostShare();
  /// The same of a peer's memory.
  bool followPeer(unsigned peer);
  /// Grows while the program launches work or waits for it.
  uint64_t activity();
  /// What a byte takes to the device and back; 0: not measured yet.
  double secondsPerByte();
  Status quiesce();
  Status shutdown();
  /// `locked`: with the lock; what is behind it is left out otherwise.
  void printStats(bool locked);

  Context Ctx;
  WorkTracker Time;
  AddressSpace Space;
  NextUses Next;
  StorageIo Store;
  HostSlabs Slabs;
  ReadAhead Reads;
  WriteBehind Writes;
  HostMemory Host;
  Contents Data;
  DeviceChunks OnDevice;
  ProgramPins Pinned;
  Residency Resident;
  FetchAhead Ahead;
  DriverMoved Driver;
  Discards Discarded;
  HostMapping Mapping;
  Transfers Moves;
  CopiedContents Copied;
  Allocator Alloc;
  HostFaults Faults;

  Sinks Announced;
  FileMaps Maps;
  ProgramMemory Program;
  WriteOut Out;

  LastUses Ends;
  DriverHints Hints;
  Submitter Submit;
  AccessCounting Counting;
  PageCache Pages;
  LoopState Between;
  SlicePlanner Plans;
  SlicePipeline Pipeline;
  SliceRunner Slices;
  HostMappedRunner Mapped;
  StorageRunner FromStorage;
  LaunchRunner Single;
  WaveRunner Waves;
  IndexArrays Indices;
  ComputedContents Computed;
  Launcher Launches;
  LibraryCalls Library;

  Reporter Tells;
  IdleFetch Idle;
  /// What the page of the run is made of.
  PageFiles Page;
  bool ShutDown = false;
  std::atomic<bool> Reported{false}; ///< the statistics, or somebody is at it
  uint64_t WaitsSeen = 0;
  bool Closed = false; ///< the device has gone away
  RuntimeLaunches::BeforeWrite Listener = nullptr;
  void *ListenerContext = nullptr;
  const std::atomic<bool> *ListenerWanted = nullptr;
  RuntimeBuffers::StillWanted StillWanted = nullptr;
  void *StillWantedContext = nullptr;
  /// Bases of buffers that the program has freed, and that are still wanted.
  std::set<uintptr_t> FreedButWanted;
  /// Null: nobody wants to hear now.
  RuntimeLaunches::BeforeWrite listener() const;
  /// Tells the listener, without the lock, that ranges are about to change.
  void tellListener(std::span<const AddressRange> ranges);
  void tellListener(uintptr_t begin, uintptr_t end) {
    const AddressRange range{begin, end};
    tellListener({&range, 1});
  }
};

} // namespace dragon

#endif // DRAGON_RUNTIME_CORE_RUNTIMEIMPL_H
