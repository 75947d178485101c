//===- radixsort.cu - radix sort of pairs through a second buffer ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sorts batches of 32-bit keys with their values, least significant digit
// first, eight bits a pass: count the digits of each tile, add the counts up,
// scatter each pair to its place in the other buffer, swap the buffers. As in
// a library, the sort allocates its second buffer itself and frees it.
//
// What is dead when: a pass's source once its scatter is through: the next
// pass overwrites all of it, since a scatter is a permutation. The counts
// after the scatter: the next pass counts anew. The second buffer after the
// last pass, and the sorted batch once it has been copied to the host: the
// next batch is uploaded over it. By hand:
//
//   discard  from.keys, from.values, counts, totals         after each scatter
//   prefetch from (now the other) before the next countDigits
//   discard  keys, values                                   after the copies
//   out
//
// Without them each pass writes back the old source to make room and brings
// it in again only to overwrite it.
//
//===----------------------------------------------------------------------===//
#include "Workload.h"
#include <utility>

const int Bits = 8;
const int Digits = 1 << Bits;
const int Threads = 256; // also one for each digit
const int Warps = Threads / 32;
const int Rounds = 32; // pairs of a tile that each thread sees to
const int Tile = Threads * Rounds;

struct Pairs {
  uint32_t *keys, *values;
};

__device__ int digitOf(uint32_t key, int shift) {
  return key >> shift & (Digits - 1);
}

// counts[digit][tile]
__global__ void countDigits(const uint32_t *keys, uint32_t *counts, int count,
                            int shift) {
  __shared__ uint32_t found[Digits];
  found[threadIdx.x] = 0;
  __syncthreads();
  for (int round = 0; round < Rounds; ++round) {
    int i = blockIdx.x * Tile + round * Threads + threadIdx.x;
    if (i < count)
      atomicAdd(&found[digitOf(keys[i], shift)], 1);
  }
  __syncthreads();
  counts[(size_t)threadIdx.x * gridDim.x + blockIdx.x] = found[threadIdx.x];
}

// A block for each digit: counts[digit][tile] becomes the number of such
// digits in the tiles before, totals[digit] that in all tiles.
__global__ void addUp(uint32_t *counts, uint32_t *totals, int tiles) {
  __shared__ uint32_t sums[Threads];
  uint32_t *row = counts + (size_t)blockIdx.x * tiles;
  int me = threadIdx.x;
  uint32_t before = 0;
  for (int first = 0; first < tiles; first += Threads) {
    uint32_t own = first + me < tiles ? row[first + me] : 0;
    sums[me] = own;
    __syncthreads();
    for (int step = 1; step < Threads; step *= 2) {
      uint32_t left = me >= step ? sums[me - step] : 0;
      __syncthreads();
      sums[me] += left;
      __syncthreads();
    }
    if (first + me < tiles)
      row[first + me] = before + sums[me] - own;
    before += sums[Threads - 1];
    __syncthreads();
  }
  if (me == 0)
    totals[blockIdx.x] = before;
}

// Each warp sees to consecutive pairs of the tile, 32 a round, so that pairs of
// equal digits keep their order.
__global__ void scatter(const uint32_t *keys, const uint32_t *values,
                        uint32_t *keysOut, uint32_t *valuesOut,
                        const uint32_t *counts, const uint32_t *totals,
                        int count, int shift) {
  __shared__ uint32_t next[Warps][Digits]; // where a warp's next digit goes
  __shared__ uint32_t bases[Digits];
  int me = threadIdx.x, warp = me / 32, lane = me % 32;
  int warpFirst = blockIdx.x * Tile + warp * 32 * Rounds;

  bases[me] = totals[me];
  for (int w = 0; w < Warps; ++w)
    next[w][me] = 0;
  __syncthreads();
  for (int round = 0; round < Rounds; ++round) {
    int i = warpFirst + round * 32 + lane;
    if (i < count)
      atomicAdd(&next[warp][digitOf(keys[i], shift)], 1);
  }
  uint32_t base = 0;
  for (int digit = 0; digit < me; ++digit)
    base += bases[digit];
  __syncthreads();
  base += counts[(size_t)me * gridDim.x + blockIdx.x];
  for (int w = 0; w < Warps; ++w) {
    uint32_t found = next[w][me];
    next[w][me] = base;
    base += found;
  }
  __syncthreads();

  for (int round = 0; round < Rounds; ++round) {
    int i = warpFirst + round * 32 + lane;
    bool inside = i < count;
    uint32_t key = inside ? keys[i] : 0;
    int digit = inside ? digitOf(key, shift) : Digits;
    uint32_t equal = __match_any_sync(~0u, digit);
    uint32_t before = equal & ((1u << lane) - 1);
    uint32_t to = 0;
    if (inside)
      to = next[warp][digit] + __popc(before);
    __syncwarp();
    if (inside && before == 0)
      next[warp][digit] += __popc(equal);
    __syncwarp();
    if (inside) {
      keysOut[to] = key;
      valuesOut[to] = values[i];
    }
  }
}

static Pairs allocate(size_t count) {
  Pairs pairs;
  CHECK(cudaMalloc(&pairs.keys, count * sizeof(uint32_t)));
  CHECK(cudaMalloc(&pairs.values, count * sizeof(uint32_t)));
  return pairs;
}

static void release(Pairs pairs) {
  CHECK(cudaFree(pairs.keys));
  CHECK(cudaFree(pairs.values));
}

// Sorts in place.
static void sortPairs(Pairs pairs, int count, int tiles) {
  uint32_t *counts, *totals;
  CHECK(cudaMalloc(&counts, (size_t)tiles * Digits * sizeof(uint32_t)));
  CHECK(cudaMalloc(&totals, Digits * sizeof(uint32_t)));
  Pairs other = allocate(count);

  Pairs from = pairs, to = other;
  for (int shift = 0; shift < 32; shift += Bits) {
    countDigits<<<tiles, Threads>>>(from.keys, counts, count, shift);
    addUp<<<Digits, Threads>>>(counts, totals, tiles);
    scatter<<<tiles, Threads>>>(from.keys, from.values, to.keys, to.values,
                                counts, totals, count, shift);
    CHECK(cudaGetLastError());
    std::swap(from, to);
  }

  // An even number of passes: the sorted pairs are where they came from.
  release(other);
  CHECK(cudaFree(counts));
  CHECK(cudaFree(totals));
}

static uint32_t keyAt(uint32_t position, int batch) {
  return hash32(position, batch + 1) & (batch % 2 ? 0xffff0fffu : 0x3ff07fffu);
}

int main(int argc, char **argv) {
  std::vector<Option> options = {
      {"--size", 64, "footprint in MiB"},
      {"--batches", 2, "batches sorted one after the other"}};
  parseOptions(argc, argv, options);
  size_t size = (size_t)options[0].value << 20;
  int batches = (int)options[1].value;

  size_t pairBytes = 2 * (2 * sizeof(uint32_t)); // of both buffers
  size_t most = (size / pairBytes) - 1001;       // no whole number of tiles
  if (most > INT32_MAX - Tile) {
    fprintf(stderr, "radixsort: %zu pairs, fewer than 2^31 are possible\n",
            most);
    return 2;
  }
  int count = (int)most;
  int tiles = (count + Tile - 1) / Tile;
  size_t bytes = count * sizeof(uint32_t);
  size_t footprint =
      count * pairBytes + ((size_t)tiles + 1) * Digits * sizeof(uint32_t);

  uint32_t *h_keys = (uint32_t *)malloc(bytes);
  uint32_t *h_values = (uint32_t *)malloc(bytes);
  if (!h_keys || !h_values) {
    fprintf(stderr, "radixsort: no host memory for %zu bytes\n", 2 * bytes);
    return 2;
  }

  DeviceTime time;
  time.start();
  Pairs pairs = allocate(count);
  time.stop();
  uint64_t sum = 0;
  std::atomic<uint64_t> wrong{0};
  for (int batch = 0; batch < batches; ++batch) {
    // Few enough different keys that the order of equal ones matters; a
    // pair's value is its position.
    onAllCores(count, [=](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i) {
        h_keys[i] = keyAt((int)i, batch);
        h_values[i] = (uint32_t)i;
      }
    });
    time.start();
    CHECK(cudaMemcpy(pairs.keys, h_keys, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(pairs.values, h_values, bytes, cudaMemcpyHostToDevice));
    sortPairs(pairs, count, tiles);
    CHECK(cudaMemcpy(h_keys, pairs.keys, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(h_values, pairs.values, bytes, cudaMemcpyDeviceToHost));
    time.stop();

    // As many pairs as before, each from the input, and each behind the one
    // before it by key and then position: that is the one stable order.
    onAllCores(count, [&](size_t first, size_t last) {
      uint64_t differ = 0;
      for (size_t i = first; i < last; ++i) {
        bool inside = h_values[i] < (uint32_t)count;
        bool kept = inside && h_keys[i] == keyAt((int)h_values[i], batch);
        bool behind =
            i == 0 || h_keys[i - 1] < h_keys[i] ||
            (h_keys[i - 1] == h_keys[i] && h_values[i - 1] < h_values[i]);
        differ += !(kept && behind);
      }
      wrong += differ;
    });
    sum = checksum(h_keys, count, sum);
    sum = checksum(h_values, count, sum);
  }
  time.start();
  release(pairs);
  time.stop();
  free(h_keys);
  free(h_values);
  return finish("radixsort", footprint, time, sum, wrong,
                (uint64_t)count * batches);
}
