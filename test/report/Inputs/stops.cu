// A program that does not fit, waits for each launch, and may be ended by an error of its own: stops [abort].
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void grow(const float *from, float *to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    to[i] = from[i] + 1;
}

int main(int argc, char **argv) {
  const int n = 6 << 20;
  float *a, *b;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  cudaMemset(a, 0, n * sizeof(float));
  for (int step = 0; step < 4; ++step) {
    grow<<<n / 256, 256>>>(a, b, n);
    cudaDeviceSynchronize();
    float *swap = a;
    a = b;
    b = swap;
    if (step == 2 && argc > 1)
      abort();
  }
  float last = 0;
  cudaMemcpy(&last, a + n - 1, sizeof last, cudaMemcpyDeviceToHost);
  printf("%g\n", last);
  return 0;
}
