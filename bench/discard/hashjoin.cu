//===- hashjoin.cu - queries that join streams with one hashed table ------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table of parts (key, price, group) is hashed once. Then queries come, each
// with a new stream of orders (part, quantity) to be joined with the parts and
// added up by group: a probe finds each order's row, a second kernel gathers
// the joined columns, a third one aggregates them.
//
//   select group, sum(price * quantity), count(*)
//   from orders join parts on part = key group by group
//
// What is dead when: the parts' keys once the table is built; a query's orders
// once they are joined (the next query's are uploaded over them); the matches
// after the gather and the joined columns after the aggregation (the next
// query's kernels overwrite them); the sums once they have been copied out.
// The table, prices and groups live throughout. By hand:
//
//   discard  keys                                 after the build
//   discard  orderParts                           after the probe
//   discard  matches, orderQuantities             after the gather
//   discard  joinedValues, joinedGroups           after the aggregation
//   prefetch matches, joinedValues, joinedGroups  before what overwrites them
//
// Without them nearly all that a query leaves behind is written back.
//
// The host joins by sorting and searching instead of hashing. All sums are of
// whole numbers, so the order of additions does not matter.
//
//===----------------------------------------------------------------------===//
#include "Workload.h"
#include <algorithm>

const int Threads = 256;
const int Groups = 1000;
const uint32_t None = 0xffffffffu; // no key and no row has this number
const uint64_t NoSlot = ~(uint64_t)0;

struct Sums {
  unsigned long long value, count;
};

// A part's key, never None. Two parts may have the same.
__host__ __device__ inline uint32_t keyOf(uint32_t part) {
  return hash32(part, 1) >> 1;
}

__host__ __device__ inline uint32_t firstSlot(uint32_t key, uint32_t slots) {
  return (uint32_t)((uint64_t)(key * 0x9e3779b1u) * slots >> 32);
}

// A slot holds key and row; all ones when it is free.
__global__ void build(const uint32_t *keys, unsigned long long *table,
                      int parts, uint32_t slots) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= parts)
    return;
  uint32_t key = keys[row];
  unsigned long long mine = (unsigned long long)key << 32 | (uint32_t)row;
  uint32_t slot = firstSlot(key, slots);
  // Of the parts with one key the first row wins.
  while (true) {
    unsigned long long old = atomicCAS(&table[slot], NoSlot, mine);
    if (old == NoSlot)
      return;
    if (old >> 32 == key) {
      atomicMin(&table[slot], mine);
      return;
    }
    slot = slot + 1 == slots ? 0 : slot + 1;
  }
}

__global__ void probe(const uint32_t *orderParts,
                      const unsigned long long *table, uint32_t *matches,
                      int orders, uint32_t slots) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= orders)
    return;
  uint32_t key = orderParts[i];
  uint32_t slot = firstSlot(key, slots);
  uint32_t match = None;
  while (true) {
    unsigned long long entry = table[slot];
    if (entry == NoSlot)
      break;
    if (entry >> 32 == key) {
      match = (uint32_t)entry;
      break;
    }
    slot = slot + 1 == slots ? 0 : slot + 1;
  }
  matches[i] = match;
}

// Orders without a part get the group None.
__global__ void gather(const uint32_t *matches, const uint32_t *quantities,
                       const uint32_t *prices, const uint32_t *groups,
                       unsigned long long *joinedValues, uint32_t *joinedGroups,
                       int orders) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= orders)
    return;
  uint32_t row = matches[i];
  unsigned long long value = 0;
  uint32_t group = None;
  if (row != None) {
    value = (unsigned long long)prices[row] * quantities[i];
    group = groups[row];
  }
  joinedValues[i] = value;
  joinedGroups[i] = group;
}

__global__ void aggregate(const unsigned long long *joinedValues,
                          const uint32_t *joinedGroups, Sums *sums,
                          int orders) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= orders)
    return;
  uint32_t group = joinedGroups[i];
  if (group == None)
    return;
  atomicAdd(&sums[group].value, joinedValues[i]);
  atomicAdd(&sums[group].count, 1ull);
}

template <typename T> static T *onDevice(size_t count) {
  T *memory;
  CHECK(cudaMalloc(&memory, count * sizeof(T)));
  return memory;
}

template <typename T>
static void upload(T *device, const std::vector<T> &host) {
  CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T),
                   cudaMemcpyHostToDevice));
}

struct Parts {
  std::vector<uint32_t> keys, prices, groups;
};

struct Orders {
  std::vector<uint32_t> parts, quantities;
};

static void makeParts(Parts &to) {
  onAllCores(to.keys.size(), [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      to.keys[i] = keyOf((uint32_t)i);
      to.prices[i] = hash32((uint32_t)i, 2) % 10000 + 1;
      to.groups[i] = hash32((uint32_t)i, 3) % Groups;
    }
  });
}

// One order in eight is for a part that the table most likely lacks.
static void makeOrders(Orders &to, int parts, int query) {
  onAllCores(to.parts.size(), [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      uint32_t random = hash32((uint32_t)i, 2 * query + 10);
      to.parts[i] = keyOf((uint32_t)((uint64_t)random * parts >> 32) +
                          (random % 8 ? 0 : parts));
      to.quantities[i] = hash32((uint32_t)i, 2 * query + 11) % 100 + 1;
    }
  });
}

// The same query on the host, with the parts sorted by key and row.
static std::vector<Sums> expected(const Parts &parts, const Orders &orders,
                                  const std::vector<uint64_t> &sorted) {
  std::vector<Sums> sums(Groups);
  onAllCores(orders.parts.size(), [&](size_t first, size_t last) {
    std::vector<Sums> own(Groups);
    for (size_t i = first; i < last; ++i) {
      uint64_t key = orders.parts[i];
      auto at = std::lower_bound(sorted.begin(), sorted.end(), key << 32);
      if (at == sorted.end() || *at >> 32 != key)
        continue;
      uint32_t row = (uint32_t)*at;
      Sums &group = own[parts.groups[row]];
      group.value += (uint64_t)parts.prices[row] * orders.quantities[i];
      group.count++;
    }
    for (int g = 0; g < Groups; ++g) {
      __atomic_fetch_add(&sums[g].value, own[g].value, __ATOMIC_RELAXED);
      __atomic_fetch_add(&sums[g].count, own[g].count, __ATOMIC_RELAXED);
    }
  });
  return sums;
}

int main(int argc, char **argv) {
  std::vector<Option> options = {
      {"--size", 64, "footprint in MiB"},
      {"--queries", 4, "queries over the same parts"}};
  parseOptions(argc, argv, options);
  size_t size = (size_t)options[0].value << 20;
  int queries = (int)options[1].value;

  // Four orders for each part. An order takes 24 bytes with its intermediate
  // data, a part 12 and its 1.5 slots another 12; and numbers that are odd.
  size_t most = size / (4 * 24 + 24);
  if (most > INT32_MAX / 4) {
    fprintf(stderr, "hashjoin: %zu parts, fewer than 2^29 are possible\n",
            most);
    return 2;
  }
  int parts = (int)most - 11;
  int orders = 4 * parts + 1;
  uint32_t slots = parts + parts / 2;
  size_t footprint =
      parts * 12ul + slots * 8ul + orders * 24ul + Groups * sizeof(Sums);

  Parts h_parts{std::vector<uint32_t>(parts), std::vector<uint32_t>(parts),
                std::vector<uint32_t>(parts)};
  Orders h_orders{std::vector<uint32_t>(orders), std::vector<uint32_t>(orders)};
  makeParts(h_parts);

  DeviceTime time;
  time.start();
  uint32_t *d_keys = onDevice<uint32_t>(parts);
  uint32_t *d_prices = onDevice<uint32_t>(parts);
  uint32_t *d_groups = onDevice<uint32_t>(parts);
  unsigned long long *d_table = onDevice<unsigned long long>(slots);
  uint32_t *d_orderParts = onDevice<uint32_t>(orders);
  uint32_t *d_quantities = onDevice<uint32_t>(orders);
  uint32_t *d_matches = onDevice<uint32_t>(orders);
  unsigned long long *d_joinedValues = onDevice<unsigned long long>(orders);
  uint32_t *d_joinedGroups = onDevice<uint32_t>(orders);
  Sums *d_sums = onDevice<Sums>(Groups);

  upload(d_keys, h_parts.keys);
  upload(d_prices, h_parts.prices);
  upload(d_groups, h_parts.groups);
  CHECK(cudaMemset(d_table, 0xff, slots * sizeof(unsigned long long)));
  build<<<(parts + Threads - 1) / Threads, Threads>>>(d_keys, d_table, parts,
                                                      slots);
  CHECK(cudaGetLastError());
  time.stop();

  std::vector<uint64_t> sorted(parts);
  for (int i = 0; i < parts; ++i)
    sorted[i] = (uint64_t)h_parts.keys[i] << 32 | (uint32_t)i;
  std::sort(sorted.begin(), sorted.end());

  std::vector<Sums> h_sums(Groups);
  int blocks = (orders + Threads - 1) / Threads;
  uint64_t sum = 0, wrong = 0;
  for (int query = 0; query < queries; ++query) {
    makeOrders(h_orders, parts, query);
    time.start();
    upload(d_orderParts, h_orders.parts);
    upload(d_quantities, h_orders.quantities);
    CHECK(cudaMemset(d_sums, 0, Groups * sizeof(Sums)));
    probe<<<blocks, Threads>>>(d_orderParts, d_table, d_matches, orders, slots);
    gather<<<blocks, Threads>>>(d_matches, d_quantities, d_prices, d_groups,
                                d_joinedValues, d_joinedGroups, orders);
    aggregate<<<blocks, Threads>>>(d_joinedValues, d_joinedGroups, d_sums,
                                   orders);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(h_sums.data(), d_sums, Groups * sizeof(Sums),
                     cudaMemcpyDeviceToHost));
    time.stop();

    std::vector<Sums> right = expected(h_parts, h_orders, sorted);
    for (int g = 0; g < Groups; ++g)
      wrong += h_sums[g].value != right[g].value ||
               h_sums[g].count != right[g].count;
    sum = checksum(&h_sums[0].value, 2 * Groups, sum);
  }

  time.start();
  CHECK(cudaFree(d_keys));
  CHECK(cudaFree(d_prices));
  CHECK(cudaFree(d_groups));
  CHECK(cudaFree(d_table));
  CHECK(cudaFree(d_orderParts));
  CHECK(cudaFree(d_quantities));
  CHECK(cudaFree(d_matches));
  CHECK(cudaFree(d_joinedValues));
  CHECK(cudaFree(d_joinedGroups));
  CHECK(cudaFree(d_sums));
  time.stop();
  return finish("hashjoin", footprint, time, sum, wrong,
                (uint64_t)Groups * queries);
}
