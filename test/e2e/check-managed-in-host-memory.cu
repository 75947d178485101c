// A kernel reaches managed memory in host memory, where the host changes it afterwards without a fault, so that DRAGON_CHECK does
// not know what the next kernel finds there.
//
// RUN: %build -fdragon-trace-accesses %s -o %t
// RUN: %strict DRAGON_CHECK=1 DRAGON_CHUNK_SIZE=2M DRAGON_DEVICE_MEMORY=10M DRAGON_HOST_MEMORY=64M %t 2>&1 | FileCheck %s
// RUN: rm %t
#include "e2e.h"

constexpr int N = 3 << 19; // three chunks

__global__ void gather(const int *in, const int *indices, int *out) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N;
       i += gridDim.x * blockDim.x)
    out[i] = in[indices[i] % N];
}
__global__ void twice(int *data) {
  data[blockIdx.x * blockDim.x + threadIdx.x] *= 2;
}

int main() {
  int *managed, *d_indices, *d_out;
  CHECK(cudaMallocManaged(&managed, N * sizeof(int)));
  CHECK(cudaMalloc(&d_indices, N * sizeof(int)));
  CHECK(cudaMalloc(&d_out, N * sizeof(int)));
  CHECK(cudaMemset(d_indices, 0, N * sizeof(int)));
  for (int i = 0; i < N; ++i)
    managed[i] = i;
  // Each of its blocks needs all nine chunks.
  gather<<<10, 128>>>(managed, d_indices, d_out);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < N; ++i)
    managed[i] += 3;
  twice<<<N / 128, 128>>>(managed);
  CHECK(cudaDeviceSynchronize());
  bool right = true;
  for (int i = 0; i < N; ++i)
    right &= managed[i] == 2 * (i + 3);
  CHECK(cudaFree(managed));
  CHECK(cudaFree(d_indices));
  CHECK(cudaFree(d_out));
  // CHECK-NOT: dragon: check
  puts(right ? "right" : "wrong"); // CHECK: right
  return right ? 0 : 1;
}
