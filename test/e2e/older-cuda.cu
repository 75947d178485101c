// A program for an older CUDA, at its word: calls and members that CUDA 13 has dropped, overloads and macros of nvcc.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build -Wno-deprecated-declarations %s -o program
// RUN: %plain ./program > plain.txt && %roomy ./program > tight.txt && cmp plain.txt tight.txt
// RUN: FileCheck %s < plain.txt

#include <cmath>
#include <limits>

#define CHECK(call)                                                            \
  if (cudaError_t error = (call)) {                                            \
    printf(#call ": %s\n", cudaGetErrorString(error));                         \
    return 1;                                                                  \
  }

__global__ void clampAll(unsigned *data, int n, int least, unsigned most) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] = min(max(least, data[i]), most);
}

__global__ void count(unsigned *data, int n, unsigned *counts) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    __nv_atomic_add(&counts[data[i] % 4], 1, __NV_ATOMIC_RELAXED,
                    __NV_THREAD_SCOPE_DEVICE);
}

int main() {
  int device = 0, rate = -1, overlap = -1;
  CHECK(cudaGetDevice(&device));
  cudaDeviceProp properties = {0};
  CHECK(cudaGetDeviceProperties(&properties, device));
  CHECK(cudaDeviceGetAttribute(&rate, cudaDevAttrClockRate, device));
  CHECK(cudaDeviceGetAttribute(&overlap, cudaDevAttrGpuOverlap, device));
  // CHECK: members 1 1 1
  printf("members %d %d %d\n", properties.clockRate == rate,
         properties.deviceOverlap == overlap, properties.computeMode == 0);

  // CHECK: host 4294967295 7 2.5 1 1
  printf("host %u %d %g %d %d\n", max(-1, 7u), max(-1, 7), max(2.5, 1.0f),
         min(std::numeric_limits<float>::quiet_NaN(), 1.0f) == 1.0f,
         isfinite(1.0f) && isnan(NAN));

  const int n = 6 << 20;
  const size_t bytes = n * sizeof(unsigned);
  unsigned *data, *counts;
  CHECK(cudaMallocManaged(&data, bytes));
  CHECK(cudaMallocManaged(&counts, 4 * sizeof(unsigned)));
  for (int i = 0; i < n; ++i)
    data[i] = unsigned(i);
  for (int i = 0; i < 4; ++i)
    counts[i] = 0;
  CHECK(cudaMemAdvise(data, bytes, cudaMemAdviseSetPreferredLocation, device));
  CHECK(cudaMemPrefetchAsync(data, bytes, device, 0));
  clampAll<<<n / 256, 256>>>(data, n, 10, n - 7u);
  count<<<n / 256, 256>>>(data, n, counts);
  CHECK(cudaThreadSynchronize());
  CHECK(cudaMemPrefetchAsync(data, bytes, cudaCpuDeviceId, 0));
  CHECK(cudaDeviceSynchronize());
  unsigned long long sum = 0;
  for (int i = 0; i < n; ++i)
    sum += data[i];
  // CHECK: sum 19791206154274 of 1572860 1572866 1572870 1572860
  printf("sum %llu of %u %u %u %u\n", sum, counts[0], counts[1], counts[2],
         counts[3]);
  CHECK(cudaFree(data));
  CHECK(cudaThreadExit());
  return 0;
}
