//===- Parallel.h - a loop on all cores, for checkers ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_EXAMPLES_PARALLEL_H
#define DRAGON_EXAMPLES_PARALLEL_H

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace example {

/// Calls body(begin, end) for consecutive parts of [0, count), one a core and
/// of `least` or more, and returns when all are done.
template <typename Body>
void parallelFor(uint64_t count, uint64_t least, Body body) {
  uint64_t threads = std::max(1u, std::thread::hardware_concurrency());
  threads = std::max<uint64_t>(1, std::min(threads, count / least));
  std::vector<std::thread> workers;
  for (uint64_t t = 0; t < threads; ++t)
    workers.emplace_back(body, count * t / threads, count * (t + 1) / threads);
  for (std::thread &worker : workers)
    worker.join();
}

} // namespace example

#endif // DRAGON_EXAMPLES_PARALLEL_H
