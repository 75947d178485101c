// What the runtime opens is for nobody else: files without a name and memory files have the mode 0600 whatever the umask is,
// and a child that runs another program inherits none of its descriptors.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir/swap && cd %t.dir
// RUN: %build %s -o program && %bytes in.bin 30M private
// RUN: %tight DRAGON_SWAP_DIR=swap ./program in.bin | FileCheck %s
// RUN: ls swap | count 0
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <dirent.h>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

__global__ void work(uint32_t *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] = scramble(data[i]);
}

/// visit(descriptor) for each that is open.
template <typename Visit> void forEachOpen(Visit visit) {
  DIR *folder = opendir("/proc/self/fd");
  REQUIRE(folder);
  while (dirent *entry = readdir(folder))
    if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(folder))
      visit(atoi(entry->d_name));
  closedir(folder);
}

int main(int, char **argv) {
  umask(0);
  std::set<int> before; // the program's own, and what it has inherited
  const int n = 30 << 18;
  FILE *in = openFile(argv[1], "rb");
  forEachOpen([&](int fd) { before.insert(fd); });
  uint32_t *h = (uint32_t *)malloc((size_t)n * 4), *d;
  REQUIRE(fread(h, 4, n, in) == n);
  CHECK(cudaMalloc(&d, (size_t)n * 4));
  CHECK(cudaMemcpy(d, h, (size_t)n * 4, cudaMemcpyHostToDevice));
  work<<<n / 256, 256>>>(d, n);
  work<<<n / 256, 256>>>(d, n);
  CHECK(cudaDeviceSynchronize());
  // By now nearly half of the buffer is in the swap.
  int nameless = 0;
  forEachOpen([&](int fd) {
    struct stat info;
    if (before.count(fd) || fstat(fd, &info) != 0)
      return;
    if (!(fcntl(fd, F_GETFD) & FD_CLOEXEC))
      printf("descriptor %d is inherited\n", fd);
    nameless += S_ISREG(info.st_mode) && info.st_nlink == 0;
    if (S_ISREG(info.st_mode) && (info.st_mode & 077))
      printf("descriptor %d is open to others: %o\n", fd, info.st_mode);
  });
  // The swap file, once more around the page cache, and the memory of host and
  // device.
  REQUIRE(nameless >= 3);
  // CHECK-NOT: descriptor
  // CHECK: nothing is open to others
  puts("nothing is open to others");
  CHECK(cudaMemcpy(h, d, (size_t)n * 4, cudaMemcpyDeviceToHost));
  REQUIRE(h[0] != h[1]);
  return 0;
}
