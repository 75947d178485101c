// nvcuda::wmma: products of matrices of each element type and several shapes,
// layouts by row and by column, from global and from shared memory.
// RUN: %conforms %s
#include "conformance.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// c = a * b + 1, twice: b is read by column.
template <int M, int N, int K, typename Kind, typename Storage, typename Sum>
__global__ void product(const Storage *a, const Storage *b, Sum *c) {
  __shared__ Storage copy[K * N];
  for (int i = threadIdx.x; i < K * N; i += 32)
    copy[i] = b[i];
  __syncwarp();
  wmma::fragment<wmma::matrix_a, M, N, K, Kind, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, Kind, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> fc;
  wmma::fill_fragment(fc, Sum(1.0f));
  wmma::load_matrix_sync(fa, a, K);
  wmma::load_matrix_sync(fb, copy, K);
  wmma::mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; ++i)
    fc.x[i] = fc.x[i] + fc.x[i];
  wmma::store_matrix_sync(c, fc, N, wmma::mem_row_major);
  // And back by column: the transposed matrix.
  wmma::load_matrix_sync(fc, c, N, wmma::mem_row_major);
  wmma::store_matrix_sync(c + M * N, fc, M, wmma::mem_col_major);
}

template <int M, int N, int K, typename Kind, typename Storage, typename Sum>
void check() {
  std::vector<Storage> a(M * K), b(K * N);
  for (int i = 0; i < M * K; ++i)
    a[i] = Storage(float(i % 7));
  for (int i = 0; i < K * N; ++i)
    b[i] = Storage(float(i % 5 - 2));
  Sum *c = onDevice<Sum>(2 * M * N);
  product<M, N, K, Kind><<<1, 32>>>(onDevice(a), onDevice(b), c);
  CHECK(cudaGetLastError());
  auto h = fetch(c, 2 * M * N);
  for (int y = 0; y < M; ++y)
    for (int x = 0; x < N; ++x) {
      float sum = 1;
      for (int k = 0; k < K; ++k)
        sum += float((y * K + k) % 7) * float((x * K + k) % 5 - 2);
      REQUIRE(float(h[y * N + x]) == 2 * sum);
      REQUIRE(float(h[M * N + x * M + y]) == 2 * sum);
    }
}

int main() {
  check<16, 16, 16, __half, __half, float>();
  check<32, 8, 16, __half, __half, __half>();
  check<8, 32, 16, __nv_bfloat16, __nv_bfloat16, float>();
  check<16, 16, 16, signed char, signed char, int>();
  check<16, 16, 8, wmma::precision::tf32, float, float>();
  check<8, 8, 4, double, double, double>();
  return 0;
}
