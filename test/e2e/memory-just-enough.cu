// A kernel that cannot be cut and whose data just fit into host memory, behind launches that have filled it: what the plan found
// room for is there when the launch runs.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir && %build %s -o program
// RUN: %plain ./program
// RUN: for paging in off auto always; do \
// RUN:   %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M DRAGON_PAGING=$paging ./program && \
// RUN:   %plain DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_PAGING=$paging ./program || exit 1; done
// RUN: rm -rf %t.dir
#include "e2e.h"

constexpr uint32_t N = 8 << 20; // 32 MiB
constexpr size_t Bytes = N * sizeof(uint32_t);

__global__ void count(uint32_t *data) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = i;
}

__global__ void add(uint32_t *data, uint32_t n) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] += n;
}

// Where it writes is data: each word once.
__global__ void scatter(uint32_t *out, const uint32_t *in) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  out[in[i] * 5 % N] += in[i];
}

int main() {
  uint32_t *in, *out;
  CHECK(cudaMalloc(&in, Bytes));
  CHECK(cudaMalloc(&out, Bytes));
  count<<<N / 256, 256>>>(in);
  CHECK(cudaMemset(out, 0, Bytes));
  for (int round = 0; round < 2; ++round)
    add<<<N / 256, 256>>>(out, 1);
  scatter<<<N / 256, 256>>>(out, in);
  add<<<N / 256, 256>>>(out, 3);
  scatter<<<N / 256, 256>>>(out, in);
  CHECK(cudaGetLastError());
  std::vector<uint32_t> results(N);
  CHECK(cudaMemcpy(results.data(), out, Bytes, cudaMemcpyDeviceToHost));
  for (uint32_t i = 0; i < N; ++i)
    REQUIRE(results[i * 5 % N] == 5 + 2 * i);
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return 0;
}
