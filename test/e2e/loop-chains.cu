// Kernels with several loops that go through more data than device and host memory hold together: launches are cut along all
// of them, one after the other. A helper and a template with a lambda that are called twice, a mean and then what differs from
// it, three loops of which two write, sums that are used in place, threads of a block that talk between two loops, one loop or
// the other, a second loop that not all threads come to, and a loop that ends early in front of another one.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %plain ./program
// RUN: %tight DRAGON_LOG=1 ./program 2>&1 | FileCheck %s
// RUN: %build -O0 %s -o plain0 && %tight ./plain0
// CHECK-DAG: halves{{.*}} runs by loop in
// CHECK-DAG: byLambda{{.*}} runs by loop in
// CHECK-DAG: deviations{{.*}} runs by loop in
// CHECK-DAG: scaled{{.*}} runs by loop in
// CHECK-DAG: normalized{{.*}} runs by loop in
// CHECK-DAG: together{{.*}} runs by loop in
// CHECK-DAG: eitherLoop{{.*}} runs by loop in
// CHECK-DAG: someAgain{{.*}} runs by loop in
// CHECK-DAG: fourTimes{{.*}} runs by loop in
// CHECK: 11 of 11 right
// DRAGON_CHECK finds nothing wrong where launches run by loop.
// RUN: %build -fdragon-trace-accesses %s -o traced && %tight DRAGON_CHECK=1 ./traced
// RUN: rm -rf %t.dir
#include "results.h"

#include <algorithm>

#define FROM (blockIdx.x * blockDim.x + threadIdx.x)
#define STEP (gridDim.x * blockDim.x)

__device__ __noinline__ uint32_t part(const uint32_t *x, int from, int to) {
  uint32_t sum = 0;
  for (int i = from + FROM; i < to; i += STEP)
    sum = sum * 3 + x[i];
  return sum;
}
__global__ void halves(const uint32_t *x, int n, uint32_t *out) {
  const uint32_t first = part(x, 0, n / 2), second = part(x, n / 2, n);
  out[FROM] = first * 5 + second;
}

template <typename F> __device__ uint32_t over(int n, F f) {
  uint32_t sum = 0;
  for (int i = FROM; i < n; i += STEP)
    sum = sum * 3 + f(i);
  return sum;
}
__global__ void byLambda(const uint32_t *x, int n, uint32_t *out) {
  const uint32_t all = over(n, [=](int i) { return x[i] >> 1; });
  out[FROM] = over(n, [=](int i) { return x[i] ^ all; });
}

/// The mean of a column, then what differs from it. Where the mean is written,
/// it is written once.
__global__ void deviations(const uint32_t *m, int rows, int cols,
                           uint32_t *means, uint32_t *out) {
  const int c = FROM;
  if (c >= cols)
    return;
  uint32_t sum = 0, differs = 0;
  for (int r = 0; r < rows; ++r)
    sum += m[(long)r * cols + c];
  const uint32_t mean = sum / rows;
  means[c] += mean;
  for (int r = 0; r < rows; ++r) {
    const uint32_t v = m[(long)r * cols + c];
    differs += v > mean ? v - mean : mean - v;
  }
  out[c] = differs;
}

/// What the second loop writes the third one reads, and writes again.
__global__ void scaled(const uint32_t *m, int rows, int cols, uint32_t *y) {
  const int c = FROM;
  uint32_t most = 0, sum = 0;
  for (int r = 0; r < rows; ++r)
    most = max(most, m[(long)r * cols + c]);
  for (int r = 0; r < rows; ++r) {
    const uint32_t v = most - m[(long)r * cols + c];
    y[(long)r * cols + c] = v;
    sum += v;
  }
  for (int r = 0; r < rows; ++r)
    y[(long)r * cols + c] ^= sum;
}

__global__ void normalized(uint32_t *m, int rows, int cols) {
  const int c = FROM;
  uint32_t sum = 1;
  for (int r = 0; r < rows; ++r)
    sum += m[(long)r * cols + c];
  for (int r = 0; r < rows; ++r)
    m[(long)r * cols + c] ^= sum;
}

/// All blocks go through all of it twice.
__global__ void together(const uint32_t *x, int n, uint32_t *out) {
  __shared__ uint32_t sums[64], all;
  uint32_t sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    sum += x[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    all = 0;
    for (int t = 0; t < 64; ++t)
      all += sums[t] >> t % 5;
  }
  __syncthreads();
  uint32_t differs = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    differs = differs * 3 + (x[i] ^ all);
  out[FROM] = differs + blockIdx.x;
}

__global__ void eitherLoop(const uint32_t *x, int n, uint32_t *out) {
  uint32_t sum = 0;
  if (FROM % 3)
    for (int i = FROM; i < n; i += STEP)
      sum = sum * 3 + x[i];
  else
    for (int i = FROM; i < n; i += STEP)
      sum = sum * 5 + x[i];
  out[FROM] = sum;
}

__global__ void someAgain(const uint32_t *m, int rows, int cols,
                          uint32_t *out) {
  const int c = FROM;
  uint32_t sum = 0;
  for (int r = 0; r < rows; ++r)
    sum += m[(long)r * cols + c];
  if (sum & 1)
    for (int r = 0; r < rows; ++r)
      sum = sum * 3 + m[(long)r * cols + c];
  out[c] = sum;
}

/// Of two buffers, up and down, the first time until something is found.
__global__ void fourTimes(const uint32_t *x, const uint32_t *y, int n,
                          uint32_t *out) {
  uint32_t sum = 0;
  for (int i = FROM; i < n; i += STEP) {
    if (x[i] % 769 == 0)
      break;
    sum += x[i];
  }
  for (int i = FROM; i < n; i += STEP)
    sum = sum * 3 + y[i];
  for (int i = n - 1 - FROM; i >= 0; i -= STEP)
    sum = sum * 5 + x[i];
  for (const uint32_t *p = y + FROM; p < y + n; p += STEP)
    sum = sum * 7 + *p;
  out[FROM] = sum;
}

int main(int argc, char **args) {
  const int blocks = 20, threads = 64, all = blocks * threads;
  const int rows = argc > 1 ? atoi(args[1]) : 3600, n = rows * all;
  std::vector<uint32_t> x(n);
  for (int i = 0; i < n; ++i)
    x[i] = i * 2654435761u >> 9;
  uint32_t *dx = upload(x), *out;
  CHECK(cudaMalloc(&out, all * 4));

  std::vector<uint32_t> half(all), lambda(all), differs(all), means(all),
      either(all), some(all), four(all), y(n), sums(n);
  for (int t = 0; t < all; ++t) {
    uint32_t two[2] = {0, 0}, once = 0, sum = 0, most = 0, rest = 0;
    for (int r = 0; r < rows; ++r) {
      const uint32_t v = x[r * all + t];
      two[r >= rows / 2] = two[r >= rows / 2] * 3 + v;
      once = once * 3 + (v >> 1);
      either[t] = either[t] * (t % 3 ? 3 : 5) + v;
      sum += v;
      most = std::max(most, v);
    }
    half[t] = two[0] * 5 + two[1];
    means[t] = sum / rows + 7;
    some[t] = sum;
    for (int r = 0; r < rows; ++r) {
      const uint32_t v = x[r * all + t], mean = sum / rows;
      lambda[t] = lambda[t] * 3 + (v ^ once);
      differs[t] += v > mean ? v - mean : mean - v;
      some[t] = sum & 1 ? some[t] * 3 + v : sum;
      rest += most - v;
      sums[r * all + t] = v ^ (sum + 1);
    }
    for (int r = 0; r < rows; ++r)
      y[r * all + t] = (most - x[r * all + t]) ^ rest;

    const int m = n / 2;
    for (int i = t; i < m && x[i] % 769; i += all)
      four[t] += x[i];
    for (int i = t; i < m; i += all)
      four[t] = four[t] * 3 + x[m + i];
    for (int i = m - 1 - t; i >= 0; i -= all)
      four[t] = four[t] * 5 + x[i];
    for (int i = t; i < m; i += all)
      four[t] = four[t] * 7 + x[m + i];
  }
  halves<<<blocks, threads>>>(dx, n, out);
  check("halves", half, out);
  byLambda<<<blocks, threads>>>(dx, n, out);
  check("byLambda", lambda, out);
  uint32_t *dm = upload(std::vector<uint32_t>(all, 7));
  deviations<<<blocks, threads>>>(dx, rows, all, dm, out);
  check("deviations", differs, out);
  check("means", means, dm);
  uint32_t *dy;
  CHECK(cudaMalloc(&dy, n * 4L));
  scaled<<<blocks, threads>>>(dx, rows, all, dy);
  check("scaled", y, dy);
  CHECK(cudaMemcpy(dy, x.data(), n * 4L, cudaMemcpyHostToDevice));
  normalized<<<blocks, threads>>>(dy, rows, all);
  check("normalized", sums, dy);

  std::vector<uint32_t> blocksSums(all);
  uint32_t everything = 0;
  for (int t = 0; t < threads; ++t) {
    uint32_t sum = 0;
    for (int i = t; i < n; i += threads)
      sum += x[i];
    everything += sum >> t % 5;
  }
  for (int t = 0; t < threads; ++t) {
    uint32_t d = 0;
    for (int i = t; i < n; i += threads)
      d = d * 3 + (x[i] ^ everything);
    for (int b = 0; b < blocks; ++b)
      blocksSums[b * threads + t] = d + b;
  }
  together<<<blocks, threads>>>(dx, n, out);
  check("together", blocksSums, out);
  eitherLoop<<<blocks, threads>>>(dx, n, out);
  check("eitherLoop", either, out);
  someAgain<<<blocks, threads>>>(dx, rows, all, out);
  check("someAgain", some, out);
  fourTimes<<<blocks, threads>>>(dx, dx + n / 2, n / 2, out);
  check("fourTimes", four, out);
  // Where there are fewer elements than threads, most come to no iteration.
  fourTimes<<<blocks, threads>>>(dx, dx + n / 2, 0, out);
  check("nothing", std::vector<uint32_t>(all), out);
  return countResults();
}
