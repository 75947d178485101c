// Thrust: vectors, transformations, reductions, scans, sorts, iterators.
// FLAGS: --extended-lambda
// RUN: %conforms %s
#include "conformance.h"
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

struct Square {
  __host__ __device__ int operator()(int x) const { return x * x; }
};

int main() {
  const int n = 3000;
  thrust::device_vector<int> v(n), w(n);
  thrust::sequence(v.begin(), v.end());
  thrust::transform(v.begin(), v.end(), w.begin(), Square());
  REQUIRE(w[50] == 2500);
  long long sum = thrust::reduce(v.begin(), v.end(), 0ll);
  REQUIRE(sum == (long long)n * (n - 1) / 2);
  thrust::inclusive_scan(v.begin(), v.end(), w.begin());
  REQUIRE(w[n - 1] == sum);
  std::vector<int> h(n);
  for (int i = 0; i < n; ++i)
    h[i] = i * 7919 % n;
  thrust::device_vector<int> keys(h.begin(), h.end()), values(n);
  thrust::sequence(thrust::device, values.begin(), values.end());
  thrust::sort_by_key(keys.begin(), keys.end(), values.begin());
  std::vector<int> k(n), x(n);
  thrust::copy(keys.begin(), keys.end(), k.begin());
  thrust::copy(values.begin(), values.end(), x.begin());
  for (int i = 0; i < n; ++i)
    REQUIRE(k[i] == i && h[x[i]] == i);
  int even =
      thrust::count_if(thrust::device, thrust::counting_iterator<int>(0),
                       thrust::counting_iterator<int>(n),
                       [] __host__ __device__(int i) { return i % 2 == 0; });
  REQUIRE(even == n / 2);
  int *raw = thrust::raw_pointer_cast(values.data());
  REQUIRE(*thrust::max_element(thrust::device_pointer_cast(raw),
                               thrust::device_pointer_cast(raw) + n) == n - 1);
  return 0;
}
