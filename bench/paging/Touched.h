//===- Touched.h - which elements of an array were touched ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bit for each element, set by all cores. For programs whose data decide what
// their kernels touch: they count it with the check of their results.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_BENCH_PAGING_TOUCHED_H
#define DRAGON_BENCH_PAGING_TOUCHED_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

class Touched {
public:
  explicit Touched(size_t elements) : words(elements / 64 + 1) {}
  void add(size_t element) {
    uint64_t *word = &words[element / 64], bit = uint64_t{1} << element % 64;
    // Most have been touched before; no core needs the line for itself then.
    if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & bit))
      __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
  }
  size_t count() const {
    size_t bits = 0;
    for (uint64_t word : words)
      bits += (size_t)__builtin_popcountll(word);
    return bits;
  }

private:
  std::vector<uint64_t> words;
};

} // namespace bench

#endif // DRAGON_BENCH_PAGING_TOUCHED_H
