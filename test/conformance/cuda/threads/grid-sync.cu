// Cooperative launches: all blocks of a grid wait for each other.
// RUN: %conforms %s
#include "conformance.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void rounds(int *a, int *b, int n, int *out) {
  cg::grid_group grid = cg::this_grid();
  int i = grid.thread_rank();
  for (int round = 0; round < 5; ++round) {
    // Reads what threads of other blocks wrote in the round before.
    if (i < n)
      b[i] = a[(i + blockDim.x) % n] + 1;
    grid.sync();
    int *swap = a;
    a = b, b = swap;
  }
  if (i == 0)
    *out = grid.size() + (grid.is_valid() ? 1000000 : 0);
}

int main() {
  int supported = 0, perProcessor = 0;
  CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
  REQUIRE(supported);
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perProcessor, rounds,
                                                      128, 0));
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, 0));
  int blocks = 6, n = blocks * 128;
  REQUIRE(perProcessor * p.multiProcessorCount >= blocks);
  std::vector<int> in(n);
  for (int i = 0; i < n; ++i)
    in[i] = i;
  int *a = onDevice(in), *b = onDevice<int>(n), *out = onDevice<int>(1);
  void *args[] = {&a, &b, &n, &out};
  CHECK(cudaLaunchCooperativeKernel((const void *)rounds, dim3(blocks),
                                    dim3(128), args, 0, 0));
  auto h = fetch(b, n);
  for (int i = 0; i < n; ++i)
    REQUIRE(h[i] == (i + 5 * 128) % n + 5);
  REQUIRE(fetch(out, 1)[0] == 1000000 + n);
  REFUSED(cudaErrorCooperativeLaunchTooLarge,
          cudaLaunchCooperativeKernel((const void *)rounds, dim3(1 << 20),
                                      dim3(128), args, 0, 0));
  return 0;
}
