// A file that results are evicted to, and a host that looks at some of them before they are written: those come from the host's memory,
// the rest from its place in the file, where it stays until all of it is written.
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build -Rpass=dragon %s -o program 2> remarks && FileCheck %s < remarks
// CHECK-DAG: 'results' elided
// CHECK-DAG: 'results' filled here, in part
// CHECK-DAG: evicted straight to its place in the file
// RUN: for place in 0 1234567 4194303; do \
// RUN:   %plain ./program expected $place && \
// RUN:   %strict DRAGON_DEVICE_MEMORY=4M DRAGON_HOST_MEMORY=4M DRAGON_CHUNK_SIZE=256K DRAGON_STATS=stats.json ./program found $place \
// RUN:   && cmp expected found && %ledger stats.json 'host_to_file < 18 * M' 'swap_out == 0' \
// RUN:   || { echo $place; exit 1; }; done
// RUN: rm -rf %t.dir
#include "e2e.h"

__global__ void fill(uint32_t *out, uint32_t n) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = i * 2654435761u;
}

int main(int argc, char **argv) {
  REQUIRE(argc == 3);
  const uint32_t n = 4 << 20, place = atoi(argv[2]);
  FILE *file = fopen(argv[1], "wb");
  REQUIRE(file);
  uint32_t *device, *results = (uint32_t *)malloc(n * sizeof(uint32_t));
  CHECK(cudaMalloc(&device, n * sizeof(uint32_t)));
  fill<<<n / 256, 256>>>(device, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(results, device, n * sizeof(uint32_t),
                   cudaMemcpyDeviceToHost));
  REQUIRE(results[place] == place * 2654435761u);
  REQUIRE(fwrite(results, sizeof(uint32_t), n, file) == n);
  REQUIRE(fclose(file) == 0);
  CHECK(cudaFree(device));
  free(results);
}
