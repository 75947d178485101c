// The twin of ../ping-pong.mlir.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static void fill(float *a, long n, long times, long modulus) {
  for (long i = 0; i < n; ++i)
    a[i] = float(i * times % modulus);
}

__host__ __device__ float stepped(const float *a, long i, long n) {
  long l = i - 1 > 0 ? i - 1 : 0, r = i + 1 < n - 1 ? i + 1 : n - 1;
  return ((a[l] + a[i]) + a[r]) * 0.25f;
}

__global__ void step(const float *a, float *b, long n) {
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n)
    b[i] = stepped(a, i, n);
}

int main() {
  const long n = 2097152;
  const int steps = 6;
  const size_t bytes = n * sizeof(float);
  float *h = (float *)malloc(bytes), *p = (float *)malloc(bytes),
        *q = (float *)malloc(bytes);
  fill(h, n, 7, 1000);
  fill(p, n, 7, 1000);
  float *a, *b;
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMemcpy(a, h, bytes, cudaMemcpyHostToDevice);
  float *x = a, *y = b;
  for (int i = 0; i < steps; ++i) {
    step<<<8192, 256>>>(x, y, n);
    float *old = x;
    x = y;
    y = old;
  }
  cudaMemcpy(h, x, bytes, cudaMemcpyDeviceToHost);
  cudaFree(a);
  cudaFree(b);
  for (int i = 0; i < steps; ++i) {
    for (long j = 0; j < n; ++j)
      q[j] = stepped(p, j, n);
    float *old = p;
    p = q;
    q = old;
  }
  int bad = 0;
  for (long i = 0; i < n; ++i)
    if (h[i] != p[i])
      bad = 1;
  free(h);
  free(p);
  free(q);
  return bad;
}
