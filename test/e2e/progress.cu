// A run that goes out of core and lasts shows on a terminal where it is; statistics are written while it goes on.
// Some seconds each: what lasts must.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir && %build %s -o program
//   By itself, with launch, slices, rates and memory; nothing of it is left on the terminal.
// RUN: %loud python3 %S/Inputs/terminal.py until "launch [0-9]+ 'grow', slice [0-9]+ of [0-9]+, [0-9.]+ s left; to the device [0-9.]+ GB/s, from it [0-9.]+ GB/s; held 8 MiB, on the host [0-9]+ MiB" ./program until-stopped > log
// RUN: FileCheck %s --check-prefix=SHOWN --match-full-lines < log && rm stop
// SHOWN: dragon: buffers of 16 MiB exceed the 8 MiB of device memory by 8 MiB{{.*}}
// SHOWN-EMPTY:
// SHOWN-NEXT: {{[1-9][0-9]*}} times a line was erased
//   Of any run if it is asked for; other lines have lines of their own.
// RUN: %plain DRAGON_PROGRESS=1 DRAGON_STATS=- python3 %S/Inputs/terminal.py until "launch [0-9]+; nothing moves; held 16 MiB" ./program until-stopped > log
// RUN: FileCheck %s --check-prefix=TABLE --match-full-lines < log && rm stop
// TABLE: dragon: statistics (cpu device,{{.*}}
// TABLE-NEXT:   ran for: {{[0-9.]+}} s
//   Never if it is not wanted, and nowhere but on a terminal; short of that time neither.
// RUN: %loud DRAGON_PROGRESS=0 python3 %S/Inputs/terminal.py whole ./program four-seconds | FileCheck %s --check-prefix=NOTHING
// RUN: %tight TERM=xterm python3 %S/Inputs/terminal.py whole ./program four-seconds | FileCheck %s --check-prefix=NOTHING
// RUN: %loud TERM=dumb python3 %S/Inputs/terminal.py whole ./program four-seconds | FileCheck %s --check-prefix=NOTHING
// RUN: %plain TERM=xterm DRAGON_QUIET=0 python3 %S/Inputs/terminal.py whole ./program four-seconds | FileCheck %s --check-prefix=NOTHING
// NOTHING: no line was rewritten
// RUN: %loud DRAGON_PROGRESS=1 ./program four-seconds 2> log && not grep slice log
//
//   The program waits until its own statistics tell of it. At the end there is the whole, and no other file.
// RUN: %tight DRAGON_STATS=stats.json DRAGON_STATS_SECONDS=1 ./program until-written stats.json
// RUN: python3 -c 'import json; run = json.load(open("stats.json"))["run"]; assert run["ended"] and run["nanoseconds"] > 10**9, run'
// RUN: ls | FileCheck %s --check-prefix=FILES
// FILES: stats.json
// FILES-NOT: stats.json.
//   What a link leads to is written; a pipe is not replaced.
// RUN: mkdir elsewhere && ln -s elsewhere/real.json link.json
// RUN: %tight DRAGON_STATS=link.json DRAGON_STATS_SECONDS=1 ./program until-written link.json && test -L link.json -a -s elsewhere/real.json
// RUN: mkfifo pipe && (cat pipe > piped.json &) && %tight DRAGON_STATS=pipe DRAGON_STATS_SECONDS=1 ./program four-seconds && test -p pipe
// RUN: until test -s piped.json; do sleep 0.1; done
// RUN: python3 -c 'import json; json.load(open("piped.json"))'
//   The folder in which the run began, whatever the program does; 0: not while it goes on.
// RUN: %tight DRAGON_STATS=moved.json DRAGON_STATS_SECONDS=1 ./program elsewhere && test -s moved.json
// RUN: %tight DRAGON_STATS=end.json DRAGON_STATS_SECONDS=0 ./program never-written end.json && test -s end.json
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <chrono>
#include <fstream>
#include <sstream>
#include <unistd.h>

__global__ void grow(const uint32_t *from, uint32_t *to, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    uint32_t value = from[i];
    for (int round = 0; round < rounds; ++round)
      value = scramble(value);
    to[i] = value;
  }
}

static bool exists(const char *path) { return access(path, F_OK) == 0; }

static std::string contents(const char *path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

int main(int, char **argv) {
  using Clock = std::chrono::steady_clock;
  const std::string mode = argv[1];
  const int n = 2 << 20;
  uint32_t *a, *b;
  CHECK(cudaMalloc(&a, n * 4));
  CHECK(cudaMalloc(&b, n * 4));
  CHECK(cudaMemset(a, 1, n * 4));
  const auto begun = Clock::now();
  if (mode == "elsewhere")
    REQUIRE(chdir("/") == 0);
  auto goesOn = [&] {
    // Nobody waits for ever for what does not come.
    const auto passed = Clock::now() - begun;
    REQUIRE(passed < std::chrono::minutes(4));
    if (mode == "until-stopped")
      return !exists("stop");
    if (mode == "until-written") {
      const std::string text = contents(argv[2]);
      return text.find("\"ended\": false") == text.npos;
    }
    return passed < std::chrono::seconds(4);
  };
  do {
    grow<<<n / 256, 256>>>(a, b, n, 20);
    CHECK(cudaDeviceSynchronize());
    std::swap(a, b);
    if (mode == "never-written")
      REQUIRE(!exists(argv[2]));
  } while (goesOn());
  return 0;
}
