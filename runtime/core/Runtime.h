//===- Runtime.h - residency of buffers, for the API front ends -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The heart of the runtime as its front ends (runtime/cudart, the C API) see
// it: buffers over storage, copies, launches. A Runtime is created on first use
// and lives until the process ends. Every call may be made from any thread.
//
// Order: a call with a queue takes effect in that queue's order. Where chunks
// must move (out of core), a call may block until earlier work on them ended.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CORE_RUNTIME_H
#define DRAGON_RUNTIME_CORE_RUNTIME_H

#include "dragon/CompilerABI.h"
#include "dragon/dragon.h"
#include "runtime/base/Ledger.h"
#include "runtime/base/Settings.h"
#include "runtime/base/Status.h"
#include "runtime/device/Device.h"
#include "runtime/launch/LaunchCall.h"
#include "runtime/launch/LibraryCalls.h"
#include "runtime/memory/Allocator.h"
#include "runtime/oracle/Observer.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace dragon {

/// A part of a file that backs bytes of a buffer. Shared: the descriptor is
/// closed with the last reference.
class BackingFile; // runtime/tier/FileTier.h
struct FileRange;

struct BufferInfo {
  uintptr_t base;
  size_t bytes; ///< as asked for
  unsigned flags;
  std::string name; ///< "d_A", may be empty
  bool hostAccessible;
  bool driverMoved; ///< the device's driver moves it, as it likes
};

/// Bytes that contents of buffers take.
struct MemoryInUse {
  uint64_t device;
  uint64_t host;
  uint64_t swap;
};

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

  // -- Buffers
  StatusOr<uintptr_t> allocate(size_t bytes, const AllocateOptions &options);
  /// Waits for queued work that uses the buffer (as cudaFree does).
  Status free(uintptr_t base);
  /// The buffer that holds `address`, if one does.
  std::optional<BufferInfo> find(uintptr_t address) const;
  /// What cudaMemGetInfo should say: what the program can allocate and really
  /// use, given budgets, host memory and swap.
  StatusOr<DeviceMemory> memoryForProgram();
  MemoryInUse memoryInUse() const;

  // -- Data. Ranges must lie within one buffer where they lie in one at all.
  /// Any of the two sides may be host memory, a buffer, or memory that only
  /// the device knows. Returns when host memory may be reused, unless `async`
  /// and the memory is pinned. `pageable`: host memory on one side is not; work
  /// in the queue cannot reach it then, unless it `mayBePinned` after all.
  Status copy(void *to, const void *from, size_t bytes, Queue queue, bool async,
              bool pageable = false, bool mayBePinned = false);
  Status fill(void *to, uint32_t value, unsigned width, size_t count,
              Queue queue);
  /// Zeros that the host may look at when it returns.
  Status clear(uintptr_t base, size_t bytes);
  /// Contents of the range become bytes [fileOffset, ...) of the file, read
  /// only when needed and dropped instead of written back. The file must not
  /// change until the range is overwritten or freed.
  Status mapFileRange(uintptr_t address, size_t bytes,
                      const std::shared_ptr<BackingFile> &file,
                      int64_t fileOffset);
  /// Dirty chunks of the range may be evicted to their place in the file
  /// instead of to swap.
  Status setSink(uintptr_t address, size_t bytes,
                 std::shared_ptr<BackingFile> file, int64_t fileOffset,
                 const dragon_reason *why = nullptr);
  /// Some range has had a sink.
  bool hasSinks() const;
  /// Writes the contents of the range to the file at fileOffset: from wherever
  /// they are, once; bytes that are there already (setSink) are not written
  /// again. `written` = bytes from the start that are in the file, also on
  /// failure (a full disk).
  Status writeToFile(uintptr_t address, size_t bytes,
                     std::shared_ptr<BackingFile> file, int64_t fileOffset,
                     size_t &written);
  /// The program is about to change the file by other means: contents of
  /// buffers that are stored in it (mapFileRange, setSink) move elsewhere.
  Status detachFile(dev_t deviceId, ino_t inode);
  /// Somebody else may be about to change the file: what buffers have nowhere
  /// else, and the ranges, are saved (BackingFile::save).
  Status saveInput(const std::shared_ptr<BackingFile> &file,
                   std::vector<FileRange> ranges);
  /// Somebody wants to hear of host code: DRAGON_CHECK.
  bool isWatched() const;
  /// For who watches.
  void noteHostCode(const ObservedHostCode &code);
  /// Contents become undefined. `eager`: where data is moving, memory and swap
  /// are given back as soon as queued work is done with them.
  Status discard(uintptr_t address, size_t bytes, Queue queue,
                 bool eager = false, const dragon_reason *why = nullptr);
  Status prefetch(uintptr_t address, size_t bytes, Queue queue);
  /// To host memory; only where a driver moves the buffer.
  Status prefetchToHost(uintptr_t address, size_t bytes, Queue queue);
  /// The device needs the buffer again after so many other launches; 0: what
  /// fits is brought in now; NeverAgain. A hint, until the next use.
  static constexpr uint32_t NeverAgain = UINT32_MAX;
  Status nextUse(uintptr_t address, uint32_t launches);
  Status advise(uintptr_t address, size_t bytes, dragon_advice advice);
  /// D_WRITE maps: contents to the file, then fdatasync.
  Status sync(uintptr_t base);

  /// A buffer over a file, for dragon_map; flags: those of dragon.h, and
  /// MapHostBuffer.
  StatusOr<uintptr_t> mapFile(const char *path, size_t bytes, int64_t offset,
                              unsigned flags);
  /// Gives a map other flags (D_READ, D_WRITE, D_VOLATILE). What was D_WRITE is
  /// in the file then. Contents stay, but those of D_VOLATILE: they become the
  /// file's with D_READ, else zeros. `file`: the map's from its first byte on,
  /// writable for D_WRITE; null for D_VOLATILE.
  Status remapFile(uintptr_t base, unsigned flags,
                   const std::shared_ptr<BackingFile> &file);

  // -- Work
  /// A launch may be kept back, to run together with those that follow. Every
  /// other call that could tell the difference runs it first.
  Status launch(const LaunchCall &call);
  /// Runs what was kept back: for calls that go to the device without asking
  /// this class.
  Status runWaiting();
  /// The program destroys its queue. What is in it still runs; another queue
  /// may get the same handle, and is not ordered behind it.
  Status destroyQueue(Queue queue);
  /// How many bytes from the beginning of the buffer at `address` the launch
  /// would overwrite before any read, in whole chunks; SIZE_MAX if all. 0 if no
  /// data is moving.
  size_t overwritten(const LaunchCall &call, uintptr_t address) const;
  /// Data is moving, and such a launch would read nothing below the pointer
  /// that lies at `field` in its argument, wherever that points.
  bool readsUpwards(const LaunchCall &call, uint32_t argument,
                    uint32_t field) const;

  /// A listener hears of changes to a buffer before they happen: launches that
  /// may write it, copies into it, fills, frees. Used for deferred copies out
  /// of it (staging elision). Called without the runtime's lock.
  using BeforeWrite = void (*)(void *context, uintptr_t begin, uintptr_t end);
  /// Not asked while `wanted` is false, if it is given.
  void setBeforeWrite(BeforeWrite listener, void *context,
                      const std::atomic<bool> *wanted = nullptr);

  /// Code that this runtime does not launch is about to work on the buffer at
  /// `address` (on all buffers): it comes to the device as a whole and stays
  /// there. An error if the budget does not hold it.
  Status keepResident(uintptr_t address);
  Status keepAllResident();

  /// A library function is about to be called that works on buffers by itself:
  /// what it uses comes to the device and stays until endLibraryCall. An error
  /// if the budget does not hold it.
  Status beginLibraryCall(const LibraryCall &call, LibraryHold &hold);
  Status endLibraryCall(const LibraryHold &hold);
  /// keepResident, also for buffers whose addresses are in a small one.
  Status keepReachable(uintptr_t address);

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
  /// a thread that holds nothing.
  void reportBeforeDeath();

  struct Impl;

private:
  explicit Runtime(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> State;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_CORE_RUNTIME_H
