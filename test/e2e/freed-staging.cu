// A result goes to a file through memory that is freed right then, and its buffer is freed much later: it is discarded once it is
// written, and memory that nobody reads any more gets no copy of it.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build -fdragon-trace-accesses -Rpass=dragon %s -o program 2>&1 | FileCheck %s
// RUN: %plain DRAGON_CHECK=1 DRAGON_STATS=plain.json ./program plain.bin
// RUN: %tight DRAGON_CHECK=1 DRAGON_STATS=tight.json ./program tight.bin
// RUN: cmp plain.bin tight.bin
//   4 MiB of the other buffer are evicted where memory is short.
// RUN: %ledger plain.json 'host_to_file == 12*M' 'device_to_host == 12*M' 'avoided_elided_staging == 12*M'
// RUN: %ledger tight.json 'host_to_file == 12*M' 'cpu: device_to_host == 16*M' 'swap_out == 0'
// RUN: rm -rf %t.dir
//
// CHECK-DAG: 'result' discarded after 'fwrite': freed at line {{[0-9]+}} before any read
#include "e2e.h"

__global__ void number(uint32_t *out, uint32_t first) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = scramble(first + i);
}

int main(int, char **argv) {
  const uint32_t n = 3 << 20;
  uint32_t *result, *other;
  CHECK(cudaMalloc(&result, n * 4));
  CHECK(cudaMalloc(&other, n * 4));
  FILE *out = openFile(argv[1], "wb");
  number<<<n / 64, 64>>>(result, 1);
  {
    uint32_t *copy = (uint32_t *)malloc(n * 4);
    CHECK(cudaMemcpy(copy, result, n * 4, cudaMemcpyDeviceToHost));
    REQUIRE(fwrite(copy, 4, n, out) == n);
    free(copy);
  }
  number<<<n / 64, 64>>>(other, 2);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(result));
  CHECK(cudaFree(other));
  REQUIRE(fclose(out) == 0);
}
