// Managed memory that is overwritten after host code has looked at it: by a fill, by a copy, and by a kernel. The contents
// die where they are overwritten, not where the host begins to look.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program
// RUN: %plain ./program > plain.txt && %tight ./program > tight.txt && diff plain.txt tight.txt && FileCheck %s < tight.txt
// RUN: rm -rf %t.dir
#include "e2e.h"

__global__ void addOne(const uint32_t *in, uint32_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] + 1;
}

static uint32_t total(const uint32_t *words, int n) {
  uint32_t sum = 0;
  for (int i = 0; i < n; ++i)
    sum += words[i];
  return sum;
}

int main() {
  const int n = 1000000;
  uint32_t *a, *b;
  CHECK(cudaMallocManaged(&a, n * 4));
  CHECK(cudaMallocManaged(&b, n * 4));
  CHECK(cudaMemset(a, 1, n * 4));
  addOne<<<(n + 255) / 256, 256>>>(a, b, n);
  CHECK(cudaDeviceSynchronize());
  // CHECK: 16843010 2443232384
  printf("%u %u\n", b[7], total(b, n));
  CHECK(cudaMemcpy(b, a, n * 4, cudaMemcpyDeviceToDevice));
  addOne<<<(n + 255) / 256, 256>>>(b, a, n);
  CHECK(cudaDeviceSynchronize());
  // CHECK: 16843009 2442232384 2443232384
  printf("%u %u %u\n", b[7], total(b, n), total(a, n));
  addOne<<<(n + 255) / 256, 256>>>(a, b, n);
  CHECK(cudaDeviceSynchronize());
  // CHECK: 16843011 2444232384
  printf("%u %u\n", b[7], total(b, n));
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  return 0;
}
