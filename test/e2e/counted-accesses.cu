// Of data that exceeds device memory, what a kernel accesses most comes to the device although where that is stands in the data:
// it is counted. Everything is right all the same.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build -fdragon-trace-accesses -Rpass-analysis=dragon %s -o program 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: %build -fdragon-trace-accesses -fno-dragon-access-counts %s -o uncounted
// REMARK: kernel 'walk' has a copy that counts accesses, {{.*}}: where in 'data' it does is data;
//
// RUN: %strict DRAGON_DEVICE_MEMORY=32M DRAGON_CHUNK_SIZE=2M DRAGON_ORACLE=1 DRAGON_STATS=counted.json ./program
// RUN: %strict DRAGON_DEVICE_MEMORY=32M DRAGON_CHUNK_SIZE=2M DRAGON_ORACLE=1 DRAGON_STATS=uncounted.json ./uncounted
// RUN: %counted counted.json uncounted.json
// RUN: rm -rf %t.dir
#include "e2e.h"

// Each thread goes through some elements, from one to the next.
__global__ void walk(const int *data, long long *sum, int threads, int steps,
                     int start) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= threads)
    return;
  int at = start + i;
  long long mine = 0;
  for (int step = 0; step < steps; ++step) {
    at = data[at];
    mine += at;
  }
  sum[i] += mine;
}

int main() {
  // All of it leads into the last eighth, and nothing leads out of there.
  const int n = 12 << 20, hot = n / 8, threads = 1 << 14, steps = 64;
  std::vector<int> data(n);
  for (int i = 0; i < n; ++i)
    data[i] = n - hot + (int)((unsigned)i * 2654435761u % (unsigned)hot);
  std::vector<long long> sum(threads), expected(threads);
  int *d_data;
  long long *d_sum;
  CHECK(cudaMalloc(&d_data, n * sizeof(int)));
  CHECK(cudaMalloc(&d_sum, threads * sizeof(long long)));
  CHECK(
      cudaMemcpy(d_data, data.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(d_sum, 0, threads * sizeof(long long)));
  for (int round = 0; round < 6; ++round) {
    const int start = n - hot + round * threads;
    walk<<<threads / 128, 128>>>(d_data, d_sum, threads, steps, start);
    for (int i = 0; i < threads; ++i)
      for (int step = 0, at = start + i; step < steps; ++step)
        expected[i] += at = data[at];
  }
  CHECK(cudaMemcpy(sum.data(), d_sum, threads * sizeof(long long),
                   cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_data));
  CHECK(cudaFree(d_sum));
  return sum == expected ? 0 : 3;
}
