//===- fir.cu - a filter over a signal that arrives in windows ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A finite impulse response filter over a long signal. The signal arrives
// window by window; each window is uploaded behind the one before and filtered
// there, since the first results of a window need the last Taps - 1 samples of
// the previous one. The results stay on the device until the signal has ended.
//
// What is dead when: after the launch on a window, all samples up to its last
// Taps - 1 are never read again. The buffer as a whole stays in use (the next
// window is written into it), so only a directive on a range that slides with
// the window tells it. By hand, after each launch:
//
//   discard  signal[start, start + count)        all that no window needs again
//   prefetch signal[next start, + count + history), result[next start, + count)
//
// and the whole signal after the last one. Without them half of a device that
// is full holds input nobody wants, and it is written back to make room.
//
// Samples and coefficients are small whole numbers, and each sum stays below
// 2^24: floats hold them exactly, in any order of summation, fused or not. So
// the results must equal those of the host's integers.
//
//===----------------------------------------------------------------------===//
#include "Workload.h"

const int Taps = 63;
const int History = Taps - 1;
const int Threads = 256;

// In [-512, 512) and [-64, 64): a sum is below 63 * 512 * 64 < 2^21.
static int sampleAt(size_t i) {
  return (int)(hash32((uint32_t)i, 1) >> 22) - 512;
}
static int tapAt(int t) { return (int)(hash32(t, 2) >> 25) - 64; }

// signal[0] is the sample History before the first result.
__global__ void filter(const float *signal, const float *taps, float *result,
                       int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  float sum = 0;
  for (int t = 0; t < Taps; ++t)
    sum += taps[t] * signal[i + History - t];
  result[i] = sum;
}

// Result i as the definition has it, in integers.
static int expectedAt(size_t i) {
  int sum = 0;
  for (int t = 0; t < Taps && (size_t)t <= i; ++t)
    sum += tapAt(t) * sampleAt(i - t);
  return sum;
}

int main(int argc, char **argv) {
  std::vector<Option> options = {
      {"--size", 64, "footprint in MiB"},
      {"--windows", 16, "windows that the signal arrives in"}};
  parseOptions(argc, argv, options);
  size_t size = (size_t)options[0].value << 20;
  size_t windows = options[1].value;

  // Half of the footprint is signal, half result. An odd window: its ends are
  // nowhere near those of pages and chunks.
  size_t total = size / 2 / sizeof(float);
  size_t window = (total / windows + 1) | 1;
  if (window > 1u << 30) {
    fprintf(stderr,
            "fir: a window has %zu samples, at most 2^30 are possible; "
            "use more windows\n",
            window);
    return 2;
  }
  size_t signalBytes = (total + History) * sizeof(float);
  size_t resultBytes = total * sizeof(float);

  float *h_taps = (float *)malloc(Taps * sizeof(float));
  float *h_window = (float *)malloc(window * sizeof(float));
  float *h_result = (float *)malloc(resultBytes);
  if (!h_taps || !h_window || !h_result) {
    fprintf(stderr, "fir: no host memory for %zu bytes\n", resultBytes);
    return 2;
  }
  for (int t = 0; t < Taps; ++t)
    h_taps[t] = (float)tapAt(t);

  DeviceTime time;
  time.start();
  float *d_signal, *d_result, *d_taps;
  CHECK(cudaMalloc(&d_signal, signalBytes));
  CHECK(cudaMalloc(&d_result, resultBytes));
  CHECK(cudaMalloc(&d_taps, Taps * sizeof(float)));
  CHECK(
      cudaMemcpy(d_taps, h_taps, Taps * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(d_signal, 0, History * sizeof(float))); // silence before
  time.stop();

  for (size_t start = 0; start < total; start += window) {
    size_t count = total - start < window ? total - start : window;
    onAllCores(count, [=](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i)
        h_window[i] = (float)sampleAt(start + i);
    });
    time.start();
    CHECK(cudaMemcpy(d_signal + History + start, h_window,
                     count * sizeof(float), cudaMemcpyHostToDevice));
    int blocks = (int)((count + Threads - 1) / Threads);
    filter<<<blocks, Threads>>>(d_signal + start, d_taps, d_result + start,
                                (int)count);
    CHECK(cudaGetLastError());
    time.stop();
  }

  time.start();
  CHECK(cudaMemcpy(h_result, d_result, resultBytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_signal));
  CHECK(cudaFree(d_result));
  CHECK(cudaFree(d_taps));
  time.stop();

  std::atomic<uint64_t> wrong{0};
  onAllCores(total, [&](size_t first, size_t last) {
    uint64_t differ = 0;
    for (size_t i = first; i < last; ++i)
      differ += h_result[i] != (float)expectedAt(i);
    wrong += differ;
  });
  uint64_t sum = checksum(h_result, total);
  free(h_taps);
  free(h_window);
  free(h_result);
  return finish("fir", signalBytes + resultBytes + Taps * sizeof(float), time,
                sum, wrong, total);
}
