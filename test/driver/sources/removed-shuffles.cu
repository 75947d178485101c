// Shuffles and votes that do not say which threads take part are gone since
// sm_70. Clang's headers have them, its back end and ptxas do not: they become
// those of the active threads, with a warning where they are called.
// RUN: %cc -arch=sm_90 -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %cc -arch=sm_90 -G -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=DEBUG
// RUN: %cc -arch=sm_90 -ptx -w %s -o - | FileCheck %s --check-prefix=PTX
// The host processor runs them as they are, and of what is not called nothing
// is said.
// RUN: %cc --dragon-targets=cpu -c %s -o %t.o
// RUN: %cc -arch=sm_90 -DUNUSED=1 -c %s -o %t.o 2>&1 | count 0
#ifndef UNUSED
#define UNUSED 0
#endif
__device__ inline float first(float f) {
  // CHECK-DAG: removed-shuffles.cu:[[#@LINE+2]]:10: warning: '__shfl' in 'scale(float*, double*)': GPUs since sm_70 do not have it; here it is '__shfl_sync' among the threads that are active
  // DEBUG: warning: {{.*}}'__shfl{{.*}}' in '__shfl{{.*}}': GPUs since sm_70 do not have it
  return __shfl(f, 0);
}
#if !UNUSED
// PTX-LABEL: .entry _Z5scale
// PTX: activemask.b32 [[MASK:%r[0-9]+]]
// PTX: shfl.sync.idx.b32 {{.*}}, [[MASK]];
// PTX: shfl.sync.down.b32
// PTX: shfl.sync.down.b32
__global__ void scale(float *f, double *d) {
  f[threadIdx.x] /= first(f[threadIdx.x]);
  // CHECK-DAG: :[[#@LINE+1]]:8: warning: '__shfl_down' in 'scale(float*, double*)': {{.*}}; here it is '__shfl_down_sync'
  *d = __shfl_down(*d, 2);
}
// PTX-LABEL: .entry _Z5votes
// PTX: activemask.b32 [[ANY:%r[0-9]+]]
// PTX: vote.sync.any.pred {{.*}}, [[ANY]];
// PTX: activemask.b32 [[BALLOT:%r[0-9]+]]
// PTX: vote.sync.ballot.b32 {{.*}}, [[BALLOT]];
__global__ void votes(int *i) {
  // CHECK-DAG: :[[#@LINE+1]]:7: warning: '__any' in 'votes(int*)': {{.*}}; here it is '__any_sync'
  if (__any(*i))
    // CHECK-DAG: :[[#@LINE+1]]:10: warning: '__ballot' in 'votes(int*)': {{.*}}; here it is '__ballot_sync'
    *i = __ballot(1);
}
#endif
