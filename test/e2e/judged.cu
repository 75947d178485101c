// The reference pager, the oracle and the table of footprints, on a program
// whose figures are known: eight buffers of 4 MiB, one after the other out of
// the first, then all of them again.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build -fdragon-trace-accesses %s -o program
//
// In core nothing moves but what the host wrote and reads; memory for half of it.
// RUN: %strict DRAGON_DEVICE_MEMORY=18M DRAGON_CHUNK_SIZE=2M DRAGON_ORACLE=1 DRAGON_FOOTPRINTS=1 DRAGON_STATS=ours.json ./program
// RUN: %plain DRAGON_DEVICE_MEMORY=18M DRAGON_PAGER=fault DRAGON_ORACLE=1 DRAGON_STATS=pager.json ./program
// RUN: %judged ours.json pager.json
//
// Without a file the figures are for people.
// RUN: %plain DRAGON_DEVICE_MEMORY=18M DRAGON_PAGER=fault ./program 2>&1 | FileCheck %s --check-prefix=TABLE
// TABLE: over the link host to device device to host
// TABLE-NEXT: reference pager {{.*}} MiB
// TABLE-NEXT: reference pager with directives {{.*}} MiB
//
// What is missing is said.
// RUN: %plain DRAGON_PAGER=fault %fails ./program 2>&1 | FileCheck %s --check-prefix=BUDGET
// BUDGET: DRAGON_PAGER needs DRAGON_DEVICE_MEMORY
// RUN: %build %s -o untraced
// RUN: %plain DRAGON_ORACLE=1 %fails ./untraced 2>&1 | FileCheck %s --check-prefix=TRACE
// TRACE: kernel '{{.*}}add{{.*}}' does not tell its accesses, which DRAGON_CHECK, DRAGON_PAGER, DRAGON_ORACLE and DRAGON_FOOTPRINTS need; compile with -fdragon-trace-accesses
// RUN: rm -rf %t.dir
#include "e2e.h"

__global__ void add(const int *in, int *out, int n, int value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] + value;
}

int main() {
  const int buffers = 8, n = 1 << 20;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i)
    host[i] = i;
  int *d[buffers];
  for (int b = 0; b < buffers; ++b)
    CHECK(cudaMalloc(&d[b], n * sizeof(int)));
  CHECK(cudaMemcpy(d[0], host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  for (int b = 1; b < buffers; ++b)
    add<<<n / 256, 256>>>(d[0], d[b], n, b);
  // In the same order: what came first has gone first.
  for (int b = 1; b < buffers; ++b)
    add<<<n / 256, 256>>>(d[b], d[b], n, 1);
  CHECK(cudaGetLastError());
  long long sum = 0;
  for (int b = 1; b < buffers; ++b) {
    CHECK(
        cudaMemcpy(host.data(), d[b], n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i)
      sum += host[i] - i;
    CHECK(cudaFree(d[b]));
  }
  CHECK(cudaFree(d[0]));
  return sum == (28LL + 7) * n ? 0 : 3;
}
