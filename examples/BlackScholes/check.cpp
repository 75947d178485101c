//===- check.cpp - checks the output of BlackScholes ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prices the options in double precision on all cores. Prices are below 100, so
// an absolute tolerance fits: 1e-4, some tens of roundings of a float of that
// size, far below the difference between any two options of the input.
//
//===----------------------------------------------------------------------===//
#include "../common/Files.h"
#include "../common/Parallel.h"

#include <algorithm>
#include <cmath>

using namespace example;

static double normalCdf(double d) { return 0.5 * std::erfc(-d / M_SQRT2); }

int main(int argc, char **argv) {
  if (argc != 7)
    fail("usage: check N STOCK STRIKE YEARS CALL PUT");
  const double riskFree = 0.02f, volatility = 0.30f, tolerance = 1e-4;
  uint64_t n = parseCount(argv[1]);
  File stockFile(argv[2], "rb"), strikeFile(argv[3], "rb"),
      yearsFile(argv[4], "rb"), callFile(argv[5], "rb"), putFile(argv[6], "rb");
  callFile.expectSize(n * sizeof(float));
  putFile.expectSize(n * sizeof(float));

  const uint64_t pieceElements = 4 * PieceElements;
  std::vector<float> stock(pieceElements), strike(pieceElements),
      years(pieceElements), call(pieceElements), put(pieceElements);
  Report report;
  for (uint64_t first = 0; first < n; first += pieceElements) {
    uint64_t count = std::min(pieceElements, n - first);
    size_t bytes = count * sizeof(float);
    stockFile.read(stock.data(), bytes);
    strikeFile.read(strike.data(), bytes);
    yearsFile.read(years.data(), bytes);
    callFile.read(call.data(), bytes);
    putFile.read(put.data(), bytes);
    parallelFor(count, 1024, [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i) {
        double s = stock[i], x = strike[i], t = years[i];
        double deviation = volatility * std::sqrt(t);
        double d1 =
            (std::log(s / x) + (riskFree + volatility * volatility / 2) * t) /
            deviation;
        double d2 = d1 - deviation;
        double discounted = x * std::exp(-riskFree * t);
        double expectedCall = s * normalCdf(d1) - discounted * normalCdf(d2);
        // Put-call parity, another way than the program's.
        double expectedPut = expectedCall + discounted - s;
        if (!(std::fabs(call[i] - expectedCall) <= tolerance))
          report.wrong<double>(first + i, call[i], expectedCall);
        if (!(std::fabs(put[i] - expectedPut) <= tolerance))
          report.wrong<double>(first + i, put[i], expectedPut);
      }
    });
  }
  return report.finish(2 * n);
}
