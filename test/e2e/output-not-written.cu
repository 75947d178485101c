// A program that fails after its results began to go to their place in its output file, and says so in that file: the file holds
// what the program wrote. Results that it needs even so are kept.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -Rpass=dragon -o program 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: 'd_out' evicted straight to its place in the file written at line [[#]]
// RUN: %plain ./program good plain.bin && %tight DRAGON_STATS=good.json ./program good tight.bin && cmp plain.bin tight.bin
// RUN: %ledger good.json 'swap_out == 0' 'cpu: host_to_file_eviction > 0' 'host_to_file == 24*M'
//
// RUN: not %tight DRAGON_STATS=tells.json ./program tells tells.txt && FileCheck %s --check-prefix=TELLS < tells.txt
// RUN: wc -c < tells.txt | FileCheck %s --check-prefix=SIZE
//   Nobody needs them then: they go nowhere else.
// RUN: %ledger tells.json 'swap_out == 0' 'cpu: host_to_file_eviction > 0'
//
// RUN: not %tight DRAGON_STATS=counts.json ./program counts counts.txt && FileCheck %s --check-prefix=COUNTS < counts.txt
// RUN: %ledger counts.json 'cpu: swap_out > 0' 'cpu: host_to_file_eviction > 0'
//
// RUN: not %tight ./program hands hands.txt && FileCheck %s --check-prefix=TELLS < hands.txt
// RUN: wc -c < hands.txt | FileCheck %s --check-prefix=SIZE
//
// TELLS: {{^}}head{{$}}
// TELLS-NEXT: {{^}}failed{{$}}
// TELLS-NOT: {{.}}
// SIZE: {{^}}12{{$}}
// COUNTS: {{^}}head{{$}}
// COUNTS-NEXT: {{^}}all 6291456 are there{{$}}
// COUNTS-NOT: {{.}}
// RUN: rm -rf %t.dir
#include "e2e.h"

constexpr int N = 6 << 20;

__global__ void set(uint32_t *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = scramble(i);
}

__global__ void count(const uint32_t *in, uint32_t *right) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] == scramble(i))
    atomicAdd(right, 1u);
}

__attribute__((noinline)) void tell(FILE *file) {
  fputs("failed\n", file);
  fclose(file);
}

int main(int, char **argv) {
  const bool tells = !strcmp(argv[1], "tells"),
             hands = !strcmp(argv[1], "hands"),
             counts = !strcmp(argv[1], "counts");
  FILE *file = openFile(argv[2], "wb");
  fputs("head\n", file);
  std::vector<uint32_t> out(N);
  uint32_t *d_out, *d_right;
  CHECK(cudaMalloc(&d_out, 4 * N));
  CHECK(cudaMalloc(&d_right, 4));
  CHECK(cudaMemset(d_right, 0, 4));
  set<<<N / 256, 256>>>(d_out);
  CHECK(cudaDeviceSynchronize());
  if (tells) {
    fprintf(file, "failed\n");
    fclose(file);
    return 1;
  }
  if (hands) {
    tell(file);
    return 1;
  }
  if (counts) {
    fputs("all ", file);
    fflush(file);
    count<<<N / 256, 256>>>(d_out, d_right);
    uint32_t right;
    CHECK(cudaMemcpy(&right, d_right, 4, cudaMemcpyDeviceToHost));
    fprintf(file, "%u are there\n", right);
    fclose(file);
    return 1;
  }
  CHECK(cudaMemcpy(out.data(), d_out, 4 * N, cudaMemcpyDeviceToHost));
  REQUIRE(fwrite(out.data(), 4, N, file) == N);
  REQUIRE(fclose(file) == 0);
  CHECK(cudaFree(d_out));
  CHECK(cudaFree(d_right));
  return 0;
}
