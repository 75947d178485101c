// nvcuda::wmma: a product of 16 x 16 matrices of half precision.
// RUN: %conforms %s
#include "conformance.h"
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

__global__ void product(const __half *a, const __half *b, float *c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 1.0f);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; ++i)
    fc.x[i] *= 2;
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

int main() {
  std::vector<__half> a(256), b(256);
  for (int i = 0; i < 256; ++i)
    a[i] = __float2half(i % 7), b[i] = __float2half(i % 5 - 2);
  float *c = onDevice<float>(256);
  product<<<1, 32>>>(onDevice(a), onDevice(b), c);
  auto h = fetch(c, 256);
  for (int y = 0; y < 16; ++y)
    for (int x = 0; x < 16; ++x) {
      float sum = 1;
      for (int k = 0; k < 16; ++k)
        sum += float((y * 16 + k) % 7) * float((x * 16 + k) % 5 - 2);
      REQUIRE(h[y * 16 + x] == 2 * sum);
    }
  return 0;
}
