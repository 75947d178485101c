// Kernels that go through more data than device and host memory hold together in each round of a loop: launches are cut along
// the inner loop, within each round. Rounds over all of the data by grid stride and by each block, few long rows and the
// columns of many rows by grid stride, all pairs, rounds that threads of a block end together in shared memory, two loops in a
// round of which one writes what the next round reads, a loop in front of the rounds and one behind them, rounds and loops that
// end early, a loop that gets shorter with each round, and tiles, which are cut along the outer loop.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %plain ./program
// RUN: %strict DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=12M DRAGON_CHUNK_SIZE=1M DRAGON_LOG=1 ./program 2>&1 \
// RUN:   | FileCheck %s
// RUN: %build -O0 %s -o plain0 && %strict DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=12M DRAGON_CHUNK_SIZE=1M ./plain0
// CHECK-DAG: repeated{{.*}} runs by loop in
// CHECK-DAG: eachBlock{{.*}} runs by loop in
// CHECK-DAG: longRows{{.*}} runs by loop in
// CHECK-DAG: columns{{.*}} runs by loop in
// CHECK-DAG: pairs{{.*}} runs by loop in
// CHECK-DAG: inShared{{.*}} runs by loop in
// CHECK-DAG: updates{{.*}} runs by loop in
// CHECK-DAG: around{{.*}} runs by loop in
// CHECK-DAG: ends{{.*}} runs by loop in
// CHECK-DAG: shorter{{.*}} runs by loop in
// CHECK-DAG: tiles{{.*}} runs by loop in
// CHECK: 14 of 14 right
// DRAGON_CHECK finds nothing wrong where launches run by loop.
// RUN: %build -fdragon-trace-accesses %s -o traced && %strict DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=12M DRAGON_CHUNK_SIZE=1M \
// RUN:   DRAGON_CHECK=1 ./traced
// RUN: rm -rf %t.dir
#include "results.h"

#define FROM (blockIdx.x * blockDim.x + threadIdx.x)
#define STEP (gridDim.x * blockDim.x)

__global__ void repeated(const uint32_t *x, int n, int rounds, uint32_t *out) {
  uint32_t v = FROM;
  for (int r = 0; r < rounds; ++r) {
    uint32_t sum = 0;
    for (int i = FROM; i < n; i += STEP)
      sum = sum * 3 + (x[i] ^ v);
    v = v * 5 + sum;
  }
  out[FROM] = v;
}

/// Of all blocks the same. What a round finds is added to memory.
__global__ void eachBlock(const uint32_t *x, int n, int rounds, uint32_t *out) {
  uint32_t v = threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      v = v * 3 + x[i];
    out[FROM] += v + blockIdx.x;
  }
}

/// Few threads: one of them has a round more than the other.
__global__ void longRows(const uint32_t *a, const uint32_t *b, int rows, int m,
                         uint32_t *y) {
  for (int row = FROM; row < rows; row += STEP) {
    uint32_t s = 0;
    for (int k = 0; k < m; ++k)
      s = s * 3 + a[(long)row * m + k] * b[k];
    y[row] = s;
  }
}

__global__ void columns(const uint32_t *a, int rows, int m, uint32_t *y) {
  for (int row = FROM; row < rows; row += STEP) {
    uint32_t s = y[row];
    for (int k = 0; k < m; ++k)
      s = s * 3 + a[(long)k * rows + row];
    y[row] = s;
  }
}

__global__ void pairs(const uint32_t *x, int few, int n, uint32_t *y) {
  for (int i = FROM; i < few; i += STEP) {
    const uint32_t own = x[i];
    uint32_t s = 0;
    for (int j = 0; j < n; ++j)
      s = s * 3 + (x[j] ^ own);
    y[i] = s;
  }
}

__global__ void inShared(const uint32_t *x, int n, int rounds, uint32_t *out) {
  __shared__ uint32_t sums[64], all;
  if (threadIdx.x == 0)
    all = 1;
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    uint32_t sum = 0;
    for (int i = FROM; i < n; i += STEP)
      sum = sum * 3 + (x[i] ^ all);
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0)
      for (int t = 0; t < 64; ++t)
        all = all * 7 + sums[t];
    __syncthreads();
  }
  out[FROM] = all + sums[threadIdx.x ^ 1];
}

__global__ void updates(uint32_t *x, int n, int rounds) {
  for (int r = 0; r < rounds; ++r) {
    uint32_t sum = r;
    for (int i = FROM; i < n; i += STEP)
      sum += x[i];
    for (int i = FROM; i < n; i += STEP)
      x[i] ^= sum;
  }
}

/// In front of the rounds a loop, and behind them another one.
__global__ void around(const uint32_t *x, int n, int rounds, uint32_t *out) {
  uint32_t sum = 0;
  for (int i = FROM; i < n; i += STEP)
    sum += x[i];
  for (int r = 0; r < rounds; ++r) {
    uint32_t differs = 0;
    for (int i = FROM; i < n; i += STEP)
      differs = differs * 3 + (x[i] ^ sum);
    sum = sum * 5 + differs;
  }
  for (int i = FROM; i < n; i += STEP)
    sum = sum * 7 + x[i];
  out[FROM] = sum;
}

/// Rounds end early for some threads, and loops within them.
__global__ void ends(const uint32_t *x, int n, int rounds, uint32_t *out) {
  uint32_t v = FROM;
  for (int r = 0; r < rounds; ++r) {
    if (v % 4 == 3) {
      v += 1;
      continue;
    }
    for (int i = FROM; i < n; i += STEP) {
      if (x[i] % 4099 == r)
        break;
      v = v * 3 + x[i];
    }
    if (v % 5 == 0)
      break;
    v += r;
  }
  out[FROM] = v;
}

__global__ void shorter(const uint32_t *x, int n, int less, int rounds,
                        uint32_t *out) {
  uint32_t v = 0;
  for (int r = 0; r < rounds; ++r)
    for (int i = FROM; i < n - r * less; i += STEP)
      v = v * 3 + x[i];
  out[FROM] = v;
}

__global__ void tiles(const uint32_t *x, int n, int width, uint32_t *out) {
  uint32_t v = FROM;
  for (int tile = 0; tile < n; tile += width)
    for (int k = 0; k < width; ++k)
      v = v * 3 + x[tile + k];
  out[FROM] = v;
}

int main() {
  const int blocks = 20, threads = 64, all = blocks * threads;
  const int rows = 3600, n = rows * all - 77, rounds = 3, less = 1000000;
  std::vector<uint32_t> x(n);
  for (int i = 0; i < n; ++i)
    x[i] = i * 2654435761u >> 9;
  uint32_t *dx = upload(x), *out;
  CHECK(cudaMalloc(&out, all * 4));

  auto walk = [&](int t, uint32_t v, auto step) {
    for (int i = t; i < n; i += all)
      v = step(v, x[i]);
    return v;
  };
  std::vector<uint32_t> again(all), everywhere(all), ended(all), fewer(all);
  for (int t = 0; t < all; ++t) {
    uint32_t v = t;
    for (int r = 0; r < rounds; ++r)
      v = v * 5 +
          walk(t, 0, [&](uint32_t s, uint32_t e) { return s * 3 + (e ^ v); });
    again[t] = v;
    uint32_t sum = walk(t, 0, [](uint32_t s, uint32_t e) { return s + e; });
    for (int r = 0; r < rounds; ++r)
      sum = sum * 5 + walk(t, 0, [&](uint32_t s, uint32_t e) {
              return s * 3 + (e ^ sum);
            });
    everywhere[t] =
        walk(t, sum, [](uint32_t s, uint32_t e) { return s * 7 + e; });
    v = t;
    for (int r = 0; r < 2 * rounds; ++r) {
      if (v % 4 == 3) {
        v += 1;
        continue;
      }
      for (int i = t; i < n && x[i] % 4099 != unsigned(r); i += all)
        v = v * 3 + x[i];
      if (v % 5 == 0)
        break;
      v += r;
    }
    ended[t] = v;
    for (int r = 0; r < rounds; ++r)
      for (int i = t; i < n - r * less; i += all)
        fewer[t] = fewer[t] * 3 + x[i];
  }
  repeated<<<blocks, threads>>>(dx, n, rounds, out);
  check("repeated", again, out);
  around<<<blocks, threads>>>(dx, n, rounds, out);
  check("around", everywhere, out);
  ends<<<blocks, threads>>>(dx, n, 2 * rounds, out);
  check("ends", ended, out);
  shorter<<<blocks, threads>>>(dx, n, less, rounds, out);
  check("shorter", fewer, out);
  // Where there is nothing to go through, and where there are no rounds.
  std::vector<uint32_t> none(all), first(all);
  for (int t = 0; t < all; ++t) {
    none[t] = t * 125u;
    first[t] = t;
  }
  repeated<<<blocks, threads>>>(dx, 0, rounds, out);
  check("nothing", none, out);
  repeated<<<blocks, threads>>>(dx, n, 0, out);
  check("no rounds", first, out);

  std::vector<uint32_t> same(all, 1);
  for (int t = 0; t < threads; ++t) {
    uint32_t v = t;
    for (int r = 0; r < 2; ++r) {
      for (int i = t; i < n; i += threads)
        v = v * 3 + x[i];
      for (int b = 0; b < 4; ++b)
        same[b * threads + t] += v + b;
    }
  }
  uint32_t *ones = upload(std::vector<uint32_t>(all, 1));
  eachBlock<<<4, threads>>>(dx, n, 2, ones);
  check("eachBlock", same, ones);

  const int few = 5, m = n / few;
  std::vector<uint32_t> b(m), sums(few), products(few);
  for (int k = 0; k < m; ++k)
    b[k] = k * 40503u + 1;
  for (int row = 0; row < few; ++row) {
    for (int k = 0; k < m; ++k)
      sums[row] = sums[row] * 3 + x[row * m + k] * b[k];
    for (int j = 0; j < n; ++j)
      products[row] = products[row] * 3 + (x[j] ^ x[row]);
  }
  uint32_t *db = upload(b);
  longRows<<<1, 2>>>(dx, db, few, m, out);
  check("longRows", sums, out);
  pairs<<<1, 2>>>(dx, few, n, out);
  check("pairs", products, out);

  const int many = all + 300, high = n / many;
  std::vector<uint32_t> down(many, 7);
  for (int row = 0; row < many; ++row)
    for (int k = 0; k < high; ++k)
      down[row] = down[row] * 3 + x[k * many + row];
  uint32_t *dy = upload(std::vector<uint32_t>(many, 7));
  columns<<<blocks, threads>>>(dx, many, high, dy);
  check("columns", down, dy);

  std::vector<uint32_t> shared(all);
  for (int block = 0; block < blocks; ++block) {
    uint32_t own[64], whole = 1;
    for (int r = 0; r < rounds; ++r) {
      for (int t = 0; t < threads; ++t)
        own[t] = walk(block * threads + t, 0, [&](uint32_t s, uint32_t e) {
          return s * 3 + (e ^ whole);
        });
      for (uint32_t sum : own)
        whole = whole * 7 + sum;
    }
    for (int t = 0; t < threads; ++t)
      shared[block * threads + t] = whole + own[t ^ 1];
  }
  inShared<<<blocks, threads>>>(dx, n, rounds, out);
  check("inShared", shared, out);

  std::vector<uint32_t> tiled(all);
  const int width = 300, tiledWords = n / width * width;
  for (int t = 0; t < 32; ++t) {
    tiled[t] = t;
    for (int i = 0; i < tiledWords; ++i)
      tiled[t] = tiled[t] * 3 + x[i];
  }
  uint32_t *zeros = upload(std::vector<uint32_t>(all));
  tiles<<<2, 16>>>(dx, tiledWords, width, zeros);
  check("tiles", tiled, zeros);

  for (int r = 0; r < rounds; ++r)
    for (int t = 0; t < all; ++t) {
      uint32_t sum = r;
      for (int i = t; i < n; i += all)
        sum += x[i];
      for (int i = t; i < n; i += all)
        x[i] ^= sum;
    }
  updates<<<blocks, threads>>>(dx, n, rounds);
  check("updates", x, dx);
  // Once more, of data that have come back.
  updates<<<blocks, threads>>>(dx, n, 0);
  check("not updated", x, dx);
  return countResults();
}
