// The twin of ../product.mlir.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static void fill(float *a, long rows, long columns, long times, long modulus) {
  for (long i = 0; i < rows; ++i)
    for (long j = 0; j < columns; ++j)
      a[i * columns + j] = float((i + j) * times % modulus);
}

__global__ void product(const float *a, const float *b, float *c, long inner,
                        long columns) {
  long row = blockIdx.y * (long)blockDim.y + threadIdx.y;
  long column = blockIdx.x * (long)blockDim.x + threadIdx.x;
  float sum = 0;
  for (long k = 0; k < inner; ++k)
    sum += a[row * inner + k] * b[k * columns + column];
  c[row * columns + column] = sum;
}

int main() {
  const long rows = 8192, inner = 128, columns = 256;
  float *ha = (float *)malloc(rows * inner * 4),
        *hb = (float *)malloc(inner * columns * 4),
        *hc = (float *)malloc(rows * columns * 4);
  fill(ha, rows, inner, 7, 10);
  fill(hb, inner, columns, 3, 10);
  float *a, *b, *c;
  cudaMalloc(&a, rows * inner * 4);
  cudaMalloc(&b, inner * columns * 4);
  cudaMalloc(&c, rows * columns * 4);
  cudaMemcpy(a, ha, rows * inner * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(b, hb, inner * columns * 4, cudaMemcpyHostToDevice);
  product<<<dim3(8, 1024), dim3(32, 8)>>>(a, b, c, inner, columns);
  cudaMemcpy(hc, c, rows * columns * 4, cudaMemcpyDeviceToHost);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
  int bad = 0;
  for (long i = 0; i < rows; i += 97)
    for (long j = 0; j < columns; ++j) {
      float sum = 0;
      for (long k = 0; k < inner; ++k)
        sum += ha[i * inner + k] * hb[k * columns + j];
      if (sum != hc[i * columns + j])
        bad = 1;
    }
  free(ha);
  free(hb);
  free(hc);
  return bad;
}
