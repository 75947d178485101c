// Arrays of indices with many numbers: the ends of a matrix's rows, the neighbours of cells (in structures, some of them -1), lengths of
// records. Slices need what their part of the array says. Arrays that change in between, those that the launch writes itself, and
// those that lead anywhere are right as well; and a launch of which a condition leaves out most fetches no more than that.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program
// RUN: ./program all | FileCheck %s
// RUN: %strict DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=256K ./program all | FileCheck %s
// RUN: env DRAGON_PAGING=always DRAGON_DEVICE_MEMORY=8M DRAGON_CHUNK_SIZE=256K ./program all | FileCheck %s
// RUN: env DRAGON_PAGING=off DRAGON_DEVICE_MEMORY=8M DRAGON_CHUNK_SIZE=256K ./program all | FileCheck %s
// CHECK: product right
// CHECK: cells right
// CHECK: records right
// CHECK: changing right
// CHECK: own right
// CHECK: anywhere right
// CHECK: few right
//
//   Two buffers of 16 MiB, once; the array of rows (512 KiB), twice; the vector.
// RUN: env DRAGON_DEVICE_MEMORY=8M DRAGON_CHUNK_SIZE=256K DRAGON_STATS=stats.json ./program product
// RUN: %ledger stats.json 'host_to_device <= 34*M' 'host_mapped_launches == 0' 'paged_launches == 0' 'sliced_launches == 1'
//   Cells of 16 MiB: each comes for its slice and, at the borders, for one of its neighbours'.
// RUN: env DRAGON_DEVICE_MEMORY=12M DRAGON_CHUNK_SIZE=64K DRAGON_STATS=stats.json ./program cells
// RUN: %ledger stats.json 'host_to_device <= 30*M' 'host_mapped_launches == 0' 'paged_launches == 0' 'sliced_launches == 1'
// RUN: env DRAGON_DEVICE_MEMORY=8M DRAGON_CHUNK_SIZE=256K DRAGON_STATS=stats.json ./program records
// RUN: %ledger stats.json 'host_to_device <= 18*M' 'host_mapped_launches == 0' 'paged_launches == 0' 'sliced_launches == 1'
//   One row in 4096 is wanted, twelve times; then every second row.
// RUN: env DRAGON_DEVICE_MEMORY=8M DRAGON_CHUNK_SIZE=256K DRAGON_STATS=stats.json ./program few
// RUN: %ledger stats.json 'host_to_device <= 40*M' 'paged_launches >= 12' 'sliced_launches >= 1'
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

using std::vector;

constexpr int Rows = 1 << 16, Entries = 1 << 22, Threads = 128;

template <typename T> static T *onDevice(const vector<T> &host) {
  T *device;
  CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
  CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T),
                   cudaMemcpyHostToDevice));
  return device;
}
template <typename T> static vector<T> onHost(const T *device, size_t count) {
  vector<T> host(count);
  CHECK(cudaMemcpy(host.data(), device, count * sizeof(T),
                   cudaMemcpyDeviceToHost));
  return host;
}
static uint32_t mix(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x45d9f3bu;
  return (x ^ (x >> 16)) * 0x45d9f3bu;
}

// -- A sparse matrix ---------------------------------------------------------

static vector<uint64_t> endsOfRows(uint32_t seed) {
  vector<uint64_t> ends(Rows + 1);
  for (int row = 0; row < Rows; ++row)
    ends[row + 1] = ends[row] + mix(row + seed) % (2 * Entries / Rows);
  for (int row = 0; row <= Rows; ++row)
    ends[row] = ends[row] * Entries / ends[Rows];
  return ends;
}

__global__ void product(const uint64_t *ends, const int *column,
                        const int *value, const int *x, int *y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (uint64_t at = ends[row]; at < ends[row + 1]; ++at)
    sum += value[at] * x[column[at]];
  y[row] = sum;
}

struct Matrix {
  vector<uint64_t> ends = endsOfRows(1);
  vector<int> column, value, x;
  uint64_t *dEnds;
  int *dColumn, *dValue, *dX, *dY;

  Matrix() : column(Entries), value(Entries), x(Rows) {
    for (int i = 0; i < Entries; ++i) {
      column[i] = mix(i) % Rows;
      value[i] = mix(i + 7);
    }
    for (int i = 0; i < Rows; ++i)
      x[i] = i * 3 + 1;
    dEnds = onDevice(ends);
    dColumn = onDevice(column);
    dValue = onDevice(value);
    dX = onDevice(x);
    CHECK(cudaMalloc(&dY, Rows * sizeof(int)));
  }
  ~Matrix() {
    for (void *p : {(void *)dEnds, (void *)dColumn, (void *)dValue, (void *)dX,
                    (void *)dY})
      CHECK(cudaFree(p));
  }
  void multiply() {
    product<<<Rows / Threads, Threads>>>(dEnds, dColumn, dValue, dX, dY);
  }
  bool isRight() const {
    const vector<int> y = onHost(dY, Rows);
    for (int row = 0; row < Rows; ++row) {
      unsigned sum = 0;
      for (uint64_t at = ends[row]; at < ends[row + 1]; ++at)
        sum += unsigned(value[at]) * unsigned(x[column[at]]);
      if (y[row] != int(sum))
        return false;
    }
    return true;
  }
};

static bool productIsRight() {
  Matrix m;
  m.multiply();
  return m.isRight();
}

// The host writes other ends, and a kernel does.
__global__ void copyEnds(uint64_t *to, const uint64_t *from) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= Rows)
    to[i] = from[i];
}

static bool changingIsRight() {
  Matrix m;
  bool right = true;
  for (uint32_t seed = 2; seed < 6; ++seed) {
    m.multiply();
    right &= m.isRight();
    m.ends = endsOfRows(seed);
    if (seed % 2) {
      CHECK(cudaMemcpy(m.dEnds, m.ends.data(), m.ends.size() * 8,
                       cudaMemcpyHostToDevice));
      continue;
    }
    uint64_t *other = onDevice(m.ends);
    copyEnds<<<Rows / Threads + 1, Threads>>>(m.dEnds, other);
    CHECK(cudaFree(other));
  }
  m.multiply();
  return right && m.isRight();
}

// -- Cells, each with neighbours ---------------------------------------------

constexpr int Side = 16, Cells = Side * Side * Side, InCell = 1024;
struct Neighbour {
  int x, y, number;
};
struct Cell {
  int number;
  Neighbour near[6];
};

__global__ void sumNear(const Cell *cells, const int *content, int *sum) {
  const int cell = blockIdx.x;
  int own = content[(size_t)cell * InCell + threadIdx.x];
  for (int k = 0; k < 6; ++k) {
    const int other = cells[cell].near[k].number;
    if (other >= 0)
      for (int i = threadIdx.x; i < InCell; i += blockDim.x)
        own += content[(size_t)other * InCell + i];
  }
  sum[cell * blockDim.x + threadIdx.x] = own;
}

static bool cellsAreRight() {
  vector<Cell> cells(Cells);
  for (int c = 0; c < Cells; ++c) {
    const int at[3] = {c % Side, c / Side % Side, c / Side / Side};
    cells[c].number = -c * 1000;
    for (int k = 0; k < 6; ++k) {
      int other[3] = {at[0], at[1], at[2]};
      other[k / 2] += k % 2 ? 1 : -1;
      const bool inside = other[k / 2] >= 0 && other[k / 2] < Side;
      cells[c].near[k] = {
          1 << 30, -7,
          inside ? (other[2] * Side + other[1]) * Side + other[0] : -1};
    }
  }
  vector<int> content(Cells * InCell);
  for (size_t i = 0; i < content.size(); ++i)
    content[i] = mix(i);
  Cell *dCells = onDevice(cells);
  int *dContent = onDevice(content), *dSum;
  CHECK(cudaMalloc(&dSum, Cells * Threads * sizeof(int)));
  sumNear<<<Cells, Threads>>>(dCells, dContent, dSum);
  const vector<int> sum = onHost(dSum, Cells * Threads);
  bool right = true;
  for (int c = 0; c < Cells; ++c)
    for (int t = 0; t < Threads; ++t) {
      unsigned own = content[c * InCell + t];
      for (const Neighbour &n : cells[c].near)
        for (int i = t; n.number >= 0 && i < InCell; i += Threads)
          own += content[n.number * InCell + i];
      right &= sum[c * Threads + t] == int(own);
    }
  CHECK(cudaFree(dCells));
  CHECK(cudaFree(dContent));
  CHECK(cudaFree(dSum));
  return right;
}

// -- Records of different lengths --------------------------------------------

__global__ void hashRecords(const uint32_t *first, const uint16_t *length,
                            const uint32_t *words, uint32_t *hash) {
  const int record = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t value = 0;
  for (int i = 0; i < length[record]; ++i)
    value = value * 31 + words[first[record] + i];
  hash[record] = value;
}

static bool recordsAreRight() {
  const vector<uint64_t> ends = endsOfRows(9);
  vector<uint32_t> first(Rows), words(Entries);
  vector<uint16_t> length(Rows);
  for (int r = 0; r < Rows; ++r) {
    first[r] = uint32_t(ends[r]);
    length[r] = uint16_t(ends[r + 1] - ends[r]);
  }
  for (int i = 0; i < Entries; ++i)
    words[i] = mix(i + 3);
  uint32_t *dFirst = onDevice(first), *dWords = onDevice(words), *dHash;
  uint16_t *dLength = onDevice(length);
  CHECK(cudaMalloc(&dHash, Rows * sizeof(uint32_t)));
  hashRecords<<<Rows / Threads, Threads>>>(dFirst, dLength, dWords, dHash);
  const vector<uint32_t> hash = onHost(dHash, Rows);
  bool right = true;
  for (int r = 0; r < Rows; ++r) {
    uint32_t value = 0;
    for (int i = 0; i < length[r]; ++i)
      value = value * 31 + words[first[r] + i];
    right &= hash[r] == value;
  }
  for (void *p :
       {(void *)dFirst, (void *)dWords, (void *)dHash, (void *)dLength})
    CHECK(cudaFree(p));
  return right;
}

// -- Arrays that tell nothing ------------------------------------------------

// A list that grows by its own numbers: each thread follows what it wrote.
__global__ void ownList(uint32_t *next, const int *data, int *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (int turn = 0; turn < 3; ++turn) {
    sum += data[(size_t)next[i] * 64];
    next[i] = (next[i] * 5 + 3) % Rows;
  }
  out[i] = sum;
}

__global__ void gather(const uint32_t *from, const int *data, int *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = data[(size_t)from[i] * 64];
}

static bool listIsRight(bool own) {
  vector<uint32_t> next(Rows);
  vector<int> data(Rows * 64);
  for (int i = 0; i < Rows; ++i)
    next[i] = own ? i : mix(i) % Rows;
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = mix(i + 5);
  uint32_t *dNext = onDevice(next);
  int *dData = onDevice(data), *dOut;
  CHECK(cudaMalloc(&dOut, Rows * sizeof(int)));
  bool right = true;
  for (int round = 0; round < 2; ++round) {
    if (own)
      ownList<<<Rows / Threads, Threads>>>(dNext, dData, dOut);
    else
      gather<<<Rows / Threads, Threads>>>(dNext, dData, dOut);
    const vector<int> out = onHost(dOut, Rows);
    for (int i = 0; i < Rows; ++i) {
      unsigned sum = 0;
      for (int turn = 0; turn < (own ? 3 : 1); ++turn) {
        sum += unsigned(data[size_t(next[i]) * 64]);
        if (own)
          next[i] = (next[i] * 5 + 3) % Rows;
      }
      right &= out[i] == int(sum);
    }
  }
  CHECK(cudaFree(dNext));
  CHECK(cudaFree(dData));
  CHECK(cudaFree(dOut));
  return right;
}

// -- Few rows of many --------------------------------------------------------

__global__ void sumWanted(const uint64_t *ends, const int *value, int *state,
                          int wanted) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (state[row] != wanted)
    return;
  int sum = 0;
  for (uint64_t at = ends[row]; at < ends[row + 1]; ++at)
    sum += value[at];
  state[row] = sum | 1 << 30;
}

static bool fewIsRight() {
  const vector<uint64_t> ends = endsOfRows(4);
  vector<int> value(Entries), state(Rows);
  for (int i = 0; i < Entries; ++i)
    value[i] = mix(i) & 0xff;
  constexpr int Rounds = 12, Half = 99;
  for (int row = 0; row < Rows; ++row)
    state[row] = row % 4096 < Rounds ? row % 4096 : row % 2 ? Half : 50;
  uint64_t *dEnds = onDevice(ends);
  int *dValue = onDevice(value), *dState = onDevice(state);
  for (int round = 0; round < Rounds; ++round)
    sumWanted<<<Rows / Threads, Threads>>>(dEnds, dValue, dState, round);
  sumWanted<<<Rows / Threads, Threads>>>(dEnds, dValue, dState, Half);
  const vector<int> now = onHost(dState, Rows);
  bool right = true;
  for (int row = 0; row < Rows; ++row) {
    int sum = 0;
    for (uint64_t at = ends[row]; at < ends[row + 1]; ++at)
      sum += value[at];
    right &= now[row] == (state[row] == 50 ? 50 : sum | 1 << 30);
  }
  CHECK(cudaFree(dEnds));
  CHECK(cudaFree(dValue));
  CHECK(cudaFree(dState));
  return right;
}

int main(int argc, char **argv) {
  const char *which = argc > 1 ? argv[1] : "all";
  auto run = [&](const char *name, auto isRight) {
    if (!strcmp(which, "all") || !strcmp(which, name))
      printf("%s %s\n", name, isRight() ? "right" : "WRONG");
  };
  run("product", productIsRight);
  run("cells", cellsAreRight);
  run("records", recordsAreRight);
  run("changing", changingIsRight);
  run("own", [] { return listIsRight(true); });
  run("anywhere", [] { return listIsRight(false); });
  run("few", fewIsRight);
}
