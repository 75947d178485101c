// What stands around a loop that a launch is cut along. Buffers are cleared, scaled and counted in front of it, once; what is
// read there goes on; objects are made again; arrays begin in each iteration, or behind the loop; and results that are
// larger than device memory are written behind it, some blocks at a time.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %plain ./program
// RUN: %tight DRAGON_LOG=1 ./program 2>&1 | FileCheck %s
// RUN: %build -O0 %s -o plain0 && %tight ./plain0
// CHECK-DAG: cleared{{.*}} runs by loop in
// CHECK-DAG: scaledOnce{{.*}} runs by loop in
// CHECK-DAG: keeps{{.*}} runs by loop in
// CHECK-DAG: objects{{.*}} runs by loop in
// CHECK-DAG: outer{{.*}} runs by loop in
// CHECK: 7 of 7 right
// DRAGON_CHECK finds nothing wrong where launches run by loop.
// RUN: %build -fdragon-trace-accesses %s -o traced && %tight DRAGON_CHECK=1 ./traced
// RUN: rm -rf %t.dir
#include "results.h"

/// Sums of columns; another buffer is cleared first, and the launch is counted,
/// by one thread.
__global__ void cleared(const uint32_t *m, int rows, int cols, uint32_t *out,
                        uint32_t *zeros) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols)
    return;
  zeros[c] = 0;
  if (c == 0)
    atomicAdd(zeros + cols, 1u);
  uint32_t sum = 0;
  for (int r = 0; r < rows; ++r)
    sum += m[(long)r * cols + c];
  out[c] = sum;
}

/// y = a y + sums of columns: what is there is scaled in memory, once.
__global__ void scaledOnce(const uint32_t *m, int rows, int cols, uint32_t a,
                           uint32_t *y) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < cols) {
    y[c] *= a;
    for (int r = 0; r < rows; ++r)
      y[c] += m[(long)r * cols + c];
  }
}

/// The factor is taken from where it does not stay; the sum goes on from what
/// is there.
__global__ void keeps(const uint32_t *m, int rows, int cols, uint32_t *factors,
                      uint32_t *y) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols)
    return;
  const uint32_t factor = factors[c] + 1;
  factors[c] = c;
  uint32_t sum = y[c];
  for (int r = 0; r < rows; ++r)
    sum += factor * m[(long)r * cols + c];
  y[c] = sum + factor;
}

/// Where a thread is in a range, and how it goes on.
struct Walk {
  int at, step;
  const int *end;
  __device__ Walk(const int &n)
      : at(blockIdx.x * blockDim.x + threadIdx.x), step(gridDim.x * blockDim.x),
        end(&n) {}
  __device__ int first() const { return at; }
  __device__ int next(int i) const { return i + step; }
};

/// Adds what the threads of a block have.
struct Reducer {
  uint32_t *part;
  uint32_t own;
  __device__ explicit Reducer(uint32_t *part) : part(part), own(1) {}
  __device__ uint32_t sum(uint32_t value) {
    own += value;
    part[threadIdx.x] = own;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half; half /= 2) {
      if (threadIdx.x < half)
        part[threadIdx.x] += part[threadIdx.x + half];
      __syncthreads();
    }
    return part[0];
  }
};

__global__ void objects(const uint32_t *x, int n, uint32_t *out) {
  __shared__ uint32_t part[64];
  const Walk walk(n);
  uint32_t sums[2] = {0, 1};
  for (int i = walk.first(); i < n; i = walk.next(i)) {
    uint32_t digits[4];
    for (int d = 0; d < 4; ++d)
      digits[d] = x[i] >> (8 * d) & 255;
    sums[digits[0] & 1] += digits[digits[1] & 3];
  }
  Reducer reducer(part);
  const uint32_t all = reducer.sum(sums[0] * 3 + sums[1]);
  if (threadIdx.x == 0)
    atomicAdd(out, all + (*walk.end == n));
}

/// All rows of A times B, and of each element of the product 64 multiples.
__global__ void outer(const uint32_t *a, const uint32_t *b, uint32_t *c,
                      int inner, int rows, int cols) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  uint32_t sum = 0;
  for (int k = 0; k < inner; ++k)
    sum += a[(long)k * rows + row] * b[(long)k * cols + col];
  for (int j = 0; j < 64; ++j)
    c[((long)row * 64 + j) * cols + col] = sum * (j + 1);
}

int main() {
  const int n = 9 << 19, cols = 1024, rows = n / cols;
  std::vector<uint32_t> x(n);
  for (int i = 0; i < n; ++i)
    x[i] = i * 2654435761u >> 9;
  uint32_t *dx = upload(x);

  std::vector<uint32_t> sums(cols), some(cols), y(cols);
  for (int i = 0; i < n; ++i)
    sums[i % cols] += x[i];
  for (int c = 0; c < cols; ++c)
    some[c] = c * 7 + 3;
  std::vector<uint32_t> old(cols + 1, 5), cleaned(cols + 1);
  cleaned[cols] = 6; // counted once
  uint32_t *dy = upload(some), *zeros = upload(old),
           *dz = upload(std::vector<uint32_t>{5});
  cleared<<<cols / 64, 64>>>(dx, rows, cols, dy, zeros);
  check("cleared", sums, dy);
  check("zeros", cleaned, zeros);

  for (int c = 0; c < cols; ++c)
    y[c] = 12 * sums[c];
  scaledOnce<<<cols / 64, 64>>>(dx, rows, cols, 11, dy);
  check("scaledOnce", y, dy);

  uint32_t *factors = upload(some);
  std::vector<uint32_t> places(cols);
  for (int c = 0; c < cols; ++c) {
    y[c] += (some[c] + 1) * (sums[c] + 1);
    places[c] = c;
  }
  keeps<<<cols / 64, 64>>>(dx, rows, cols, factors, dy);
  check("keeps", y, dy);
  check("factors", places, factors);

  const int threads = 20 * 64;
  uint32_t total = 20 + threads;
  for (int t = 0; t < threads; ++t) {
    uint32_t part[2] = {0, 1};
    for (int i = t; i < n; i += threads) {
      const uint32_t digit = x[i] >> (8 * (x[i] >> 8 & 3)) & 255;
      part[x[i] & 1] += digit;
    }
    total += part[0] * 3 + part[1];
  }
  CHECK(cudaMemset(dz, 0, 4));
  objects<<<20, 64>>>(dx, n, dz);
  check("objects", {total}, dz);

  // 8 MiB of results, of all of 10 MiB.
  const int inner = 1280, high = 16, wide = 2048;
  std::vector<uint32_t> a(inner * high), b(inner * wide), c(64 * high * wide);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = i * 40503u >> 7;
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = i * 9 >> 3;
  for (int k = 0; k < inner; ++k)
    for (int row = 0; row < high; ++row)
      for (int col = 0; col < wide; ++col)
        c[row * 64 * wide + col] += a[k * high + row] * b[k * wide + col];
  for (int row = 0; row < high; ++row)
    for (int i = wide; i < 64 * wide; ++i)
      c[row * 64 * wide + i] = c[row * 64 * wide + i % wide] * (i / wide + 1);
  uint32_t *da = upload(a), *db = upload(b), *dc;
  CHECK(cudaMalloc(&dc, c.size() * 4));
  outer<<<dim3(wide / 256, high), 256>>>(da, db, dc, inner, high, wide);
  check("outer", c, dc);

  return countResults();
}
