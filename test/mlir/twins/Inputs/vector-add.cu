// The twin of ../vector-add.mlir.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static void fill(float *a, long n, long times, long modulus) {
  for (long i = 0; i < n; ++i)
    a[i] = float(i * times % modulus);
}

__global__ void add(const float *a, const float *b, float *c, long n) {
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i] + b[i];
}

int main() {
  const long n = 3145728;
  const size_t bytes = n * sizeof(float);
  float *ha = (float *)malloc(bytes), *hb = (float *)malloc(bytes),
        *hc = (float *)malloc(bytes);
  fill(ha, n, 7, 1000);
  fill(hb, n, 11, 1000);
  float *a, *b, *c;
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMalloc(&c, bytes);
  cudaMemcpy(a, ha, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(b, hb, bytes, cudaMemcpyHostToDevice);
  add<<<12288, 256>>>(a, b, c, n);
  cudaMemcpy(hc, c, bytes, cudaMemcpyDeviceToHost);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
  int bad = 0;
  for (long i = 0; i < n; ++i)
    if (ha[i] + hb[i] != hc[i])
      bad = 1;
  free(ha);
  free(hb);
  free(hc);
  return bad;
}
