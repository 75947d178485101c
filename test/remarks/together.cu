// RUN: %dragon-cc -O2 -c %s -o %t.o -Rpass=dragon -Rpass-missed=dragon 2>&1 | grep "remark: launch" \
// RUN:   | FileCheck %s --implicit-check-not=remark:
// RUN: %dragon-cc -O2 -c %s -o %t.o -Rpass=dragon -Rpass-missed=dragon -fno-dragon-wavefront 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OFF
// OFF-NOT: launch of

// Launches that run together with the next, as programs write them.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <utility>

#define CHECK(call)                                                            \
  do {                                                                         \
    cudaError_t status = (call);                                               \
    if (status != cudaSuccess) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,                       \
              cudaGetErrorString(status));                                     \
      exit(EXIT_FAILURE);                                                      \
    }                                                                          \
  } while (0)

__global__ void step(float *next, const float *now, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1)
    next[i] = (now[i - 1] + now[i] + now[i + 1]) / 3;
}

// Blocks wait for each other: not in slices.
__global__ void ordered(float *now, unsigned *turn, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  while (atomicAdd(turn, 0) != blockIdx.x)
    ;
  if (i < n)
    now[i] += 1;
  __syncthreads();
  if (threadIdx.x == 0)
    atomicAdd(turn, 1);
}

void launchStep(float *next, const float *now, int n, cudaStream_t stream) {
  step<<<(n + 255) / 256, 256, 0, stream>>>(next, now, n);
  CHECK(cudaGetLastError());
}

int main(int argc, char **argv) {
  const int n = atoi(argv[1]), steps = atoi(argv[2]);
  float *h = (float *)malloc(4 * n), *now, *next;
  unsigned *turn;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMalloc(&now, 4 * n));
  CHECK(cudaMalloc(&next, 4 * n));
  CHECK(cudaMalloc(&turn, 4));
  CHECK(cudaMemset(turn, 0, 4));
  CHECK(cudaMemcpy(now, h, 4 * n, cudaMemcpyHostToDevice));
  // CHECK: together.cu:[[LINE:[0-9]+]]:3: remark: launch of 'step' may run together with the next, of 'step' at line [[LINE]], slice by slice where their data exceeds device memory: both may touch 'now', 'next' [-Rpass=dragon]
  for (int t = 0; t < steps; ++t) {
    launchStep(next, now, n, stream);
    std::swap(next, now);
    if (t % 100 == 99)
      printf("%d steps\n", t);
  }
  // CHECK: together.cu:[[#@LINE+2]]:5: remark: launch of 'step' does not run together with the next, of 'step' at line [[#@LINE+2]], although both may touch 'now', 'next': 'cudaStreamSynchronize' at line [[#@LINE+4]] comes in between; do it after the last of the launches, or less often [-Rpass-missed=dragon]
  for (int t = 0; t < steps; ++t) {
    step<<<(n + 255) / 256, 256, 0, stream>>>(next, now, n);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(stream));
    std::swap(next, now);
  }
  for (int t = 0; t < steps; ++t)
    ordered<<<(n + 255) / 256, 256, 0, stream>>>(now, turn, n);
  CHECK(cudaMemcpy(h, now, 4 * n, cudaMemcpyDeviceToHost));
  return 0;
}
