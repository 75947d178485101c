// Thread block clusters: blocks that read each other's shared memory.
// REFUSED: cpu: a cluster of 2,1,1 thread blocks :: a cluster's blocks would have to run together
// RUN: %conforms %s
#include "conformance.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) exchange(int *out) {
  __shared__ int mine[32];
  cg::cluster_group cluster = cg::this_cluster();
  mine[threadIdx.x] = blockIdx.x * 100 + threadIdx.x;
  cluster.sync();
  int *theirs = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
  out[blockIdx.x * 32 + threadIdx.x] = theirs[threadIdx.x];
  cluster.sync();
}

int main() {
  int *out = onDevice<int>(128);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(4);
  config.blockDim = dim3(32);
  CHECK(cudaLaunchKernelEx(&config, exchange, out));
  auto h = fetch(out, 128);
  for (int i = 0; i < 128; ++i)
    REQUIRE(h[i] == (i / 32 ^ 1) * 100 + i % 32);
  return 0;
}
