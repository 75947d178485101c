//===- shapes.cu - what a launch costs where everything fits --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops of small launches, one for each way in which programs have buffers,
// streams, events and graphs. Prints, for each, the microseconds of a launch:
// the best of five loops, each until the device is done.
//
//   shapes LAUNCHES [NAME...]
//
//===----------------------------------------------------------------------===//
#include "../Check.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

constexpr int Words = 1024;
constexpr size_t Bytes = Words * sizeof(int);
constexpr dim3 Grid(4), Block(256);

__device__ int indexOf() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void increment(int *data) { data[indexOf()] += 1; }
__global__ void add4(int *a, const int *b, const int *c, const int *d) {
  int i = indexOf();
  a[i] += b[i] + c[i] + d[i] + 1;
}
__global__ void add16(int *a, const int *b, const int *c, const int *d,
                      const int *e, const int *f, const int *g, const int *h,
                      const int *j, const int *k, const int *l, const int *m,
                      const int *n, const int *o, const int *p, const int *q) {
  int i = indexOf();
  a[i] += b[i] + c[i] + d[i] + e[i] + f[i] + g[i] + h[i] + j[i] + k[i] + l[i] +
          m[i] + n[i] + o[i] + p[i] + q[i] + 1;
}
/// Writes `where` if `data` says so: the compiler cannot know.
__global__ void conditional(int *data, int *where) {
  int i = indexOf();
  if (data[i] == -1)
    where[i] = i;
  data[i] += 1;
}
__global__ void produce(int *scratch, const int *data) {
  scratch[indexOf()] = data[indexOf()] + 1;
}
__global__ void consume(int *data, const int *scratch) {
  data[indexOf()] = scratch[indexOf()];
}
struct Table {
  int *data;
  int by;
};
__global__ void byStruct(Table table) { table.data[indexOf()] += table.by; }

double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void fail(const std::string &what) {
  std::fprintf(stderr, "error: %s\n", what.c_str());
  std::exit(1);
}

int *zeros(size_t bytes = Bytes) {
  int *memory;
  CHECK(cudaMalloc(&memory, bytes));
  CHECK(cudaMemset(memory, 0, bytes));
  return memory;
}

int launches;

/// Microseconds of one of `count` launches that `loop` makes.
double best(const std::function<void()> &loop, int count) {
  double least = 1e9;
  for (int round = 0; round < 5; ++round) {
    CHECK(cudaDeviceSynchronize());
    const double begin = now();
    loop();
    CHECK(cudaDeviceSynchronize());
    least = std::min(least, now() - begin);
  }
  return 1e6 * least / count;
}
double best(const std::function<void()> &loop) { return best(loop, launches); }

/// Each of five loops has added `each` to every word.
void expect(const int *data, int each) {
  std::vector<int> found(Words);
  CHECK(cudaMemcpy(found.data(), data, Bytes, cudaMemcpyDeviceToHost));
  for (int i = 0; i < Words; ++i)
    if (found[i] != 5 * each)
      fail("word " + std::to_string(i) + " is " + std::to_string(found[i]) +
           ", not " + std::to_string(5 * each));
}

double loopOn(int *data) {
  return best([&] {
    for (int i = 0; i < launches; ++i)
      increment<<<Grid, Block>>>(data);
  });
}

double onePointer() {
  int *data = zeros();
  const double time = loopOn(data);
  expect(data, launches);
  CHECK(cudaFree(data));
  return time;
}

double fourPointers() {
  int *a = zeros(), *b = zeros(), *c = zeros(), *d = zeros();
  const double time = best([&] {
    for (int i = 0; i < launches; ++i)
      add4<<<Grid, Block>>>(a, b, c, d);
  });
  expect(a, launches);
  for (int *memory : {a, b, c, d})
    CHECK(cudaFree(memory));
  return time;
}

double sixteenPointers() {
  int *m[16];
  for (int *&memory : m)
    memory = zeros(4 << 20);
  const double time = best([&] {
    for (int i = 0; i < launches; ++i)
      add16<<<Grid, Block>>>(m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7],
                             m[8], m[9], m[10], m[11], m[12], m[13], m[14],
                             m[15]);
  });
  expect(m[0], launches);
  for (int *memory : m)
    CHECK(cudaFree(memory));
  return time;
}

double inStruct() {
  Table table{zeros(), 1};
  const double time = best([&] {
    for (int i = 0; i < launches; ++i)
      byStruct<<<Grid, Block>>>(table);
  });
  expect(table.data, launches);
  CHECK(cudaFree(table.data));
  return time;
}

double conditionallyWritten() {
  int *data = zeros(), *where;
  CHECK(cudaMalloc(&where, Bytes)); // never initialised
  const double time = best([&] {
    for (int i = 0; i < launches; ++i)
      conditional<<<Grid, Block>>>(data, where);
  });
  expect(data, launches);
  CHECK(cudaFree(data));
  CHECK(cudaFree(where));
  return time;
}

double partlyWritten() {
  int *data;
  CHECK(cudaMalloc(&data, 256 << 20));
  CHECK(cudaMemset(data, 0, Bytes));
  const double time = loopOn(data);
  expect(data, launches);
  CHECK(cudaFree(data));
  return time;
}

double scratch() {
  int *data = zeros(), *between;
  CHECK(cudaMalloc(&between, Bytes));
  const double time = best([&] {
    for (int i = 0; i < launches / 2; ++i) {
      produce<<<Grid, Block>>>(between, data);
      consume<<<Grid, Block>>>(data, between);
    }
  });
  expect(data, launches / 2);
  CHECK(cudaFree(data));
  CHECK(cudaFree(between));
  return time;
}

double subAllocated() {
  char *pool;
  CHECK(cudaMalloc(&pool, 64 << 20));
  int *data = reinterpret_cast<int *>(pool + (5 << 20) + 256);
  CHECK(cudaMemset(data, 0, Bytes));
  const double time = loopOn(data);
  expect(data, launches);
  CHECK(cudaFree(pool));
  return time;
}

double managed() {
  int *data;
  CHECK(cudaMallocManaged(&data, Bytes));
  CHECK(cudaMemset(data, 0, Bytes));
  CHECK(cudaDeviceSynchronize());
  const double time = loopOn(data);
  expect(data, launches);
  CHECK(cudaFree(data));
  return time;
}

double streamOrdered() {
  int *data;
  CHECK(cudaMallocAsync(&data, Bytes, nullptr));
  CHECK(cudaMemsetAsync(data, 0, Bytes));
  const double time = loopOn(data);
  expect(data, launches);
  CHECK(cudaFreeAsync(data, nullptr));
  CHECK(cudaDeviceSynchronize());
  return time;
}

double manyBuffers() {
  std::vector<int *> others(1000);
  for (int *&other : others)
    CHECK(cudaMalloc(&other, 4096));
  int *data = zeros();
  const double time = loopOn(data);
  expect(data, launches);
  for (int *other : others)
    CHECK(cudaFree(other));
  CHECK(cudaFree(data));
  return time;
}

struct Streams {
  explicit Streams(int number) : all(number) {
    for (cudaStream_t &stream : all)
      CHECK(cudaStreamCreate(&stream));
  }
  ~Streams() {
    for (cudaStream_t stream : all)
      CHECK(cudaStreamDestroy(stream));
  }
  std::vector<cudaStream_t> all;
};

double streams(int number) {
  Streams streams(number);
  std::vector<int *> data;
  for (int i = 0; i < number; ++i)
    data.push_back(zeros());
  const double time = best([&] {
    for (int i = 0; i < launches; ++i)
      increment<<<Grid, Block, 0, streams.all[i % number]>>>(data[i % number]);
  });
  expect(data[0], (launches + number - 1) / number);
  for (int *memory : data)
    CHECK(cudaFree(memory));
  return time;
}

/// A launch, an event behind it, another stream that waits for it, a launch.
double events() {
  Streams streams(2);
  cudaEvent_t done;
  CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  int *data = zeros();
  const double time = best([&] {
    for (int i = 0; i < launches; ++i) {
      increment<<<Grid, Block, 0, streams.all[i % 2]>>>(data);
      CHECK(cudaEventRecord(done, streams.all[i % 2]));
      CHECK(cudaStreamWaitEvent(streams.all[1 - i % 2], done, 0));
    }
  });
  expect(data, launches);
  CHECK(cudaEventDestroy(done));
  CHECK(cudaFree(data));
  return time;
}

double waitedFor() {
  int *data = zeros();
  const int count = std::max(1, launches / 4);
  const double time = best(
      [&] {
        for (int i = 0; i < count; ++i) {
          increment<<<Grid, Block>>>(data);
          CHECK(cudaStreamSynchronize(nullptr));
        }
      },
      count);
  expect(data, count);
  CHECK(cudaFree(data));
  return time;
}

/// A launch and a copy of four bytes, as loops that converge have them.
double askedForResult() {
  int *data = zeros();
  const int count = std::max(1, launches / 4);
  int result = 0;
  const double time = best(
      [&] {
        for (int i = 0; i < count; ++i) {
          increment<<<Grid, Block>>>(data);
          CHECK(cudaMemcpy(&result, data, sizeof(int), cudaMemcpyDeviceToHost));
        }
      },
      count);
  expect(data, count);
  CHECK(cudaFree(data));
  return time;
}

/// A fill of another buffer in front of each launch, as networks clear their
/// gradients.
double cleared() {
  int *data = zeros(), *other = zeros();
  const double time = best([&] {
    for (int i = 0; i < launches; ++i) {
      CHECK(cudaMemsetAsync(other, 0, Bytes));
      increment<<<Grid, Block>>>(data);
    }
  });
  expect(data, launches);
  expect(other, 0);
  CHECK(cudaFree(data));
  CHECK(cudaFree(other));
  return time;
}

/// 4 KiB of input for each launch.
double givenInput() {
  int *data = zeros(), *input = zeros();
  const std::vector<int> ones(Words, 1);
  const int count = std::max(1, launches / 4);
  const double time = best(
      [&] {
        for (int i = 0; i < count; ++i) {
          CHECK(cudaMemcpy(input, ones.data(), Bytes, cudaMemcpyHostToDevice));
          add4<<<Grid, Block>>>(data, input, input, input);
        }
      },
      count);
  expect(data, 4 * count);
  CHECK(cudaFree(data));
  CHECK(cudaFree(input));
  return time;
}

/// And a copy from one buffer to another.
double copiedOver() {
  int *data = zeros(), *before = zeros();
  const double time = best([&] {
    for (int i = 0; i < launches; ++i) {
      CHECK(cudaMemcpyAsync(before, data, Bytes, cudaMemcpyDeviceToDevice));
      increment<<<Grid, Block>>>(data);
    }
  });
  expect(data, launches);
  CHECK(cudaFree(data));
  CHECK(cudaFree(before));
  return time;
}

/// 20 launches in a graph.
double graph() {
  Streams streams(1);
  int *data = zeros();
  constexpr int Nodes = 20;
  cudaGraph_t recorded;
  cudaGraphExec_t ready;
  CHECK(cudaStreamBeginCapture(streams.all[0], cudaStreamCaptureModeGlobal));
  for (int i = 0; i < Nodes; ++i)
    increment<<<Grid, Block, 0, streams.all[0]>>>(data);
  CHECK(cudaStreamEndCapture(streams.all[0], &recorded));
  CHECK(cudaGraphInstantiate(&ready, recorded, 0));
  const int count = std::max(1, launches / Nodes);
  const double time = best(
      [&] {
        for (int i = 0; i < count; ++i)
          CHECK(cudaGraphLaunch(ready, streams.all[0]));
      },
      count * Nodes);
  expect(data, count * Nodes);
  CHECK(cudaGraphExecDestroy(ready));
  CHECK(cudaGraphDestroy(recorded));
  CHECK(cudaFree(data));
  return time;
}

struct Shape {
  const char *name;
  std::function<double()> run;
};
const Shape Shapes[] = {{"one pointer", onePointer},
                        {"four pointers", fourPointers},
                        {"sixteen pointers", sixteenPointers},
                        {"pointer in a struct", inStruct},
                        {"written under a condition", conditionallyWritten},
                        {"written in part", partlyWritten},
                        {"scratch, dead each time", scratch},
                        {"part of a pool", subAllocated},
                        {"managed", managed},
                        {"stream-ordered", streamOrdered},
                        {"beside 1000 buffers", manyBuffers},
                        {"8 streams", [] { return streams(8); }},
                        {"16 streams", [] { return streams(16); }},
                        {"event and wait", events},
                        {"waited for", waitedFor},
                        {"result asked for", askedForResult},
                        {"beside a fill", cleared},
                        {"given 4 KiB each", givenInput},
                        {"beside a copy", copiedOver},
                        {"in a graph of 20", graph}};

} // namespace

int main(int argc, char **argv) {
  launches = argc > 1 ? std::max(2, std::atoi(argv[1]) / 2 * 2) : 10000;
  CHECK(cudaFree(nullptr));
  onePointer(); // the device reaches its clocks
  const char *separator = "{";
  for (const Shape &shape : Shapes) {
    if (argc > 2 && std::none_of(argv + 2, argv + argc, [&](const char *name) {
          return std::strcmp(name, shape.name) == 0;
        }))
      continue;
    std::printf("%s\"%s\": %.4f", separator, shape.name, shape.run());
    separator = ", ";
  }
  std::printf("%s\n", *separator == '{' ? "{}" : "}");
  return 0;
}
