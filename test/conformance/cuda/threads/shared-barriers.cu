// cuda::barrier and cuda::pipeline_shared_state in shared memory.
// RUN: %conforms %s
#include "conformance.h"
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void turns(const int *in, int *out) {
  __shared__ Barrier one;
  __shared__ cuda::barrier<cuda::thread_scope_block> more[2];
  __shared__ int values[64];
  int t = threadIdx.x;
  if (t == 0) {
    init(&one, blockDim.x);
    init(&more[0], blockDim.x);
    init(more + 1, blockDim.x);
  }
  __syncthreads();
  values[t] = in[t];
  one.arrive_and_wait();
  int other = values[63 - t];
  Barrier::arrival_token token = more[0].arrive();
  more[0].wait(std::move(token));
  values[t] = other + 1;
  more[1].arrive_and_wait();
  out[t] = values[63 - t] + values[t];
}

__global__ void stages(const int *in, int *out) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ alignas(16) int stage[2][64];
  auto block = cooperative_groups::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  int t = threadIdx.x, sum = 0;
  for (int i = 0; i < 2; ++i) {
    pipeline.producer_acquire();
    cuda::memcpy_async(block, stage[i], in + 64 * i,
                       cuda::aligned_size_t<16>(64 * sizeof(int)), pipeline);
    pipeline.producer_commit();
  }
  for (int i = 0; i < 2; ++i) {
    pipeline.consumer_wait();
    sum += stage[i][63 - t];
    pipeline.consumer_release();
  }
  out[t] = sum;
}

// Some arrive for others, one leaves for good, and phases are told by their
// parity too.
__global__ void arrivals(int *out) {
  __shared__ Barrier all, some;
  int t = threadIdx.x;
  if (t == 0) {
    init(&all, 64);
    init(&some, 64);
    out[0] = 0;
  }
  __syncthreads();
  unsigned address = (unsigned)__cvta_generic_to_shared(&some);
  if (t == 63) {
    some.arrive_and_drop();
  } else if (t < 2) { // 0 for itself, 1 for all that do not come
    unsigned long long state;
    unsigned missing;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1], %2;"
                 : "=l"(state)
                 : "r"(address), "r"(t ? 62 : 1)
                 : "memory");
    asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(missing) : "l"(state));
    atomicAdd(out, missing >= 1 && missing <= 64);
  }
  if (t < 63) {
    unsigned done = 0;
    while (!done)
      asm volatile("{ .reg .pred p;\n"
                   "mbarrier.test_wait.parity.shared.b64 p, [%1], 0;\n"
                   "selp.b32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(address)
                   : "memory");
    some.arrive_and_wait(); // 63 of them
    atomicAdd(out, 1);
  }
  all.arrive_and_wait();
  if (t == 5)
    out[1] = out[0];
}

int main() {
  std::vector<int> values(128);
  for (int i = 0; i < 128; ++i)
    values[i] = i * i;
  int *in = onDevice(values), *out = onDevice<int>(64);
  turns<<<1, 64>>>(in, out);
  auto h = fetch(out, 64);
  for (int t = 0; t < 64; ++t)
    REQUIRE(h[t] == values[t] + 1 + values[63 - t] + 1);
  stages<<<1, 64>>>(in, out);
  h = fetch(out, 64);
  for (int t = 0; t < 64; ++t)
    REQUIRE(h[t] == values[63 - t] + values[127 - t]);
  arrivals<<<1, 64>>>(out);
  REQUIRE(fetch(out, 64)[1] == 2 + 63);
  return 0;
}
