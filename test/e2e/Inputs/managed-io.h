//===- managed-io.h - calls with managed memory, checked ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// reads() and writes() make a call with managed memory that a kernel used last,
// and look at every byte behind it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_MANAGED_IO_H
#define DRAGON_TEST_MANAGED_IO_H

#include "e2e.h"

#include <arpa/inet.h>
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

// What _FORTIFY_SOURCE makes of calls; the last size, or the second one, is the memory's.
extern "C" {
ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void *, size_t, off_t, size_t);
size_t __fread_chk(void *, size_t, size_t, size_t, FILE *);
size_t __fread_unlocked_chk(void *, size_t, size_t, size_t, FILE *);
ssize_t __recv_chk(int, void *, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, sockaddr *,
                       socklen_t *);
ssize_t __readlink_chk(const char *, char *, size_t, size_t);
ssize_t __readlinkat_chk(int, const char *, char *, size_t, size_t);
char *__getcwd_chk(char *, size_t, size_t);
}

constexpr size_t Bytes = 3 << 20;        // two chunks
constexpr size_t Offset = 1000;          // of what is moved, in them
constexpr size_t Moved = (2 << 20) + 77; // from the first into the second
constexpr size_t Small = 50000;          // through pipes and sockets

__global__ void pattern(unsigned char *data, size_t n, unsigned seed) {
  size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] = (unsigned char)((i * 2654435761u + seed) >> 11);
}

unsigned char *data;
std::vector<unsigned char> expected(Bytes), content(Moved), back(Moved);
unsigned seed = 0;
int file; // has `content`

void onDevice(unsigned char *to = data, size_t n = Bytes) {
  ++seed;
  pattern<<<unsigned((n + 255) / 256), 256>>>(to, n, seed);
  CHECK(cudaDeviceSynchronize());
  for (size_t i = 0; to == data && i < n; ++i)
    expected[i] = (unsigned char)((i * 2654435761u + seed) >> 11);
}

// What the call reads to data + Offset.
void reads(const char *name, size_t bytes,
           const std::function<ssize_t(unsigned char *)> &call) {
  onDevice();
  REQUIRE(lseek(file, 0, SEEK_SET) == 0);
  ssize_t got = call(data + Offset);
  if (got != ssize_t(bytes))
    fprintf(stderr, "%s: %zd of %zu: %s\n", name, got, bytes, strerror(errno));
  REQUIRE(got == ssize_t(bytes));
  memcpy(expected.data() + Offset, content.data(), bytes);
  if (memcmp(data, expected.data(), Bytes) != 0)
    fprintf(stderr, "%s: other bytes\n", name);
  REQUIRE(memcmp(data, expected.data(), Bytes) == 0);
}

// What it writes from there: fetch() brings it to `back`.
void writes(const char *name, size_t bytes,
            const std::function<ssize_t(const unsigned char *)> &call,
            const std::function<void()> &fetch) {
  onDevice();
  ssize_t put = call(data + Offset);
  if (put != ssize_t(bytes))
    fprintf(stderr, "%s: %zd of %zu: %s\n", name, put, bytes, strerror(errno));
  REQUIRE(put == ssize_t(bytes));
  std::fill(back.begin(), back.end(), 0);
  fetch();
  if (memcmp(back.data(), expected.data() + Offset, bytes) != 0)
    fprintf(stderr, "%s: other bytes\n", name);
  REQUIRE(memcmp(back.data(), expected.data() + Offset, bytes) == 0);
}

inline void prepare() {
  CHECK(cudaMallocManaged(&data, Bytes));
  for (size_t i = 0; i < Moved; ++i)
    content[i] = (unsigned char)((i * 40503u) >> 7);
  file = open("input", O_RDWR | O_CREAT | O_TRUNC, 0600);
  REQUIRE(write(file, content.data(), Moved) == ssize_t(Moved));
  close(file);
  file = open("input", O_RDONLY);
}

#endif // DRAGON_TEST_MANAGED_IO_H
