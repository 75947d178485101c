// What the compiler says of a thread's next launch is said of that one alone.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build -fno-dragon-lifetime %s -o program
// RUN: %plain DRAGON_LOG=debug ./program 2>&1 | FileCheck %s
// RUN: rm -rf %t.dir
//
// CHECK-NOT: another launch follows
// CHECK: '{{.*}}second{{.*}}': another launch follows
// CHECK-NOT: another launch follows
// CHECK: '{{.*}}fifth{{.*}}': another launch follows
// CHECK-NOT: another launch follows
// CHECK: done
#include "e2e.h"

#include "dragon/CompilerABI.h"

#include <thread>

__global__ void first(int *at) { *at += 1; }
__global__ void second(int *at) { *at *= 3; }
__global__ void third(int *at) { *at += 5; }
__global__ void fourth(int *at) { *at *= 7; }
__global__ void fifth(int *at) { *at += 9; }
__global__ void sixth(int *at) { *at *= 2; }

int main() {
  int *at, value = 0;
  CHECK(cudaMalloc(&at, sizeof(int)));
  CHECK(cudaMemset(at, 0, sizeof(int)));
  first<<<1, 1>>>(at);
  __dragon_launch_follows();
  second<<<1, 1>>>(at);
  third<<<1, 1>>>(at);
  // Another thread's.
  __dragon_launch_follows();
  std::thread([&] { fourth<<<1, 1>>>(at); }).join();
  fifth<<<1, 1>>>(at);
  // A launch that fails takes it as well.
  __dragon_launch_follows();
  sixth<<<1, 2048>>>(at);
  REQUIRE(cudaGetLastError() == cudaErrorInvalidConfiguration);
  sixth<<<1, 1>>>(at);
  CHECK(cudaMemcpy(&value, at, sizeof(int), cudaMemcpyDeviceToHost));
  REQUIRE(value == (((0 + 1) * 3 + 5) * 7 + 9) * 2);
  fprintf(stderr, "done\n");
  return 0;
}
