// The driver starts while the program is busy with other things, but not in a program that could notice.
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %clang -shared -fPIC -o libcuda.so.1 -x c %S/Inputs/fake-driver.c
// RUN: %build %s -o program && %build -DFORKS %s -o forks && %build -DLOADS %s -o loads
// RUN: env LD_LIBRARY_PATH=. DRAGON_QUIET=1 STARTED=1 ./program ahead
// RUN: env LD_LIBRARY_PATH=. DRAGON_QUIET=1 DRAGON_START_AHEAD=0 STARTED=2 ./program late
// RUN: env LD_LIBRARY_PATH=. DRAGON_QUIET=1 DRAGON_BACKEND=cpu STARTED=3 ./program never
// RUN: env LD_LIBRARY_PATH=. DRAGON_QUIET=1 STARTED=4 ./forks late
// RUN: env LD_LIBRARY_PATH=. DRAGON_QUIET=1 STARTED=5 ./loads late
// RUN: env LD_LIBRARY_PATH=. DRAGON_QUIET=1 STARTED=6 ./program ends
// Another linker's programs load the runtime when they register their kernels.
// RUN: %build -c %s -o program.o && %host-build program.o -o linked && %build -c -DFORKS %s -o forks.o && %host-build forks.o -o forks
// RUN: env LD_LIBRARY_PATH=. DRAGON_QUIET=1 STARTED=7 ./linked ahead
// RUN: env LD_LIBRARY_PATH=. DRAGON_QUIET=1 STARTED=8 ./forks late
// RUN: rm -rf %t.dir
#include "e2e.h"
#include <dlfcn.h>
#include <string>
#include <unistd.h>

/// What the driver wrote: which thread started it.
static std::string started() {
  char text[64] = {};
  if (FILE *file = fopen(getenv("STARTED"), "r")) {
    if (!fgets(text, sizeof text, file))
      text[0] = 0;
    fclose(file);
  }
  return text;
}

__global__ void set(int *x) { *x = 5; }

int main(int argc, char **argv) {
  const std::string expected = argc > 1 ? argv[1] : "";
#ifdef FORKS
  if (argc > 2 && fork() == 0)
    return 0;
#endif
#ifdef LOADS
  if (argc > 2)
    dlopen(argv[2], RTLD_NOW);
#endif
  if (expected == "ends")
    return 0;
  if (expected == "ahead")
    while (started().empty())
      usleep(1000);
  else
    usleep(50000);
  REQUIRE(started() == (expected == "ahead" ? "another thread" : ""));
  int *x = nullptr, h = 0;
  CHECK(cudaMalloc(&x, sizeof(int)));
  set<<<1, 1>>>(x);
  CHECK(cudaMemcpy(&h, x, sizeof(int), cudaMemcpyDeviceToHost));
  REQUIRE(h == 5);
  REQUIRE(started() == (expected == "ahead"  ? "another thread"
                        : expected == "late" ? "the first thread"
                                             : ""));
  return 0;
}
