// Kernels whose addresses are data fetch the pages that they access, and write back those that they wrote; they compute the same as
// without. What the host, copies or other kernels change in between is seen.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build -Rpass=dragon -Rpass-analysis=dragon %s -o program 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: %build -O0 %s -o unoptimised
// RUN: %build -fno-dragon-paging %s -o unpaged
// REMARK-DAG: kernel 'gather' has a copy that fetches pages of what is not in device memory: where in 'in' it does is data
// REMARK-DAG: kernel 'byAssembly' has no copy that fetches pages: inline assembly may access memory;
//
// RUN: %plain ./program
// RUN: %strict DRAGON_DEVICE_MEMORY=8M DRAGON_CHUNK_SIZE=2M DRAGON_PAGING=always DRAGON_STATS=stats.json ./program
// RUN: %ledger stats.json 'paged_launches >= 20' 'cpu: paged_launches >= 26' 'host_to_device_paging > 4*M' 'device_to_host_paging > 4*M' 'cpu: over_link_paged_launches > 0'
// RUN: %strict DRAGON_DEVICE_MEMORY=8M DRAGON_CHUNK_SIZE=2M DRAGON_PAGING=always DRAGON_PAGE_TOUCHES=1 ./program
// RUN: %strict DRAGON_DEVICE_MEMORY=8M DRAGON_CHUNK_SIZE=2M DRAGON_PAGING=always DRAGON_PAGE_TOUCHES=1000 ./program
// RUN: %strict DRAGON_DEVICE_MEMORY=10M DRAGON_CHUNK_SIZE=2M DRAGON_PAGING=always ./program
// RUN: %strict DRAGON_DEVICE_MEMORY=10M DRAGON_CHUNK_SIZE=2M DRAGON_PAGING=always ./unoptimised
// RUN: %strict DRAGON_DEVICE_MEMORY=8M DRAGON_CHUNK_SIZE=2M DRAGON_PAGING=auto ./program
// RUN: %strict DRAGON_DEVICE_MEMORY=8M DRAGON_CHUNK_SIZE=2M DRAGON_PAGING=off DRAGON_STATS=stats.json ./program
// RUN: %ledger stats.json 'paged_launches == 0'
// RUN: %strict DRAGON_DEVICE_MEMORY=8M DRAGON_CHUNK_SIZE=2M DRAGON_PAGING=always DRAGON_STATS=stats.json ./unpaged
// RUN: %ledger stats.json 'paged_launches == 0'
// RUN: rm -rf %t.dir
#include "copies.h"
#include "e2e.h"

static const int N = 1 << 20;

__global__ void gather(uint32_t *out, const uint32_t *index, const uint32_t *in,
                       int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[index[i]];
}

__global__ void scatter(uint32_t *out, const uint32_t *index,
                        const uint32_t *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[index[i]] = in[i] * 3 + 1;
}

__global__ void chase(uint32_t *out, const uint32_t *next, int n, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  uint32_t at = i;
  for (int step = 0; step < steps; ++step)
    at = next[at];
  out[i] = at;
}

// Records of 1 to 32 bytes, one after the other.
__global__ void hashRecords(uint32_t *out, const uint32_t *first,
                            const unsigned char *bytes, int records) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= records)
    return;
  uint32_t hash = 2166136261u;
  for (uint32_t at = first[i]; at < first[i + 1]; ++at)
    hash = (hash ^ bytes[at]) * 16777619u;
  out[i] = hash;
}

struct Wide {
  uint32_t part[12];
};

__device__ __noinline__ void moveWide(Wide *to, const Wide *from,
                                      uint32_t add) {
  *to = *from;
  to->part[11] += add;
}

__global__ void moveRecords(Wide *out, const uint32_t *index, const Wide *in,
                            int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    moveWide(&out[index[i] % n], &in[index[i] % n], i);
}

// Neighbours of a block exchange what they found through global memory.
__global__ void exchange(uint32_t *data, const uint32_t *index, uint32_t *sums,
                         int n) {
  __shared__ uint32_t tile[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
  tile[t] = i < n ? data[index[i]] : 0;
  __syncthreads();
  if (i < n)
    data[index[i]] = tile[t ^ 1] + 1;
  __syncthreads();
  if (i < n)
    sums[i] = data[index[i ^ 1]];
}

__global__ void histogram(uint32_t *counts, const uint32_t *data,
                          const uint32_t *index, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&counts[data[index[i]] % 4096], 1u);
}

__global__ void byAssembly(uint32_t *out, const uint32_t *index,
                           const uint32_t *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    uint32_t value;
    asm volatile("ld.global.u32 %0, [%1];"
                 : "=r"(value)
                 : "l"(in + index[i])
                 : "memory");
    out[i] = value;
  }
}

// What is updated atomically stays in device memory, all of it: no room is left for pages.
__global__ void add(uint32_t *out, const uint32_t *index, const uint32_t *in,
                    int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&out[index[i]], in[i]);
}

static uint32_t mixed(uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

/// [the rounds over the first kernels]
int main(int argc, char **argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 6;
  const int blocks = N / 128;
  std::vector<uint32_t> index(N), in(N), out(N), expected(N);
  for (int i = 0; i < N; ++i) {
    index[i] = ((uint32_t)i * 40503u + 12345) % N; // a permutation
    in[i] = mixed(i);
  }
  uint32_t *dIndex = device(index), *dIn = device(in), *dOut = device(out);
  for (int round = 0; round < rounds; ++round) {
    gather<<<blocks, 128>>>(dOut, dIndex, dIn, N);
    for (int i = 0; i < N; ++i)
      out[i] = in[index[i]];
    if (round % 2)
      same(dOut, out);
    scatter<<<blocks, 128>>>(dIn, dIndex, dOut, N);
    for (int i = 0; i < N; ++i)
      in[index[i]] = out[i] * 3 + 1;
    if (round == 3) { // a part of it changes in between
      for (int i = 1000; i < 70000; ++i)
        in[i] = mixed(i + round);
      CHECK(
          cudaMemcpy(dIn + 1000, &in[1000], 69000 * 4, cudaMemcpyHostToDevice));
    }
    if (round == 4) { // and all of it
      std::fill(in.begin(), in.end(), 0x05050505u);
      CHECK(cudaMemset(dIn, 5, N * 4));
    }
    chase<<<blocks, 128>>>(dOut, dIndex, N, 5);
    for (int i = 0; i < N; ++i) {
      expected[i] = i;
      for (int step = 0; step < 5; ++step)
        expected[i] = index[expected[i]];
    }
    same(dOut, expected);
    exchange<<<blocks, 128>>>(dIn, dIndex, dOut, N);
    for (int i = 0; i < N; i += 2) {
      std::swap(in[index[i]], in[index[i + 1]]);
      ++in[index[i]], ++in[index[i + 1]];
      expected[i] = in[index[i + 1]], expected[i + 1] = in[index[i]];
    }
    same(dOut, expected);
    same(dIn, in);
  }

  std::vector<uint32_t> first(N / 8 + 1);
  for (size_t i = 0; i + 1 < first.size(); ++i)
    first[i + 1] = first[i] + 1 + mixed((uint32_t)i) % 32;
  std::vector<unsigned char> bytes(first.back());
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = (unsigned char)mixed((uint32_t)i);
  uint32_t *dFirst = device(first);
  unsigned char *dBytes = device(bytes);
  for (int round = 0; round < 2; ++round) {
    hashRecords<<<(N / 8 + 127) / 128, 128>>>(dOut, dFirst, dBytes, N / 8);
    for (int i = 0; i < N / 8; ++i) {
      expected[i] = 2166136261u;
      for (uint32_t at = first[i]; at < first[i + 1]; ++at)
        expected[i] = (expected[i] ^ bytes[at]) * 16777619u;
    }
    expected.resize(N / 8);
    same(dOut, expected);
    expected.resize(N);
  }
  CHECK(cudaFree(dBytes));
  CHECK(cudaFree(dFirst));

  const int wides =
      1 << 16; // index % wides is a permutation of it, N / wides times
  std::vector<Wide> wideIn(wides), wideOut(wides);
  for (int i = 0; i < wides; ++i)
    for (int k = 0; k < 12; ++k)
      wideIn[i].part[k] = mixed(i * 12 + k);
  Wide *dWideIn = device(wideIn), *dWideOut = device(wideOut);
  moveRecords<<<wides / 128, 128>>>(dWideOut, dIndex, dWideIn, wides);
  for (int i = 0; i < wides; ++i) {
    wideOut[index[i] % wides] = wideIn[index[i] % wides];
    wideOut[index[i] % wides].part[11] += i;
  }
  same(dWideOut, wideOut);
  CHECK(cudaFree(dWideIn));
  CHECK(cudaFree(dWideOut));

  std::vector<uint32_t> counts(4096);
  uint32_t *dCounts = device(counts);
  for (int round = 0; round < 3; ++round) {
    histogram<<<blocks, 128>>>(dCounts, dIn, dIndex, N);
    for (int i = 0; i < N; ++i)
      ++counts[in[index[i]] % 4096];
  }
  same(dCounts, counts);
  byAssembly<<<blocks, 128>>>(dOut, dIndex, dIn, N);
  for (int i = 0; i < N; ++i)
    out[i] = in[index[i]];
  same(dOut, out);

  std::vector<uint32_t> totals(2 * N); // 8 MiB
  uint32_t *dTotals = device(totals);
  for (int round = 0; round < 2; ++round) {
    add<<<blocks, 128>>>(dTotals, dIndex, dIn, N);
    for (int i = 0; i < N; ++i)
      totals[index[i]] += in[i];
    gather<<<blocks, 128>>>(dOut, dIndex, dIn, N);
    same(dOut, out);
  }
  same(dTotals, totals);
  for (uint32_t *d : {dIndex, dIn, dOut, dCounts, dTotals})
    CHECK(cudaFree(d));
  return 0;
}
