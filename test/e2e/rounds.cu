// Random work that is done round after round, over more than the device has: what launches to come will read is foreseen then and
// fetched while others run. A round now and then is another one. Everything is done on the host as well, and compared.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program
// RUN: ./program 1
// RUN: %strict DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=256K ./program 1
//   On a device that puts off all it can (test/tools/late-runtime), contents are fetched ahead.
// RUN: for seed in 1 2 3 4 5 6 7 8; do \
// RUN:   env LD_LIBRARY_PATH=%libdir/../test/late LATE_SEED=$seed DRAGON_DEVICE_MEMORY=8M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=256K \
// RUN:     DRAGON_STATS=stats.json ./program $seed && %ledger stats.json 'foreseen_launches > 300' \
// RUN:   || { echo $seed; exit 1; }; done
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

constexpr int Buffers = 6, Words = 1 << 18, Ops = 32, Rounds = 14,
              Threads = 256;
constexpr int Weight = Words / 2;
constexpr int Rows = 64, Row = Words / Rows, Picked = 12, Streams = 2;

__global__ void add(uint32_t *to, const uint32_t *from, int begin, int count,
                    uint32_t factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    to[begin + i] += from[begin + i] * factor;
}

__global__ void overwrite(uint32_t *to, const uint32_t *from, uint32_t value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i] ^ value;
}

/// Row b of the result is the row that rows[b] says.
__global__ void pick(uint32_t *to, const uint32_t *from, const int *rows) {
  for (int i = threadIdx.x; i < Row; i += blockDim.x)
    to[blockIdx.x * Row + i] = from[rows[blockIdx.x] * Row + i] + blockIdx.x;
}

struct Op {
  enum Kind { Add, Overwrite, Pick, Fill, Copy, CopyIn } kind;
  int to, from, begin, count;
  uint32_t value;
};

class Program {
public:
  explicit Program(unsigned seed)
      : Random(seed), Host(Buffers, std::vector<uint32_t>(Words)) {
    for (int b = 0; b < Buffers; ++b) {
      CHECK(cudaMalloc(&Device[b], sizeof(uint32_t) * Words));
      for (int i = 0; i < Words; ++i)
        Host[b][i] = uint32_t(b * 7919 + i);
      CHECK(cudaMemcpy(Device[b], Host[b].data(), sizeof(uint32_t) * Words,
                       cudaMemcpyHostToDevice));
    }
    // Read only, each once in a round: they come and go.
    std::vector<uint32_t> weight(Weight);
    for (int w = 0; w < Ops; ++w) {
      CHECK(cudaMalloc(&Weights[w], sizeof(uint32_t) * Weight));
      std::iota(weight.begin(), weight.end(), uint32_t(w));
      CHECK(cudaMemcpy(Weights[w], weight.data(), sizeof(uint32_t) * Weight,
                       cudaMemcpyHostToDevice));
    }
    CHECK(cudaMalloc(&Indices, sizeof(int) * Picked * Ops));
    for (cudaStream_t &stream : Stream)
      CHECK(cudaStreamCreate(&stream));
    for (int i = 0; i < Ops; ++i)
      Work.push_back(any());
  }

  void run(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < Ops; ++i) {
        // Another one in this round, or from now on.
        const unsigned luck = Random() % 200;
        const Op other = any();
        if (luck == 0)
          Work[i] = other;
        issue(luck == 1 ? other : Work[i], i);
        if (Random() % 16 == 0)
          CHECK(cudaDeviceSynchronize());
      }
      CHECK(cudaDeviceSynchronize());
    }
  }

  bool isRight() {
    std::vector<uint32_t> got(Words);
    for (int b = 0; b < Buffers; ++b) {
      CHECK(cudaMemcpy(got.data(), Device[b], sizeof(uint32_t) * Words,
                       cudaMemcpyDeviceToHost));
      const auto [host, device] =
          std::mismatch(Host[b].begin(), Host[b].end(), got.begin());
      if (host != Host[b].end()) {
        printf("buffer %d, word %d: %u, not %u\n", b,
               int(host - Host[b].begin()), *device, *host);
        return false;
      }
    }
    return true;
  }

private:
  Op any() {
    Op op{};
    const unsigned kind = Random() % 16;
    op.kind = kind < 7    ? Op::Add
              : kind < 11 ? Op::Overwrite
              : kind < 13 ? Op::Pick
              : kind < 14 ? Op::Fill
              : kind < 15 ? Op::Copy
                          : Op::CopyIn;
    op.to = int(Random() % Buffers);
    op.from = int((op.to + 1 + Random() % (Buffers - 1)) % Buffers);
    const bool whole = Random() % 2;
    op.begin = whole ? 0 : int(Random() % (Words / 2));
    op.count = whole ? Words : int(1 + Random() % (Words / 2));
    op.value = uint32_t(Random());
    return op;
  }

  /// Work in a stream waits for that in the others.
  cudaStream_t next() {
    const cudaStream_t stream = Stream[Random() % Streams];
    if (Last && Last != stream) {
      cudaEvent_t event;
      CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
      CHECK(cudaEventRecord(event, Last));
      CHECK(cudaStreamWaitEvent(stream, event, 0));
      CHECK(cudaEventDestroy(event));
    }
    return Last = stream;
  }

  void issue(const Op &op, int number) {
    uint32_t *const to = Device[op.to], *const from = Device[op.from];
    std::vector<uint32_t> &hostTo = Host[op.to];
    const std::vector<uint32_t> &hostFrom = Host[op.from];
    const size_t bytes = sizeof(uint32_t) * size_t(op.count);
    const cudaStream_t stream = next();
    add<<<Weight / Threads, Threads, 0, stream>>>(to, Weights[number], 0,
                                                  Weight, 3);
    for (int i = 0; i < Weight; ++i)
      hostTo[i] += uint32_t(number + i) * 3;
    switch (op.kind) {
    case Op::Add:
      add<<<(op.count + Threads - 1) / Threads, Threads, 0, stream>>>(
          to, from, op.begin, op.count, op.value);
      for (int i = op.begin; i < op.begin + op.count; ++i)
        hostTo[i] += hostFrom[i] * op.value;
      break;
    case Op::Overwrite:
      overwrite<<<Words / Threads, Threads, 0, stream>>>(to, from, op.value);
      for (int i = 0; i < Words; ++i)
        hostTo[i] = hostFrom[i] ^ op.value;
      break;
    case Op::Pick: {
      int rows[Picked];
      for (int i = 0; i < Picked; ++i)
        rows[i] = int(op.value >> i) % 5 * 11 + i % 3;
      CHECK(cudaMemcpyAsync(Indices + number * Picked, rows, sizeof rows,
                            cudaMemcpyHostToDevice, stream));
      pick<<<Picked, Threads, 0, stream>>>(to, from, Indices + number * Picked);
      for (int b = 0; b < Picked; ++b)
        for (int i = 0; i < Row; ++i)
          hostTo[b * Row + i] = hostFrom[rows[b] * Row + i] + uint32_t(b);
      break;
    }
    case Op::Fill:
      CHECK(cudaMemsetAsync(to + op.begin, int(op.value & 255), bytes, stream));
      std::fill_n(hostTo.begin() + op.begin, op.count,
                  (op.value & 255) * 0x01010101u);
      break;
    case Op::Copy:
      CHECK(cudaMemcpyAsync(to + op.begin, from + op.begin, bytes,
                            cudaMemcpyDeviceToDevice, stream));
      std::copy_n(hostFrom.begin() + op.begin, op.count,
                  hostTo.begin() + op.begin);
      break;
    default:
      std::iota(hostTo.begin() + op.begin, hostTo.begin() + op.begin + op.count,
                op.value);
      CHECK(cudaMemcpyAsync(to + op.begin, hostTo.data() + op.begin, bytes,
                            cudaMemcpyHostToDevice, stream));
      // It is changed by what comes.
      CHECK(cudaStreamSynchronize(stream));
    }
    CHECK(cudaGetLastError());
  }

  std::minstd_rand Random;
  std::vector<std::vector<uint32_t>> Host;
  uint32_t *Device[Buffers], *Weights[Ops];
  int *Indices;
  cudaStream_t Stream[Streams];
  cudaStream_t Last = nullptr;
  std::vector<Op> Work;
};

int main(int argc, char **args) {
  Program program(unsigned(atoi(args[1])));
  program.run(argc > 2 ? atoi(args[2]) : Rounds);
  return program.isRight() ? 0 : 1;
}
