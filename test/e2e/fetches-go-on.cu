// Copies that were deferred are made by threads that go on while slices are prepared. When a launch returns the program's memory is not
// read any more: the program may change it at once, whether the compiler has seen that it does or the runtime hears of it.
//
// RUN: %build %s -o %t
// RUN: for case in seen heard together again; do for library in %libdir %libdir/../test/late; do \
// RUN:   env LD_LIBRARY_PATH=$library %plain DRAGON_DEVICE_MEMORY=40M DRAGON_HOST_MEMORY=512M DRAGON_CHUNK_SIZE=4M %t $case \
// RUN:   || { echo $case $library; exit 1; }; done; done
// RUN: env LD_LIBRARY_PATH=%libdir/../test/late %plain DRAGON_DEVICE_MEMORY=40M DRAGON_HOST_MEMORY=512M DRAGON_CHUNK_SIZE=4M DRAGON_STATS=%t.json %t seen
// RUN: %ledger %t.json 'host_to_device >= 96*M' 'host_to_device < 112*M'
// RUN: rm %t %t.json
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define CHECK(call)                                                            \
  do {                                                                         \
    if (cudaError_t error = (call)) {                                          \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,                       \
              cudaGetErrorString(error));                                      \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

constexpr size_t Words = size_t(12) << 20; // 48 MiB
constexpr int Threads = 256;

__global__ void add(uint32_t *c, const uint32_t *a, const uint32_t *b) {
  const size_t i = blockIdx.x * size_t(Threads) + threadIdx.x;
  c[i] = a[i] + b[i];
}

__global__ void smooth(uint32_t *to, const uint32_t *from, size_t n) {
  const size_t i = blockIdx.x * size_t(Threads) + threadIdx.x;
  to[i] = from[i] + from[i > 0 ? i - 1 : 0] + from[i + 1 < n ? i + 1 : n - 1];
}

static uint32_t number(size_t i, uint32_t seed) {
  return uint32_t(i) * 2654435761u + seed;
}

static uint32_t *filled(uint32_t seed) {
  auto *memory = static_cast<uint32_t *>(malloc(Words * sizeof(uint32_t)));
  for (size_t i = 0; i < Words; ++i)
    memory[i] = number(i, seed);
  return memory;
}

static void require(bool right, const char *what, size_t i) {
  if (right)
    return;
  printf("%s: wrong at %zu\n", what, i);
  exit(1);
}

static uint32_t *volatile everybody; // nobody knows who has it

struct Buffers {
  uint32_t *a, *b, *c;
  Buffers() {
    for (uint32_t **buffer : {&a, &b, &c})
      CHECK(cudaMalloc(buffer, Words * sizeof(uint32_t)));
  }
  ~Buffers() {
    for (uint32_t *buffer : {a, b, c})
      CHECK(cudaFree(buffer));
  }
};

static void copyTo(uint32_t *device, const uint32_t *host) {
  CHECK(cudaMemcpy(device, host, Words * sizeof(uint32_t),
                   cudaMemcpyHostToDevice));
}

static void checkSums(const uint32_t *device, uint32_t seeds) {
  std::vector<uint32_t> c(Words);
  CHECK(cudaMemcpy(c.data(), device, Words * sizeof(uint32_t),
                   cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < Words; ++i)
    require(c[i] == number(i, 0) + number(i, 0) + seeds, "sum", i);
}

/// `rounds` launches; what they have read is overwritten when they return.
static void sums(bool hidden, int rounds) {
  Buffers on;
  uint32_t *a = filled(1), *b = filled(2);
  if (hidden) {
    everybody = a;
    everybody = b;
  }
  for (int round = 0; round < rounds; ++round) {
    copyTo(on.a, a);
    copyTo(on.b, b);
    add<<<Words / Threads, Threads>>>(on.c, on.a, on.b);
    for (size_t i = Words; i-- > 0;) // what was fetched last comes first
      a[i] = number(i, 10 + round);
    checkSums(on.c, (round ? 9 + round : 1) + 2);
  }
  free(a);
  free(b);
}

/// Two launches that run slice by slice, one behind the other.
static void together() {
  Buffers on;
  uint32_t *a = filled(5);
  everybody = a;
  copyTo(on.a, a);
  smooth<<<Words / Threads, Threads>>>(on.b, on.a, Words);
  smooth<<<Words / Threads, Threads>>>(on.c, on.b, Words);
  for (size_t i = Words; i-- > 0;)
    a[i] = 0;
  std::vector<uint32_t> c(Words);
  CHECK(cudaMemcpy(c.data(), on.c, Words * sizeof(uint32_t),
                   cudaMemcpyDeviceToHost));
  for (size_t i = 2; i + 2 < Words; ++i) {
    auto of = [i](int by) { return number(size_t(int64_t(i) + by), 5); };
    require(c[i] == of(-2) + 2 * of(-1) + 3 * of(0) + 2 * of(1) + of(2),
            "smoothed", i);
  }
  free(a);
}

int main(int argc, char **argv) {
  const std::string only = argc > 1 ? argv[1] : "";
  if (only.empty() || only == "seen")
    sums(false, 1);
  if (only.empty() || only == "heard")
    sums(true, 1);
  if (only.empty() || only == "together")
    together();
  if (only.empty() || only == "again")
    sums(true, 3);
  printf("right\n");
  return 0;
}
