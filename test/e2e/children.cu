// A child process changes the input between reading it and running the kernel, however it was made and whatever it does.
// What was read is what the kernel must see; the child itself can use what its parent has read and computed.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir/swap && cd %t.dir
// RUN: %build %s -o program && %bytes in.bin 8M children && ./program expect in.bin expect.bin
// RUN: %build -c %s -o program.o && %host-build program.o -o linked && for mode in fork-open vfork clone spawn system; do \
// RUN:   cp in.bin work.bin && %strict DRAGON_SWAP_DIR=swap ./linked $mode read work.bin out.bin && cmp out.bin expect.bin || \
// RUN:     { echo "$mode, linked by another linker"; exit 1; }; \
// RUN: done
// RUN: for mode in fork-open fork-truncate fork-append fork-exec vfork clone spawn spawnp popen system results; do \
// RUN:   for when in read copied; do \
// RUN:     cp in.bin work.bin && %strict DRAGON_SWAP_DIR=swap ./program $mode $when work.bin out.bin && \
// RUN:       cmp out.bin expect.bin || { echo "$mode $when in core"; exit 1; }; \
// RUN:     cp in.bin work.bin && %tight DRAGON_SWAP_DIR=swap ./program $mode $when work.bin out.bin && \
// RUN:       cmp out.bin expect.bin && ls swap | count 0 || { echo "$mode $when out of core"; exit 1; }; \
// RUN:   done; \
// RUN: done
//
// A child that changes nothing, without a place for the copy: bytes that nobody else can change are not saved at all, and
// nothing is once the kernel has read them, or where the copy has brought them to the device.
// RUN: cp in.bin work.bin && %tight DRAGON_LOG=1 DRAGON_SWAP_DIR=swap ./program system copied work.bin out.bin 2>&1 | \
// RUN:   FileCheck %s --check-prefix=SAVED
// SAVED: file '{{.*}}work.bin': 8 MiB that were read saved in 'swap'
// RUN: cp in.bin work.bin && %plain DRAGON_LOG=1 DRAGON_SWAP_DIR=swap ./program system copied work.bin out.bin 2>&1 | \
// RUN:   FileCheck %s --check-prefix=NONE && cmp out.bin expect.bin
// RUN: cp in.bin work.bin && %plain DRAGON_LOG=1 DRAGON_SWAP_DIR=swap ./program system after work.bin out.bin 2>&1 | \
// RUN:   FileCheck %s --check-prefix=NONE && cmp out.bin expect.bin
// NONE-NOT: saved
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <cerrno>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void work(const uint32_t *in, uint32_t *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = scramble(in[i]) + i;
}

const int n = 2 << 20;
const size_t bytes = (size_t)n * 4;
static const char *Path;

static void ended(pid_t child) {
  int status = 0;
  REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int truncateInput(void *) {
  int file = open(Path, O_RDWR | O_TRUNC);
  return file >= 0 && write(file, "junk", 4) == 4 ? 0 : 1;
}

static void change(const std::string &mode) {
  std::string command = std::string("printf junk > ") + Path;
  std::vector<char *> shell = {(char *)"/bin/sh", (char *)"-c",
                               (char *)command.c_str(), nullptr};
  if (mode == "system") {
    REQUIRE(system(command.c_str()) == 0);
  } else if (mode == "popen") {
    std::string filter = std::string("cat > ") + Path;
    FILE *pipe = popen(filter.c_str(), "w");
    REQUIRE(pipe && fputs("junk", pipe) >= 0 && pclose(pipe) == 0);
  } else if (mode == "spawn" || mode == "spawnp") {
    pid_t child;
    auto *spawn = mode == "spawn" ? posix_spawn : posix_spawnp;
    REQUIRE(spawn(&child, shell[0], nullptr, nullptr, shell.data(), environ) ==
            0);
    ended(child);
  } else if (mode == "clone") {
    static char stack[1 << 16];
    ended(clone(truncateInput, stack + sizeof stack, SIGCHLD, nullptr));
  } else if (mode == "vfork") {
    pid_t child = vfork();
    if (child == 0) {
      execv(shell[0], shell.data());
      _exit(127);
    }
    ended(child);
  } else if (pid_t child = fork()) {
    ended(child);
  } else if (mode == "fork-open") {
    _exit(truncateInput(nullptr));
  } else if (mode == "fork-truncate") {
    _exit(truncate(Path, 4096) == 0 ? 0 : 1);
  } else if (mode == "fork-append") {
    FILE *file = fopen(Path, "ab");
    _exit(file && fputs("junk", file) >= 0 && fclose(file) == 0 ? 0 : 1);
  } else if (mode == "fork-exec") {
    execv(shell[0], shell.data());
    _exit(127);
  }
}

int main(int, char **argv) {
  std::string mode = argv[1];
  if (mode == "expect") {
    std::vector<uint32_t> words = slurp(argv[2]);
    FILE *file = openFile(argv[3], "wb");
    for (size_t i = 0; i < words.size(); ++i)
      words[i] = scramble(words[i]) + i;
    fwrite(words.data(), 4, words.size(), file);
    fclose(file);
    return 0;
  }
  std::string when = argv[2];
  Path = argv[3];
  FILE *in = openFile(Path, "rb");
  FILE *out = openFile(argv[4], "wb");
  uint32_t *d_in, *d_out;
  CHECK(cudaMalloc(&d_in, bytes));
  CHECK(cudaMalloc(&d_out, bytes));
  uint32_t *h = (uint32_t *)malloc(bytes);
  REQUIRE(fread(h, 4, n, in) == n);
  fclose(in);
  if (when == "read" && mode != "results")
    change(mode);
  CHECK(cudaMemcpy(d_in, h, bytes, cudaMemcpyHostToDevice));
  if (when == "copied" && mode != "results")
    change(mode);
  work<<<n / 256, 256>>>(d_in, d_out, n);
  CHECK(cudaMemcpy(h, d_out, bytes, cudaMemcpyDeviceToHost));
  if (when == "after")
    change(mode);
  if (mode == "results") {
    // The child writes them, and its parent what it has copied before that.
    if (pid_t child = fork()) {
      ended(child);
      return 0;
    }
    if (fwrite(h, 4, n, out) != n || fclose(out) != 0)
      _exit(1);
    _exit(0);
  }
  REQUIRE(fwrite(h, 4, n, out) == n);
  REQUIRE(fclose(out) == 0);
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_out));
  free(h);
  return 0;
}
