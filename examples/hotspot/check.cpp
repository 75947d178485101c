//===- check.cpp - checks the output of hotspot ---------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Repeats the simulation on the host in bands of rows: a band of B rows after S
// steps depends on the band and S rows above and below it, so any grid is
// checked in memory for one band and its margins (time skewing's "ghost
// zones"). In float, where a GPU may fuse a multiplication with an addition:
// each step may add an error of a few units in the last place, 1e-5 of a
// temperature of some 100, so the tolerance is 2e-5 * (STEPS + 1).
//
//===----------------------------------------------------------------------===//
#include "../common/Files.h"
#include "../common/Parallel.h"

#include <cmath>

using namespace example;

int main(int argc, char **argv) {
  if (argc != 7)
    fail("usage: check ROWS COLS STEPS TEMP POWER OUT");
  const float conduction = 0.12f, heating = 0.05f, cooling = 0.002f,
              ambient = 45.0f;
  const int64_t rows = static_cast<int64_t>(parseCount(argv[1]));
  const int64_t cols = static_cast<int64_t>(parseCount(argv[2]));
  const int64_t steps = static_cast<int64_t>(parseCount(argv[3]));
  const double tolerance = 2e-5 * static_cast<double>(steps + 1);
  const size_t rowBytes = static_cast<size_t>(cols) * sizeof(float);
  File tempFile(argv[4], "rb"), powerFile(argv[5], "rb"),
      outFile(argv[6], "rb");
  outFile.expectSize(static_cast<uint64_t>(rows) * rowBytes);

  const int64_t bandRows = std::max<int64_t>(
      4 * steps, (int64_t{64} << 20) / static_cast<int64_t>(rowBytes));
  std::vector<float> temp, next, power, out;
  Report report;
  for (int64_t first = 0; first < rows; first += bandRows) {
    const int64_t last = std::min(rows, first + bandRows);
    const int64_t top = std::max<int64_t>(0, first - steps);
    const int64_t bottom = std::min(rows, last + steps);
    const auto cells = static_cast<size_t>((bottom - top) * cols);
    temp.resize(cells);
    next.resize(cells);
    power.resize(cells);
    out.resize(static_cast<size_t>((last - first) * cols));
    tempFile.readAt(temp.data(), cells * sizeof(float),
                    static_cast<uint64_t>(top) * rowBytes);
    powerFile.readAt(power.data(), cells * sizeof(float),
                     static_cast<uint64_t>(top) * rowBytes);
    outFile.readAt(out.data(), out.size() * sizeof(float),
                   static_cast<uint64_t>(first) * rowBytes);

    for (int64_t step = 1; step <= steps; ++step) {
      // The rows that are still right after this step.
      const int64_t from = top == 0 ? 0 : top + step;
      const int64_t to = bottom == rows ? rows : bottom - step;
      parallelFor(
          static_cast<uint64_t>(to - from), 16,
          [&](uint64_t begin, uint64_t end) {
            for (int64_t row = from + static_cast<int64_t>(begin);
                 row < from + static_cast<int64_t>(end); ++row) {
              auto at = [&](int64_t r) { return &temp[(r - top) * cols]; };
              const float *here = at(row);
              const float *north = at(std::max<int64_t>(row - 1, 0));
              const float *south = at(std::min(row + 1, rows - 1));
              const float *heat = &power[(row - top) * cols];
              float *result = &next[(row - top) * cols];
              for (int64_t col = 0; col < cols; ++col) {
                float t = here[col];
                float flow = north[col] + south[col] +
                             here[std::max<int64_t>(col - 1, 0)] +
                             here[std::min(col + 1, cols - 1)] - 4.0f * t;
                result[col] = t + conduction * flow + heating * heat[col] -
                              cooling * (t - ambient);
              }
            }
          });
      temp.swap(next);
    }

    const float *expected = &temp[(first - top) * cols];
    for (size_t i = 0; i < out.size(); ++i)
      if (!(std::fabs(out[i] - expected[i]) <= tolerance))
        report.wrong(static_cast<uint64_t>(first * cols) + i, out[i],
                     expected[i]);
  }
  return report.finish(static_cast<uint64_t>(rows * cols));
}
