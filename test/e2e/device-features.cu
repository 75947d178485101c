// What kernels use besides memory: barriers in loops and in divergent code, static and dynamic shared memory, shuffles
// and votes, atomics, device variables and constants, math functions, printf, function templates, early exits.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %plain ./program > plain.txt && %tight ./program > tight.txt
// RUN: FileCheck %s < plain.txt && FileCheck %s < tight.txt
// CHECK: block 3 of 4 says 2.50 and hello
// CHECK: all right
// RUN: %plain %fails ./program assert 2>&1 | FileCheck %s --check-prefix=ASSERT
// ASSERT: device-features.cu:{{[0-9]+}}: {{.*}}asserting{{.*}}value < 100
// ASSERT: assert
// ASSERT: exit code 9
// RUN: rm -rf %t.dir
#undef NDEBUG
#include "e2e.h"

#include <cassert>
#include <cmath>

__constant__ float Table[64];
__device__ unsigned Counter = 5;
__device__ int Results[8];

__global__ void warps(int *out) {
  int lane = threadIdx.x % 32;
  int value = threadIdx.x * 3 + 1;
  int sum = value;
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, step);
  sum = __shfl_sync(0xffffffff, sum, 0);
  int rotated = __shfl_sync(0xffffffff, value, (lane + 1) % 32);
  int swapped = __shfl_xor_sync(0xffffffff, value, 1);
  unsigned odd = __ballot_sync(0xffffffff, value & 1);
  int any = __any_sync(0xffffffff, value == 1);
  int all = __all_sync(0xffffffff, value > 0);
  out[threadIdx.x] = sum + rotated * 7 + swapped * 11 + __popc(odd) * 13 +
                     any * 100000 + all * 1000000;
}

// Prefix sums of a block, with barriers in a loop.
__global__ void scan(const int *in, int *out) {
  extern __shared__ int buffer[];
  __shared__ int total;
  int t = threadIdx.x, from = 0, n = blockDim.x;
  in += blockIdx.x * n;
  out += blockIdx.x * n;
  buffer[t] = in[t];
  __syncthreads();
  for (int step = 1; step < n; step *= 2) {
    int to = 1 - from;
    buffer[to * n + t] =
        buffer[from * n + t] + (t >= step ? buffer[from * n + t - step] : 0);
    from = to;
    __syncthreads();
  }
  if (t == n - 1)
    total = buffer[from * n + t];
  __syncthreads();
  out[t] = buffer[from * n + t] + total;
}

// Whole warps leave before the barrier, and a block-uniform branch holds one.
__global__ void uneven(int *out, int keep) {
  __shared__ int seen;
  if (threadIdx.x == 0)
    seen = 0;
  __syncthreads();
  if (blockIdx.x % 2 == 0) {
    atomicAdd(&seen, threadIdx.x);
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = seen;
  } else {
    if (threadIdx.x >= keep)
      return;
    atomicMax(&seen, threadIdx.x);
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = -seen;
  }
}

__global__ void globals(float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = Table[i % 64] * 2;
  atomicAdd(&Counter, 1);
  if (i < 8)
    atomicExch(&Results[i], i * i);
}

template <typename T> __device__ T compareAndSwapAdd(T *where, T value) {
  T old = *where, seen;
  do {
    seen = old;
    old = atomicCAS(where, seen, seen + value);
  } while (old != seen);
  return old;
}

__global__ void atomics(unsigned *u, float *f, unsigned long long *l, int *i) {
  atomicAdd(u, 3u);
  atomicAdd(f, 0.5f);
  atomicAdd(l, 1ull << 33);
  atomicMin(i, -(int)threadIdx.x);
  atomicOr(u + 1, 1u << threadIdx.x % 32);
  atomicXor(u + 2, threadIdx.x);
  atomicInc(u + 3, 9);
  compareAndSwapAdd(u + 4, 2u);
}

__global__ void math(const double *in, double *out) {
  double x = in[threadIdx.x];
  float y = (float)x;
  out[threadIdx.x] = sin(x) + exp(-x) + sqrt(x) + pow(x, 1.5) + fabs(cos(x)) +
                     floor(x) + fma(x, x, 1.0) + log1p(x) + (double)tanhf(y) +
                     (double)__fdividef(y, 3.0f) + (double)rsqrtf(y) +
                     (double)__clz((int)y) + max(x, 2.0) + erf(x);
}

__global__ void talk() {
  if (threadIdx.x == 0 && blockIdx.x == 3)
    printf("block %d of %u says %.2f and %s\n", blockIdx.x, gridDim.x, 2.5,
           "hello");
}

__global__ void asserting(int value) { assert(value < 100); }

int main(int argc, char **) {
  if (argc > 1) {
    asserting<<<1, 1>>>(99);
    CHECK(cudaDeviceSynchronize());
    asserting<<<1, 1>>>(100);
    cudaError_t status = cudaDeviceSynchronize();
    fprintf(stderr, "%s\n", cudaGetErrorString(status));
    return status == cudaErrorAssert ? 9 : 1;
  }
  int *d, h[1024], in[1024];
  CHECK(cudaMalloc(&d, 2 * sizeof h));

  warps<<<1, 64>>>(d);
  CHECK(cudaMemcpy(h, d, 64 * 4, cudaMemcpyDeviceToHost));
  for (int t = 0; t < 64; ++t) {
    int warp = t / 32 * 32, sum = 0, odd = 0, any = 0;
    for (int l = warp; l < warp + 32; ++l) {
      sum += l * 3 + 1;
      odd += (l * 3 + 1) & 1;
      any |= l == 0;
    }
    REQUIRE(h[t] == sum + ((warp + (t + 1) % 32) * 3 + 1) * 7 +
                        ((t ^ 1) * 3 + 1) * 11 + odd * 13 + any * 100000 +
                        1000000);
  }

  for (int i = 0; i < 1024; ++i)
    in[i] = i * 7 % 31;
  CHECK(cudaMemcpy(d, in, sizeof in, cudaMemcpyHostToDevice));
  scan<<<8, 128, 2 * 128 * 4>>>(d, d + 1024);
  CHECK(cudaMemcpy(h, d + 1024, sizeof h, cudaMemcpyDeviceToHost));
  for (int b = 0; b < 8; ++b) {
    int total = 0, prefix = 0;
    for (int t = 0; t < 128; ++t)
      total += in[b * 128 + t];
    for (int t = 0; t < 128; ++t)
      REQUIRE(h[b * 128 + t] == (prefix += in[b * 128 + t]) + total);
  }

  CHECK(cudaMemset(d, 0, 4 * 96 * 4));
  uneven<<<4, 96>>>(d, 64);
  CHECK(cudaMemcpy(h, d, 4 * 96 * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 4 * 96; ++i)
    REQUIRE(h[i] == (i / 96 % 2 == 0 ? 95 * 96 / 2 : i % 96 < 64 ? -63 : 0));

  float table[64], *f = (float *)d, results[256];
  for (int i = 0; i < 64; ++i)
    table[i] = i * 0.25f;
  CHECK(cudaMemcpyToSymbol(Table, table, sizeof table));
  globals<<<2, 128>>>(f);
  CHECK(cudaMemcpy(results, f, sizeof results, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 256; ++i)
    REQUIRE(results[i] == i % 64 * 0.5f);
  unsigned counter;
  CHECK(cudaMemcpyFromSymbol(&counter, Counter, sizeof counter));
  REQUIRE(counter == 5 + 256);
  int squares[8];
  CHECK(cudaMemcpyFromSymbol(squares, Results, sizeof squares));
  REQUIRE(squares[7] == 49);

  unsigned *u, uh[5];
  float *af, fh;
  unsigned long long *l, lh;
  int ih;
  CHECK(cudaMalloc(&u, sizeof uh));
  CHECK(cudaMalloc(&af, 4));
  CHECK(cudaMalloc(&l, 8));
  CHECK(cudaMemset(u, 0, sizeof uh));
  CHECK(cudaMemset(af, 0, 4));
  CHECK(cudaMemset(l, 0, 8));
  CHECK(cudaMemset(d, 0, 4));
  atomics<<<16, 64>>>(u, af, l, d);
  CHECK(cudaMemcpy(uh, u, sizeof uh, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&fh, af, 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&lh, l, 8, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&ih, d, 4, cudaMemcpyDeviceToHost));
  REQUIRE(uh[0] == 3 * 1024 && uh[1] == 0xffffffff && uh[2] == 0);
  REQUIRE(uh[3] == 1024 % 10 && uh[4] == 2048);
  REQUIRE(fh == 512.0f && lh == 1024ull << 33 && ih == -63);

  double x[32], y[32], *dd;
  for (int i = 0; i < 32; ++i)
    x[i] = 0.1 + i * 0.37;
  CHECK(cudaMalloc(&dd, 2 * sizeof x));
  CHECK(cudaMemcpy(dd, x, sizeof x, cudaMemcpyHostToDevice));
  math<<<1, 32>>>(dd, dd + 32);
  CHECK(cudaMemcpy(y, dd + 32, sizeof y, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) {
    double v = x[i];
    double expected = sin(v) + exp(-v) + sqrt(v) + pow(v, 1.5) + fabs(cos(v)) +
                      floor(v) + v * v + 1 + log1p(v) + tanh(v) + v / 3 +
                      1 / sqrt(v) + std::fmax(v, 2.0) + erf(v) +
                      (v < 1 ? 32 : __builtin_clz((int)v));
    REQUIRE(fabs(y[i] - expected) < 1e-5);
  }

  talk<<<4, 32>>>();
  CHECK(cudaDeviceSynchronize());
  printf("all right\n");
  return 0;
}
