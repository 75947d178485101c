//===- copies.h - vectors on the device, for end-to-end programs -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_E2E_COPIES_H
#define DRAGON_TEST_E2E_COPIES_H

#include "e2e.h"

#include <cstring>
#include <vector>

/// A copy on the device, which the caller frees.
template <class T> static T *device(const std::vector<T> &from) {
  T *d;
  CHECK(cudaMalloc(&d, from.size() * sizeof(T)));
  CHECK(cudaMemcpy(d, from.data(), from.size() * sizeof(T),
                   cudaMemcpyHostToDevice));
  return d;
}

/// Ends the program unless what is on the device is exactly that.
template <class T>
static void same(const T *d, const std::vector<T> &expected) {
  CHECK(cudaGetLastError());
  std::vector<T> found(expected.size());
  CHECK(cudaMemcpy(found.data(), d, found.size() * sizeof(T),
                   cudaMemcpyDeviceToHost));
  REQUIRE(memcmp(found.data(), expected.data(), found.size() * sizeof(T)) == 0);
}

#endif // DRAGON_TEST_E2E_COPIES_H
