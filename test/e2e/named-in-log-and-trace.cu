// The log says once how launches of a kernel run that differ in nothing but which of two buffers is which, and calls buffers
// by their names, as the trace does.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program
// RUN: %tight DRAGON_LOG=1 ./program 2> info
// RUN: grep -c "'step' runs sliced" info | FileCheck --check-prefix=ONCE %s
// ONCE: {{^}}1{{$}}
// RUN: grep "'scale' runs sliced" info
//
// RUN: %tight DRAGON_LOG=debug DRAGON_TRACE=trace.json ./program 2> debug
// RUN: FileCheck --input-file=debug %s
// CHECK: 'step' runs sliced
// CHECK-DAG: evicts chunk {{[0-9]+}} of 'd_now': copied out
// CHECK-DAG: evicts chunk {{[0-9]+}} of 'd_next': copied out
// RUN: not grep "of the buffer at" debug
//
// RUN: FileCheck --check-prefix=TRACE --input-file=trace.json %s
// TRACE-DAG: {"name":"evict"{{.*}}"on":"{{[^"]*}}d_next
// TRACE-DAG: {"name":"fetch"{{.*}}"on":"{{[^"]*}}d_now
// TRACE-DAG: {"name":"to the device"{{.*}}"bytes":{{[0-9]+}},"on":"d_now"}
// TRACE-DAG: {"name":"from the device"{{.*}}"bytes":{{[0-9]+}},"on":"d_next"}
// RUN: not grep '"bytes":0[,}]' trace.json
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <utility>
#include <vector>

__global__ void step(const float *now, float *next, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    next[i] += now[i];
}

__global__ void scale(float *x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= 2;
}

int main() {
  constexpr int N = 4 << 20;
  std::vector<float> host(N, 1);
  float *d_now, *d_next;
  CHECK(cudaMalloc(&d_now, N * sizeof(float)));
  CHECK(cudaMalloc(&d_next, N * sizeof(float)));
  CHECK(cudaMemcpy(d_now, host.data(), N * sizeof(float),
                   cudaMemcpyHostToDevice));
  CHECK(cudaMemset(d_next, 0, N * sizeof(float)));
  float a = 1, b = 0; // of each element
  float *from = d_now, *to = d_next;
  for (int i = 0; i < 6; ++i) {
    step<<<N / 256, 256>>>(from, to, N);
    CHECK(cudaDeviceSynchronize());
    std::swap(from, to);
    b += a;
    std::swap(a, b);
  }
  scale<<<N / 256, 256>>>(from, N);
  CHECK(
      cudaMemcpy(host.data(), from, N * sizeof(float), cudaMemcpyDeviceToHost));
  for (float value : host)
    if (value != 2 * a) {
      std::printf("%g, and not %g\n", value, 2 * a);
      return 1;
    }
  CHECK(cudaFree(d_now));
  CHECK(cudaFree(d_next));
  std::printf("right\n");
}
