// Calls of a library that do not fit into device memory at once are made in pieces: rows of the result, ranges of what is
// summed up, products of a batch. What the pieces use is fetched once where the rest stays.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %host-build -shared -fPIC -I%S/Inputs/library %S/Inputs/library/library.cpp -o liblibrary.so
// RUN: %build -I%S/Inputs/library --dragon-summaries=%S/Inputs/library/library.yaml %s -L. -llibrary -Wl,-rpath,%t.dir -o program
// RUN: %plain ./program 1 && %tight ./program many
//   Rows: 12 MiB of a, 256 KiB of b and 3 MiB of c, which has been set on the device before; c comes back once.
// RUN: %tight DRAGON_STATS=s.json ./program rows && %ledger s.json 'host_to_device <= 22*M' 'device_to_host <= 10*M'
//   A sum: 12 MiB of a and b each.
// RUN: %tight DRAGON_STATS=s.json ./program sum && %ledger s.json 'host_to_device <= 28*M'
//
// Where the scalar is in device memory, nothing can be added up: the call is not made.
// RUN: %fails %tight ./program device 2>&1 | FileCheck %s
// CHECK: error: 'libraryMultiply' at {{.*}}library-pieces.cu:[[#]]: {{.*}} must be in device memory at once
// CHECK: exit code 7
//
// An error of the library's ends the pieces.
// RUN: %tight ./program refused
// RUN: rm -rf %t.dir
#include "e2e.h"
#include "library.h"

struct Product {
  int m, n, k, count;
  int extra; ///< words between rows
  uint32_t beta;

  int lda() const { return k + extra; }
  int ldb() const { return n + extra; }
  int ldc() const { return n + extra; }
  size_t a() const { return size_t(m) * lda(); }
  size_t b() const { return size_t(k) * ldb(); }
  size_t c() const { return size_t(m) * ldc(); }
};

static LibraryHandle handle;

static std::vector<uint32_t> numbers(size_t count, uint32_t seed) {
  std::vector<uint32_t> result(count);
  for (size_t i = 0; i < count; ++i)
    result[i] = scramble(uint32_t(i) + seed);
  return result;
}

static uint32_t *onDevice(const std::vector<uint32_t> &words) {
  uint32_t *buffer;
  CHECK(cudaMalloc(&buffer, words.size() * 4));
  CHECK(cudaMemcpy(buffer, words.data(), words.size() * 4,
                   cudaMemcpyHostToDevice));
  return buffer;
}

/// In how many calls it was made, or minus what it returned.
static int multiply(const Product &p, const uint32_t *deviceBeta = nullptr,
                    int m = 0) {
  const std::vector<uint32_t> a = numbers(p.count * p.a(), 1),
                              b = numbers(p.count * p.b(), 2);
  std::vector<uint32_t> c = numbers(p.count * p.c(), 3);
  uint32_t *da = onDevice(a), *db = onDevice(b), *dc = onDevice(c);
  const uint32_t alpha = 3, beta = p.beta;
  const int before = libraryCalls(handle);
  const int status = libraryMultiply(
      handle, m ? m : p.m, p.n, p.k, &alpha, da, p.lda(), p.a(), db, p.ldb(),
      p.b(), deviceBeta ? deviceBeta : &beta, dc, p.ldc(), p.c(), p.count);
  const int calls = libraryCalls(handle) - before;
  if (status)
    return -status;
  std::vector<uint32_t> result(c.size());
  CHECK(cudaMemcpy(result.data(), dc, c.size() * 4, cudaMemcpyDeviceToHost));
  REQUIRE(libraryMultiply(handle, p.m, p.n, p.k, &alpha, a.data(), p.lda(),
                          p.a(), b.data(), p.ldb(), p.b(), &beta, c.data(),
                          p.ldc(), p.c(), p.count) == 0);
  REQUIRE(result == c);
  for (uint32_t *buffer : {da, db, dc})
    CHECK(cudaFree(buffer));
  return calls;
}

int main(int argc, char **argv) {
  REQUIRE(argc == 2 && libraryCreate(&handle) == 0);
  const std::string mode = argv[1];
  const Product rows{12288, 64, 256, 1, 0, 0}, sum{16, 512, 6144, 1, 0, 5};
  const Product batch{256, 32, 512, 24, 0, 2}, spaced{4096, 48, 640, 1, 32, 7},
      both{1536, 1536, 40, 1, 0, 1}, last{17, 512, 6144, 1, 0, 5};
  if (mode == "rows") {
    REQUIRE(multiply(rows) > 4);
  } else if (mode == "sum") {
    REQUIRE(multiply(sum) > 2);
  } else if (mode == "device") {
    uint32_t *beta = onDevice({5});
    REQUIRE(multiply({16, 16, 196608, 1, 0, 5}, beta) == -3);
    REQUIRE(cudaDeviceSynchronize() == cudaErrorMemoryAllocation);
    return 7;
  } else if (mode == "refused") {
    REQUIRE(multiply(sum, nullptr, -5) == -7 && libraryCalls(handle) == 1);
  } else {
    for (const Product &one : {rows, sum, batch, spaced, both, last}) {
      const int calls = multiply(one);
      REQUIRE(mode == "many" ? calls > 1 : calls == 1);
    }
  }
  return 0;
}
