//===- backprop.cu - training of a small network on many samples ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "backprop.h"

#include <algorithm>

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

  start(bench,
        sampleBytes + 2 * hiddenBytes + 3 * oneBytes + weightBytes +
            partialBytes,
        sampleBytes + oneBytes + weightBytes, oneBytes + weightBytes);
  FILE *outputsFile = create(outputs), *learnedFile = create(learned);
  float *d_samples, *d_targets, *d_weights, *d_hidden, *d_output, *d_error,
      *d_hiddenError, *d_partial;
  CHECK(cudaMalloc(&d_samples, sampleBytes));
  CHECK(cudaMalloc(&d_targets, oneBytes));
  CHECK(cudaMalloc(&d_weights, weightBytes));
  CHECK(cudaMalloc(&d_hidden, hiddenBytes));
  CHECK(cudaMalloc(&d_output, oneBytes));
  CHECK(cudaMalloc(&d_error, oneBytes));
  CHECK(cudaMalloc(&d_hiddenError, hiddenBytes));
  CHECK(cudaMalloc(&d_partial, partialBytes));
  load(d_samples, samples, sampleBytes, bench);
  load(d_targets, targets, oneBytes, bench);
  load(d_weights, weights, weightBytes, bench);
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
  store(outputs, outputsFile, d_output, oneBytes, bench);
  store(learned, learnedFile, d_weights, weightBytes, bench);
  stored(bench);
  CHECK(cudaFree(d_samples));
  CHECK(cudaFree(d_targets));
  CHECK(cudaFree(d_weights));
  CHECK(cudaFree(d_hidden));
  CHECK(cudaFree(d_output));
  CHECK(cudaFree(d_error));
  CHECK(cudaFree(d_hiddenError));
  CHECK(cudaFree(d_partial));

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
