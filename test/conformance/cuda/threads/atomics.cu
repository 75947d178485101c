// Atomic functions of 16, 32 and 64 bits, of numbers with fractions, and with
// the scopes of a block and of the system.
// RUN: %conforms %s
#include "conformance.h"
#include <cuda_fp16.h>

struct All {
  int sum, least, most, taken, bitsAnd, bitsOr, bitsXor;
  unsigned up, down, swapped, block, system;
  unsigned long long wide, wideMax, wideOr;
  long long wideMin;
  float f;
  double d;
  __half2 pair;
  __half half;
  unsigned short small;
};

__global__ void atomics(All *a) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&a->sum, t);
  atomicMin(&a->least, -t);
  atomicMax(&a->most, t);
  atomicSub(&a->taken, 2);
  atomicAnd(&a->bitsAnd, ~(1 << t % 20));
  atomicOr(&a->bitsOr, 1 << t % 20);
  atomicXor(&a->bitsXor, t);
  atomicInc(&a->up, 99);
  atomicDec(&a->down, 6);
  atomicExch(&a->swapped, 17u);
  atomicAdd_block(&a->block, 1u);
  atomicAdd_system(&a->system, 1u);
  atomicAdd(&a->wide, 1ull << 32);
  atomicMax(&a->wideMax, (unsigned long long)t << 20);
  atomicOr(&a->wideOr, 1ull << t % 64);
  atomicMin(&a->wideMin, -(long long)t << 30);
  atomicAdd(&a->f, 0.5f);
  atomicAdd(&a->d, 0.25);
  if (t < 32) {
    atomicAdd(&a->pair, __floats2half2_rn(1, 2));
    atomicAdd(&a->half, __float2half(0.5f));
  }
  unsigned short seen = a->small, old;
  do {
    old = seen;
    seen = atomicCAS(&a->small, old, (unsigned short)(old + 1));
  } while (seen != old);
}

__global__ void olds(int *cell, int *out) {
  out[threadIdx.x] = atomicAdd(cell, 1);
  if (threadIdx.x == 0)
    out[64] = atomicCAS(cell + 1, 5, 6), out[65] = atomicCAS(cell + 1, 5, 7);
}

int main() {
  const int n = 512;
  All *a = onDevice<All>(1);
  int all = -1;
  CHECK(cudaMemcpy(&a->bitsAnd, &all, 4, cudaMemcpyHostToDevice));
  atomics<<<4, 128>>>(a);
  All h = fetch(a, 1)[0];
  REQUIRE(h.sum == n * (n - 1) / 2 && h.least == 1 - n && h.most == n - 1);
  REQUIRE(h.taken == -2 * n && h.bitsAnd == ~0xfffff && h.bitsOr == 0xfffff);
  REQUIRE(h.bitsXor == 0 && h.up == n % 100 && h.swapped == 17);
  REQUIRE(h.down == unsigned((7 * 100 - n) % 7));
  REQUIRE(h.block == n && h.system == n &&
          h.wide == (unsigned long long)n << 32);
  REQUIRE(h.wideMax == (unsigned long long)(n - 1) << 20 && h.wideOr == ~0ull);
  REQUIRE(h.wideMin == -(long long)(n - 1) * (1ll << 30));
  REQUIRE(h.f == n / 2 && h.d == n / 4);
  REQUIRE(__half2float(__low2half(h.pair)) == 32 &&
          __half2float(__high2half(h.pair)) == 64 &&
          __half2float(h.half) == 16);
  REQUIRE(h.small == n);

  int *cell = onDevice<int>(std::vector<int>{0, 5}), *out = onDevice<int>(66);
  olds<<<1, 64>>>(cell, out);
  auto o = fetch(out, 66);
  long long sum = 0;
  for (int t = 0; t < 64; ++t)
    sum += o[t];
  REQUIRE(sum == 63 * 32 && o[64] == 5 && o[65] == 6);
  return 0;
}
