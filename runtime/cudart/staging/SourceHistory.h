//===- SourceHistory.h - which sources of copies are rewritten --*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that fills the same memory for each of its copies gains nothing
// from protection: all of it is saved in the end. So memory that was written to
// after a copy of it is not protected for the next one, after the second time
// for the next two, then four, up to 64.
//
// Threads: any.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_STAGING_SOURCEHISTORY_H
#define DRAGON_RUNTIME_CUDART_STAGING_SOURCEHISTORY_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace dragon {

class SourceHistory {
public:
  /// A copy from the source begins: it is worth being protected.
  /// `wasChanged(begin, end)`: what was protected last had to be saved.
  template <typename Predicate>
  bool isWorthProtecting(uintptr_t source, Predicate wasChanged) {
    std::lock_guard<std::mutex> guard(Lock);
    auto found = Sources.find(source);
    if (found == Sources.end())
      return true;
    Source &known = found->second;
    if (known.begin < known.end && wasChanged(known.begin, known.end)) {
      known.penalty = std::clamp(2 * known.penalty, 1u, MostSkipped);
      known.skip = known.penalty;
    }
    known.begin = known.end = 0;
    if (known.skip == 0)
      return true;
    --known.skip;
    return false;
  }
  void isProtected(uintptr_t source, uintptr_t begin, uintptr_t end) {
    std::lock_guard<std::mutex> guard(Lock);
    if (Sources.size() >= MostSources)
      Sources.clear(); // it is about time only
    Source &known = Sources[source];
    known.begin = begin;
    known.end = end;
  }

private:
  static constexpr unsigned MostSkipped = 64;
  static constexpr size_t MostSources = 4096;
  struct Source {
    uintptr_t begin = 0, end = 0;
    unsigned skip = 0, penalty = 0; ///< copies
  };

  std::mutex Lock;
  std::map<uintptr_t, Source> Sources;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_STAGING_SOURCEHISTORY_H
