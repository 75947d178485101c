// The host changes managed memory without a fault while it has that mapped, so
// that DRAGON_CHECK does not know what a copy to such memory has left there.
//
// RUN: %build -fdragon-trace-accesses %s -o %t
// RUN: %plain DRAGON_CHECK=1 %t | FileCheck %s
// RUN: %strict DRAGON_CHECK=1 DRAGON_DEVICE_MEMORY=4M DRAGON_HOST_MEMORY=64M %t | FileCheck %s
// RUN: rm %t
#include <cstdio>
#include <vector>

int main() {
  const size_t n = 3 << 20;
  int *managed;
  if (cudaMallocManaged(&managed, n * sizeof(int)) != cudaSuccess)
    return 1;
  for (size_t i = 0; i < n; ++i) // mapped for the host from here on
    managed[i] = 1;
  std::vector<int> host(n, 2);
  if (cudaMemcpy(managed, host.data(), n / 2 * sizeof(int),
                 cudaMemcpyHostToDevice) != cudaSuccess)
    return 1;
  for (size_t i = 0; i < n; i += 2)
    managed[i] += 3;
  if (cudaMemcpy(host.data(), managed, n * sizeof(int),
                 cudaMemcpyDeviceToHost) != cudaSuccess)
    return 1;
  long sum = 0;
  for (int value : host)
    sum += value;
  // CHECK: 9437184
  std::printf("%ld\n", sum);
  return cudaFree(managed) == cudaSuccess ? 0 : 1;
}
