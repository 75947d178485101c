// Cooperative groups within a block: tiles, coalesced groups, reductions, scans,
// partitions by label, collective copies.
// RUN: %conforms %s
#include "conformance.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

__global__ void tiles(int *out) {
  cg::thread_block block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto quad = cg::tiled_partition<4>(warp);
  int t = block.thread_rank();
  int sum = t;
  for (int step = quad.size() / 2; step > 0; step /= 2)
    sum += quad.shfl_down(sum, step);
  out[t] = quad.shfl(sum, 0);
  out[64 + t] = cg::reduce(warp, t, cg::plus<int>());
  out[128 + t] = cg::inclusive_scan(warp, 1);
  out[192 + t] = quad.meta_group_rank() * 100 + quad.thread_rank();
  block.sync();
  if (t % 3 == 0) {
    cg::coalesced_group group = cg::coalesced_threads();
    out[256 + t] = group.size() * 100 + group.thread_rank();
  }
  auto parity = cg::binary_partition(warp, t % 2);
  out[320 + t] = cg::reduce(parity, t, cg::greater<int>());
}

__global__ void copies(const int *in, int *out) {
  __shared__ int buffer[64];
  cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, buffer, in, sizeof buffer);
  cg::wait(block);
  out[block.thread_rank()] = buffer[63 - block.thread_rank()];
  dim3 index = block.thread_index(), group = block.group_index();
  if (index.x + group.x > 63)
    out[0] = -1;
}

int main() {
  int *out = onDevice<int>(384);
  tiles<<<1, 64>>>(out);
  auto h = fetch(out, 384);
  for (int t = 0; t < 64; ++t) {
    int first = t / 4 * 4, warp = t / 32 * 32;
    REQUIRE(h[t] == 4 * first + 6);
    REQUIRE(h[64 + t] == 32 * warp + 496);
    REQUIRE(h[128 + t] == t % 32 + 1);
    REQUIRE(h[192 + t] == t % 32 / 4 * 100 + t % 4);
    if (t % 3 == 0) {
      int size = 0, rank = 0;
      for (int i = warp; i < warp + 32; ++i)
        if (i % 3 == 0)
          ++size, rank += i < t;
      REQUIRE(h[256 + t] == size * 100 + rank);
    }
    REQUIRE(h[320 + t] == warp + 30 + t % 2);
  }
  std::vector<int> in(64);
  for (int i = 0; i < 64; ++i)
    in[i] = i * 5;
  copies<<<1, 64>>>(onDevice(in), out);
  h = fetch(out, 64);
  for (int t = 0; t < 64; ++t)
    REQUIRE(h[t] == (63 - t) * 5);
  return 0;
}
