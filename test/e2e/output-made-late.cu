// Results that leave the device before the program makes the file for them: they go to a file without a name, which gets the
// name when the program makes the file. What it makes is what it always makes, in each case.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -Rpass=dragon -o program 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: 'd_out' evicted straight to its place in the file that is made at line [[#]] and written at line [[#]], unless a file of this name exists
//
//   A new file: nothing goes to swap, each byte is written once. Its mode is that of a new file.
// RUN: %plain ./program nothing plain.bin && umask 027 && %tight DRAGON_STATS=new.json ./program unseen new.bin
// RUN: cmp plain.bin new.bin
// RUN: %ledger new.json 'swap_out == 0' 'host_to_file_eviction > 0' 'host_to_file == 24*M'
// RUN: stat -c %%a new.bin | FileCheck %s --check-prefix=MODE
// MODE: {{^}}640{{$}}
//   A file that exists keeps its identity, mode and other names.
// RUN: echo old > old.bin && chmod 604 old.bin && ln old.bin other-name.bin && ln -s new-by-link.bin link.bin
// RUN: %tight DRAGON_STATS=old.json ./program nothing old.bin && cmp plain.bin other-name.bin
// RUN: %ledger old.json 'swap_out > 0' 'host_to_file == 24*M'
// RUN: stat -c %%a old.bin | FileCheck %s --check-prefix=OLD
// OLD: {{^}}604{{$}}
// RUN: %tight ./program nothing link.bin && cmp plain.bin new-by-link.bin && test -L link.bin
//   In between somebody else makes the file, the mode of new files changes, the directory is another one: the program's call
//   does what it does.
// RUN: %tight ./program exists exists.bin && cmp plain.bin exists.bin && cmp plain.bin exists.bin.other
// RUN: %tight ./program umask umask.bin && cmp plain.bin umask.bin && stat -c %%a umask.bin | FileCheck %s --check-prefix=UMASK
// UMASK: {{^}}600{{$}}
// RUN: mkdir elsewhere && %tight ./program chdir moved.bin && cmp plain.bin elsewhere/moved.bin && not test -e moved.bin
//   Another file of this name, for other things, is not that file.
// RUN: %tight ./program note note.bin && cmp plain.bin note.bin
//   The program ends, or fails, without a file: nothing is left.
// RUN: mkdir empty && not %tight ./program fail empty/out.bin && not %tight ./program nothing none/out.bin
// RUN: ls -A empty | count 0
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <sys/stat.h>
#include <unistd.h>

constexpr int N = 6 << 20;

__global__ void set(uint32_t *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = scramble(i);
}

/// What happens before the file is made.
__attribute__((noinline)) int meanwhile(const std::string &what,
                                        const char *path) {
  if (what == "exists") {
    FILE *other = openFile(path, "w");
    fputs("not yet", other);
    fclose(other);
    REQUIRE(link(path, (std::string(path) + ".other").c_str()) == 0);
  } else if (what == "umask") {
    umask(0177);
  } else if (what == "chdir") {
    REQUIRE(chdir("elsewhere") == 0);
  } else if (what == "note") {
    FILE *note = openFile(path, "wb");
    struct stat info;
    REQUIRE(fstat(fileno(note), &info) == 0 && info.st_size == 0);
    fclose(note);
    REQUIRE(unlink(path) == 0);
  }
  struct stat info;
  if (what == "unseen" || what == "note")
    REQUIRE(stat(path, &info) != 0);
  return what == "fail";
}

int main(int, char **argv) {
  const char *path = argv[2];
  uint32_t *out = (uint32_t *)malloc(4 * N);
  uint32_t *d_out;
  CHECK(cudaMalloc(&d_out, 4 * N));
  set<<<N / 256, 256>>>(d_out);
  CHECK(cudaMemcpy(out, d_out, 4 * N, cudaMemcpyDeviceToHost));
  if (meanwhile(argv[1], path))
    exit(EXIT_FAILURE);
  FILE *file = fopen(path, "wb");
  if (!file)
    exit(EXIT_FAILURE);
  REQUIRE(fwrite(out, 4, N, file) == N);
  REQUIRE(fclose(file) == 0);
  CHECK(cudaFree(d_out));
  free(out);
  return 0;
}
