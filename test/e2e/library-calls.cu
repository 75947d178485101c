// A library that works on device memory by itself: what its functions use is there, by their summaries, and only for
// the time of the call; without one, it stays.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %host-build -shared -fPIC -I%S/Inputs/library %S/Inputs/library/library.cpp -o liblibrary.so
// RUN: %build -I%S/Inputs/library --dragon-summaries=%S/Inputs/library/library.yaml %s %S/Inputs/library/host.cpp -L. -llibrary -Wl,-rpath,%t.dir \
// RUN:   -o program
// RUN: %bytes in.bin 16M library && %plain ./program in.bin plain.bin && %tight DRAGON_STATS=s.json ./program in.bin tight.bin
// RUN: cmp plain.bin tight.bin && ./program in.bin tight.bin check
//   Nothing is fetched that the library overwrites: 16 MiB of input, for each of two passes.
// RUN: %ledger s.json 'file_to_host == 32*M' 'evictions > 0'
//
// Too large for device memory: the call is not made, and everything says so.
// RUN: %fails %tight ./program in.bin tight.bin whole 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: error: 'libraryCombine' at {{.*}}library-calls.cu:[[#]]: a buffer (16 MiB), a buffer (16 MiB) must be in device memory at once, 32 MiB with the rest of their chunks: there are 8 MiB; raise DRAGON_DEVICE_MEMORY, or call it for smaller parts
// WHOLE: libraryCombine: 3
// WHOLE: cudaDeviceSynchronize: out of memory
// WHOLE: exit code 7
// RUN: %fails %tight ./program in.bin tight.bin unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: 'otherIncrement' at {{.*}}library-calls.cu:[[#]] has no summary, so a buffer and what can be reached from there must stay in device memory (describe the function in a file that --dragon-summaries= names): 16 MiB more must stay in device memory, where 0 B of 8 MiB stay already; raise DRAGON_DEVICE_MEMORY
// UNKNOWN: exit code 7
// RUN: rm -rf %t.dir
#include "e2e.h"
#include "library.h"

/// to = 5 * from + 3 * to, in parts; in a file of its own, without kernels.
int combineParts(LibraryHandle handle, int n, int part, const uint32_t *from,
                 uint32_t *to);

__global__ void mix(const uint32_t *in, uint32_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = scramble(in[i]);
}

const int n = 4 << 20;
const int Part = 1 << 18; // words: 1 MiB

#define LIBRARY(call)                                                          \
  do {                                                                         \
    if (int status = (call)) {                                                 \
      fprintf(stderr, "%s: %d\n", #call, status);                              \
      exit(EXIT_FAILURE);                                                      \
    }                                                                          \
  } while (0)

static void combine(LibraryHandle handle, int count, uint32_t alpha,
                    const uint32_t *x, uint32_t beta, uint32_t *y) {
  LIBRARY(libraryCombine(handle, count, &alpha, x, &beta, y));
}

int main(int argc, char **argv) {
  std::string mode = argc == 4 ? argv[3] : "";
  if (mode == "check") {
    std::vector<uint32_t> words = slurp(argv[1]), result;
    uint32_t sum = 0;
    for (uint32_t word : words) {
      uint32_t x = 3 * scramble(3 * word) + 5 * word;
      result.push_back(x);
      sum += x;
    }
    for (int i = 0; i < Part; ++i)
      result[i] += 3;
    result.push_back(sum);
    expectFile(argv[2], result);
    return 0;
  }
  uint32_t *h = (uint32_t *)malloc(n * 4);
  FILE *in = openFile(argv[1], "rb");
  REQUIRE(fread(h, 4, n, in) == n);
  fclose(in);
  uint32_t *from, *to, *middle, *sum, *few, **array;
  LibraryHandle handle;
  LIBRARY(libraryCreate(&handle));
  CHECK(cudaMalloc(&from, n * 4));
  CHECK(cudaMalloc(&to, n * 4));
  CHECK(cudaMalloc(&middle, Part * 4));
  CHECK(cudaMalloc(&few, Part * 4));
  CHECK(cudaMalloc(&sum, 4));
  CHECK(cudaMalloc(&array, 8));
  CHECK(cudaMemcpy(from, h, n * 4, cudaMemcpyHostToDevice));
  if (mode == "whole") {
    uint32_t one = 1;
    int status = libraryCombine(handle, n, &one, from, &one, to);
    fprintf(stderr, "libraryCombine: %d\n", status);
    cudaError_t error = cudaDeviceSynchronize();
    fprintf(stderr, "cudaDeviceSynchronize: %s\n", cudaGetErrorString(error));
    return status == 3 && error == cudaErrorMemoryAllocation ? 7 : 0;
  }
  if (mode == "unknown") {
    // It will crash, if it goes on: that is what the message is for.
    otherIncrement(to, 0);
    return cudaDeviceSynchronize() == cudaErrorMemoryAllocation ? 7 : 0;
  }
  for (int i = 0; i < n; i += Part) {
    combine(handle, Part, 3, from + i, 0, middle);
    mix<<<Part / 256, 256>>>(middle, to + i, Part);
  }
  LIBRARY(combineParts(handle, n, Part, from, to));
  CHECK(cudaMemset(sum, 0, 4));
  uint32_t *h_sum = (uint32_t *)malloc(4), total = 0;
  for (int i = 0; i < n; i += Part) {
    LIBRARY(librarySum(handle, Part, to + i, sum));
    CHECK(cudaMemcpy(h_sum, sum, 4, cudaMemcpyDeviceToHost));
    total += *h_sum;
  }
  // What no summary describes: given directly, and in device memory.
  CHECK(cudaMemcpy(few, to, Part * 4, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpy(array, &few, 8, cudaMemcpyHostToDevice));
  LIBRARY(libraryUndocumentedArrays(handle, array, 1, Part));
  uint32_t *list[] = {few};
  LIBRARY(libraryUndocumentedArrays(handle, list, 1, Part));
  otherIncrement(few, Part);
  CHECK(cudaMemcpy(to, few, Part * 4, cudaMemcpyDeviceToDevice));

  CHECK(cudaMemcpy(h, to, n * 4, cudaMemcpyDeviceToHost));
  FILE *out = openFile(argv[2], "wb");
  REQUIRE(fwrite(h, 4, n, out) == n);
  REQUIRE(fwrite(&total, 4, 1, out) == 1);
  REQUIRE(fclose(out) == 0);
  LIBRARY(libraryDestroy(handle));
  for (void *each : {(void *)from, (void *)to, (void *)middle, (void *)few,
                     (void *)sum, (void *)array})
    CHECK(cudaFree(each));
  free(h);
  free(h_sum);
  return 0;
}
