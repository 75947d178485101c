//===- launches.cu - launches while another thread waits for files --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   launches FILE MIB SECONDS
//
// One thread launches a small kernel on a buffer of its own again and again:
// alone first, then beside a thread that maps the file, sums it up by a kernel
// and unmaps it, with the page cache emptied of it each time. Prints launches,
// seconds and the longest call in seconds of both, and how often the file was
// summed up.
//
//===----------------------------------------------------------------------===//

#include <dragon/dragon.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <fcntl.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void check(bool good, const char *what) {
  if (good)
    return;
  std::fprintf(stderr, "error: %s\n", what);
  std::exit(1);
}

__global__ void addOne(int *values) { values[threadIdx.x] += 1; }

__global__ void sumUp(const unsigned *values, size_t count,
                      unsigned long long *sum) {
  const size_t at = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at < count)
    atomicAdd(sum, static_cast<unsigned long long>(values[at]));
}

struct Launches {
  size_t number = 0;
  double seconds = 0;
  double longest = 0;
};

Launches launchFor(double seconds, int *values, cudaStream_t stream) {
  Launches result;
  const auto begin = Clock::now();
  while ((result.seconds = secondsSince(begin)) < seconds) {
    const auto call = Clock::now();
    addOne<<<1, 32, 0, stream>>>(values);
    result.longest = std::max(result.longest, secondsSince(call));
    // Only so many may be in the stream, or a full one is what is measured.
    if (++result.number % 64 == 0)
      check(cudaStreamSynchronize(stream) == cudaSuccess, "synchronize");
  }
  return result;
}

void forgetFile(const char *path) {
  const int file = open(path, O_RDONLY);
  check(file >= 0 && posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0,
        "the file cannot be opened");
  close(file);
}

} // namespace

int main(int argc, char **argv) {
  check(argc == 4, "launches FILE MIB SECONDS");
  const char *path = argv[1];
  const size_t bytes = std::strtoull(argv[2], nullptr, 10) << 20;
  const size_t count = bytes / sizeof(unsigned);
  const double seconds = std::atof(argv[3]);
  {
    std::vector<unsigned> part(1 << 18, 3);
    std::FILE *file = std::fopen(path, "wb");
    check(file, "the file cannot be made");
    for (size_t done = 0; done < count; done += part.size())
      check(std::fwrite(part.data(), sizeof(unsigned), part.size(), file) ==
                part.size(),
            "the file cannot be written");
    check(fsync(fileno(file)) == 0 && std::fclose(file) == 0, "fsync");
  }
  int *values = nullptr;
  unsigned long long *sum = nullptr;
  cudaStream_t stream = nullptr, other = nullptr;
  check(cudaMalloc(&values, 32 * sizeof(int)) == cudaSuccess &&
            cudaMalloc(&sum, sizeof(*sum)) == cudaSuccess &&
            cudaMemset(values, 0, 32 * sizeof(int)) == cudaSuccess &&
            cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) ==
                cudaSuccess &&
            cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking) ==
                cudaSuccess,
        "no device");
  size_t launched = launchFor(0.1, values, stream).number;
  const Launches alone = launchFor(seconds, values, stream);

  std::atomic<bool> ends{false};
  size_t times = 0;
  bool right = true;
  std::thread reader([&] {
    for (; !ends || !times; ++times) {
      forgetFile(path);
      void *map = nullptr;
      check(dragon_map(path, bytes, 0, D_READ, &map) == 0, "map");
      check(cudaMemsetAsync(sum, 0, sizeof(*sum), other) == cudaSuccess,
            "memset");
      sumUp<<<unsigned((count + 255) / 256), 256, 0, other>>>(
          static_cast<const unsigned *>(map), count, sum);
      unsigned long long found = 0;
      check(cudaMemcpyAsync(&found, sum, sizeof(found), cudaMemcpyDeviceToHost,
                            other) == cudaSuccess &&
                cudaStreamSynchronize(other) == cudaSuccess,
            "copy");
      right &= found == 3ull * count;
      check(dragon_unmap(map) == 0, "unmap");
    }
  });
  const Launches beside = launchFor(seconds, values, stream);
  ends = true;
  reader.join();

  launched += alone.number + beside.number;
  int found[32];
  check(cudaMemcpy(found, values, sizeof(found), cudaMemcpyDeviceToHost) ==
            cudaSuccess,
        "copy");
  for (int value : found)
    right &= size_t(value) == launched;
  std::printf("%zu %f %f %zu %f %f %zu %s\n", alone.number, alone.seconds,
              alone.longest, beside.number, beside.seconds, beside.longest,
              times, right ? "right" : "wrong");
  return right ? 0 : 1;
}
