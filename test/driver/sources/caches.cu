// Loads and stores with cache hints, of every kind and many types.
// RUN: %cc -fsyntax-only -Werror %s

#include <cuda_fp16.h>

template <class T> __device__ void each(T *p) {
  T value = __ldcg(p);
  value = __ldca(p);
  value = __ldcs(p);
  value = __ldcv(p);
  value = __ldlu(p);
  value = __ldg(p);
  __stwb(p, value);
  __stcg(p, value);
  __stcs(p, value);
  __stwt(p, value);
}

__global__ void kernel(int *i, unsigned char *c, float4 *f, double *d, long *l,
                       half2 *h) {
  each(i);
  each(c);
  each(f);
  each(d);
  each(l);
  each(h);
  __stcs(d, 1);
}
