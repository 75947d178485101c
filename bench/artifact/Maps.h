//===- Maps.h - bench/link's data, by DRAGON's own API ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The inputs are files that bench/link makes, its checks look at the files that
// come out. In between there is DRAGON's artifact: its <dragon.h>, nothing of
// ours.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_BENCH_ARTIFACT_MAPS_H
#define DRAGON_BENCH_ARTIFACT_MAPS_H

#define LINK_FILES
#include "../link/Data.h"

#include <dragon.h>

#define MAP(call)                                                              \
  do {                                                                         \
    dragonError_t error = (call);                                              \
    if (error != D_OK)                                                         \
      bench::fail(#call ": error " + std::to_string(error));                   \
  } while (0)

template <typename T>
T *map(const bench::Array &file, size_t bytes, unsigned short flags) {
  void *addr;
  MAP(dragon_map(file.path.c_str(), bytes, flags, &addr));
  return (T *)addr;
}

/// A file for intermediate data, as the artifact has them.
struct Between : bench::Array {
  Between(const bench::Bench &bench, const char *name) {
    path = bench.folder + "/" + bench.name + "-" + name + ".between";
  }
};

const unsigned short Intermediate =
    D_F_READ | D_F_WRITE | D_F_CREATE | D_F_VOLATILE;

#endif // DRAGON_BENCH_ARTIFACT_MAPS_H
