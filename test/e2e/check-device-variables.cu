// To DRAGON_CHECK a device variable is no host memory: buffers that the compiler keeps from being copied in and out are copied
// to it, and from it.
//
// RUN: %build -fdragon-trace-accesses %s -Rpass=dragon -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: %plain DRAGON_CHECK=1 %t 2>&1 | FileCheck %s
// RUN: %strict DRAGON_CHECK=1 %t 2>&1 | FileCheck %s
// RUN: rm %t
#include "e2e.h"

constexpr int N = 1 << 14;
__device__ int table[N];
static int *d_other; // whose address the compiler takes for that of the table

__global__ void set(int *out, int value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = i * 3 + value;
}
__global__ void add(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + table[i];
}

int run() {
  int *d_early, *d_late, *d_sum, *address;
  CHECK(cudaMalloc(&d_other, N * sizeof(int)));
  set<<<N / 256, 256>>>(d_other, 5);
  // REMARK: 'd_early' mapped volatile: intermediate data, neither copied in nor out
  CHECK(cudaMalloc(&d_early, N * sizeof(int)));
  set<<<N / 256, 256>>>(d_early, 1);
  CHECK(cudaGetSymbolAddress((void **)&address, table));
  CHECK(
      cudaMemcpy(address, d_early, N * sizeof(int), cudaMemcpyDeviceToDevice));
  CHECK(cudaFree(d_early));
  // REMARK: 'd_late' mapped volatile: intermediate data, neither copied in nor out
  CHECK(cudaMalloc(&d_late, N * sizeof(int)));
  CHECK(cudaMalloc(&d_sum, N * sizeof(int)));
  CHECK(cudaMemcpy(d_late, address, N * sizeof(int), cudaMemcpyDeviceToDevice));
  add<<<N / 256, 256>>>(d_late, d_sum);
  static int sum[N], other[N];
  CHECK(cudaMemcpy(sum, d_sum, sizeof(sum), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(other, d_other, sizeof(other), cudaMemcpyDeviceToHost));
  bool right = true;
  for (int i = 0; i < N; ++i)
    right &= sum[i] == 2 * (i * 3 + 1) && other[i] == i * 3 + 5;
  CHECK(cudaFree(d_late));
  CHECK(cudaFree(d_sum));
  CHECK(cudaFree(d_other));
  // CHECK-NOT: {{.}}
  // CHECK: right
  puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}

int main() { return run(); }
