//===- DriverCalls.h - the driver's virtual memory management -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Its functions, for programs that are not linked against it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_BENCH_LINK_DRIVERCALLS_H
#define DRAGON_BENCH_LINK_DRIVERCALLS_H

#include "../Check.h"

#include <cstdio>
#include <cstdlib>
#include <cuda.h>

template <typename Function> Function driver(const char *name) {
  void *function = nullptr;
  cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 13000
  CHECK(cudaGetDriverEntryPointByVersion(name, &function, 12020,
                                         cudaEnableDefault, &result));
#else
  CHECK(cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &result));
#endif
  if (!function) {
    std::fprintf(stderr, "the driver has no %s\n", name);
    std::exit(1);
  }
  return (Function)function;
}

struct MemoryCalls {
  decltype(&cuMemCreate) create = driver<decltype(create)>("cuMemCreate");
  decltype(&cuMemRelease) release = driver<decltype(release)>("cuMemRelease");
  decltype(&cuMemAddressReserve) reserve =
      driver<decltype(reserve)>("cuMemAddressReserve");
  decltype(&cuMemAddressFree) free = driver<decltype(free)>("cuMemAddressFree");
  decltype(&cuMemMap) map = driver<decltype(map)>("cuMemMap");
  decltype(&cuMemUnmap) unmap = driver<decltype(unmap)>("cuMemUnmap");
  decltype(&cuMemSetAccess) setAccess =
      driver<decltype(setAccess)>("cuMemSetAccess");
};

#endif // DRAGON_BENCH_LINK_DRIVERCALLS_H
