// Built-in variables as values and by reference, with relocatable device code.
// FLAGS: -rdc=true
// RUN: %conforms %s
#include "conformance.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ unsigned product(const dim3 &extent) {
  return extent.x * extent.y * extent.z;
}

__device__ uint3 next(uint3 index) {
  ++index.x;
  return index;
}

__global__ void kernel(unsigned *out) {
  uint3 thread = threadIdx;
  dim3 block = blockIdx;
  const int &width = warpSize;
  unsigned rank = cg::this_thread_block().thread_rank();
  unsigned *mine = out + (block.x * product(blockDim) + rank) * 4;
  mine[0] = product(gridDim);
  mine[1] = next(threadIdx).x;
  mine[2] = thread.y;
  mine[3] = width;
}

int main() {
  unsigned *out = onDevice<unsigned>(3 * 8 * 4);
  kernel<<<3, dim3(4, 2)>>>(out);
  auto h = fetch(out, 3 * 8 * 4);
  for (unsigned i = 0; i < 3 * 8; ++i) {
    REQUIRE(h[i * 4] == 3);
    REQUIRE(h[i * 4 + 1] == i % 4 + 1);
    REQUIRE(h[i * 4 + 2] == i / 4 % 2);
    REQUIRE(h[i * 4 + 3] == 32);
  }
  return 0;
}
