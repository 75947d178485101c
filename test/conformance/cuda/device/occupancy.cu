// Occupancy: blocks per multiprocessor, block sizes, shared memory that is left.
// RUN: %conforms %s
#include "conformance.h"

__global__ void kernel(float *data, int n) {
  extern __shared__ float tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? data[i] : 0;
  __syncthreads();
  if (i < n)
    data[i] = tile[blockDim.x - 1 - threadIdx.x];
}

int main() {
  int blocks = 0, small = 0, grid = 0, block = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256,
                                                      256 * sizeof(float)));
  REQUIRE(blocks >= 1 && blocks <= 32);
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&small, kernel, 256,
                                                      40 * 1024));
  REQUIRE(small >= 1 && small <= blocks);
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel, 0, 0));
  REQUIRE(grid >= 1 && block >= 32 && block <= 1024);
  CHECK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      &grid, &block, kernel, [](int size) { return size * sizeof(float); }));
  REQUIRE(grid >= 1 && block >= 32 && block <= 1024);
  size_t left = 0;
  CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&left, kernel, 1, 128));
  REQUIRE(left >= 40 * 1024);
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      &blocks, kernel, 128, 0, cudaOccupancyDefault));
  REQUIRE(blocks >= 1);
  return 0;
}
