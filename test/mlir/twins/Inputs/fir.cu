// The twin of ../fir.mlir.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static void fill(float *a, long n, long times, long modulus) {
  for (long i = 0; i < n; ++i)
    a[i] = float(i * times % modulus);
}

__global__ void fir(const float *x, const float *h, float *y, long n,
                    long taps) {
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (long k = 0; k < taps; ++k)
    sum += x[i + k] * h[k];
  y[i] = sum;
}

int main() {
  const long n = 2097152, taps = 16, m = n + taps;
  float *hx = (float *)malloc(m * 4), *hh = (float *)malloc(taps * 4),
        *hy = (float *)malloc(n * 4);
  fill(hx, m, 7, 100);
  fill(hh, taps, 3, 10);
  float *x, *h, *y;
  cudaMalloc(&x, m * 4);
  cudaMalloc(&h, taps * 4);
  cudaMalloc(&y, n * 4);
  cudaMemcpy(x, hx, m * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(h, hh, taps * 4, cudaMemcpyHostToDevice);
  fir<<<8192, 256>>>(x, h, y, n, taps);
  cudaMemcpy(hy, y, n * 4, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(h);
  cudaFree(y);
  int bad = 0;
  for (long i = 0; i < n; ++i) {
    float sum = 0;
    for (long k = 0; k < taps; ++k)
      sum += hx[i + k] * hh[k];
    if (sum != hy[i])
      bad = 1;
  }
  free(hx);
  free(hh);
  free(hy);
  return bad;
}
