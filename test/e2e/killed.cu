// A program that is killed in the middle, with dirty data in the swap: the input is untouched and the swap directory
// empty.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir/swap && cd %t.dir
// RUN: %build %s -o program && %bytes in.bin 30M killed && sha256sum in.bin > in.sum
// RUN: %tight DRAGON_SWAP_DIR=swap ./program in.bin out.bin; test $? -eq 137
// RUN: sha256sum --check --quiet in.sum && ls swap | count 0
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <csignal>
#include <unistd.h>

__global__ void work(uint32_t *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] = scramble(data[i]);
}

int main(int, char **argv) {
  const int n = 30 << 18;
  FILE *in = openFile(argv[1], "rb");
  openFile(argv[2], "wb");
  uint32_t *h = (uint32_t *)malloc((size_t)n * 4), *d;
  REQUIRE(fread(h, 4, n, in) == n);
  CHECK(cudaMalloc(&d, (size_t)n * 4));
  CHECK(cudaMemcpy(d, h, (size_t)n * 4, cudaMemcpyHostToDevice));
  work<<<n / 256, 256>>>(d, n);
  work<<<n / 256, 256>>>(d, n);
  CHECK(cudaDeviceSynchronize());
  // By now nearly half of the buffer is in the swap.
  kill(getpid(), SIGKILL);
  // What is copied here is not dead there.
  CHECK(cudaMemcpy(h, d, (size_t)n * 4, cudaMemcpyDeviceToHost));
  return h[0] == h[1];
}
