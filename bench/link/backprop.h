//===- backprop.h - training of a small network on many samples -===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gradient descent for a network of 32 inputs, 32 hidden units and one output.
// Weights are few, samples many: each epoch goes over all samples, forward and
// back, and leaves what it computes for each of them on the device. Sums over
// samples are of partial sums, a block's each, in a fixed order.
//
// All is checked: the host trains as well, with the same sums in the same
// order.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_BENCH_LINK_BACKPROP_H
#define DRAGON_BENCH_LINK_BACKPROP_H

#include "Data.h"

#include <algorithm>

using namespace bench;

const int Inputs = 32;
const int Hidden = 32;
const int Weights = Inputs * Hidden + Hidden; // of both layers
const int SamplesPerBlock = 2048;             // in a partial sum
const float Rate = 4.0f;

BENCH_BOTH static float logistic(float x) {
  return 1.0f / (1.0f + exactExp(-x));
}

// A thread for each sample and hidden unit.
__global__ void forwardHidden(const float *samples, const float *weights,
                              float *hidden, int count) {
  int unit = threadIdx.x;
  int sample = blockIdx.x * blockDim.y + threadIdx.y;
  if (sample >= count)
    return;
  float sum = 0;
  for (int i = 0; i < Inputs; ++i)
    sum += samples[(size_t)sample * Inputs + i] * weights[i * Hidden + unit];
  hidden[(size_t)sample * Hidden + unit] = logistic(sum);
}

__global__ void forwardOutput(const float *hidden, const float *weights,
                              float *output, int count) {
  int sample = blockIdx.x * blockDim.x + threadIdx.x;
  if (sample >= count)
    return;
  float sum = 0;
  for (int j = 0; j < Hidden; ++j)
    sum += hidden[(size_t)sample * Hidden + j] * weights[Inputs * Hidden + j];
  output[sample] = logistic(sum);
}

__global__ void outputError(const float *output, const float *target,
                            float *error, int count) {
  int sample = blockIdx.x * blockDim.x + threadIdx.x;
  if (sample < count)
    error[sample] = (target[sample] - output[sample]) * output[sample] *
                    (1.0f - output[sample]);
}

__global__ void hiddenError(const float *hidden, const float *weights,
                            const float *error, float *hiddenError, int count) {
  int unit = threadIdx.x;
  int sample = blockIdx.x * blockDim.y + threadIdx.y;
  if (sample >= count)
    return;
  size_t i = (size_t)sample * Hidden + unit;
  hiddenError[i] = hidden[i] * (1.0f - hidden[i]) * error[sample] *
                   weights[Inputs * Hidden + unit];
}

// A block sums the gradients of SamplesPerBlock samples; a thread for each
// weight of the first layer, and those of input 0 do the second layer too.
__global__ void gradients(const float *samples, const float *hidden,
                          const float *error, const float *hiddenError,
                          float *partial, int count) {
  int unit = threadIdx.x;
  int input = threadIdx.y;
  int first = blockIdx.x * SamplesPerBlock;
  int last = min(first + SamplesPerBlock, count);
  float sum = 0;
  for (int s = first; s < last; ++s)
    sum += samples[(size_t)s * Inputs + input] *
           hiddenError[(size_t)s * Hidden + unit];
  partial[(size_t)blockIdx.x * Weights + input * Hidden + unit] = sum;
  if (input == 0) {
    float outer = 0;
    for (int s = first; s < last; ++s)
      outer += hidden[(size_t)s * Hidden + unit] * error[s];
    partial[(size_t)blockIdx.x * Weights + Inputs * Hidden + unit] = outer;
  }
}

__global__ void update(float *weights, const float *partial, int blocks,
                       float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= Weights)
    return;
  float sum = 0;
  for (int b = 0; b < blocks; ++b)
    sum += partial[(size_t)b * Weights + i];
  weights[i] += scale * sum;
}

static float sampleAt(size_t i) { return uniform(mix(i, 1), -1, 1); }
static float targetAt(size_t i) {
  return sampleAt(i * Inputs) > sampleAt(i * Inputs + 1) ? 0.9f : 0.1f;
}
static float weightAt(size_t i) { return uniform(mix(i, 3), -0.5f, 0.5f); }

// The output for sample s; fills in its inputs and hidden units.
static float forward(const std::vector<float> &weights, size_t s, float *in,
                     float *hidden) {
  float sums[Hidden] = {};
  for (int i = 0; i < Inputs; ++i) {
    in[i] = sampleAt(s * Inputs + i);
    for (int j = 0; j < Hidden; ++j)
      sums[j] += in[i] * weights[i * Hidden + j];
  }
  float out = 0;
  for (int j = 0; j < Hidden; ++j) {
    hidden[j] = logistic(sums[j]);
    out += hidden[j] * weights[Inputs * Hidden + j];
  }
  return logistic(out);
}

// What a block adds up.
static void partialSums(const std::vector<float> &weights, size_t first,
                        size_t last, float *partial) {
  float in[Inputs], hidden[Hidden], back[Hidden];
  for (size_t s = first; s < last; ++s) {
    float out = forward(weights, s, in, hidden);
    float error = (targetAt(s) - out) * out * (1.0f - out);
    for (int j = 0; j < Hidden; ++j) {
      back[j] =
          hidden[j] * (1.0f - hidden[j]) * error * weights[Inputs * Hidden + j];
      partial[Inputs * Hidden + j] += hidden[j] * error;
    }
    for (int i = 0; i < Inputs; ++i)
      for (int j = 0; j < Hidden; ++j)
        partial[i * Hidden + j] += in[i] * back[j];
  }
}

static std::vector<float> trained(size_t count, int epochs) {
  std::vector<float> weights(Weights);
  for (int i = 0; i < Weights; ++i)
    weights[i] = weightAt(i);
  size_t blocks = (count + SamplesPerBlock - 1) / SamplesPerBlock;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    std::vector<float> partial(blocks * Weights);
    onAllCores(count, [&](size_t from, size_t to) {
      // The blocks that begin in [from, to).
      size_t b = (from + SamplesPerBlock - 1) / SamplesPerBlock;
      for (; b * SamplesPerBlock < to; ++b)
        partialSums(weights, b * SamplesPerBlock,
                    std::min((b + 1) * SamplesPerBlock, count),
                    &partial[b * Weights]);
    });
    for (int i = 0; i < Weights; ++i) {
      float sum = 0;
      for (size_t b = 0; b < blocks; ++b)
        sum += partial[b * Weights + i];
      weights[i] += Rate / (float)count * sum;
    }
  }
  return weights;
}

#endif // DRAGON_BENCH_LINK_BACKPROP_H
