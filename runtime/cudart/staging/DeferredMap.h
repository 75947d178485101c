//===- DeferredMap.h - what staging buffers would contain -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A map from ranges of host addresses to where their contents are: bytes of a
// file, or bytes of a device buffer. After
//
//   fread(h, 1, 100, f);  cudaMemcpy(h + 60, d, 20, cudaMemcpyDeviceToHost);
//
// it holds [h, h+60) <- f@0, [h+60, h+80) <- d, [h+80, h+100) <- f@80. What is
// not in the map is in memory. Neighbours that continue each other are joined,
// so a file read in a thousand pieces is one.
//
// Plain data without locks, files or devices; StagingBuffers owns one.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_STAGING_DEFERREDMAP_H
#define DRAGON_RUNTIME_CUDART_STAGING_DEFERREDMAP_H

#include "dragon/CompilerABI.h"
#include "runtime/base/Intervals.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace dragon {

class BackingFile;

/// Where the first byte of a range is; the rest follows.
struct Origin {
  enum Kind : uint8_t { Memory, File, Device };
  Kind kind = Memory;
  std::shared_ptr<BackingFile> file;  ///< File
  int64_t offset = 0;                 ///< File
  uintptr_t address = 0;              ///< Device
  void *queue = nullptr;              ///< Device: whose order the copy is in
  bool used = false;                  ///< Device: has been written to a file
  const dragon_reason *why = nullptr; ///< the directive's, if that is known

  /// The origin of the byte `bytes` further on.
  Origin advanced(size_t bytes) const;
  /// The same place, whatever the directive. Memory is all the same.
  bool operator==(const Origin &other) const;
};

struct Segment {
  uintptr_t begin;
  uintptr_t end;
  Origin origin; ///< Memory: not deferred
  size_t bytes() const { return end - begin; }
};

class DeferredMap {
public:
  /// The range's contents are at `origin`; what was known of it is gone.
  void assign(uintptr_t begin, uintptr_t end, Origin origin);
  /// Nothing is known of the range any more.
  void erase(uintptr_t begin, uintptr_t end);
  /// The range was really written: erase, and a mark if it has neighbours.
  void mark(uintptr_t begin, uintptr_t end);

  /// Where the first range begins, and the last one ends; empty: (max, 0).
  std::pair<uintptr_t, uintptr_t> bounds() const;
  bool empty() const { return Origins.empty(); }
  /// Something in the range is deferred.
  bool intersects(uintptr_t begin, uintptr_t end) const;
  /// The parts of [begin, end) in order, those in memory as well.
  std::vector<Segment> segments(uintptr_t begin, uintptr_t end) const;
  /// The deferred ranges whose origin `accept` accepts.
  template <typename Accept>
  std::vector<Segment> select(Accept &&accept) const {
    std::vector<Segment> result;
    for (const auto &[range, atZero] : Origins)
      if (atZero.kind != Origin::Memory)
        if (Segment segment = segmentOf(range, atZero); accept(segment.origin))
          result.push_back(std::move(segment));
    return result;
  }
  /// The parts whose contents are in [begin, end) of device memory.
  std::vector<Segment> ofDevice(uintptr_t begin, uintptr_t end) const;
  /// The end of the ranges that cover `begin` without a gap; `begin` if none
  /// does.
  uintptr_t endOfRun(uintptr_t begin) const;

private:
  /// Each with the origin that address 0 would have: it is the same in all of a
  /// range, and in ranges that continue each other.
  IntervalMap<uintptr_t, Origin> Origins;

  static Segment segmentOf(HalfOpen<uintptr_t> range, const Origin &atZero) {
    return {range.lower(), range.upper(), atZero.advanced(range.lower())};
  }
};

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_STAGING_DEFERREDMAP_H
