//===- e2e.h - what the end-to-end programs share -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Error handling, and the plain host computation that a run is compared with.
// The rest is written out in each program: it is what is tested.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_E2E_H
#define DRAGON_TEST_E2E_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                            \
  do {                                                                         \
    cudaError_t status = (call);                                               \
    if (status != cudaSuccess) {                                               \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,            \
              cudaGetErrorString(status));                                     \
      exit(EXIT_FAILURE);                                                      \
    }                                                                          \
  } while (0)

#define REQUIRE(condition)                                                     \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);  \
      exit(EXIT_FAILURE);                                                      \
    }                                                                          \
  } while (0)

inline FILE *openFile(const char *path, const char *mode) {
  FILE *file = fopen(path, mode);
  if (!file) {
    perror(path);
    exit(EXIT_FAILURE);
  }
  return file;
}

/// The whole file, read by plain host code.
inline std::vector<uint32_t> slurp(const char *path) {
  FILE *file = openFile(path, "rb");
  fseek(file, 0, SEEK_END);
  std::vector<uint32_t> words(ftell(file) / sizeof(uint32_t));
  rewind(file);
  REQUIRE(fread(words.data(), sizeof(uint32_t), words.size(), file) ==
          words.size());
  fclose(file);
  return words;
}

/// Ends the program unless the file holds exactly these words.
inline void expectFile(const char *path, const std::vector<uint32_t> &words) {
  std::vector<uint32_t> got = slurp(path);
  if (got.size() != words.size()) {
    fprintf(stderr, "%s: %zu words, expected %zu\n", path, got.size(),
            words.size());
    exit(EXIT_FAILURE);
  }
  for (size_t i = 0; i < words.size(); ++i)
    if (got[i] != words[i]) {
      fprintf(stderr, "%s: word %zu is 0x%08x, expected 0x%08x\n", path, i,
              got[i], words[i]);
      exit(EXIT_FAILURE);
    }
}

/// A function whose result depends on every bit of its argument.
__host__ __device__ inline uint32_t scramble(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  return x + 0x9e3779b9u;
}

#endif // DRAGON_TEST_E2E_H
