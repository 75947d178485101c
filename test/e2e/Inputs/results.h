//===- results.h - results of kernels, compared one by one ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For programs that run several kernels and say at their end how many of the
// results were right.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_E2E_RESULTS_H
#define DRAGON_TEST_E2E_RESULTS_H

#include "e2e.h"

static int right, checked;

static void check(const char *what, const std::vector<uint32_t> &want,
                  const uint32_t *device) {
  std::vector<uint32_t> got(want.size());
  CHECK(cudaMemcpy(got.data(), device, got.size() * 4, cudaMemcpyDeviceToHost));
  ++checked;
  right += got == want;
  if (got != want)
    printf("%s is wrong\n", what);
}

template <typename V> static V *upload(const std::vector<V> &host) {
  V *device;
  CHECK(cudaMalloc(&device, host.size() * sizeof(V)));
  CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(V),
                   cudaMemcpyHostToDevice));
  return device;
}

/// The program's exit status.
static int countResults() {
  printf("%d of %d right\n", right, checked);
  return right != checked;
}

#endif // DRAGON_TEST_E2E_RESULTS_H
