//===- micro.cu - small launches, pageable copies -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a call costs where all data are resident: a loop of small launches (best
// of three, in seconds a launch), cudaMemcpy of pageable memory both ways (best
// of three, in bytes a second), and buffers of different sizes that are
// allocated, filled and freed, the sizes changing each time (best of three, in
// seconds for the 240 MiB of a time).
//
//   micro LAUNCHES COPY-MIB
//
//===----------------------------------------------------------------------===//
#include "Data.h"

#include <algorithm>
#include <cstring>

using namespace bench;

__global__ void increment(int *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] += 1;
}

static double smallLaunches(int count) {
  const int n = 1024;
  int *d_data;
  CHECK(cudaMalloc(&d_data, n * sizeof(int)));
  CHECK(cudaMemset(d_data, 0, n * sizeof(int)));
  double best = 1e9;
  for (int round = 0; round < 3; ++round) {
    CHECK(cudaDeviceSynchronize());
    double begin = now();
    for (int i = 0; i < count; ++i)
      increment<<<4, 256>>>(d_data, n);
    CHECK(cudaDeviceSynchronize());
    best = std::min(best, now() - begin);
  }
  std::vector<int> h_data(n);
  CHECK(cudaMemcpy(h_data.data(), d_data, n * sizeof(int),
                   cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_data));
  for (int value : h_data)
    if (value != 3 * count)
      fail("launches: got " + std::to_string(value) + ", expected " +
           std::to_string(3 * count));
  return best / count;
}

static void pageableCopies(size_t bytes, double &to, double &from) {
  unsigned char *h_from = (unsigned char *)malloc(bytes);
  unsigned char *h_to = (unsigned char *)malloc(bytes);
  if (!h_from || !h_to)
    fail("no host memory for 2 x " + std::to_string(bytes) + " bytes");
  onAllCores(bytes, [=](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i)
      h_from[i] = (unsigned char)(i * 7 >> 3);
    memset(h_to + first, 0, last - first);
  });
  unsigned char *d_data;
  CHECK(cudaMalloc(&d_data, bytes));
  to = from = 1e9;
  for (int round = 0; round < 3; ++round) {
    double begin = now();
    CHECK(cudaMemcpy(d_data, h_from, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
    double middle = now();
    CHECK(cudaMemcpy(h_to, d_data, bytes, cudaMemcpyDeviceToHost));
    from = std::min(from, now() - middle);
    to = std::min(to, middle - begin);
  }
  CHECK(cudaFree(d_data));
  if (memcmp(h_from, h_to, bytes) != 0)
    fail("copies: what came back is not what was sent");
  free(h_from);
  free(h_to);
}

/// The most that are alive together are 120 MiB.
static double changingSizes() {
  const size_t sizes[2][4] = {{6, 10, 34, 70}, {4, 18, 22, 76}}; // MiB
  double best = 1e9;
  for (int round = 0; round < 3; ++round) {
    double begin = now();
    for (int time = 0; time < 8; ++time) {
      for (const size_t (&set)[4] : sizes) {
        unsigned char *d_data[4], last = 0;
        for (int i = 0; i < 4; ++i) {
          CHECK(cudaMalloc(&d_data[i], set[i] << 20));
          CHECK(cudaMemset(d_data[i], time + i, set[i] << 20));
        }
        for (int i = 0; i < 4; ++i) {
          CHECK(cudaMemcpy(&last, d_data[i] + (set[i] << 20) - 1, 1,
                           cudaMemcpyDeviceToHost));
          CHECK(cudaFree(d_data[i]));
          if (last != time + i)
            fail("changing sizes: got " + std::to_string(last) + ", expected " +
                 std::to_string(time + i));
        }
      }
    }
    best = std::min(best, (now() - begin) / 8);
  }
  return best;
}

int main(int argc, char **argv) {
  if (argc != 3)
    fail("usage: micro LAUNCHES COPY-MIB");
  int launches = std::max(1, atoi(argv[1]));
  size_t bytes = (size_t)std::max(1, atoi(argv[2])) << 20;
  CHECK(cudaFree(nullptr));
  double launch = smallLaunches(launches), to, from;
  pageableCopies(bytes, to, from);
  printf("{\"launch\": %.9f, \"to_device\": %.0f, \"from_device\": %.0f, "
         "\"changing_sizes\": %.6f}\n",
         launch, (double)bytes / to, (double)bytes / from, changingSizes());
  return 0;
}
