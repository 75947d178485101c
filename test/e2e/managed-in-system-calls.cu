// Managed memory that a kernel used last, in each call that hands memory to the kernel: it gets or gives the bytes, in
// full, and nothing beside them changes. Files by descriptor, and small results.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build -O0 %s -o program && %tight ./program > unoptimised.txt
// RUN: %build -O2 %s -o program && %plain ./program > plain.txt && %tight ./program > tight.txt
// RUN: diff plain.txt tight.txt && diff plain.txt unoptimised.txt
// RUN: FileCheck %s < tight.txt
// RUN: rm -rf %t.dir
//
// CHECK: all right
#include "managed-io.h"

void descriptors() {
  reads("read", Moved, [](unsigned char *to) { return read(file, to, Moved); });
  reads("read beyond the end", Moved,
        [](unsigned char *to) { return read(file, to, Moved + 5000); });
  reads("pread", Moved,
        [](unsigned char *to) { return pread(file, to, Moved, 0); });
  reads("pread64", Moved,
        [](unsigned char *to) { return pread64(file, to, Moved, 0); });
  reads("__read_chk", Moved,
        [](unsigned char *to) { return __read_chk(file, to, Moved, Moved); });
  reads("__pread_chk", Moved, [](unsigned char *to) {
    return __pread_chk(file, to, Moved, 0, Moved);
  });
  reads("__pread64_chk", Moved, [](unsigned char *to) {
    return __pread64_chk(file, to, Moved, 0, Moved);
  });
  // A plain buffer between two managed ones.
  auto vectors = [](unsigned char *to,
                    const std::function<ssize_t(iovec *)> &call) {
    std::vector<unsigned char> plain(1000);
    iovec list[] = {
        {to, 4000}, {plain.data(), 1000}, {to + 5000, Moved - 5000}};
    ssize_t got = call(list);
    memcpy(to + 4000, plain.data(), 1000);
    return got;
  };
  reads("readv", Moved, [&](unsigned char *to) {
    return vectors(to, [](iovec *list) { return readv(file, list, 3); });
  });
  reads("preadv", Moved, [&](unsigned char *to) {
    return vectors(to, [](iovec *list) { return preadv(file, list, 3, 0); });
  });
  reads("preadv64", Moved, [&](unsigned char *to) {
    return vectors(to, [](iovec *list) { return preadv64(file, list, 3, 0); });
  });
  reads("preadv2", Moved, [&](unsigned char *to) {
    return vectors(to,
                   [](iovec *list) { return preadv2(file, list, 3, -1, 0); });
  });
  reads("preadv64v2", Moved, [&](unsigned char *to) {
    return vectors(to,
                   [](iovec *list) { return preadv64v2(file, list, 3, 0, 0); });
  });

  int output = open("output", O_RDWR | O_CREAT | O_TRUNC, 0600);
  auto fetch = [&] {
    REQUIRE(pread(output, back.data(), Moved, 0) == ssize_t(Moved));
  };
  auto rewound = [&](const std::function<ssize_t()> &call) {
    REQUIRE(ftruncate(output, 0) == 0 && lseek(output, 0, SEEK_SET) == 0);
    return call();
  };
  auto gather = [&](const unsigned char *from,
                    const std::function<ssize_t(iovec *)> &call) {
    std::vector<unsigned char> plain(from + 4000, from + 5000);
    onDevice(); // the host has just touched it
    plain.assign(expected.data() + Offset + 4000,
                 expected.data() + Offset + 5000);
    auto *at = const_cast<unsigned char *>(from);
    iovec list[] = {
        {at, 4000}, {plain.data(), 1000}, {at + 5000, Moved - 5000}};
    return rewound([&] { return call(list); });
  };
  writes(
      "write", Moved,
      [&](const unsigned char *from) {
        return rewound([&] { return write(output, from, Moved); });
      },
      fetch);
  writes(
      "pwrite", Moved,
      [&](const unsigned char *from) {
        return rewound([&] { return pwrite(output, from, Moved, 0); });
      },
      fetch);
  writes(
      "pwrite64", Moved,
      [&](const unsigned char *from) {
        return rewound([&] { return pwrite64(output, from, Moved, 0); });
      },
      fetch);
  writes(
      "writev", Moved,
      [&](const unsigned char *from) {
        return gather(from,
                      [&](iovec *list) { return writev(output, list, 3); });
      },
      fetch);
  writes(
      "pwritev", Moved,
      [&](const unsigned char *from) {
        return gather(from,
                      [&](iovec *list) { return pwritev(output, list, 3, 0); });
      },
      fetch);
  writes(
      "pwritev64", Moved,
      [&](const unsigned char *from) {
        return gather(
            from, [&](iovec *list) { return pwritev64(output, list, 3, 0); });
      },
      fetch);
  writes(
      "pwritev2", Moved,
      [&](const unsigned char *from) {
        return gather(from, [&](iovec *list) {
          return pwritev2(output, list, 3, -1, 0);
        });
      },
      fetch);
  writes(
      "pwritev64v2", Moved,
      [&](const unsigned char *from) {
        return gather(from, [&](iovec *list) {
          return pwritev64v2(output, list, 3, 0, 0);
        });
      },
      fetch);

  // Errors are the kernel's.
  onDevice();
  REQUIRE(read(-1, data, 100) == -1 && errno == EBADF);
  REQUIRE(write(file, data, 100) == -1 && errno == EBADF);
  REQUIRE(pread(file, data, 100, -1) == -1 && errno == EINVAL);
  REQUIRE(pread(file, data, 100, 1 << 30) == 0);
  int full = open("/dev/full", O_WRONLY);
  REQUIRE(write(full, data, 100) == -1 && errno == ENOSPC);
  close(full);
  close(output);
}

void results() {
  onDevice();
  auto *status = reinterpret_cast<struct stat *>(data);
  struct stat plain;
  REQUIRE(fstat(file, &plain) == 0);
  auto same = [&] {
    return status->st_ino == plain.st_ino && status->st_size == off_t(Moved);
  };
  REQUIRE(stat("input", status) == 0 && same());
  onDevice();
  REQUIRE(lstat("input", status) == 0 && same());
  onDevice();
  REQUIRE(fstat(file, status) == 0 && same());
  auto *status64 =
      reinterpret_cast<struct stat64 *>(data); // the same structure
  onDevice();
  REQUIRE(stat64("input", status64) == 0 && same());
  onDevice();
  REQUIRE(lstat64("input", status64) == 0 && same());
  onDevice();
  REQUIRE(fstat64(file, status64) == 0 && same());
  onDevice();
  REQUIRE(fstatat64(AT_FDCWD, "input", status64, 0) == 0 && same());
  onDevice();
  REQUIRE(fstatat(AT_FDCWD, "input", status, 0) == 0 && same());
  onDevice();
  auto *extended = reinterpret_cast<struct statx *>(data);
  REQUIRE(statx(AT_FDCWD, "input", 0, STATX_SIZE, extended) == 0 &&
          extended->stx_size == Moved);
  onDevice();
  REQUIRE(stat("no such file", status) == -1 && errno == ENOENT);
  unlink("link");
  REQUIRE(symlink("where it leads", "link") == 0);
  auto *text = reinterpret_cast<char *>(data);
  onDevice();
  REQUIRE(readlink("link", text, Bytes / 2) == 14 &&
          memcmp(text, "where it leads", 14) == 0);
  onDevice();
  REQUIRE(readlinkat(AT_FDCWD, "link", text, 5) == 5 &&
          memcmp(text, "where", 5) == 0);
  onDevice();
  REQUIRE(__readlink_chk("link", text, 5, 5) == 5 &&
          memcmp(text, "where", 5) == 0);
  onDevice();
  REQUIRE(__readlinkat_chk(AT_FDCWD, "link", text, 5, 5) == 5 &&
          memcmp(text, "where", 5) == 0);
  onDevice();
  REQUIRE(__getcwd_chk(text, 4096, 4096) == text && text[0] == '/');
  onDevice();
  char here[4096];
  REQUIRE(getcwd(text, 4096) == text &&
          strcmp(text, getcwd(here, sizeof here)) == 0);
  onDevice();
  REQUIRE(getrandom(data, Moved, 0) == ssize_t(Moved) &&
          memcmp(data, expected.data(), Moved) != 0);
  onDevice();
  REQUIRE(getentropy(data, 256) == 0 &&
          memcmp(data, expected.data(), 256) != 0);

  iovec local = {data + Offset, Small}, remote = {content.data(), Small};
  reads("process_vm_readv", Small, [&](unsigned char *) {
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  });
  remote = {back.data(), Small};
  writes(
      "process_vm_writev", Small,
      [&](const unsigned char *) {
        // What is fetched is cleared first: copy it away behind the call.
        ssize_t put = process_vm_writev(getpid(), &local, 1, &remote, 1, 0);
        content.assign(back.begin(), back.end());
        return put;
      },
      [&] { back = content; });
}

// More than one piece, and more than the device and host memory of the tight run.
void large() {
  constexpr size_t Large = (20 << 20) + 4321;
  unsigned char *all;
  CHECK(cudaMallocManaged(&all, Large));
  std::vector<unsigned char> host(Large);
  for (size_t i = 0; i < Large; ++i)
    host[i] = (unsigned char)((i * 2654435761u) >> 13);
  int plain = open("large", O_RDWR | O_CREAT | O_TRUNC, 0600);
  REQUIRE(write(plain, host.data(), Large) == ssize_t(Large) &&
          lseek(plain, 0, SEEK_SET) == 0);
  onDevice(all, Large);
  REQUIRE(read(plain, all, Large) == ssize_t(Large) &&
          lseek(plain, 0, SEEK_CUR) == off_t(Large));
  REQUIRE(memcmp(all, host.data(), Large) == 0);
  onDevice(all, Large);
  FILE *stream = fopen("large", "r");
  REQUIRE(fread(all, Large, 1, stream) == 1 &&
          memcmp(all, host.data(), Large) == 0);
  fclose(stream);
  onDevice(all, Large);
  CHECK(cudaMemcpy(host.data(), all, Large, cudaMemcpyDefault));
  stream = fopen("large", "w");
  REQUIRE(fwrite(all, 1, Large, stream) == Large && fclose(stream) == 0);
  std::vector<unsigned char> again(Large);
  REQUIRE(pread(plain, again.data(), Large, 0) == ssize_t(Large) &&
          again == host);
  onDevice(all, Large);
  CHECK(cudaMemcpy(host.data(), all, Large, cudaMemcpyDefault));
  REQUIRE(pwrite(plain, all, Large, 0) == ssize_t(Large));
  REQUIRE(pread(plain, again.data(), Large, 0) == ssize_t(Large) &&
          again == host);
  close(plain);
  CHECK(cudaFree(all));
}

// Another program's calls go on as they are: a child has none of the runtime's threads.
void child() {
  onDevice();
  pid_t made = fork();
  if (made == 0) {
    char text[100];
    bool right = pread(file, text, 100, 0) == 100 &&
                 memcmp(text, content.data(), 100) == 0;
    int output = open("of-child", O_RDWR | O_CREAT, 0600);
    right &= write(output, text, 100) == 100;
    FILE *stream = fopen("of-child", "r");
    right &= fread(text, 1, 100, stream) == 100;
    _exit(right ? 0 : 1);
  }
  int status;
  REQUIRE(waitpid(made, &status, 0) == made && status == 0);
  REQUIRE(memcmp(data, expected.data(), Bytes) == 0);
}

int main() {
  prepare();
  descriptors();
  large();
  child();
  results();
  CHECK(cudaFree(data));
  puts("all right");
  return 0;
}
