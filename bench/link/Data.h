//===- Data.h - inputs, results, and the way to the device and back -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An Input is an array in host memory or in a file, made element by element on
// all cores. An Output is where results go. load() and store() are the plain
// code between them and device memory: a cudaMemcpy, with fread or fwrite of
// the whole array where they are files.
//
// Files are made once for all methods (--make files). They leave the page cache
// before the clock starts, as far as the machine lets them.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_BENCH_LINK_DATA_H
#define DRAGON_BENCH_LINK_DATA_H

#include "../Check.h"
#include "Bench.h"
#include "Exact.h"
#include "Methods.h"

namespace bench {

inline void *hostMemory(size_t bytes, bool pinned) {
  if (!pinned)
    return pageableMemory(bytes);
  void *memory = nullptr;
  CHECK(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault));
  return memory;
}

/// A Maker of elements: element i is Make(i).
template <typename T, T (*Make)(size_t)>
void each(void *elements, size_t first, size_t last) {
  for (size_t i = first; i < last; ++i)
    ((T *)elements)[i - first] = Make(i);
}

struct Input : Array {
  Input(Bench &bench, const char *name, size_t count, size_t element,
        Maker make) {
    this->count = count;
    this->element = element;
    if constexpr (!Files) {
      data = hostMemory(bytes(), bench.pinned);
      makeInMemory(*this, make);
      return;
    }
    addInputFile(bench, *this, name, make);
  }
};

struct Output : Array {
  Output(Bench &bench, const char *name, size_t count, size_t element) {
    this->count = count;
    this->element = element;
    if constexpr (!Files) {
      data = hostMemory(bytes(), bench.pinned);
      return;
    }
    addOutputFile(bench, *this, name);
  }
};

static __global__ void spin(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles)
    ;
}

/// GPUs take some tens of milliseconds of work to reach their clock, as long as
/// some programs' kernels take in all.
inline void warmUp(double seconds) {
  for (double begin = now(); now() - begin < seconds;) {
    spin<<<1024, 128>>>(1 << 20);
    CHECK(cudaDeviceSynchronize());
  }
}

/// Called when the inputs are there: the clock starts, with a device that is
/// ready.
inline void start(Bench &bench, size_t footprint, size_t inputBytes,
                  size_t outputBytes) {
  bench.announce(footprint, inputBytes, outputBytes);
  CHECK(cudaFree(nullptr));
  CHECK(cudaDeviceSynchronize());
  warmUp(bench.warm);
  bench.begin();
}
inline void loaded(Bench &bench) { bench.end(Bench::Load); }
inline void computed(Bench &bench) {
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  bench.end(Bench::Compute);
}
inline void stored(Bench &bench) { bench.end(Bench::Store); }

inline FILE *openFile(const char *path, const char *mode) {
  FILE *file = fopen(path, mode);
  if (!file) {
    perror(path);
    exit(2);
  }
  return file;
}

inline void *stagingMemory(size_t bytes) {
  void *memory = malloc(bytes);
  if (!memory) {
    fprintf(stderr, "no host memory for %zu bytes\n", bytes);
    exit(2);
  }
  return memory;
}

/// The file that results will be written to, or none. Opened before the kernels
/// run: results may go there at once.
static inline FILE *create(const Output &output) {
  if constexpr (!Files)
    return nullptr;
  return openFile(output.path.c_str(), "wb");
}

/// Host or file to device, in plain CUDA.
static inline void load(void *device, const Input &input, size_t bytes,
                        Bench &bench) {
  if constexpr (OtherMethods) {
    if (fillOnHost(device, input.data, bytes, bench))
      return;
  }
  if constexpr (!Files) {
    CHECK(cudaMemcpy(device, input.data, bytes, cudaMemcpyHostToDevice));
    return;
  }
  FILE *file = openFile(input.path.c_str(), "rb");
  void *staging = stagingMemory(bytes);
  if (fread(staging, 1, bytes, file) != bytes) {
    fprintf(stderr, "%s is too short\n", input.path.c_str());
    exit(2);
  }
  fclose(file);
  CHECK(cudaMemcpy(device, staging, bytes, cudaMemcpyHostToDevice));
  free(staging);
}

/// Device to host or file, in plain CUDA.
static inline void store(Output &output, FILE *file, const void *device,
                         size_t bytes, Bench &bench) {
  if constexpr (OtherMethods) {
    if (readOnHost(output.data, device, bytes, bench))
      return;
  }
  if constexpr (!Files) {
    (void)file;
    CHECK(cudaMemcpy(output.data, device, bytes, cudaMemcpyDeviceToHost));
    return;
  }
  void *staging = stagingMemory(bytes);
  CHECK(cudaMemcpy(staging, device, bytes, cudaMemcpyDeviceToHost));
  if (fwrite(staging, 1, bytes, file) != bytes || fclose(file) != 0) {
    perror(output.path.c_str());
    exit(2);
  }
  free(staging);
}

/// checkElements() with expected(index) of the element's type T.
template <typename T, typename Function>
void check(const Array &output, size_t samples, const Function &expected,
           Verdict &verdict) {
  auto call = [](const void *context, size_t index, void *element) {
    *(T *)element = (*(const Function *)context)(index);
  };
  checkElements(output, samples, call, &expected, verdict);
}
const size_t All = SIZE_MAX;

} // namespace bench

#ifdef LINK_METHODS
// In a program, where the run is called `bench`.
#define cudaMalloc(pointer, bytes) deviceMalloc(pointer, bytes, bench)
#define cudaFree(pointer) deviceFree(pointer, bench)
#endif

#endif // DRAGON_BENCH_LINK_DATA_H
