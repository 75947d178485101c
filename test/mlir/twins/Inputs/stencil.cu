// The twin of ../stencil.mlir.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static void fill(float *a, long n, long times, long modulus) {
  for (long i = 0; i < n; ++i)
    a[i] = float(i * times % modulus);
}

enum { Rows = 2048, Columns = 1024 };

__global__ void stencil(const float *a, float *b) {
  long x = blockIdx.x * (long)blockDim.x + threadIdx.x;
  long y = blockIdx.y * (long)blockDim.y + threadIdx.y;
  const float *at = a + y * Columns + x;
  if (x >= 1 && x < Columns - 1 && y >= 1 && y < Rows - 1)
    b[y * Columns + x] =
        ((at[0] + at[-1]) + (at[1] + at[-Columns])) + at[Columns];
  else
    b[y * Columns + x] = *at;
}

int main() {
  const long n = (long)Rows * Columns;
  const size_t bytes = n * sizeof(float);
  float *ha = (float *)malloc(bytes), *hb = (float *)malloc(bytes);
  fill(ha, n, 7, 1000);
  float *a, *b;
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMemcpy(a, ha, bytes, cudaMemcpyHostToDevice);
  stencil<<<dim3(32, 256), dim3(32, 8)>>>(a, b);
  cudaMemcpy(hb, b, bytes, cudaMemcpyDeviceToHost);
  cudaFree(a);
  cudaFree(b);
  int bad = hb[0] != ha[0];
  for (long y = 1; y < Rows - 1; ++y)
    for (long x = 1; x < Columns - 1; ++x) {
      const float *at = ha + y * Columns + x;
      if (hb[y * Columns + x] !=
          ((at[0] + at[-1]) + (at[1] + at[-Columns])) + at[Columns])
        bad = 1;
    }
  free(ha);
  free(hb);
  return bad;
}
