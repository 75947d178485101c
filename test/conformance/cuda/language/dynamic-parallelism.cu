// Kernels that launch kernels.
// FLAGS: -rdc=true -lcudadevrt
// REFUSED: cpu: a kernel that launches kernels :: the device runtime is a library of GPU code
// RUN: %conforms %s
#include "conformance.h"

__global__ void child(int *data, int value) { data[threadIdx.x] = value; }

__global__ void parent(int *data) {
  child<<<1, 32>>>(data + threadIdx.x * 32, threadIdx.x + 1);
}

int main() {
  int *data = onDevice<int>(128);
  parent<<<1, 4>>>(data);
  CHECK(cudaGetLastError());
  auto h = fetch(data, 128);
  for (int i = 0; i < 128; ++i)
    REQUIRE(h[i] == i / 32 + 1);
  return 0;
}
