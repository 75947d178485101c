//===- lavaMD.cu - forces between particles in boxes ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Maps.h"

#include "../link/lavaMD.h"

int main(int argc, char **argv) {
  Bench bench("lavaMD", argc, argv);
  const size_t perBox =
      Near * sizeof(int) + Particles * (2 * sizeof(Four) + sizeof(float));
  size_t wanted = std::max<size_t>(1, bench.size / perBox);
  while ((size_t)Side * Side * Side < wanted && Side < 128)
    ++Side;
  Layers = (int)std::max<size_t>(1, wanted / Side / Side);
  int boxes = Side * Side * Layers;
  size_t particles = (size_t)boxes * Particles;
  size_t nearBytes = (size_t)boxes * Near * sizeof(int);
  size_t placeBytes = particles * sizeof(Four);
  size_t chargeBytes = particles * sizeof(float);
  Input near(bench, "near", (size_t)boxes * Near, sizeof(int),
             each<int, nearAt>);
  Input places(bench, "places", particles, sizeof(Four), each<Four, placeAt>);
  Input charges(bench, "charges", particles, sizeof(float),
                each<float, chargeAt>);
  Output result(bench, "result", particles, sizeof(Four));

  start(bench, nearBytes + 2 * placeBytes + chargeBytes,
        nearBytes + placeBytes + chargeBytes, placeBytes);
  int *d_near = map<int>(near, nearBytes, D_F_READ);
  Four *d_places = map<Four>(places, placeBytes, D_F_READ);
  float *d_charges = map<float>(charges, chargeBytes, D_F_READ);
  Four *d_result = map<Four>(result, placeBytes, D_F_WRITE | D_F_CREATE);
  loaded(bench);
  forces<<<boxes, Particles>>>(d_near, d_places, d_charges, d_result);
  computed(bench);
  MAP(dragon_unmap(d_near));
  MAP(dragon_unmap(d_places));
  MAP(dragon_unmap(d_charges));
  MAP(dragon_unmap(d_result));
  stored(bench);

  Verdict verdict;
  auto right = [](size_t i) { return forceOn(i); };
  check<Four>(result, 1 << 13, right, verdict);
  return bench.finish(verdict);
}
