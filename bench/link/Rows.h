//===- Rows.h - rows whose lengths follow a power law ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The edges of a graph's vertices, the entries of a sparse matrix's rows, the
// words of records: elements in rows, one row behind the other, of which an
// array of first elements says where each begins. Row i's length and all
// elements are hashes of their numbers, so all cores make them at once, and no
// element is kept but in the arrays themselves. Numbers of elements have 64
// bits.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_BENCH_LINK_ROWS_H
#define DRAGON_BENCH_LINK_ROWS_H

#include "Bench.h"
#include "Exact.h"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace bench {

const size_t PartRows = 1 << 14;
/// Kernels number rows with 32 bits, with the last block's threads behind them.
const size_t MostRows = UINT32_MAX - 1024;
static size_t RowCount = 0;
/// The first element of each part of the rows, and behind them the last one.
static std::vector<uint64_t> PartFirst;

/// At least 4, 8 on average; the share of rows with more than d is 16 / d^2.
inline uint64_t rowLength(size_t row) {
  double u = (double)((mix(row, 1) >> 40) + 1) * 0x1p-24;
  return (uint64_t)(4 / std::sqrt(u));
}

/// Power law on [0, count): the share of numbers below x is sqrt(x / count).
inline uint64_t skewed(size_t element, size_t count) {
  double w = (double)(mix(element, 2) >> 11) * 0x1p-53;
  return (uint64_t)((double)count * w * w);
}

/// The row that an element names: a few rows, with low numbers, are named by
/// many elements.
inline uint32_t targetAt(size_t element) {
  return (uint32_t)skewed(element, RowCount);
}

/// Calls body(part, first row, row behind) for each part, on all cores.
template <typename Body> void forEachPart(size_t rows, const Body &body) {
  onAllCores(rows, [&](size_t first, size_t last) {
    // The parts that begin in [first, last).
    size_t part = (first + PartRows - 1) / PartRows;
    for (; part * PartRows < last; ++part)
      body(part, part * PartRows, std::min((part + 1) * PartRows, rows));
  });
}

/// Lays out `rows` rows; PartFirst.back() elements are in them.
inline void planRows(size_t rows) {
  if (rows > MostRows)
    fail(std::to_string(rows) + " rows are too many for numbers of 32 bits: " +
         "give a smaller --size");
  RowCount = rows;
  PartFirst.assign((rows + PartRows - 1) / PartRows + 1, 0);
  forEachPart(rows, [](size_t part, size_t row, size_t behind) {
    for (; row < behind; ++row)
      PartFirst[part + 1] += rowLength(row);
  });
  for (size_t part = 1; part < PartFirst.size(); ++part)
    PartFirst[part] += PartFirst[part - 1];
}

/// Calls body(row, its first element, the one behind its last) for all rows, on
/// all cores, and gives the sum of what the calls return.
template <typename Body> size_t sumOfRows(const Body &body) {
  std::atomic<size_t> sum{0};
  forEachPart(RowCount, [&](size_t part, size_t row, size_t behind) {
    uint64_t first = PartFirst[part], last;
    size_t partSum = 0;
    for (; row < behind; ++row, first = last) {
      last = first + rowLength(row);
      partSum += body(row, first, last);
    }
    sum += partSum;
  });
  return sum;
}

/// A Maker of the array of RowCount + 1 first elements.
inline void makeFirsts(void *elements, size_t first, size_t last) {
  size_t row = first / PartRows * PartRows;
  uint64_t element = PartFirst[row / PartRows];
  for (; row < first; ++row)
    element += rowLength(row);
  for (; row < last; ++row) {
    ((uint64_t *)elements)[row - first] = element;
    element += rowLength(row);
  }
}

/// A Maker of the elements: Make(row, element, whether it is the row's first).
template <typename T, T (*Make)(size_t, uint64_t, bool)>
void eachOfRows(void *elements, size_t first, size_t last) {
  auto behind = std::upper_bound(PartFirst.begin(), PartFirst.end(), first);
  size_t part = (size_t)(behind - PartFirst.begin()) - 1;
  uint64_t element = PartFirst[part];
  for (size_t row = part * PartRows; element < last; ++row) {
    const uint64_t begin = element, end = begin + rowLength(row);
    for (element = std::max<uint64_t>(begin, first);
         element < std::min<uint64_t>(end, last); ++element)
      ((T *)elements)[element - first] = Make(row, element, element == begin);
    element = end;
  }
}

} // namespace bench

#endif // DRAGON_BENCH_LINK_ROWS_H
