// A run that a signal ends leaves its statistics and a complete trace, and its parent sees the signal that it died of,
// wherever the signal meets it. A program's own handlers, and what it ignores, stay as they are.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program -lpthread
// RUN: for run in 'TERM sleep' 'TERM kernel' 'TERM locked' 'TERM thread' 'TERM allocate' 'INT sleep' 'HUP kernel' 'ABRT locked'; do \
// RUN:   set -- $run; rm -f stats.json trace.json; \
// RUN:   %plain DRAGON_STATS=stats.json DRAGON_TRACE=trace.json \
// RUN:     python3 %S/Inputs/killed.py $1 ./program $2 || { echo $run; exit 1; }; \
// RUN:   %ledger stats.json "launches >= 1" && python3 -m json.tool trace.json > readable.json || { echo $run; exit 1; }; \
// RUN: done
// RUN: %plain DRAGON_STATS=- python3 %S/Inputs/killed.py ABRT ./program abort 2>&1 | FileCheck %s --check-prefix=TABLE
// RUN: %plain DRAGON_STATS=- python3 %S/Inputs/killed.py ABRT ./program allocate 2>&1 | FileCheck %s --check-prefix=TABLE
// TABLE: dragon: statistics
// TABLE: launches
//
// Without the variables the program's signals are as it found them, and a forked child dies as ever.
// RUN: %plain ./program untouched
// RUN: %plain DRAGON_STATS=stats.json ./program child
// A handler that was there first, one that comes later, and an ignored signal.
// RUN: %plain DRAGON_STATS=stats.json ./program handler && %plain DRAGON_STATS=stats.json ./program later
// RUN: %plain DRAGON_STATS=stats.json ./program ignore
//
// What cannot be written has a reason.
// RUN: %plain DRAGON_STATS=no/such/place.json ./program handler 2>&1 | FileCheck %s --check-prefix=REASON
// REASON: DRAGON_STATS: cannot write 'no/such/place.json': No such file or directory
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

__global__ void work(uint32_t *data, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    for (int round = 0; round < rounds; ++round)
      data[i] = scramble(data[i]);
}

static volatile sig_atomic_t Caught;
static void onSignal(int) { Caught = 1; }

// killed.py sends the signal when it has read this.
static void ready() {
  printf("ready\n");
  fflush(stdout);
}

int main(int, char **argv) {
  std::string mode = argv[1];
  if (mode == "handler")
    signal(SIGTERM, onSignal);
  if (mode == "ignore")
    signal(SIGTERM, SIG_IGN);
  const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGABRT};
  struct sigaction before[4];
  for (int i = 0; i < 4; ++i)
    REQUIRE(sigaction(signals[i], nullptr, &before[i]) == 0);
  const int n = 1 << 16;
  uint32_t *d;
  CHECK(cudaMalloc(&d, n * 4));
  CHECK(cudaMemset(d, 1, n * 4));
  work<<<n / 256, 256>>>(d, n, 1);
  CHECK(cudaDeviceSynchronize());

  if (mode == "sleep") {
    ready();
    for (;;)
      sleep(1);
  } else if (mode == "kernel" || mode == "locked") {
    // In the middle of a launch, and of calls that hold the runtime's lock.
    ready();
    for (;;) {
      work<<<n / 256, 256>>>(d, n, mode == "kernel" ? 10000 : 1);
      CHECK(cudaMemset(d, 1, n * 4));
    }
  } else if (mode == "thread") {
    std::thread([&] {
      for (;;)
        CHECK(cudaMemset(d, 1, n * 4));
    }).detach();
    ready();
    for (;;)
      pause();
  } else if (mode == "allocate") {
    // The thread that is interrupted is likely to be within malloc or stdio.
    ready();
    for (;;) {
      static char *volatile memory;
      memory = (char *)malloc(100000);
      free(memory);
      fflush(stderr);
    }
  } else if (mode == "abort") {
    ready();
    abort();
  } else if (mode == "untouched") {
    for (int i = 0; i < 4; ++i) {
      struct sigaction now;
      REQUIRE(sigaction(signals[i], nullptr, &now) == 0);
      REQUIRE(now.sa_handler == before[i].sa_handler);
    }
  } else if (mode == "child") {
    pid_t child = fork();
    if (child == 0) {
      raise(SIGTERM);
      _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
  } else {
    if (mode == "later")
      signal(SIGTERM, onSignal);
    raise(SIGTERM);
    REQUIRE(Caught == (mode != "ignore"));
  }
  return 0;
}
