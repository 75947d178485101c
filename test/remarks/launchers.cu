// RUN: %dragon-cc -O1 -c %s -o %t.o -Rpass=dragon -Rpass-missed=dragon 2>&1 | grep remark: | FileCheck %s

// Kernels that a helper launches, in a loop: the launch configuration that it makes up is known before the call.
#include <cuda_runtime.h>

__global__ void forward(float *act, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    act[i] = in[i];
}
__global__ void backward(float *sum, const float *act, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    sum[i] += act[i];
}

static void runForward(float *act, const float *in, int n) {
  forward<<<(n + 255) / 256, 256>>>(act, in, n);
}
static void runBackward(float *sum, const float *act, int n) {
  // CHECK: launchers.cu:[[#@LINE+1]]:3: remark: 'act' discarded after 'backward' if a test at run time finds it overwritten by 'forward' at line {{[0-9]+}} before any read
  backward<<<(n + 255) / 256, 256>>>(sum, act, n);
}

void train(float *h, int n) {
  float *in, *act, *sum;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&act, n * sizeof(float));
  cudaMalloc(&sum, n * sizeof(float));
  cudaMemcpy(in, h, n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(sum, 0, n * sizeof(float));
  for (int step = 0; step < 5; ++step) {
    runForward(act, in, n);
    runBackward(sum, act, n);
  }
  cudaMemcpy(h, sum, n * sizeof(float), cudaMemcpyDeviceToHost);
}
