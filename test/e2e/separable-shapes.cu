// Device code of several units where C++ makes the link harder: templates and inline variables that each unit has, virtual
// functions and dynamic shared memory of other units, definitions that give way, and a kernel of another unit that is
// launched before main, and before that unit's own constructors.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build -rdc=true -I%S/Inputs/separable %s %S/Inputs/separable/shapes.cu -o program
// RUN: %roomy ./program
// RUN: %build -rdc=true -I%S/Inputs/separable %S/Inputs/separable/shapes.cu %s -o turned
// RUN: %roomy ./turned
// RUN: %build -rdc=true -O0 -G -I%S/Inputs/separable %s %S/Inputs/separable/shapes.cu -o slow
// RUN: %roomy ./slow
// RUN: rm -rf %t.dir
#include "shapes.h"

static const uint32_t before = early();

__device__ uint32_t fallback(uint32_t value) { return value + 1000; }

__global__ void areas(uint32_t *to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Square square(i % 16);
  Cube cube(i % 16);
  const Shape *shape = &square;
  if (i % 3 == 0)
    shape = &cube;
  uint32_t sum = blockSum(fallback(shape->area()));
  if (i < n)
    to[i] = sum;
}

int main() {
  REQUIRE(before == 43);
  const int n = 4 << 20;
  const size_t bytes = n * sizeof(uint32_t);
  uint32_t *data;
  CHECK(cudaMalloc((void **)&data, bytes));
  areas<<<n / 64, 64, 64 * sizeof(uint32_t)>>>(data, n);
  add<<<(n + 255) / 256, 256>>>(data, n);
  addInOther(data, n);
  std::vector<uint32_t> result(n);
  CHECK(cudaMemcpy(result.data(), data, bytes, cudaMemcpyDeviceToHost));
  for (int block = 0; block < n / 64; ++block) {
    uint32_t sum = 0;
    for (int i = block * 64; i < block * 64 + 64; ++i) {
      uint32_t side = i % 16;
      sum += side * side * (i % 3 == 0 ? 6 : 1) + 1000;
    }
    for (int i = block * 64; i < block * 64 + 64; ++i)
      REQUIRE(result[i] == sum + 1 + 2);
  }
  CHECK(cudaFree(data));
  return 0;
}
