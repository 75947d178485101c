// Loops that end before their last iteration, or whose condition cannot be asked again, in launches that are cut along them:
// break with values that are used behind the loop, two of them in one loop, return, a condition at the end, one that reads
// memory which the loop changes, and continue. A thread that has left the loop stays outside in each later launch.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %plain ./program
// RUN: %tight DRAGON_LOG=1 ./program 2>&1 | FileCheck %s
// RUN: %build -O0 %s -o plain0 && %tight ./plain0
// CHECK-DAG: finds{{.*}} runs by loop in
// CHECK-DAG: either{{.*}} runs by loop in
// CHECK-DAG: returns{{.*}} runs by loop in
// CHECK-DAG: atItsEnd{{.*}} runs by loop in
// CHECK-DAG: untilStopped{{.*}} runs by loop in
// CHECK-DAG: skips{{.*}} runs by loop in
// CHECK: 6 of 6 right
// DRAGON_CHECK finds nothing wrong where launches run by loop.
// RUN: %build -fdragon-trace-accesses %s -o traced && %tight DRAGON_CHECK=1 ./traced
// RUN: rm -rf %t.dir
#include "results.h"

#define FROM (blockIdx.x * blockDim.x + threadIdx.x)
#define STEP (gridDim.x * blockDim.x)

/// The first element of each thread that is divisible, and how many it saw.
__global__ void finds(const uint32_t *x, int n, uint32_t *out) {
  uint32_t found = 0, seen = 0;
  int i = FROM;
  for (; i < n; i += STEP) {
    ++seen;
    if (x[i] % 769 == 0) {
      found = x[i];
      break;
    }
  }
  out[FROM] = found * 3 + seen + i;
}

/// Two ways out of the middle, each with a value of its own.
__global__ void either(const uint32_t *x, int n, uint32_t *out) {
  uint32_t result = 7;
  for (int i = FROM; i < n; i += STEP) {
    const uint32_t v = x[i] >> 3;
    if (v % 1021 == 0) {
      result = v + 1;
      break;
    }
    const uint32_t w = v * 5 + 1;
    if (w % 509 == 0) {
      result = w * 2;
      break;
    }
  }
  out[FROM] = result;
}

__global__ void returns(const uint32_t *x, int n, uint32_t *out) {
  for (int i = FROM; i < n; i += STEP) {
    if (x[i] % 911 == 0)
      return;
    out[FROM] += x[i];
  }
  out[FROM] += n;
}

__global__ void atItsEnd(const uint32_t *x, int n, uint32_t *out) {
  uint32_t sum = 0;
  int k = 0;
  do {
    sum = sum * 5 + x[k * STEP + FROM];
    ++k;
  } while (k < n / 1280);
  out[FROM] = sum;
}

/// Each thread stops itself: the condition finds what the loop wrote.
__global__ void untilStopped(const uint32_t *x, int n, uint32_t *stop,
                             uint32_t *out) {
  uint32_t sum = 0;
  for (int i = FROM; i < n && !stop[FROM]; i += STEP) {
    sum += x[i];
    if (x[i] % 601 == 0)
      stop[FROM] = 1;
    out[FROM] = sum;
  }
}

__global__ void skips(const uint32_t *x, int n, uint32_t *out) {
  uint32_t sum = 0;
  int i = FROM;
  while (i < n) {
    const uint32_t v = x[i];
    i += STEP;
    if (v & 1)
      continue;
    sum = sum * 3 + v;
  }
  out[FROM] = sum;
}

int main() {
  const int blocks = 20, threads = 64, all = blocks * threads, n = 3600 * all;
  std::vector<uint32_t> x(n);
  for (int i = 0; i < n; ++i)
    x[i] = i * 2654435761u >> 9;
  uint32_t *dx = upload(x), *out, *stop;
  CHECK(cudaMalloc(&out, all * 4));
  CHECK(cudaMalloc(&stop, all * 4));
  CHECK(cudaMemset(stop, 0, all * 4));

  std::vector<uint32_t> found(all), ways(all), places(all), mixed(all),
      sums(all), even(all);
  for (int t = 0; t < all; ++t) {
    int i = t;
    uint32_t seen = 0;
    while (i < n && (++seen, x[i] % 769 != 0))
      i += all;
    found[t] = (i < n ? x[i] : 0) * 3 + seen + i;

    ways[t] = 7;
    for (int k = t; k < n && ways[t] == 7; k += all) {
      const uint32_t v = x[k] >> 3, w = v * 5 + 1;
      if (v % 1021 == 0)
        ways[t] = v + 1;
      else if (w % 509 == 0)
        ways[t] = w * 2;
    }

    bool returned = false;
    for (int k = t; k < n && !returned; k += all)
      if (!(returned = x[k] % 911 == 0))
        places[t] += x[k];
    if (!returned)
      places[t] += n;

    bool stopped = false;
    for (int k = t; k < n; k += all) {
      mixed[t] = mixed[t] * 5 + x[k];
      if (!stopped)
        sums[t] += x[k];
      stopped |= x[k] % 601 == 0;
      if (x[k] % 2 == 0)
        even[t] = even[t] * 3 + x[k];
    }
  }
  finds<<<blocks, threads>>>(dx, n, out);
  check("finds", found, out);
  either<<<blocks, threads>>>(dx, n, out);
  check("either", ways, out);
  CHECK(cudaMemset(out, 0, all * 4));
  returns<<<blocks, threads>>>(dx, n, out);
  check("returns", places, out);
  atItsEnd<<<blocks, threads>>>(dx, n, out);
  check("atItsEnd", mixed, out);
  untilStopped<<<blocks, threads>>>(dx, n, stop, out);
  check("untilStopped", sums, out);
  skips<<<blocks, threads>>>(dx, n, out);
  check("skips", even, out);
  return countResults();
}
