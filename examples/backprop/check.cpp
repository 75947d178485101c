//===- check.cpp - checks the outputs of backprop -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Trains in double precision, one pass over the sample file an epoch, on all
// cores. The program sums in float: 2048 terms a partial sum, then the partial
// sums; the relative error of a sum is far below 1e-4, and an epoch moves a
// weight by less than 0.1. Outputs are sums of 32 products under a logistic.
// Hence the tolerance 1e-5 for weights and outputs; leaving out a thousandth of
// the samples would exceed it.
//
//===----------------------------------------------------------------------===//
#include "../common/Files.h"
#include "../common/Parallel.h"

#include <array>
#include <cmath>
#include <mutex>

using namespace example;

namespace {
constexpr int Inputs = 32, Hidden = 32, Weights = Inputs * Hidden + Hidden;
constexpr uint64_t PieceSamples = 1u << 16;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

using WeightArray = std::array<double, Weights>;

/// The network's output for a sample; fills in the hidden activations.
double forward(const WeightArray &weights, const float *sample,
               double *hidden) {
  double sum[Hidden] = {};
  for (int i = 0; i < Inputs; ++i)
    for (int j = 0; j < Hidden; ++j)
      sum[j] += sample[i] * weights[i * Hidden + j];
  double out = 0;
  for (int j = 0; j < Hidden; ++j) {
    hidden[j] = logistic(sum[j]);
    out += hidden[j] * weights[Inputs * Hidden + j];
  }
  return logistic(out);
}

/// Adds a sample's gradient.
void backward(const WeightArray &weights, const float *sample,
              const double *hidden, double output, double target,
              WeightArray &gradient) {
  double error = (target - output) * output * (1 - output);
  double hiddenError[Hidden];
  for (int j = 0; j < Hidden; ++j) {
    hiddenError[j] =
        hidden[j] * (1 - hidden[j]) * error * weights[Inputs * Hidden + j];
    gradient[Inputs * Hidden + j] += hidden[j] * error;
  }
  for (int i = 0; i < Inputs; ++i)
    for (int j = 0; j < Hidden; ++j)
      gradient[i * Hidden + j] += sample[i] * hiddenError[j];
}
} // namespace

int main(int argc, char **argv) {
  if (argc != 8)
    fail("usage: check COUNT EPOCHS SAMPLES TARGETS WEIGHTS OUTPUTS TRAINED");
  const uint64_t count = parseCount(argv[1]), epochs = parseCount(argv[2]);
  const double rate = 4, tolerance = 1e-5;
  File samplesFile(argv[3], "rb"), targetsFile(argv[4], "rb"),
      weightsFile(argv[5], "rb"), outputsFile(argv[6], "rb"),
      trainedFile(argv[7], "rb");
  outputsFile.expectSize(count * sizeof(float));
  trainedFile.expectSize(Weights * sizeof(float));

  std::array<float, Weights> stored;
  weightsFile.read(stored.data(), sizeof(stored));
  WeightArray weights;
  std::copy(stored.begin(), stored.end(), weights.begin());

  std::vector<float> samples(PieceSamples * Inputs), targets(PieceSamples),
      outputs(PieceSamples);
  Report report;
  for (uint64_t epoch = 0; epoch <= epochs; ++epoch) {
    WeightArray gradient{};
    std::mutex mutex;
    samplesFile.seek(0);
    targetsFile.seek(0);
    for (uint64_t first = 0; first < count; first += PieceSamples) {
      uint64_t n = std::min(PieceSamples, count - first);
      samplesFile.read(samples.data(), n * Inputs * sizeof(float));
      targetsFile.read(targets.data(), n * sizeof(float));
      if (epoch == epochs)
        outputsFile.read(outputs.data(), n * sizeof(float));
      parallelFor(n, 256, [&](uint64_t begin, uint64_t end) {
        WeightArray mine{};
        for (uint64_t s = begin; s < end; ++s) {
          const float *sample = &samples[s * Inputs];
          double hidden[Hidden];
          double output = forward(weights, sample, hidden);
          if (epoch < epochs)
            backward(weights, sample, hidden, output, targets[s], mine);
          else if (!(std::fabs(outputs[s] - output) <= tolerance))
            report.wrong<double>(first + s, outputs[s], output);
        }
        std::lock_guard<std::mutex> lock(mutex);
        for (int i = 0; i < Weights; ++i)
          gradient[i] += mine[i];
      });
    }
    if (epoch < epochs)
      for (int i = 0; i < Weights; ++i)
        weights[i] += rate / static_cast<double>(count) * gradient[i];
  }

  trainedFile.read(stored.data(), sizeof(stored));
  for (int i = 0; i < Weights; ++i)
    if (!(std::fabs(stored[i] - weights[i]) <= tolerance))
      report.wrong<double>(count + i, stored[i], weights[i]);
  return report.finish(count + Weights);
}
