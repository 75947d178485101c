//===- attention.cu - many keys and values, a few thousand queries --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// softmax(Q Kt) V for one head of 64 numbers, in one pass (FlashAttention-2,
// Dao 2023). A block has 32 queries, four for each of its warps, and goes over
// all keys and values in tiles of 32 in shared memory: each lane has one key,
// then two numbers of each output. A query's highest score so far, the sum of
// its weights and its output stay in registers, and are scaled down whenever a
// higher score turns up; the output is written behind the loop.
//
// Nearly all of --size is keys and values, and each block reads all of them.
// There are at most 4095 queries, fewer for smaller sizes. The last tile, of
// queries as of keys, is never full.
//
// The exponential is that of Exact.h, and sums have an order: a sample of
// queries is computed again on the host to the same bits.
//
//===----------------------------------------------------------------------===//
#include "Data.h"

#include <algorithm>
#include <cmath>

using namespace bench;

const int Dim = 64;                // of a query, a key, a value
const int Queries = 32, Keys = 32; // of a tile
const int Lanes = 32, Warps = 8;   // of a block
const int Threads = Lanes * Warps;
const int Rows = Queries / Warps; // a warp's queries; each lane has one key,
const int Parts = Dim / Lanes;    // and these numbers of each output
constexpr float Scale = 0.125f;   // 1 / sqrt(Dim)
constexpr float Lowest = -24;     // no score is lower

struct Vector {
  float at[Dim];
};

// Copies vectors from vector `first` on, with zeros behind the last.
template <int Count, int Width>
__device__ static void loadTile(float (&tile)[Count][Width],
                                const float4 *vectors, int first, int count) {
  const int Fours = Dim / 4; // of a vector
#pragma unroll
  for (int step = 0; step < Count * Fours / Threads; ++step) {
    int e = step * Threads + threadIdx.y * Lanes + threadIdx.x;
    float4 four = make_float4(0, 0, 0, 0);
    if (first + e / Fours < count)
      four = vectors[(size_t)first * Fours + e];
    float *to = &tile[e / Fours][e % Fours * 4];
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
  }
}

// Over a warp, whose threads have the same queries.
__device__ static float highestOf(float mine) {
  for (int lane = Lanes / 2; lane > 0; lane /= 2)
    mine = fmaxf(mine, __shfl_xor_sync(~0u, mine, lane));
  return mine;
}
__device__ static float sumOf(float mine) {
  for (int lane = Lanes / 2; lane > 0; lane /= 2)
    mine += __shfl_xor_sync(~0u, mine, lane);
  return mine;
}

__global__ void attend(const float4 *queries, const float4 *keys,
                       const float4 *values, float *outputs, int queryCount,
                       int keyCount) {
  __shared__ float tileQ[Queries][Dim], tileK[Keys][Dim + 1];
  __shared__ float tileV[Keys][Dim], weights[Queries][Keys];
  int lane = threadIdx.x, row = threadIdx.y * Rows;
  int firstQuery = blockIdx.x * Queries;
  float highest[Rows], sum[Rows] = {}, output[Rows][Parts] = {};
  for (int i = 0; i < Rows; ++i)
    highest[i] = Lowest;
  loadTile(tileQ, queries, firstQuery, queryCount);

  for (int first = 0; first < keyCount; first += Keys) {
    loadTile(tileK, keys, first, keyCount);
    loadTile(tileV, values, first, keyCount);
    __syncthreads();
    float score[Rows] = {};
#pragma unroll
    for (int d = 0; d < Dim; ++d)
      for (int i = 0; i < Rows; ++i)
        score[i] = fmaf(tileQ[row + i][d], tileK[lane][d], score[i]);
    bool there = first + lane < keyCount;
    for (int i = 0; i < Rows; ++i) {
      float before = highest[i];
      score[i] = there ? score[i] * Scale : Lowest;
      highest[i] = highestOf(fmaxf(before, score[i]));
      float scaling = exactExp(before - highest[i]);
      float weight = there ? exactExp(score[i] - highest[i]) : 0.0f;
      weights[row + i][lane] = weight;
      sum[i] = sum[i] * scaling + weight;
      for (int c = 0; c < Parts; ++c)
        output[i][c] *= scaling;
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k < Keys; ++k)
      for (int i = 0; i < Rows; ++i)
        for (int c = 0; c < Parts; ++c)
          output[i][c] = fmaf(weights[row + i][k], tileV[k][lane + c * Lanes],
                              output[i][c]);
    __syncthreads();
  }

  for (int i = 0; i < Rows; ++i) {
    float total = sumOf(sum[i]);
    int query = firstQuery + row + i;
    for (int c = 0; c < Parts; ++c)
      if (query < queryCount)
        outputs[(size_t)query * Dim + lane + c * Lanes] = output[i][c] / total;
  }
}

static float elementQ(size_t i) { return uniform(mix(i, 1), -3, 3); }
static float elementK(size_t i) { return uniform(mix(i, 2), -1, 1); }
static float elementV(size_t i) { return uniform(mix(i, 3), -1, 1); }

// The output of a query, in the order in which the block computes it.
static Vector attended(size_t query, size_t keyCount) {
  Vector q, output = {};
  for (int d = 0; d < Dim; ++d)
    q.at[d] = elementQ(query * Dim + d);
  float highest = Lowest, sum[Keys] = {};
  for (size_t first = 0; first < keyCount; first += Keys) {
    int count = (int)std::min<size_t>(Keys, keyCount - first);
    float score[Keys] = {}, before = highest;
    for (int j = 0; j < count; ++j) {
      for (int d = 0; d < Dim; ++d)
        score[j] = fmaf(q.at[d], elementK((first + j) * Dim + d), score[j]);
      score[j] *= Scale;
      highest = std::max(highest, score[j]);
    }
    float scaling = exactExp(before - highest);
    for (float &part : sum)
      part *= scaling;
    for (float &number : output.at)
      number *= scaling;
    for (int j = 0; j < count; ++j) {
      float weight = exactExp(score[j] - highest);
      sum[j] += weight;
      for (int d = 0; d < Dim; ++d)
        output.at[d] =
            fmaf(weight, elementV((first + j) * Dim + d), output.at[d]);
    }
  }
  for (int half = Keys / 2; half > 0; half /= 2)
    for (int k = 0; k < half; ++k)
      sum[k] += sum[k + half];
  for (float &number : output.at)
    number /= sum[0];
  return output;
}

int main(int argc, char **argv) {
  Bench bench("attention", argc, argv);
  size_t vectors = bench.size / sizeof(Vector);
  size_t queryCount =
      std::clamp<size_t>(vectors / 4096, Queries, 128 * Queries) - 1;
  size_t keyCount = (vectors / 2 - queryCount) | 1;
  size_t some = queryCount * sizeof(Vector), many = keyCount * sizeof(Vector);
  Input queries(bench, "queries", queryCount * Dim, sizeof(float),
                each<float, elementQ>);
  Input keys(bench, "keys", keyCount * Dim, sizeof(float),
             each<float, elementK>);
  Input values(bench, "values", keyCount * Dim, sizeof(float),
               each<float, elementV>);
  Output outputs(bench, "outputs", queryCount * Dim, sizeof(float));
  unsigned blocks = (unsigned)((queryCount + Queries - 1) / Queries);

  start(bench, 2 * some + 2 * many, some + 2 * many, some);
  FILE *file = create(outputs);
  float4 *d_queries, *d_keys, *d_values;
  float *d_outputs;
  CHECK(cudaMalloc(&d_queries, some));
  CHECK(cudaMalloc(&d_keys, many));
  CHECK(cudaMalloc(&d_values, many));
  CHECK(cudaMalloc(&d_outputs, some));
  load(d_queries, queries, some, bench);
  load(d_keys, keys, many, bench);
  load(d_values, values, many, bench);
  loaded(bench);
  attend<<<blocks, dim3(Lanes, Warps)>>>(d_queries, d_keys, d_values, d_outputs,
                                         (int)queryCount, (int)keyCount);
  computed(bench);
  store(outputs, file, d_outputs, some, bench);
  stored(bench);
  CHECK(cudaFree(d_queries));
  CHECK(cudaFree(d_keys));
  CHECK(cudaFree(d_values));
  CHECK(cudaFree(d_outputs));

  // All numbers are in the checksum; of the sample, each query is one element.
  Verdict verdict;
  checkElements(outputs, 0, nullptr, nullptr, verdict);
  Array byQuery = outputs;
  byQuery.count = queryCount;
  byQuery.element = sizeof(Vector);
  auto expected = [=](size_t query) { return attended(query, keyCount); };
  check<Vector>(byQuery, 16, expected, verdict);
  return bench.finish(verdict);
}
