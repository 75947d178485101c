//===- MemoryFile.h - physical memory of the cpu device -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Physical memory that can be mapped at any address: ranges of a memfd. The
// whole file is also mapped once, readable and writable, as the device's own
// view: copies go there, whatever protection the program's addresses have.
// The memory of a freed range goes back to the system at once (a hole is
// punched). Guards around the view keep what goes far past a buffer out of it.
//
// Threads: all calls from any thread.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_CPU_MEMORY_MEMORYFILE_H
#define DRAGON_RUNTIME_DEVICE_CPU_MEMORY_MEMORYFILE_H

#include "runtime/base/Intervals.h"
#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace dragon {

class MemoryFile {
public:
  /// `limit`: bytes that may be allocated at one time.
  static StatusOr<std::unique_ptr<MemoryFile>> create(const char *name,
                                                      uint64_t limit);
  ~MemoryFile();

  /// The offset of a range whose memory is there; its contents are undefined.
  StatusOr<uint64_t> allocate(size_t bytes);
  void free(uint64_t offset, size_t bytes);

  int fd() const { return Fd; }
  char *view(uint64_t offset) const { return Window + offset; }
  uint64_t used() const;
  uint64_t limit() const { return Limit; }

private:
  /// On each side of the window, addresses that nobody can write to.
  static constexpr uint64_t GuardBytes = uint64_t(64) << 30;
  MemoryFile() = default;
  /// No more than there are addresses for: null otherwise.
  void reserveGuard();
  void giveBack(uint64_t offset, uint64_t bytes);
  StatusOr<uint64_t> takeExtent(size_t bytes);

  std::string Name;
  int Fd = -1;
  char *Window = nullptr;
  char *Guard = nullptr; ///< where its guards begin
  uint64_t WindowBytes = 0;
  uint64_t Limit = 0;
  mutable std::mutex Lock;
  uint64_t Used = 0;
  IntervalSet<uint64_t> Extents; // offsets without memory
};

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_CPU_MEMORY_MEMORYFILE_H
