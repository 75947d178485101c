// A library function that follows pointers in device memory, which a kernel has put there: what they point to is there during the
// call and no longer, and what is overwritten is not fetched. The arrays lie in a buffer, or in memory that is none.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %host-build -shared -fPIC -I%S/Inputs/library %S/Inputs/library/library.cpp -o liblibrary.so
// RUN: %build -I%S/Inputs/library --dragon-summaries=%S/Inputs/library/library.yaml -Rpass-analysis=dragon %s -L. -llibrary \
// RUN:   -Wl,-rpath,%t.dir -o program 2>&1 | FileCheck %s --check-prefix=REMARKS --allow-empty
// REMARKS-NOT: 'libraryCombineArrays' has no summary
// RUN: for how in 0 1; do ./program $how && %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M \
// RUN:   DRAGON_STATS=stats$how.json ./program $how || exit 1; done | FileCheck %s
// CHECK-COUNT-4: 32 of 32 matrices right
//   64 MiB, of which 16 fit: each call of two matrices of 2 MiB that are read fetches no more than those, and nothing stays.
// RUN: for how in 0 1; do %ledger stats$how.json 'host_to_device <= 40*M' 'evictions > 20' || exit 1; done
//   The same launches put the same pointers there: they are looked at in the first of three rounds of eight calls, and in the first call of the second.
//   Also in memory that is no buffer, where nothing comes between the launch and the call.
// RUN: for how in 0 1; do %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M DRAGON_TRACE=trace.json ./program $how 3 \
// RUN:   && test $(grep -c '"name":"library call"' trace.json) = 33 || exit 1; done | FileCheck %s --check-prefix=ROUNDS
// ROUNDS-COUNT-2: 32 of 32 matrices right
//   What a copy puts there afterwards is what is followed.
// RUN: for how in 0 1; do %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M ./program $how 3 overwritten || exit 1; done \
// RUN:   | FileCheck %s --check-prefix=ROUNDS
// RUN: rm -rf %t.dir
#include "e2e.h"
#include "library.h"

constexpr int N = 1 << 19, Matrices = 32, Batch = 2;

__global__ void fill(uint32_t *to, uint32_t value) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = value + i;
}

__global__ void tabulate(uint32_t **xs, uint32_t **ys, uint32_t *x,
                         uint32_t *y) {
  xs[threadIdx.x] = x + threadIdx.x * size_t(N);
  ys[threadIdx.x] = y + threadIdx.x * size_t(N);
}

int main(int argc, char **argv) {
  const int rounds = argc > 2 ? atoi(argv[2]) : 1;
  uint32_t *data;
  CHECK(cudaMalloc(&data, size_t(Matrices) * N * sizeof(uint32_t)));
  uint32_t **arrays;
  const size_t bytes = 2 * Batch * sizeof(uint32_t *);
  if (atoi(argv[1]))
    CHECK(cudaHostAlloc(&arrays, bytes, cudaHostAllocMapped));
  else
    CHECK(cudaMalloc(&arrays, bytes));
  fill<<<Matrices *(N / 256), 256>>>(data, 0);
  LibraryHandle handle;
  REQUIRE(libraryCreate(&handle) == 0);
  // The first half is combined into the second.
  const uint32_t three = 3, none = 0;
  for (int call = 0; call < rounds * Matrices / 2; call += Batch) {
    uint32_t *x = data + call % (Matrices / 2) * size_t(N);
    uint32_t *y = x + Matrices / 2 * size_t(N);
    const bool isOverwritten = argc > 3;
    tabulate<<<1, Batch>>>(arrays, arrays + Batch, isOverwritten ? data : x, y);
    if (isOverwritten) {
      uint32_t *pointers[Batch] = {x, x + N};
      CHECK(cudaMemcpy(arrays, pointers, sizeof(pointers), cudaMemcpyDefault));
    }
    REQUIRE(libraryCombineArrays(handle, N, &three, arrays, &none,
                                 arrays + Batch, Batch) == 0);
  }
  libraryDestroy(handle);
  std::vector<uint32_t> words(N);
  int right = 0;
  for (uint32_t m = 0; m < Matrices; ++m) {
    CHECK(cudaMemcpy(words.data(), data + m * size_t(N), N * sizeof(uint32_t),
                     cudaMemcpyDeviceToHost));
    bool same = true;
    for (uint32_t i = 0; i < N; ++i) {
      const uint32_t of = m % (Matrices / 2) * N + i;
      same &= words[i] == (m < Matrices / 2 ? of : 3 * of);
    }
    right += same;
  }
  printf("%d of %d matrices right\n", right, Matrices);
}
