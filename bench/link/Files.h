//===- Files.h - the files of inputs and results --------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writing at an offset, leaving the page cache, and looking at what is there.
// Every failure ends the program with one line that names the file.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_BENCH_LINK_FILES_H
#define DRAGON_BENCH_LINK_FILES_H

#include "Bench.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bench {

inline void writeAt(int file, const void *data, size_t bytes, size_t offset,
                    const std::string &path) {
  while (bytes) {
    ssize_t written = pwrite(file, data, bytes, (off_t)offset);
    if (written <= 0)
      fail("cannot write '" + path + "': " + strerror(errno));
    data = (const char *)data + written;
    bytes -= (size_t)written;
    offset += (size_t)written;
  }
}

/// Writes the file's pages to the disk and drops them from the page cache.
inline void dropCached(const std::string &path) {
  int file = open(path.c_str(), O_RDONLY);
  if (file < 0)
    fail("cannot open '" + path + "': " + strerror(errno));
  fsync(file);
  posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  close(file);
}

/// What was written to the file is on the disk after this.
inline void syncFile(const std::string &path) {
  int file = open(path.c_str(), O_RDONLY);
  if (file < 0 || fdatasync(file) != 0)
    fail("cannot sync '" + path + "': " + strerror(errno));
  close(file);
}

/// The contents of a file, or the share of its pages that are cached.
class MappedFile {
public:
  explicit MappedFile(const std::string &path) {
    int file = open(path.c_str(), O_RDONLY);
    struct stat info;
    if (file < 0 || fstat(file, &info) != 0)
      fail("cannot open '" + path + "': " + strerror(errno));
    bytes = (size_t)info.st_size;
    data = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (data == MAP_FAILED)
      fail("cannot map '" + path + "': " + strerror(errno));
  }
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile() { munmap(data, bytes); }
  size_t cachedBytes() const {
    std::vector<unsigned char> pages((bytes + 4095) / 4096);
    if (mincore(data, bytes, pages.data()) != 0)
      return 0;
    size_t cached = 0;
    for (unsigned char page : pages)
      cached += page & 1;
    return cached * 4096;
  }
  void *data;
  size_t bytes;
};

} // namespace bench

#endif // DRAGON_BENCH_LINK_FILES_H
