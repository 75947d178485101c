// __syncthreads and its counting forms, named barriers of parts of a block.
// RUN: %conforms %s
#include "conformance.h"

__global__ void votes(int *out) {
  int t = threadIdx.x;
  int count = __syncthreads_count(t % 3 == 0);
  int all = __syncthreads_and(t >= 0), some = __syncthreads_and(t > 5);
  int any = __syncthreads_or(t == 77), none = __syncthreads_or(t > 5000);
  out[t] = count + 1000 * (all != 0) + 2000 * (some != 0) + 4000 * (any != 0) +
           8000 * (none != 0);
}

__global__ void halves(int *out) {
  __shared__ int sum[2];
  int half = threadIdx.x / 64;
  if (threadIdx.x < 2)
    sum[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&sum[half], threadIdx.x);
  asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
  out[threadIdx.x] = sum[half];
}

struct Scale {
  int by, add;
};

__device__ __noinline__ int neighbour(int *shared, int t, int n, int value) {
  shared[t] = value;
  __syncthreads();
  int next = shared[(t + 1) % n];
  __syncthreads();
  return next;
}

// What a thread has of its own lasts from barrier to barrier: variables, an
// array, a structure that it was given. Some leave before the others.
__global__ void rounds(int *out, Scale scale, int n) {
  extern __shared__ int shared[];
  int t = threadIdx.x + threadIdx.y * blockDim.x;
  if (t >= n)
    return;
  int seen[4] = {t, t, t, t};
  scale.by += t % 2;
  for (int round = 0; round < 4; ++round) {
    if (t == n - 1 && round == 3)
      return;
    seen[(round + t) % 4] +=
        neighbour(shared, t, n, scale.by * t + round) + scale.add;
    scale.add += round;
  }
  out[t] = seen[0] + 10 * seen[1] + 100 * seen[2] + 1000 * seen[3];
}

int neighbourOf(int t, int n, int round) {
  int next = (t + 1) % n;
  // The last one left its value of the round before.
  if (next == n - 1 && round == 3)
    round = 2;
  return (3 + next % 2) * next + round;
}

int main() {
  int *out = onDevice<int>(128);
  votes<<<1, 128>>>(out);
  auto h = fetch(out, 128);
  for (int t = 0; t < 128; ++t)
    REQUIRE(h[t] == 43 + 1000 + 4000);
  halves<<<1, 128>>>(out);
  h = fetch(out, 128);
  REQUIRE(h[0] == 63 * 64 / 2 && h[127] == 64 * 64 + 63 * 64 / 2);
  const int n = 100;
  std::vector<int> before(128, -1);
  CHECK(cudaMemcpy(out, before.data(), 128 * sizeof(int),
                   cudaMemcpyHostToDevice));
  rounds<<<1, dim3(32, 4), n * sizeof(int)>>>(out, {3, 5}, n);
  h = fetch(out, 128);
  for (int t = 0; t < 128; ++t) {
    int seen[4] = {t, t, t, t}, add = 5;
    for (int round = 0; round < 4; ++round) {
      seen[(round + t) % 4] += neighbourOf(t, n, round) + add;
      add += round;
    }
    int expected = seen[0] + 10 * seen[1] + 100 * seen[2] + 1000 * seen[3];
    REQUIRE(h[t] == (t < n - 1 ? expected : -1));
  }
  return 0;
}
