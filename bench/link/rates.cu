//===- rates.cu - what link and disk can do -------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The limits that the table's rows are measured against, in bytes a second: the
// link to the device, from it, and both ways at once (pinned memory, pieces of
// 256 MiB); the disk read and written with O_DIRECT by several threads, each
// with several requests of its own behind each other. A write ends when it is
// on the disk.
//
//   rates FOLDER LINK-MIB DISK-MIB
//
//===----------------------------------------------------------------------===//
#include "Data.h"
#include "Files.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

using namespace bench;

const size_t Piece = size_t{256} << 20;
const size_t Request = size_t{4} << 20;
const int DiskThreads = 16;

// Seconds for `bytes` each way that is asked for.
static double transfer(size_t bytes, bool toDevice, bool fromDevice,
                       char *host[2], char *device[2],
                       cudaStream_t streams[2]) {
  double begin = now();
  for (size_t done = 0; done < bytes; done += Piece) {
    size_t part = std::min(Piece, bytes - done);
    if (toDevice)
      CHECK(cudaMemcpyAsync(device[0], host[0], part, cudaMemcpyHostToDevice,
                            streams[0]));
    if (fromDevice)
      CHECK(cudaMemcpyAsync(host[1], device[1], part, cudaMemcpyDeviceToHost,
                            streams[1]));
  }
  CHECK(cudaDeviceSynchronize());
  return now() - begin;
}

static void measureLink(size_t bytes) {
  size_t piece = std::min(Piece, bytes);
  char *host[2], *device[2];
  cudaStream_t streams[2];
  for (int i = 0; i < 2; ++i) {
    CHECK(cudaHostAlloc((void **)&host[i], piece, cudaHostAllocDefault));
    memset(host[i], 1, piece);
    CHECK(cudaMalloc(&device[i], piece));
    CHECK(cudaMemset(device[i], 1, piece));
    CHECK(cudaStreamCreate(&streams[i]));
  }
  transfer(piece, true, true, host, device, streams); // warm
  double to = transfer(bytes, true, false, host, device, streams);
  double from = transfer(bytes, false, true, host, device, streams);
  double both = transfer(bytes, true, true, host, device, streams);
  printf("\"to_device\": %.0f, \"from_device\": %.0f, \"both_ways\": %.0f, ",
         (double)bytes / to, (double)bytes / from, 2.0 * (double)bytes / both);
  for (int i = 0; i < 2; ++i) {
    CHECK(cudaStreamDestroy(streams[i]));
    CHECK(cudaFree(device[i]));
    CHECK(cudaFreeHost(host[i]));
  }
}

// Seconds to read `bytes` of one file, to write as many to another, or both at
// once.
static double transfer(const std::string paths[2], const int files[2],
                       size_t bytes, bool reading, bool writing) {
  std::atomic<size_t> next[2] = {{0}, {0}};
  double begin = now();
  std::vector<std::thread> workers;
  for (int t = 0; t < DiskThreads; ++t) {
    bool writes = writing && (!reading || t % 2);
    workers.emplace_back([&, writes] {
      void *memory;
      if (posix_memalign(&memory, 4096, Request) != 0)
        fail("no memory");
      memset(memory, 1, Request);
      for (size_t at; (at = next[writes].fetch_add(Request)) < bytes;) {
        if (writes)
          writeAt(files[1], memory, Request, at, paths[1]);
        else if (pread(files[0], memory, Request, (off_t)at) !=
                 (ssize_t)Request)
          fail("cannot read '" + paths[0] + "': " + strerror(errno));
      }
      free(memory);
    });
  }
  for (std::thread &worker : workers)
    worker.join();
  if (writing && fdatasync(files[1]) != 0)
    fail("cannot sync '" + paths[1] + "': " + strerror(errno));
  return now() - begin;
}

static void measureDisk(const std::string &folder, size_t bytes) {
  std::string paths[2] = {folder + "/rates.0", folder + "/rates.1"};
  int files[2];
  bool direct = true;
  for (int i = 0; i < 2; ++i) {
    int flags = O_RDWR | O_CREAT | O_TRUNC;
    files[i] = open(paths[i].c_str(), flags | O_DIRECT, 0600);
    if (files[i] < 0) {
      direct = false;
      files[i] = open(paths[i].c_str(), flags, 0600);
    }
    if (files[i] < 0)
      fail("cannot make '" + paths[i] + "': " + strerror(errno));
  }
  bytes = bytes / Request * Request;
  const std::string swapped[2] = {paths[1], paths[0]};
  const int swappedFiles[2] = {files[1], files[0]};
  double writing = transfer(swapped, swappedFiles, bytes, false, true);
  dropCached(paths[0]);
  double reading = transfer(paths, files, bytes, true, false);
  dropCached(paths[0]);
  double both = transfer(paths, files, bytes, true, true);
  for (int i = 0; i < 2; ++i) {
    close(files[i]);
    unlink(paths[i].c_str());
  }
  printf("\"disk_read\": %.0f, \"disk_write\": %.0f, \"disk_both\": %.0f, "
         "\"direct\": %s, ",
         (double)bytes / reading, (double)bytes / writing,
         2.0 * (double)bytes / both, direct ? "true" : "false");
}

int main(int argc, char **argv) {
  if (argc != 4)
    fail("usage: rates FOLDER LINK-MIB DISK-MIB");
  size_t linkBytes = (size_t)std::max(1, atoi(argv[2])) << 20;
  size_t diskBytes = (size_t)std::max(4, atoi(argv[3])) << 20;
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  printf("{\"device\": \"%s\", ", properties.name);
  measureLink(linkBytes);
  measureDisk(argv[1], diskBytes);
  printf("\"processors\": %u}\n", std::thread::hardware_concurrency());
  return 0;
}
