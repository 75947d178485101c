// __managed__ variables: one storage for both sides, whatever the host does with it and whether the device or the host comes first.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %plain ./program > plain.txt && %roomy ./program > tight.txt && cmp plain.txt tight.txt
// RUN: FileCheck %s < plain.txt
// RUN: %build -O0 -G %s -o debug && %plain ./debug | FileCheck %s

#include <cstdio>

struct Pair {
  int a;
  float b;
};

__managed__ int counter = 5;
__device__ __managed__ Pair pair = {1, 2.5f};
static __managed__ int table[1000];
__managed__ int *pointer;
__device__ int plain[4];

__global__ void update() {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 1000)
    table[i] += i + plain[i % 4];
  atomicAdd(&counter, 1);
  if (i == 0) {
    pair.a += counter > 0;
    if (pointer)
      *pointer = 77;
  }
}

static int sum() {
  int total = 0;
  for (int value : table)
    total += value;
  return total;
}

static int *either(bool first) { return first ? &counter : &table[3]; }

int main() {
  // CHECK: before 5 1 2.5 0
  printf("before %d %d %g %d\n", counter, pair.a, pair.b, sum());
  counter = 10;
  for (int &value : table)
    value = 1;
  cudaMallocManaged(&pointer, sizeof(int));
  update<<<8, 128>>>();
  if (cudaError_t error = cudaDeviceSynchronize()) {
    printf("%s\n", cudaGetErrorString(error));
    return 1;
  }
  // CHECK: after 1034 2 500500 77
  printf("after %d %d %d %d\n", counter, pair.a, sum(), *pointer);
  // CHECK: address 1034 4
  printf("address %d %d\n", *either(true), *either(false));

  // By symbol, as for any variable of the device.
  int value = 3, copy = 0;
  void *address = nullptr;
  size_t size = 0;
  cudaMemcpyToSymbol(counter, &value, sizeof value);
  cudaMemcpyFromSymbol(&copy, counter, sizeof copy);
  cudaGetSymbolAddress(&address, table);
  cudaGetSymbolSize(&size, table);
  // CHECK: symbol 3 3 1 4000
  printf("symbol %d %d %d %zu\n", counter, copy, address == table, size);
  // Hints and queries, as of other managed memory; a variable of the device is no such memory.
  const cudaMemLocation location{cudaMemLocationTypeDevice, 0};
  int mostly = 7;
  const cudaError_t errors[] = {
      cudaMemAdvise(table, sizeof table, cudaMemAdviseSetReadMostly, location),
      cudaMemPrefetchAsync(table, sizeof table, location, 0, nullptr),
      cudaMemRangeGetAttribute(&mostly, sizeof mostly,
                               cudaMemRangeAttributeReadMostly, table,
                               sizeof table),
      cudaStreamAttachMemAsync(nullptr, table, 0, cudaMemAttachGlobal),
      cudaMemAdvise(table, sizeof table + 1, cudaMemAdviseSetReadMostly,
                    location)};
  // CHECK: hints 0 0 0 0 1 0
  printf("hints %d %d %d %d %d %d\n", errors[0], errors[1], errors[2],
         errors[3], errors[4], mostly);
  cudaPointerAttributes ofTable{}, ofPlain{};
  void *plainAddress = nullptr;
  cudaGetSymbolAddress(&plainAddress, plain);
  cudaPointerGetAttributes(&ofTable, table + 3);
  cudaPointerGetAttributes(&ofPlain, plainAddress);
  // CHECK: attributes 3 1 2 1
  printf("attributes %d %d %d %d\n", ofTable.type,
         ofTable.hostPointer == table + 3, ofPlain.type,
         ofPlain.hostPointer == nullptr);
  cudaFree(pointer);
}
