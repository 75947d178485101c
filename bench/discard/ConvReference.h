//===- ConvReference.h - convnet's network, computed on the host ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The images that convnet trains with, and what it checks itself against: the
// network forward and back for one image, in double precision, by direct
// convolution as the definition has it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_BENCH_DISCARD_CONVREFERENCE_H
#define DRAGON_BENCH_DISCARD_CONVREFERENCE_H

#include "Workload.h"
#include <algorithm>
#include <cmath>

const int Side = 15, Pixels = Side * Side; // of an image
const int Channels = 8, Classes = 4, MaxLayers = 64;

// Stripes of four directions, shifted at random and with noise.
inline void makeImage(float *image, int &label, uint32_t number) {
  uint32_t random = hash32(number, 50);
  label = random % Classes;
  int shift = random >> 8 & 7;
  for (int y = 0; y < Side; ++y)
    for (int x = 0; x < Side; ++x) {
      int along[] = {x, y, x + y, x - y + Side};
      float noise =
          (hash32(number * Pixels + y * Side + x, 51) >> 8) * 0x1p-24f;
      image[y * Side + x] =
          (along[label] + shift & 2 ? 1 : -0.5f) + noise - 0.5f;
    }
}

// One image forward and back, straight from the definition. Returns the loss
// and adds to the gradient of the first layer's weights.
inline double reference(const std::vector<std::vector<float>> &weights,
                        const float *image, int label, double *gradient) {
  auto eachProduct = [](int channels, auto body) {
    for (int o = 0; o < Channels; ++o)
      for (int c = 0; c < channels; ++c)
        for (int y = 0; y < Side; ++y)
          for (int x = 0; x < Side; ++x)
            for (int v = std::max(y - 1, 0); v <= std::min(y + 1, Side - 1);
                 ++v)
              for (int u = std::max(x - 1, 0); u <= std::min(x + 1, Side - 1);
                   ++u)
                body((o * channels + c) * 9 + (v - y + 1) * 3 + u - x + 1,
                     (c * Side + v) * Side + u, (o * Side + y) * Side + x);
  };
  size_t layers = weights.size();
  std::vector<std::vector<double>> out(layers + 1);
  out[0].assign(image, image + Pixels);
  for (size_t l = 0; l < layers; ++l) {
    out[l + 1].resize(Channels * Pixels);
    eachProduct(l ? Channels : 1, [&](int w, int from, int to) {
      out[l + 1][to] += weights[l][w] * out[l][from];
    });
    for (double &value : out[l + 1])
      value = std::tanh(value);
  }

  double score[Classes] = {}, total = 0;
  for (int c = 0; c < Classes; ++c) {
    for (int pixel = 0; pixel < Pixels; ++pixel)
      score[c] += out[layers][c * Pixels + pixel] * 10 / Pixels;
    total += score[c] = std::exp(score[c]);
  }
  std::vector<double> delta(Channels * Pixels);
  for (int i = 0; i < Classes * Pixels; ++i)
    delta[i] =
        (score[i / Pixels] / total - (i / Pixels == label)) * 10 / Pixels;
  for (size_t l = layers; l-- > 0;) {
    for (int i = 0; i < Channels * Pixels; ++i)
      delta[i] *= 1 - out[l + 1][i] * out[l + 1][i];
    std::vector<double> before(Channels * Pixels);
    eachProduct(l ? Channels : 1, [&](int w, int from, int to) {
      before[from] += weights[l][w] * delta[to];
      if (l == 0)
        gradient[w] += out[0][from] * delta[to];
    });
    delta = before;
  }
  return -std::log(score[label] / total);
}

#endif // DRAGON_BENCH_DISCARD_CONVREFERENCE_H
