// Pages that all threads want at once, by few lanes of a warp at a time, in pieces of 1 to 16 bytes, that all blocks write a part of, and with
// far fewer frames than pages. On a GPU (test/gpu/run-e2e) give it more: ./program 64 5 takes 64 MiB a buffer.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program
// RUN: %plain ./program 4 1
// RUN: for touches in 0 1; do \
// RUN:   %strict DRAGON_DEVICE_MEMORY=8M DRAGON_CHUNK_SIZE=2M DRAGON_PAGING=always DRAGON_PAGE_TOUCHES=$touches DRAGON_STATS=stats.json ./program 8 1 \
// RUN:   && %ledger stats.json 'cpu: paged_launches == 4' 'host_to_device_paging > 8*M' \
// RUN:      'cpu: device_to_host_paging > M' 'cpu: over_link_paged_launches > M' \
// RUN:   || { echo $touches; exit 1; }; done
// RUN: rm -rf %t.dir
#include "copies.h"
#include "e2e.h"
#include <algorithm>

static const int Threads = 256;

__host__ __device__ static uint32_t mixed(uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

/// All threads go through the same pages, each from another one on.
__global__ void crowd(uint32_t *out, const uint32_t *order, const uint32_t *in,
                      uint32_t n, uint32_t steps) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  for (uint32_t step = 0; step < steps; ++step)
    sum += in[order[(i + step * 1031) % 64] % n + (i & 31)];
  out[i] = sum;
}

/// Lanes take ways of their own, of different lengths.
__global__ void scattered(uint32_t *out, const uint32_t *next, uint32_t n) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, at = mixed(i) % n;
  switch (threadIdx.x & 7) {
  case 0:
    for (int step = 0; step < 9; ++step)
      at = next[at];
    break;
  case 1:
  case 2:
    at = next[next[at] ^ 1];
    break;
  case 3:
    for (int step = 0; at % 5 && step < 40; ++step)
      at = (next[at] + at % 3) % n;
    break;
  default:
    if (next[at] & 1)
      at = next[at / 2];
  }
  out[i] = at;
}

/// Pieces of each size; a page's words are written by threads of many blocks.
__global__ void pieces(unsigned char *to, const unsigned char *from,
                       const uint32_t *order, uint32_t units) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= units)
    return;
  size_t at = (size_t)order[i] * 16;
  switch (i % 5) {
  case 0:
    *(uint4 *)(to + at) = *(const uint4 *)(from + at);
    break;
  case 1:
    for (int k = 0; k < 2; ++k)
      *(uint2 *)(to + at + 8 * k) = *(const uint2 *)(from + at + 8 * (1 - k));
    break;
  case 2:
    for (int k = 0; k < 4; ++k)
      *(uint32_t *)(to + at + 4 * k) += *(const uint32_t *)(from + at + 4 * k);
    break;
  case 3:
    *(uint16_t *)(to + at + 6) = *(const uint16_t *)(from + at + 2);
    break;
  default:
    for (int k = 0; k < 16; k += 3)
      to[at + k] = from[at + k] ^ 0x5a;
  }
}

/// Counts and the largest, in a small table; what is counted is anywhere.
__global__ void tally(unsigned long long *count, uint32_t *most,
                      const uint32_t *order, const uint32_t *in, uint32_t n) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  uint32_t value = in[order[i % n]], bin = value % 512;
  atomicAdd(&count[bin], 1ull);
  atomicMax(&most[bin], value);
}

static uint32_t wayOf(uint32_t i, const std::vector<uint32_t> &next) {
  const auto n = (uint32_t)next.size();
  uint32_t at = mixed(i) % n;
  switch (i & 7) {
  case 0:
    for (int step = 0; step < 9; ++step)
      at = next[at];
    return at;
  case 1:
  case 2:
    return next[next[at] ^ 1];
  case 3:
    for (int step = 0; at % 5 && step < 40; ++step)
      at = (next[at] + at % 3) % n;
    return at;
  default:
    return next[at] & 1 ? next[at / 2] : at;
  }
}

static void piecesOnHost(unsigned char *to, const unsigned char *from,
                         const std::vector<uint32_t> &order, uint32_t units) {
  for (uint32_t i = 0; i < units; ++i) {
    size_t at = (size_t)order[i] * 16;
    uint32_t sum, more;
    switch (i % 5) {
    case 0:
      memcpy(to + at, from + at, 16);
      break;
    case 1:
      memcpy(to + at, from + at + 8, 8);
      memcpy(to + at + 8, from + at, 8);
      break;
    case 2:
      for (int k = 0; k < 16; k += 4) {
        memcpy(&sum, to + at + k, 4);
        memcpy(&more, from + at + k, 4);
        sum += more;
        memcpy(to + at + k, &sum, 4);
      }
      break;
    case 3:
      memcpy(to + at + 6, from + at + 2, 2);
      break;
    default:
      for (int k = 0; k < 16; k += 3)
        to[at + k] = from[at + k] ^ 0x5a;
    }
  }
}

/// [MiB of a buffer, a power of two [rounds]]
int main(int argc, char **argv) {
  const uint32_t n = (uint32_t)(argc > 1 ? atoi(argv[1]) : 4) << 18;
  const int rounds = argc > 2 ? atoi(argv[2]) : 2;
  const uint32_t units = n / 4, threads = n / 16; // units of 16 bytes
  std::vector<uint32_t> order(n), in(n), out(threads);
  for (uint32_t i = 0; i < n; ++i) {
    order[i] = (i * 40503u + 12345) % n; // a permutation
    in[i] = mixed(i);
  }
  std::vector<uint32_t> perUnit(units);
  for (uint32_t i = 0; i < units; ++i)
    perUnit[i] = (i * 40503u + 777) % units;
  std::vector<unsigned char> bytes(16 * (size_t)units);
  std::vector<unsigned long long> count(512);
  std::vector<uint32_t> most(512);
  uint32_t *dOrder = device(order), *dIn = device(in), *dOut = device(out);
  uint32_t *dUnit = device(perUnit), *dMost = device(most);
  unsigned char *dBytes = device(bytes);
  unsigned long long *dCount = device(count);
  for (int round = 0; round < rounds; ++round) {
    crowd<<<threads / Threads, Threads>>>(dOut, dOrder, dIn, n - 32, 40);
    for (uint32_t i = 0; i < threads; ++i) {
      out[i] = 0;
      for (uint32_t step = 0; step < 40; ++step)
        out[i] += in[order[(i + step * 1031) % 64] % (n - 32) + (i & 31)];
    }
    same(dOut, out);
    scattered<<<threads / Threads, Threads>>>(dOut, dOrder, n);
    for (uint32_t i = 0; i < threads; ++i)
      out[i] = wayOf(i, order);
    same(dOut, out);
    pieces<<<units / Threads, Threads>>>(dBytes, (const unsigned char *)dIn,
                                         dUnit, units);
    piecesOnHost(bytes.data(), (const unsigned char *)in.data(), perUnit,
                 units);
    same(dBytes, bytes);
    tally<<<n / Threads, Threads>>>(dCount, dMost, dOrder, dIn, n);
    for (uint32_t i = 0; i < n; ++i) {
      uint32_t value = in[order[i]], bin = value % 512;
      ++count[bin];
      most[bin] = std::max(most[bin], value);
    }
  }
  same(dCount, count);
  same(dMost, most);
  for (uint32_t *d : {dOrder, dIn, dOut, dUnit, dMost})
    CHECK(cudaFree(d));
  CHECK(cudaFree(dBytes));
  CHECK(cudaFree(dCount));
  return 0;
}
