#include <dragon/dragon.h>
#include <cub/cub.cuh>
#ifndef __NVCC__
#error no __NVCC__
#endif
__global__ void k(float *a, int n, unsigned m) { int i = min(n, m); a[i] = __nv_atomic_fetch_add(&n, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK); }
int main() { cudaThreadSynchronize(); k<<<1, 1>>>(nullptr, 1, 2u); return 0; }
