// Results that go to their place in host memory as they leave the device, before the program copies them there.
//
// RUN: %build %s -Rpass=dragon -Rpass-missed=dragon -o %t 2> %t.remarks
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: for case in once inPlace twice fails vector usedBefore; do \
// RUN:   %plain %t $case && %tight DRAGON_HOST_MEMORY=64M %t $case && %tight %t $case || exit 1; done
// RUN: %tight DRAGON_STATS=%t.json %t once
// RUN: %ledger %t.json 'swap_out == 0' 'cpu: device_to_host == 12*M'
// RUN: rm %t %t.json %t.remarks
#include "e2e.h"

#ifndef WORDS
#define WORDS (3 << 20) // 12 MiB
#endif
constexpr int N = WORDS;
constexpr size_t Bytes = N * sizeof(uint32_t);

__global__ void make(uint32_t *out, uint32_t first) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = scramble(first + i);
}

__global__ void change(uint32_t *data) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = scramble(data[i]);
}

#define MAKE(d, first) make<<<N / 256, 256>>>(d, first)
#define CHANGE(d) change<<<N / 256, 256>>>(d)

static void once() {
  uint32_t *d_once, *h_once = (uint32_t *)malloc(Bytes);
  CHECK(cudaMalloc(&d_once, Bytes));
  // REMARK-DAG: 'd_once' evicted straight to 'h_once'
  MAKE(d_once, 1);
  CHECK(cudaMemcpy(h_once, d_once, Bytes, cudaMemcpyDeviceToHost));
  for (uint32_t i = 0; i < N; ++i)
    REQUIRE(h_once[i] == scramble(1 + i));
  CHECK(cudaFree(d_once));
  free(h_once);
}

/// The memory is the input's as well, and stands for the buffer afterwards.
static void inPlace() {
  uint32_t *d_same, *h_same = (uint32_t *)malloc(Bytes);
  for (uint32_t i = 0; i < N; ++i)
    h_same[i] = i;
  CHECK(cudaMalloc(&d_same, Bytes));
  CHECK(cudaMemcpy(d_same, h_same, Bytes, cudaMemcpyHostToDevice));
  // REMARK-DAG: 'd_same' evicted straight to 'h_same'
  CHANGE(d_same);
  CHECK(cudaMemcpy(h_same, d_same, Bytes, cudaMemcpyDeviceToHost));
  for (uint32_t i = 0; i < N; ++i)
    REQUIRE(h_same[i] == scramble(i));
  memset(h_same, 0, Bytes);
  CHANGE(d_same);
  CHECK(cudaMemcpy(h_same, d_same, Bytes, cudaMemcpyDeviceToHost));
  for (uint32_t i = 0; i < N; ++i)
    REQUIRE(h_same[i] == scramble(scramble(i)));
  CHECK(cudaFree(d_same));
  free(h_same);
}

/// It leaves, comes back and leaves again before it is copied.
static void twice() {
  uint32_t *d_twice, *d_other, *h_twice = (uint32_t *)malloc(Bytes),
                               *h_other = (uint32_t *)malloc(Bytes);
  CHECK(cudaMalloc(&d_twice, Bytes));
  CHECK(cudaMalloc(&d_other, Bytes));
  // REMARK-DAG: 'd_twice' evicted straight to 'h_twice'
  MAKE(d_twice, 3);
  // REMARK-DAG: 'd_other' evicted straight to 'h_other'
  MAKE(d_other, 4);
  CHANGE(d_twice);
  CHANGE(d_other);
  CHECK(cudaMemcpy(h_other, d_other, Bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(h_twice, d_twice, Bytes, cudaMemcpyDeviceToHost));
  for (uint32_t i = 0; i < N; ++i)
    REQUIRE(h_twice[i] == scramble(scramble(3 + i)) &&
            h_other[i] == scramble(scramble(4 + i)));
  free(h_twice);
  free(h_other);
  CHECK(cudaFree(d_twice));
  CHECK(cudaFree(d_other));
}

/// The copy never comes; the memory is freed.
static bool computes(bool fails) {
  uint32_t *d_lost, *d_more, *h_lost = (uint32_t *)malloc(Bytes);
  CHECK(cudaMalloc(&d_lost, Bytes));
  CHECK(cudaMalloc(&d_more, Bytes));
  // REMARK-DAG: 'd_lost' evicted straight to 'h_lost'
  MAKE(d_lost, 5);
  MAKE(d_more, 6);
  CHECK(cudaDeviceSynchronize());
  if (fails) {
    free(h_lost);
    std::vector<uint32_t> others(N, 7);
    MAKE(d_more, 8);
    CHECK(cudaDeviceSynchronize());
    for (uint32_t word : others)
      REQUIRE(word == 7);
    CHECK(cudaFree(d_lost));
    CHECK(cudaFree(d_more));
    return false;
  }
  CHECK(cudaMemcpy(h_lost, d_lost, Bytes, cudaMemcpyDeviceToHost));
  for (uint32_t i = 0; i < N; ++i)
    REQUIRE(h_lost[i] == scramble(5 + i));
  free(h_lost);
  CHECK(cudaFree(d_lost));
  CHECK(cudaFree(d_more));
  return true;
}

static void vector() {
  std::vector<uint32_t> h_vector(N, 9);
  uint32_t *d_vector;
  CHECK(cudaMalloc(&d_vector, Bytes));
  // REMARK-DAG: 'd_vector' evicted straight to 'h_vector'
  MAKE(d_vector, 10);
  CHECK(cudaMemcpy(h_vector.data(), d_vector, Bytes, cudaMemcpyDeviceToHost));
  for (uint32_t i = 0; i < N; ++i)
    REQUIRE(h_vector[i] == scramble(10 + i));
  CHECK(cudaFree(d_vector));
}

static void usedBefore() {
  uint32_t *d_used, *h_used = (uint32_t *)malloc(Bytes);
  CHECK(cudaMalloc(&d_used, Bytes));
  for (uint32_t i = 0; i < N; ++i)
    h_used[i] = i;
  // REMARK-DAG: 'd_used' evicted to memory of the runtime: host code at line [[#@LINE+4]] uses 'h_used' after 'make' may write the buffer
  MAKE(d_used, 11);
  CHECK(cudaDeviceSynchronize());
  for (uint32_t i = 0; i < N; ++i)
    REQUIRE(h_used[i] == i);
  CHECK(cudaMemcpy(h_used, d_used, Bytes, cudaMemcpyDeviceToHost));
  for (uint32_t i = 0; i < N; ++i)
    REQUIRE(h_used[i] == scramble(11 + i));
  CHECK(cudaFree(d_used));
  free(h_used);
}

int main(int argc, char **argv) {
  const std::string which = argv[1];
  if (which == "once")
    once();
  else if (which == "inPlace")
    inPlace();
  else if (which == "twice")
    twice();
  else if (which == "fails")
    REQUIRE(computes(argc > 2) && !computes(argc == 2));
  else if (which == "vector")
    vector();
  else if (which == "usedBefore")
    usedBefore();
  else
    return 2;
  return 0;
}
