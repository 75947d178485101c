// Lowered kernels, run: barriers (in loops, after threads have left), warp
// operations, cooperative groups, CUB, atomics, calls through pointers, recursion,
// device variables, shared memory of both kinds.
// RUN: %clang -x cuda %s --cuda-path=%cuda -I%cuda/include/cccl -Wno-unknown-cuda-version --cuda-gpu-arch=sm_90 --cuda-device-only -emit-llvm -c -O2 -Xclang -disable-llvm-passes -o %t.bc
// RUN: %dragon-opt-passes -passes='dragon-cpu-lower,verify' %t.bc -o %t.host.bc 2>&1 | count 0
// RUN: %clang -O2 -x ir -Wno-override-module -c %t.host.bc -o %t.o
// RUN: %clang -std=c++20 -O1 -I%S/../../../include -I%S/Inputs -x c++ %s -x none %t.o -o %t
// RUN: %t | FileCheck %s
// CHECK: all right

#ifdef __CUDA__
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
namespace cg = cooperative_groups;

extern "C" {

__device__ int calls = 40;
__constant__ int factors[4];

__global__ void sum(const int *a, int *out, int n) {
  extern __shared__ int s[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? a[i] * factors[i % 4] : 0;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d >>= 1) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) {
    atomicAdd(out, s[0]);
    atomicAdd(&calls, 1);
  }
}

__global__ void leaveEarly(int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  __shared__ int count;
  if (threadIdx.x == 0)
    count = 0;
  __syncthreads();
  atomicAdd(&count, 1);
  __syncthreads();
  out[i] = count;
}

__global__ void asmExit(int *out) {
  if (threadIdx.x % 2)
    asm volatile("exit;");
  __syncthreads();
  out[threadIdx.x] = 1;
}

__global__ void warps(int *out) {
  int t = threadIdx.x, *o = out + t * 16;
  float f = t;
  for (int d = 16; d; d >>= 1)
    f += __shfl_xor_sync(~0u, f, d);
  o[0] = f;
  int scan = t;
  for (int d = 1; d < 32; d <<= 1) {
    int below = __shfl_up_sync(~0u, scan, d);
    if (t % 32 >= d)
      scan += below;
  }
  o[1] = scan;
  o[2] = __shfl_sync(~0u, t * 1.5, 3, 8) * 2;
  o[3] = __shfl_down_sync(~0u, (long long)t << 33, 1) >> 33;
  o[4] = __ballot_sync(~0u, t % 3 == 0);
  o[5] = __all_sync(~0u, t < 40) * 2 + __any_sync(~0u, t == 5);
  o[6] = __match_any_sync(~0u, t % 4);
  int same;
  o[7] = __match_all_sync(~0u, 7, &same);
  o[7] += same;
  o[8] = __reduce_add_sync(~0u, t);
  o[9] = __reduce_max_sync(~0u, -t);
  o[10] = __syncthreads_count(t % 2);
  o[11] = __syncthreads_and(t < 1000) * 2 + __syncthreads_or(t == 3);
  if (t % 2 == 0)
    o[12] = __shfl_xor_sync(0x55555555, t, 2);
  unsigned lane, below;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  o[13] = lane * 100 + __popc(below);
}

__global__ void groups(int *out) {
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto eight = cg::tiled_partition<8>(warp);
  int t = block.thread_rank(), *o = out + t * 4;
  block.sync();
  o[0] = cg::reduce(warp, t, cg::plus<int>());
  o[1] = cg::reduce(eight, t, cg::greater<int>());
  o[2] = eight.shfl(t, 2);
  o[3] = eight.meta_group_rank();
}

__global__ void cubs(const int *a, int *out) {
  using Scan = cub::BlockScan<int, 128>;
  using Reduce = cub::BlockReduce<int, 128>;
  using Sort = cub::BlockRadixSort<int, 128, 4>;
  __shared__ union {
    typename Scan::TempStorage scan;
    typename Reduce::TempStorage reduce;
    typename Sort::TempStorage sort;
  } memory;
  int t = threadIdx.x, before;
  Scan(memory.scan).ExclusiveSum(a[t], before);
  __syncthreads();
  int total = Reduce(memory.reduce).Sum(a[t]);
  __syncthreads();
  int keys[4];
  for (int k = 0; k < 4; k++)
    keys[k] = a[t * 4 + k];
  Sort(memory.sort).Sort(keys);
  for (int k = 0; k < 4; k++)
    out[256 + t * 4 + k] = keys[k];
  out[t] = before;
  if (t == 0)
    out[128] = total;
}

__device__ int plus(int x) { return x + threadIdx.x; }
__device__ int twice(int x) { return x * 2 + blockIdx.x; }
__device__ int (*functions[2])(int) = {plus, twice};
}

struct Base {
  __device__ virtual int go(int) = 0;
};
struct Derived : Base {
  int k;
  __device__ Derived(int k) : k(k) {}
  __device__ int go(int x) override { return x + k + threadIdx.y; }
};
__device__ int fibonacci(int n) {
  return n < 2 ? threadIdx.x : fibonacci(n - 1) + fibonacci(n - 2);
}
struct Numbers {
  int values[5];
};

extern "C" {
__global__ void pointers(int *out, Numbers numbers) {
  int t = threadIdx.x;
  Derived derived(5);
  Base *base = &derived;
  numbers.values[t % 5] += t; // each thread has its own copy
  out[t] = functions[t & 1](t) + base->go(t) + fibonacci(6) +
           numbers.values[(t + 1) % 5];
}

__global__ void atomics(int *o, float *f, double *d, unsigned long long *u) {
  int t = threadIdx.x + blockDim.x * threadIdx.y;
  atomicAdd(o, t);
  atomicMax(o + 1, t);
  atomicMin(o + 2, -t);
  atomicInc((unsigned *)o + 3, 9);
  atomicDec((unsigned *)o + 4, 9);
  atomicOr(o + 5, 1 << (t & 31));
  atomicAnd(o + 6, ~t);
  atomicCAS(o + 7, t, t + 1);
  atomicExch_system(o + 8, t);
  atomicAdd(f, 1.5f);
  atomicAdd(d, 0.25);
  atomicAdd(u, 1ull << 40);
}

// A lock that is taken around a barrier of the warp.
__global__ void lock(int *mutex, int *value) {
  if (threadIdx.x % 32 == 0)
    while (atomicCAS(mutex, 0, 1) != 0)
      ;
  __syncwarp();
  if (threadIdx.x % 32 == 0) {
    *value = *value + 1;
    __threadfence();
    atomicExch(mutex, 0);
  }
}

// One thread waits for what another of its block writes.
__global__ void produce(volatile int *flag, int *out) {
  if (threadIdx.x == 0) {
    while (*flag != 33)
      ;
    *out = 5;
  } else if (threadIdx.x == 33) {
    *flag = 33;
  }
}
}
#else
#include "KernelHarness.h"
#include <algorithm>
#include <numeric>

using namespace harness;

struct Numbers {
  int values[5];
};

int main() {
  {
    std::vector<int> a(1000);
    std::iota(a.begin(), a.end(), 5);
    int out = 0, want = 0;
    int(&factors)[4] = variable<int[4]>("factors");
    for (int i = 0; i < 4; i++)
      factors[i] = i + 1;
    for (int i = 0; i < 1000; i++)
      want += a[i] * (i % 4 + 1);
    launch("sum", {8}, {128}, 512, a.data(), &out, 1000);
    equal("sum", 0, out, want);
    equal("calls", 0, variable<int>("calls"), 48);
  }
  {
    std::vector<int> out(128, -1);
    launch("leaveEarly", {2}, {64}, 0, out.data(), 100);
    for (int i = 0; i < 128; i++)
      equal("leaveEarly", i, out[i], i < 64 ? 64 : i < 100 ? 36 : -1);
    launch("asmExit", {1}, {64}, 0, out.data());
    for (int i = 0; i < 64; i++)
      equal("asmExit", i, out[i], i % 2 ? 64 : 1);
  }
  {
    std::vector<int> out(64 * 16);
    launch("warps", {1}, {64}, 0, out.data());
    for (int t = 0; t < 64; t++) {
      int w = t / 32 * 32, *o = &out[t * 16];
      int total = 496 + 32 * w, scan = 0, third = 0;
      for (int k = w; k <= t; k++)
        scan += k;
      for (int k = 0; k < 32; k++)
        third |= ((w + k) % 3 == 0) << k;
      int want[] = {total,
                    scan,
                    ((t & ~7) + 3) * 3,
                    t % 32 == 31 ? t : t + 1,
                    third,
                    (w == 0) * 2 + (w == 0),
                    0x11111111 << t % 4,
                    0,
                    total,
                    -w,
                    32,
                    3,
                    t % 2 ? 0 : t ^ 2,
                    t % 32 * 100 + t % 32};
      for (int k = 0; k < 14; k++)
        equal("warps", t * 100 + k, o[k], want[k]);
    }
  }
  {
    std::vector<int> out(64 * 4);
    launch("groups", {1}, {64}, 0, out.data());
    for (int t = 0; t < 64; t++) {
      equal("reduce", t, out[t * 4], 496 + t / 32 * 1024);
      equal("greater", t, out[t * 4 + 1], t | 7);
      equal("shfl", t, out[t * 4 + 2], (t & ~7) + 2);
      equal("rank", t, out[t * 4 + 3], t / 8 % 4);
    }
  }
  {
    std::vector<int> a(512), out(1024);
    for (int i = 0; i < 512; i++)
      a[i] = i * 7919 % 1013 - 200;
    launch("cubs", {1}, {128}, 0, a.data(), out.data());
    int before = 0;
    for (int t = 0; t < 128; before += a[t++])
      equal("scan", t, out[t], before);
    equal("total", 0, out[128], before);
    std::sort(a.begin(), a.end());
    for (int i = 0; i < 512; i++)
      equal("sort", i, out[256 + i], a[i]);
  }
  {
    std::vector<int> out(32);
    launch("pointers", {1}, {32}, 0, out.data(), Numbers{{1, 2, 3, 4, 5}});
    for (int t = 0; t < 32; t++)
      equal("pointers", t, out[t], 2 * t + t + 5 + 13 * t + (t + 1) % 5 + 1);
  }
  {
    int o[9] = {0, -5, 5, 0, 3, 0, -1, 0, 0}, all = -1;
    unsigned up = 0, down = 3;
    for (int t = 0; t < 64; t++) {
      up = up >= 9 ? 0 : up + 1;
      down = down == 0 || down > 9 ? 9 : down - 1;
      all &= ~t;
    }
    float f = 0;
    double d = 0;
    unsigned long long u = 0;
    launch("atomics", {1}, {32, 2}, 0, o, &f, &d, &u);
    int want[] = {2016, 63, -63, (int)up, (int)down, -1, all, 64, 63};
    for (int i = 0; i < 9; i++)
      equal("atomics", i, o[i], want[i]);
    equal("float", 0, f, 96);
    equal("double", 0, d, 16);
    equal("64 bits", 0, u, 64ull << 40);
  }
  {
    int mutex = 0, value = 0, flag = 0, out = 0;
    launch("lock", {3}, {128}, 0, &mutex, &value);
    equal("lock", 0, value, 12);
    launch("produce", {1}, {64}, 0, &flag, &out);
    equal("produce", 0, out, 5);
  }
  return finish();
}
#endif
