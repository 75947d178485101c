// CUB: block and warp primitives, device-wide reduction, scan, sort, selection.
// RUN: %conforms %s
#include "conformance.h"
#include <cub/cub.cuh>

__global__ void block(const int *in, int *out) {
  using Reduce = cub::BlockReduce<int, 128>;
  using Scan = cub::BlockScan<int, 128>;
  using Warp = cub::WarpReduce<int>;
  __shared__ typename Reduce::TempStorage a;
  __shared__ typename Scan::TempStorage b;
  __shared__ typename Warp::TempStorage c[4];
  int t = threadIdx.x, x = in[t], prefix;
  int sum = Reduce(a).Sum(x);
  Scan(b).ExclusiveSum(x, prefix);
  int warp = Warp(c[t / 32]).Sum(x);
  out[t] = prefix;
  if (t == 0)
    out[128] = sum;
  if (t % 32 == 0)
    out[129 + t / 32] = warp;
}

int main() {
  const int n = 2000;
  std::vector<int> in(n);
  for (int i = 0; i < n; ++i)
    in[i] = i * 37 % n;
  int *d = onDevice(in), *out = onDevice<int>(n + 1);
  block<<<1, 128>>>(d, out);
  auto h = fetch(out, 133);
  int sum = 0, warp = 0;
  for (int t = 0; t < 128; ++t) {
    REQUIRE(h[t] == sum);
    sum += in[t], warp += in[t];
    if (t % 32 == 31) {
      REQUIRE(h[129 + t / 32] == warp);
      warp = 0;
    }
  }
  REQUIRE(h[128] == sum);

  size_t bytes = 0;
  void *temporary = nullptr;
  auto twice = [&](auto &&call) {
    CHECK(call(nullptr, bytes));
    CHECK(cudaMalloc(&temporary, bytes));
    CHECK(call(temporary, bytes));
    CHECK(cudaFree(temporary));
  };
  twice([&](void *t, size_t &b) {
    return cub::DeviceReduce::Sum(t, b, d, out, n);
  });
  REQUIRE(fetch(out, 1)[0] == n * (n - 1) / 2);
  twice([&](void *t, size_t &b) {
    return cub::DeviceScan::ExclusiveSum(t, b, d, out, n);
  });
  h = fetch(out, n);
  REQUIRE(h[2] == 37 && h[n - 1] == n * (n - 1) / 2 - in[n - 1]);
  twice([&](void *t, size_t &b) {
    return cub::DeviceRadixSort::SortKeys(t, b, d, out, n);
  });
  h = fetch(out, n);
  for (int i = 0; i < n; ++i)
    REQUIRE(h[i] == i);
  return 0;
}
