//===- vectorAdd.cu - c = a + b ------------------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Maps.h"

#include "../link/vectorAdd.h"

int main(int argc, char **argv) {
  Bench bench("vectorAdd", argc, argv);
  size_t n = (bench.size / (3 * sizeof(float))) | 1;
  size_t bytes = n * sizeof(float);
  Input a(bench, "a", n, sizeof(float), each<float, elementA>);
  Input b(bench, "b", n, sizeof(float), each<float, elementB>);
  Output c(bench, "c", n, sizeof(float));

  start(bench, 3 * bytes, 2 * bytes, bytes);
  float *d_a = map<float>(a, bytes, D_F_READ);
  float *d_b = map<float>(b, bytes, D_F_READ);
  float *d_c = map<float>(c, bytes, D_F_WRITE | D_F_CREATE);
  loaded(bench);
  vectorAdd<<<(unsigned)((n + 255) / 256), 256>>>(d_a, d_b, d_c, n);
  computed(bench);
  MAP(dragon_unmap(d_a));
  MAP(dragon_unmap(d_b));
  MAP(dragon_unmap(d_c));
  stored(bench);

  Verdict verdict;
  auto sum = [](size_t i) { return elementA(i) + elementB(i); };
  check<float>(c, All, sum, verdict);
  return bench.finish(verdict);
}
