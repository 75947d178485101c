// Host code with OpenMP: its threads launch kernels on streams of their own.
// FLAGS: -Xcompiler -fopenmp
// RUN: %conforms %s
#include "conformance.h"
#include <omp.h>

__global__ void fill(int *data, int value) { data[threadIdx.x] = value; }

int main() {
  int *data = onDevice<int>(4 * 64);
  int threads = 0;
#pragma omp parallel for num_threads(4) reduction(max : threads)
  for (int i = 0; i < 4; ++i) {
    threads = omp_get_num_threads();
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    fill<<<1, 64, 0, stream>>>(data + i * 64, i + 1);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
  }
  REQUIRE(threads == 4);
  auto h = fetch(data, 256);
  for (int i = 0; i < 256; ++i)
    REQUIRE(h[i] == i / 64 + 1);
  return 0;
}
