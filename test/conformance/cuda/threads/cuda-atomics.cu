// cuda::atomic and cuda::atomic_ref of libcu++, with scopes and orders.
// RUN: %conforms %s
#include "conformance.h"
#include <cuda/atomic>

using Counter = cuda::atomic<int, cuda::thread_scope_device>;

__device__ Counter Global;

__global__ void count(int *plain, float *sum, int *order) {
  Global.fetch_add(2, cuda::memory_order_relaxed);
  cuda::atomic_ref<int, cuda::thread_scope_block> reference(*plain);
  reference++;
  cuda::atomic_ref<float, cuda::thread_scope_device>(*sum).fetch_add(0.5f);
  int expected = 0;
  cuda::atomic_ref<int, cuda::thread_scope_system> first(*order);
  if (threadIdx.x == 3)
    first.compare_exchange_strong(expected, 33, cuda::memory_order_acq_rel);
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst,
                            cuda::thread_scope_device);
}

__global__ void read(int *out) {
  *out = Global.load(cuda::memory_order_acquire);
}

int main() {
  int *plain = onDevice<int>(3);
  float *sum = onDevice<float>(1);
  count<<<1, 100>>>(plain, sum, plain + 1);
  read<<<1, 1>>>(plain + 2);
  auto h = fetch(plain, 3);
  REQUIRE(h[0] == 100 && h[1] == 33 && h[2] == 200 && fetch(sum, 1)[0] == 50);
  return 0;
}
