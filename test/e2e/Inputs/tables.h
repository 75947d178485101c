// tables.h - a table that is accessed anywhere, for tests of pages.
#ifndef TABLES_H
#define TABLES_H

#include "e2e.h"

__host__ __device__ static inline uint32_t mixed(uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

typedef std::vector<uint32_t> Words;

/// On the device and here: a table of `mib` MiB, where in it is accessed (some
/// places twice), and a word for each access.
struct Table {
  uint32_t n, accesses;
  uint32_t *table, *where, *out;
  Words contents, at;

  Table(uint32_t mib, uint32_t accesses, bool isEmpty = false)
      : n(mib << 18), accesses(accesses), contents(n), at(accesses) {
    for (uint32_t i = 0; i < accesses; ++i)
      at[i] = mixed(i * 2 / 3);
    CHECK(cudaMalloc(&table, n * sizeof(uint32_t)));
    CHECK(cudaMalloc(&where, accesses * sizeof(uint32_t)));
    CHECK(cudaMalloc(&out, accesses * sizeof(uint32_t)));
    CHECK(cudaMemcpy(where, at.data(), accesses * sizeof(uint32_t),
                     cudaMemcpyHostToDevice));
    if (isEmpty) {
      CHECK(cudaMemset(table, 0, n * sizeof(uint32_t)));
      return;
    }
    for (uint32_t i = 0; i < n; ++i)
      contents[i] = mixed(i);
    CHECK(cudaMemcpy(table, contents.data(), n * sizeof(uint32_t),
                     cudaMemcpyHostToDevice));
  }
  Table(const Table &) = delete;
  Table &operator=(const Table &) = delete;
  ~Table() {
    for (uint32_t *memory : {table, where, out})
      CHECK(cudaFree(memory));
  }
  Words read(const uint32_t *memory, uint32_t words) const {
    Words result(words);
    CHECK(cudaMemcpy(result.data(), memory, words * sizeof(uint32_t),
                     cudaMemcpyDeviceToHost));
    return result;
  }
};

#endif
