// Language of older standards that nvcc takes with a warning at most.
// RUN: %cc -fsyntax-only -std=c++17 -Werror=all-warnings -w %s
// RUN: %cc -fsyntax-only -std=c++17 %s 2>&1 | FileCheck %s
// RUN: %cc -fsyntax-only -std=c++17 -Werror %s

#define NAME "name"

// CHECK: older-language.cu:[[#@LINE+2]]:{{.*}}: warning: ISO C++17 does not allow 'register' storage class
__global__ void kernel(int *p) {
  register int i = threadIdx.x;
  p[i] = i;
}

int main(int argc, char **argv) {
  // clang-format off
  // CHECK: older-language.cu:[[#@LINE+1]]:{{.*}}: warning: invalid suffix on literal
  printf("program "NAME"\n");
  // clang-format on
  // CHECK: older-language.cu:[[#@LINE+1]]:{{.*}}: warning: non-constant-expression cannot be narrowed
  unsigned sizes[2] = {argc, 2};
  return sizes[0] == 0;
}
