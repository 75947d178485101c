// Shuffles and votes that do not say which threads take part are gone since
// sm_70. Clang's headers have them, its back end and ptxas do not: an error that
// names them, where they are called.
// RUN: not %cc -arch=sm_90 -c %s -o %t.o 2>&1 | FileCheck %s --implicit-check-not=error:
// RUN: not %cc -arch=sm_90 -G -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=DEBUG
// The host processor runs them, and what is not called is no error.
// RUN: %cc --dragon-targets=cpu -c %s -o %t.o
// RUN: %cc -arch=sm_90 -DUNUSED=1 -c %s -o %t.o
#ifndef UNUSED
#define UNUSED 0
#endif
__device__ inline float first(float f) {
  // CHECK-DAG: removed-shuffles.cu:[[#@LINE+2]]:10: error: '__shfl' in 'scale(float*, double*)': GPUs since sm_70 do not have it; use '__shfl_sync', which says what threads take part
  // DEBUG: error: {{.*}}'__shfl{{.*}}' in '__shfl{{.*}}': GPUs since sm_70 do not have it
  return __shfl(f, 0);
}
#if !UNUSED
__global__ void scale(float *f, double *d) {
  f[threadIdx.x] /= first(f[threadIdx.x]);
  // CHECK-DAG: :[[#@LINE+1]]:8: error: '__shfl_down' in 'scale(float*, double*)': {{.*}}; use '__shfl_down_sync'
  *d = __shfl_down(*d, 2);
}
__global__ void votes(int *i) {
  // CHECK-DAG: :[[#@LINE+1]]:7: error: '__any' in 'votes(int*)': {{.*}}; use '__any_sync'
  if (__any(*i))
    // CHECK-DAG: :[[#@LINE+1]]:10: error: '__ballot' in 'votes(int*)': {{.*}}; use '__ballot_sync'
    *i = __ballot(1);
}
#endif
