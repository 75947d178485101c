//===- conformance.h - what the conformance programs share ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each program checks one feature of CUDA against what NVIDIA documents, and
// ends with the first thing that is not so. The same source is compiled by nvcc:
// nothing here is dragon's.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_CONFORMANCE_H
#define DRAGON_TEST_CONFORMANCE_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(...)                                                             \
  do {                                                                         \
    cudaError_t status_ = (__VA_ARGS__);                                       \
    if (status_ != cudaSuccess) {                                              \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #__VA_ARGS__,     \
              cudaGetErrorString(status_));                                    \
      exit(EXIT_FAILURE);                                                      \
    }                                                                          \
  } while (0)

#define REQUIRE(...)                                                           \
  do {                                                                         \
    if (!(__VA_ARGS__)) {                                                      \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__,               \
              #__VA_ARGS__);                                                   \
      exit(EXIT_FAILURE);                                                      \
    }                                                                          \
  } while (0)

/// The call fails with exactly this error, which is then forgotten.
#define REFUSED(error, ...)                                                    \
  do {                                                                         \
    cudaError_t status_ = (__VA_ARGS__);                                       \
    if (status_ != (error)) {                                                  \
      fprintf(stderr, "%s:%d: %s: '%s' where '%s' is documented\n", __FILE__,  \
              __LINE__, #__VA_ARGS__, cudaGetErrorName(status_),               \
              cudaGetErrorName(error));                                        \
      exit(EXIT_FAILURE);                                                      \
    }                                                                          \
    cudaGetLastError();                                                        \
  } while (0)

/// Device memory with these contents.
template <typename T> T *onDevice(const std::vector<T> &values) {
  T *memory;
  CHECK(cudaMalloc(&memory, values.size() * sizeof(T)));
  CHECK(cudaMemcpy(memory, values.data(), values.size() * sizeof(T),
                   cudaMemcpyHostToDevice));
  return memory;
}

template <typename T> T *onDevice(size_t count) {
  T *memory;
  CHECK(cudaMalloc(&memory, count * sizeof(T)));
  CHECK(cudaMemset(memory, 0, count * sizeof(T)));
  return memory;
}

/// What device memory holds when all work is done.
template <typename T> std::vector<T> fetch(const T *memory, size_t count) {
  std::vector<T> values(count);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(values.data(), memory, count * sizeof(T),
                   cudaMemcpyDeviceToHost));
  return values;
}

#endif // DRAGON_TEST_CONFORMANCE_H
