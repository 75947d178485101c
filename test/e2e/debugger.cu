// A debugger finds kernels of the host processor (-G) by their names and lines, with arguments and locals, in the functions that
// they call and behind barriers, too.
//
// REQUIRES: gdb
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir && %build -G -g %s -o program
// RUN: line=$(grep -n 'to[[]threadIdx.x] = total;$' %s | cut -d: -f1) && env DRAGON_BACKEND=cpu DRAGON_QUIET=1 \
// RUN:   DRAGON_CPU_THREADS=1 gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'break twice' -ex "break debugger.cu:$line" \
// RUN:   -ex run -ex backtrace -ex 'info args' -ex next -ex 'info locals' -ex 'delete 1' -ex continue -ex 'info args' \
// RUN:   -ex 'print pair.b' -ex 'info locals' -ex delete -ex continue ./program > log 2>&1
// RUN: FileCheck %s --match-full-lines < log
// CHECK:      {{.*}}twice (value=7) at {{.*}}debugger.cu:{{[0-9]+}}
// CHECK:      #1 {{.*}} in sum (from=0x{{[0-9a-f]+}}, to=0x{{[0-9a-f]+}}, pair=...) at {{.*}}debugger.cu:{{[0-9]+}}
// CHECK:      value = 7
// CHECK:      result = 14
// CHECK:      {{.*}}sum (from=0x{{[0-9a-f]+}}, to=0x{{[0-9a-f]+}}, pair=...) at {{.*}}debugger.cu:{{[0-9]+}}
// CHECK:      from = 0x{{[0-9a-f]+}}
// CHECK-NEXT: to = 0x{{[0-9a-f]+}}
// CHECK-NEXT: pair = {a = 1, b = 2}
// CHECK-NEXT: {{.*}} = 2
// CHECK:      mine = 15
// CHECK:      total = 960
// CHECK:      right
// RUN: rm -rf %t.dir
#include "e2e.h"

struct Pair {
  int a, b;
};

__device__ int twice(int value) {
  int result = value * 2;
  return result;
}

__global__ void sum(const int *from, int *to, Pair pair) {
  __shared__ int parts[64];
  int mine = twice(from[threadIdx.x]) + pair.a;
  parts[threadIdx.x] = mine;
  __syncthreads();
  int total = 0;
  for (int i = 0; i < 64; ++i)
    total += parts[i];
  to[threadIdx.x] = total;
}

int main() {
  int host[64], *from, *to;
  std::fill(host, host + 64, 7);
  CHECK(cudaMalloc(&from, sizeof host));
  CHECK(cudaMalloc(&to, sizeof host));
  CHECK(cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice));
  sum<<<1, 64>>>(from, to, Pair{1, 2});
  CHECK(cudaMemcpy(host, to, sizeof host, cudaMemcpyDeviceToHost));
  for (int value : host)
    REQUIRE(value == 64 * 15);
  puts("right");
}
