// A structure of numbers that is set field by field, passed to a kernel by value, and looked at by the host: each field has its
// value, whatever its neighbours had before.
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program
// RUN: %plain ./program 640 3 7
// RUN: %tight ./program 640 3 7
// RUN: %fails %plain ./program 640 3 0 2>&1 | FileCheck %s
// CHECK: exit code 2
// RUN: rm -rf %t.dir
#include "e2e.h"

struct Box {
  int width, height, depth;
  int first, step;
};

__global__ void fill(int *x, Box box) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < box.width)
    for (int k = 0; k < box.height * box.depth; ++k)
      x[k * box.width + i] = box.first + k * box.step;
}

int main(int argc, char **argv) {
  REQUIRE(argc == 4);
  Box box{atoi(argv[1]), atoi(argv[2]), atoi(argv[3]), 0, 0};
  if (box.width < 1 || box.height < 1 || box.depth < 1)
    return 2;
  box.first = box.depth * 10;
  box.step = 1;
  const int count = box.width * box.height * box.depth;
  int *x;
  CHECK(cudaMalloc(&x, count * sizeof(int)));
  Box moved = box;
  moved.first = box.first + 5;
  fill<<<(box.width + 255) / 256, 256>>>(x, moved);
  std::vector<int> h(count);
  CHECK(cudaMemcpy(h.data(), x, count * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < count; ++i)
    REQUIRE(h[i] == 75 + i / 640);
  CHECK(cudaFree(x));
  return 0;
}
