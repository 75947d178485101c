// A kernel that cannot be lowered to the host processor: the program is built with a warning that says which construct
// and where; the other kernels run; launching this one is an error that names it.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program 2>&1 | FileCheck %s --check-prefix=BUILD
// BUILD: unsupported-on-cpu.cu:[[#@LINE+10]]{{.*}}warning: {{.*}}'wgmma.fence.sync.aligned' in 'special(
//
// RUN: %plain ./program good
// RUN: %plain %fails ./program bad 2>&1 | FileCheck %s --check-prefix=LAUNCH
// LAUNCH: 'wgmma.fence.sync.aligned' in 'special(
// LAUNCH: exit code
// RUN: rm -rf %t.dir
#include "e2e.h"

__global__ void special(uint32_t *data) {
  asm volatile("wgmma.fence.sync.aligned;");
  data[threadIdx.x] = 1;
}

__global__ void plain(uint32_t *data) { data[threadIdx.x] = threadIdx.x; }

int main(int, char **argv) {
  uint32_t *d, h[32];
  CHECK(cudaMalloc(&d, sizeof h));
  if (!strcmp(argv[1], "good"))
    plain<<<1, 32>>>(d);
  else
    special<<<1, 32>>>(d);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  REQUIRE(h[31] == 31);
  CHECK(cudaFree(d));
  return 0;
}
