//===- Workload.h - what the programs of bench/discard share --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Options, generated data, a checksum and the last lines that each program
// prints. Nothing here touches device memory: what a program does with it
// stands in the program.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_BENCH_DISCARD_WORKLOAD_H
#define DRAGON_BENCH_DISCARD_WORKLOAD_H

#include "../Check.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

struct Option {
  const char *name; // --size
  long value;       // the default, then what the command line says
  const char *help;
};

/// Reads `--name value` pairs; -n is short for --size. Anything else ends the
/// program with the usage.
inline void parseOptions(int argc, char **argv, std::vector<Option> &options) {
  for (int i = 1; i < argc; i += 2) {
    const char *name = strcmp(argv[i], "-n") ? argv[i] : "--size";
    Option *found = nullptr;
    for (Option &option : options)
      if (!strcmp(option.name, name))
        found = &option;
    char *end = nullptr;
    if (found && i + 1 < argc)
      found->value = strtol(argv[i + 1], &end, 10);
    if (!end || end == argv[i + 1] || *end || found->value <= 0 ||
        found->value > 1 << 24) {
      fprintf(stderr, "usage: %s [OPTION NUMBER]...\n", argv[0]);
      for (const Option &option : options)
        fprintf(stderr, "  %-14s %s (%ld)\n", option.name, option.help,
                option.value);
      exit(2);
    }
  }
}

/// A number that depends on seed and index alone, by Wang's and Jenkins' kind
/// of mixing; as a function of the index it is one to one, so that indices
/// without repetition give keys without repetition.
__host__ __device__ inline uint32_t hash32(uint32_t index, uint32_t seed) {
  uint32_t x = index ^ seed * 0x9e3779b9u;
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

/// Calls body(first, last) for parts of [0, count), one for each processor.
template <typename Body> void onAllCores(size_t count, Body body) {
  size_t cores = std::thread::hardware_concurrency();
  cores = cores < 1 ? 1 : cores;
  std::vector<std::thread> workers;
  for (size_t t = 0; t < cores; ++t)
    workers.emplace_back(body, count * t / cores, count * (t + 1) / cores);
  for (std::thread &worker : workers)
    worker.join();
}

/// The time that passes while the program uses the device: copies, launches,
/// and waiting for them; not that of making data, of checking results, and of
/// making the device ready.
class DeviceTime {
public:
  DeviceTime() { CHECK(cudaFree(nullptr)); }
  void start() { Began = std::chrono::steady_clock::now(); }
  void stop() {
    std::chrono::duration<double> part =
        std::chrono::steady_clock::now() - Began;
    Seconds += part.count();
  }
  double seconds() const { return Seconds; }

private:
  std::chrono::steady_clock::time_point Began;
  double Seconds = 0;
};

/// Of the elements' bits and their order.
template <typename T>
uint64_t checksum(const T *data, size_t count, uint64_t sum = 0) {
  for (size_t i = 0; i < count; ++i) {
    uint64_t bits = 0;
    memcpy(&bits, &data[i], sizeof(T));
    sum = (sum ^ bits) * 0x9e3779b97f4a7c15u;
    sum ^= sum >> 32;
  }
  return sum;
}

/// The last lines of each program, and its exit code. What differs from run to
/// run goes to stderr.
inline int finish(const char *name, size_t footprint, const DeviceTime &time,
                  uint64_t sum, uint64_t wrong, uint64_t checked) {
  printf("%s: footprint %zu bytes\n", name, footprint);
  fprintf(stderr, "%s: device %.6f seconds\n", name, time.seconds());
  printf("%s: checksum %016llx\n", name, (unsigned long long)sum);
  if (wrong) {
    printf("%s: WRONG: %llu of %llu differ\n", name, (unsigned long long)wrong,
           (unsigned long long)checked);
    return 1;
  }
  printf("%s: right: %llu checked\n", name, (unsigned long long)checked);
  return 0;
}

#endif // DRAGON_BENCH_DISCARD_WORKLOAD_H
