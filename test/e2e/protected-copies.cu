// Copies to the device of memory of which the compiler cannot show that it stays as it is: they are made when kernels need them
// all the same, and whatever the program does with that memory afterwards, kernels see the bytes of the call.
// RUN: %build %s -Rpass-missed=dragon -o %t 2> %t.remarks
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: for case in reread changed byThread byChildToo freed reused reallocated unmapped discarded moved readInto copiedBack \
// RUN:   onStack neighbours again sameAgain registered makesReadOnly; do \
// RUN:   %plain %t $case && %tight DRAGON_HOST_MEMORY=64M %t $case && %tight %t $case && %tight DRAGON_PROTECT=0 %t $case \
// RUN:   || { echo $case; exit 1; }; done
// RUN: %tight DRAGON_HOST_MEMORY=64M DRAGON_STATS=%t.json %t reread
// RUN: %ledger %t.json 'avoided_deferred_copies == 12*M' 'device_to_host < K'
// RUN: %tight DRAGON_HOST_MEMORY=64M DRAGON_STATS=%t.json %t freed
// RUN: %ledger %t.json 'avoided_deferred_copies == 12*M'
// RUN: %tight DRAGON_HOST_MEMORY=64M DRAGON_PROTECT=0 DRAGON_STATS=%t.json %t reread
// RUN: %ledger %t.json 'avoided_deferred_copies == 0'
// RUN: rm %t %t.json %t.remarks
#include "sums.h"
#include <functional>
#include <map>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

// REMARK: copy of {{.*}} not deferred
static uint32_t *filled(uint32_t first) {
  auto *h = static_cast<uint32_t *>(allocate(Bytes));
  refill(h, first);
  return h;
}

static void *mapped(size_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  return memory;
}

static void reread() {
  Sums d;
  uint32_t *h = filled(1);
  d.copyIn(h);
  for (int round = 0; round < 3; ++round)
    REQUIRE(d.has(1));
  REQUIRE(h[5] == 6); // to read it does no harm
  release(h);
}

/// Before and after the first use.
static void changed() {
  Sums d;
  uint32_t *h = filled(2);
  d.copyIn(h);
  h[N / 2] = 12345;
  REQUIRE(d.has(2) && h[N / 2] == 12345);
  refill(h, 77);
  REQUIRE(d.has(2) && h[N - 1] == 77 + (N - 1) % 16);
  d.copyIn(h);
  memset(h, 0, Bytes);
  REQUIRE(d.has(77));
  release(h);
}

static void byThread() {
  Sums d;
  uint32_t *h = filled(3);
  d.copyIn(h);
  std::thread writers[3];
  for (int i = 0; i < 3; ++i)
    writers[i] = std::thread([=] {
      for (uint32_t k = i; k < N; k += 3)
        h[k] = k;
    });
  REQUIRE(d.has(3));
  for (std::thread &writer : writers)
    writer.join();
  REQUIRE(d.has(3));
  for (uint32_t k = 0; k < N; ++k)
    REQUIRE(h[k] == k);
  release(h);
}

/// A child has memory of its own.
static void byChildToo() {
  Sums d;
  uint32_t *h = filled(4);
  d.copyIn(h);
  const pid_t child = fork();
  if (child == 0) {
    memset(h, 1, Bytes);
    _exit(h[7] == 0x01010101 ? 0 : 1);
  }
  int status = 1;
  REQUIRE(waitpid(child, &status, 0) == child && status == 0);
  REQUIRE(h[7] == 11);
  h[7] = 8;
  REQUIRE(d.has(4));
  release(h);
}

static void freed() {
  Sums d;
  uint32_t *h = filled(5);
  d.copyIn(h);
  release(h);
  REQUIRE(d.has(5));
}

/// Memory that is freed comes back to the program.
static void reused() {
  Sums d, other;
  for (uint32_t round = 0; round < 4; ++round) {
    uint32_t *h = filled(round);
    (round % 2 ? d : other).copyIn(h);
    release(h);
    uint32_t *next = filled(1000);
    REQUIRE((round % 2 ? d : other).has(round));
    release(next);
  }
  REQUIRE(d.has(3) && other.has(2));
}

static void reallocated() {
  Sums d;
  uint32_t *h = filled(6);
  d.copyIn(h);
  h = static_cast<uint32_t *>(realloc(h, 3 * Bytes));
  REQUIRE(h[3] == 9);
  memset(h, 0, 3 * Bytes);
  h = static_cast<uint32_t *>(realloc(h, 64));
  REQUIRE(d.has(6));
  release(h);
}

static void unmapped() {
  Sums d;
  auto *h = static_cast<uint32_t *>(mapped(Bytes));
  refill(h, 7);
  d.copyIn(h);
  REQUIRE(munmap(h, Bytes / 2) == 0);
  REQUIRE(d.has(7));
  REQUIRE(munmap(h + N / 2, Bytes / 2) == 0);
  REQUIRE(d.has(7));
}

static void discarded() {
  Sums d;
  auto *h = static_cast<uint32_t *>(mapped(Bytes));
  refill(h, 8);
  d.copyIn(h);
  REQUIRE(madvise(h, Bytes, MADV_DONTNEED) == 0 && h[5] == 0);
  REQUIRE(d.has(8));
  refill(h, 9);
  d.copyIn(h);
  void *again = mmap(h, Bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  REQUIRE(again == h && h[5] == 0);
  REQUIRE(d.has(9));
  REQUIRE(munmap(h, Bytes) == 0);
}

static void moved() {
  Sums d;
  auto *h = static_cast<uint32_t *>(mapped(Bytes));
  refill(h, 10);
  d.copyIn(h);
  void *place = mremap(h, Bytes, 2 * Bytes, MREMAP_MAYMOVE);
  REQUIRE(place != MAP_FAILED);
  memset(place, 0, 2 * Bytes);
  REQUIRE(d.has(10));
  REQUIRE(munmap(place, 2 * Bytes) == 0);
}

/// The kernel writes to it, which raises no signal.
static void readInto() {
  Sums d;
  uint32_t *h = filled(11);
  FILE *zeros = fopen("/dev/zero", "rb");
  REQUIRE(zeros != nullptr);
  d.copyIn(h);
  REQUIRE(fread(h, 1, Bytes, zeros) == Bytes && h[9] == 0);
  REQUIRE(d.has(11));
  refill(h, 12);
  d.copyIn(h);
  REQUIRE(read(fileno(zeros), h, Bytes) == ssize_t(Bytes) && h[N - 9] == 0);
  REQUIRE(d.has(12));
  fclose(zeros);
  release(h);
}

/// Results to where inputs came from.
static void copiedBack() {
  Sums d, other;
  uint32_t *h = filled(13), *g = filled(14);
  d.copyIn(h);
  other.copyIn(g);
  CHECK(cudaMemcpy(h, other.in, Bytes, cudaMemcpyDeviceToHost));
  REQUIRE(h[1] == 15 && d.has(13) && other.has(14));
  CHECK(cudaMemcpy(g, d.in, Bytes, cudaMemcpyDeviceToHost));
  REQUIRE(g[1] == 14 && d.has(13) && other.has(14));
  release(h);
  release(g);
}

/// Runs it in a thread with a stack of 64 MiB.
static void onLargeStack(const std::function<void()> &body) {
  pthread_attr_t attributes;
  pthread_t thread;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, 64 << 20) == 0);
  auto run = [](void *function) -> void * {
    (*static_cast<const std::function<void()> *>(function))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, run,
                         const_cast<std::function<void()> *>(&body)) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  REQUIRE(pthread_attr_destroy(&attributes) == 0);
}

/// Stacks of threads that have ended go to others.
static void onStack() {
  Sums d;
  onLargeStack([&] {
    uint32_t array[N];
    refill(array, 15);
    d.copyIn(array);
  });
  onLargeStack([] {
    uint32_t array[N];
    refill(array, 3);
  });
  REQUIRE(d.has(15));
}

/// One array ends where the next one begins, in the middle of a page.
static void neighbours() {
  Sums d, other;
  auto *both = static_cast<char *>(allocate(2 * Bytes + 100));
  auto *h = reinterpret_cast<uint32_t *>(both + 52);
  refill(h, 16);
  refill(h + N, 17);
  d.copyIn(h);
  refill(h, 99);
  other.copyIn(h + N);
  refill(h + N, 98);
  h[N - 1] = 5;
  REQUIRE(d.has(16) && other.has(17));
  d.copyIn(h + N);
  REQUIRE(d.has(98) && other.has(17));
  release(both);
  REQUIRE(d.has(98) && other.has(17));
}

/// The same memory with other contents, again and again.
static void again() {
  Sums d, other;
  uint32_t *h = filled(18);
  for (uint32_t round = 0; round < 9; ++round) {
    (round % 3 ? d : other).copyIn(h);
    refill(h, round + 19);
    REQUIRE((round % 3 ? d : other).has(18 + round));
  }
  REQUIRE(d.has(26) && other.has(24));
  release(h);
}

/// And with the same contents.
static void sameAgain() {
  Sums d, other;
  uint32_t *h = filled(20);
  for (int round = 0; round < 3; ++round) {
    d.copyIn(h);
    other.copyIn(h);
    REQUIRE(d.has(20) && other.has(20));
  }
  h[N / 3] = 0;
  REQUIRE(d.has(20) && other.has(20));
  release(h);
}

static void registered() {
  Sums d;
  uint32_t *h = filled(21);
  d.copyIn(h);
  CHECK(cudaHostRegister(h, Bytes, cudaHostRegisterDefault));
  refill(h, 22);
  REQUIRE(d.has(21));
  CHECK(cudaHostUnregister(h));
  release(h);
}

/// The program's own protection is the program's.
static void makesReadOnly() {
  Sums d;
  auto *h = static_cast<uint32_t *>(mapped(Bytes));
  refill(h, 23);
  REQUIRE(mprotect(h, Bytes, PROT_READ) == 0);
  d.copyIn(h);
  REQUIRE(mprotect(h, Bytes, PROT_READ | PROT_WRITE) == 0);
  d.copyIn(h);
  REQUIRE(mprotect(h, Bytes, PROT_READ | PROT_WRITE) == 0);
  refill(h, 24);
  REQUIRE(d.has(23));
  REQUIRE(munmap(h, Bytes) == 0);
}

int main(int, char **argv) {
  const std::map<std::string, std::function<void()>> cases = {
      {"reread", reread},
      {"changed", changed},
      {"byThread", byThread},
      {"byChildToo", byChildToo},
      {"freed", freed},
      {"reused", reused},
      {"reallocated", reallocated},
      {"unmapped", unmapped},
      {"discarded", discarded},
      {"moved", moved},
      {"readInto", readInto},
      {"copiedBack", copiedBack},
      {"onStack", onStack},
      {"neighbours", neighbours},
      {"again", again},
      {"sameAgain", sameAgain},
      {"registered", registered},
      {"makesReadOnly", makesReadOnly},
  };
  const auto found = cases.find(argv[1]);
  if (found == cases.end())
    return 2;
  found->second();
  return 0;
}
