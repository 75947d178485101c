// Numbers of the next launch that change before it: its test cannot be made, or is made with what they will be.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program -Rpass=dragon -Rpass-missed=dragon 2>&1 | FileCheck %s
// RUN: %bytes in.bin 2M numbers
// RUN: for i in 0 1 2 3 4; do ./program in.bin plain$i.bin $i || exit 1; \
// RUN:   %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M ./program in.bin out.bin $i || exit 1; \
// RUN:   cmp out.bin plain$i.bin || exit 1; done
// RUN: rm -rf %t.dir
#include "e2e.h"

#ifndef WORDS // of the input
#define WORDS (1 << 19)
#endif

__global__ void spread(uint32_t *to, const uint32_t *in, int n, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    for (int k = 0; k < width; ++k)
      to[(size_t)i * width + k] = in[i] * (k + 1);
}

__global__ void gather(uint32_t *sum, const uint32_t *from, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    for (int k = 0; k < 12; ++k)
      sum[i] = sum[i] * 3 + from[(size_t)i * 12 + k];
}

struct Buffers {
  uint32_t *in, *work, *sum;
  int n;
};

#define SPREAD(b, width) spread<<<b.n / 256, 256>>>(b.work, b.in, b.n, width)
#define GATHER(b) gather<<<b.n / 256, 256>>>(b.sum, b.work, b.n)

// Halves: the second time only the first half is overwritten.
static void phi(Buffers b) {
  for (int width = 12; width > 2; width /= 2) {
    SPREAD(b, width);
    // CHECK-DAG: :[[# @LINE + 1]]:{{.*}}'work' discarded after 'gather' if
    GATHER(b);
  }
}

static void storedBetween(Buffers b) {
  int width[4] = {12, 12, 12, 12};
  for (int i = 0; i < 4; ++i) {
    SPREAD(b, width[i]);
    // CHECK-DAG: :[[# @LINE + 1]]:{{.*}}'work' not discarded after 'gather'
    GATHER(b);
    width[(i + 1) % 4] = 3;
  }
}

__attribute__((noinline)) static int reduce(int *width) {
  asm volatile("" ::: "memory");
  return *width /= 2;
}

static void changedElsewhere(Buffers b) {
  int width = 12;
  for (int i = 0; i < 3; ++i) {
    SPREAD(b, width);
    // CHECK-DAG: :[[# @LINE + 1]]:{{.*}}'work' not discarded after 'gather'
    GATHER(b);
    reduce(&width);
  }
}

// The element behind the last is not there: what stands for it is of no consequence.
static void pastTheEnd(Buffers b) {
  int width[4] = {12, 6, 3, 12};
  volatile int layers = 4;
  const int count = layers;
  for (int i = 0; i < count; ++i) {
    SPREAD(b, width[i]);
    // CHECK-DAG: :[[# @LINE + 1]]:{{.*}}'work' discarded after 'gather' if
    GATHER(b);
  }
  GATHER(b);
}

// The way to the next writer may lead around the inner loop.
static void twoWays(Buffers b) {
  volatile int two = 2, none = 0;
  const int rounds = two, inner = none;
  for (int i = 0; i < rounds; ++i) {
    for (int k = i; k < inner; ++k)
      SPREAD(b, 12 - k);
    if (i == 0)
      SPREAD(b, 12);
    GATHER(b);
  }
}

int main(int, char **argv) {
  Buffers b = {};
  b.n = WORDS;
  std::vector<uint32_t> h = slurp(argv[1]);
  REQUIRE((int)h.size() == b.n);
  CHECK(cudaMalloc(&b.in, b.n * 4));
  CHECK(cudaMalloc(&b.work, b.n * 4 * 12));
  CHECK(cudaMalloc(&b.sum, b.n * 4));
  CHECK(cudaMemset(b.sum, 0, b.n * 4));
  CHECK(cudaMemset(b.work, 1, b.n * 4 * 12));
  CHECK(cudaMemcpy(b.in, h.data(), b.n * 4, cudaMemcpyHostToDevice));
  switch (atoi(argv[3])) {
  case 0:
    phi(b);
    break;
  case 1:
    storedBetween(b);
    break;
  case 2:
    changedElsewhere(b);
    break;
  case 3:
    pastTheEnd(b);
    break;
  case 4:
    twoWays(b);
    break;
  }
  CHECK(cudaMemcpy(h.data(), b.sum, b.n * 4, cudaMemcpyDeviceToHost));
  FILE *out = openFile(argv[2], "wb");
  REQUIRE((int)fwrite(h.data(), 4, b.n, out) == b.n);
  fclose(out);
  return 0;
}
