//===- PageMask.h - bytes of a page -----------------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_ORACLE_PAGEMASK_H
#define DRAGON_RUNTIME_ORACLE_PAGEMASK_H

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace dragon::oracle {

/// The unit of traces: the smallest page that drivers move.
constexpr uint64_t PageBytes = 4096;
inline uint64_t pageOf(uintptr_t address) { return address / PageBytes; }

/// A set of the bytes of one page.
class PageMask {
public:
  static PageMask all() {
    PageMask mask;
    mask.Words.fill(~uint64_t(0));
    return mask;
  }
  /// Adds [begin, end) of the page.
  void add(size_t begin, size_t end) {
    while (begin < end) {
      const size_t word = begin / 64, bit = begin % 64;
      const size_t count = std::min<size_t>(64 - bit, end - begin);
      Words[word] |= bits(count) << bit;
      begin += count;
    }
  }
  bool any() const {
    return std::any_of(Words.begin(), Words.end(),
                       [](uint64_t word) { return word != 0; });
  }
  bool test(size_t byte) const { return Words[byte / 64] >> (byte % 64) & 1; }
  void set(size_t byte, bool value) {
    const uint64_t bit = uint64_t(1) << (byte % 64);
    Words[byte / 64] = (Words[byte / 64] & ~bit) | (value ? bit : 0);
  }
  uint32_t count() const {
    uint32_t sum = 0;
    for (uint64_t word : Words)
      sum += uint32_t(std::popcount(word));
    return sum;
  }
  PageMask &operator|=(const PageMask &other) {
    for (size_t i = 0; i < Words.size(); ++i)
      Words[i] |= other.Words[i];
    return *this;
  }
  PageMask &operator&=(const PageMask &other) {
    for (size_t i = 0; i < Words.size(); ++i)
      Words[i] &= other.Words[i];
    return *this;
  }
  /// Takes the other's bytes away.
  PageMask &operator-=(const PageMask &other) {
    for (size_t i = 0; i < Words.size(); ++i)
      Words[i] &= ~other.Words[i];
    return *this;
  }
  friend PageMask operator|(PageMask a, const PageMask &b) { return a |= b; }
  friend PageMask operator&(PageMask a, const PageMask &b) { return a &= b; }
  friend PageMask operator-(PageMask a, const PageMask &b) { return a -= b; }
  friend bool operator==(const PageMask &, const PageMask &) = default;

  friend struct PageAccess;

private:
  static uint64_t bits(size_t count) {
    return count == 64 ? ~uint64_t(0) : (uint64_t(1) << count) - 1;
  }
  std::array<uint64_t, PageBytes / 64> Words{};
};

/// The bytes [begin, end) of a page.
inline PageMask maskOf(size_t begin, size_t end) {
  PageMask mask;
  mask.add(begin, end);
  return mask;
}

/// Calls visit(page, begin, end) with the part of each page that is in
/// [begin, end).
template <typename Visit>
void forEachPage(uintptr_t begin, uintptr_t end, Visit visit) {
  while (begin < end) {
    const uint64_t page = pageOf(begin);
    const uintptr_t stop = std::min<uintptr_t>(end, (page + 1) * PageBytes);
    visit(page, size_t(begin - page * PageBytes),
          size_t(stop - page * PageBytes));
    begin = stop;
  }
}

/// What a step of the program did to a page.
struct PageAccess {
  uint64_t page;
  PageMask read; ///< before it was written in the same step
  PageMask write;
  bool firstReadTold = false; ///< of the recorder that made it

  /// Returns how many of the bytes [begin, end) of the page are used for the
  /// first time.
  unsigned add(size_t begin, size_t end, bool reads, bool writes) {
    unsigned fresh = 0;
    while (begin < end) {
      const size_t word = begin / 64, bit = begin % 64;
      const size_t count = std::min<size_t>(64 - bit, end - begin);
      const uint64_t bytes = PageMask::bits(count) << bit;
      uint64_t &r = read.Words[word], &w = write.Words[word];
      // Mostly all of them or none, which takes no counting.
      if (const uint64_t known = bytes & (r | w); known != bytes)
        fresh +=
            known ? unsigned(std::popcount(bytes & ~known)) : unsigned(count);
      if (reads)
        r |= bytes & ~w;
      if (writes)
        w |= bytes;
      begin += count;
    }
    return fresh;
  }
};

} // namespace dragon::oracle

#endif // DRAGON_RUNTIME_ORACLE_PAGEMASK_H
