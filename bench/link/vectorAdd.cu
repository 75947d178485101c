//===- vectorAdd.cu - c = a + b ------------------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "vectorAdd.h"

int main(int argc, char **argv) {
  Bench bench("vectorAdd", argc, argv);
  size_t n = (bench.size / (3 * sizeof(float))) | 1;
  size_t bytes = n * sizeof(float);
  Input a(bench, "a", n, sizeof(float), each<float, elementA>);
  Input b(bench, "b", n, sizeof(float), each<float, elementB>);
  Output c(bench, "c", n, sizeof(float));
  const int threads = 256;

  start(bench, 3 * bytes, 2 * bytes, bytes);
#ifdef LINK_METHODS
  if (bench.method == Method::Ring) {
    ring({{a.data, nullptr, 4}, {b.data, nullptr, 4}, {nullptr, c.data, 4}}, n,
         size_t{8} << 20,
         [=](void **d, size_t, size_t count, cudaStream_t stream) {
           vectorAdd<<<(unsigned)((count + threads - 1) / threads), threads, 0,
                       stream>>>((float *)d[0], (float *)d[1], (float *)d[2],
                                 count);
         });
    computed(bench);
  } else
#endif
  {
    FILE *file = create(c);
    float *d_a, *d_b, *d_c;
    CHECK(cudaMalloc(&d_a, bytes));
    CHECK(cudaMalloc(&d_b, bytes));
    CHECK(cudaMalloc(&d_c, bytes));
    load(d_a, a, bytes, bench);
    load(d_b, b, bytes, bench);
    loaded(bench);
    vectorAdd<<<(unsigned)((n + threads - 1) / threads), threads>>>(d_a, d_b,
                                                                    d_c, n);
    computed(bench);
    store(c, file, d_c, bytes, bench);
    stored(bench);
    CHECK(cudaFree(d_a));
    CHECK(cudaFree(d_b));
    CHECK(cudaFree(d_c));
  }

  Verdict verdict;
  auto sum = [](size_t i) { return elementA(i) + elementB(i); };
  check<float>(c, All, sum, verdict);
  return bench.finish(verdict);
}
