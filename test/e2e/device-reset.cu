// cudaDeviceReset ends all contents, and device variables begin anew: with their initialiser, zeros or an address, whether
// the host or only kernels know of them. Constants stay readable, and the next context works.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %plain ./program && %roomy ./program
// RUN: %build -O0 -G %s -o debug && %plain ./debug
#include "e2e.h"

__device__ int counter = 5;
__device__ int zeros[1 << 20]; // in memory that no file is behind
__constant__ float scale = 1.5f;
__device__ int *where = &counter;
__managed__ int shared = 7;
static __device__ int hidden = 11;
__device__ const int table[4] = {1, 2, 3, 4};

__global__ void look(int *out) {
  static int calls = 20;
  out[0] = counter;
  out[1] = zeros[0] + zeros[300000] + zeros[(1 << 20) - 1];
  out[2] = (int)(scale * 10);
  out[3] = where == &counter;
  out[4] = shared;
  out[5] = hidden;
  out[6] = calls;
  out[7] = table[out[4] & 3];
  counter = 50;
  zeros[0] = zeros[300000] = zeros[(1 << 20) - 1] = 9;
  where = zeros;
  hidden = 110;
  calls = 200;
}

static void expect(const char *when, const int (&wanted)[8]) {
  int *d, h[8];
  CHECK(cudaMalloc(&d, sizeof h));
  look<<<1, 1>>>(d);
  CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 8; ++i)
    if (h[i] != wanted[i]) {
      fprintf(stderr, "%s: value %d is %d, expected %d\n", when, i, h[i],
              wanted[i]);
      exit(EXIT_FAILURE);
    }
}

int main() {
  const int fresh[8] = {5, 0, 15, 1, 7, 11, 20, 4};
  expect("first", fresh);
  float two = 2;
  CHECK(cudaMemcpyToSymbol(scale, &two, sizeof two));
  shared = 70;
  expect("changed", {50, 27, 20, 0, 70, 110, 200, 3});
  CHECK(cudaDeviceReset());
  REQUIRE(shared == 7);
  expect("reset", fresh);
  CHECK(cudaDeviceReset());
  expect("again", fresh);
  return 0;
}
