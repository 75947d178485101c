// The twin of ../layers.mlir.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static float *filled(long rows, long columns, long times, long modulus) {
  float *a = (float *)malloc(rows * columns * 4);
  for (long i = 0; i < rows; ++i)
    for (long j = 0; j < columns; ++j)
      a[i * columns + j] = float((i + j) * times % modulus - 4);
  return a;
}

__global__ void layer(const float *in, const float *weights, const float *bias,
                      float *out, long inner, long columns) {
  long row = blockIdx.y * (long)blockDim.y + threadIdx.y;
  long column = blockIdx.x * (long)blockDim.x + threadIdx.x;
  float sum = bias[column];
  for (long k = 0; k < inner; ++k)
    sum += in[row * inner + k] * weights[k * columns + column];
  out[row * columns + column] = sum > 0 ? sum : 0;
}

int main() {
  const long rows = 16384, inputs = 64, hidden = 64, outputs = 32;
  float *hx = filled(rows, inputs, 7, 10), *hw1 = filled(inputs, hidden, 3, 8),
        *hw2 = filled(hidden, outputs, 3, 7), *hb1 = filled(1, hidden, 1, 3),
        *hb2 = filled(1, outputs, 1, 2),
        *hy = (float *)malloc(rows * outputs * 4);
  float *x, *w1, *w2, *b1, *b2, *h, *y;
  cudaMalloc(&x, rows * inputs * 4);
  cudaMalloc(&w1, inputs * hidden * 4);
  cudaMalloc(&w2, hidden * outputs * 4);
  cudaMalloc(&b1, hidden * 4);
  cudaMalloc(&b2, outputs * 4);
  cudaMalloc(&h, rows * hidden * 4);
  cudaMalloc(&y, rows * outputs * 4);
  cudaMemcpy(x, hx, rows * inputs * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(w1, hw1, inputs * hidden * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(w2, hw2, hidden * outputs * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(b1, hb1, hidden * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(b2, hb2, outputs * 4, cudaMemcpyHostToDevice);
  layer<<<dim3(2, 2048), dim3(32, 8)>>>(x, w1, b1, h, inputs, hidden);
  layer<<<dim3(1, 2048), dim3(32, 8)>>>(h, w2, b2, y, hidden, outputs);
  cudaMemcpy(hy, y, rows * outputs * 4, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(w1);
  cudaFree(w2);
  cudaFree(b1);
  cudaFree(b2);
  cudaFree(h);
  cudaFree(y);
  int bad = 0;
  float t[64];
  for (long i = 0; i < rows; i += 97) {
    for (long j = 0; j < hidden; ++j) {
      float sum = hb1[j];
      for (long k = 0; k < inputs; ++k)
        sum += hx[i * inputs + k] * hw1[k * hidden + j];
      t[j] = sum > 0 ? sum : 0;
    }
    for (long j = 0; j < outputs; ++j) {
      float sum = hb2[j];
      for (long k = 0; k < hidden; ++k)
        sum += t[k] * hw2[k * outputs + j];
      if ((sum > 0 ? sum : 0) != hy[i * outputs + j])
        bad = 1;
    }
  }
  return bad;
}
