//===- Division.cpp - how programs divide one memory ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/share/Division.h"

#include <algorithm>
#include <numeric>

namespace dragon {

namespace {

/// `bytes` times `part` over `whole`, without overflow; rounded down.
uint64_t portion(uint64_t bytes, uint64_t part, uint64_t whole) {
  return uint64_t(static_cast<unsigned __int128>(bytes) * part / whole);
}

/// Who is served first, second and so on.
unsigned rankOf(const ShareWish &wish) {
  return wish.spare ? 3 : wish.yields ? 2 : wish.waits ? 1 : 0;
}

/// Adds to each what it lacks of `ceiling(wish)`, as far as `left` goes: in
/// each round who lacks no more than its part is served, and leaves.
template <typename Ceiling>
void fill(std::span<const ShareWish> wishes, std::vector<uint64_t> &limits,
          uint64_t &left, bool equally, Ceiling &&ceiling) {
  auto weight = [&](size_t i) { return equally ? 1 : wishes[i].weight; };
  auto lacks = [&](size_t i) {
    const uint64_t most = ceiling(wishes[i]);
    return most > limits[i] ? most - limits[i] : 0;
  };
  std::vector<size_t> open;
  for (size_t i = 0; i < wishes.size(); ++i)
    if (lacks(i))
      open.push_back(i);
  while (!open.empty()) {
    uint64_t weights = 0;
    for (size_t i : open)
      weights += weight(i);
    const uint64_t before = left;
    auto servedWhole = [&](size_t i) {
      const uint64_t lack = lacks(i);
      if (lack > portion(before, weight(i), weights))
        return false;
      limits[i] += lack;
      left -= lack;
      return true;
    };
    const size_t removed = std::erase_if(open, servedWhole);
    if (removed)
      continue;
    for (size_t i : open) {
      const uint64_t part = portion(before, weight(i), weights);
      limits[i] += part;
      left -= part;
    }
    return;
  }
}

} // namespace

std::vector<uint64_t> divideFreely(uint64_t total,
                                   std::span<const ShareWish> wishes) {
  std::vector<uint64_t> limits(wishes.size());
  uint64_t left = total;
  fill(wishes, limits, left, /*equally=*/true, [](const ShareWish &wish) {
    return rankOf(wish) == 0 ? std::min(wish.least, wish.most) : 0;
  });
  for (unsigned rank : {0, 1, 2, 3})
    fill(wishes, limits, left, /*equally=*/false,
         [rank](const ShareWish &wish) {
           return rankOf(wish) == rank ? std::min(wish.wanted, wish.most) : 0;
         });
  fill(wishes, limits, left, /*equally=*/false,
       [](const ShareWish &wish) { return wish.spare ? 0 : wish.most; });
  return limits;
}

std::vector<uint64_t> divide(uint64_t total,
                             std::span<const ShareWish> wishes) {
  std::vector<uint64_t> limits(wishes.size());
  std::vector<size_t> open(wishes.size());
  std::iota(open.begin(), open.end(), size_t(0));
  uint64_t left = total;
  // Who has less than it cannot give back has that, and the others divide what
  // is left, of which one may then have less than it cannot give back.
  while (true) {
    std::vector<ShareWish> those;
    those.reserve(open.size());
    for (size_t i : open)
      those.push_back(wishes[i]);
    const std::vector<uint64_t> parts = divideFreely(left, those);
    std::vector<size_t> stillOpen;
    const uint64_t before = left;
    for (size_t k = 0; k < open.size(); ++k) {
      const size_t i = open[k];
      limits[i] = parts[k];
      if (parts[k] < wishes[i].firm) {
        limits[i] = std::min(wishes[i].firm, left);
        left -= limits[i];
      } else {
        stillOpen.push_back(i);
      }
    }
    if (stillOpen.size() == open.size() || left == before)
      return limits;
    open = std::move(stillOpen);
  }
}

} // namespace dragon
