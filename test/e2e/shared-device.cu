// Programs divide a device's memory: together they never have more than there is, whoever comes, ends or is killed, and each
// computes what it computes alone.
// RUN: rm -rf %t.dir && mkdir -p %t.dir/books && cd %t.dir
// RUN: %build %s -o program
// RUN: %plain python3 %S/Inputs/shared-device.py ./program books 24M
// RUN: rm -rf %t.dir
#include "e2e.h"
#include <unistd.h>

// 16 MiB in two buffers: more than a third of the device's 24.
static int N = 2 << 20;

__global__ void fill(uint32_t *x, uint32_t seed, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = i * 2654435761u + seed;
}

__global__ void mix(uint32_t *to, const uint32_t *from, uint32_t round, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    to[i] = to[i] * 5 + (from[i] ^ round);
}

/// program SEED ROUNDS [MIB]: with two buffers of so many MiB, prints a sum of what it has computed. With rounds 0 it says that it holds its memory, and waits.
int main(int argc, char **argv) {
  REQUIRE(argc == 3 || argc == 4);
  if (argc == 4)
    N = atoi(argv[3]) << 18;
  const uint32_t seed = atoi(argv[1]), rounds = atoi(argv[2]);
  uint32_t *a, *b;
  CHECK(cudaMalloc(&a, N * sizeof(uint32_t)));
  CHECK(cudaMalloc(&b, N * sizeof(uint32_t)));
  fill<<<N / 256, 256>>>(a, seed, N);
  fill<<<N / 256, 256>>>(b, seed + 1, N);
  CHECK(cudaDeviceSynchronize());
  if (rounds == 0) {
    printf("holds\n");
    fflush(stdout);
    char line[8];
    if (!fgets(line, sizeof line, stdin)) // by what it is told to end
      return 0;
  }
  for (uint32_t round = 0; round < rounds; ++round) {
    mix<<<N / 256, 256>>>(a, b, round, N);
    mix<<<N / 256, 256>>>(b, a, round, N);
    CHECK(cudaDeviceSynchronize());
  }
  std::vector<uint32_t> h(N), g(N);
  CHECK(cudaMemcpy(h.data(), a, N * sizeof(uint32_t), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(g.data(), b, N * sizeof(uint32_t), cudaMemcpyDeviceToHost));
  uint64_t sum = 0;
  for (int i = 0; i < N; ++i)
    sum = sum * 31 + h[i] + (uint64_t(g[i]) << 32);
  printf("%llx\n", (unsigned long long)sum);
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  return 0;
}
