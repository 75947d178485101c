// What random programs share: results are checked, files opened, buffers made in the ways that people make them. With
// MODEL it is all plain host code, see model.h: what the same program does on a machine with nothing but main memory.
#ifndef PROGRAM_H
#define PROGRAM_H
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <utility>
#include <vector>
#include "kernels.h"
#ifdef MODEL
#include "model.h"
#else
#define RESTORABLE(variable)
#endif

inline void check(cudaError_t status, const char *what) {
  if (status == cudaSuccess)
    return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  exit(EXIT_FAILURE);
}
#ifdef CHECKS_IN_PLACE
#define CHECK(call)                                                            \
  do {                                                                         \
    cudaError_t status = (call);                                               \
    if (status != cudaSuccess) {                                               \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call,                    \
              cudaGetErrorString(status));                                     \
      exit(EXIT_FAILURE);                                                      \
    }                                                                          \
  } while (0)
#elif defined(MODEL)
#define CHECK(call) (void)(call) // they do not fail
#else
__attribute__((noinline)) inline void check(cudaError_t status, int line, const char *what) {
  if (status == cudaSuccess)
    return;
  fprintf(stderr, "line %d: %s: %s\n", line, what, cudaGetErrorString(status));
  exit(EXIT_FAILURE);
}
#define CHECK(call) check(call, __LINE__, #call)
#endif

__attribute__((noinline)) inline void require(bool isSo, int line, const char *what) {
  if (isSo)
    return;
  fprintf(stderr, "line %d: not so: %s\n", line, what);
  exit(EXIT_FAILURE);
}
#ifdef CHECKS_IN_PLACE
#define REQUIRE(condition)                                                     \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition);          \
      exit(EXIT_FAILURE);                                                      \
    }                                                                          \
  } while (0)
#else
#define REQUIRE(condition) require(condition, __LINE__, #condition)
#endif

inline uint32_t sum(const uint32_t *words, size_t count) {
  uint32_t result = 0;
  for (size_t i = 0; i < count; ++i)
    result = result * 31 + words[i];
  return result;
}

#include "process.h"

inline FILE *openFile(const char *path, const char *mode) {
  FILE *file = fopen(path, mode);
  if (*mode == 'r')
    inputPath = path;
  if (!file) {
    perror(path);
    exit(EXIT_FAILURE);
  }
  return file;
}

template <class T> T *deviceAlloc(size_t count) {
  T *result = nullptr;
  check(cudaMalloc((void **)&result, count * sizeof(T)), "deviceAlloc");
  return result;
}

inline void makeBuffer(uint32_t **buffer, size_t words) {
  CHECK(cudaMalloc(buffer, words * sizeof(uint32_t)));
}

template <class T> void dropBuffer(T *&buffer) {
  check(cudaFree(buffer), "dropBuffer");
  buffer = nullptr;
}

template <class T> void toDevice(T *to, const T *from, size_t count) {
  check(cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyHostToDevice),
        "toDevice");
}

template <class T> void toHost(T *to, const T *from, size_t count) {
  check(cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyDeviceToHost),
        "toHost");
}

template <class T> class Owner {
public:
  explicit Owner(size_t count) : data(deviceAlloc<T>(count)) {}
  Owner(const Owner &) = delete;
  Owner &operator=(const Owner &) = delete;
  ~Owner() { cudaFree(data); }
  T *get() const { return data; }
  friend void swap(Owner &a, Owner &b) { std::swap(a.data, b.data); }

private:
  T *data;
};

#endif
