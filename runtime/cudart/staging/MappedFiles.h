//===- MappedFiles.h - memory that is a file's bytes ------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs map files and copy from there to the device, as those do that load
// the weights of models. Such a copy moves nothing: the file's bytes become the
// contents of the buffer, read when a kernel needs them and dropped when they
// must go (StagingCopies::copyMapped). This holds where the memory is what the
// file has, and the file stays so:
//
//   * the mapping is the file's. Pages of a private one that the program has
//     written are its own: /proc/self/pagemap tells them apart;
//   * nobody has the file open to write it: then no read lease could be taken.
//     Who opens it later is found out as for every input (InputFiles.h);
//   * it is on a disk: memory of a file system in memory is no storage.
//
// Sources: mmap(2), fcntl(2) F_SETLEASE, proc_pid_maps(5) with PROCMAP_QUERY
// (Linux 6.11), proc_pid_pagemap(5).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_STAGING_MAPPEDFILES_H
#define DRAGON_RUNTIME_CUDART_STAGING_MAPPEDFILES_H

#include "runtime/base/Descriptor.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace dragon {

/// A place in a file that is open to be read.
struct OpenFilePlace {
  Descriptor file;
  int64_t offset;
};

/// Thread-safe.
class MappedFiles {
public:
  /// To ask the kernel takes some microseconds. Small copies are asked for only
  /// where a large one was from a file: between the large tensors of a model
  /// there are small ones.
  bool worthAsking(uintptr_t begin, size_t bytes) const {
    constexpr size_t Large = 1 << 20;
    return bytes >= Large ||
           (begin >= Begin.load(std::memory_order_relaxed) &&
            begin + bytes <= End.load(std::memory_order_relaxed));
  }
  /// The file that has the bytes, and where; nothing if they are not those of
  /// one file, or might not stay so.
  std::optional<OpenFilePlace> placeOf(uintptr_t begin, size_t bytes);

private:
  /// The mapping that was found last.
  std::atomic<uintptr_t> Begin{0};
  std::atomic<uintptr_t> End{0};
};

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_STAGING_MAPPEDFILES_H
