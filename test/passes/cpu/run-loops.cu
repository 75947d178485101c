// Kernels with loops, run: iterations of a loop are interleaved over the threads
// of a block where that is legal and pays, and the results are those of one thread
// after the other.
// RUN: %clang -x cuda %s --cuda-path=%cuda -Wno-unknown-cuda-version --cuda-gpu-arch=sm_90 --cuda-device-only -emit-llvm -c -O2 -Xclang -disable-llvm-passes -o %t.bc
// RUN: %dragon-opt-passes -passes='dragon-cpu-lower,verify' %t.bc -o %t.host.bc 2>&1 | count 0
// RUN: %clang -O2 -x ir -Wno-override-module -c %t.host.bc -o %t.o
// RUN: %clang -std=c++20 -O1 -I%S/../../../include -I%S/Inputs -x c++ %s -x none %t.o -o %t
// RUN: %t | FileCheck %s
// CHECK: all right
//
// The same without optimisation.
// RUN: %clang -x cuda %s --cuda-path=%cuda -Wno-unknown-cuda-version --cuda-gpu-arch=sm_90 --cuda-device-only -emit-llvm -c -O0 -g -o %t.bc
// RUN: %dragon-opt-passes -passes='dragon-cpu-lower,verify' %t.bc -o %t.host.bc 2>&1 | count 0
// RUN: %clang -O1 -x ir -Wno-override-module -c %t.host.bc -o %t.o
// RUN: %clang -std=c++20 -O1 -I%S/../../../include -I%S/Inputs -x c++ %s -x none %t.o -o %t
// RUN: %t | FileCheck %s
//
// Which ones have been interchanged; with -O2 the parts are gone, so look before.
// RUN: %clang -x cuda %s --cuda-path=%cuda -Wno-unknown-cuda-version --cuda-gpu-arch=sm_90 --cuda-device-only -emit-llvm -c -O2 -Xclang -disable-llvm-passes -o %t.bc
// RUN: %dragon-opt-passes -passes='dragon-cpu-lower' -S %t.bc -o - | FileCheck %s --check-prefix=PARTS
// PARTS-NOT: define {{.*}}@{{(locked|own|chunks|longest|unforeseen|localArray|nothing)}}.thread.iteration
// PARTS-DAG: define {{.*}}@strided.thread.iteration(
// PARTS-DAG: define {{.*}}@guarded.thread.iteration(
// PARTS-DAG: define {{.*}}@totals.thread.iteration(
// PARTS-DAG: define {{.*}}@totals.thread.after(
// PARTS-DAG: define {{.*}}@product.thread.iteration(
// PARTS-DAG: define {{.*}}@product2.thread.iteration(
// PARTS-DAG: define {{.*}}@byValue.thread.iteration(
// PARTS-DAG: define {{.*}}@nested.thread.iteration(
// PARTS-DAG: define {{.*}}@downwards.thread.iteration(
// PARTS-NOT: define {{.*}}@{{(locked|own|chunks|longest|unforeseen|localArray|nothing)}}.thread.iteration

struct Shape {
  float *data;
  int rows, columns;
  float factor;
};

#ifdef __CUDA__
__device__ unsigned long long index() {
  return (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
}

extern "C" {
__global__ void strided(const float *a, const float *b, float *c, size_t n) {
  size_t stride = (size_t)gridDim.x * blockDim.x;
  for (size_t i = index(); i < n; i += stride)
    c[i] = a[i] * 2 + b[i];
}

// Some threads do not reach the loop, and write elsewhere before it.
__global__ void guarded(int *a, int *marks, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  marks[i] = 1;
  if (i % 3 == 0) {
    marks[i] = 2;
    return;
  }
  for (; i < n; i += gridDim.x * blockDim.x)
    a[i] += i;
}

// A sum is carried from iteration to iteration, and used afterwards.
__global__ void totals(const int *a, int *out, int n) {
  int sum = 0, last = -1;
  unsigned seed = threadIdx.x + 1;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x) {
    sum += a[i];
    seed = seed * 1664525u + 1013904223u;
    last = i;
  }
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  out[3 * t] = sum;
  out[3 * t + 1] = last;
  out[3 * t + 2] = seed;
}

// All threads make the same iterations.
__global__ void product(const float *a, const float *b, float *c, int n) {
  int x = threadIdx.x, y = threadIdx.y + blockIdx.y * blockDim.y;
  float sum = 0;
  for (int k = 0; k < n; k++)
    sum += a[y * n + k] * b[k * n + x];
  c[y * n + x] = sum;
}

__global__ void product2(const float *a, const float *b, float *c, int n) {
  int x = threadIdx.x, y = threadIdx.y + blockIdx.y * blockDim.y;
  if (x < n && y < n) {
    float sum = 0;
    for (int k = 0; k < n; k++)
      sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
  }
}

__global__ void byValue(Shape shape) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < shape.columns)
    for (int y = 0; y < shape.rows; y++)
      shape.data[y * shape.columns + x] *= shape.factor;
}

__global__ void nested(int *a, int n, int m) {
  for (int y = threadIdx.x; y < n; y += blockDim.x) {
    int sum = 0;
    for (int x = 0; x < m; x++)
      sum += a[x * n + y];
    a[y] = sum;
  }
}

__global__ void downwards(int *a, int n) {
  for (int i = n - 1 - (int)threadIdx.x; i >= 0; i -= (int)blockDim.x)
    a[i] = a[i] * 3 + i;
}

// A lock that is held beyond the loop: threads must not stop there.
__global__ void locked(int *mutex, int *value) {
  while (atomicCAS(mutex, 0, 1) != 0)
    ;
  *value = *value + 1;
  atomicExch(mutex, 0);
}

// Each thread has a piece of its own: one after the other is better.
__global__ void own(int *a, int length) {
  int *mine = a + threadIdx.x * length;
  for (int i = 0; i < length; i++)
    mine[i] += i;
}

// The number of iterations is in memory and may differ widely.
__global__ void longest(const int *count, const int *a, int *out, int n) {
  int sum = 0;
  for (int k = 0; k < count[threadIdx.x]; k++)
    sum += a[k * n + threadIdx.x];
  out[threadIdx.x] = sum;
}

__global__ void unforeseen(int *a, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    if (a[i] < 0)
      break;
    a[i] = -a[i] - 1;
  }
}

// Variables of the thread in memory.
__global__ void localArray(int *a, int n) {
  int kept[4] = {0, 0, 0, 0};
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    kept[a[i] & 3] += a[i];
  a[threadIdx.x] = kept[threadIdx.x & 3];
}

__global__ void nothing(int *a) { a[threadIdx.x] = threadIdx.x; }
}
#else
#include "KernelHarness.h"
#include <numeric>

using namespace harness;

int main() {
  {
    size_t n = 1003;
    std::vector<float> a(n), b(n), c(n + 1, -1);
    for (size_t i = 0; i < n; i++)
      a[i] = i, b[i] = n - i;
    launch("strided", {3}, {64}, 0, a.data(), b.data(), c.data(), n);
    for (size_t i = 0; i < n; i++)
      equal("strided", i, c[i], i * 2. + n - i);
    equal("strided beyond", n, c[n], -1);
  }
  {
    std::vector<int> a(1000), marks(64), want(1000);
    for (int i = 0; i < 64; i++)
      if (i % 3)
        for (int k = i; k < 1000; k += 64)
          want[k] += k;
    launch("guarded", {2}, {32}, 0, a.data(), marks.data(), 1000);
    for (int i = 0; i < 1000; i++)
      equal("guarded", i, a[i], want[i]);
    for (int i = 0; i < 64; i++)
      equal("marks", i, marks[i], i % 3 ? 1 : 2);
  }
  for (int n : {0, 5, 1000}) {
    std::vector<int> a(1000), out(64 * 3);
    std::iota(a.begin(), a.end(), 7);
    launch("totals", {2}, {8, 4}, 0, a.data(), out.data(), n);
    for (int t = 0; t < 16; t++) {
      int sum = 0, last = -1;
      unsigned seed = t % 8 + 1;
      for (int i = t; i < n; i += 16) {
        sum += a[i];
        seed = seed * 1664525u + 1013904223u;
        last = i;
      }
      equal("sum", t, out[3 * t], sum);
      equal("last", t, out[3 * t + 1], last);
      equal("seed", t, out[3 * t + 2], (int)seed);
    }
  }
  for (const char *name : {"product", "product2"}) {
    int n = 32;
    std::vector<float> a(n * n), b(n * n), c(n * n);
    for (int i = 0; i < n * n; i++)
      a[i] = i % 13, b[i] = i % 7;
    launch(name, {1, 4}, {32, 8}, 0, a.data(), b.data(), c.data(), n);
    for (int y = 0; y < n; y++)
      for (int x = 0; x < n; x++) {
        float sum = 0;
        for (int k = 0; k < n; k++)
          sum += a[y * n + k] * b[k * n + x];
        equal(name, y * n + x, c[y * n + x], sum);
      }
  }
  {
    std::vector<float> a(30 * 50);
    std::iota(a.begin(), a.end(), 1.f);
    launch("byValue", {2}, {32}, 0, Shape{a.data(), 30, 50, 2.5f});
    for (int i = 0; i < 1500; i++)
      equal("byValue", i, a[i], (i + 1) * 2.5f);
  }
  {
    int n = 100, m = 6;
    std::vector<int> a(n * m);
    std::iota(a.begin(), a.end(), 0);
    std::vector<int> want = a;
    for (int y = 0; y < n; y++) {
      int sum = 0;
      for (int x = 0; x < m; x++)
        sum += want[x * n + y];
      want[y] = sum;
    }
    launch("nested", {1}, {32}, 0, a.data(), n, m);
    for (int i = 0; i < n * m; i++)
      equal("nested", i, a[i], want[i]);
    launch("downwards", {1}, {32}, 0, a.data(), n * m);
    for (int i = 0; i < n * m; i++)
      equal("downwards", i, a[i], want[i] * 3 + i);
  }
  {
    int mutex = 0, value = 0;
    launch("locked", {4}, {64}, 0, &mutex, &value);
    equal("locked", 0, value, 256);
  }
  {
    std::vector<int> a(32 * 20), out(32), count(32);
    launch("own", {1}, {32}, 0, a.data(), 20);
    for (int i = 0; i < 640; i++)
      equal("own", i, a[i], i % 20);
    for (int i = 0; i < 32; i++)
      count[i] = i % 20;
    launch("longest", {1}, {32}, 0, count.data(), a.data(), out.data(), 32);
    for (int t = 0; t < 32; t++) {
      int sum = 0;
      for (int k = 0; k < t % 20; k++)
        sum += a[k * 32 + t];
      equal("longest", t, out[t], sum);
    }
  }
  {
    std::vector<int> a(300, 4);
    a[70] = -9;
    launch("unforeseen", {1}, {32}, 0, a.data(), 300);
    for (int i = 0; i < 300; i++)
      equal("unforeseen", i, a[i],
            i == 70 ? -9 : i % 32 == 6 && i > 70 ? 4 : -5);
    std::iota(a.begin(), a.end(), 0);
    std::vector<int> want = a;
    for (int t = 0; t < 32; t++) {
      int kept[4] = {0, 0, 0, 0};
      for (int i = t; i < 300; i += 32)
        kept[want[i] & 3] += want[i];
      want[t] = kept[t & 3];
    }
    launch("localArray", {1}, {32}, 0, a.data(), 300);
    for (int i = 0; i < 300; i++)
      equal("localArray", i, a[i], want[i]);
  }
  return finish();
}
#endif
