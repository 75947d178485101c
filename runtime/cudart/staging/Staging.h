//===- Staging.h - all that works on staging buffers -*- C++ -*- -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_STAGING_STAGING_H
#define DRAGON_RUNTIME_CUDART_STAGING_STAGING_H

#include "runtime/cudart/staging/MappedFiles.h"
#include "runtime/cudart/staging/SourceHistory.h"
#include "runtime/cudart/staging/StagingBuffers.h"

#include <optional>

namespace dragon {

struct Front;

/// Copies with one side in a staging buffer (StagingCopy.cpp).
class StagingCopies {
public:
  StagingCopies(DeferredContents &contents, StagingBuffers &buffers)
      : Contents(contents), Buffers(buffers) {}

  Result copy(Front &front, void *to, const void *from, size_t bytes,
              cudaMemcpyKind kind, cudaStream_t stream, bool async,
              const dragon_reason *why);
  /// A copy to the device from memory that is a file's bytes: these become the
  /// contents. Nothing has been done if there is no result. The copy has been
  /// checked.
  std::optional<Result> copyMapped(Front &front, void *to, const void *from,
                                   size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream, bool async);

  /// A copy to the device from memory that the program settles before it
  /// changes it: may be made later.
  Result copyDeferred(Front &front, void *to, const void *from, size_t bytes,
                      cudaMemcpyKind kind, cudaStream_t stream, bool async,
                      const dragon_reason *why);

  /// A copy to the device from memory that is protected until it has been made
  /// (ProtectedMemory.h). Nothing has been done if there is no result. The copy
  /// has been checked.
  std::optional<Result> copyProtected(Front &front, void *to, const void *from,
                                      size_t bytes, cudaStream_t stream,
                                      bool async);

private:
  /// A buffer's contents can be the program's memory at `source`.
  static bool canBeMapped(Front &front, uintptr_t target, uintptr_t source);
  StatusOr<bool> mapMemory(Front &front, uintptr_t target, const void *from,
                           size_t bytes, const dragon_reason *why);
  Result mapPart(Front &front, void *to, size_t bytes,
                 const std::shared_ptr<BackingFile> &file, int64_t offset);
  Result copyIn(Front &front, void *to, const void *from, size_t bytes,
                cudaStream_t stream, bool async);
  Result copyOut(Front &front, void *to, const void *from, size_t bytes,
                 cudaStream_t stream, bool async, const dragon_reason *why);

  DeferredContents &Contents;
  StagingBuffers &Buffers;
  MappedFiles Mapped;
  SourceHistory Sources;
};

/// Writes out of staging buffers (StagingWrite.cpp).
class StagingWrites {
public:
  explicit StagingWrites(DeferredContents &contents) : Contents(contents) {}

  /// The range to the file, from wherever it is. `written` = bytes from the
  /// start that are there; all of them, or false.
  bool writeOut(const void *buffer, size_t bytes,
                const std::shared_ptr<BackingFile> &file, int64_t offset,
                size_t &written);

private:
  bool writeOne(DeferredContents::Guard &guard, const Segment &next,
                const std::shared_ptr<BackingFile> &file, int64_t place,
                size_t &done);

  DeferredContents &Contents;
};

/// Child processes (StagingFork.cpp).
class StagingChildren {
public:
  StagingChildren(DeferredContents &contents, StagingBuffers &buffers)
      : Contents(contents), Buffers(buffers) {}

  /// A child may be about to change files: what was read from them is saved.
  Status saveInputs();
  /// A child is about to get a copy of the memory, and cannot reach the device.
  void bringResults();
  // Locked over a fork, so that the child's copy is consistent: what was read
  // from files and deferred can still be read there.
  void lockForFork();
  void unlockInParent();
  void unlockInChild();

private:
  Status saveInput(const std::shared_ptr<BackingFile> &file);

  DeferredContents &Contents;
  StagingBuffers &Buffers;
};

/// free() and what else releases memory is heard of: the program has not
/// brought an allocator of its own (process/InterposeMemory.cpp).
bool releasesAreHeard();

struct Staging {
  DeferredContents contents;
  StagingBuffers buffers{contents};
  StagingCopies copies{contents, buffers};
  StagingWrites writes{contents};
  StagingChildren children{contents, buffers};
};

/// The process's; safe to use at any time.
Staging &staging();

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_STAGING_STAGING_H
