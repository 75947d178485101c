// Kernels whose summaries only the device link knows, because functions of another unit decide what they touch. Compiled and
// linked with -flto, the host's side sees them: intermediate data are mapped as such and die where they are overwritten next.
// Without -flto the launches may do anything to the buffers, as far as directives go; the runtime knows better.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir && %bytes in.bin 12M separable
// RUN: %build -flto -rdc=true -Rpass=dragon -I%S/Inputs/separable %s %S/Inputs/separable/elements.cu -o program 2>&1 | FileCheck %s
// RUN: %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M DRAGON_STATS=stats.json ./program in.bin
// RUN: %ledger stats.json 'launches == 10' 'avoided_discard >= 4 * 8*M'
//
// RUN: %build -rdc=true -Rpass=dragon -I%S/Inputs/separable %s %S/Inputs/separable/elements.cu -o apart 2>&1 | FileCheck %s --check-prefix=APART --allow-empty
// RUN: %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M DRAGON_STATS=stats.json ./apart in.bin
// RUN: %ledger stats.json 'launches == 10' 'avoided_discard < 2 * 12*M' 'slices > 10'
// APART-NOT: {{discarded|volatile}}
//
// Object by object; with a device link of its own; and from fat objects without -flto.
// RUN: for unit in %s %S/Inputs/separable/elements.cu; do %build -flto -dc -I%S/Inputs/separable $unit || exit 1; done
// RUN: %build -flto -Rpass=dragon separable-link-time.o elements.o -o objects 2>&1 | FileCheck %s
// RUN: %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M ./objects in.bin
// RUN: %build -flto -dlink separable-link-time.o elements.o -o linked.o
// RUN: %build -flto -Rpass=dragon separable-link-time.o elements.o linked.o -o linked 2>&1 | FileCheck %s
// RUN: %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M ./linked in.bin
// RUN: %build -Rpass=dragon separable-link-time.o elements.o -o untold 2>&1 | FileCheck %s
// RUN: %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M ./untold in.bin
// RUN: %build -fno-lto separable-link-time.o elements.o -o plain
// RUN: %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M ./plain in.bin
// RUN: rm -rf %t.dir
#include "elements.h"

static __global__ void forward(uint32_t *act, const uint32_t *in, int n,
                               uint32_t step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    store(act, i, element(in, i) + step);
}

static __global__ void backward(uint32_t *sum, const uint32_t *act, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    store(sum, i, sum[i] * 3 + act[mirrored(i, n)]);
}

int main(int, char **argv) {
  std::vector<uint32_t> h = slurp(argv[1]), result(h.size());
  const int n = h.size();
  const size_t bytes = n * sizeof(uint32_t);
  uint32_t *in, *act, *sum;
  CHECK(cudaMalloc((void **)&in, bytes));
  // CHECK-DAG: separable-link-time.cu:[[#@LINE+1]]:{{[0-9]+}}: remark: 'act' mapped volatile: intermediate data
  CHECK(cudaMalloc((void **)&act, bytes));
  CHECK(cudaMalloc((void **)&sum, bytes));
  CHECK(cudaMemcpy(in, h.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(sum, 0, bytes));
  for (uint32_t step = 0; step < 5; ++step) {
    forward<<<(n + 255) / 256, 256>>>(act, in, n, step);
    // CHECK-DAG: separable-link-time.cu:[[#@LINE+1]]:{{[0-9]+}}: remark: 'act' discarded after 'backward'
    backward<<<(n + 255) / 256, 256>>>(sum, act, n);
  }
  CHECK(cudaMemcpy(result.data(), sum, bytes, cudaMemcpyDeviceToHost));
  std::vector<uint32_t> model(n);
  for (uint32_t step = 0; step < 5; ++step)
    for (int i = 0; i < n; ++i) {
      int from = n - 1 - i;
      model[i] = model[i] * 3 + h[from] * (from % 4 + 1) + 11 + step;
    }
  REQUIRE(result == model);
  CHECK(cudaFree(in));
  CHECK(cudaFree(act));
  CHECK(cudaFree(sum));
  return 0;
}
