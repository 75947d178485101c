// 4,000 buffers of 1 KiB that a kernel reaches through a table of their addresses: small buffers share chunks, managed ones as well,
// so they need a few MiB. In strict mode each has chunks of its own, and the error says so.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir && %build %s -o program
// RUN: %plain DRAGON_POISON=1 DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=16M ./program
// RUN: not %strict DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=8M ./program 2>&1 | FileCheck %s
// CHECK: may touch 7.8 GiB at once{{.*}}leave out DRAGON_STRICT: with it, small buffers share no chunks
// RUN: rm -rf %t.dir
#include "e2e.h"

constexpr int Buffers = 4000, Words = 256;

__global__ void bump(int **table) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < Buffers)
    for (int k = 0; k < Words; ++k)
      table[i][k] += i;
}

template <typename Allocate> static void run(Allocate allocate) {
  std::vector<int *> buffers(Buffers);
  int **table;
  CHECK(cudaMalloc(&table, Buffers * sizeof(int *)));
  for (int *&buffer : buffers) {
    CHECK(allocate(&buffer));
    CHECK(cudaMemset(buffer, 0, Words * sizeof(int)));
  }
  CHECK(cudaMemcpy(table, buffers.data(), Buffers * sizeof(int *),
                   cudaMemcpyHostToDevice));
  bump<<<(Buffers + 255) / 256, 256>>>(table);
  CHECK(cudaGetLastError());
  int found[Words];
  for (int i = 0; i < Buffers; ++i) {
    CHECK(cudaMemcpy(found, buffers[i], sizeof found, cudaMemcpyDeviceToHost));
    REQUIRE(found[0] == i && found[Words - 1] == i);
  }
  for (int *buffer : buffers)
    CHECK(cudaFree(buffer));
  CHECK(cudaFree(table));
}

int main() {
  run([](int **buffer) { return cudaMalloc(buffer, Words * sizeof(int)); });
  run([](int **buffer) {
    cudaError_t error = cudaMallocManaged(buffer, Words * sizeof(int));
    if (!error) // the host touches it first
      (*buffer)[Words - 1] = 1;
    return error;
  });
  return 0;
}
