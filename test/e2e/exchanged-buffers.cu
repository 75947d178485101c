// Buffers that change places in a loop: behind it those that are not looked at any more are discarded, so that nothing but the
// result leaves the device, however the buffers are named, and whichever it is in.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir/swap && cd %t.dir
// RUN: %build %s -o program -Rpass=dragon 2>&1 | FileCheck %s
// RUN: %bytes in.bin 12M exchanged
// RUN: for how in 0 1 2 3 4 5; do for steps in 0 1 2 5; do \
// RUN:   %plain ./program in.bin plain.bin $how $steps && \
// RUN:   %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M DRAGON_STATS=$how.$steps.json \
// RUN:     ./program in.bin out.bin $how $steps && cmp out.bin plain.bin && \
// RUN:   %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M DRAGON_WAVEFRONT=off \
// RUN:     ./program in.bin out.bin $how $steps && cmp out.bin plain.bin || exit 1; \
// RUN: done; done
//   The steps run together, so the result is all there is to move.
// RUN: %ledger 0.5.json 'device_to_host == 12*M'
// RUN: %ledger 1.5.json 'device_to_host == 12*M'
// RUN: %ledger 2.5.json 'device_to_host == 12*M'
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <utility>

const int Count = 3 << 20;

__global__ void step(const uint32_t *from, uint32_t *to, int n, uint32_t by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    to[i] = from[i] * 5 + by;
}

// Keeps a part of what it writes to.
__global__ void mix(const uint32_t *first, const uint32_t *second, uint32_t *to,
                    int n, uint32_t by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i % 3)
    to[i] = first[i] * 5 + second[n - 1 - i] + by;
}

struct Grid {
  uint32_t *from, *to;
  void swap() { std::swap(from, to); }
};

static uint32_t *allocate() {
  uint32_t *d;
  CHECK(cudaMalloc(&d, Count * 4));
  return d;
}

static void upload(uint32_t *d, const std::vector<uint32_t> &h) {
  CHECK(cudaMemcpy(d, h.data(), Count * 4, cudaMemcpyHostToDevice));
}

static void download(std::vector<uint32_t> &h, const uint32_t *d) {
  CHECK(cudaMemcpy(h.data(), d, Count * 4, cudaMemcpyDeviceToHost));
}

const int Blocks = Count / 256;

// Freed by the names by which they were exchanged.
static void byName(std::vector<uint32_t> &h, int steps) {
  uint32_t *d_from = allocate(), *d_to = allocate();
  upload(d_from, h);
  for (int i = 0; i < steps; ++i) {
    // CHECK-DAG: [[@LINE+1]]:5: remark: 'd_to' discarded after 'step': freed at line [[@LINE+5]] before any read
    step<<<Blocks, 256>>>(d_from, d_to, Count, i);
    std::swap(d_from, d_to);
  }
  download(h, d_from);
  CHECK(cudaFree(d_to));
  CHECK(cudaFree(d_from));
}

// By others.
static void byWay(std::vector<uint32_t> &h, int steps) {
  uint32_t *d_even = allocate(), *d_odd = allocate();
  upload(d_even, h);
  uint32_t *from = d_even, *to = d_odd;
  for (int i = 0; i < steps; ++i) {
    // CHECK-DAG: [[@LINE+1]]:5: remark: 'd_{{even|odd}}' or 'd_{{even|odd}}' discarded after 'step':
    step<<<Blocks, 256>>>(from, to, Count, i);
    uint32_t *next = from;
    from = to;
    to = next;
  }
  download(h, from);
  CHECK(cudaFree(d_even));
  CHECK(cudaFree(d_odd));
}

static void inStructure(std::vector<uint32_t> &h, int steps) {
  Grid g{allocate(), allocate()};
  upload(g.from, h);
  for (int i = 0; i < steps; ++i) {
    // CHECK-DAG: [[@LINE+1]]:5: remark: '{{.*}}' discarded after 'step': freed at
    step<<<Blocks, 256>>>(g.from, g.to, Count, i);
    g.swap();
  }
  download(h, g.from);
  CHECK(cudaFree(g.from));
  CHECK(cudaFree(g.to));
}

// Only one of three is looked at.
static void three(std::vector<uint32_t> &h, int steps) {
  uint32_t *a = allocate(), *b = allocate(), *c = allocate();
  upload(a, h);
  upload(b, h);
  CHECK(cudaMemset(c, 1, Count * 4));
  for (int i = 0; i < steps; ++i) {
    // CHECK-DAG: [[@LINE+2]]:5: remark: 'a' discarded after 'mix':
    // CHECK-DAG: [[@LINE+1]]:5: remark: 'c' discarded after 'mix':
    mix<<<Blocks, 256>>>(a, b, c, Count, i);
    uint32_t *first = a;
    a = b;
    b = c;
    c = first;
  }
  download(h, b);
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  CHECK(cudaFree(c));
}

// Not in each step, and in rounds.
static void sometimes(std::vector<uint32_t> &h, int steps) {
  uint32_t *a = allocate(), *b = allocate();
  upload(a, h);
  upload(b, h);
  std::vector<uint32_t> part(h.size());
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < steps; ++i) {
      // CHECK-DAG: [[@LINE+1]]:7: remark: 'b' discarded after 'mix':
      mix<<<Blocks, 256>>>(a, a, b, Count, i);
      if ((i + round) % 3)
        std::swap(a, b);
    }
    download(part, a);
    for (size_t i = 0; i < h.size(); ++i)
      h[i] += part[i];
  }
  download(part, a);
  for (size_t i = 0; i < h.size(); ++i)
    h[i] ^= part[i];
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
}

// By the number of steps.
static void byCondition(std::vector<uint32_t> &h, int steps) {
  uint32_t *a = allocate(), *b = allocate();
  upload(a, h);
  upload(b, h);
  mix<<<Blocks, 256>>>(a, a, b, Count, 1);
  // CHECK-DAG: [[@LINE+1]]:3: remark: '{{a|b}}' or '{{a|b}}' discarded after 'mix':
  mix<<<Blocks, 256>>>(b, b, a, Count, 2);
  download(h, steps % 2 ? b : a);
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
}

int main(int, char **argv) {
  std::vector<uint32_t> h = slurp(argv[1]);
  REQUIRE(h.size() == Count);
  const int steps = atoi(argv[4]);
  switch (atoi(argv[3])) {
  case 0:
    byName(h, steps);
    break;
  case 1:
    byWay(h, steps);
    break;
  case 2:
    inStructure(h, steps);
    break;
  case 3:
    three(h, steps);
    break;
  case 4:
    sometimes(h, steps);
    break;
  default:
    byCondition(h, steps);
  }
  FILE *out = openFile(argv[2], "wb");
  REQUIRE(fwrite(h.data(), 4, Count, out) == Count);
  fclose(out);
  return 0;
}
