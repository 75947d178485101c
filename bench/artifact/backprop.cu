//===- backprop.cu - training of a small network on many samples ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Maps.h"

#include "../link/backprop.h"

// What is computed for each sample is intermediate. The weights are read and
// written in place, in a file that begins as a copy of the first ones.
int main(int argc, char **argv) {
  Bench bench("backprop", argc, argv, 1);
  const size_t perSample = (Inputs + 2 * Hidden + 3) * sizeof(float);
  int count = (int)((bench.size / perSample) | 1);
  int epochs = bench.steps;
  int sumBlocks = (count + SamplesPerBlock - 1) / SamplesPerBlock;
  size_t sampleBytes = (size_t)count * Inputs * sizeof(float);
  size_t hiddenBytes = (size_t)count * Hidden * sizeof(float);
  size_t oneBytes = (size_t)count * sizeof(float);
  size_t weightBytes = Weights * sizeof(float);
  size_t partialBytes = (size_t)sumBlocks * Weights * sizeof(float);
  Input samples(bench, "samples", (size_t)count * Inputs, sizeof(float),
                each<float, sampleAt>);
  Input targets(bench, "targets", count, sizeof(float), each<float, targetAt>);
  Input weights(bench, "weights", Weights, sizeof(float),
                each<float, weightAt>);
  Output outputs(bench, "outputs", count, sizeof(float));
  Output learned(bench, "learned", Weights, sizeof(float));
  Between hidden(bench, "hidden"), error(bench, "error"),
      hiddenErrors(bench, "hiddenErrors"), partial(bench, "partial");

  start(bench,
        sampleBytes + 2 * hiddenBytes + 3 * oneBytes + weightBytes +
            partialBytes,
        sampleBytes + oneBytes + weightBytes, oneBytes + weightBytes);
  float *d_samples = map<float>(samples, sampleBytes, D_F_READ);
  float *d_targets = map<float>(targets, oneBytes, D_F_READ);
  float *d_first = map<float>(weights, weightBytes, D_F_READ);
  float *d_weights =
      map<float>(learned, weightBytes, D_F_READ | D_F_WRITE | D_F_CREATE);
  float *d_output = map<float>(outputs, oneBytes, D_F_WRITE | D_F_CREATE);
  float *d_hidden = map<float>(hidden, hiddenBytes, Intermediate);
  float *d_error = map<float>(error, oneBytes, Intermediate);
  float *d_hiddenError = map<float>(hiddenErrors, hiddenBytes, Intermediate);
  float *d_partial = map<float>(partial, partialBytes, Intermediate);
  memcpy(d_weights, d_first, weightBytes);
  loaded(bench);

  dim3 unitThreads(Hidden, 8);
  int unitBlocks = (count + 7) / 8;
  int threads = 256;
  int blocks = (count + threads - 1) / threads;
  for (int epoch = 0;; ++epoch) {
    forwardHidden<<<unitBlocks, unitThreads>>>(d_samples, d_weights, d_hidden,
                                               count);
    forwardOutput<<<blocks, threads>>>(d_hidden, d_weights, d_output, count);
    if (epoch == epochs)
      break;
    outputError<<<blocks, threads>>>(d_output, d_targets, d_error, count);
    hiddenError<<<unitBlocks, unitThreads>>>(d_hidden, d_weights, d_error,
                                             d_hiddenError, count);
    gradients<<<sumBlocks, dim3(Hidden, Inputs)>>>(
        d_samples, d_hidden, d_error, d_hiddenError, d_partial, count);
    update<<<(Weights + 127) / 128, 128>>>(d_weights, d_partial, sumBlocks,
                                           Rate / (float)count);
  }
  computed(bench);
  MAP(dragon_unmap(d_weights));
  MAP(dragon_unmap(d_output));
  stored(bench);
  for (float *each : {d_samples, d_targets, d_first, d_hidden, d_error,
                      d_hiddenError, d_partial})
    MAP(dragon_unmap(each));
  for (const Between *each : {&hidden, &error, &hiddenErrors, &partial})
    remove(each->path.c_str());

  Verdict verdict;
  std::vector<float> right = trained((size_t)count, epochs);
  auto rightWeight = [&](size_t i) { return right[i]; };
  auto rightOutput = [&](size_t s) {
    float in[Inputs], hidden[Hidden];
    return forward(right, s, in, hidden);
  };
  check<float>(learned, All, rightWeight, verdict);
  check<float>(outputs, size_t{1} << 20, rightOutput, verdict);
  return bench.finish(verdict);
}
