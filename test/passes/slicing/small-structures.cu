// RUN: %dragon-cc -O2 -arch=sm_90 --dragon-targets=cpu -c %s -o %t.o -w -Rpass=dragon -Rpass-missed=dragon 2>&1 | grep remark: \
// RUN:   | FileCheck %s --implicit-check-not='not sliced'
// RUN: rm %t.o

// A structure that is copied out of a buffer decides how long a loop runs: that is no wait for another block. To wait takes a
// volatile or atomic access.
struct alignas(2) Half {
  unsigned short bits;
};

__global__ void chases(const Half *next, int n, Half *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Half at = next[i];
  while (at.bits != 7 && n--)
    at = next[at.bits];
  out[i] = at;
}

// CHECK: small-structures.cu:[[#@LINE+1]]:{{.*}} remark: kernel 'waits' not sliced: waits in a loop for what another block writes
__global__ void waits(const volatile Half *next, int n, Half *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  while (next[i].bits != 7)
    ;
  out[i].bits = n;
}
