//===- nbody.cu - forces between all pairs of bodies ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The acceleration of each body by the gravity of all others, as in chapter 31
// of GPU Gems 3 (Nyland, Harris and Prins, 2007). A thread has one body; its
// block goes over all bodies in tiles of as many bodies as it has threads,
// which it brings into shared memory.
//
// Computation grows with the square of the data. So --size is not what is on
// the device: it stands for work, 64 pairs of bodies a byte, and there are
// never more than MostBodies. Those have 8 MiB of positions with masses, which
// each block reads, and 8 MiB of accelerations, of which each block writes its
// own.
//
// Square root and division are rounded as IEEE 754 has it. A sample of
// accelerations is computed again on the host, over all bodies in the same
// order.
//
//===----------------------------------------------------------------------===//
#include "Data.h"

#include <algorithm>
#include <cmath>

using namespace bench;

const int Threads = 256;
const size_t MostBodies = 1 << 19;

// Bodies are never closer than this to each other, squared.
const float Softening = 1e-4f;

// Adds what a body at `there`, with its mass in w, does to one at `here`.
__host__ __device__ static void attract(float4 &sum, float4 here,
                                        float4 there) {
  float x = there.x - here.x, y = there.y - here.y, z = there.z - here.z;
  float near = 1.0f / ieeeSqrt(x * x + y * y + z * z + Softening);
  float pull = there.w * (near * near * near);
  sum.x += x * pull;
  sum.y += y * pull;
  sum.z += z * pull;
}

__global__ void accelerate(const float4 *bodies, float4 *accelerations, int n) {
  __shared__ float4 tile[Threads];
  const float4 none = {0, 0, 0, 0}; // no mass: pulls nobody
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 here = i < n ? bodies[i] : none;
  float4 sum = none;
  for (int first = 0; first < n; first += Threads) {
    int j = first + threadIdx.x;
    tile[threadIdx.x] = j < n ? bodies[j] : none;
    __syncthreads();
    for (int k = 0; k < Threads; ++k)
      attract(sum, here, tile[k]);
    __syncthreads();
  }
  if (i < n)
    accelerations[i] = sum;
}

static float4 bodyAt(size_t i) {
  return {uniform(mix(i, 1), -1, 1), uniform(mix(i, 2), -1, 1),
          uniform(mix(i, 3), -1, 1), uniform(mix(i, 4), 0.5f, 1.5f)};
}

int main(int argc, char **argv) {
  Bench bench("nbody", argc, argv);
  size_t n = std::min((size_t)std::sqrt(64.0 * bench.size), MostBodies) | 1;
  size_t bytes = n * sizeof(float4);
  Input bodies(bench, "bodies", n, sizeof(float4), each<float4, bodyAt>);
  Output accelerations(bench, "accelerations", n, sizeof(float4));

  start(bench, 2 * bytes, bytes, bytes);
  FILE *file = create(accelerations);
  float4 *d_bodies, *d_accelerations;
  CHECK(cudaMalloc(&d_bodies, bytes));
  CHECK(cudaMalloc(&d_accelerations, bytes));
  load(d_bodies, bodies, bytes, bench);
  loaded(bench);
  accelerate<<<(unsigned)((n + Threads - 1) / Threads), Threads>>>(
      d_bodies, d_accelerations, (int)n);
  computed(bench);
  store(accelerations, file, d_accelerations, bytes, bench);
  stored(bench);
  CHECK(cudaFree(d_bodies));
  CHECK(cudaFree(d_accelerations));

  Verdict verdict;
  auto expected = [=](size_t i) {
    float4 here = bodyAt(i), sum = {0, 0, 0, 0};
    for (size_t j = 0; j < n; ++j)
      attract(sum, here, bodyAt(j));
    return sum;
  };
  check<float4>(accelerations, 256, expected, verdict);
  return bench.finish(verdict);
}
