//===- stencil3d.cu - seven points, time step after time step -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A seven-point stencil on a grid of Side x Side x depth cells with a border of
// fixed cells; one launch a step, two buffers that change roles. With more data
// than device memory, each step moves all of them over the link, unless several
// steps are taken on what is on the device.
//
// The hand-written pipeline goes over the grid once for each step, slab by
// slab: what an expert writes who does not block in time. It is what the
// wavefront is to be compared with.
//
// Some cells are computed again on the host, each from the cells that it
// depends on.
//
//===----------------------------------------------------------------------===//
#include "Data.h"

#include <algorithm>

using namespace bench;

const int Side = 511;

__host__ __device__ static float relaxed(float here, float west, float east,
                                         float north, float south, float below,
                                         float above) {
  return 0.4f * here + 0.1f * (west + east) + 0.1f * (north + south) +
         0.1f * (below + above);
}

__global__ void relax(const float *from, float *to, int depth) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= Side || y >= Side || z >= depth)
    return;
  const size_t plane = (size_t)Side * Side;
  size_t i = z * plane + (size_t)y * Side + x;
  if (x == 0 || x == Side - 1 || y == 0 || y == Side - 1 || z == 0 ||
      z == depth - 1) {
    to[i] = from[i];
    return;
  }
  to[i] = relaxed(from[i], from[i - 1], from[i + 1], from[i - Side],
                  from[i + Side], from[i - plane], from[i + plane]);
}

static float startValue(size_t i) { return uniform(mix(i, 1), 0, 1); }

// The value of a cell after `steps`, by the cube around it.
static float cellAfter(int x, int y, int z, int steps, int depth) {
  int side = 2 * steps + 1;
  std::vector<float> now((size_t)side * side * side), next(now.size());
  auto at = [=](int i, int j, int k) {
    return ((size_t)(k - z + steps) * side + (j - y + steps)) * side +
           (i - x + steps);
  };
  auto overCube = [=](int reach, auto body) {
    for (int k = std::max(z - reach, 0); k <= std::min(z + reach, depth - 1);
         ++k)
      for (int j = std::max(y - reach, 0); j <= std::min(y + reach, Side - 1);
           ++j)
        for (int i = std::max(x - reach, 0); i <= std::min(x + reach, Side - 1);
             ++i)
          body(i, j, k);
  };
  overCube(steps, [&](int i, int j, int k) {
    now[at(i, j, k)] = startValue(((size_t)k * Side + j) * Side + i);
  });
  for (int reach = steps - 1; reach >= 0; --reach) {
    overCube(reach, [&](int i, int j, int k) {
      bool border = i == 0 || i == Side - 1 || j == 0 || j == Side - 1 ||
                    k == 0 || k == depth - 1;
      float here = now[at(i, j, k)];
      next[at(i, j, k)] =
          border ? here
                 : relaxed(here, now[at(i - 1, j, k)], now[at(i + 1, j, k)],
                           now[at(i, j - 1, k)], now[at(i, j + 1, k)],
                           now[at(i, j, k - 1)], now[at(i, j, k + 1)]);
    });
    now.swap(next);
  }
  return now[at(x, y, z)];
}

#ifdef LINK_METHODS
// Slabs of planes [first, last) come with a plane of each neighbour; the kernel
// takes what came for a grid of its own and leaves its first and last plane
// alone, which only the grid's own ends are kept of.
static float *slabBySlab(float *grid, float *other, int depth, int steps,
                         Bench &bench) {
  const size_t plane = (size_t)Side * Side;
  const int slab = std::max(1, std::min(64, depth / 16)), Slots = 3;
  cudaStream_t streams[Slots];
  float *from[Slots], *to[Slots];
  for (int slot = 0; slot < Slots; ++slot) {
    CHECK(cudaStreamCreateWithFlags(&streams[slot], cudaStreamNonBlocking));
    CHECK(cudaMalloc(&from[slot], (slab + 2) * plane * sizeof(float)));
    CHECK(cudaMalloc(&to[slot], (slab + 2) * plane * sizeof(float)));
  }
  dim3 threads(32, 8, 1);
  for (int step = 0; step < steps; ++step) {
    int slot = 0;
    for (int first = 0; first < depth; first += slab) {
      int last = std::min(first + slab, depth);
      int low = std::max(first - 1, 0), high = std::min(last + 1, depth);
      CHECK(cudaMemcpyAsync(from[slot], grid + low * plane,
                            (high - low) * plane * sizeof(float),
                            cudaMemcpyHostToDevice, streams[slot]));
      dim3 blocks((Side + 31) / 32, (Side + 7) / 8, high - low);
      relax<<<blocks, threads, 0, streams[slot]>>>(from[slot], to[slot],
                                                   high - low);
      CHECK(cudaMemcpyAsync(other + first * plane,
                            to[slot] + (first - low) * plane,
                            (last - first) * plane * sizeof(float),
                            cudaMemcpyDeviceToHost, streams[slot]));
      slot = (slot + 1) % Slots;
    }
    CHECK(cudaDeviceSynchronize());
    std::swap(grid, other);
  }
  return grid;
}
#endif

int main(int argc, char **argv) {
  Bench bench("stencil3d", argc, argv, 16);
  const size_t plane = (size_t)Side * Side;
  int depth =
      (int)std::max<size_t>(3, bench.size / (2 * sizeof(float) * plane));
  int steps = bench.steps;
  size_t cells = plane * depth;
  size_t bytes = cells * sizeof(float);
  dim3 threads(32, 8, 1);
  dim3 blocks((Side + 31) / 32, (Side + 7) / 8, depth);
  if (depth > 65535)
    fail("stencil3d: too many planes");
  Input first(bench, "start", cells, sizeof(float), each<float, startValue>);
  Output last(bench, "end", cells, sizeof(float));

  // What moves at least: slab by slab, everything in each step.
  size_t moving = bench.method == Method::Ring ? steps * bytes : bytes;
  start(bench, 2 * bytes, moving, moving);
#ifdef LINK_METHODS
  if (bench.method == Method::Ring) {
    float *result = slabBySlab((float *)first.data, (float *)last.data, depth,
                               steps, bench);
    computed(bench);
    last.data = result;
  } else
#endif
  {
    FILE *file = create(last);
    float *d_from, *d_to;
    CHECK(cudaMalloc(&d_from, bytes));
    CHECK(cudaMalloc(&d_to, bytes));
    load(d_from, first, bytes, bench);
    loaded(bench);
    for (int step = 0; step < steps; ++step) {
      relax<<<blocks, threads>>>(d_from, d_to, depth);
      float *swap = d_from;
      d_from = d_to;
      d_to = swap;
    }
    computed(bench);
    store(last, file, d_from, bytes, bench);
    stored(bench);
    CHECK(cudaFree(d_from));
    CHECK(cudaFree(d_to));
  }

  Verdict verdict;
  auto expected = [=](size_t i) {
    return cellAfter((int)(i % Side), (int)(i / Side % Side), (int)(i / plane),
                     steps, depth);
  };
  check<float>(last, 512, expected, verdict);
  return bench.finish(verdict);
}
