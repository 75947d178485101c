// The twin of ../choices.mlir.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

enum { N = 1 << 22, Rows = 2048 };

__device__ __noinline__ void raise(float *a, long i) { a[i] += 1; }

__global__ void step(float *a) {
  raise(a, blockIdx.x * (long)blockDim.x + threadIdx.x);
}

__global__ void rows(float *a, long outer, long inner) {
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  long j = blockIdx.y * (long)blockDim.y + threadIdx.y;
  a[i * outer + j * inner] = float(j);
}

static void twice(float *a) {
  step<<<N / 256, 256>>>(a);
  step<<<N / 256, 256>>>(a);
}

static __attribute__((noinline)) bool yes() {
  asm volatile("");
  return true;
}

static int count(const float *h, float value) {
  int bad = 0;
  for (long i = 0; i < N; ++i)
    bad += h[i] != value;
  return bad;
}

int main() {
  const size_t bytes = N * sizeof(float);
  float *h = (float *)malloc(bytes);
  for (long i = 0; i < N; ++i)
    h[i] = 2;
  float *a, *b, *c;
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMalloc(&c, bytes);
  cudaMemcpy(a, h, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(b, h, bytes, cudaMemcpyHostToDevice);
  const bool first = yes();
  float *x = first ? a : b, *y = first ? b : a;
  step<<<N / 256, 256>>>(x);
  step<<<N / 256, 256>>>(x);
  step<<<N / 256, 256>>>(y);
  twice(y);
  rows<<<dim3(64, 256), dim3(32, 8)>>>(c, 1, Rows);
  cudaMemcpy(h, x, bytes, cudaMemcpyDeviceToHost);
  int bad = count(h, 4);
  cudaMemcpy(h, y, bytes, cudaMemcpyDeviceToHost);
  bad += count(h, 5);
  cudaMemcpy(h, c, bytes, cudaMemcpyDeviceToHost);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
  bad += h[8 * Rows + 1] != 8;
  free(h);
  return bad != 0;
}
