// RUN: %dragon-cc -O2 -arch=sm_90 -c %s -o %t.o -w -Rpass-missed=dragon 2>&1 | grep remark: \
// RUN:   | sort -t: -k2n -s | FileCheck %s --implicit-check-not=remark:
// RUN: %dragon-cc -O0 -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -c %s -o %t.o -w \
// RUN:   -Rpass-missed=dragon 2>&1 | grep remark: | sort -t: -k2n -s | FileCheck %s --implicit-check-not=remark:

// What cannot be done to kernels, once for all architectures.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

// Blocks that do not know of each other: nothing to tell.
__global__ void fill(float *to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    to[i] = i;
}

// CHECK: kernels.cu:[[#@LINE+1]]:{{.*}}remark: kernel 'wait' not sliced: waits in a loop for what another block writes (kernels.cu:[[#@LINE+2]]); where its data exceeds device memory it runs on chunks in host memory [-Rpass-missed=dragon]
__global__ void wait(volatile int *flag, float *data) {
  while (!*flag) {
  }
  data[blockIdx.x] = 1;
}

template <typename T>
// CHECK: kernels.cu:[[#@LINE+1]]:{{.*}}remark: kernel 'together<float>' not sliced: uses cooperative grid synchronisation (kernels.cu:[[#@LINE+3]]); where
__global__ void together(T *data) {
  data[blockIdx.x] += 1;
  cooperative_groups::this_grid().sync();
  data[blockIdx.x] += data[0];
}
template __global__ void together<float>(float *);

// CHECK: kernels.cu:[[#@LINE+1]]:{{.*}}remark: kernel 'position' not sliced: reads the block's position in inline assembly (kernels.cu:[[#@LINE+3]]); where
__global__ void position(int *to) {
  int x;
  asm("mov.u32 %0, %%ctaid.x;" : "=r"(x));
  *to = x;
}

__global__ void tile(unsigned *to) {
  // CHECK: kernels.cu:[[#@LINE+1]]:3: remark: inline assembly 'ldmatrix.sync.aligned.m8n8.x1.shared.b16 {$0}, [$1]' in 'tile(unsigned int*)' cannot run on the host processor: without a GPU, reaching it ends the program [-Rpass-missed=dragon]
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(*to)
               : "r"(0));
}
