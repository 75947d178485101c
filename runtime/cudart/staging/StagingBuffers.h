//===- StagingBuffers.h - buffers that need not be filled -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler has proved that nobody looks at a staging buffer but the calls
// it rewrote (dragon/CompilerABI.h, "Staging elision"). So they only write down
// where the buffer's contents are (DeferredMap):
//
//   fread                 [h ..) is at this offset of the file; position moves
//   cudaMemcpy to d       d's contents become that part of the file: nothing
//                         is read before a kernel needs it
//   cudaMemcpy from d     [h ..) is in d
//   fwrite                d goes to the file, from wherever its chunks are
//
// Deferred contents are materialised, that is, really brought to the staging
// buffer, before what they stem from changes: a device buffer (the runtime
// tells us), a file (InputFiles.h). Whatever is small, no regular file, or
// otherwise out of the ordinary is done as the program says.
//
// Threads: one lock over the map. It is held while contents are materialised or
// mapped, and released while they are written to a file; a device buffer that
// is being written out cannot change until that has ended (Reading).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_STAGING_STAGINGBUFFERS_H
#define DRAGON_RUNTIME_CUDART_STAGING_STAGINGBUFFERS_H

#include "runtime/core/Runtime.h"
#include "runtime/cudart/front/ErrorMap.h"
#include "runtime/cudart/staging/DeferredMap.h"
#include "runtime/cudart/staging/InputFiles.h"

#include <atomic>
#include <condition_variable>
#include <list>
#include <mutex>

namespace dragon {

struct Front;

class StagingBuffers {
public:
  /// Transfers below this are not worth the bookkeeping.
  static constexpr size_t MinimumBytes = 64 << 10;

  /// Called once, when there is a runtime.
  void attach(Runtime &runtime);
  /// DRAGON_ELIDE, and the transfer is large enough.
  bool worthwhile(size_t bytes);

  // -- Reading into a staging buffer (StagingRead.cpp)
  /// Something in the range is deferred.
  bool deferred(const void *buffer, size_t bytes);
  /// The file for deferred reads from `fd`, or null.
  std::shared_ptr<BackingFile> inputFile(int fd);
  /// The range is bytes [offset ..) of the file.
  void deferRead(void *buffer, size_t bytes, std::shared_ptr<BackingFile> file,
                 int64_t offset, const dragon_reason *why);
  /// The range is about to be written for real, surely all of it or perhaps
  /// only a part: then the rest must be what it would be.
  Status beforeOverwrite(void *buffer, size_t bytes, bool surely);
  void overwritten(void *buffer, size_t bytes);

  // -- Copies (StagingCopy.cpp)
  Result copy(Front &front, void *to, const void *from, size_t bytes,
              cudaMemcpyKind kind, cudaStream_t stream, bool async,
              const dragon_reason *why);

  // -- Writing out of a staging buffer (StagingWrite.cpp)
  std::shared_ptr<BackingFile> outputFile(int fd);
  /// The range to the file, from wherever it is. `written` = bytes from the
  /// start that are there; all of them, or false.
  bool writeOut(const void *buffer, size_t bytes,
                const std::shared_ptr<BackingFile> &file, int64_t offset,
                size_t &written);

  // -- The end of deferral
  Status materialise(const void *buffer, size_t bytes);
  /// `why`: the directive's; one without a name where the memory is freed.
  void forget(const void *buffer, size_t bytes, const dragon_reason *why);
  /// The compiler knows that nobody needs what is in the device range any more,
  /// and so nobody reads what stands for it here.
  void contentsEnd(uintptr_t begin, uintptr_t stop, const dragon_reason *why);
  /// Host code is about to touch the memory. If that is deferred, or was and is
  /// dead by a directive, who watches is told. 0 bytes: it gives the address to
  /// a function that is not watched.
  void hostTouches(const void *memory, size_t bytes, ObservedHostCode code);
  /// The file is about to be changed by other means.
  Status detachFile(dev_t device, ino_t inode);
  Status streamEnds(Queue queue);
  Status reset(); ///< everything that is in device memory
  /// The device goes away with the process: what nobody has used yet is
  /// brought. The rest is not worth a transfer.
  Status processEnds();

  // -- Children (StagingFork.cpp)
  /// A child may be about to change files: what was read from them is saved.
  Status saveInputs();
  /// A child is about to get a copy of the memory, and cannot reach the device.
  void bringResults();
  void lockForFork();
  void unlockInParent();
  void unlockInChild();

private:
  /// A device range that is being written to a file.
  struct Reading {
    uintptr_t begin;
    uintptr_t end;
  };
  using Guard = std::unique_lock<std::recursive_mutex>;

  /// The lock, with nothing of the device range being written to a file.
  Guard lockWhenStill(uintptr_t begin, uintptr_t end);
  static bool writeMemory(int fd, const void *memory, size_t bytes,
                          int64_t offset, size_t &done);
  void end(Segment &segment, const dragon_reason *why);
  static void beforeWrite(void *context, uintptr_t begin, uintptr_t end);
  Status deviceChanges(uintptr_t begin, uintptr_t end);
  Status materialiseAll(const std::vector<Segment> &list);
  Status bring(const Segment &segment, void *memory);
  Status saveInput(const std::shared_ptr<BackingFile> &file);
  Result copyIn(Front &front, void *to, const void *from, size_t bytes,
                cudaStream_t stream, bool async);
  Result copyOut(Front &front, void *to, const void *from, size_t bytes,
                 cudaStream_t stream, bool async, const dragon_reason *why);
  void countPieces();

  std::recursive_mutex Lock;
  std::condition_variable_any ReadingEnds;
  DeferredMap Map;
  DeferredMap Dead; ///< for who watches: what directives have ended
  InputFiles Files;
  std::list<Reading> Readings;
  Runtime *Attached = nullptr;
  /// Without the lock: is there anything that a call might meet?
  std::atomic<bool> AnyDeferred{false};
  std::atomic<bool> AnyOfDevice{false};
  std::atomic<uintptr_t> KnownBegin{UINTPTR_MAX}; ///< of Map and Dead
  std::atomic<uintptr_t> KnownEnd{0};             ///< 0: both are empty
};

/// The process's; safe to use at any time.
StagingBuffers &staging();

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_STAGING_STAGINGBUFFERS_H
