//===- records.cu - hashes of records of variable length ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread for each record goes through its words. Where a record begins and
// how long it is are data: most have few words, some thousands (Rows.h), one
// behind the other.
//
// All hashes are checked: the host computes them again.
//
//===----------------------------------------------------------------------===//
#include "Data.h"
#include "Rows.h"

using namespace bench;

/// Adds a word to a hash: adds, shifts and exclusive ors, each of which mixes
/// what is there.
BENCH_BOTH inline uint32_t stir(uint32_t hash, uint32_t word) {
  hash += word;
  hash += hash << 10;
  return hash ^ (hash >> 6);
}

__global__ void hashRecords(const uint64_t *first, const uint32_t *length,
                            const uint32_t *words, uint32_t *hash,
                            uint32_t records) {
  uint32_t record = blockIdx.x * blockDim.x + threadIdx.x;
  if (record >= records)
    return;
  const uint32_t *word = words + first[record];
  uint32_t value = 0;
  for (uint32_t left = length[record]; left > 0; --left)
    value = stir(value, *word++);
  hash[record] = value;
}

static uint32_t lengthAt(size_t record) { return (uint32_t)rowLength(record); }
static uint32_t wordAt(size_t i) { return (uint32_t)mix(i, 3); }

static std::vector<uint32_t> hashesOnHost() {
  std::vector<uint32_t> hash(RowCount);
  sumOfRows([&](size_t record, uint64_t word, uint64_t behind) {
    for (; word < behind; ++word)
      hash[record] = stir(hash[record], wordAt(word));
    return 0;
  });
  return hash;
}

int main(int argc, char **argv) {
  Bench bench("records", argc, argv);
  // 8 bytes for where a record begins, 4 for its length, 4 for its hash, 8
  // words of 4 bytes.
  planRows(std::max<size_t>(2, bench.size / 48));
  size_t words = PartFirst.back();
  size_t firstBytes = (RowCount + 1) * sizeof(uint64_t);
  size_t hashBytes = RowCount * sizeof(uint32_t);
  size_t wordBytes = words * sizeof(uint32_t);
  Input first(bench, "first", RowCount + 1, sizeof(uint64_t), makeFirsts);
  Input length(bench, "length", RowCount, sizeof(uint32_t),
               each<uint32_t, lengthAt>);
  Input word(bench, "word", words, sizeof(uint32_t), each<uint32_t, wordAt>);
  Output hash(bench, "hash", RowCount, sizeof(uint32_t));
  const int threads = 256;
  unsigned blocks = (unsigned)((RowCount + threads - 1) / threads);

  size_t input = firstBytes + hashBytes + wordBytes;
  // Nobody asks where the last record ends.
  bench.touched = input - sizeof(uint64_t) + hashBytes;
  start(bench, input + hashBytes, input, hashBytes);
  FILE *file = create(hash);
  uint64_t *d_first;
  uint32_t *d_length, *d_words, *d_hash;
  CHECK(cudaMalloc(&d_first, firstBytes));
  CHECK(cudaMalloc(&d_length, hashBytes));
  CHECK(cudaMalloc(&d_words, wordBytes));
  CHECK(cudaMalloc(&d_hash, hashBytes));
  load(d_first, first, firstBytes, bench);
  load(d_length, length, hashBytes, bench);
  load(d_words, word, wordBytes, bench);
  loaded(bench);
  hashRecords<<<blocks, threads>>>(d_first, d_length, d_words, d_hash,
                                   (uint32_t)RowCount);
  computed(bench);
  store(hash, file, d_hash, hashBytes, bench);
  stored(bench);
  CHECK(cudaFree(d_first));
  CHECK(cudaFree(d_length));
  CHECK(cudaFree(d_words));
  CHECK(cudaFree(d_hash));

  Verdict verdict;
  std::vector<uint32_t> right = hashesOnHost();
  check<uint32_t>(hash, All, [&](size_t i) { return right[i]; }, verdict);
  return bench.finish(verdict);
}
