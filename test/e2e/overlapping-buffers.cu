// Kernels whose buffers overlap give what their code says, and the same kernels on buffers that do not: a load behind a store
// waits for it where both may reach the same bytes. On a GPU the latter run a copy of the kernel.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build -O3 %s -o program
// RUN: %plain ./program
// RUN: %strict DRAGON_DEVICE_MEMORY=4M DRAGON_HOST_MEMORY=64M ./program
// RUN: rm -rf %t.dir
#include "e2e.h"

const int Rows = 64, Columns = 8192, Count = Rows * Columns;

// Each thread goes through a column: what a row is depends on those before it if `from` is `to`, or begins a row before it.
__global__ void sum(uint32_t *to, const uint32_t *from, const uint32_t *by,
                    int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 0; j < rows; ++j)
    to[j * columns + i] = 3 * from[j * columns + i] + by[i];
}

// The same backwards, from the ends.
__global__ void sumBackwards(uint32_t *toEnd, const uint32_t *fromEnd, int rows,
                             int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 1; j <= rows; ++j)
    toEnd[i - j * columns] = 3 * fromEnd[i - j * columns] + 1;
}

static void sumOnHost(uint32_t *to, const uint32_t *from, const uint32_t *by,
                      int rows) {
  for (int i = 0; i < Columns; ++i)
    for (int j = 0; j < rows; ++j)
      to[j * Columns + i] = 3 * from[j * Columns + i] + by[i];
}

static std::vector<uint32_t> numbers(int count, uint32_t seed) {
  std::vector<uint32_t> result(count);
  for (uint32_t &value : result)
    value = seed = seed * 1664525 + 1013904223;
  return result;
}

struct Buffers {
  uint32_t *a, *b, *by;
  std::vector<uint32_t> hostA = numbers(Count, 1), hostB = numbers(Count, 2),
                        hostBy = numbers(Columns, 3);
  Buffers() {
    CHECK(cudaMalloc(&a, Count * 4));
    CHECK(cudaMalloc(&b, Count * 4));
    CHECK(cudaMalloc(&by, Columns * 4));
    CHECK(cudaMemcpy(a, hostA.data(), Count * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b, hostB.data(), Count * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(by, hostBy.data(), Columns * 4, cudaMemcpyHostToDevice));
  }
  ~Buffers() {
    for (uint32_t *buffer : {a, b, by})
      CHECK(cudaFree(buffer));
  }
  void compare(const char *what) const {
    std::vector<uint32_t> foundA(Count), foundB(Count), foundBy(Columns);
    CHECK(cudaMemcpy(foundA.data(), a, Count * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(foundB.data(), b, Count * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(foundBy.data(), by, Columns * 4, cudaMemcpyDeviceToHost));
    if (foundA != hostA || foundB != hostB || foundBy != hostBy) {
      fprintf(stderr, "wrong: %s\n", what);
      exit(EXIT_FAILURE);
    }
  }
};

const int Block = 256, Grid = Columns / Block;

int main() {
  {
    Buffers on;
    sum<<<Grid, Block>>>(on.b, on.a, on.by, Rows, Columns);
    sumOnHost(on.hostB.data(), on.hostA.data(), on.hostBy.data(), Rows);
    on.compare("different buffers");
  }
  {
    Buffers on;
    sum<<<Grid, Block>>>(on.a, on.a, on.by, Rows, Columns);
    sumOnHost(on.hostA.data(), on.hostA.data(), on.hostBy.data(), Rows);
    on.compare("one buffer");
  }
  {
    Buffers on;
    sum<<<Grid, Block>>>(on.a + Columns, on.a, on.by, Rows - 1, Columns);
    sumOnHost(on.hostA.data() + Columns, on.hostA.data(), on.hostBy.data(),
              Rows - 1);
    on.compare("one buffer, a row apart");
  }
  {
    // What is added is the last row but one, which changes before the end.
    Buffers on;
    uint32_t *row = on.a + (Rows - 2) * Columns;
    sum<<<Grid, Block>>>(on.a, on.b, row, Rows, Columns);
    sumOnHost(on.hostA.data(), on.hostB.data(),
              on.hostA.data() + (Rows - 2) * Columns, Rows);
    on.compare("a row of the result");
  }
  {
    Buffers on;
    sumBackwards<<<Grid, Block>>>(on.a + Count, on.a + Count - Columns,
                                  Rows - 1, Columns);
    for (int i = 0; i < Columns; ++i)
      for (int j = 1; j < Rows; ++j) {
        const int to = Count + i - j * Columns;
        on.hostA[to] = 3 * on.hostA[to - Columns] + 1;
      }
    on.compare("from the end of a buffer");
  }
  return 0;
}
