// nvcc's atomic operations with an order and a scope.
// RUN: %cc -fsyntax-only -Werror %s

template <class T> __device__ void integers(T *p) {
  T expected = 0, value = 1, result;
  __nv_atomic_load(p, &result, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_BLOCK);
  __nv_atomic_store(p, &value, __NV_ATOMIC_RELEASE);
  __nv_atomic_exchange(p, &value, &result, __NV_ATOMIC_ACQ_REL,
                       __NV_THREAD_SCOPE_DEVICE);
  bool done = __nv_atomic_compare_exchange(
      p, &expected, &value, false, __NV_ATOMIC_SEQ_CST, __NV_ATOMIC_RELAXED,
      __NV_THREAD_SCOPE_CLUSTER);
  done |= __nv_atomic_compare_exchange_n(
      p, &expected, 2, true, __NV_ATOMIC_SEQ_CST, __NV_ATOMIC_RELAXED);
  result += __nv_atomic_load_n(p, __NV_ATOMIC_RELAXED);
  __nv_atomic_store_n(p, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
  result += __nv_atomic_exchange_n(p, 2, __NV_ATOMIC_RELAXED);
  result += __nv_atomic_fetch_add(p, 1, __NV_ATOMIC_RELAXED,
                                  __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_sub(p, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_and(p, result, __NV_ATOMIC_RELAXED);
  __nv_atomic_or(p, done, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_xor(p, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_min(p, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_max(p, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
}

__global__ void kernel(int *i, unsigned *u, unsigned long long *l, float *f) {
  integers(i);
  integers(u);
  integers(l);
  __nv_atomic_add(f, 1.0f, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}
